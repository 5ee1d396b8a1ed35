/* run_components.c - the second pass where clusters are the transitive closure of verified pairs */
#include "pipeline/ordered.h"

#include "base/memory.h"

#include <stdlib.h>

enum { ASKED_AT_ONCE = 4096 };

static enum nd_status push_all(struct nd_ordered *o, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t from = 0, n = 0; status == ND_OK && from < o->n_order; from += n) {
        struct nd_dedup_item *items = NULL;

        status = nd_ordered_tell(o, 2, from, o->n_order, err);
        if (status == ND_OK)
            status = nd_ordered_items(o, from, &items, &n, err);
        if (status == ND_OK)
            status = nd_dedup_push_components(o->run->dedup, items, n, err);
        free(items);
    }
    return status;
}

static enum nd_status note_batch(struct nd_ordered *o, size_t from, size_t n,
                                 struct nd_decision *decision, struct nd_component_via *via,
                                 struct nd_error *err)
{
    enum nd_status status = nd_dedup_components(o->run->dedup, from, n, decision, via, err);

    for (size_t i = 0; status == ND_OK && i < n; i++) {
        struct nd_verdict *verdict;

        if (decision[i].kept == from + i)
            continue;
        status = nd_ordered_note(o, o->order[from + i], &decision[i], err);
        if (status != ND_OK)
            break;
        verdict = &o->verdict[o->n_verdicts - 1];
        verdict->via = o->order[via[i].document];
        verdict->via_resemblance = nd_overlap_resemblance(&via[i].overlap);
    }
    return status;
}

enum nd_status nd_ordered_components(struct nd_ordered *o, struct nd_error *err)
{
    struct nd_decision *decision = nd_alloc_array(ASKED_AT_ONCE, sizeof *decision);
    struct nd_component_via *via = nd_alloc_array(ASKED_AT_ONCE, sizeof *via);
    enum nd_status status;

    if (!decision || !via) {
        free(decision);
        free(via);
        return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    status = push_all(o, err);
    for (size_t from = 0, n; status == ND_OK && from < o->n_order; from += n) {
        n = o->n_order - from < ASKED_AT_ONCE ? o->n_order - from : ASKED_AT_ONCE;
        status = note_batch(o, from, n, decision, via, err);
    }
    free(decision);
    free(via);
    return status;
}
