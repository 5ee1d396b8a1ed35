/* engine.h - the deduplication engine, for those who bring their own threads */
#ifndef ND_ENGINE_ENGINE_H
#define ND_ENGINE_ENGINE_H

#include <stdbool.h>

#include "base/thread/pool.h"
#include "recipe/recipe_struct.h"

/* As nd_dedup_new, by parameters that need not be a recipe's. */
ND_API struct nd_dedup *nd_dedup_new_with(const struct nd_dedup_params *params,
                                          const struct nd_text_source *source,
                                          struct nd_error *err);

/* For so many documents an index of nd_dedup_new_on has room, if params->first_documents is 0. */
enum { ND_FIRST_DOCUMENTS = 40000 };

/*
 * As nd_dedup_new_with, on a pool that stays the caller's; params->threads does not count.  In no public
 * header, yet exported: the runs over files stand in a library of their own, of the same version.
 */
ND_API struct nd_dedup *nd_dedup_new_on(struct nd_pool *pool, const struct nd_dedup_params *params,
                                        const struct nd_text_source *source, struct nd_error *err);

/*
 * Batches on their way, one a worker of the pool (nd_pool_each).  Prepare what can be made of a
 * batch's documents alone, at any time; the items stay where they are until they are pushed.  Then
 * push them as the worker that leads the pool; what nd_dedup_push returns.  For stars.  The source's
 * `keep` is called with the pool's write lock, so that others may read what it changes with the read
 * lock.
 */
ND_API void nd_dedup_prepare(struct nd_dedup *dedup, unsigned worker,
                             const struct nd_dedup_item *items, size_t n);
/*
 * Between the two: compare them with the kept documents that the engine has by now, beside others
 * that are pushed, so that the push needs to look only at those that came since.  Tickets are 0, 1,
 * 2 … in the order of the pushes; once one is matched ahead, every later one must be too, whether it
 * will be pushed or not.  The source's `fetch` is then called by 2 n workers for n threads, with the
 * pool's read lock.
 */
ND_API void nd_dedup_match_ahead(struct nd_dedup *dedup, unsigned worker, unsigned long ticket);
/* No batch will be pushed any more: nobody waits for one. */
ND_API void nd_dedup_end_ahead(struct nd_dedup *dedup);
ND_API enum nd_status nd_dedup_push_prepared(struct nd_dedup *dedup, unsigned worker,
                                             struct nd_decision *decisions, struct nd_error *err);

/*
 * Announce documents, of no group, before any is pushed: each that will be, by its text, as one of the
 * workers of the pool.  Then the index holds little of what no document will ask for, and all
 * decisions are the same.  nd_dedup_expects: whether it is of use to the engine; nd_dedup_expected:
 * all have been announced.  ND_ENOMEM, ND_EUNSUPPORTED.
 */
ND_API bool nd_dedup_expects(const struct nd_dedup *dedup);
ND_API enum nd_status nd_dedup_expect(struct nd_dedup *dedup, unsigned worker, struct nd_view text);
ND_API enum nd_status nd_dedup_expected(struct nd_dedup *dedup, struct nd_error *err);

/*
 * The row of items[item], of the batch that the worker prepared and pushed last, or, of batches that
 * were not prepared, of the batch pushed last as worker 0.  It has no id, no place and no shingles,
 * and is valid until the worker's next batch.  False: no row was made, as the document equals
 * another one or has no tokens, or it was known.  For an engine that takes sketches.
 */
struct nd_sketch_row;
ND_API bool nd_dedup_made_row(const struct nd_dedup *dedup, unsigned worker, size_t item,
                              struct nd_sketch_row *row);
/* Whether rows of texts are of use to the engine (nd_dedup_item.known). */
ND_API bool nd_dedup_takes_known(const struct nd_dedup *dedup);

/*
 * As nd_dedup_query; also say of each item what nd_dedup_push would, if no other document had been
 * pushed: kept is the number of its nearest match, UINT64_MAX if it has none.  The items are added to
 * *counts, without their number.
 */
ND_API enum nd_status
nd_dedup_judge(struct nd_dedup *dedup, const struct nd_dedup_item *items, size_t n,
               struct nd_decision *decisions, struct nd_dedup_stats *counts,
               enum nd_status (*found)(void *context, const struct nd_found_pair *pair),
               void *context, struct nd_error *err);

/* Bits for what an engine would count of a document that it meets first, from its row
 * (nd_candidate_rows_make). */
enum nd_candidate_flags {
    ND_CANDIDATE_SHORT = 1,
    ND_CANDIDATE_EMPTY = 2,
    ND_CANDIDATE_SIGNED = 4,
    ND_CANDIDATE_UNSIGNED = 8
};
ND_API unsigned nd_candidate_row_flags(const void *row);

#endif
