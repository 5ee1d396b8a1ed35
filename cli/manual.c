/* manual.c - a manual page, made of what man/ has and of the tables of commands and options */
#include "base/system/c_functions.h"
#include "settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A file in man/ lacks SYNOPSIS if the command has only one form, and lists under OPTIONS only
 * those options of which it says more than their help does.  Print the whole page: the build fails
 * if the tables have no such command or option.
 */
static const char options_heading[] = ".Sh OPTIONS\n", description[] = ".Sh DESCRIPTION\n";

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static const char *line_after(const char *line)
{
    const char *end = strchr(line, '\n');

    return end ? end + 1 : line + strlen(line);
}

static void copy(const char *from, const char *to)
{
    printf("%.*s", (int)(to - from), from);
}

/* Find a line that begins like this; the end of the text: there is none. */
static const char *find_line(const char *text, const char *beginning)
{
    while (*text && !begins(text, beginning))
        text = line_after(text);
    return text;
}

/* Print text for mdoc; "--" must stay two characters. */
static void print_text(const char *text, size_t len)
{
    static const char ellipsis[] = "…";

    for (size_t i = 0; i < len; i++) {
        if (begins(text + i, ellipsis)) {
            printf("\\[u2026]");
            i += strlen(ellipsis) - 1;
        } else if (text[i] == '\\') {
            printf("\\e");
        } else if (text[i] == '-' && (text[i + 1] == '-' || (i && text[i - 1] == '-'))) {
            printf("\\-");
        } else {
            putchar(text[i]);
        }
    }
}

/* ---- SYNOPSIS ---- */

/* "[OPTION…] [FILE|DIR|-]…" as mdoc: a line for each word of it. */
static void print_synopsis(const struct command *command)
{
    const char *at = command->arguments;

    printf(".Sh SYNOPSIS\n.Nm neardup\n.Cm %s\n", command->name);
    while (*at) {
        size_t len = strcspn(at, " ");
        bool optional = *at == '[';
        size_t skip = optional, end = optional ? strcspn(at, "]") : len;
        const char *flag = begins(at, "--") ? ".Fl Fl " : NULL;

        printf("%s", flag ? flag : optional ? ".Op Ar " : ".Ar ");
        print_text(at + skip + (flag ? 2 : 0), end - skip - (flag ? 2 : 0));
        putchar('\n');
        if (optional && end + 1 < len)
            puts(".Ar ...");
        at += len;
        at += strspn(at, " ");
    }
}

/* ---- OPTIONS ---- */

/* A word of small letters begins a sentence; others are values or names, which stay as they are. */
static bool begins_a_sentence(const char *help)
{
    size_t len = strspn(help, "abcdefghijklmnopqrstuvwxyz-");

    return help[len] == ' ';
}

static void print_help(const struct option *o)
{
    char help[512];
    size_t len;

    option_help(o, help, sizeof help);
    if (begins_a_sentence(help))
        help[0] = (char)toupper((unsigned char)help[0]);
    len = strlen(help);
    if (*help == '.' || *help == '\'')
        printf("\\&");
    print_text(help, len);
    puts(len && help[len - 1] == '.' ? "" : ".");
}

/* Name the subcommands that have the option, if others of the command do not. */
static void print_parts(const struct option *o)
{
    printf("Applies to\n.Cm ");
    for (const char *part = o->parts; *part;) {
        size_t len = strcspn(part, " ");

        printf("%.*s%s", (int)len, part, part[len] ? " , " : " .\n");
        part += len + strspn(part + len, " ");
    }
}

static void print_entry(const struct option *o, const struct command *command)
{
    printf(".It ");
    if (o->letter)
        printf("Fl %c , ", o->letter);
    printf("Fl Fl %s", o->name);
    if (o->argument) {
        printf(" Ar ");
        print_text(o->argument, strlen(o->argument));
    }
    putchar('\n');
    print_help(o);
    if (o->parts && option_parts(o, command))
        print_parts(o);
}

/* A text of the page about an option, besides its help. */
struct remark {
    const char *name, *text, *end;
    size_t name_len;
    bool printed;
};

enum { MOST_REMARKS = 128 };

