/* components.c - clusters as the transitive closure of the verified pairs */
#include "pipeline/ordered.h"

#include "base/memory.h"

#include <neardup/sketch.h>

#include <stdlib.h>
#include <string.h>

/*
 * A forest over the documents in keep order (union-find, path halving); the root of a tree is its
 * least number, so the document that is kept.
 */
struct joining {
    uint32_t *parent;
    struct neighbour {
        uint32_t number; /* ND_NO_VERDICT: none */
        double resemblance;
    } *via; /* the most alike verified neighbour, of equal ones the earlier */
};

static uint32_t root_of(uint32_t *parent, uint32_t n)
{
    while (parent[n] != n) {
        parent[n] = parent[parent[n]];
        n = parent[n];
    }
    return n;
}

static void offer(struct neighbour *via, uint32_t number, double resemblance)
{
    if (via->number != ND_NO_VERDICT &&
        (resemblance < via->resemblance ||
         (!(resemblance > via->resemblance) && number > via->number)))
        return;
    *via = (struct neighbour){number, resemblance};
}

static enum nd_status join(void *context, const struct nd_found_pair *pair)
{
    struct joining *j = context;
    uint32_t a = (uint32_t)pair->a, b = (uint32_t)pair->b;
    uint32_t root_a = root_of(j->parent, a), root_b = root_of(j->parent, b);
    double resemblance = nd_overlap_resemblance(&pair->overlap);

    offer(&j->via[a], b, resemblance);
    offer(&j->via[b], a, resemblance);
    if (root_a < root_b)
        j->parent[root_b] = root_a;
    else
        j->parent[root_a] = root_b;
    return ND_OK;
}

static enum nd_status push_all(struct nd_ordered *o, struct joining *j, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t from = 0, n = 0; status == ND_OK && from < o->n_order; from += n) {
        struct nd_run_progress progress = {.documents = from,
                                           .pass = 2,
                                           .passes = 3,
                                           .pass_done = from,
                                           .pass_total = o->n_order};
        struct nd_dedup_item *items = NULL;

        status = nd_run_tell(o->run, &progress, err);
        if (status == ND_OK)
            status = nd_ordered_items(o, from, &items, &n, err);
        if (status == ND_OK)
            status = nd_dedup_push_pairs(o->run->dedup, items, n, join, j, err);
        free(items);
    }
    return status;
}

static enum nd_status note_components(struct nd_ordered *o, struct joining *j, struct nd_error *err)
{
    for (size_t n = 0; n < o->n_order; n++) {
        uint32_t root = root_of(j->parent, (uint32_t)n);
        struct nd_verdict *verdict;

        if (root == n)
            continue;
        verdict = nd_ordered_remove(o, o->order[n]);
        if (!verdict)
            return nd_fail(err, ND_ENOMEM, "out of memory");
        verdict->kept = o->order[root];
        verdict->via = o->order[j->via[n].number];
        verdict->via_resemblance = j->via[n].resemblance;
        o->run->members[verdict->kept]++;
    }
    return ND_OK;
}

enum nd_status nd_ordered_components(struct nd_ordered *o, struct nd_error *err)
{
    struct joining j = {nd_alloc_array(o->n_order, sizeof *j.parent),
                        nd_alloc_array(o->n_order, sizeof *j.via)};
    enum nd_status status;

    if (j.parent && j.via) {
        for (size_t i = 0; i < o->n_order; i++) {
            j.parent[i] = (uint32_t)i;
            j.via[i] = (struct neighbour){ND_NO_VERDICT, 0};
        }
        status = push_all(o, &j, err);
        if (status == ND_OK)
            status = note_components(o, &j, err);
    } else {
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    }
    free(j.parent);
    free(j.via);
    return status;
}

/*
 * What a removed document has in common with the kept one was not asked in the second pass: they
 * need not be neighbours.
 */
struct measuring {
    struct nd_ordered *o;
    const uint32_t *number;
    const struct nd_loaded *loaded;
    struct nd_sketcher **sketcher; /* two a worker */
    struct nd_error *error;        /* one a worker */
};

static enum nd_status measure(struct measuring *m, size_t task, unsigned worker)
{
    struct nd_run *run = m->o->run;
    struct nd_verdict *v = &m->o->verdict[m->o->verdict_of[m->number[task]]];
    struct nd_view text = m->loaded[task].document.text;
    struct nd_place place = nd_places_at(&run->places, v->kept);
    struct nd_error *err = &m->error[worker];
    struct nd_document kept;
    struct nd_sketch a, b;
    enum nd_status status = nd_lookup_document(run->lookup, &place, worker, &kept, err);

    if (status != ND_OK)
        return status;
    status = nd_sketcher_run(m->sketcher[2 * worker], text.data, text.len, ND_SKETCH_SIMHASH, &a);
    if (status == ND_OK)
        status = nd_sketcher_run(m->sketcher[2 * worker + 1], kept.text.data, kept.text.len,
                                 ND_SKETCH_SIMHASH, &b);
    if (status == ND_OK)
        status =
            nd_shingles_overlap(a.shingle, a.n_shingles, b.shingle, b.n_shingles, &v->overlap);
    if (status != ND_OK)
        return nd_fail(err, status, "out of memory");
    v->verified = 1;
    v->distance = (uint8_t)__builtin_popcountll(a.simhash ^ b.simhash);
    if (text.len == kept.text.len && memcmp(text.data, kept.text.data, text.len) == 0)
        v->identical = ND_IDENTICAL_BYTES;
    else if (a.n_tokens == b.n_tokens && a.identity == b.identity && a.n_tokens)
        v->identical = ND_IDENTICAL_TOKENS;
    return ND_OK;
}

static void measure_task(void *context, size_t task, unsigned worker)
{
    struct measuring *m = context;

    if (m->o->verdict_of[m->number[task]] != ND_NO_VERDICT && m->error[worker].status == ND_OK)
        (void)measure(m, task, worker);
}

enum nd_status nd_components_measure(struct nd_ordered *o, const uint32_t *number, size_t n,
                                     const struct nd_loaded *loaded, struct nd_error *err)
{
    unsigned workers = nd_pool_threads(o->run->pool);
    struct measuring m = {o, number, loaded, calloc(2 * workers, sizeof *m.sketcher),
                          calloc(workers, sizeof *m.error)};
    enum nd_status status = ND_OK;

    if (!m.sketcher || !m.error)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned i = 0; status == ND_OK && i < 2 * workers; i++) {
        m.sketcher[i] = nd_sketcher_new(&o->run->options->recipe.dedup.sketch, err);
        if (!m.sketcher[i])
            status = ND_ENOMEM;
    }
    if (status == ND_OK)
        nd_pool_run(o->run->pool, n, measure_task, &m);
    for (unsigned i = 0; status == ND_OK && i < workers; i++) {
        status = m.error[i].status;
        if (status != ND_OK && err)
            *err = m.error[i];
    }
    for (unsigned i = 0; m.sketcher && i < 2 * workers; i++)
        nd_sketcher_free(m.sketcher[i]);
    free(m.sketcher);
    free(m.error);
    return status;
}
