/* audit_join.c - the kept documents in an engine, and each removed one beside those that it finds */
#include "uses/audit/audit_join.h"

#include <stdlib.h>
#include <string.h>

#include <neardup/index.h>

#include "base/memory.h"
#include "recipe/recipe_struct.h"

/* Distinct runs of removed documents whose loss is counted exactly. */
#define RUNS_MOST (UINT64_C(1) << 17)

/* Working memory of a thread that compares removed documents with the kept ones of their clusters. */
struct nd_audit_join_worker {
    struct nd_sketcher *sketcher[2]; /* of the removed one, and of the kept one: */
    struct nd_audit_shingles
        own;       /* that was read last, by its number; many removed ones follow one */
    uint32_t kept; /* another that have the same */
    struct nd_lost runs;
    struct nd_error error;
};

/* ---- Documents and their places ----------------------------------------------------------------- */

uint64_t nd_audit_order_of(const struct nd_place *place)
{
    return (uint64_t)place->source << 40 | place->line;
}

uint32_t nd_audit_find_kept(const struct nd_audit_join *j, uint64_t order)
{
    size_t from = 0, to = j->run->places.count;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;

        if (nd_audit_order_of(&j->run->places.item[middle]) < order)
            from = middle + 1;
        else
            to = middle;
    }
    return (uint32_t)from;
}

bool nd_audit_is_far(const struct nd_audit_join *j, const struct nd_audit_removed *removed)
{
    const struct nd_audit_nearest own = {0, removed->shared, removed->either};

    return removed->either && !nd_audit_nearest_reaches(&own, j->threshold);
}

enum nd_status nd_audit_shingles_of(struct nd_sketcher *sketcher, struct nd_view text,
                                    struct nd_audit_shingles *out)
{
    enum nd_status status = nd_sketcher_read(sketcher, text.data, text.len, &out->sketch);

    if (status != ND_OK)
        return status;
    out->n = (size_t)out->sketch.n_shingles;
    out->item = out->sketch.shingle;
    out->set = nd_sketcher_shingles(sketcher);
    if (!out->n) {
        out->n = 1;
        out->item = &out->sketch.identity;
        out->set = NULL;
    }
    return ND_OK;
}

/* Read and take all documents, a batch after the other. */
static enum nd_status load_all(struct nd_run *run, struct nd_loader *loader, size_t count,
                               struct nd_run_progress *progress, nd_audit_take *take, void *context,
                               struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t from = 0, n; status == ND_OK && from < count; from += n) {
        const struct nd_parsed *loaded;

        n = nd_loader_batch(loader, NULL, from, count);
        status = nd_loader_load(loader, NULL, from, n, true, &loaded, err);
        if (status == ND_OK)
            status = take(context, loaded, from, n, err);
        progress->pass_done = from + n;
        if (status == ND_OK && run->budget.total)
            status = nd_budget_check(&run->budget, progress->documents, 1, 1, err);
        if (status == ND_OK)
            status = nd_reporter_progress(&run->reporter, progress, err);
    }
    return status;
}

enum nd_status nd_audit_read_again(struct nd_run *run, const struct nd_places *places,
                                   unsigned pass, nd_audit_take *take, void *context,
                                   struct nd_error *err)
{
    struct nd_run_progress progress = {.documents = run->summary->documents,
                                       .pass = pass,
                                       .passes = ND_AUDIT_PASSES,
                                       .pass_total = places->count};
    struct nd_loader *loader =
        nd_loader_new(run->pool, run->reading, run->lookup, places, &run->input, err);
    enum nd_status status = ND_ENOMEM;

    if (loader)
        status = load_all(run, loader, places->count, &progress, take, context, err);
    nd_loader_free(loader);
    return status;
}

/* ---- The engine ------------------------------------------------------------------------------- */

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

struct nd_ratio nd_audit_join_ratio(struct nd_ratio threshold)
{
    const struct nd_ratio half = {1, 2};

    return (uint64_t)threshold.p * 2 > threshold.q ? half : threshold;
}

