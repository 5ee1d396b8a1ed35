/* audit_join.c - the kept documents in an engine, and each removed one beside those that it finds */
#include "uses/audit/audit_join.h"

#include <stdlib.h>
#include <string.h>

#include <neardup/index.h>

#include "base/memory.h"
#include "recipe/recipe_struct.h"

/* Working memory of a thread that compares removed documents with the kept ones of their clusters. */
struct nd_audit_join_worker {
    struct nd_sketcher *sketcher;
    /* The shingles of the kept document that was read last, by its number; many removed ones follow
     * one another that have the same. */
    uint64_t *shingle;
    size_t n, capacity;
    uint32_t kept;
    struct nd_error error;
};

/* ---- Documents and their places ----------------------------------------------------------------- */

uint64_t nd_audit_order(const struct nd_record *record)
{
    return (uint64_t)record->source << 40 | record->line;
}

uint64_t nd_audit_order_of(const struct nd_place *place)
{
    return (uint64_t)place->source << 40 | place->line;
}

struct nd_audit_removed *nd_audit_find_removed(const struct nd_audit_join *j, uint64_t order)
{
    size_t from = 0, to = j->n_removed;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;

        if (j->removed[middle].order < order)
            from = middle + 1;
        else
            to = middle;
    }
    return from < j->n_removed && j->removed[from].order == order ? &j->removed[from] : NULL;
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

const struct nd_place *nd_audit_listed_place(const struct nd_audit_join *j, uint32_t number)
{
    size_t from = 0, to = j->n_listed;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;

        if (j->listed[middle].number < number)
            from = middle + 1;
        else
            to = middle;
    }
    return &j->listed[from].place;
}

enum nd_status nd_audit_shingles_of(struct nd_sketcher *sketcher, struct nd_view text,
                                    struct nd_audit_shingles *out)
{
    enum nd_status status = nd_sketcher_read(sketcher, text.data, text.len, &out->sketch);

    if (status != ND_OK)
        return status;
    out->n = (size_t)out->sketch.n_shingles;
    out->item = out->sketch.shingle;
    out->is_empty = !out->n;
    if (out->is_empty) {
        out->n = 1;
        out->item = &out->sketch.identity;
    }
    return ND_OK;
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
    struct nd_audit_removed *r = &j->removed[j->number[pair->a]];
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
        j->worker[i].kept = ND_REMOVAL_NONE;
        j->worker[i].sketcher = nd_sketcher_new(&j->run->recipe->dedup.sketch, err);
        if (!j->worker[i].sketcher)
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
        nd_sketcher_free(j->worker[i].sketcher);
        free(j->worker[i].shingle);
    }
    free(j->worker);
    free(j->removed);
    free(j->listed);
    free(j->item);
    free(j->number);
    nd_streamed_release(&j->streamed);
    nd_json_release(&j->name);
    nd_json_release(&j->value);
}

/* ---- The first pass ----------------------------------------------------------------------------- */

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

static enum nd_status list_removed(struct nd_audit_join *j, const struct nd_parsed *parsed,
                                   struct nd_removed_name *removal, struct nd_error *err)
{
    removal->is_met = true;
    if (!ND_RESERVE(j->removed, &j->room[0], j->n_removed + 1))
        return no_memory(err);
    j->removed[j->n_removed++] = (struct nd_audit_removed){.order = nd_audit_order(&parsed->record),
                                                           .cluster = removal->cluster};
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
    if (known && known->is_removed)
        return list_removed(j, parsed, known, err);
    stand_for(j, (uint32_t)j->run->places.count, key, has_key, known);
    j->kept_bytes += parsed->document.text.len;
    j->item[j->n_items++] = nd_parsed_item(parsed);
    status = nd_lookup_keep(j->run->lookup, &parsed->record, &place, err);
    if (status == ND_OK && !nd_places_add(&j->run->places, &place))
        return no_memory(err);
    return status;
}

