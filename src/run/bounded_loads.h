/* bounded_loads.h - records of a run in files, as the documents that are decided in loads (staged.h) */
#ifndef ND_RUN_BOUNDED_LOADS_H
#define ND_RUN_BOUNDED_LOADS_H

#include "loads/staged.h"
#include "run/bounded_records.h"
#include "run/row_keeper.h"

/*
 * The records are read again as the driver asks for them.  In a load the documents are numbered 0, 1,
 * 2 … in keep order, as they are pushed.  Documents that are in no load are counted in run->past as
 * the kind of engine would count them.
 */
struct nd_bounded_loads {
    struct nd_bounded_records *records;
    enum nd_cluster cluster; /* what the engines make */
    /* The members of struct nd_staged_owner that depend on the cluster. */
    enum nd_status (*removed)(void *context, const struct nd_staged_removed *removed,
                              struct nd_error *err);
    enum nd_status (*found)(void *context, const struct nd_found_pair *pair);
    enum nd_status (*begin_load)(void *context, struct nd_error *err);
    /* A document will be pushed.  NULL: nothing is done then. */
    enum nd_status (*loaded)(void *context, uint32_t record, const struct nd_parsed *parsed,
                             struct nd_error *err);
    void *context;

    struct nd_staged staged;
    struct nd_row_keeper *keeper; /* NULL: no rows are known */
    struct nd_dedup_item *item;   /* ND_BOUNDED_BATCH of them: the batch at hand */
};

/* Starts from zeroes and the first members, up to `context`.  Make a first engine, run->dedup, which
 * says before anything is read whether the parameters are fine.  Release the loads whatever is
 * returned. */
enum nd_status nd_bounded_loads_open(struct nd_bounded_loads *l, struct nd_error *err);
void nd_bounded_loads_release(struct nd_bounded_loads *l);

/* Read all documents; and then decide about them. */
enum nd_status nd_bounded_loads_collect(struct nd_bounded_loads *l, struct nd_error *err);
enum nd_status nd_bounded_loads_decide(struct nd_bounded_loads *l, struct nd_error *err);

/* The record number of a document of the load. */
static inline uint32_t nd_bounded_loads_record(const struct nd_bounded_loads *l, uint64_t document)
{
    return nd_staged_record(&l->staged, document);
}

/* Bytes written to files. */
uint64_t nd_bounded_loads_spilled(const struct nd_bounded_loads *l);

#endif
