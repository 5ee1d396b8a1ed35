/* settings.h - what the command line says, and the table that it is read by */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include <neardup/run.h>
#include <neardup/run_df.h>
#include <neardup/uses.h>

/* A list of strings that grows. */
struct words {
    const char **at;
    size_t count;
};

/* What index and join are told. */
struct hamming_settings {
    unsigned bits, distance, tables, key_bits, buckets;
    unsigned codec;       /* of enum nd_hamming_codec; 0: not given */
    double count, memory; /* 0: not given */
    const char *output, *calibration, *svg;
    bool raw, any_digits, merge, calibrate, has_bits, has_distance;
};

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* What compare and the other uses are told. */
struct use_settings {
    struct nd_compare_params compare;
    struct words metrics, prototypes;
    enum nd_filter_output filter;
    struct nd_track_params track;
    struct nd_collapse_params collapse;
    struct nd_mirrors_params mirrors;
    struct nd_template_params template;
    struct nd_anchors_params anchors;
    unsigned show; /* parts of a comparison */
    enum color color;
    bool json;
};

/* What df is told. */
struct df_settings {
    struct nd_run_df_options build;
    double drop;
    unsigned count, sample;
    bool rarest;
};

struct settings {
    struct nd_run_options run;
    struct hamming_settings hamming;
    struct use_settings use;
    struct df_settings df_table;
    struct words paths, text_fields, globs, excludes, prefer, corpus, also_read;
    struct words assignments; /* of recipe, which changes what it shows */
    const char *df;           /* of recipe */
    char *prefer_copy;        /* of the option's value, cut at commas */
    bool has_output;          /* -o was given */
    bool quiet, progress, help, canonical;
};

enum commands {
    FOR_DEDUP = 1,
    FOR_PAIRS = 2,
    FOR_EXPLAIN = 4,
    FOR_SKETCH = 8,
    FOR_INDEX = 16,
    FOR_JOIN = 32,
    FOR_DF = 1024,
    FOR_RECIPE = 64,
    FOR_HAMMING = FOR_INDEX | FOR_JOIN,
    FOR_COMPARE = 1 << 16,
    FOR_FILTER = 1 << 17,
    FOR_TRACK = 1 << 18,
    FOR_COLLAPSE = 1 << 19,
    FOR_MIRRORS = 1 << 20,
    FOR_TEMPLATE = 1 << 21,
    FOR_ANCHORS = 1 << 22, /* reads documents, but no recipe */
    FOR_STREAMS = FOR_FILTER | FOR_TRACK | FOR_COLLAPSE | FOR_MIRRORS |
                  FOR_TEMPLATE, /* uses with any number of inputs and an output */
    FOR_USES = FOR_COMPARE | FOR_STREAMS,
    FOR_RUNS =
        FOR_DEDUP | FOR_PAIRS | FOR_SKETCH | FOR_STREAMS | FOR_ANCHORS, /* that read any number of
                                                                           inputs */
    FOR_PAIRWISE = FOR_DEDUP | FOR_PAIRS | FOR_EXPLAIN | FOR_FILTER | FOR_COLLAPSE,
    FOR_ALL = 15 | FOR_DF | FOR_USES, /* that read documents, by a recipe */
    FOR_INPUT = FOR_ALL | FOR_ANCHORS,
};

/* Set before all others, wherever they stand: the other options change what these say. */
enum { STAGE_RECIPE, STAGE_KEYS, STAGE_OPTIONS, STAGES };

struct option {
    const char *group; /* heading in the usage; NULL: that of the option before */
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* how the usage calls its value; NULL: it takes none */
    const char *help;     /* with the default */
    unsigned commands;    /* a set of enum commands */
    int stage;
    enum nd_status (*set)(struct settings *s, const struct option *o, const char *value,
                          struct nd_error *err);
    const char *key; /* of the recipe, for set_key */
};

extern const struct option option_table[];
extern const size_t n_options;

struct command {
    const char *name;
    unsigned bit; /* of enum commands */
    const char *arguments, *about, *examples;
    int (*run)(struct settings *s);
};
extern const struct command command_table[];
extern const size_t n_commands;

/* Read the arguments after the command's name.  ND_EINVAL: the message names the nearest option. */
enum nd_status settings_parse(struct settings *s, const struct command *command, int n,
                              char *const *arguments, struct nd_error *err);
void settings_init(struct settings *s);
void settings_release(struct settings *s);
/* False: out of memory. */
bool words_add(struct words *w, const char *word);

/* usage.c */
void print_usage(void);
void print_command_usage(const struct command *command);
/* The standard output is complete: 0, or 2 with a message where it could not be written. */
int close_output(void);

/* cmd_*.c: the exit status. */
int cmd_dedup(struct settings *s);
int cmd_pairs(struct settings *s);
int cmd_explain(struct settings *s);
int cmd_sketch(struct settings *s);
int cmd_index(struct settings *s);
int cmd_join(struct settings *s);
int cmd_compare(struct settings *s);
int cmd_filter(struct settings *s);
int cmd_track(struct settings *s);
int cmd_collapse(struct settings *s);
int cmd_mirrors(struct settings *s);
int cmd_template(struct settings *s);
int cmd_anchors(struct settings *s);
int cmd_df(struct settings *s);
int cmd_recipe(struct settings *s);

/* cmd_index_file.c: the parts of index that write a file. */
int index_build(const struct settings *s, const char *const *path, size_t n);
int index_add(const struct settings *s, const char *index, const char *const *path, size_t n);
int index_merge(const struct settings *s, const char *const *path, size_t n);
/* cmd_index_pairs.c */
int index_pairs(const struct settings *s, const char *const *path, size_t n);
/* cmd_index_query.c: those that read one. */
int index_info(const struct settings *s, const char *path);
int index_verify(const struct settings *s, const char *path);
int index_query(const struct settings *s, const char *index, const char *queries);
/* cmd_index_stats.c */
int index_stats(const struct settings *s, const char *const *path, size_t n);

/* A message "neardup: …" on standard error; the progress line, if any, makes room. */
void say(const char *format, ...) ND_PRINTF(1, 2);

#endif
