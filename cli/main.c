/* main.c - the command neardup: picks the subcommand */
#define _GNU_SOURCE
#include "named_recipe.h"
#include "settings.h"
#include "signals.h"

#include <neardup/cpu.h>
#include <neardup/version.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

const struct command command_table[] = {
    {"dedup", FOR_DEDUP, "[OPTION…] [FILE|DIR|-]…",
     "Remove near-duplicate documents; say which, and why.",
     "  neardup dedup corpus.jsonl.zst -o unique.jsonl.zst --manifest removed.jsonl\n"
     "  zcat part-*.gz | neardup dedup --format jsonl > unique.jsonl\n"
     "  neardup dedup --shingle 5 --keep longest DIR/ -o kept.txt\n"
     "  neardup dedup shards/*.jsonl.gz --output-dir clean/ --within lang\n",
     cmd_dedup},
    {"pairs", FOR_PAIRS, "[OPTION…] [FILE|DIR|-]…",
     "List every pair of near-duplicates: id, id, resemblance, shared, union.",
     "  neardup pairs corpus.jsonl --threshold 0.9 > pairs.tsv\n", cmd_pairs},
    {"explain", FOR_EXPLAIN, "[OPTION…] A B", "Say what two documents have in common.",
     "  neardup explain a.html b.html\n"
     "  neardup explain --corpus corpus.jsonl id-1 id-2\n",
     cmd_explain},
    {"compare", FOR_COMPARE, "[OPTION…] A B",
     "Measure how far two documents agree; show the edits, terms or copied passages.\n\n"
     "A and B are files, - for standard input, or with --corpus the ids of two documents.",
     "  neardup compare a.txt b.txt --show edits\n"
     "  neardup compare a.txt b.txt --metric cosine --metric edit\n"
     "  neardup compare --corpus corpus.jsonl a b --show passages --least 5\n",
     cmd_compare},
    {"collapse", FOR_COLLAPSE, "[OPTION…] [FILE|-]…",
     "Collapse a ranked list to one result of each cluster of near-duplicates.",
     "  neardup collapse results.jsonl\n"
     "  neardup collapse results.jsonl --keep newest:date\n"
     "  neardup collapse results.jsonl --expand newest:date\n",
     cmd_collapse},
    {"mirrors", FOR_MIRRORS, "[OPTION…] [FILE|DIR|-]…",
     "Find pairs of hosts that mirror one another.",
     "  neardup mirrors pages.jsonl\n"
     "  neardup mirrors pages.jsonl --url-field address --sample 0 --score 0.2\n",
     cmd_mirrors},
    {"template", FOR_TEMPLATE, "[OPTION…] [FILE|DIR|-]…",
     "Show what the documents of a cluster share, and what is left of each.",
     "  neardup template pages/\n"
     "  neardup template corpus.jsonl --clusters clusters.tsv --cluster a\n",
     cmd_template},
    {"anchors", FOR_ANCHORS, "[OPTION…] FILE|DIR…",
     "Gather for each page what the links of others say of it, for recipes to read as fields.",
     "  neardup anchors site/ -o linked.jsonl\n"
     "  neardup anchors --base https://example.org/ --window 0 site/ -o linked.jsonl\n",
     cmd_anchors},
    {"track", FOR_TRACK, "[OPTION…] [FILE|DIR|-]…",
     "Follow documents over time: how much each version changes, and when to visit next.",
     "  neardup track monday.html tuesday.html wednesday.html\n"
     "  neardup track --series url --time fetched versions.jsonl\n"
     "  neardup track --series url --time fetched --plan versions.jsonl\n",
     cmd_track},
    {"filter", FOR_FILTER, "--prototypes FILE [OPTION…] [FILE|DIR|-]…",
     "Find the records of a stream that are near duplicates of prototypes, as of known spam.",
     "  neardup filter --prototypes spam/ --unit line < mail.txt > caught.txt\n"
     "  neardup filter -p spam.jsonl --annotate mail.jsonl\n"
     "  neardup filter -p spam.jsonl --invert mail.jsonl -o ham.jsonl\n",
     cmd_filter},
    {"sketch", FOR_SKETCH, "[OPTION…] [FILE|DIR|-]…",
     "Print the sketches of documents, one JSON object a line.",
     "  neardup sketch corpus.jsonl > sketches.jsonl\n", cmd_sketch},
    {"index", FOR_INDEX, "plan|pairs|build|add|merge|query|info|verify|stats [OPTION…] [FILE|-]…",
     "Find fingerprints within K bits: plan, list all pairs, build an index file and ask it.\n\n"
     "plan           every design for --count fingerprints, with what it should cost\n"
     "pairs FILE…    id, id and distance of every pair, in the order of the files\n"
     "build FILE…    write an index file; without an id lines are counted from 0\n"
     "add INDEX [FILE…]      add to it: all or nothing, whatever happens meanwhile\n"
     "merge INDEX…   one segment of all that was added, or of several indexes with --output\n"
     "query INDEX [QUERIES]  query's id, stored id and distance of what is near\n"
     "info INDEX     what an index file holds\n"
     "verify INDEX   check all of it, say nothing where it is whole\n"
     "stats FILE…    how fingerprints are distributed: a table, and figures with --svg\n\n"
     "Wherever fingerprints are read, a FILE may be an index.",
     "  neardup index plan --count 17179869184 --bits 64 --distance 3 --memory 1T\n"
     "  neardup index pairs --distance 3 fingerprints.txt > pairs.tsv\n"
     "  neardup index build fingerprints.txt -o fingerprints.ndx\n"
     "  neardup index add fingerprints.ndx more.txt\n"
     "  neardup index query fingerprints.ndx queries.txt > near.tsv\n",
     cmd_index},
    {"join", FOR_JOIN, "[OPTION…] QUERIES [FILE|-]…",
     "Find each query's fingerprints within K bits in files of any length.\n\n"
     "A line is a fingerprint in hexadecimal, then optionally a tab and an id; else the id is the\n"
     "number of the line in its file, from 0.  Results are lines of the query's id, the other id\n"
     "and the distance.  Parts of a file can be joined apart, and the results merged.",
     "  neardup join queries.txt fingerprints.txt > near.tsv\n"
     "  neardup join --merge near-*.tsv > near.tsv\n",
     cmd_join},
    {"df", FOR_DF, "build|merge|info|top|calibrate [OPTION…] [TABLE]… [FILE|DIR|-]…",
     "Count in how many documents features stand: tables for weights and lexicons.\n\n"
     "build FILE…      count the features of a corpus, and write the table\n"
     "merge TABLE…     add tables of the same features, and write their sum\n"
     "info TABLE       what a table holds\n"
     "top TABLE        the features in the most documents: count, hash, text\n"
     "calibrate TABLE FILE…  the factor for `low` or `high` in the recipe that drops a share of "
     "the\n"
     "                 features",
     "  neardup df build --recipe chowdhury-2002 corpus.jsonl -o corpus.df\n"
     "  neardup df merge january.df february.df -o both.df\n"
     "  neardup df build --texts corpus.jsonl -o words.df && neardup df top words.df\n"
     "  neardup df calibrate corpus.df --recipe seshasai-2009 --drop 0.5 corpus.jsonl\n",
     cmd_df},
    {"recipe", FOR_RECIPE, "list|show|check|diff [OPTION…] [NAME|FILE]…",
     "List the shipped recipes, show one, check files, compare two.\n\n"
     "list         every shipped recipe, and what it is\n"
     "show NAME    its text, with comments; of a FILE, the canonical form\n"
     "check FILE…  whether each is a recipe, and what in it changes nothing\n"
     "diff A B     the keys in which two differ, and whether sketches of both can be compared",
     "  neardup recipe list\n"
     "  neardup recipe show manku-2007 > my.ini\n"
     "  neardup recipe check manku-2007\n",
     cmd_recipe},
};
const size_t n_commands = sizeof command_table / sizeof *command_table;

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < n_commands; i++)
        if (strcmp(command_table[i].name, name) == 0)
            return &command_table[i];
    return NULL;
}

