/* usage.c - help, made from the tables of commands and options */
#include "settings.h"
#include "signals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { INDENT = 24, WIDTH = 79 };

/* Print the words of a text from a column on, with lines broken before WIDTH. */
static void print_wrapped(const char *text, int column)
{
    while (*text) {
        int len = (int)strcspn(text, " ");

        if (column > INDENT && column + 1 + len > WIDTH) {
            printf("\n%*s", INDENT, "");
            column = INDENT;
        } else if (column > INDENT) {
            putchar(' ');
            column++;
        }
        printf("%.*s", len, text);
        column += len;
        text += len;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void list_formats(char *out, size_t capacity)
{
    size_t used = 0;

    for (int i = 0; i < ND_FORMAT_COUNT && used < capacity; i++) {
        const char *before = i == 0 ? "" : i + 1 < ND_FORMAT_COUNT ? ", " : " or ";

        used += (size_t)snprintf(out + used, capacity - used, "%s%s", before,
                                 nd_format_word((enum nd_format)i));
    }
}

void option_help(const struct option *o, char *out, size_t capacity)
{
    static const char mark[] = "{formats}";
    const char *at = strstr(o->help, mark);
    char formats[256];

    list_formats(formats, sizeof formats);
    if (at)
        (void)snprintf(out, capacity, "%.*s%s%s", (int)(at - o->help), o->help, formats,
                       at + strlen(mark));
    else
        (void)snprintf(out, capacity, "%s", o->help);
}

/* Print an option; in the help of the whole command, with the subcommands that have it. */
static void print_option(const struct option *o, bool names_parts)
{
    char left[64], text[480], help[512];
    int len = snprintf(left, sizeof left, "  %c%c%c --%s%s%s", o->letter ? '-' : ' ',
                       o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name,
                       o->argument ? " " : "", o->argument ? o->argument : "");

    if (len < INDENT - 1)
        printf("%-*s", INDENT, left);
    else
        printf("%s\n%*s", left, INDENT, "");
    option_help(o, text, sizeof text);
    (void)snprintf(help, sizeof help, "%s%s%s%s", text, names_parts ? " [" : "",
                   names_parts ? o->parts : "", names_parts ? "]" : "");
    print_wrapped(help, INDENT);
}

void print_usage(void)
{
    puts("neardup finds near-duplicate documents.\n");
    for (size_t i = 0; i < n_commands; i++)
        if (!lacking_system(&command_table[i]))
            printf("%s neardup %s %s\n", i ? "      " : "Usage:", command_table[i].name,
                   command_table[i].arguments);
    puts("       neardup help [COMMAND]\n       neardup --version | -V\n");
    for (size_t i = 0; i < n_commands; i++)
        if (!lacking_system(&command_table[i]))
            printf("  %-10s %.*s\n", command_table[i].name,
                   (int)strcspn(command_table[i].about, "\n"), command_table[i].about);
    puts("\nFor details, run neardup COMMAND --help, or read the man pages, starting with "
         "neardup(1).");
}

void print_command_usage(const struct command *command, const char *part)
{
    const char *group = NULL, *printed = NULL;
    bool has_parts = false;

    printf("Usage: neardup %s %s\n\n%s\n", command->name, command->arguments, command->about);
    if (part)
        printf("\nThe options of %s:\n", part);
    for (size_t i = 0; i < n_options; i++) {
        const struct option *o = &option_table[i];

        if (o->group)
            group = o->group;
        if (!option_is_of(o, command, part))
            continue;
        has_parts = has_parts || option_parts(o, command);
        if (group != printed)
            printf("\n%s%s%s\n", color_code(stdout, HUE_BOLD), group,
                   color_code(stdout, HUE_PLAIN));
        printed = group;
        print_option(o, !part && o->parts && option_parts(o, command));
    }
    if (has_parts && !part)
        printf("\nFor the options of one part only: neardup %s PART --help\n", command->name);
    printf("\n%sExamples%s\n%s", color_code(stdout, HUE_BOLD), color_code(stdout, HUE_PLAIN),
           command->examples);
}

/* ---- In one screen ---- */

enum { SCREEN = 24 };

/* Print a word on the current line, or on a new one. Returns the number of new lines, 0 or 1. */
static int print_word(const char *word, int *column)
{
    bool is_new = *column + 1 + (int)strlen(word) > WIDTH;

    *column = is_new ? 2 + (int)strlen(word) : *column + 1 + (int)strlen(word);
    printf("%s%s", is_new ? "\n  " : " ", word);
    return is_new;
}

/* List the names of the options by group. Returns the number of lines. */
static int list_options(const struct command *command, const char *part)
{
    const char *group = NULL, *printed = NULL;
    int lines = 0, column = 0;
    char word[64];

    for (size_t i = 0; i < n_options; i++) {
        const struct option *o = &option_table[i];

        if (o->group)
            group = o->group;
        if (!option_is_of(o, command, part))
            continue;
        if (group != printed) {
            lines++;
            column = printf("%s%s:", printed ? "\n" : "", group) - (printed != NULL);
        }
        printed = group;
        (void)snprintf(word, sizeof word, "%s%c%s--%s", o->letter ? "-" : "",
                       o->letter ? o->letter : ' ', o->letter ? "/" : "", o->name);
        lines += print_word(word + (o->letter ? 0 : 1), &column);
    }
    putchar('\n');
    return lines;
}

/* Print the first of the examples, as many as there are lines left. */
static void print_examples(const char *examples, int lines)
{
    if (lines >= 2)
        puts("\nExamples");
    for (lines -= 2; lines > 0 && *examples; lines--) {
        size_t len = strcspn(examples, "\n");

        printf("%.*s\n", (int)len, examples);
        examples += len + (examples[len] == '\n');
    }
}

void print_brief_usage(const struct command *command, const char *part)
{
    int lines = 6; /* besides options and examples */

    printf("Usage: neardup %s %s\n%.*s\n\n", command->name, command->arguments,
           (int)strcspn(command->about, "\n"), command->about);
    lines += (int)(strlen(command->arguments) + strlen(command->name) + 16) / WIDTH;
    lines += (int)strcspn(command->about, "\n") / WIDTH;
    lines += list_options(command, part);
    print_examples(command->examples, SCREEN - lines);
    printf("\nWhat each option does: neardup %s%s%s --help\n", command->name, part ? " " : "",
           part ? part : "");
}

int close_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    die_where_output_is_closed();
    say("standard output: cannot be written: %s", strerror(errno));
    return 2;
}