static enum nd_status fetch(void *context, uint64_t document, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    const struct nd_audit_join *j = context;

    return nd_lookup_text(j->run->lookup, &j->run->places.item[document], worker, text, err);
}

/* A kept document that the engine finds for a removed one. */
static enum nd_status note(void *context, const struct nd_found_pair *pair)
{
    struct nd_audit_join *j = context;
    struct nd_audit_removed *r = &j->removed[j->from + pair->a];
    struct nd_overlap o = pair->overlap;
    struct nd_audit_nearest found;

    if (pair->is_equal)
        o = (struct nd_overlap){1, 1, 1};
    found = (struct nd_audit_nearest){nd_audit_order_of(&j->run->places.item[pair->b]),
                                      (uint32_t)o.shared, (uint32_t)(o.a + o.b - o.shared)};
    nd_audit_nearest_offer(&r->best, found);
    if (r->cluster != ND_REMOVAL_NONE && j->removals->cluster[r->cluster].kept == pair->b) {
        r->shared = found.shared;
        r->either = found.either;
    }
    return ND_OK;
}

static enum nd_status make_workers(struct nd_audit_join *j, struct nd_error *err)
{
    j->n_workers = nd_pool_threads(j->run->pool);
    j->worker = calloc(j->n_workers, sizeof *j->worker);
    if (!j->worker)
        return no_memory(err);
    for (unsigned i = 0; i < j->n_workers; i++) {
        struct nd_audit_join_worker *w = &j->worker[i];

        w->kept = ND_REMOVAL_NONE;
        w->runs.most = RUNS_MOST;
        for (unsigned k = 0; k < 2; k++)
            if (!(w->sketcher[k] = nd_sketcher_new(&j->run->recipe->dedup.sketch, err)))
                return ND_ENOMEM;
    }
    return ND_OK;
}

/* The join is that of `dedup` at the threshold, whatever the recipe asks for beside the shingles; but
 * what is compared then may be farther away. */
static enum nd_status set_recipe(struct nd_recipe *recipe, struct nd_error *err)
{
    const struct nd_recipe given = *recipe;

    *recipe = nd_recipe_default();
    recipe->dedup.sketch = given.dedup.sketch;
    recipe->dedup.recall = given.dedup.recall;
    recipe->dedup.max_checks = given.dedup.max_checks;
    recipe->dedup.short_policy = ND_SHORT_TOKENS;
    recipe->dedup.threshold = nd_audit_join_ratio(given.dedup.threshold);
    return nd_bands_choose(given.dedup.threshold, given.dedup.recall, &recipe->dedup.bands,
                           &recipe->dedup.rows, err);
}

enum nd_status nd_audit_join_begin(struct nd_audit_join *j, struct nd_error *err)
{
    const struct nd_text_source source = {
        .context = j, .fetch = fetch, .keep = nd_run_keep_nothing};
    enum nd_status status;

    j->threshold = j->run->recipe->dedup.threshold;
    status = set_recipe(j->run->recipe, err);
    if (status == ND_OK)
        status = make_workers(j, err);
    if (status == ND_OK)
        status = nd_run_make_dedup(j->run, ND_CLUSTER_PAIRS, &source, err);
    j->streamed = (struct nd_streamed){.dedup = j->run->dedup,
                                       .cluster = ND_CLUSTER_PAIRS,
                                       .only_old = true,
                                       .found = note,
                                       .context = j};
    return status;
}

void nd_audit_join_release(struct nd_audit_join *j)
{
    for (unsigned i = 0; j->worker && i < j->n_workers; i++) {
        nd_sketcher_free(j->worker[i].sketcher[0]);
        nd_sketcher_free(j->worker[i].sketcher[1]);
        nd_lost_release(&j->worker[i].runs);
    }
    free(j->worker);
    free(j->removed);
    free(j->item);
    nd_places_release(&j->at);
    nd_streamed_release(&j->streamed);
    nd_json_release(&j->name);
    nd_json_release(&j->value);
}

/* ---- All documents ----------------------------------------------------------------------------- */

