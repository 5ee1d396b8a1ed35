/* worker.c - what a thread makes of a document, its working memory, and its failures */
#include "engine/document/worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/replaced_hash.h"
#include "engine/document/sketched.h"
#include "match/same_tokens.h"

enum nd_status nd_worker_fail(struct nd_worker *w, enum nd_status status, const char *what)
{
    if (w->status)
        return w->status;
    w->status = status;
    return nd_fail(&w->error, status, "%s while %s",
                   status == ND_ENOMEM ? "out of memory" : nd_status_name(status), what);
}

void nd_worker_begin(struct nd_worker *w)
{
    w->text_of = UINT64_MAX;
    w->status = ND_OK;
}

/* Read the counts and the identity of an item, from its text or from its row. */
static enum nd_status read_counts(struct nd_worker *w, const struct nd_item *item,
                                  struct nd_sketch *sketch)
{
    if (nd_item_row(item)) {
        *sketch = nd_sketched_counts(nd_item_row(item));
        return ND_OK;
    }
    if (nd_sketcher_read_valid(w->sketcher, item->text.data, item->text.len, sketch))
        return ND_ENOMEM;
    sketch->identity =
        nd_replaced_mark(sketch->identity, item->document ? item->document->text_replaced : 0);
    return sketch->n_shingles > UINT32_MAX ? ND_EUNSUPPORTED : ND_OK;
}

static enum nd_status read_item(struct nd_worker *w, struct nd_item *item)
{
    const struct nd_engine_plan *plan = w->plan;
    struct nd_sketch sketch;
    enum nd_status status = read_counts(w, item, &sketch);

    if (status != ND_OK)
        return status;
    item->is_read = true;
    item->read.n_tokens = sketch.n_tokens;
    item->read.n_shingles = sketch.n_shingles;
    item->read.is_short =
        sketch.n_tokens < plan->params.sketch.w && !nd_engine_plan_ignores_text(plan);
    item->read.is_listed =
        nd_engine_plan_ignores_text(plan) || nd_item_equal_by(plan, item) == ND_EQUAL_BY_TOKENS;
    item->read.row.identity = sketch.identity;
    item->read.row.group = item->group;
    item->read.row.n_shingles = (uint32_t)sketch.n_shingles;
    item->read.row.is_short = item->read.row.identity_only = item->read.is_short;
    return ND_OK;
}

bool nd_item_read(struct nd_worker *w, struct nd_item *item)
{
    enum nd_status status = read_item(w, item);

    if (status == ND_ENOMEM)
        nd_worker_fail(w, status, "reading a document");
    else if (status)
        nd_worker_fail(w, status, "counting more than 2^32 distinct shingles in a document");
    return status == ND_OK;
}

/* The row of the text just read. */
static void make_row(const struct nd_worker *w, struct nd_item *item)
{
    const struct nd_shingle_set *set = nd_sketcher_shingles(w->sketcher);
    struct nd_sketch sketch = {
        .identity = item->read.row.identity, .shingle = set->distinct, .n_shingles = set->count};

    nd_sketch_finish(&sketch, w->plan->sketch_parts);
    nd_index_row_from_sketch(&item->read.row, &sketch, item->group);
}

void nd_item_sketch(struct nd_worker *w, struct nd_item *item)
{
    if (nd_item_row(item))
        nd_sketched_fill_row(w->plan, nd_item_row(item), &item->read.row);
    else
        make_row(w, item);
    item->read.row.is_short = item->read.row.identity_only = item->read.is_short;
    nd_table_keys(&w->plan->index, &item->read.row, item->key);
    item->read.row.key = item->key;
}

/* The shingles of the document just read, and how many they are. */
static const uint64_t *shingles_read(const struct nd_worker *w, const struct nd_item *item,
                                     size_t *n)
{
    const struct nd_shingle_set *set = nd_sketcher_shingles(w->sketcher);

    *n = item->sketched ? item->sketched->n_shingles : set->count;
    return item->sketched ? item->sketched->shingles : set->distinct;
}

/* They, as they are looked up in containers.  Of the values little may be left, so they are made in
 * memory that the worker keeps. */
