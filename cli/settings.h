/* settings.h - what the command line says, and the table that it is read by */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/eval.h>
#include <neardup/explain.h>
#include <neardup/judging.h>
#include <neardup/plan.h>
#include <neardup/run.h>
#include <neardup/run_df.h>
#include <neardup/sweep.h>
#include <neardup/uses.h>

#include "color.h"
#include "config_file.h"

/* A list of strings that grows. */
struct words {
    const char **at;
    size_t count;
};

/* The settings of index and join. */
struct hamming_settings {
    unsigned bits, distance, tables, key_bits, buckets, part_fingerprints;
    unsigned codec, family; /* of enum nd_hamming_codec and _family; 0: not given */
    unsigned layout;        /* of enum nd_hamming_file_layout; 0: not given */
    double count, memory;   /* of the index; 0: not given */
    uint64_t run_memory;    /* --memory; 0: not given */
    const char *output, *calibration, *svg;
    bool raw, any_digits, fingerprints, merge, calibrate, has_bits, has_distance;
    bool records; /* the index is to be one of records */
};

/* Folders of the files that steps of reproductions read. */
struct lab_places {
    const char *corpora;  /* the folder of corpora; NULL: there is none */
    const char *packages; /* where packages are unpacked; NULL: the root of the system */
};

/* The settings of compare and the other commands. */
struct use_settings {
    struct nd_pairs_params pairs;
    struct nd_compare_params compare;
    struct words metrics, prototypes, prototypes_text, source_texts;
    struct nd_filter_params filter;
    struct nd_apply_params apply;
    struct nd_track_params track;
    struct nd_collapse_params collapse;
    struct nd_mirrors_params mirrors;
    struct nd_template_params template;
    struct nd_anchors_params anchors;
    struct nd_perturb_params perturb;
    struct nd_audit_params audit;
    struct nd_repeats_params repeats;
    struct nd_report_params report;
    struct nd_sources_params sources;
    struct nd_plan_params plan;
    struct nd_eval_params eval;
    struct words positive, documents; /* of eval, and of sample */
    struct nd_sample_params sample;
    struct nd_clusters_params clusters;
    const char *page; /* of sample */
    const char *eval_svg;
    const char *clusters_svg;     /* of clusters */
    bool judged;                  /* of eval: the files are judgements */
    struct nd_sweep_params sweep; /* its eval is that above */
    struct words sets;            /* of sweep */
    const char *sweep_svg;
    struct lab_places lab_places; /* of reproduce */
    const char *lab_files, *lab_page;
    bool lab_tsv;
    const char *plan_svg;
    unsigned show; /* which parts of a comparison */
    enum color color;
    bool json;
    bool no_shingles, shingle_hashes; /* of sketch */
};

/* The settings of explain for one document, for hashes, and for a manifest. */
struct explain_settings {
    const char *svg, *rows;
    unsigned top, buckets, lowest;
    enum { BY_WEIGHT, BY_POSITION } order;
    bool histogram;
};

/* The settings of df. */
struct df_settings {
    struct nd_run_df_options build;
    double drop;
    unsigned count, sample;
    unsigned least, most; /* of the features that are shown, documents; most 0: any number */
    bool rarest;
};

/* The settings of client, and of all three: security. */
struct service_settings {
    const char *url, *key_file, *ca_file, *resume, *follow, *with, *expect, *state;
    const char *security; /* "a,b"; NULL: not given */
    unsigned batch, connections, limit, gap;
    uint64_t retry_s, max_age_s, settle_s, every_s;
    struct nd_ratio at; /* 0/0: the threshold */
    bool dry_run, differs, deletes;
};

/* The settings of serve and store.  0: the server's or the store's own default. */
struct serve_settings {
    const char *listen, *keys, *certificate, *certificate_key, *new_key, *sketches, *config;
    struct words hosts;
    unsigned durability_ms, threads;
    uint64_t body_bytes, deadline_s, snapshot_s, compact_s;
    struct nd_ratio least, containment; /* 0/0: none */
    bool administrator, log_requests, all, read_only;
};

struct file_lists; /* file_list.h */

struct settings {
    struct nd_recipe *recipe; /* the recipe of the run */
    struct nd_run_options *run;
    struct hamming_settings hamming;
    struct use_settings use;
    struct df_settings df_table;
    struct explain_settings explain;
    struct service_settings service;
    struct serve_settings serve;
    struct words paths, corpus;
    struct words file_lists;   /* the lists of --files-from */
    struct file_lists *lists;  /* contents of the lists; NULL: there are none */
    bool null_lists;           /* their paths end in NUL */
    struct config_file config; /* of serve: what it has is given before the options */
    struct words given;        /* names of the given options, in order */
    struct words given_values; /* of each its value, or NULL */
    struct words assignments;  /* of recipe show */
    const char *df;            /* of recipe and index */
    unsigned total;            /* of clusters */
    bool quiet, progress, help, canonical;
};

/* A command is a bit; options name the commands that take them. A new command gets the next bit
 * (tests/cli/commands.bats fails if two have the same). */
