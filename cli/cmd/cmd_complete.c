/* cmd_complete.c - neardup complete: what could stand next, for the completions of shells */
#include "settings.h"
#include "signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The completion scripts in completions/ run this command, so that commands, options and values are
 * listed only in the command's own tables. It prints a line for each possible word: the word, a tab
 * and a description. No line: complete the name of a file.
 */

static void offer(const char *word, size_t len, const char *current, const char *about)
{
    if (strncmp(word, current, strlen(current) < len ? strlen(current) : len) != 0 ||
        strlen(current) > len)
        return;
    printf("%.*s\t%.*s\n", (int)len, word, (int)strcspn(about, "\n"), about);
}

static void offer_word(const char *word, const char *current, const char *about)
{
    offer(word, strlen(word), current, about);
}

static void offer_commands(const char *current)
{
    for (size_t i = 0; i < n_commands; i++)
        if (!lacking_system(&command_table[i]))
            offer_word(command_table[i].name, current, command_table[i].about);
    offer_word("help", current, "How a command is used.");
    offer_word("--help", current, "What commands there are.");
    offer_word("--version", current, "The version of neardup.");
}

static void offer_recipes(const char *current)
{
    for (size_t i = 0; nd_recipe_name(i); i++) {
        const char *name = nd_recipe_name(i);
        struct nd_view about = nd_recipe_about(name);
        char text[160];

        (void)snprintf(text, sizeof text, "%.*s", (int)about.len, about.data);
        offer_word(name, current, text);
    }
}

/*
 * Print the words of "a, b, c" or "a nor b" or "a b", up to one whose field the user chooses:
 * "longest:FIELD".
 */
static void offer_list(const char *list, const char *current)
{
    while (*list && *list != ';') {
        size_t len = strcspn(list, " ,;");

        if (len && !(len == 3 && strncmp(list, "nor", 3) == 0)) {
            const char *colon = memchr(list, ':', len);

            offer(list, colon ? (size_t)(colon - list) + 1 : len, current, "");
        }
        list += len;
        list += strspn(list, " ,");
    }
}

/* An option that takes one of some words lists them in its error message. */
static void offer_named(const struct option *o, const char *current)
{
    static const char *const before[] = {" none of ", " not one of ", " neither "};
    struct nd_error err = {0};
    struct settings scratch;

    if (settings_init(&scratch, &err) != ND_OK || o->set(&scratch, o, "?", &err) != ND_OK ||
        nd_recipe_check(scratch.recipe, &err) != ND_OK)
        for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
            const char *list = strstr(err.message, before[i]);

            if (list)
                offer_list(list + strlen(before[i]), current);
        }
    settings_release(&scratch);
}

static void offer_values(const struct option *o, const char *current)
{
    if (o->values || o->words)
        offer_list(o->values ? o->values : o->words, current);
    else if (o->argument && strcmp(o->argument, "NAME|FILE") == 0)
        offer_recipes(current);
    else if (o->argument && !strpbrk(o->argument, "=") && !strstr(o->argument, "FILE") &&
             !strstr(o->argument, "DIR"))
        offer_named(o, current);
}

/* part: NULL, or the word in the position of the command's subcommand. */
static void offer_options(const struct command *command, const char *part, const char *current)
{
    for (size_t i = 0; i < n_options; i++) {
        char word[64], help[512];

        if (!option_is_of(&option_table[i], command, is_part(command, part) ? part : NULL))
            continue;
        (void)snprintf(word, sizeof word, "--%s", option_table[i].name);
        option_help(&option_table[i], help, sizeof help);
        offer_word(word, current, help);
    }
}

static const struct option *option_of(const struct command *command, const char *name, size_t len)
{
    for (size_t i = 0; i < n_options; i++)
        if (option_table[i].commands & command->bit && strlen(option_table[i].name) == len &&
            memcmp(option_table[i].name, name, len) == 0)
            return &option_table[i];
    return NULL;
}

/*
 * The option whose value is the next word; NULL: the word is not an option, or contains its value.
 */
static const struct option *wants_next(const struct command *command, const char *word)
{
    const struct option *o = NULL;

    if (word[0] != '-' || !word[1])
        return NULL;
    if (word[1] == '-')
        o = option_of(command, word + 2, strlen(word + 2));
    else
        for (const char *letter = word + 1; *letter && !(o && o->argument); letter++) {
            o = NULL;
            for (size_t i = 0; i < n_options && !o; i++)
                if (option_table[i].commands & command->bit && option_table[i].letter == *letter)
                    o = &option_table[i];
            if (o && o->argument && letter[1])
                return NULL; /* the rest is the value */
        }
    return o && o->argument ? o : NULL;
}

/* Print the subcommands of a command that has any. */
static void offer_parts(const struct command *command, const char *current)
{
    char parts[128];
    size_t len;
    const char *list = command_parts(command, &len);

    if (!list)
        return;
    (void)snprintf(parts, sizeof parts, "%.*s", (int)len, list);
    for (char *c = parts; *c; c++)
        *c = *c == '|' ? ' ' : *c;
    offer_list(parts, current);
}

static void offer_argument(const struct command *command, const char *const *named, size_t n,
                           const char *current)
{
    if (n == 0)
        offer_parts(command, current);
    else if (command->bit == FOR_RECIPE && strcmp(named[0], "list") != 0)
        offer_recipes(current);
}

/* "--name=val": the part after the sign. */
static void offer_joined(const struct command *command, const char *current)
{
    size_t len = strcspn(current, "=");
    const struct option *o = option_of(command, current + 2, len - 2);

    if (o && o->argument)
        offer_values(o, current + len + 1);
}

/* The words after the name of the program; the last one is not complete. */
static void offer_after(const struct command *command, const char *const *words, size_t n_words)
{
    const char *current = words[n_words - 1], *named[2] = {NULL, NULL};
    const struct option *wants = NULL;
    bool only_paths = false;
    size_t n = 0;

    for (size_t i = 1; i + 1 < n_words; i++) {
        const char *word = words[i];

        if (strcmp(word, "=") == 0 && wants) /* bash splits --name=val into three words */
            continue;
        if (wants) {
            wants = NULL;
        } else if (!only_paths && strcmp(word, "--") == 0) {
            only_paths = true;
        } else if (!only_paths && word[0] == '-' && word[1]) {
            wants = wants_next(command, word);
        } else if (n++ < 2) {
            named[n - 1] = word;
        }
    }
    if (wants)
        offer_values(wants, strcmp(current, "=") == 0 ? "" : current);
    else if (!only_paths && strncmp(current, "--", 2) == 0 && strchr(current, '='))
        offer_joined(command, current);
    else if (!only_paths && current[0] == '-')
        offer_options(command, named[0], current);
    else
        offer_argument(command, named, n, current);
}

int cmd_complete(int n, const char *const *word)
{
    const struct command *command = n > 1 ? find_command(word[0]) : NULL;

    if (n == 1 || (n == 2 && strcmp(word[0], "help") == 0))
        offer_commands(word[n - 1]);
    else if (command)
        offer_after(command, word, (size_t)n);
    return close_output();
}
