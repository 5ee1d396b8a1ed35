/* audit.c - was another tool right? what it removed held against what it kept, exactly */

/*
 * Documents are removed or kept, as the tool's file says. Of either kind a sample is drawn: those
 * whose places have the least hashes. For each removed one all kept documents are searched for the
 * nearest, and for each kept one all kept documents before it, so no index can miss any. The inputs
 * are read up to four times:
 *
 *   1  which documents are removed; the hashes that are in the samples
 *   2  the shingles of the samples
 *   3  each kept document against all of the samples (overlaps.h); the runs that are lost
 *   4  for the page, the texts that it shows
 */
#include "base/hash.h"
#include "base/thread/lock.h"
#include "uses/audit/audit_page.h"
#include "uses/audit/overlaps.h"
#include "uses/audit/removals.h"
#include "uses/eval/lost.h"
#include "uses/judging/proportions.h"
#include "uses/use.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT, REMOVED, KINDS };
/* Bytes of the texts of a sample: where documents are long, it has fewer of them. */
#define SAMPLE_BYTES (UINT64_C(8) << 20)
/* Distinct runs whose loss is counted exactly. */
#define RUNS_MOST (UINT64_C(1) << 18)

/* The least of many numbers, in no order: 2 * most at most, of which the lower half stays. */
struct least {
    uint64_t *item, bound;
    size_t n, capacity;
};

/* A document of a sample. */
struct drawn_document {
    uint64_t order, *shingle;
    uint32_t n;
    bool is_removed;
};

struct audit_worker {
    struct nd_sketcher *sketcher;
    struct nd_json name, value;
    uint64_t count[KINDS], bytes[KINDS];
    struct least least[KINDS];
    struct drawn_document *sampled;
    size_t n_sampled, capacity;
    struct nd_overlaps_worker overlaps;
};

struct auditing {
    const struct nd_audit_params *params;
    struct nd_removals removals;
    struct audit_worker *worker;
    unsigned n_workers;
    atomic_bool has_failed, has_sources;
    uint64_t count[KINDS], bound[KINDS]; /* documents, and the greatest hash in the sample */
    struct nd_sought *sought;            /* of both samples: */
    bool *is_removed;
    size_t n_sought;
    struct nd_overlaps overlaps;
    struct nd_lost lost;
    struct nd_rwlock *lock;
    struct nd_audit_page page;
};

/* ---- The documents ----------------------------------------------------------------------------- */

/* The place of a document in the order of the corpus. */
static uint64_t order_of(const struct nd_parsed *parsed)
{
    return (uint64_t)parsed->record.source << 40 | parsed->record.line;
}

/* Whether a document is removed. */
static bool is_removed(struct auditing *a, struct audit_worker *w, const struct nd_parsed *parsed)
{
    struct nd_name name;

    if (a->removals.by_record) {
        if (parsed->record.source > 0)
            atomic_store(&a->has_sources, true);
        return nd_removals_meet(
            &a->removals, nd_removal_key_of_record(parsed->record.line ? parsed->record.line - 1
                                                                       : parsed->record.source));
    }
    name = nd_name_of(&parsed->document, parsed->source, parsed->record.line, &w->name);
    w->value.text.len = 0;
    nd_name_value(&w->value, name.text);
    if (w->name.failed || w->value.failed)
        atomic_store(&a->has_failed, true);
    return nd_removals_meet(
        &a->removals, nd_removal_key_of((struct nd_view){w->value.text.data, w->value.text.len}));
}

