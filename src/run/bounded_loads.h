/* bounded_loads.h - records divided into loads (loads.h), and read again for the engine of each */
#ifndef ND_RUN_BOUNDED_LOADS_H
#define ND_RUN_BOUNDED_LOADS_H

#include "loads/loads.h"
#include "run/bounded_records.h"
#include "run/row_keeper.h"

/*
 * The connected components of documents that could influence one another (linking.h), as many at a
 * time as an engine has room for; or all documents in one load, where they fit.  Documents that are
 * alone in their component are in no load: they are counted in run->past as the kind of engine
 * would count them.
 *
 * In a load the documents are numbered 0, 1, 2 … in keep order, as they are pushed.
 */
struct nd_bounded_loads {
    struct nd_bounded_records *records;
    enum nd_cluster cluster; /* what the engines make */
    struct nd_loads loads;
    struct nd_spool *flags;       /* a byte a record: nd_candidate_flags */
    struct nd_row_keeper *keeper; /* NULL: no rows are known */
    bool is_linked;               /* so that all rows have been made */
    uint64_t linking_spilled;
};

/* Starts from zeroes and the first two members.  Make a first engine, run->dedup, which says before
 * anything is read whether the parameters are fine.  Release the loads whatever is returned. */
enum nd_status nd_bounded_loads_open(struct nd_bounded_loads *l, struct nd_error *err);
void nd_bounded_loads_release(struct nd_bounded_loads *l);

/* Read all documents, and find the components. */
enum nd_status nd_bounded_loads_collect(struct nd_bounded_loads *l, struct nd_error *err);

/* Retire the engine of the last load; gather the next one, and make an engine for it, run->dedup.
 * loads.n_load 0: there are no more documents. */
enum nd_status nd_bounded_loads_next(struct nd_bounded_loads *l, struct nd_error *err);

/* The record number of a document of the load. */
static inline uint32_t nd_bounded_loads_record(const struct nd_bounded_loads *l, uint64_t document)
{
    return nd_loads_record(&l->loads, document);
}

/* Documents of the load from this one on, as many as make a batch, valid until the next call; item:
 * room for ND_BOUNDED_BATCH.  Progress is told. */
enum nd_status nd_bounded_loads_items(struct nd_bounded_loads *l, uint64_t from,
                                      struct nd_dedup_item *item, const struct nd_parsed **loaded,
                                      size_t *n, struct nd_error *err);
/* Documents from `nd_bounded_loads_items` were pushed: keep the rows that the engine made, where there is
 * a checkpoint that has none of them yet. */
enum nd_status nd_bounded_loads_keep_rows(struct nd_bounded_loads *l, size_t n,
                                          struct nd_error *err);
/* So many were pushed.  ND_ENOMEM: too many documents could match one another, and their index has
 * outgrown its share; the message says how much they need. */
enum nd_status nd_bounded_loads_check(const struct nd_bounded_loads *l, uint64_t pushed,
                                      struct nd_error *err);

/* Bytes written to files. */
uint64_t nd_bounded_loads_spilled(const struct nd_bounded_loads *l);

#endif