enum commands {
    FOR_DEDUP = 1 << 0,
    FOR_PAIRS = 1 << 1,
    FOR_EXPLAIN = 1 << 2,
    FOR_SKETCH = 1 << 3,
    FOR_INDEX = 1 << 4,
    FOR_JOIN = 1 << 5,
    FOR_RECIPE = 1 << 6,
    FOR_DF = 1 << 7,
    FOR_COMPARE = 1 << 8,
    FOR_FILTER = 1 << 9,
    FOR_TRACK = 1 << 10,
    FOR_COLLAPSE = 1 << 11,
    FOR_MIRRORS = 1 << 12,
    FOR_TEMPLATE = 1 << 13,
    FOR_ANCHORS = 1 << 14, /* reads documents, but without a recipe */
    FOR_CLIENT = 1 << 15,  /* reads documents, but without a recipe */
    FOR_SERVE = 1 << 16,
    FOR_STORE = 1 << 17,
    FOR_PLAN = 1 << 18,
    FOR_APPLY = 1 << 19, /* reads documents, but without a recipe */
    FOR_EVAL = 1 << 20,  /* likewise, for their ids */
    FOR_AUDIT = 1 << 21,
    FOR_REPEATS = 1 << 22, /* reads documents, but without a recipe */
    FOR_REPORT = 1 << 28,  /* likewise */
    FOR_SOURCES = 1 << 29, /* likewise */
    FOR_DOCTOR = 1 << 30,

    FOR_SAMPLE = 1 << 23,   /* reads documents, but without a recipe */
    FOR_CLUSTERS = 1 << 24, /* likewise, for their ids */
    FOR_PERTURB = 1 << 25,  /* likewise */
    FOR_SWEEP = 1 << 26,
    FOR_REPRODUCE = 1 << 27,

    /* Sets of commands. */
    FOR_SERVICE = FOR_CLIENT | FOR_SERVE | FOR_STORE, /* that the program neardup-server runs */
    FOR_HAMMING = FOR_INDEX | FOR_JOIN,
    FOR_STREAMS = FOR_FILTER | FOR_TRACK | FOR_COLLAPSE | FOR_MIRRORS |
                  FOR_TEMPLATE, /* commands with any number of inputs and one output */
    FOR_USES = FOR_COMPARE | FOR_STREAMS,
    FOR_RUNS = FOR_DEDUP | FOR_PAIRS | FOR_SKETCH | FOR_STREAMS | FOR_ANCHORS | FOR_APPLY |
               FOR_PERTURB | FOR_AUDIT | FOR_REPEATS |
               FOR_SOURCES, /* that read any number of inputs */
    FOR_PAIRWISE =
        FOR_DEDUP | FOR_PLAN | FOR_PAIRS | FOR_SWEEP | FOR_EXPLAIN | FOR_FILTER | FOR_COLLAPSE,
    FOR_ALL = FOR_AUDIT | FOR_DEDUP | FOR_PLAN | FOR_PAIRS | FOR_SWEEP | FOR_EXPLAIN | FOR_SKETCH |
              FOR_DF | FOR_USES | FOR_INDEX, /* that read documents, by a recipe */
    FOR_INPUT = FOR_ALL | FOR_ANCHORS | FOR_CLIENT | FOR_APPLY | FOR_EVAL | FOR_SAMPLE |
                FOR_PERTURB | FOR_REPEATS | FOR_REPORT | FOR_SOURCES, /* that read documents */
    FOR_FILES = FOR_RUNS | FOR_PLAN | FOR_SWEEP | FOR_DF | FOR_HAMMING | FOR_CLIENT | FOR_EVAL |
                FOR_CLUSTERS | FOR_REPORT, /* that take any number of files */
};

/*
 * Options that are applied before all others, wherever they are, because the others change what
 * these set.
 */
enum { STAGE_RECIPE, STAGE_KEYS, STAGE_OPTIONS, STAGES };

struct option {
    const char *group; /* heading in the help; NULL: as the option before */
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* name of its value in the help; NULL: it takes no value */
    const char *help;     /* description, with the default */
    unsigned commands;    /* a set of enum commands */
    int stage;
    enum nd_status (*set)(struct settings *s, const struct option *o, const char *value,
                          struct nd_error *err);
    const char *key; /* key of the recipe, for set_key */
    size_t to;       /* the member of struct settings that a typed setter sets */
    unsigned long min, max;
    const char *words;  /* words that set_word accepts, separated by spaces */
    const char *values; /* accepted words for completion, if the message does not list them */
    const char *parts;  /* subcommands that it applies to; NULL: see option_parts */
};

/* The subcommands of index that read fingerprints or documents. */
#define READING "pairs build add query stats"
/* The subcommands of client that read documents. */
#define POSTING "post query watch"

extern const struct option option_table[];
extern const size_t n_options;

