/* dedup.c - the engine: made from parameters, called, counted, freed
 *
 * The calls of dedup.h are let in one at a time (base/thread/handle.h), checked, and handed to the
 * file of their kind of batch.  A push that fails once it has begun breaks the engine: what was half
 * pushed cannot be taken back.
 */
#include <stdlib.h>

#include "engine/ahead.h"
#include "engine/batch.h"
#include "engine/document/sketched.h"
#include "engine/engine.h"
#include "recipe/recipe_struct.h"

static void release(struct nd_dedup *d)
{
    for (unsigned i = 0; d->batch && i < nd_pool_threads(d->crew.pool); i++)
        nd_items_release(&d->batch[i]);
    free(d->batch);
    nd_kept_release(&d->kept);
    nd_finder_release(&d->pending);
    nd_finder_release(&d->leaders);
    nd_components_free(d->components);
    nd_complete_free(d->complete);
    nd_column_release(&d->class_of);
    nd_column_release(&d->withdrawn);
    nd_ahead_free(d->ahead);
    nd_crew_release(&d->crew);
    nd_engine_plan_release(&d->plan);
    free(d);
}

static bool make_parts(struct nd_dedup *d, const struct nd_dedup_params *params,
                       const struct nd_text_source *source, struct nd_error *err)
{
    unsigned n = nd_pool_threads(d->crew.pool);

    if (nd_engine_plan_init(&d->plan, params, err) ||
        nd_kept_init(&d->kept, &d->plan, source, d->crew.pool, err) ||
        !nd_finder_init(&d->leaders, &d->plan, err) || !nd_finder_init(&d->pending, &d->plan, err))
        return false;
    d->batch = calloc(n, sizeof *d->batch);
    if (!d->batch) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return false;
    }
    for (unsigned i = 0; i < n; i++)
        d->batch[i].d = d;
    return nd_crew_init(&d->crew, &d->plan, err);
}

static struct nd_dedup *make(struct nd_pool *pool, const struct nd_dedup_params *params,
                             const struct nd_text_source *source, struct nd_error *err)
{
    struct nd_dedup *d;

    if (nd_dedup_params_check(params, err))
        return NULL;
    if (source && (!source->fetch || !source->keep)) {
        nd_fail(err, ND_EINVAL, "a text source needs both functions, fetch and keep");
        return NULL;
    }
    d = calloc(1, sizeof *d);
    if (!d) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    d->crew.pool = pool;
    if (make_parts(d, params, source, err))
        return d;
    release(d);
    return NULL;
}

/* Batches may be matched ahead where the keys of a document are those of the tables of the index.
 * False: out of memory. */
static bool begin_ahead(struct nd_dedup *d, struct nd_error *err)
{
    unsigned n = nd_pool_threads(d->crew.pool);

    if (n == 1 || d->plan.params.cluster != ND_CLUSTER_STAR || d->kept.finder.signatures ||
        d->kept.finder.containers || d->plan.params.candidates == ND_CANDIDATES_ALL)
        return true;
    d->ahead = nd_ahead_new(d->crew.pool);
    if (!d->ahead)
        nd_fail(err, ND_ENOMEM, "out of memory for batches of %u threads", n);
    return d->ahead != NULL;
}

/* The index of a run over files begins with 14 MB: whole huge pages, and it skips the first growths,
 * of which each would fill it again.  A program may have an engine for each of its users, so
 * nd_dedup_new begins small. */
struct nd_dedup *nd_dedup_new_on(struct nd_pool *pool, const struct nd_dedup_params *params,
                                 const struct nd_text_source *source, struct nd_error *err)
{
    enum { FIRST_IN_BATCH = 1000 };
    struct nd_dedup *d = make(pool, params, source, err);
    size_t first = params->first_documents ? params->first_documents : ND_FIRST_DOCUMENTS;

    if (!d || (begin_ahead(d, err) && nd_index_reserve(d->kept.finder.index, first, err) == ND_OK &&
               nd_index_reserve(d->leaders.index, FIRST_IN_BATCH, err) == ND_OK &&
               nd_index_reserve(d->pending.index, FIRST_IN_BATCH, err) == ND_OK))
        return d;
    release(d);
    return NULL;
}

struct nd_dedup *nd_dedup_new_with(const struct nd_dedup_params *params,
                                   const struct nd_text_source *source, struct nd_error *err)
{
    struct nd_pool *pool = nd_dedup_params_check(params, err) ? NULL
                           : params->pin_threads ? nd_pool_new_pinned(params->threads, err)
                                                 : nd_pool_new(params->threads, err);
    struct nd_dedup *d = pool ? make(pool, params, source, err) : NULL;

    if (d)
        d->crew.owns_pool = true;
    else
        nd_pool_free(pool);
    return d;
}

struct nd_dedup_options nd_dedup_options_default(void)
{
    return (struct nd_dedup_options){.cache_bytes = nd_dedup_params_default().cache_bytes};
}

