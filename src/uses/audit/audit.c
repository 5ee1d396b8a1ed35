/* audit.c - was another tool right? what it removed held against what it kept, exactly */

/*
 * Documents are removed or kept, as the tool's file says.  The inputs are read once, and documents
 * again by their places:
 *
 *   1  the kept documents go into an engine, the removed ones are listed (audit_join.h)
 *   2  each removed document is compared with those that the engine finds, and with the kept one of
 *      its cluster; those that then have no match are doubtful; and their runs of words are noted
 *   3  a sample of the doubtful ones is compared with every kept one, and a sample of the kept ones
 *      with every earlier kept one (overlaps.h), so that no index can miss any; and runs of words are
 *      counted that no kept document has
 *
 * The samples are those documents whose places have the least hashes.
 */
#include "base/hash.h"
#include "uses/audit/audit_join.h"
#include "uses/audit/audit_page.h"
#include "uses/audit/audit_rows.h"
#include "uses/audit/overlaps.h"
#include "uses/audit/removals.h"
#include "uses/judging/proportions.h"
#include "uses/use.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the texts of a sample: where documents are long, it has fewer of them. */
#define SAMPLE_BYTES (UINT64_C(8) << 20)
/* A document of a sample: a doubtful one, or a kept one. */
struct drawn_document {
    uint64_t hash, order;
    uint32_t number; /* among the removed ones, or among the kept ones */
    bool is_kept;
};

struct audit_worker {
    struct nd_sketcher *sketcher;
    struct nd_overlaps_worker overlaps;
};

struct auditing {
    const struct nd_audit_params *params;
    struct nd_use use;
    struct nd_removals removals;
    struct nd_audit_join join;
    struct audit_worker *worker;
    unsigned n_workers;
    atomic_bool has_failed;
    struct drawn_document
        *drawn; /* of both samples, in the order of the corpus; the shingles of each: */
    struct nd_sought *sought;
    size_t n_drawn;
    struct nd_overlaps overlaps;
    struct nd_lost *runs;           /* of removed documents */
    const struct nd_parsed *loaded; /* kept documents, of the batch, and the number of the first */
    size_t from;
    struct nd_audit_result result;
    struct nd_audit_page page;
};

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* ---- The samples --------------------------------------------------------------------------------- */