/* The key by which the removals know a document.  False: they cannot, as it has no number. */
static bool key_of(struct nd_audit_join *j, const struct nd_parsed *parsed, uint64_t *key)
{
    struct nd_name name;

    if (j->removals->by_number) {
        *key = j->n_texts;
        j->n_texts += parsed->document.text.len > 0;
        return parsed->document.text.len > 0;
    }
    name = nd_name_of(&parsed->document, parsed->source, parsed->record.line, &j->name);
    j->value.text.len = 0;
    nd_name_value(&j->value, name.text);
    *key = nd_removal_key_of((struct nd_view){j->value.text.data, j->value.text.len});
    return true;
}

static enum nd_status list_removed(struct nd_audit_join *j, struct nd_removed_name *name,
                                   const struct nd_place *place, struct nd_error *err)
{
    name->is_met = true;
    if (!ND_RESERVE(j->removed, &j->room[0], j->n_removed + 1) || !nd_places_add(&j->at, place))
        return no_memory(err);
    j->removed[j->n_removed++] = (struct nd_audit_removed){.cluster = name->cluster};
    return ND_OK;
}

/* A kept document stands for a cluster that has its name, or else for its own if it is the first. */
static void stand_for(struct nd_audit_join *j, uint32_t number, uint64_t key, bool has_key,
                      const struct nd_removed_name *member)
{
    struct nd_removal_cluster *named =
        has_key && !j->removals->by_number ? nd_removals_cluster(j->removals, key) : NULL;

    if (named && !named->is_named) {
        named->kept = number;
        named->is_named = true;
    }
    if (member && member->cluster != ND_REMOVAL_NONE) {
        struct nd_removal_cluster *own = &j->removals->cluster[member->cluster];

        if (own->kept == ND_REMOVAL_NONE)
            own->kept = number;
    }
}

static enum nd_status list_document(void *context, const struct nd_parsed *parsed,
                                    struct nd_error *err)
{
    struct nd_audit_join *j = context;
    uint64_t key;
    const bool has_key = key_of(j, parsed, &key);
    struct nd_removed_name *known = has_key ? nd_removals_find(j->removals, key) : NULL;
    struct nd_place place;
    enum nd_status status;

    if (j->name.failed || j->value.failed)
        return no_memory(err);
    if (known && known->is_removed && j->removals->by_number && parsed->record.source > 0)
        return nd_fail(err, ND_EINVAL,
                       "%s: it numbers the records of one file, and there are several inputs",
                       j->removals->path);
    status = nd_lookup_keep(j->run->lookup, &parsed->record, NULL, &place, err);
    if (status != ND_OK)
        return status;
    if (known && known->is_removed)
        return list_removed(j, known, &place, err);
    stand_for(j, (uint32_t)j->run->places.count, key, has_key, known);
    j->kept_bytes += parsed->document.text.len;
    j->item[j->n_items++] = nd_parsed_item(parsed);
    return nd_places_add(&j->run->places, &place) ? ND_OK : no_memory(err);
}

/* Room for what the engine is given of a batch. */
static bool reserve(struct nd_audit_join *j, size_t n)
{
    j->n_items = 0;
    return ND_RESERVE(j->item, &j->room[1], n);
}

enum nd_status nd_audit_join_list(void *join, const struct nd_reading_batch *batch,
                                  struct nd_error *err)
{
    struct nd_audit_join *j = join;
    enum nd_status status = reserve(j, batch->count)
                                ? nd_run_each_document(j->run, batch, list_document, j, err)
                                : no_memory(err);

    return status == ND_OK ? nd_streamed_push_old(&j->streamed, j->item, j->n_items, err) : status;
}

enum nd_status nd_audit_join_listed(struct nd_audit_join *j, struct nd_error *err)
{
    const size_t missing = nd_removals_missing(j->removals);

    if (!missing)
        return ND_OK;
    return nd_fail(err, ND_EINPUT,
                   "%s: %zu of its %zu documents are not in the corpus: give all of it, and "
                   "--id-field where the ids are",
                   j->removals->path, missing, j->removals->n_removed);
}

/* ---- Removed documents ---------------------------------------------------------------------------- */

