/* bounded_records.h - what bounded memory keeps of every record: a row in a file */
#ifndef ND_RUN_BOUNDED_RECORDS_H
#define ND_RUN_BOUNDED_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file/spool.h"
#include "reading/lookup.h"
#include "recipe/keep_order.h"
#include "run/run_parts.h"

struct nd_bounded_record {
    struct nd_place place;
    uint64_t key; /* nd_keep_key; or the length of a record that is too long */
    uint32_t prefer, group;
    uint32_t labels; /* their set */
    uint8_t is_bad, is_too_long, unused[2];
};

/*
 * All records of a run, by their numbers in input order.  First they are collected; then they are
 * read again, as many at a time as a batch has, which is the batch at hand until the next is read.
 * Nothing is in memory for each record, but values of `within`, security labels and values of a keep policy that are rough.
 */
struct nd_bounded_records {
    struct nd_run *run;
    const struct nd_keep *keep;  /* the order in which documents are offered to an engine */
    uint64_t count, n_documents; /* records; those that are not bad */
    struct nd_rough_keys rough;

    /* The batch at hand. */
    struct nd_bounded_record *batch;
    size_t n_batch;

    struct nd_places places; /* of the batch, for the loader */
    struct nd_loader *loader;
    struct nd_spool *spool;
    struct nd_buffer *spooled; /* one a worker, and one more: what was read of a spool */
    unsigned n_spooled;
};

/* The most records of a batch. */
enum { ND_BOUNDED_BATCH = 4096 };

/* Starts from zeroes and `keep`.  ND_ENOMEM, ND_EIO: release it either way. */
enum nd_status nd_bounded_records_open(struct nd_bounded_records *r, struct nd_run *run,
                                       struct nd_error *err);
void nd_bounded_records_release(struct nd_bounded_records *r);
/* Bytes written to files. */
static inline uint64_t nd_bounded_records_spilled(const struct nd_bounded_records *r)
{
    return r->spool ? nd_spool_bytes(r->spool) : 0;
}

/* Add a batch as it is read (an nd_run_batch, with the records as its context); bad ones are
 * reported.  ND_ENOMEM: the message says how much memory is needed; ND_EIO; ND_EUNSUPPORTED: 2^32
 * records; ND_EINPUT: the run is strict. */
enum nd_status nd_bounded_records_add(void *records, const struct nd_reading_batch *batch,
                                      struct nd_error *err);
/* All have been added.  ND_ENOMEM: arrays of five bytes a record would be too large. */
enum nd_status nd_bounded_records_check(const struct nd_bounded_records *r, struct nd_error *err);

/* Have some records from this one on in the batch at hand, bad ones too; or those of these numbers,
 * ND_BOUNDED_BATCH at most. */
enum nd_status nd_bounded_records_read(struct nd_bounded_records *r, uint64_t from,
                                       struct nd_error *err);
enum nd_status nd_bounded_records_select(struct nd_bounded_records *r, const uint32_t *number,
                                         size_t n, struct nd_error *err);
/* Load as many records of the batch at hand, from this one on, as make a batch of bytes, and parse
 * them where that is wanted; valid until the next call. */
enum nd_status nd_bounded_records_load(struct nd_bounded_records *r, size_t from, bool parse,
                                       const struct nd_parsed **loaded, size_t *n,
                                       struct nd_error *err);
/* The item of the i-th document of the batch at hand, which was loaded and parsed.  ND_ECHANGED: it
 * is no document any more. */
enum nd_status nd_bounded_records_item(const struct nd_bounded_records *r, size_t i,
                                       const struct nd_parsed *loaded, struct nd_dedup_item *item,
                                       struct nd_error *err);

/* The place of a record, as a worker. */
enum nd_status nd_bounded_records_place(struct nd_bounded_records *r, uint32_t number,
                                        unsigned worker, struct nd_place *place,
                                        struct nd_error *err);

/* Tell how far this pass is, of four: collect, link, decide, write. */
enum { ND_BOUNDED_COLLECT = 1, ND_BOUNDED_LINK, ND_BOUNDED_DECIDE, ND_BOUNDED_WRITE };
enum nd_status nd_bounded_records_tell(struct nd_bounded_records *r, unsigned pass, uint64_t done,
                                       uint64_t total, struct nd_error *err);

#endif