static int by_number(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

static void cut(struct least *l, size_t most)
{
    if (l->n)
        qsort(l->item, l->n, sizeof *l->item, by_number);
    if (l->n < most)
        return;
    l->n = most;
    l->bound = l->item[most - 1];
}

/* False: out of memory. */
static bool note_least(struct least *l, size_t most, uint64_t hash)
{
    if (l->n >= most && hash > l->bound)
        return true;
    if (!ND_RESERVE(l->item, &l->capacity, l->n + 1))
        return false;
    l->item[l->n++] = hash;
    if (l->n >= 2 * most)
        cut(l, most);
    else if (l->n < most)
        l->bound = UINT64_MAX;
    return true;
}

/* The `parsed` hook of the first pass. */
static void meet(void *context, struct nd_parsed *parsed, unsigned worker)
{
    struct auditing *a = context;
    struct audit_worker *w = &a->worker[worker];
    bool kind = is_removed(a, w, parsed);

    w->count[kind]++;
    w->bytes[kind] += parsed->document.text.len;
    if (!note_least(&w->least[kind], a->params->sample, nd_mix64(order_of(parsed))))
        atomic_store(&a->has_failed, true);
}

/* The shingles of a document; of one that is shorter than a shingle a hash of its tokens stands for
 * them. */
static bool shingles_of(struct auditing *a, struct audit_worker *w, const struct nd_parsed *parsed,
                        const uint64_t **shingle, size_t *n, struct nd_sketch *sketch)
{
    const struct nd_view text = parsed->document.text;

    if (nd_sketcher_read(w->sketcher, text.data, text.len, sketch) != ND_OK) {
        atomic_store(&a->has_failed, true);
        return false;
    }
    *n = (size_t)sketch->n_shingles;
    *shingle = sketch->shingle;
    if (!*n) {
        *n = 1;
        *shingle = &sketch->identity;
    }
    return true;
}

/* The `parsed` hook of the second pass. */
static void gather(void *context, struct nd_parsed *parsed, unsigned worker)
{
    struct auditing *a = context;
    struct audit_worker *w = &a->worker[worker];
    struct drawn_document sampled = {.order = order_of(parsed),
                                     .is_removed = is_removed(a, w, parsed)};
    struct nd_sketch sketch;
    const uint64_t *shingle;
    size_t n;

    if (nd_mix64(sampled.order) > a->bound[sampled.is_removed] ||
        !shingles_of(a, w, parsed, &shingle, &n, &sketch))
        return;
    sampled.n = (uint32_t)n;
    sampled.shingle = nd_alloc_array(n, sizeof *shingle);
    if (!sampled.shingle || !ND_RESERVE(w->sampled, &w->capacity, w->n_sampled + 1)) {
        free(sampled.shingle);
        atomic_store(&a->has_failed, true);
        return;
    }
    memcpy(sampled.shingle, shingle, n * sizeof *shingle);
    w->sampled[w->n_sampled++] = sampled;
}

static void note_runs(struct auditing *a, const struct nd_sketch *sketch, bool is_kept)
{
    bool good = true;

    nd_rwlock_write(a->lock);
    for (uint64_t i = 0; good && i < sketch->n_shingles; i++)
        good = nd_lost_add(&a->lost, sketch->shingle[i], is_kept);
    nd_rwlock_unlock(a->lock);
    if (!good)
        atomic_store(&a->has_failed, true);
}

/* The `parsed` hook of the third pass. */
static void search(void *context, struct nd_parsed *parsed, unsigned worker)
{
    struct auditing *a = context;
    struct audit_worker *w = &a->worker[worker];
    bool kind = is_removed(a, w, parsed);
    struct nd_sketch sketch;
    const uint64_t *shingle;
    size_t n;

    if (!shingles_of(a, w, parsed, &shingle, &n, &sketch))
        return;
    note_runs(a, &sketch, kind == KEPT);
    if (kind == KEPT)
        nd_overlaps_take(&a->overlaps, &w->overlaps, order_of(parsed), shingle, n);
}

/* The `parsed` hook of the last pass. */
static void show(void *context, struct nd_parsed *parsed, unsigned worker)
{
    struct auditing *a = context;
    struct audit_worker *w = &a->worker[worker];
    const uint64_t order = order_of(parsed);
    struct nd_name name;

    if (!nd_audit_page_wants(&a->page, order))
        return;
    name = nd_name_of(&parsed->document, parsed->source, parsed->record.line, &w->name);
    if (w->name.failed || !nd_audit_page_take(&a->page, order, name.text, parsed->document.text))
        atomic_store(&a->has_failed, true);
}

/* ---- Passes ------------------------------------------------------------------------------------- */

typedef void parsed_hook(void *context, struct nd_parsed *parsed, unsigned worker);

static enum nd_status make_workers(struct auditing *a, const struct nd_run *run,
                                   struct nd_error *err)
{
    a->n_workers = nd_pool_threads(run->pool);
    a->worker = calloc(a->n_workers, sizeof *a->worker);
    a->lock = nd_rwlock_new();
    if (!a->worker || !a->lock)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned i = 0; i < a->n_workers; i++) {
        a->worker[i].sketcher = nd_sketcher_new(&run->recipe->dedup.sketch, err);
        if (!a->worker[i].sketcher)
            return ND_ENOMEM;
    }
    return ND_OK;
}