/* Have the shingles of a kept document at hand. */
static enum nd_status read_kept(struct nd_audit_join *j, struct nd_audit_join_worker *w,
                                unsigned worker, uint32_t kept)
{
    struct nd_view text;
    enum nd_status status;

    if (w->kept == kept)
        return ND_OK;
    w->kept = ND_REMOVAL_NONE;
    status = nd_lookup_text(j->run->lookup, &j->run->places.item[kept], worker, &text, &w->error);
    if (status == ND_OK)
        status = nd_audit_shingles_of(w->sketcher[1], text, &w->own);
    if (status == ND_OK)
        w->kept = kept;
    return status;
}

/* Compare a removed document with the kept one of its cluster, unless the engine found that. */
static enum nd_status compare_with_own(struct nd_audit_join *j, struct nd_audit_join_worker *w,
                                       unsigned worker, const struct nd_audit_shingles *s,
                                       struct nd_audit_removed *r)
{
    const uint32_t kept =
        r->cluster != ND_REMOVAL_NONE ? j->removals->cluster[r->cluster].kept : ND_REMOVAL_NONE;
    struct nd_audit_nearest found;
    enum nd_status status;

    if (r->either || kept == ND_REMOVAL_NONE)
        return ND_OK;
    status = read_kept(j, w, worker, kept);
    if (status != ND_OK)
        return status;
    found.order = nd_audit_order_of(&j->run->places.item[kept]);
    found.shared = !s->set && !w->own.set;
    if (s->set && w->own.set)
        found.shared = (uint32_t)nd_shingle_set_shared(w->own.set, s->item, s->n, 0);
    found.either = (uint32_t)(w->own.n + s->n - found.shared);
    r->shared = found.shared;
    r->either = found.either;
    nd_audit_nearest_offer(&r->best, found);
    return ND_OK;
}

static void finish_one(void *context, size_t task, unsigned worker)
{
    struct nd_audit_join *j = context;
    struct nd_audit_join_worker *w = &j->worker[worker];
    struct nd_audit_shingles s;
    enum nd_status status = w->error.status;

    if (status != ND_OK)
        return;
    status = nd_audit_shingles_of(w->sketcher[0], j->item[task].text, &s);
    if (status == ND_OK && s.set && !nd_lost_add_removed(&w->runs, s.item, s.n))
        status = ND_ENOMEM;
    if (status == ND_OK)
        status = compare_with_own(j, w, worker, &s, &j->removed[j->from + task]);
    if (status != ND_OK && w->error.status == ND_OK)
        (void)no_memory(&w->error);
}

static enum nd_status finish_all(struct nd_audit_join *j, struct nd_error *err)
{
    nd_pool_run(j->run->pool, j->n_items, finish_one, j);
    for (unsigned i = 0; i < j->n_workers; i++)
        if (j->worker[i].error.status != ND_OK) {
            *err = j->worker[i].error;
            return err->status;
        }
    for (size_t i = 0; i < j->n_items; i++)
        if (!nd_audit_nearest_reaches(&j->removed[j->from + i].best, j->threshold)) {
            j->n_doubtful++;
            j->doubtful_bytes += j->item[i].text.len;
        }
    return ND_OK;
}

enum nd_status nd_audit_join_compare(void *join, const struct nd_parsed *loaded, size_t from,
                                     size_t n, struct nd_error *err)
{
    struct nd_audit_join *j = join;
    enum nd_status status;

    if (!reserve(j, n))
        return no_memory(err);
    j->from = from;
    for (size_t i = 0; i < n; i++)
        j->item[j->n_items++] = nd_parsed_item(&loaded[i]);
    status = nd_streamed_push(&j->streamed, j->item, n, err);
    return status == ND_OK ? finish_all(j, err) : status;
}

struct nd_lost *nd_audit_join_runs(struct nd_audit_join *j)
{
    struct nd_lost *all = &j->worker[0].runs;

    for (unsigned i = 1; i < j->n_workers; i++) {
        if (!nd_lost_join(all, &j->worker[i].runs))
            return NULL;
        nd_lost_release(&j->worker[i].runs);
    }
    return nd_lost_seal(all) ? all : NULL;
}
