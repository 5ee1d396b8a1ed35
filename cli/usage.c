/* usage.c - help, made from the tables of commands and options */
#include "settings.h"
#include "signals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { INDENT = 24, WIDTH = 79 };

/* Words of a text from a column on, broken before WIDTH. */
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

static void print_option(const struct option *o)
{
    char left[64];
    int len = snprintf(left, sizeof left, "  %c%c%c --%s%s%s", o->letter ? '-' : ' ',
                       o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name,
                       o->argument ? " " : "", o->argument ? o->argument : "");

    if (len < INDENT - 1)
        printf("%-*s", INDENT, left);
    else
        printf("%s\n%*s", left, INDENT, "");
    print_wrapped(o->help, INDENT);
}

void print_usage(void)
{
    puts("neardup finds near-duplicate documents.\n");
    for (size_t i = 0; i < n_commands; i++)
        printf("%s neardup %s %s\n", i ? "      " : "Usage:", command_table[i].name,
               command_table[i].arguments);
    puts("       neardup help [COMMAND]\n       neardup --version\n");
    for (size_t i = 0; i < n_commands; i++)
        printf("  %-10s %.*s\n", command_table[i].name, (int)strcspn(command_table[i].about, "\n"),
               command_table[i].about);
    puts("\nEvery command says more with --help; so do the man pages, neardup(1) first.");
}

void print_command_usage(const struct command *command)
{
    const char *group = NULL, *printed = NULL;

    printf("Usage: neardup %s %s\n\n%s\n", command->name, command->arguments, command->about);
    for (size_t i = 0; i < n_options; i++) {
        const struct option *o = &option_table[i];

        if (o->group)
            group = o->group;
        if (!(o->commands & command->bit))
            continue;
        if (group != printed)
            printf("\n%s\n", group);
        printed = group;
        print_option(o);
    }
    printf("\nExamples\n%s", command->examples);
}

int close_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    die_where_output_is_closed();
    say("standard output: cannot be written: %s", strerror(errno));
    return 2;
}