struct command {
    const char *name;
    unsigned bit; /* of enum commands */
    const char *arguments, *about, *examples;
    /*
     * Runs the command and returns the exit status. For a command that is one function of
     * <neardup/uses.h>: checks whether the options fit together (NULL: always), and the call.
     */
    int (*run)(struct settings *s);
    enum nd_status (*summarised)(const struct settings *s, const struct nd_run_events *events,
                                 struct nd_run_summary *summary, struct nd_error *err);
    bool (*fits)(const struct settings *s);
    enum nd_status (*use)(const struct settings *s, const struct nd_run_events *events,
                          struct nd_use_summary *summary, struct nd_error *err);
};
/* Find a command by name; NULL: there is none. */
const struct command *find_command(const char *name);
/* The system for which this command does not exist, if that is the one it was built for, or NULL. */
const char *lacking_system(const struct command *command);
int run_command(const struct command *command, struct settings *s);
extern const struct command command_table[];
extern const size_t n_commands;

/* Read the arguments after the command's name.  ND_EINVAL: the message names the nearest option. */
enum nd_status settings_parse(struct settings *s, const struct command *command, int n,
                              char *const *arguments, struct nd_error *err);
/* Whether the option of this name was given. */
bool is_given(const struct settings *s, const char *name);
/* ND_ENOMEM. Undo with settings_release, whatever it returns. */
enum nd_status settings_init(struct settings *s, struct nd_error *err);
void settings_release(struct settings *s);
/* The value of an option of the run; NULL: it is not set. */
const char *run_option(const struct settings *s, const char *name);
/* Have the run read these paths. False: out of memory, which was reported. */
bool run_reads(struct nd_run_options *run, const char *const *path, size_t n);
/* False: out of memory. */
bool words_add(struct words *w, const char *word);
/* Without a corpus, have places such as "FILE:LINE" looked up in their files (places.c). */
void find_places(struct settings *s);
/*
 * Add an allocated word, which the list owns from then on. False: it is NULL, or out of memory and
 * the word has been freed.
 */
bool words_take(struct words *w, char *word);

/* The file in a --df value of the form "auto=FILE"; NULL: another form (option_set.c). */
const char *df_auto_name(const char *value);

/* usage.c */
void print_usage(void);
/* part: NULL, or a subcommand, to list only its options. */
void print_command_usage(const struct command *command, const char *part);
/* Print the usage in at most 24 lines: the names of the options without their explanation. */
void print_brief_usage(const struct command *command, const char *part);
/* Flush the standard output: 0, or 2 after reporting that it could not be written. */
int close_output(void);

/* cmd_*.c: they return the exit status. */
int cmd_explain(struct settings *s);
int cmd_index(struct settings *s);
int cmd_join(struct settings *s);
int cmd_compare(struct settings *s);
int cmd_df(struct settings *s);
int cmd_doctor(struct settings *s);
int cmd_sketch_file(struct settings *s, const char *part);
int cmd_recipe(struct settings *s);
int cmd_plan(struct settings *s);
int cmd_eval(struct settings *s);
int cmd_sweep(struct settings *s);
int cmd_sample(struct settings *s);
int cmd_reproduce(struct settings *s);
int cmd_clusters(struct settings *s);
int cmd_client(struct settings *s);
int cmd_serve(struct settings *s);
int cmd_store(struct settings *s);

/* elsewhere.c, service/here.c: have the program that has the commands of FOR_SERVICE run them in
 * place of this one.  Returns if there is no other program, or this is the one. */
void run_elsewhere(char **argument);
/* Whether there is a program that has them. */
bool find_server(void);
/* Complete the words after the command's name, the last of which is incomplete; for shells. */
int cmd_complete(int n, const char *const *word);
/* For the build: make a command's manual page of the file in man/ that is the standard input. */
int cmd_manual(const char *name);

/* usage.c: the help of an option.  In its row "{formats}" stands for the words of all formats:
 * "auto, text, … or mbox". */
void option_help(const struct option *o, char *out, size_t capacity);

/* settings.c: the subcommands of index, df and recipe. */
/* The subcommands that an option applies to, separated by spaces; NULL: all. */
const char *option_parts(const struct option *o, const struct command *command);
/* The subcommands of a command, with | between them; NULL: it has none. */
const char *command_parts(const struct command *command, size_t *len);
bool is_part(const struct command *command, const char *word);
/* Whether the command and this subcommand of it (NULL: any) have the option. */
bool option_is_of(const struct option *o, const struct command *command, const char *part);
/* ND_EINVAL: an option was given that the subcommand does not have. */
enum nd_status check_parts(const struct settings *s, const struct command *command,
                           struct nd_error *err);

/* cmd_index_plan.c, cmd_index_pairs.c: the larger subcommands of index. */
int index_plan(struct settings *s, const char *const *path, size_t n);
int index_pairs(struct settings *s, const char *const *path, size_t n);

/* Print a message "neardup: …" to standard error, after removing the progress line, if any: of an
 * error; of a warning, or what was left out; of anything else. */
void say(const char *format, ...) ND_PRINTF(1, 2);
void caution(const char *format, ...) ND_PRINTF(1, 2);
void inform(const char *format, ...) ND_PRINTF(1, 2);

#endif
