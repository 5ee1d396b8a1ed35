/* loads.h - documents gathered into loads, each of which an engine has room for */
#ifndef ND_LOADS_LOADS_H
#define ND_LOADS_LOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/dedup.h>
#include <neardup/recipe.h>

#include "base/file/external_sort.h"
#include "base/memory.h"
#include "loads/budget.h"
#include "recipe/keep_order.h"

/* A document on its way to an engine: by its component, then in keep order. */
struct nd_load_offer {
    uint64_t component;
    struct nd_offer offer;
};

/*
 * The connected components of documents that could influence one another (linking.h), as many at a
 * time as an engine has room for; or all documents in one load, where they fit.  Documents that are
 * alone in their component are in no load.
 *
 *     offer    every document that is not alone, by its component
 *     next     the documents of a load, in keep order, as they are pushed as 0, 1, 2 …
 *
 * Everything but the load at hand waits in an external sort.
 */
struct nd_loads {
    const struct nd_recipe *recipe;
    const struct nd_keep *keep;
    const struct nd_rough_keys *rough;
    const struct nd_budget *budget;
    const char *tmp;
    enum nd_cluster cluster; /* what the engines make */
    unsigned threads;        /* that push */
    /* bytes of a document in the index of a new engine; 0: those of the default recipe */
    uint64_t index_bytes;

    uint64_t n_load;         /* documents of the load at hand */
    uint64_t n_before;       /* and of all loads before */
    struct nd_column number; /* uint32_t: the records of the load */
    struct nd_external_sort *offers;
    /* only numbers, if one component exceeds the room for entries */
    struct nd_load_offer *entry, coming;
    size_t n_entries, entries_max;
    bool has_coming, has_begun;
};

/* Starts from zeroes and the first members, up to `index_bytes`, all of them borrowed; with the number of
 * all documents.  Release the loads whatever is returned.  ND_ENOMEM. */
enum nd_status nd_loads_open(struct nd_loads *l, uint64_t n_documents, struct nd_error *err);
void nd_loads_release(struct nd_loads *l);

/* A limit of memory with which so many documents surely fit into one load, whose index grows in
 * steps. */
uint64_t nd_loads_memory(const struct nd_recipe *recipe, uint64_t n_documents);

/* Whether an engine has room for so many documents. */
bool nd_loads_have_room(const struct nd_loads *l, uint64_t n_documents);

/* The index_bytes of an engine that was just made. */
uint64_t nd_loads_index_bytes(const struct nd_dedup *dedup);
/* For how many documents the engine of the load at hand is to be made (nd_dedup_params.first_documents):
 * an index that has to grow has more room than is counted for. */
size_t nd_loads_room(const struct nd_loads *l);

/* ND_ENOMEM, ND_EIO. */
enum nd_status nd_loads_offer(struct nd_loads *l, uint64_t component, const struct nd_offer *offer,
                              struct nd_error *err);
/* A document that no other could influence is in no load: count it as an engine would.  flags: of
 * nd_candidate_flags. */
void nd_loads_count_alone(const struct nd_loads *l, struct nd_dedup_stats *stats, unsigned flags);

/* All have been offered.  Gather the next load; n_load 0: there are no more documents. */
enum nd_status nd_loads_next(struct nd_loads *l, struct nd_error *err);
/* Whether there are documents behind the load at hand. */
static inline bool nd_loads_has_more(const struct nd_loads *l)
{
    return l->n_entries || l->has_coming;
}
/* The record number of a document of the load. */
static inline uint32_t nd_loads_record(const struct nd_loads *l, uint64_t document)
{
    return ((const uint32_t *)l->number.data)[document];
}

/* So many of the load were pushed to an engine, which has counted this.  ND_ENOMEM: too many documents
 * could match one another, and their index has outgrown its share; the message says how much they
 * need. */
enum nd_status nd_loads_check(const struct nd_loads *l, const struct nd_dedup_stats *stats,
                              uint64_t pushed, struct nd_error *err);

/* Bytes written to files. */
static inline uint64_t nd_loads_spilled(const struct nd_loads *l)
{
    return l->offers ? nd_external_sort_spilled(l->offers) : 0;
}

#endif