struct nd_dedup *nd_dedup_new(const struct nd_recipe *recipe,
                              const struct nd_dedup_options *options, struct nd_error *err)
{
    const struct nd_dedup_options defaults = nd_dedup_options_default();
    struct nd_dedup_params params;

    if (nd_recipe_params_check(recipe, err) != ND_OK)
        return NULL;
    options = options ? options : &defaults;
    params = nd_recipe_dedup_params(recipe);
    if (options->makes_pairs)
        params.cluster = ND_CLUSTER_PAIRS;
    params.threads = options->threads;
    params.pin_threads = options->pin_threads;
    params.cache_bytes = options->cache_bytes;
    params.takes_sketches = options->takes_sketches;
    return nd_dedup_new_with(&params, options->source, err);
}

/* In a child process, what another thread had begun when the parent forked never ends. */
void nd_dedup_free(struct nd_dedup *d)
{
    if (d && (nd_handle_may_free(&d->handle) || !nd_pool_is_here(d->crew.pool)))
        release(d);
}

void nd_dedup_get_stats(const struct nd_dedup *d, struct nd_dedup_stats *out)
{
    *out = d->stats;
    out->crowded_documents =
        d->kept.finder.containers
            ? nd_containers_crowded(d->kept.finder.containers, &out->crowded_keys)
            : nd_index_crowded(d->kept.finder.index, &out->crowded_keys);
    out->bands = d->plan.index.bands;
    out->rows = d->plan.index.rows;
    out->index_bytes = nd_finder_bytes(&d->kept.finder);
    out->sample = d->plan.containers.sample;
    out->sample_least = d->plan.containers.min_shared;
}

bool nd_dedup_made_row(const struct nd_dedup *d, unsigned worker, size_t item,
                       struct nd_sketch_row *row)
{
    return nd_sketched_from_item(&d->plan, &d->batch[worker].item[item], row);
}

bool nd_dedup_takes_known(const struct nd_dedup *d)
{
    return nd_sketched_takes_known(&d->plan);
}

static enum nd_status enter(struct nd_dedup *d, enum nd_call call, struct nd_error *err)
{
    if (!nd_pool_is_here(d->crew.pool))
        return nd_fail(err, ND_EINVAL,
                       "the engine was created before a fork: its threads are in the parent "
                       "process, so it can only be freed here");
    return nd_handle_enter(&d->handle, call, err);
}

enum nd_status nd_dedup_after_fork(struct nd_dedup *d, struct nd_error *err)
{
    if (nd_pool_is_here(d->crew.pool))
        return ND_OK;
    if (atomic_load(&d->handle.state))
        return nd_fail(err, ND_EINVAL,
                       "the engine was in use when the process forked, so it can only be freed "
                       "here");
    nd_pool_go_alone(d->crew.pool);
    nd_lending_go_alone(d->crew.lending);
    return ND_OK;
}

/* The engine may have been freed by a callback of this call. */
static enum nd_status leave(struct nd_dedup *d, enum nd_call call, enum nd_status status)
{
    if (nd_handle_leave(&d->handle, call))
        release(d);
    return status;
}

static enum nd_status leave_pushed(struct nd_dedup *d, enum nd_status status)
{
    if (status != ND_OK)
        nd_handle_break(&d->handle, status);
    return leave(d, ND_CALL_CHANGES, status);
}

static enum nd_status check_given(bool is_there, const char *what, struct nd_error *err)
{
    return is_there ? ND_OK : nd_fail(err, ND_EINVAL, "%s is NULL", what);
}

/* Refuse a function that is not for what the engine makes; `is_right`: it is. */
static enum nd_status check_kind(const struct nd_dedup *d, bool is_right, const char *function,
                                 struct nd_error *err)
{
    static const char *const name[] = {
        [ND_CLUSTER_STAR] = "stars",
        [ND_CLUSTER_COMPONENTS] = "components",
        [ND_CLUSTER_COMPLETE] = "complete link",
        [ND_CLUSTER_PAIRS] = "pairs",
    };

    if (is_right)
        return ND_OK;
    return nd_fail(err, ND_EINVAL, "%s: this engine was made for %s", function,
                   name[d->plan.params.cluster]);
}

enum nd_status nd_dedup_push(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                             struct nd_decision *decisions, struct nd_error *err)
{
    bool is_star = d->plan.params.cluster == ND_CLUSTER_STAR,
         is_complete = d->plan.params.cluster == ND_CLUSTER_COMPLETE;
    enum nd_status status = enter(d, ND_CALL_CHANGES, err);

    if (status != ND_OK)
        return status;
    status = check_kind(d, is_star || is_complete, "nd_dedup_push", err);
    if (status == ND_OK)
        status = check_given(decisions || !n, "decisions", err);
    if (status == ND_OK)
        status = nd_engine_batch_check(d, items, n, err);
    if (status != ND_OK)
        return leave(d, ND_CALL_CHANGES, status);
    status = nd_engine_batch_begin(d, items, n, decisions, err);
    if (status == ND_OK)
        status = is_star ? nd_push_stars(d->batch, err) : nd_push_complete(d->batch, err);
    return leave_pushed(d, status);
}

