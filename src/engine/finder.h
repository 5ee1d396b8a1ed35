/* finder.h - an index of documents, and beside it what a recipe finds candidates by */
#ifndef ND_ENGINE_FINDER_H
#define ND_ENGINE_FINDER_H

#include "base/subset.h"
#include "engine/document/worker.h"
#include "index/live.h"

/* An index of documents, and beside it one of their signatures or shingles by the same numbers. */
struct nd_finder {
    struct nd_index *index;
    struct nd_signature_index *signatures; /* for ND_CANDIDATES_MATCH, else NULL */
    struct nd_containers *containers;      /* where samples of shingles are looked up, else NULL */
    /* By number, const uint32_t *: the labels of documents.  Those from n_labelled on have none. */
    struct nd_column labels;
    uint32_t n_labelled;
    bool either_way; /* of two documents, it does not matter which may stand for which */
};
bool nd_finder_init(struct nd_finder *finder, const struct nd_engine_plan *plan,
                    struct nd_error *err);
void nd_finder_release(struct nd_finder *finder);
size_t nd_finder_bytes(const struct nd_finder *finder);

/* Check that everyone who may see an item may see a document of the index: the item has all of its
 * labels.  Either way: or the other way round. */
static inline bool nd_finder_allows(const struct nd_finder *finder, uint32_t number,
                                    const struct nd_item *item)
{
    const uint32_t *labels =
        number < finder->n_labelled ? ((const uint32_t *const *)finder->labels.data)[number] : NULL;

    return nd_is_subset(labels, item->labels) ||
           (finder->either_way && nd_is_subset(item->labels, labels));
}

/* An item's candidates, in w->found: those that may stand for it.  False: the worker has the error. */
bool nd_finder_candidates(const struct nd_finder *finder, struct nd_worker *w,
                          const struct nd_item *item);
/*
 * Add to w->found those that may have the item's tokens.  Documents of a batch with the same tokens
 * need not be candidates: their signatures may be rejected, they may be short, or the keys of the
 * earlier one are full.  They are listed with no score, for resolve_batch.c to compare the texts.
 */
bool nd_finder_add_same_tokens(const struct nd_finder *finder, struct nd_worker *w,
                               const struct nd_item *item);
/* Whether either of these has any with a number less than `below`, whatever its labels are. */
bool nd_finder_meets_any(const struct nd_finder *finder, struct nd_worker *w,
                         const struct nd_item *item, uint32_t below);

/* Documents of a batch: added with the next number and found from then on, or removed. */
enum nd_status nd_finder_add(struct nd_finder *finder, const struct nd_item *item, uint32_t *number,
                             struct nd_error *err);
void nd_finder_remove(struct nd_finder *finder, const struct nd_item *item, uint32_t number);
void nd_finder_clear(struct nd_finder *finder);
/* Let no value of a shingle list more than max_checks documents from now on, those of the base among
 * them, if it is not NULL (nd_containers_bound). */
void nd_finder_bound(struct nd_finder *finder, const struct nd_engine_plan *plan,
                     const struct nd_finder *base);

/*
 * Both at once for the kept documents of a batch, which get the next numbers: those that are listed
 * are found from then on.  The caller's tasks (nd_index_batch) run beside.
 */
struct nd_finder_batch {
    const struct nd_item *const *item;
    size_t n;
    void (*beside)(void *context, size_t task);
    size_t n_beside;
    void *context;
};
enum nd_status nd_finder_add_batch(struct nd_finder *finder, const struct nd_finder_batch *batch,
                                   struct nd_pool *pool, struct nd_error *err);
/* Give a document the next number; no look-up finds it yet. */
enum nd_status nd_finder_append(struct nd_finder *finder, const struct nd_item *item,
                                uint32_t *number, struct nd_error *err);
/* Let look-ups find documents that were given numbers, on the threads of the pool; pool NULL: by
 * the caller's thread alone. */
enum nd_status nd_finder_list(struct nd_finder *finder, const uint32_t *number,
                              const struct nd_item *const *item, size_t n, struct nd_pool *pool,
                              struct nd_error *err);
enum nd_status nd_finder_list_alone(struct nd_finder *finder, uint32_t number,
                                    const struct nd_item *item, struct nd_error *err);

/* Mark the items of a batch that share a table key, as nd_index_link_rows does.  ND_ENOMEM. */
enum nd_status nd_finder_link(const struct nd_engine_plan *plan, const struct nd_item *item,
                              const struct nd_index_row *const *row, size_t n,
                              unsigned char *linked, struct nd_pool *pool);

#endif
