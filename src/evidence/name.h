/* name.h - what a document is called in the outputs, and ids met before */
#ifndef ND_EVIDENCE_NAME_H
#define ND_EVIDENCE_NAME_H

#include <neardup/evidence.h>
#include <neardup/run.h>
#include <neardup/types.h>

#include "base/hash_set.h"
#include "base/json_out.h"

#include <stdbool.h>
#include <stdint.h>

/* A document's id as the record has it, or the place of a record without an id. */
struct nd_name {
    enum nd_id_kind kind;
    struct nd_view text;
};

/* The place of a record: in a file, or in a file of an archive. */
struct nd_at {
    const char *path;
    const char *entry; /* NULL: the file is no archive */
    uint64_t line;     /* 0: the record is the whole file */
};

/* Append "file:line", "file!entry:line", "file!entry" or "file". */
ND_API void nd_at_append(struct nd_json *out, const struct nd_at *at);

/*
 * The name of a document with this id. If it is the place, it is written to *scratch, replacing
 * what was there.
 */
ND_API struct nd_name nd_name_at(struct nd_view id, enum nd_id_kind kind, const struct nd_at *at,
                                 struct nd_json *scratch);

/* Append the value of the JSON string; bytes that are not valid UTF-8 become \xNN. */
ND_API void nd_name_value(struct nd_json *out, struct nd_view name);

/* Copy the beginning of a name for display; characters that could control a terminal become '?'. */
ND_API void nd_name_show(const struct nd_view name, char *out, size_t size);

/* Write it as a JSON value; an id that is a number stays a number. */
ND_API void nd_name_json(struct nd_json *out, const struct nd_name *name);
/* Write it as a field of TSV. */
ND_API void nd_name_tsv(struct nd_json *out, const struct nd_name *name);

/* Copies of an id and of a place; false: out of memory. */
ND_API bool nd_name_copy(struct nd_document_name *to, const struct nd_name *name,
                         struct nd_view at);
ND_API void nd_name_release(struct nd_document_name *name);
/* Write it as the values of the keys "id" and "at" of an object. */
ND_API void nd_name_put(struct nd_json *out, const struct nd_document_name *name);

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

ND_API void nd_id_check_release(struct nd_id_check *c);
/* A document has this id; ND_ID_NONE: it has none. */
ND_API void nd_id_check_note(struct nd_id_check *c, const struct nd_name *id,
                             const struct nd_at *at);
/*
 * Check many documents in steps: the hash of an id, in any thread (0: there is none); in
 * order, what nd_id_check_note_hash reads is prefetched, and a document noted.
 */
ND_API uint64_t nd_id_hash(const struct nd_name *id);
ND_API void nd_id_check_prefetch(const struct nd_id_check *c, uint64_t hash);
ND_API void nd_id_check_note_hash(struct nd_id_check *c, uint64_t hash, const struct nd_name *id,
                                  const struct nd_at *at);
/* All ids have been noted: put the counts into the summary and free the memory. */
ND_API void nd_id_check_forget(struct nd_id_check *c, struct nd_run_summary *summary);
/* A warning of the ids that were repeated, for the summary into which they were put; false: none
 * was. */
enum { ND_ID_WARNING_BYTES = 700 };
ND_API bool nd_id_check_warning(const struct nd_id_check *c, const struct nd_run_summary *summary,
                                char out[ND_ID_WARNING_BYTES]);

#endif
