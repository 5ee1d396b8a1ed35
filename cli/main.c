/* main.c - the command neardup: picks the subcommand */
#include "base/system/process.h"
#include "named_recipe.h"
#include "program.h"
#include "settings.h"
#include "signals.h"

#include <neardup/cpu.h>
#include <neardup/version.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_command(const char *name)
{
    const char *names[32], *nearest;
    size_t n = 0;

    for (size_t i = 0; i < n_commands && n + 1 < sizeof names / sizeof *names; i++)
        if (!lacking_system(&command_table[i]))
            names[n++] = command_table[i].name;
    names[n++] = "help";
    nearest = nd_name_nearest(name, strlen(name), names, n);
    if (nearest)
        say("there is no command '%s'; did you mean '%s'?", name, nearest);
    else
        say("there is no command '%s'; see neardup help", name);
    return 2;
}

/* Say that a command exists elsewhere alone. */
static int is_lacking(const struct command *command)
{
    say("%s does not exist on %s: it needs other programs, which are built for Linux",
        command->name, lacking_system(command));
    return 2;
}

static int help(int n, char **argument)
{
    const struct command *command = n > 0 ? find_command(argument[0]) : NULL;

    if (n > 0 && !command)
        return no_command(argument[0]);
    if (command && lacking_system(command))
        return is_lacking(command);
    if (n > 2 || (n > 1 && !is_part(command, argument[1]))) {
        say("help takes one command, and for index, df, recipe, store and client one of their "
            "parts");
        return 2;
    }
    if (command)
        print_command_usage(command, n > 1 ? argument[1] : NULL);
    else
        print_usage();
    return close_output();
}

/* The environment is read only here: the library never reads it. */
static bool force_cpu(void)
{
    const char *name = getenv("NEARDUP_CPU");
    struct nd_error err;

    if (!name || !*name || nd_cpu_force(name, &err) == ND_OK)
        return true;
    say("NEARDUP_CPU: %s", err.message);
    return false;
}

/* --help explains all options; -h lists them. */
static bool wants_all(int n, char **argument)
{
    for (int i = 0; i < n; i++)
        if (strncmp(argument[i], "--h", 3) == 0)
            return true;
    return false;
}

static int run(const struct command *command, int n, char **argument)
{
    struct settings settings;
    struct nd_error err;
    int status;

    if (settings_init(&settings, &err) != ND_OK ||
        settings_parse(&settings, command, n, argument, &err) != ND_OK) {
        say("%s", err.message);
        status = 2;
    } else if (settings.help) {
        const char *first = settings.paths.count ? settings.paths.at[0] : NULL;

        (wants_all(n, argument) ? print_command_usage : print_brief_usage)(
            command, is_part(command, first) ? first : NULL);
        status = close_output();
    } else {
        if (command->bit == FOR_DEDUP && !is_given(&settings, "binary") && reads_tables(&settings))
            run_in_python(&settings);
        if (command->bit & FOR_PAIRWISE) /* commands that use the [decide] keys */
            warn_of_recipe(NULL, settings.recipe);
        status = force_cpu() ? run_command(command, &settings) : 2;
    }
    settings_release(&settings);
    return status;
}

/*
 * GMime reads nested groups of addresses in mail by recursion. That took between 256 and 384 KiB of
 * stack, everything else less (tests/cli/limits.bats); sanitizers need more. This message itself
 * must do with little stack.
 */
static void check_stack(void)
{
    if (!nd_process_has_stack((size_t)1 << 20))
        nd_process_die("neardup: the stack limit is below 1024 KiB: raise it (ulimit -s 1024)\n",
                       2);
}

int main(int n, char **argument)
{
    const struct command *command;

    check_stack();
    nd_process_begin(&n, &argument);
    handle_signals();
    if (n < 2) {
        say("a command is missing; see neardup help");
        return 2;
    }
    if (strcmp(argument[1], "--version") == 0 || strcmp(argument[1], "-V") == 0 ||
        strcmp(argument[1], "version") == 0) {
        printf("neardup %s\n", nd_version());
        return close_output();
    }
    if (strcmp(argument[1], "--help") == 0 || strcmp(argument[1], "-h") == 0)
        return help(0, NULL);
    if (strcmp(argument[1], "help") == 0)
        return help(n - 2, argument + 2);
    if (strcmp(argument[1], "complete") == 0 && n > 2)
        return cmd_complete(n - 2, (const char *const *)argument + 2);
    if (strcmp(argument[1], "manual") == 0 && n == 3)
        return cmd_manual(argument[2]);
    command = find_command(argument[1]);
    if (command && lacking_system(command))
        return is_lacking(command);
    if (command && command->bit & FOR_SERVICE)
        run_elsewhere(argument);
    return command ? run(command, n - 2, argument + 2) : no_command(argument[1]);
}