/* Find the remarks in a list, and its end, behind ".El". Returns their number. */
static size_t find_remarks(const char *list, struct remark *remark, const char **after)
{
    static const char item[] = ".It Fl Fl ";
    const char *line = line_after(list);
    size_t n = 0;
    int depth = 0;

    for (; *line && (depth > 0 || !begins(line, ".El")); line = line_after(line)) {
        depth += begins(line, ".Bl") ? 1 : begins(line, ".El") ? -1 : 0;
        if (depth == 0 && begins(line, item) && n < MOST_REMARKS) {
            remark[n] = (struct remark){.name = line + strlen(item), .text = line_after(line)};
            remark[n].name_len = strcspn(remark[n].name, "\n");
            n++;
        }
        if (n)
            remark[n - 1].end = line_after(line);
    }
    *after = line_after(line);
    return n;
}

static void print_remark(const struct option *o, struct remark *remark, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!remark[i].printed && remark[i].name_len == strlen(o->name) &&
            begins(remark[i].name, o->name)) {
            copy(remark[i].text, remark[i].end);
            remark[i].printed = true;
        }
}

static void print_options(const struct command *command, struct remark *remark, size_t n)
{
    const char *group = NULL, *printed = NULL;

    for (size_t i = 0; i < n_options; i++) {
        const struct option *o = &option_table[i];

        if (o->group)
            group = o->group;
        if (!option_is_of(o, command, NULL) || strcmp(o->name, "help") == 0) /* is in neardup(1) */
            continue;
        if (group != printed)
            printf("%s.Ss %s\n.Bl -tag -width Ds\n", printed ? ".El\n" : "", group);
        printed = group;
        print_entry(o, command);
        print_remark(o, remark, n);
    }
    if (printed)
        puts(".El");
}

/* Print the options from their heading on. Returns what follows; NULL: an option is unknown. */
static const char *print_section(const struct command *command, const char *heading)
{
    struct remark remark[MOST_REMARKS];
    const char *next = find_line(line_after(heading), ".Sh "), *list = find_line(heading, ".Bl ");
    const char *after = next;
    size_t n = list < next ? find_remarks(list, remark, &after) : 0;

    copy(heading, list < next ? list : next);
    print_options(command, remark, n);
    for (size_t i = 0; i < n; i++)
        if (!remark[i].printed) {
            say("%s has no option --%.*s", command->name, (int)remark[i].name_len, remark[i].name);
            return NULL;
        }
    return after;
}

/* ---- neardup(1) ---- */

static int by_name(const void *a, const void *b)
{
    const struct command *const *x = a, *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

static void list_commands(void)
{
    for (size_t i = 0; i < n_commands; i++) {
        const struct command *command = &command_table[i];

        printf(".It Cm %s\n", command->name);
        print_text(command->about, strcspn(command->about, "\n"));
        printf("\nSee\n.Xr neardup-%s 1 .\n", command->name);
    }
}

static void list_pages(void)
{
    const struct command *sorted[32]; /* each is a bit of enum commands */

    for (size_t i = 0; i < n_commands; i++)
        sorted[i] = &command_table[i];
    qsort(sorted, n_commands, sizeof *sorted, by_name);
    for (size_t i = 0; i < n_commands; i++)
        printf(".Xr neardup-%s 1%s\n", sorted[i]->name, i + 1 < n_commands ? " ," : "");
}

/* Add the commands to the first list, and the pages to SEE ALSO, the last section. */
static int print_overview(const char *page)
{
    const char *list = line_after(find_line(page, ".Bl "));

    copy(page, list);
    list_commands();
    printf("%s.Sh SEE ALSO\n", list);
    list_pages();
    return close_output();
}

/* ---- The page ---- */

static int print_page(const struct command *command, const char *page)
{
    const char *about = find_line(page, description), *heading = find_line(page, options_heading);
    const char *rest;

    if (!*about || !*heading || heading < about) {
        say("the page of %s has no DESCRIPTION, or no OPTIONS behind it", command->name);
        return 2;
    }
    copy(page, about);
    if (find_line(page, ".Sh SYNOPSIS") > about)
        print_synopsis(command);
    copy(about, heading);
    rest = print_section(command, heading);
    if (!rest)
        return 2;
    printf("%s", rest);
    return close_output();
}

int cmd_manual(const char *name)
{
    const struct command *command = find_command(name);
    char *page = NULL;
    size_t capacity = 0;
    int status = 2;

    if (!command && strcmp(name, "neardup") != 0)
        say("there is no command '%s'", name);
    else if (nd_read_line(&page, &capacity, '\0', stdin) < 0)
        say("standard input: no page");
    else
        status = command ? print_page(command, page) : print_overview(page);
    free(page);
    return status;
}