/* Read all documents: each goes to the hook, in any thread. */
static enum nd_status pass(struct auditing *a, const struct nd_run_options *options,
                           parsed_hook *hook, const struct nd_run_events *events,
                           struct nd_use_summary *summary, struct nd_error *err)
{
    const struct nd_run_request request = {.reading = {.parsed = hook, .context = a},
                                           .ignores_signatures = true};
    struct nd_use use;
    enum nd_status status = nd_use_begin(&use, options, &request, events, err);

    if (status == ND_OK && !a->worker)
        status = make_workers(a, &use.run, err);
    if (status == ND_OK)
        status = nd_use_walk(&use, -1, NULL, NULL, err);
    if (status == ND_OK && atomic_load(&a->has_failed))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    return nd_use_end(&use, status, 0, summary, err);
}

/* The first pass is over: check the names, and join what the workers have. */
static enum nd_status draw(struct auditing *a, struct nd_error *err)
{
    const size_t missing = nd_removals_missing(&a->removals), most = a->params->sample;

    if (atomic_load(&a->has_sources))
        return nd_fail(err, ND_EINVAL,
                       "%s: it numbers the records of one file, and there are several inputs",
                       a->removals.path);
    if (missing)
        return nd_fail(err, ND_EINPUT,
                       "%s: %zu of its %zu documents are not in the corpus: give all of it, and "
                       "--id-field where the ids are",
                       a->removals.path, missing, a->removals.n);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct least *all = &a->worker[0].least[kind];
        uint64_t bytes = 0, size;

        for (unsigned i = 0; i < a->n_workers; i++) {
            const struct least *own = &a->worker[i].least[kind];

            a->count[kind] += a->worker[i].count[kind];
            bytes += a->worker[i].bytes[kind];
            for (size_t k = 0; i && k < own->n; k++)
                if (!note_least(all, most, own->item[k]))
                    return nd_fail(err, ND_ENOMEM, "out of memory");
        }
        cut(all, most);
        size = bytes > SAMPLE_BYTES ? SAMPLE_BYTES * a->count[kind] / bytes + 1 : most;
        size = size < most ? size : most;
        a->bound[kind] = all->n < size ? UINT64_MAX : all->item[size - 1];
    }
    return ND_OK;
}

static int by_order(const void *left, const void *right)
{
    const struct drawn_document *a = left, *b = right;

    return a->order < b->order ? -1 : a->order > b->order;
}

/* The second pass is over: list the samples in the order of the corpus. */
static enum nd_status list(struct auditing *a, struct nd_error *err)
{
    struct drawn_document *all;
    size_t n = 0, at = 0;

    for (unsigned i = 0; i < a->n_workers; i++)
        n += a->worker[i].n_sampled;
    all = nd_alloc_array(n + 1, sizeof *all);
    a->sought = nd_alloc_array(n + 1, sizeof *a->sought);
    a->is_removed = nd_alloc_array(n + 1, sizeof *a->is_removed);
    if (!all || !a->sought || !a->is_removed) {
        free(all);
        return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    for (unsigned i = 0; i < a->n_workers; i++)
        for (size_t k = 0; k < a->worker[i].n_sampled; k++)
            all[at++] = a->worker[i].sampled[k];
    if (n)
        qsort(all, n, sizeof *all, by_order);
    for (size_t i = 0; i < n; i++) {
        a->sought[i] =
            (struct nd_sought){all[i].order, all[i].shingle, all[i].n, !all[i].is_removed};
        a->is_removed[i] = all[i].is_removed;
    }
    a->n_sought = n;
    free(all);
    if (!nd_overlaps_init(&a->overlaps, a->sought, n))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned i = 0; i < a->n_workers; i++)
        if (!nd_overlaps_worker_init(&a->worker[i].overlaps, &a->overlaps))
            return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}

