/* restore.h - an engine that makes pairs, as it was, without reading its documents again */
#ifndef ND_ENGINE_RESTORE_H
#define ND_ENGINE_RESTORE_H

#include <stdbool.h>
#include <stdint.h>

#include <neardup/dedup.h>
#include <neardup/index.h>

/* The knowledge of an engine about its n documents beside their texts and the live index: for
 * each, the hash of its bytes, and the first document that equals it. */
struct nd_dedup_state {
    uint32_t n;
    const uint64_t *raw;
    const uint32_t *class_of;
};

/* Whether this and the live index are all: not where signatures or samples of shingles are looked up,
 * nor where the engine makes clusters. */
bool nd_dedup_is_restorable(const struct nd_dedup *dedup);

/* The state, and the index: of the engine, until it changes. */
struct nd_dedup_state nd_dedup_get_state(const struct nd_dedup *dedup,
                                         const struct nd_index **index);

/*
 * Have a new engine of the same recipe go on from there.  It owns the index from here on, whatever is
 * returned, and counts the documents and `bytes`, those of their texts, as pushed.  Documents that
 * were withdrawn are to be withdrawn again.  ND_EINPUT: the two do not belong together, or to an
 * engine of this recipe; ND_ENOMEM: the engine can only be freed after either.
 */
enum nd_status nd_dedup_restore(struct nd_dedup *dedup, struct nd_index *index,
                                const struct nd_dedup_state *state, uint64_t bytes,
                                struct nd_error *err);

#endif
