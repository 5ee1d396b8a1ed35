/* bounded.c - several passes in bounded memory: collect, link, decide load by load, write */
#include "engine/engine.h"
#include "run/bounded_loads.h"
#include "run/bounded_removals.h"
#include "sketches/known_rows.h"

#include <stdlib.h>

/*
 * Where the memory is bounded (option `memory`), nothing is held for each document but what this
 * page counts.  The passes:
 *
 *   collect   read all in input order: of each record, its place and its place in the keep order go
 *             to a file (bounded_records.h)
 *   link      only where the index of all documents would not fit: read them again, and find which
 *             could influence each other's decisions (linking.h)
 *   decide    load after load: as many components of linked documents as an engine has room for,
 *             pushed in keep order (bounded_loads.h); what it decides is sorted by record number.
 *             Who is alone in its component is kept, and never read here.  Where all fit, there is
 *             one load
 *   emit      in input order, with what was decided: read those that some output needs, and write
 *             (bounded_removals.h)
 *
 * A document's decision depends only on its component (src/engine/README.md), so it is that of one
 * engine which is given everything, and the outputs are the same bytes.
 *
 * In memory for each record: 4 bytes and a bit while they are linked, and 4 bytes, the sizes of
 * clusters, while they are decided and written.  For each document of a load, what loads.c counts.
 */
struct bounded {
    struct nd_bounded_records records;
    struct nd_bounded_loads loads;
    struct nd_bounded_removals removals;
};

/* The scratch of a push, and of asking what it came to. */
struct deciding {
    struct nd_dedup_item item[ND_BOUNDED_BATCH];
    struct nd_decision decision[ND_BOUNDED_BATCH];
    struct nd_component_via via[ND_BOUNDED_BATCH];
};

static enum nd_status note_removed(struct bounded *b, uint64_t document,
                                   const struct nd_decision *decision,
                                   const struct nd_component_via *via, struct nd_error *err)
{
    struct nd_run *run = b->records.run;
    struct nd_removal removal =
        nd_removal_of(decision, nd_bounded_loads_record(&b->loads, decision->kept));

    if (via) {
        removal.via = nd_bounded_loads_record(&b->loads, via->document);
        removal.via_verified = via->verified;
        removal.via_resemblance = nd_overlap_resemblance(&via->overlap);
    }
    if (decision->identical == ND_IDENTICAL_NO)
        nd_measured_count(run->measured, &run->recipe->dedup,
                          via ? &via->overlap : &decision->overlap);
    return nd_bounded_removals_add(&b->removals, nd_bounded_loads_record(&b->loads, document),
                                   &removal, decision->agreement, err);
}

static enum nd_status note_all(struct bounded *b, struct deciding *d, uint64_t from, size_t n,
                               bool has_via, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < n; i++)
        if (d->decision[i].kept != from + i)
            status = note_removed(b, from + i, &d->decision[i], has_via ? &d->via[i] : NULL, err);
    return status;
}

static enum nd_status push_all(struct bounded *b, struct deciding *d, bool components,
                               struct nd_error *err)
{
    struct nd_bounded_loads *loads = &b->loads;
    struct nd_dedup *dedup = b->records.run->dedup;
    enum nd_status status = ND_OK;

    for (uint64_t from = 0, n = 0; status == ND_OK && from < loads->loads.n_load; from += n) {
        const struct nd_parsed *loaded = NULL;
        size_t some = 0;

        status = nd_bounded_loads_items(loads, from, d->item, &loaded, &some, err);
        n = some;
        if (status == ND_OK && components)
            status = nd_dedup_push_components(dedup, d->item, some, err);
        else if (status == ND_OK)
            status = nd_dedup_push(dedup, d->item, some, d->decision, err);
        if (status == ND_OK)
            status = nd_bounded_loads_keep_rows(loads, some, err);
        if (status == ND_OK)
            status = nd_bounded_loads_check(loads, from + n, err);
        if (status == ND_OK && !components)
            status = note_all(b, d, from, some, false, err);
    }
    return status;
}

static enum nd_status decide_load(struct bounded *b, struct deciding *d, struct nd_error *err)
{
    bool components = b->loads.cluster == ND_CLUSTER_COMPONENTS;
    enum nd_status status = push_all(b, d, components, err);

    for (uint64_t from = 0, n; status == ND_OK && components && from < b->loads.loads.n_load;
         from += n) {
        n = b->loads.loads.n_load - from;
        n = n < ND_BOUNDED_BATCH ? n : ND_BOUNDED_BATCH;
        status =
            nd_dedup_components(b->records.run->dedup, from, (size_t)n, d->decision, d->via, err);
        if (status == ND_OK)
            status = note_all(b, d, from, (size_t)n, true, err);
    }
    return status;
}

static enum nd_status decide(struct bounded *b, struct nd_error *err)
{
    struct deciding *d = malloc(sizeof *d);
    enum nd_status status =
        d ? nd_bounded_loads_next(&b->loads, err) : nd_fail(err, ND_ENOMEM, "out of memory");

    while (status == ND_OK && b->loads.loads.n_load) {
        status = decide_load(b, d, err);
        if (status == ND_OK)
            status = nd_bounded_loads_next(&b->loads, err);
    }
    free(d);
    return status;
}

static enum nd_status go_through(struct bounded *b, struct nd_run *run, struct nd_error *err)
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
        status = decide(b, err);
    return status == ND_OK ? nd_bounded_removals_write(&b->removals, err) : status;
}

enum nd_status nd_run_bounded(struct nd_run *run, struct nd_error *err)
{
    struct bounded b = {
        .records = {.keep = &run->keep},
        .loads = {.records = &b.records, .cluster = run->recipe->dedup.cluster},
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
