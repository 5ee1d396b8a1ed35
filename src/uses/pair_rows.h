/* pair_rows.h - a pair as a line of TSV or of JSON (docs/format/outputs.md) */
#ifndef ND_USES_PAIR_ROWS_H
#define ND_USES_PAIR_ROWS_H

#include <stdbool.h>

#include <neardup/dedup.h>

#include "base/json_out.h"
#include "evidence/name.h"
#include "recipe/recipe_struct.h"
#include "uses/pair_columns.h"

struct nd_pair_line {
    struct nd_name earlier, later;
    const struct nd_found_pair *pair; /* `a` is the later document */
    bool is_verified;                 /* the texts were compared */
    bool shows_containment;           /* columns of containments in TSV, if one decided */
    const struct nd_method *method;   /* the recipe's signatures were compared, if there are any */
    const char *site;                 /* "same", "other" or "" (unknown); NULL: no column */
    bool shows_match;                 /* near misses are listed too */
    bool is_match;
    unsigned columns; /* further ones, a set of enum nd_pair_column, with their numbers */
    struct nd_pair_numbers number;
};

/* Append the names of the columns of TSV, with the end of the line. `row` says which there are. */
void nd_pair_head_tsv(struct nd_json *out, const struct nd_pair_line *row);
/* Append the line, with its end. */
void nd_pair_line_tsv(struct nd_json *out, const struct nd_pair_line *row);
void nd_pair_line_json(struct nd_json *out, const struct nd_pair_line *row);

#endif
