/* engine.h - the deduplication engine, for those who bring their own threads */
#ifndef ND_ENGINE_ENGINE_H
#define ND_ENGINE_ENGINE_H

#include <neardup/dedup.h>

#include "base/pool.h"

/*
 * As nd_dedup_new, on a pool that stays the caller's; params->threads does not count.  In no public
 * header, yet exported: the runs over files stand in a library of their own, of the same version.
 */
ND_API struct nd_dedup *nd_dedup_new_on(struct nd_pool *pool, const struct nd_dedup_params *params,
                                        const struct nd_text_source *source, struct nd_error *err);

/*
 * Call begun(context) once in each nd_dedup_push, when it has taken what was prepared ahead: from
 * then on, the next batch may be prepared by threads that have nothing to do for this one.
 */
ND_API void nd_dedup_on_begun(struct nd_dedup *dedup, void (*begun)(void *context), void *context);

/*
 * Work ahead, in the terms of nd_pool_ahead: the next push will be of these very items, which stay
 * where they are until then.  nd_dedup_ahead first, for the number of tasks in which they are
 * hashed; then a stage that begins with nd_dedup_ahead_group and runs nd_dedup_ahead_prepare, which
 * may end before its last task.  All of it between `begun` and the next push.  The context is the
 * engine.
 */
ND_API size_t nd_dedup_ahead(struct nd_dedup *dedup, const struct nd_dedup_item *items, size_t n);
ND_API void nd_dedup_ahead_hash(void *context, size_t task, unsigned worker);
ND_API size_t nd_dedup_ahead_group(void *context);
ND_API void nd_dedup_ahead_prepare(void *context, size_t task, unsigned worker);

#endif
