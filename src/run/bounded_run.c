/* bounded_run.c - several passes in bounded memory: collect, link, decide load by load, write */
#include "engine/engine.h"
#include "run/bounded_loads.h"
#include "run/bounded_removals.h"
#include "sketches/known_rows.h"

#include <stdlib.h>

/*
 * If the memory is bounded (option `memory`), nothing is held for each document but what this
 * page counts.  The passes:
 *
 *   collect   read all in input order: of each record, its place and its place in the keep order go
 *             to a file (bounded_records.h)
 *   link      only where the index of all documents would not fit: read them again, and find which
 *             could influence each other's decisions (loads/staged.h)
 *   decide    load after load, read again in keep order (bounded_loads.h); what is decided is sorted
 *             by record number
 *   emit      in input order, with what was decided: read those that some output needs, and write
 *             (bounded_removals.h)
 *
 * In memory for each record: 4 bytes and a bit while they are linked, and 4 bytes, the sizes of
 * clusters, while they are decided and written.  For each document of a load, what loads.c counts.
 */
struct bounded_run {
    struct nd_bounded_records records;
    struct nd_bounded_loads loads;
    struct nd_bounded_removals removals;
};

static enum nd_status note_removed(void *context, const struct nd_staged_removed *removed,
                                   struct nd_error *err)
{
    struct bounded_run *b = context;
    const struct nd_removal removal = nd_removal_of(b->records.run, removed);

    return nd_bounded_removals_add(&b->removals, removed->record, &removal,
                                   removed->decision->agreement, err);
}

static enum nd_status go_through(struct bounded_run *b, struct nd_run *run, struct nd_error *err)
{
    enum nd_status status = nd_bounded_records_open(&b->records, run, err);

    if (status == ND_OK)
        status = nd_bounded_loads_open(&b->loads, err);
    if (status == ND_OK)
        status = nd_bounded_removals_open(&b->removals, err);
    if (status == ND_OK)
        status = nd_bounded_loads_collect(&b->loads, err);
    if (status == ND_OK)
        status = nd_bounded_removals_begin(&b->removals, err);
    if (status == ND_OK)
        status = nd_bounded_loads_decide(&b->loads, err);
    return status == ND_OK ? nd_bounded_removals_write(&b->removals, err) : status;
}

enum nd_status nd_run_bounded(struct nd_run *run, struct nd_error *err)
{
    struct bounded_run b = {
        .records = {.keep = &run->keep},
        .loads = {.records = &b.records,
                  .cluster = run->recipe->dedup.cluster,
                  .removed = note_removed,
                  .context = &b},
        .removals = {.records = &b.records},
    };
    enum nd_status status = go_through(&b, run, err);

    run->summary->spilled_bytes = nd_bounded_records_spilled(&b.records) +
                                  nd_bounded_loads_spilled(&b.loads) +
                                  nd_bounded_removals_spilled(&b.removals) +
                                  (run->known ? nd_known_rows_spilled(run->known) : 0);
    nd_bounded_removals_release(&b.removals);
    nd_bounded_loads_release(&b.loads);
    nd_bounded_records_release(&b.records);
    return status;
}
