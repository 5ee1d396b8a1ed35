/* run_ordered.c - several passes: collect, decide in keep order, write in input order */
#include "pipeline/ordered.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum nd_status nd_ordered_fetch(void *context, uint64_t document, unsigned worker,
                                struct nd_view *text, struct nd_error *err)
{
    struct nd_ordered *o = context;
    struct nd_place place = nd_places_at(&o->run->places, o->order[document]);
    struct nd_document found;
    enum nd_status status = nd_lookup_document(o->run->lookup, &place, worker, &found, err);

    if (status == ND_OK)
        *text = found.text;
    return status;
}

/* Every record has a place already. */
enum nd_status nd_ordered_keep(void *context, uint64_t document, size_t item, struct nd_error *err)
{
    (void)context;
    (void)document;
    (void)item;
    (void)err;
    return ND_OK;
}

enum nd_status nd_ordered_items(struct nd_ordered *o, size_t from, struct nd_dedup_item **items,
                                size_t *n, struct nd_error *err)
{
    size_t count = nd_loader_batch(o->loader, o->order, from, o->n_order);
    struct nd_loaded *loaded;
    enum nd_status status = nd_loader_load(o->loader, o->order, from, count, true, &loaded, err);
    struct nd_dedup_item *list;

    if (status != ND_OK)
        return status;
    list = nd_alloc_array(count, sizeof *list);
    if (!list)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        uint32_t number = o->order[from + i];

        if (loaded[i].bad) {
            const struct nd_source *source =
                nd_reading_source(o->run->reading, loaded[i].place.source);

            free(list);
            return nd_fail(err, ND_ECHANGED, "%s: changed while it was read: %s", source->path,
                           loaded[i].bad->reason);
        }
        list[i] = (struct nd_dedup_item){loaded[i].document.text, o->group ? o->group[number] : 0,
                                         &loaded[i].document};
    }
    *items = list;
    *n = count;
    return ND_OK;
}

/* What the signatures have in common, beside the verdict that comes next. */
static bool note_agreement(struct nd_ordered *o, const struct nd_decision *decision)
{
    size_t n = o->run->recipe.method.n_signatures;
    void *list = o->agreement;

    if (!n)
        return true;
    if (!nd_array_reserve(&list, &o->agreement_capacity, (o->n_verdicts + 1) * n,
                          sizeof *o->agreement))
        return false;
    o->agreement = list;
    memcpy(&o->agreement[o->n_verdicts * n], decision->agreement, n * sizeof *o->agreement);
    return true;
}

enum nd_status nd_ordered_note(struct nd_ordered *o, uint32_t number,
                               const struct nd_decision *decision, struct nd_error *err)
{
    void *list = o->verdict;
    struct nd_verdict *verdict;

    if (!nd_array_reserve(&list, &o->verdict_capacity, o->n_verdicts + 1, sizeof *o->verdict))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    o->verdict = list;
    o->verdict_of[number] = (uint32_t)o->n_verdicts;
    if (!note_agreement(o, decision))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    verdict = &o->verdict[o->n_verdicts++];
    *verdict = (struct nd_verdict){
        .kept = o->order[decision->kept],
        .via = ND_NO_VERDICT,
        .distance =
            decision->distance <= ND_DISTANCE_MAX ? (uint16_t)decision->distance : ND_DISTANCE_NONE,
        .identical = (uint8_t)decision->identical,
        .verified = decision->verified,
        .was_cut = decision->was_cut,
        .overlap = decision->overlap,
    };
    o->run->members[verdict->kept]++;
    return ND_OK;
}

enum nd_status nd_ordered_tell(struct nd_ordered *o, unsigned pass, size_t done, size_t total,
                               struct nd_error *err)
{
    const struct nd_run_progress progress = {
        .documents = done, .pass = pass, .passes = 3, .pass_done = done, .pass_total = total};

    return nd_run_tell(o->run, &progress, err);
}

static enum nd_status push_batch(struct nd_ordered *o, size_t from, size_t *n, struct nd_error *err)
{
    struct nd_dedup_item *items = NULL;
    struct nd_decision *decision;
    enum nd_status status = nd_ordered_items(o, from, &items, n, err);

    if (status != ND_OK)
        return status;
    decision = nd_alloc_array(*n, sizeof *decision);
    if (!decision) {
        free(items);
        return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    status = nd_dedup_push(o->run->dedup, items, *n, decision, err);
    for (size_t i = 0; status == ND_OK && i < *n; i++)
        if (decision[i].kept != from + i)
            status = nd_ordered_note(o, o->order[from + i], &decision[i], err);
    free(decision);
    free(items);
    return status;
}

/* The second pass: decisions, in keep order. */
static enum nd_status decide_stars(struct nd_ordered *o, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t from = 0, n = 0; status == ND_OK && from < o->n_order; from += n) {
        status = nd_ordered_tell(o, 2, from, o->n_order, err);
        if (status == ND_OK)
            status = push_batch(o, from, &n, err);
    }
    return status;
}

static enum nd_status go_through(struct nd_ordered *o, struct nd_error *err)
{
    struct nd_run *run = o->run;
    const struct nd_text_source source = {o, nd_ordered_fetch, nd_ordered_keep};
    bool components = run->options->recipe.dedup.cluster == ND_CLUSTER_COMPONENTS;
    enum nd_status status = nd_run_make_dedup(run, &source, err); /* before all the reading */

    if (status == ND_OK)
        status = nd_ordered_collect(o, err);
    if (status == ND_OK)
        status = nd_ordered_sort(o, err);
    if (status != ND_OK)
        return status;
    o->loader = nd_loader_new(run->pool, run->reading, run->lookup, &run->places, &run->input, err);
    if (!o->loader)
        return ND_ENOMEM;
    status = components ? nd_ordered_components(o, err) : decide_stars(o, err);
    if (status == ND_OK)
        status = nd_ordered_emit(o, err);
    return status;
}

static void count(struct nd_ordered *o)
{
    struct nd_run_summary *summary = o->run->summary;

    summary->removed = o->n_verdicts;
    summary->kept = summary->documents - o->n_verdicts;
    for (size_t i = 0; i < o->n_verdicts; i++) {
        summary->identical_bytes += o->verdict[i].identical == ND_IDENTICAL_BYTES;
        summary->identical_tokens += o->verdict[i].identical == ND_IDENTICAL_TOKENS;
        summary->near += o->verdict[i].identical == ND_IDENTICAL_NO;
    }
}

enum nd_status nd_run_ordered(struct nd_run *run, struct nd_error *err)
{
    struct nd_ordered o = {.run = run};
    enum nd_status status = go_through(&o, err);

    if (status == ND_OK) {
        count(&o);
        status = nd_members_summarise(run, o.count, err);
    }
    nd_loader_free(o.loader);
    free(o.key);
    free(o.prefer);
    free(o.group);
    free(o.is_bad);
    free(o.verdict_of);
    free(o.order);
    free(o.verdict);
    free(o.agreement);
    return status;
}