/* ---- What comes of it --------------------------------------------------------------------------- */

static bool reaches(const struct nd_audit_nearest *nearest, struct nd_ratio threshold)
{
    return nearest->shared &&
           (uint64_t)nearest->shared * threshold.q >= (uint64_t)nearest->either * threshold.p;
}

/* Join what the workers found, and count those of either sample that are wrong: a removed one without
 * a kept match, a kept one with an earlier match. */
static enum nd_status judge(struct auditing *a, struct nd_ratio threshold,
                            struct nd_judged_stratum stratum[KINDS], struct nd_error *err)
{
    struct nd_audit_nearest *nearest = a->worker[0].overlaps.nearest;

    for (unsigned i = 1; i < a->n_workers; i++)
        nd_overlaps_join(&a->overlaps, &a->worker[0].overlaps, &a->worker[i].overlaps);
    for (unsigned kind = 0; kind < KINDS; kind++)
        stratum[kind] = (struct nd_judged_stratum){.size = a->count[kind]};
    for (size_t i = 0; i < a->n_sought; i++) {
        struct nd_judged_stratum *s = &stratum[a->is_removed[i]];
        const bool is_wrong = a->is_removed[i] != reaches(&nearest[i], threshold);

        s->judged++;
        s->same += is_wrong;
        if (a->is_removed[i] &&
            !nd_audit_page_offer(&a->page, a->sought[i].order, &nearest[i], is_wrong))
            return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    nd_audit_page_choose(&a->page);
    return ND_OK;
}

static void put_share(struct nd_use *use, const char *const key[4],
                      const struct nd_judged_stratum *s)
{
    const struct nd_rated rated = nd_share_weighted(s, 1);

    nd_cell_uint(use, key[0], s->judged);
    if (!s->judged) {
        for (unsigned k = 1; k < 4; k++)
            nd_cell_none(use, key[k]);
        return;
    }
    nd_cell_double(use, key[1], rated.value);
    nd_cell_double(use, key[2], rated.low);
    nd_cell_double(use, key[3], rated.high);
}

static enum nd_status put_row(struct auditing *a, struct nd_use *use,
                              const struct nd_judged_stratum stratum[KINDS], struct nd_error *err)
{
    static const char *const wrong[] = {"removed_sampled", "unmatched", "unmatched_low",
                                        "unmatched_high"};
    static const char *const missed[] = {"kept_sampled", "missed", "missed_low", "missed_high"};

    nd_lost_count(&a->lost, &a->page.runs, &a->page.runs_lost);
    nd_cell_text(use, "result", (struct nd_view){a->removals.path, strlen(a->removals.path)});
    nd_cell_uint(use, "documents", a->count[KEPT] + a->count[REMOVED]);
    nd_cell_uint(use, "removed", a->count[REMOVED]);
    put_share(use, wrong, &stratum[REMOVED]);
    put_share(use, missed, &stratum[KEPT]);
    nd_cell_uint(use, "runs", a->page.runs);
    nd_cell_uint(use, "lost_runs", a->page.runs_lost);
    return nd_row_end(use, err);
}

static enum nd_status put_page(struct auditing *a, struct nd_use *use,
                               const struct nd_judged_stratum stratum[KINDS], struct nd_error *err)
{
    struct nd_output *out =
        nd_output_open(&use->run.outputs.publisher, a->params->page, ND_PUBLISH_EVIDENCE, err);
    enum nd_status status;

    if (!out)
        return err->status;
    a->page.result = a->removals.path;
    a->page.removed = &stratum[REMOVED];
    a->page.kept = &stratum[KEPT];
    status = nd_audit_page_write(&a->page, out, err);
    if (status == ND_OK)
        return nd_output_finish(out, err);
    nd_output_discard(out);
    return status;
}

/* Write the row, and the page with the texts that it shows. */
static enum nd_status report(struct auditing *a, const struct nd_run_options *options,
                             const struct nd_judged_stratum stratum[KINDS], struct nd_error *err)
{
    const char *const reads[] = {a->params->removed};
    const struct nd_run_request request = {.reading = {.parsed = show, .context = a},
                                           .reads = reads,
                                           .n_reads = 1,
                                           .ignores_signatures = true,
                                           .writes_output = true};
    struct nd_use use;
    enum nd_status status = nd_use_begin(&use, options, &request, NULL, err);

    if (status == ND_OK)
        status = nd_publisher_claim(&use.run.outputs.publisher, a->params->page, NULL, err);
    if (status == ND_OK)
        status = nd_use_open(&use, a->params->json, err);
    if (status == ND_OK)
        status = put_row(a, &use, stratum, err);
    if (status == ND_OK && a->params->page)
        status = nd_use_walk(&use, -1, NULL, NULL, err);
    if (status == ND_OK && atomic_load(&a->has_failed))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK && a->params->page)
        status = put_page(a, &use, stratum, err);
    return nd_use_end(&use, status, 0, NULL, err);
}