enum nd_status nd_dedup_push_prepared(struct nd_dedup *d, unsigned worker,
                                      struct nd_decision *decisions, struct nd_error *err)
{
    enum nd_status status = enter(d, ND_CALL_CHANGES, err);

    if (status != ND_OK)
        return status;
    status = nd_engine_batch_begin_prepared(d, worker, decisions, err);
    if (status == ND_OK)
        status = nd_push_stars(&d->batch[worker], err);
    return leave_pushed(d, status);
}

/* `found` NULL: the documents are compared with nothing. */
static enum nd_status push_pairs(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                                 const char *function, nd_found *found, void *context,
                                 struct nd_error *err)
{
    enum nd_status status =
        check_kind(d, d->plan.params.cluster == ND_CLUSTER_PAIRS, function, err);

    if (status == ND_OK)
        status = nd_engine_batch_check(d, items, n, err);
    if (status != ND_OK)
        return leave(d, ND_CALL_CHANGES, status);
    status = nd_engine_batch_begin(d, items, n, NULL, err);
    if (status == ND_OK)
        status = nd_push_pairs(d->batch, found, context, err);
    return leave_pushed(d, status);
}

enum nd_status nd_dedup_push_pairs(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                                   nd_found *found, void *context, struct nd_error *err)
{
    enum nd_status status = enter(d, ND_CALL_CHANGES, err);

    if (status != ND_OK)
        return status;
    status = check_given(found, "found", err);
    if (status != ND_OK)
        return leave(d, ND_CALL_CHANGES, status);
    return push_pairs(d, items, n, "nd_dedup_push_pairs", found, context, err);
}

enum nd_status nd_dedup_push_prototypes(struct nd_dedup *d, const struct nd_dedup_item *items,
                                        size_t n, struct nd_error *err)
{
    enum nd_status status = enter(d, ND_CALL_CHANGES, err);

    if (status != ND_OK)
        return status;
    return push_pairs(d, items, n, "nd_dedup_push_prototypes", NULL, NULL, err);
}

enum nd_status nd_dedup_withdraw(struct nd_dedup *d, uint64_t document, struct nd_error *err)
{
    enum nd_status status = enter(d, ND_CALL_CHANGES, err);

    if (status != ND_OK)
        return status;
    status = check_kind(d, d->plan.params.cluster == ND_CLUSTER_PAIRS, "nd_dedup_withdraw", err);
    if (status == ND_OK)
        status = nd_withdraw_document(d, document, err);
    return leave(d, ND_CALL_CHANGES, status);
}

static enum nd_status query(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                            const struct nd_query *what, const char *name, struct nd_error *err)
{
    enum nd_status status = enter(d, ND_CALL_READS, err);

    if (status != ND_OK)
        return status;
    status = check_given(what->found, "found", err);
    if (status == ND_OK)
        status = check_kind(d, d->plan.params.cluster == ND_CLUSTER_PAIRS, name, err);
    if (status == ND_OK)
        status = nd_engine_batch_check(d, items, n, err);
    if (status == ND_OK)
        status = nd_query_pairs(d, items, n, what, err);
    return leave(d, ND_CALL_READS, status);
}

enum nd_status nd_dedup_query(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                              nd_found *found, void *context, struct nd_error *err)
{
    const struct nd_query what = {.found = found, .context = context};

    return query(d, items, n, &what, "nd_dedup_query", err);
}

enum nd_status nd_dedup_judge(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                              struct nd_decision *decisions, struct nd_dedup_stats *counts,
                              nd_found *found, void *context, struct nd_error *err)
{
    const struct nd_query what = {found, context, decisions, counts};

    return query(d, items, n, &what, "nd_dedup_judge", err);
}

enum nd_status nd_dedup_push_components(struct nd_dedup *d, const struct nd_dedup_item *items,
                                        size_t n, struct nd_error *err)
{
    enum nd_status status = enter(d, ND_CALL_CHANGES, err);

    if (status != ND_OK)
        return status;
    status = check_kind(d, d->plan.params.cluster == ND_CLUSTER_COMPONENTS,
                        "nd_dedup_push_components", err);
    if (status == ND_OK)
        status = nd_engine_batch_check(d, items, n, err);
    if (status != ND_OK)
        return leave(d, ND_CALL_CHANGES, status);
    status = nd_engine_batch_begin(d, items, n, NULL, err);
    if (status == ND_OK)
        status = nd_push_components(d->batch, err);
    return leave_pushed(d, status);
}

enum nd_status nd_dedup_components(struct nd_dedup *d, uint64_t first, size_t n,
                                   struct nd_decision *decisions, struct nd_component_via *via,
                                   struct nd_error *err)
{
    enum nd_status status = enter(d, ND_CALL_CHANGES, err);

    if (status != ND_OK)
        return status;
    status =
        check_kind(d, d->plan.params.cluster == ND_CLUSTER_COMPONENTS, "nd_dedup_components", err);
    if (status == ND_OK)
        status = check_given((decisions && via) || !n, "decisions or via", err);
    if (status == ND_OK)
        status = nd_decide_components(d, first, n, decisions, via, err);
    return leave(d, ND_CALL_CHANGES, status);
}