/* Room for what the engine is given of a batch. */
static bool reserve(struct nd_audit_join *j, size_t n)
{
    j->n_items = 0;
    return ND_RESERVE(j->item, &j->room[1], n) && ND_RESERVE(j->number, &j->room[2], n);
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

/* ---- The second pass ---------------------------------------------------------------------------- */

/* Have the shingles of a kept document at hand. */
static enum nd_status read_kept(struct nd_audit_join *j, struct nd_audit_join_worker *w,
                                unsigned worker, uint32_t kept)
{
    struct nd_audit_shingles s;
    struct nd_view text;
    enum nd_status status;

    if (w->kept == kept)
        return ND_OK;
    w->kept = ND_REMOVAL_NONE;
    status = nd_lookup_text(j->run->lookup, &j->run->places.item[kept], worker, &text, &w->error);
    if (status == ND_OK)
        status = nd_audit_shingles_of(w->sketcher, text, &s);
    if (status == ND_OK && !ND_RESERVE(w->shingle, &w->capacity, s.n))
        status = ND_ENOMEM;
    if (status != ND_OK)
        return status;
    memcpy(w->shingle, s.item, s.n * sizeof *s.item);
    w->n = s.n;
    w->kept = kept;
    return ND_OK;
}

/* Compare a removed document with the kept one of its cluster, unless the engine found that. */
static void compare_with_own(void *context, size_t task, unsigned worker)
{
    struct nd_audit_join *j = context;
    struct nd_audit_join_worker *w = &j->worker[worker];
    struct nd_audit_removed *r = &j->removed[j->number[task]];
    struct nd_audit_shingles s;
    struct nd_overlap o = {0};
    enum nd_status status;
    uint32_t kept;

    if (r->cluster == ND_REMOVAL_NONE || r->either || w->error.status != ND_OK)
        return;
    kept = j->removals->cluster[r->cluster].kept;
    if (kept == ND_REMOVAL_NONE)
        return;
    status = read_kept(j, w, worker, kept);
    if (status == ND_OK)
        status = nd_audit_shingles_of(w->sketcher, j->item[task].text, &s);
    if (status == ND_OK)
        status = nd_shingles_overlap(w->shingle, w->n, s.item, s.n, &o);
    if (status != ND_OK) {
        if (w->error.status == ND_OK)
            (void)no_memory(&w->error);
        return;
    }
    r->shared = (uint32_t)o.shared;
    r->either = (uint32_t)(o.a + o.b - o.shared);
    nd_audit_nearest_offer(&r->best,
                           (struct nd_audit_nearest){nd_audit_order_of(&j->run->places.item[kept]),
                                                     r->shared, r->either});
}

/* Choose the removed documents of a batch. */
static void choose_removed(struct nd_audit_join *j, const struct nd_reading_batch *batch,
                           const struct nd_record **record)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct nd_parsed *parsed = &batch->parsed[i];
        const struct nd_audit_removed *removed =
            parsed->bad ? NULL : nd_audit_find_removed(j, nd_audit_order(&parsed->record));

        if (!removed)
            continue;
        record[j->n_items] = &parsed->record;
        j->number[j->n_items] = (uint32_t)(removed - j->removed);
        j->item[j->n_items++] = nd_parsed_item(parsed);
    }
}

/* List those that have no match by now, and those that are far from their kept one. */
static enum nd_status list_some(struct nd_audit_join *j, const struct nd_record *const *record,
                                struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < j->n_items; i++) {
        const struct nd_audit_removed *r = &j->removed[j->number[i]];
        const bool is_doubtful = !nd_audit_nearest_reaches(&r->best, j->threshold);
        struct nd_audit_listed *listed;

        if (!is_doubtful && !nd_audit_is_far(j, r))
            continue;
        if (!ND_RESERVE(j->listed, &j->room[3], j->n_listed + 1))
            return no_memory(err);
        listed = &j->listed[j->n_listed++];
        listed->number = j->number[i];
        listed->is_doubtful = is_doubtful;
        j->n_doubtful += is_doubtful;
        j->doubtful_bytes += is_doubtful ? j->item[i].text.len : 0;
        status = nd_lookup_keep(j->run->lookup, record[i], &listed->place, err);
    }
    return status;
}

enum nd_status nd_audit_join_compare(struct nd_audit_join *j, const struct nd_reading_batch *batch,
                                     struct nd_error *err)
{
    const struct nd_record **record = nd_alloc_array(batch->count + 1, sizeof *record);
    enum nd_status status = record && reserve(j, batch->count) ? ND_OK : no_memory(err);

    if (status == ND_OK) {
        choose_removed(j, batch, record);
        status = nd_streamed_push(&j->streamed, j->item, j->n_items, err);
    }
    if (status == ND_OK)
        nd_pool_run(j->run->pool, j->n_items, compare_with_own, j);
    for (unsigned i = 0; status == ND_OK && i < j->n_workers; i++)
        if ((status = j->worker[i].error.status) != ND_OK)
            *err = j->worker[i].error;
    if (status == ND_OK)
        status = list_some(j, record, err);
    free(record);
    return status;
}
