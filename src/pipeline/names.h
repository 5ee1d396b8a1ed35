/* names.h - what a document is called in the outputs, and names met lately, ids met before */
#ifndef ND_PIPELINE_NAMES_H
#define ND_PIPELINE_NAMES_H

#include <neardup/input.h>
#include <neardup/run.h>
#include <neardup/types.h>

#include "base/json_out.h"
#include "pipeline/hash_set.h"
#include "pipeline/reading.h"

#include <stdbool.h>
#include <stdint.h>

/* A document's id as the record has it, or the place of a record without an id. */
struct nd_name {
    enum nd_id_kind kind;
    struct nd_view text;
};

/* Append "file:line", "file!entry:line", "file!entry" or "file". */
void nd_place_append(struct nd_json *out, const struct nd_source *source, uint64_t line);

/*
 * The name of a document. If it is the place, it is written to *scratch, replacing what was there.
 */
struct nd_name nd_name_of(const struct nd_document *document, const struct nd_source *source,
                          uint64_t line, struct nd_json *scratch);

/*
 * Whether `written` is the name as an output writes it: as a field of TSV, as the value of a JSON
 * string, or as the characters between that string's quotes. *scratch is overwritten.
 */
bool nd_name_is_written(struct nd_view written, struct nd_view name, struct nd_json *scratch);

/* Append the value of the JSON string; bytes that are not valid UTF-8 become \xNN. */
void nd_name_value(struct nd_json *out, struct nd_view name);

/* Copies of an id and of a place; false: out of memory. */
bool nd_name_copy(struct nd_document_name *to, const struct nd_name *name, struct nd_view at);
void nd_name_release(struct nd_document_name *name);
/* Write it as the values of the keys "id" and "at" of an object. */
void nd_name_put(struct nd_json *out, const struct nd_document_name *name);

/* Copy the beginning of a name for display; characters that could control a terminal become '?'. */
void nd_name_show(const struct nd_view name, char *out, size_t size);

/* Write it as a JSON value; an id that is a number stays a number. */
void nd_name_json(struct nd_json *out, const struct nd_name *name);
/* Write it as a field of TSV. */
void nd_name_tsv(struct nd_json *out, const struct nd_name *name);

/* ---- Names met lately ---- */

/*
 * Names stand one after the other in a ring of bytes; a slot, by number, says where:
 *
 *     slot[number % SLOTS]   number | position | length | kind
 *     ring                   … name name name …        position counts bytes ever written
 *
 * A slot whose bytes have been overwritten since is empty.  12 MB at most, touched as it fills.
 */
struct nd_name_cache;

struct nd_name_cache *nd_name_cache_new(void); /* NULL: out of memory */
void nd_name_cache_free(struct nd_name_cache *c);

/* Remember a name, unless it is very long. */
void nd_name_cache_put(struct nd_name_cache *c, uint64_t number, const struct nd_name *name);

/* Get a name, valid until the next _put. False: it is not remembered, or not any more. */
bool nd_name_cache_get(const struct nd_name_cache *c, uint64_t number, struct nd_name *name);

/* ---- Ids met before ---- */

/*
 * Finds duplicate ids by their hashes, within a memory budget: beyond it the number of duplicates
 * is a lower bound. Starts from zeroes and ids.bytes_max.
 */
struct nd_id_check {
    struct nd_hash_set ids;
    uint64_t n_double;      /* documents whose id appeared before */
    char first_double[512]; /* place of the first of them, and its id */
    struct nd_json place;   /* scratch */
};
void nd_id_check_release(struct nd_id_check *c);
/* Prefetch what nd_id_check_note reads. */
void nd_id_check_prefetch(const struct nd_id_check *c, const struct nd_document *document);
void nd_id_check_note(struct nd_id_check *c, const struct nd_parsed *parsed);
/* All ids have been noted: put the counts into the summary and free the memory. */
void nd_id_check_forget(struct nd_id_check *c, struct nd_run_summary *summary);

#endif
