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
 * Call narrow(context) once in each nd_dedup_push, when the work that all threads share is done and
 * what is left is mostly that of one: the time to give the others something else to do.
 */
ND_API void nd_dedup_on_narrow(struct nd_dedup *dedup, void (*narrow)(void *context),
                               void *context);

#endif
