/* lookup.h - where documents stand, and how they are read again */
#ifndef ND_READING_LOOKUP_H
#define ND_READING_LOOKUP_H

#include <neardup/error.h>
#include <neardup/input.h>
#include <neardup/types.h>

#include "base/file/spool.h"
#include "base/memory.h"
#include "base/thread/pool.h"
#include "reading/names.h"
#include "reading/reading.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Places ---- */

/* The place of one record: in its source, or in the spool if the source cannot be read again. */
struct __attribute__((packed, aligned(8))) nd_place {
    uint64_t offset;    /* offset in the source's file or in the spool */
    uint64_t len : 48;  /* bytes */
    uint64_t line : 48; /* 0: the record is a whole file */
    uint32_t source;    /* number of the nd_source */
};
_Static_assert(sizeof(struct nd_place) == 24, "a place takes 24 bytes");

/*
 * The places of some of the documents 0, 1, 2 …: 24 bytes for each of those, one bit and a little
 * for every other.  Starts from zeroes.
 *
 *     bit    0 1 1 0 1 …     one a document: has it a place?
 *     rank   every 512 bits, how many set bits come before: where its place stands in `item`
 */
struct nd_places {
    struct nd_place *item;
    size_t count, capacity;
    uint64_t *bit, *rank;
    size_t bit_capacity, rank_capacity;
    uint64_t documents;
};
void nd_places_release(struct nd_places *p);

/* Add the next document with its place (NULL: it has none). False: out of memory. */
bool nd_places_add(struct nd_places *p, const struct nd_place *place);

/* Free the memory reserved for documents to come. */
void nd_places_shrink(struct nd_places *p);

/* How many of the documents before this one have a place, which is its index among those. */
size_t nd_places_rank(const struct nd_places *p, uint64_t document);

/* Prefetch what nd_places_rank reads. */
void nd_places_prefetch(const struct nd_places *p, uint64_t document);

/* The place of a document that has one. */
struct nd_place nd_places_get(const struct nd_places *p, uint64_t document);

/* ---- One document ---- */

/* Reads records again: from their source if possible, otherwise from the spool. */
struct nd_lookup;

/*
 * n_workers may look up at the same time. Everything is borrowed; the spool is created in `tmp`
 * when it is first needed.
 */
struct nd_lookup *nd_lookup_new(struct nd_reading *reading, const struct nd_input_options *options,
                                unsigned n_workers, const char *tmp, struct nd_error *err);
void nd_lookup_free(struct nd_lookup *l);

/*
 * The place by which a record that was just read can be found again; copies it into the spool if
 * necessary.  With `late`, which may be NULL, the copy is made by nd_lookup_write_kept, which any
 * thread may call; the bytes of the record stay until then, and are found.
 */
enum nd_status nd_lookup_keep(struct nd_lookup *l, const struct nd_record *record,
                              struct nd_late_write *late, struct nd_place *place,
                              struct nd_error *err);
enum nd_status nd_lookup_write_kept(struct nd_lookup *l, struct nd_late_write *late,
                                    struct nd_error *err);
/* Find the place of a record that need not be copied, in any thread; false: it must be. */
bool nd_lookup_find_place(const struct nd_lookup *l, const struct nd_record *record,
                          struct nd_place *place);

/* The bytes of a record, valid until the same worker's next call. */
enum nd_status nd_lookup_record(struct nd_lookup *l, const struct nd_place *place, unsigned worker,
                                struct nd_view *bytes, struct nd_error *err);

/* The distinct shingles of a document of a sketch file, ascending. */
enum nd_status nd_lookup_shingles(struct nd_lookup *l, const struct nd_place *place,
                                  unsigned worker, const uint64_t **shingle, size_t *n,
                                  struct nd_error *err);

/* The document in the record. ND_ECHANGED: it does not contain a document any more. */
enum nd_status nd_lookup_document(struct nd_lookup *l, const struct nd_place *place,
                                  unsigned worker, struct nd_document *document,
                                  struct nd_error *err);

/* The text of it. */
enum nd_status nd_lookup_text(struct nd_lookup *l, const struct nd_place *place, unsigned worker,
                              struct nd_view *text, struct nd_error *err);

/* Remember the name of a document, so that it need not be looked up; old names are forgotten. */
void nd_lookup_remember(struct nd_lookup *l, uint64_t number, const struct nd_parsed *parsed);

/*
 * The name of a document by its number: remembered, or looked up as worker 0. Valid until the next
 * call.
 */
enum nd_status nd_lookup_name(struct nd_lookup *l, uint64_t number, const struct nd_place *place,
                              struct nd_name *name, struct nd_error *err);

/* The two halves of that, for several workers: a name that is remembered, valid until the next is;
 * and one read again as this worker, valid until its next call (`room` is scratch).  One thread at a
 * time may remember names and ask for them. */
bool nd_lookup_remembered(const struct nd_lookup *l, uint64_t number, struct nd_name *name);
void nd_lookup_prefetch_remembered(const struct nd_lookup *l, uint64_t number);
enum nd_status nd_lookup_name_again(struct nd_lookup *l, const struct nd_place *place,
                                    unsigned worker, struct nd_json *room, struct nd_name *name,
                                    struct nd_error *err);

uint64_t nd_lookup_spooled(const struct nd_lookup *l);

/* ---- Batches ---- */

struct nd_loader;

/* Everything is borrowed. */
struct nd_loader *nd_loader_new(struct nd_pool *pool, struct nd_reading *reading,
                                struct nd_lookup *lookup, const struct nd_places *places,
                                const struct nd_input_options *options, struct nd_error *err);
void nd_loader_free(struct nd_loader *l);

/*
 * How many of the next records make a batch of about 2 MB; at least one. `number` lists records;
 * NULL: they are `from`, from + 1, …
 */
size_t nd_loader_batch(const struct nd_loader *l, const uint32_t *number, size_t from, size_t to);

/* Read n of them. `parse`: also parse them as documents. *loaded is valid until the next call. */
enum nd_status nd_loader_load(struct nd_loader *l, const uint32_t *number, size_t from, size_t n,
                              bool parse, const struct nd_parsed **loaded, struct nd_error *err);

#endif