static int no_command(const char *name)
{
    static const char *const others[] = {"help"};
    const char *names[sizeof command_table / sizeof *command_table + 1], *nearest;

    for (size_t i = 0; i < n_commands; i++)
        names[i] = command_table[i].name;
    names[n_commands] = others[0];
    nearest = nd_name_nearest(name, strlen(name), names, n_commands + 1);
    if (nearest)
        say("there is no command '%s'; did you mean '%s'?", name, nearest);
    else
        say("there is no command '%s'; see neardup help", name);
    return 2;
}

static int help(int n, char **argument)
{
    const struct command *command = n > 0 ? find_command(argument[0]) : NULL;

    if (n > 1) {
        say("help takes one command");
        return 2;
    }
    if (n > 0 && !command)
        return no_command(argument[0]);
    if (command)
        print_command_usage(command);
    else
        print_usage();
    return close_output();
}

/* The environment is read here only: the library never asks it. */
static bool force_cpu(void)
{
    const char *name = getenv("NEARDUP_CPU");
    struct nd_error err;

    if (!name || !*name || nd_cpu_force(name, &err) == ND_OK)
        return true;
    say("NEARDUP_CPU: %s", err.message);
    return false;
}

static int run(const struct command *command, int n, char **argument)
{
    struct settings settings;
    struct nd_error err;
    int status;

    settings_init(&settings);
    if (settings_parse(&settings, command, n, argument, &err) != ND_OK) {
        say("%s", err.message);
        status = 2;
    } else if (settings.help) {
        print_command_usage(command);
        status = close_output();
    } else {
        if (command->bit & FOR_PAIRWISE) /* which read what decides */
            warn_of_recipe(NULL, &settings.run.recipe);
        status = force_cpu() ? command->run(&settings) : 2;
    }
    settings_release(&settings);
    return status;
}

/*
 * Messages of mail whose addresses are groups in groups, which GMime reads by recursion, took
 * between 256 and 384 KiB of stack, all else less (tests/cli/limits.bats); sanitizers need more.
 * Little stack is left to say so.
 */
static bool has_stack(void)
{
    static const char message[] =
        "neardup: the stack may grow to less than 1024 KiB, which is too little: ulimit -s 1024\n";
    struct rlimit limit;

    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= (rlim_t)1 << 20)
        return true;
    if (write(STDERR_FILENO, message, sizeof message - 1) < 0)
        return false; /* there is nobody to tell */
    return false;
}

int main(int n, char **argument)
{
    const struct command *command;

    if (!has_stack())
        return 2;
    open_standard_files();
    handle_signals();
    if (n < 2) {
        say("a command is missing; see neardup help");
        return 2;
    }
    if (strcmp(argument[1], "--version") == 0) {
        printf("neardup %s\n", nd_version());
        return close_output();
    }
    if (strcmp(argument[1], "--help") == 0 || strcmp(argument[1], "-h") == 0)
        return help(0, NULL);
    if (strcmp(argument[1], "help") == 0)
        return help(n - 2, argument + 2);
    command = find_command(argument[1]);
    return command ? run(command, n - 2, argument + 2) : no_command(argument[1]);
}
