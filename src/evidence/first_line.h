/* first_line.h - the first line of a manifest */
#ifndef ND_EVIDENCE_FIRST_LINE_H
#define ND_EVIDENCE_FIRST_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/run.h>

#include "base/json_out.h"
#include "recipe/recipe_struct.h"

/* A field, and a value of it as it is written in the document. */
struct nd_run_value {
    const char *field, *value;
};

/* A sketch file of documents that came before those of the inputs, as it was when it was opened. */
struct nd_first_line_seen {
    const char *path;
    uint64_t generation, documents;
};

/* The prototypes of filter, and their fields; NULL or 0: as for documents. */
struct nd_first_line_prototypes {
    const char *const *paths, *const *text_fields;
    size_t n_paths, n_text_fields;
    const char *id_field, *group_field;
};

/* The options of repeats that decide what it cuts. */
struct nd_first_line_repeats {
    const char *cut;
    uint64_t tokens, occurrences;
    struct nd_ratio near; /* p 0: absent */
    bool drop_empty, texts;
};

/*
 * A description of the run, beside the recipe, so that it can be repeated and explained.  The words
 * are those of docs/format/outputs.md; NULL: the key is absent.
 */
struct nd_first_line {
    const char *html_parser, *mail_parser;
    const char *format, *unit, *missing_text, *binary, *mail, *charset, *text_format;
    const char *const *text_fields;
    size_t n_text_fields;
    const char *id_field;
    const char *const *globs, *const *excludes, *const *filters;
    size_t n_globs, n_excludes, n_filters;
    const char *tags; /* in their one spelling */
    const char *df_auto, *within, *security_field, *prefer_field;
    const char *const *prefer;
    size_t n_prefer;
    const struct nd_run_value *never;
    size_t n_never;
    const struct nd_first_line_seen *seen;
    size_t n_seen;
    const struct nd_first_line_prototypes *prototypes;
    const struct nd_first_line_repeats *repeats; /* not NULL: no recipe counts */
    bool is_strict, is_only_against;
};

/* An input. */
struct nd_first_line_source {
    const char *path, *entry, *format, *compression, *archive;
    uint64_t records, bytes, bytes_hash;
    bool is_sketched; /* its bytes are not known */
};

/* Append the line in parts: what was done, each input, and the end. */
ND_API void nd_first_line_begin(struct nd_json *out, const struct nd_first_line *line,
                                const struct nd_recipe *recipe,
                                const struct nd_run_summary *summary);
ND_API void nd_first_line_source(struct nd_json *out, const struct nd_first_line_source *source);
ND_API void nd_first_line_end(struct nd_json *out);

#endif
