/* run_options.h - what struct nd_run_options holds: the values of its keys, as the run reads them */
#ifndef ND_READING_RUN_OPTIONS_H
#define ND_READING_RUN_OPTIONS_H

#include <neardup/run.h>

#include "base/memory.h"
#include "evidence/first_line.h"

/* The number of keys in run_options.c. */
enum { ND_RUN_KEYS = 54 };

/* The values of one key as they were given, in an array in the arena. */
struct nd_run_given {
    const char **value;
    size_t n;
};

/*
 * The typed form of the keys that include/neardup/run.h explains. Strings and lists that a caller
 * set by key are in the arena. A run may point members to other memory, and may change a copy of
 * the struct, which shares that memory: only nd_run_options_free releases the arena.
 */
struct nd_run_options {
    const struct nd_recipe *recipe; /* borrowed */
    unsigned threads;
    unsigned char pin_threads;
    /* The run sets `fields` itself. */
    struct nd_input_options input;
    const char *const *paths;
    size_t n_paths;
    const char *df_auto;
    const char *within, *security_field;
    const char *prefer_field;
    const char *const *prefer;
    size_t n_prefer;
    const struct nd_run_value *never;
    size_t n_never;
    /* At most one of these four is set; if all are NULL: standard output. */
    const char *output, *output_dir, *copy_to, *link_to;
    unsigned output_level; /* of what is compressed; 0: the compression's default */
    const char *removed, *manifest, *clusters, *summary, *report, *revisit;
    const char *copies_field; /* that survivors get, with the size of their cluster; NULL: none */
    const char *tmp, *checkpoint;
    const char *const *known_sketches;
    size_t n_known_sketches;
    const char *const *record_field; /* kept in the records of a sketch file that is made */
    size_t n_record_field;
    bool record_length;
    uint64_t memory;       /* bytes; 0: not bounded */
    const char *predicted; /* a file of nd_run_plan */
    unsigned char strict, dry_run, force, null_paths, annotate, append, only_against, sketches,
        differs;
    /*
     * q 0: the default, which is 1/20 of all records or one record, and none for an input that is
     * replaced.
     */
    struct nd_ratio max_bad;
    const char *const *also_read;
    size_t n_also_read;
    const char *const *against;
    size_t n_against;

    struct nd_tags *tags; /* input.tags, where a file of them was given by key */
    struct nd_arena arena;
    struct nd_run_given given[ND_RUN_KEYS];
};

/* The values before any key is set, without a recipe. */
struct nd_run_options nd_run_options_default(void);

#endif