static void release(struct auditing *a)
{
    for (unsigned i = 0; a->worker && i < a->n_workers; i++) {
        struct audit_worker *w = &a->worker[i];

        nd_sketcher_free(w->sketcher);
        nd_json_release(&w->name);
        nd_json_release(&w->value);
        free(w->least[KEPT].item);
        free(w->least[REMOVED].item);
        for (size_t k = 0; k < w->n_sampled; k++)
            free(w->sampled[k].shingle);
        free(w->sampled);
        nd_overlaps_worker_release(&w->overlaps);
    }
    free(a->worker);
    free(a->sought);
    free(a->is_removed);
    nd_overlaps_release(&a->overlaps);
    nd_lost_release(&a->lost);
    nd_rwlock_free(a->lock);
    nd_removals_release(&a->removals);
    nd_audit_page_release(&a->page);
}

struct nd_audit_params nd_audit_params_default(void)
{
    return (struct nd_audit_params){.sample = 2000};
}

static enum nd_status check(const struct nd_run_options *options,
                            const struct nd_audit_params *params, struct nd_error *err)
{
    if (!params->removed)
        return nd_fail(err, ND_EINVAL, "audit needs the file that says what was removed");
    if (!params->sample)
        return nd_fail(err, ND_EINVAL, "sample: there must be a document in it");
    for (size_t i = 0; i < options->n_paths; i++)
        if (strcmp(options->paths[i], "-") == 0)
            return nd_fail(err, ND_EINVAL,
                           "audit reads the documents several times: name files or folders");
    return ND_OK;
}

enum nd_status nd_run_audit(const struct nd_run_options *options,
                            const struct nd_audit_params *params,
                            const struct nd_run_events *events, struct nd_use_summary *summary,
                            struct nd_error *err)
{
    struct auditing a = {.params = params, .lost.most = RUNS_MOST};
    struct nd_judged_stratum stratum[KINDS];
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = check(options, params, err);
    if (status == ND_OK)
        status = nd_removals_read(&a.removals, params->removed, err);
    if (status == ND_OK)
        status = pass(&a, options, meet, events, summary, err);
    if (status == ND_OK)
        status = draw(&a, err);
    if (status == ND_OK)
        status = pass(&a, options, gather, NULL, NULL, err);
    if (status == ND_OK)
        status = list(&a, err);
    if (status == ND_OK)
        status = pass(&a, options, search, NULL, NULL, err);
    if (status == ND_OK)
        status = judge(&a, options->recipe->dedup.threshold, stratum, err);
    if (status == ND_OK)
        status = report(&a, options, stratum, err);
    if (status == ND_OK)
        summary->found = stratum[REMOVED].same;
    release(&a);
    return nd_run_status(status, err);
}
