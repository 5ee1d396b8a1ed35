/* read_manifest.h - a manifest, a file of clusters or of pairs read again */
#ifndef ND_USES_READ_MANIFEST_H
#define ND_USES_READ_MANIFEST_H

#include <stdbool.h>

#include <neardup/run.h>

#include "base/memory.h"
#include "recipe/recipe_struct.h"

/* The row of a removed document. Names are as in the manifest, with JSON escapes decoded. */
struct nd_manifest_row {
    uint64_t number;    /* number of the row in the manifest, from 1 after the header */
    double resemblance; /* negative: unknown */
    double distance;    /* negative: none */
    char *name[2];      /* ids of the kept and of the removed document */
    char *at[2];        /* their places */
};

/* A line of a file of clusters: two names as they stand there, and what became of the first. */
struct nd_cluster_line {
    struct nd_view name, kept;
    enum { ND_FATE_UNSAID, ND_FATE_KEPT, ND_FATE_REMOVED } fate;
};
/* Divide a line. ND_EINPUT: it is of another form. */
enum nd_status nd_cluster_line_parse(const struct nd_record *record, const char *path,
                                     struct nd_cluster_line *line, struct nd_error *err);

/*
 * Called with the lines of a file in place of keeping the lowest rows. A row is a document whose id
 * is the name of the removed one; `at` is its removed_at, and `kept` and `kept_at`
 * are the name and the place of the kept one.
 */
struct nd_manifest_hooks {
    enum nd_status (*row)(void *context, const struct nd_document *row, struct nd_view at,
                          struct nd_view kept, struct nd_view kept_at, uint64_t line,
                          struct nd_error *err);
    enum nd_status (*cluster)(void *context, const struct nd_cluster_line *parts, uint64_t line,
                              struct nd_error *err);
    void *context;
    /* NULL, or called with the first line, when it has been read into the manifest, sources too. */
    enum nd_status (*header)(void *context, struct nd_error *err);
    /* NULL, or called with the place of a bad record. */
    enum nd_status (*skipped)(void *context, struct nd_view at, struct nd_error *err);
    /*
     * NULL: all other lines are refused. `object` is given JSON objects that are neither the header
     * nor rows, with the values of `fields` behind ND_MANIFEST_FIELDS others; `text` is given the
     * lines of a file that does not begin with a JSON object, in place of `cluster`.
     */
    enum nd_status (*object)(void *context, const struct nd_document *object, uint64_t line,
                             struct nd_error *err);
    enum nd_status (*text)(void *context, const struct nd_record *record, struct nd_error *err);
    const char *const *fields;
    size_t n_fields;
};
enum { ND_MANIFEST_FIELDS = 24, ND_MANIFEST_FIELDS_MORE = 32 };

/* An input that a header names. */
struct nd_manifest_source {
    const char *path;
    const char *entry; /* "": it is no entry of an archive */
    uint64_t records;
    bool has_records;
};

/* Starts from zeroes. */
struct nd_manifest {
    struct nd_recipe recipe;
    const char *recipe_text;       /* as the header has it, in the arena; NULL: it has none */
    struct nd_input_options input; /* pointers point into the arena, or are `tags` */
    struct nd_tags *tags;
    const char *const *paths; /* paths of the inputs; adjacent equal ones once */
    size_t n_paths;
    struct nd_manifest_source *source; /* with the hook `header`: all of them */
    size_t n_sources;
    struct nd_manifest_row *row; /* by resemblance, ascending; rows without one last, by distance */
    size_t n_rows, capacity;
    uint64_t n_removed; /* total number of rows of removed documents */
    bool is_of_clusters;
    /* Facts of its header, where lines are handed on. */
    bool has_recipe, has_against, has_prototypes;
    /* While it is read. */
    const char *path;
    const struct nd_manifest_hooks *hooks; /* NULL: the lowest rows are kept */
    size_t lowest;                         /* rows that are kept */
    uint64_t n_read;                       /* rows so far */
    bool has_header;
    struct nd_arena arena;
};

/*
 * Read the `lowest` rows with the lowest resemblance. ND_EINPUT: not a manifest; otherwise the
 * status of nd_input_open.
 */
enum nd_status nd_manifest_read(struct nd_manifest *m, const char *path, size_t lowest,
                                struct nd_error *err);
/*
 * Read a manifest, a file of clusters, or with the hooks for them any lines, one by one. A manifest of another tool needs no header:
 * then there are no paths, and `input` has the defaults. A recipe that cannot be read is no error.
 */
enum nd_status nd_manifest_each(struct nd_manifest *m, const char *path,
                                const struct nd_manifest_hooks *hooks, struct nd_error *err);
void nd_manifest_release(struct nd_manifest *m);

/* Read documents as the run of a manifest did, except where `to` says otherwise than by default. */
void nd_manifest_take_reading(struct nd_input_options *to, const struct nd_manifest *m);

#endif
