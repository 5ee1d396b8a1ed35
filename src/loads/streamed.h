/* streamed.h - documents pushed as they come, and what an engine says of them */
#ifndef ND_LOADS_STREAMED_H
#define ND_LOADS_STREAMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/dedup.h>

/*
 * Whoever has documents pushes them by this, in batches of any size: as they are read, where that
 * decides them, or in an order that was found before (staged.h).  Which call of the engine that is
 * depends on what it makes.  (src/run/one_pass.c does the same for batches that threads have
 * prepared.)
 *
 * Documents are numbered 0, 1, 2 … as they are pushed, old ones first.  Starts from zeroes and the
 * first members; all are borrowed.
 */
struct nd_streamed {
    struct nd_dedup *dedup;
    enum nd_cluster cluster; /* what it makes */
    bool only_old;           /* new documents are compared only with old ones; it lists pairs */
    bool judges;             /* what became of the batch is in `decision` (nd_dedup_judge) */
    /* Stars and complete link, and components when they are asked for: what became of a document, in
     * order.  via NULL: clusters are no components. */
    enum nd_status (*decided)(void *context, uint64_t document, const struct nd_decision *decision,
                              const struct nd_component_via *via, struct nd_error *err);
    /* Pairs, as nd_dedup_push_pairs reports them, or with only_old nd_dedup_query. */
    enum nd_status (*found)(void *context, const struct nd_found_pair *pair);
    void *context;

    uint64_t n_old, n;            /* that have been pushed: old ones, and all */
    struct nd_dedup_stats judged; /* what was counted of documents that are not in the engine */
    struct nd_decision *decision; /* of the last batch */
    struct nd_component_via *via;
    size_t decisions, vias; /* capacities */
};
void nd_streamed_release(struct nd_streamed *s);

/* Push the next n documents.  Returns what the engine or a callback does. */
enum nd_status nd_streamed_push(struct nd_streamed *s, const struct nd_dedup_item *items, size_t n,
                                struct nd_error *err);
/* Push n old documents, which come before all others; with only_old nothing is decided about them. */
enum nd_status nd_streamed_push_old(struct nd_streamed *s, const struct nd_dedup_item *items,
                                    size_t n, struct nd_error *err);
/* Components: all have been pushed; report n documents from this one on. */
enum nd_status nd_streamed_ask(struct nd_streamed *s, uint64_t from, size_t n,
                               struct nd_error *err);

#endif