static bool note_content(struct nd_worker *w, struct nd_arena *held, struct nd_item *item)
{
    const struct nd_value_set *expected =
        w->plan->expected.count && !item->group ? &w->plan->expected : NULL;
    size_t n, n_values;
    const uint64_t *shingle = shingles_read(w, item, &n);
    uint32_t *value, *made;

    if (!ND_RESERVE(w->scratch, &w->scratch_capacity, 3 * n + 1))
        return false;
    made = (uint32_t *)(w->scratch + 2 * n);
    n_values = nd_container_values(shingle, n, item->group, expected, made, w->scratch);
    value = nd_arena_alloc(held, n_values * sizeof *value);
    if (!value)
        return false;
    memcpy(value, made, n_values * sizeof *value);
    item->read.content = (struct nd_container_row){.value = value,
                                                   .n_values = (uint32_t)n_values,
                                                   .n_shingles = (uint32_t)n,
                                                   .group = item->group};
    return true;
}

static bool sign_item(struct nd_worker *w, struct nd_arena *held, struct nd_item *item)
{
    struct nd_document text_alone = {.text = item->text};
    struct nd_document_signatures *x;

    if (w->plan->containers.sample) /* a short one is found by its tokens alone */
        return item->read.is_short || note_content(w, held, item);
    if (!w->plan->matching)
        return true;
    x = nd_arena_alloc(held, sizeof *x);
    if (!x || (nd_item_row(item)
                   ? nd_matching_sign_sketched(w->matching, nd_item_row(item), item->group, held, x)
                   : nd_matching_sign(w->matching, item->document ? item->document : &text_alone,
                                      item->group, held, x)))
        return false;
    item->read.signatures = x;
    return true;
}

bool nd_item_sign(struct nd_worker *w, struct nd_item *item)
{
    bool ok = sign_item(w, &w->held, item);

    if (!ok)
        nd_worker_fail(w, ND_ENOMEM, "signing a document");
    return ok;
}

static bool hold_shingles(const struct nd_worker *w, struct nd_arena *held, struct nd_item *item)
{
    const struct nd_shingle_set *set = nd_sketcher_shingles(w->sketcher);
    uint64_t *copy;

    if (nd_item_row(item)) { /* which stays where it is */
        item->shingle = nd_item_row(item)->shingles;
        return true;
    }
    copy = nd_arena_alloc(held, set->count * sizeof *copy);
    if (!copy)
        return false;
    if (set->count)
        memcpy(copy, set->distinct, set->count * sizeof *copy);
    item->shingle = copy;
    return true;
}

bool nd_item_hold_shingles(struct nd_worker *w, struct nd_item *item)
{
    bool ok = hold_shingles(w, &w->held, item);

    if (!ok)
        nd_worker_fail(w, ND_ENOMEM, "holding a document's shingles");
    return ok;
}

void nd_item_prepare(struct nd_worker *w, struct nd_arena *held, struct nd_item *item)
{
    if (read_item(w, item))
        return;
    if (item->read.n_tokens || item->read.is_listed)
        nd_item_sketch(w, item);
    item->is_prepared =
        (!item->read.is_listed || sign_item(w, held, item)) && hold_shingles(w, held, item);
}

bool nd_item_shingles(struct nd_worker *w, const struct nd_item *item, const uint64_t **shingle,
                      size_t *n)
{
    struct nd_sketch sketch = {.shingle = item->shingle,
                               .n_shingles = item->shingle ? item->read.n_shingles : 0};

    if (item->known && !item->shingle &&
        nd_sketcher_read_valid(w->kept_sketcher, item->text.data, item->text.len, &sketch)) {
        nd_worker_fail(w, ND_ENOMEM, "comparing documents");
        return false;
    }
    *shingle = sketch.shingle;
    *n = (size_t)sketch.n_shingles;
    return true;
}

bool nd_item_begin_compare(struct nd_worker *w, const struct nd_item *item)
{
    const uint64_t *shingle;
    size_t n;

    if (w->in_set == item)
        return true;
    w->in_set = NULL;
    if (!nd_item_shingles(w, item, &shingle, &n))
        return false;
    if (!nd_shingle_set_build_distinct(&w->set, shingle, n)) {
        nd_worker_fail(w, ND_ENOMEM, "comparing documents");
        return false;
    }
    w->in_set = item;
    return true;
}

int nd_worker_equal(struct nd_worker *w, enum nd_equal_by by, struct nd_view a, struct nd_view b)
{
    int same = 0;

    if (by == ND_EQUAL_BY_BYTES)
        return nd_equal_bytes(a, b);
    if (by == ND_EQUAL_BY_TOKENS)
        same = nd_same_as_sketched(&w->plan->params.sketch, w->tokeniser, a, b);
    return same < 0 ? (int)nd_worker_fail(w, ND_ENOMEM, "comparing texts") : same;
}

/* ---- All of them ---- */

