/* read_manifest.h - a manifest read again: how its run read documents, and its lowest rows */
#ifndef ND_USES_READ_MANIFEST_H
#define ND_USES_READ_MANIFEST_H

#include <stdbool.h>

#include <neardup/run.h>

#include "base/memory.h"
#include "recipe/recipe.h"

/* The row of a removed document. Names are as in the manifest, with JSON escapes decoded. */
struct nd_manifest_row {
    uint64_t number;    /* number of the row in the manifest, from 1 after the header */
    double resemblance; /* negative: unknown */
    double distance;    /* negative: none */
    char *name[2];      /* ids of the kept and of the removed document */
    char *at[2];        /* their places */
};

/* Starts from zeroes. */
struct nd_manifest {
    struct nd_recipe recipe;
    struct nd_input_options input; /* all pointers point into the arena */
    const char *const *paths;      /* paths of the inputs; adjacent equal ones once */
    size_t n_paths;
    struct nd_manifest_row *row; /* by resemblance, ascending; rows without one last, by distance */
    size_t n_rows, capacity;
    uint64_t n_removed; /* total number of rows of removed documents */
    /* While it is read. */
    const char *path;
    size_t lowest;   /* rows that are kept */
    uint64_t n_read; /* rows so far */
    bool has_header;
    struct nd_arena arena;
};

/*
 * Read the `lowest` rows with the lowest resemblance. ND_EINPUT: not a manifest; otherwise the
 * status of nd_input_open.
 */
enum nd_status nd_manifest_read(struct nd_manifest *m, const char *path, size_t lowest,
                                struct nd_error *err);
void nd_manifest_release(struct nd_manifest *m);

#endif