static int by_hash(const void *left, const void *right)
{
    const struct drawn_document *a = left, *b = right;

    return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static int by_order(const void *left, const void *right)
{
    const struct drawn_document *a = left, *b = right;

    return a->order < b->order ? -1 : a->order > b->order;
}

/* How many of n documents that have so many bytes are drawn. */
static size_t size_of_sample(const struct auditing *a, size_t n, uint64_t bytes)
{
    size_t size = a->params->sample < n ? a->params->sample : n;

    if (bytes > SAMPLE_BYTES && SAMPLE_BYTES * n / bytes + 1 < size)
        size = (size_t)(SAMPLE_BYTES * n / bytes + 1);
    return size;
}

/* Keep those with the least hashes, `size` at most. */
static size_t cut(struct drawn_document *drawn, size_t n, size_t size)
{
    if (n)
        qsort(drawn, n, sizeof *drawn, by_hash);
    return n < size ? n : size;
}

/* Draw from the kept documents. */
static size_t draw_kept(struct auditing *a, struct drawn_document *drawn, size_t size)
{
    const struct nd_places *places = &a->use.run.places;
    uint64_t bound = UINT64_MAX;
    size_t n = 0;

    for (size_t i = 0; size && i < places->count; i++) {
        const uint64_t order = nd_audit_order_of(&places->item[i]), hash = nd_mix64(order);

        if (hash > bound)
            continue;
        drawn[n++] = (struct drawn_document){hash, order, (uint32_t)i, true};
        if (n < 2 * size)
            continue;
        n = cut(drawn, n, size);
        bound = drawn[n - 1].hash;
    }
    return cut(drawn, n, size);
}

/* Draw from the doubtful ones. */
static size_t draw_doubtful(struct auditing *a, struct drawn_document *drawn, size_t size)
{
    const struct nd_audit_join *j = &a->join;
    size_t n = 0;

    for (size_t i = 0; i < j->n_removed; i++)
        if (!nd_audit_nearest_reaches(&j->removed[i].best, j->threshold)) {
            const uint64_t order = nd_audit_order_of(&j->at.item[i]);

            drawn[n++] = (struct drawn_document){nd_mix64(order), order, (uint32_t)i, false};
        }
    return cut(drawn, n, size);
}

static enum nd_status draw(struct auditing *a, struct nd_error *err)
{
    const struct nd_audit_join *j = &a->join;
    const size_t n_kept = a->use.run.places.count, kept = size_of_sample(a, n_kept, j->kept_bytes),
                 doubtful = size_of_sample(a, j->n_doubtful, j->doubtful_bytes);

    a->drawn = nd_alloc_array(j->n_doubtful + 2 * kept + 1, sizeof *a->drawn);
    if (!a->drawn)
        return no_memory(err);
    a->n_drawn = draw_doubtful(a, a->drawn, doubtful);
    a->n_drawn += draw_kept(a, a->drawn + a->n_drawn, kept);
    a->result.searched = doubtful;
    a->result.kept_sampled = kept;
    if (a->n_drawn)
        qsort(a->drawn, a->n_drawn, sizeof *a->drawn, by_order);
    return ND_OK;
}

/* Choose what the page shows. */
static enum nd_status choose_shown(struct auditing *a, struct nd_error *err)
{
    for (size_t i = 0; i < a->n_drawn; i++)
        if (!a->drawn[i].is_kept && !nd_audit_page_offer(&a->page, a->drawn[i].number))
            return no_memory(err);
    return nd_audit_page_choose(&a->page) ? ND_OK : no_memory(err);
}

/* Read a document of a sample. */
static void read_drawn(void *context, size_t task, unsigned worker)
{
    struct auditing *a = context;
    const struct drawn_document *d = &a->drawn[task];
    const struct nd_places *places = d->is_kept ? &a->use.run.places : &a->join.at;
    struct nd_sought *sought = &a->sought[task];
    struct nd_audit_shingles s;
    struct nd_view text;
    struct nd_error err;

    if (nd_lookup_text(a->use.run.lookup, &places->item[d->number], worker, &text, &err) != ND_OK ||
        nd_audit_shingles_of(a->worker[worker].sketcher, text, &s) != ND_OK ||
        !(sought->shingle = nd_alloc_array(s.n, sizeof *s.item))) {
        atomic_store(&a->has_failed, true);
        return;
    }
    memcpy(sought->shingle, s.item, s.n * sizeof *s.item);
    sought->order = d->order;
    sought->n = (uint32_t)s.n;
    sought->after = d->is_kept;
    sought->whole = !d->is_kept && nd_audit_page_wants(&a->page, d->number);
}

static enum nd_status make_workers(struct auditing *a, struct nd_error *err)
{
    struct nd_run *run = &a->use.run;

    a->n_workers = nd_pool_threads(run->pool);
    a->worker = calloc(a->n_workers, sizeof *a->worker);
    if (!a->worker)
        return no_memory(err);
    for (unsigned i = 0; i < a->n_workers; i++) {
        a->worker[i].sketcher = nd_sketcher_new(&run->recipe->dedup.sketch, err);
        if (!a->worker[i].sketcher)
            return ND_ENOMEM;
    }
    return ND_OK;
}

/* Get ready for the search. */
static enum nd_status list(struct auditing *a, struct nd_error *err)
{
    a->sought = calloc(a->n_drawn + 1, sizeof *a->sought);
    a->runs = nd_audit_join_runs(&a->join);
    if (!a->sought || !a->runs)
        return no_memory(err);
    nd_pool_run(a->use.run.pool, a->n_drawn, read_drawn, a);
    if (atomic_load(&a->has_failed) ||
        !nd_overlaps_init(&a->overlaps, a->sought, a->n_drawn, a->join.threshold))
        return no_memory(err);
    for (unsigned i = 0; i < a->n_workers; i++)
        if (!nd_overlaps_worker_init(&a->worker[i].overlaps, &a->overlaps))
            return no_memory(err);
    return ND_OK;
}

/* ---- The search ---------------------------------------------------------------------------------- */

static void search_one(void *context, size_t task, unsigned worker)
{
    struct auditing *a = context;
    struct audit_worker *w = &a->worker[worker];
    const struct nd_parsed *parsed = &a->loaded[task];
    struct nd_audit_shingles s;

    if (nd_audit_shingles_of(w->sketcher, parsed->document.text, &s) != ND_OK) {
        atomic_store(&a->has_failed, true);
        return;
    }
    if (s.set)
        nd_lost_meet_kept(a->runs, s.item, s.n);
    nd_overlaps_take(&a->overlaps, &w->overlaps,
                     nd_audit_order_of(&a->use.run.places.item[a->from + task]), s.item, s.n,
                     s.set);
}

/* Search n kept documents (nd_audit_take). */
static enum nd_status search(void *context, const struct nd_parsed *loaded, size_t from, size_t n,
                             struct nd_error *err)
{
    struct auditing *a = context;

    a->from = from;
    a->loaded = loaded;
    nd_pool_run(a->use.run.pool, n, search_one, a);
    return atomic_load(&a->has_failed) ? no_memory(err) : ND_OK;
}

/* ---- What comes of it --------------------------------------------------------------------------- */

/* Join what the workers found: of doubtful documents those that have a match after all, of kept ones
 * those that have an earlier one. */
static void judge(struct auditing *a)
{
    struct audit_worker *first = &a->worker[0];

    for (unsigned i = 1; i < a->n_workers; i++)
        nd_overlaps_join(&a->overlaps, &first->overlaps, &a->worker[i].overlaps);
    for (size_t i = 0; i < a->n_drawn; i++) {
        const struct nd_audit_nearest *nearest = &first->overlaps.nearest[i];
        const bool has_match = nd_audit_nearest_reaches(nearest, a->join.threshold);

        if (a->drawn[i].is_kept) {
            a->result.missed += has_match;
        } else {
            a->result.join_missed += has_match;
            a->join.removed[a->drawn[i].number].is_searched = true;
            nd_audit_nearest_offer(&a->join.removed[a->drawn[i].number].best, *nearest);
        }
    }
    nd_lost_count(a->runs, &a->result.runs, &a->result.runs_lost);
}

static void put_rated(struct nd_use *use, const char *const key[3], const struct nd_rated *rated)
{
    const double value[] = {rated->value, rated->low, rated->high};

    for (unsigned k = 0; k < 3; k++)
        if (rated->value >= 0)
            nd_cell_double(use, key[k], value[k]);
        else
            nd_cell_none(use, key[k]);
}

static void put_clustered(struct nd_use *use, const struct nd_audit_result *r)
{
    const char *const key[] = {"clustered", "far", "false_clusters", "largest_false"};
    const uint64_t value[] = {r->clustered, r->far, r->false_clusters, r->largest_false};

    for (unsigned k = 0; k < 4; k++)
        if (r->clustered)
            nd_cell_uint(use, key[k], value[k]);
        else
            nd_cell_none(use, key[k]);
}

static enum nd_status put_row(struct auditing *a, struct nd_error *err)
{
    static const char *const unmatched[] = {"unmatched", "unmatched_low", "unmatched_high"};
    static const char *const missed[] = {"missed", "missed_low", "missed_high"};
    const struct nd_audit_result *r = &a->result;
    const struct nd_rated wrong = nd_audit_unmatched(r), stayed = nd_audit_missed(r);
    struct nd_use *use = &a->use;

    nd_cell_text(use, "result", (struct nd_view){a->removals.path, strlen(a->removals.path)});
    nd_cell_uint(use, "documents", r->removed + r->kept);
    nd_cell_uint(use, "removed", r->removed);
    nd_cell_uint(use, "doubtful", r->doubtful);
    nd_cell_uint(use, "searched", r->searched);
    nd_cell_uint(use, "join_missed", r->join_missed);
    put_rated(use, unmatched, &wrong);
    put_clustered(use, r);
    nd_cell_uint(use, "kept_sampled", r->kept_sampled);
    put_rated(use, missed, &stayed);
    nd_cell_uint(use, "runs", r->runs);
    nd_cell_uint(use, "lost_runs", r->runs_lost);
    return nd_row_end(use, err);
}

static enum nd_status put_page(struct auditing *a, struct nd_error *err)
{
    struct nd_output *out =
        nd_output_open(&a->use.run.outputs.publisher, a->params->page, ND_PUBLISH_EVIDENCE, err);
    enum nd_status status;

    if (!out)
        return err->status;
    status = nd_audit_page_write(&a->page, out, err);
    if (status == ND_OK)
        return nd_output_finish(out, err);
    nd_output_discard(out);
    return status;
}

/* ---- All of it ---------------------------------------------------------------------------------- */

static enum nd_status read_all(struct auditing *a, struct nd_error *err)
{
    struct nd_run *run = &a->use.run;
    const char *const written[] = {a->params->page, a->params->unmatched,
                                   a->params->false_clusters};
    enum nd_status status = ND_OK;

    for (unsigned i = 0; status == ND_OK && i < 3; i++)
        status = nd_publisher_claim(&run->outputs.publisher, written[i], NULL, err);
    a->join.run = run;
    a->join.removals = &a->removals;
    if (status == ND_OK)
        status = nd_audit_join_begin(&a->join, err);
    if (status == ND_OK)
        status = nd_run_each_batch(run, nd_audit_join_list, &a->join, err);
    if (status == ND_OK)
        status = nd_run_conclude(run, err);
    return status == ND_OK ? nd_audit_join_listed(&a->join, err) : status;
}

static enum nd_status audit(struct auditing *a, struct nd_error *err)
{
    struct nd_run *run = &a->use.run;
    enum nd_status status = read_all(a, err);

    if (status == ND_OK)
        status = make_workers(a, err);
    if (status == ND_OK)
        status = nd_audit_read_again(run, &a->join.at, 2, nd_audit_join_compare, &a->join, err);
    nd_run_retire_dedup(run);
    if (status == ND_OK)
        status = nd_audit_count(&a->join, &a->result, err);
    if (status == ND_OK)
        status = draw(a, err);
    if (status == ND_OK && a->params->page)
        status = choose_shown(a, err);
    if (status == ND_OK)
        status = list(a, err);
    if (status == ND_OK)
        status = nd_audit_read_again(run, &run->places, 3, search, a, err);
    if (status == ND_OK)
        judge(a);
    return status;
}

static enum nd_status report(struct auditing *a, struct nd_error *err)
{
    const struct nd_audit_params *p = a->params;
    enum nd_status status = nd_use_open(&a->use, p->json, err);

    if (status == ND_OK)
        status = put_row(a, err);
    if (status == ND_OK && p->unmatched)
        status = nd_audit_rows_unmatched(&a->join, p->unmatched, p->json, err);
    if (status == ND_OK && p->false_clusters)
        status = nd_audit_rows_clusters(&a->join, p->false_clusters, p->json, err);
    return status == ND_OK && p->page ? put_page(a, err) : status;
}

static void release(struct auditing *a)
{
    for (unsigned i = 0; a->worker && i < a->n_workers; i++) {
        nd_sketcher_free(a->worker[i].sketcher);
        nd_overlaps_worker_release(&a->worker[i].overlaps);
    }
    for (size_t i = 0; a->sought && i < a->n_drawn; i++)
        free(a->sought[i].shingle);
    free(a->worker);
    free(a->sought);
    free(a->drawn);
    nd_overlaps_release(&a->overlaps);
    nd_audit_join_release(&a->join);
    nd_audit_page_release(&a->page);
    nd_removals_release(&a->removals);
}

struct nd_audit_params nd_audit_params_default(void)
{
    return (struct nd_audit_params){.sample = 2000};
}

static enum nd_status check(const struct nd_audit_params *params, struct nd_error *err)
{
    if (!params->removed)
        return nd_fail(err, ND_EINVAL, "audit needs the file that says what was removed");
    if (!params->sample)
        return nd_fail(err, ND_EINVAL, "sample: there must be a document in it");
    return ND_OK;
}

enum nd_status nd_run_audit(const struct nd_run_options *options,
                            const struct nd_audit_params *params,
                            const struct nd_run_events *events, struct nd_use_summary *summary,
                            struct nd_error *err)
{
    const char *const reads[] = {params->removed, params->clusters};
    const struct nd_run_request request = {.reads = reads,
                                           .n_reads = params->clusters ? 2 : 1,
                                           .ignores_signatures = true,
                                           .writes_output = true,
                                           .passes = ND_AUDIT_PASSES};
    struct auditing a = {.params = params};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = check(params, err);
    if (status == ND_OK)
        status = nd_removals_read(&a.removals, params->removed, params->clusters, err);
    if (status != ND_OK) {
        release(&a);
        return nd_run_status(status, err);
    }
    a.page.join = &a.join;
    a.page.result = &a.result;
    status = nd_use_begin(&a.use, options, &request, events, err);
    if (status == ND_OK)
        status = audit(&a, err);
    if (status == ND_OK)
        status = report(&a, err);
    status = nd_use_end(&a.use, status, a.result.searched - a.result.join_missed, summary, err);
    release(&a);
    return status;
}
