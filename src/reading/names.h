/* names.h - what a document is called in the outputs, and names met lately */
#ifndef ND_READING_NAMES_H
#define ND_READING_NAMES_H

#include <neardup/input.h>
#include <neardup/run.h>
#include <neardup/types.h>

#include "evidence/name.h"
#include "reading/reading.h"

#include <stdbool.h>
#include <stdint.h>

/* The place of a record of a source. */
static inline struct nd_at nd_at_of(const struct nd_source *source, uint64_t line)
{
    return (struct nd_at){source->path, source->entry, line};
}

static inline void nd_place_append(struct nd_json *out, const struct nd_source *source,
                                   uint64_t line)
{
    const struct nd_at at = nd_at_of(source, line);

    nd_at_append(out, &at);
}

/* The id that a document has. */
static inline struct nd_name nd_id_of(const struct nd_document *document)
{
    return (struct nd_name){document->id_kind, document->id};
}

/* The document has been read: note its id. */
static inline void nd_id_note(struct nd_id_check *ids, const struct nd_parsed *parsed)
{
    const struct nd_name id = nd_id_of(&parsed->document);
    const struct nd_at at = nd_at_of(parsed->source, parsed->record.line);

    nd_id_check_note(ids, &id, &at);
}

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
/* Prefetch what nd_name_cache_get reads first. */
void nd_name_cache_prefetch(const struct nd_name_cache *c, uint64_t number);

#endif