/* How much one worker holds of shingles made within a batch. */
enum { FETCHED_BYTES = 4 << 20 };

enum nd_status nd_crew_status(const struct nd_crew *crew, struct nd_error *err)
{
    for (unsigned i = 0; i < nd_pool_threads(crew->pool); i++) {
        if (!crew->worker[i].status)
            continue;
        if (err)
            *err = crew->worker[i].error;
        return crew->worker[i].status;
    }
    return ND_OK;
}

static bool init_worker(struct nd_worker *w, unsigned number, const struct nd_engine_plan *plan,
                        struct nd_error *err)
{
    w->plan = plan;
    w->number = number;
    w->text_of = UINT64_MAX;
    w->sketcher = nd_sketcher_new(&plan->params.sketch, err);
    w->kept_sketcher = nd_sketcher_new(&plan->params.sketch, err);
    if (!w->sketcher || !w->kept_sketcher)
        return false;
    if (plan->matching &&
        !(w->matching = nd_matching_worker_new(plan->matching, !plan->params.takes_no_texts, err)))
        return false;
    w->tokeniser[0] = nd_tokeniser_new();
    w->tokeniser[1] = nd_tokeniser_new();
    w->fetched = nd_shingle_cache_new(FETCHED_BYTES);
    if (w->tokeniser[0] && w->tokeniser[1] && w->fetched)
        return true;
    nd_fail(err, ND_ENOMEM, "out of memory for a worker");
    return false;
}

static void release_worker(struct nd_worker *w)
{
    nd_value_set_release(&w->expected);
    free(w->scratch);
    nd_sketcher_free(w->sketcher);
    nd_sketcher_free(w->kept_sketcher);
    nd_matching_worker_free(w->matching);
    nd_container_scratch_release(&w->containers);
    nd_tokeniser_free(w->tokeniser[0]);
    nd_tokeniser_free(w->tokeniser[1]);
    nd_shingle_set_release(&w->set);
    nd_shingle_cache_free(w->fetched);
    nd_candidates_release(&w->found);
    nd_arena_release(&w->held);
    *w = (struct nd_worker){0};
}

bool nd_crew_init(struct nd_crew *crew, const struct nd_engine_plan *plan, struct nd_error *err)
{
    unsigned n = nd_pool_threads(crew->pool);

    crew->pusher = crew->worker = calloc(n, sizeof *crew->worker);
    crew->matcher = calloc(n, sizeof *crew->matcher);
    crew->lending = nd_lending_new(crew->pool);
    if (!crew->worker || !crew->matcher || !crew->lending) {
        nd_fail(err, ND_ENOMEM, "out of memory for %u workers", n);
        return false;
    }
    for (unsigned i = 0; i < n; i++)
        if (!init_worker(&crew->worker[i], i, plan, err))
            return false;
    return true;
}

struct nd_worker *nd_crew_matcher(struct nd_crew *crew, unsigned i,
                                  const struct nd_engine_plan *plan)
{
    struct nd_worker *w = &crew->matcher[i];
    struct nd_error err;

    if (!w->plan && !init_worker(w, nd_pool_threads(crew->pool) + i, plan, &err))
        release_worker(w);
    return w->plan ? w : NULL;
}

void nd_crew_release(struct nd_crew *crew)
{
    for (unsigned i = 0; i < nd_pool_threads(crew->pool); i++) {
        if (crew->worker)
            release_worker(&crew->worker[i]);
        if (crew->matcher)
            release_worker(&crew->matcher[i]);
    }
    free(crew->worker);
    free(crew->matcher);
    nd_lending_free(crew->lending);
    if (crew->owns_pool)
        nd_pool_free(crew->pool);
}

void nd_crew_begin(struct nd_crew *crew)
{
    for (unsigned i = 0; i < nd_pool_threads(crew->pool); i++)
        nd_worker_begin(&crew->worker[i]);
}

void nd_crew_forget(struct nd_crew *crew)
{
    for (unsigned i = 0; i < nd_pool_threads(crew->pool); i++)
        nd_arena_reset(&crew->worker[i].held);
}

void nd_crew_forget_sets(struct nd_crew *crew)
{
    for (unsigned i = 0; i < nd_pool_threads(crew->pool); i++)
        crew->worker[i].in_sketcher = crew->worker[i].in_set = NULL;
}

void nd_crew_end(struct nd_crew *crew, struct nd_shingle_cache *cache)
{
    for (unsigned i = 0; i < nd_pool_threads(crew->pool); i++)
        nd_shingle_cache_move(crew->worker[i].fetched, cache);
}
