/* members.c - how many documents each kept one stands for */
#include "pipeline/run_state.h"

#include "base/memory.h"

#include <stdlib.h>

bool nd_members_set(struct nd_run *run, size_t rank, uint32_t count)
{
    void *members = run->members;

    if (!nd_array_reserve(&members, &run->members_capacity, rank + 1, sizeof *run->members))
        return false;
    run->members = members;
    run->members[rank] = count;
    return true;
}

void nd_members_shrink(struct nd_run *run, size_t n)
{
    uint32_t *less = n ? realloc(run->members, n * sizeof *less) : NULL;

    if (!less)
        return;
    run->members = less;
    run->members_capacity = n;
}

struct largest {
    size_t rank[ND_RUN_LARGEST];
    size_t n;
};

/* Keep the ranks of the greatest sizes, of equal ones the earlier. */
static void offer(struct largest *l, const uint32_t *members, size_t rank)
{
    size_t at = l->n;

    if (l->n == ND_RUN_LARGEST && members[l->rank[l->n - 1]] >= members[rank])
        return;
    if (l->n < ND_RUN_LARGEST)
        l->n++;
    else
        at--;
    for (; at > 0 && members[l->rank[at - 1]] < members[rank]; at--)
        l->rank[at] = l->rank[at - 1];
    l->rank[at] = rank;
}

enum nd_status nd_members_summarise(struct nd_run *run, size_t n, struct nd_error *err)
{
    struct nd_run_summary *summary = run->summary;
    struct largest largest = {.n = 0};

    for (size_t rank = 0; rank < n; rank++) {
        if (run->members[rank] < 2)
            continue;
        summary->clusters++;
        offer(&largest, run->members, rank);
    }
    for (size_t i = 0; i < largest.n; i++) {
        struct nd_place place = nd_places_at(&run->places, largest.rank[i]);
        struct nd_run_cluster *cluster = &summary->largest[i];
        struct nd_document document;
        struct nd_name name;
        enum nd_status status = nd_lookup_document(run->lookup, &place, 0, &document, err);

        if (status != ND_OK)
            return status;
        name = nd_name_of(&document, nd_reading_source(run->reading, place.source), place.line,
                          &run->name_room[0]);
        if (run->name_room[0].failed)
            return nd_fail(err, ND_ENOMEM, "out of memory");
        nd_name_show(name.text, cluster->id, sizeof cluster->id);
        cluster->documents = run->members[largest.rank[i]];
    }
    summary->n_largest = largest.n;
    return ND_OK;
}
