/* expected.c - documents announced before any is pushed, so that the index holds what they ask for */
#include "engine/batch.h"
#include "engine/engine.h"

bool nd_dedup_expects(const struct nd_dedup *d)
{
    return nd_containers_expect(&d->plan.containers);
}

enum nd_status nd_dedup_expect(struct nd_dedup *d, unsigned worker, struct nd_view text)
{
    struct nd_worker *w = &d->crew.worker[worker];
    const struct nd_shingle_set *set;
    struct nd_sketch sketch;

    if (nd_sketcher_read_valid(w->sketcher, text.data, text.len, &sketch))
        return ND_ENOMEM;
    w->in_sketcher = NULL;
    set = nd_sketcher_shingles(w->sketcher);
    return nd_container_expect(&d->plan.containers, set->distinct, set->count, &w->expected)
               ? ND_OK
               : ND_ENOMEM;
}

enum nd_status nd_dedup_expected(struct nd_dedup *d, struct nd_error *err)
{
    for (unsigned i = 0; i < nd_pool_threads(d->crew.pool); i++) {
        struct nd_worker *w = &d->crew.worker[i];

        if (!nd_value_set_add_all(&d->plan.expected, &w->expected))
            return nd_fail(err, ND_ENOMEM, "out of memory");
        nd_value_set_release(&w->expected);
    }
    return ND_OK;
}
