/* restore.c - an engine that makes pairs, as it was, without reading its documents again */
#include "engine/restore.h"

#include <string.h>

#include "engine/batch.h"

bool nd_dedup_is_restorable(const struct nd_dedup *d)
{
    return d->plan.params.cluster == ND_CLUSTER_PAIRS && !d->plan.params.takes_sketches &&
           !d->kept.finder.signatures && !d->kept.finder.containers;
}

struct nd_dedup_state nd_dedup_get_state(const struct nd_dedup *d, const struct nd_index **index)
{
    *index = d->kept.finder.index;
    return (struct nd_dedup_state){d->kept.n, d->kept.raw.data, d->class_of.data};
}

/* The first of a class is in it, and none of the others comes before it. */
static bool are_classes(const struct nd_dedup_state *state)
{
    for (uint32_t i = 0; i < state->n; i++)
        if (state->class_of[i] > i || state->class_of[state->class_of[i]] != state->class_of[i])
            return false;
    return true;
}

enum nd_status nd_dedup_restore(struct nd_dedup *d, struct nd_index *index,
                                const struct nd_dedup_state *state, uint64_t bytes,
                                struct nd_error *err)
{
    const uint32_t n = state->n;

    nd_index_free(d->kept.finder.index);
    d->kept.finder.index = index;
    if (!nd_dedup_is_restorable(d) || d->kept.n || !nd_index_is_whole(index, &d->plan.index, n) ||
        !are_classes(state))
        return nd_fail(err, ND_EINPUT, "the index is of other documents, or of another recipe");
    if (!nd_kept_restore(&d->kept, state->raw, n) ||
        !nd_column_reserve(&d->class_of, n, sizeof(uint32_t)))
        return nd_fail(err, ND_ENOMEM, "out of memory for %u documents", n);
    if (n)
        memcpy(d->class_of.data, state->class_of, n * sizeof(uint32_t));
    d->stats.documents = n;
    d->stats.bytes = bytes;
    return ND_OK;
}
