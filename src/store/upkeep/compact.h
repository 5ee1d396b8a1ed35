/* compact.h - segments are rewritten, so that the texts of deleted documents leave the disk */
#ifndef ND_STORE_UPKEEP_COMPACT_H
#define ND_STORE_UPKEEP_COMPACT_H

#include <neardup/error.h>

struct nd_store;

/*
 * A thread that looks, every so many milliseconds, for segments with texts that were deleted
 * compact_after_s ago or longer, and rewrites them.  It is started once the store's writer runs, and
 * stopped before that one is.  NULL: ND_ENOMEM.
 */
enum { ND_COMPACTOR_PERIOD_MS = 60000 };
struct nd_compactor;
struct nd_compactor *nd_compactor_start(struct nd_store *store, unsigned period_ms,
                                        struct nd_error *err);
/* Stop it, in the middle of a segment if need be, and free it.  NULL: nothing. */
void nd_compactor_stop(struct nd_compactor *compactor);

#endif
