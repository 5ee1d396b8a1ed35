/* calls.c - the calls of dedup.h: let in one at a time, checked, and told from one that failed */
#include "engine/engine.h"
#include "engine/state.h"

static enum nd_status enter(struct nd_dedup *d, enum nd_call call, struct nd_error *err)
{
    if (!nd_pool_is_here(d->pool))
        return nd_fail(err, ND_EINVAL,
                       "the engine was made before a fork: its threads are in the parent process, "
                       "and here it can only be freed");
    return nd_handle_enter(&d->handle, call, err);
}

/* The engine may have been freed by a callback of this call. */
static enum nd_status leave(struct nd_dedup *d, enum nd_call call, enum nd_status status)
{
    if (nd_handle_leave(&d->handle, call))
        nd_dedup_release(d);
    return status;
}

/* What is pushed has to be pushed as a whole: what fails half-way cannot be taken back. */
static enum nd_status leave_pushed(struct nd_dedup *d, enum nd_status status)
{
    if (status != ND_OK)
        nd_handle_break(&d->handle, status);
    return leave(d, ND_CALL_CHANGES, status);
}

/* In a child process, what another thread had begun when the parent forked never ends. */
void nd_dedup_free(struct nd_dedup *d)
{
    if (d && (nd_handle_may_free(&d->handle) || !nd_pool_is_here(d->pool)))
        nd_dedup_release(d);
}

static enum nd_status need(bool is_there, const char *what, struct nd_error *err)
{
    return is_there ? ND_OK : nd_fail(err, ND_EINVAL, "no %s: it is NULL", what);
}

enum nd_status nd_dedup_push(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                             struct nd_decision *decisions, struct nd_error *err)
{
    enum nd_status status = enter(d, ND_CALL_CHANGES, err);

    if (status != ND_OK)
        return status;
    status = need(decisions || !n, "room for decisions", err);
    if (status == ND_OK)
        status = nd_batch_check(d, ND_PUSHED_STARS, items, n, err);
    if (status != ND_OK)
        return leave(d, ND_CALL_CHANGES, status);
    return leave_pushed(d, d->params.cluster == ND_CLUSTER_COMPLETE
                               ? nd_push_complete(d, items, n, decisions, err)
                               : nd_push_stars(d, items, n, decisions, err));
}

enum nd_status nd_dedup_push_pairs(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                                   nd_found *found, void *context, struct nd_error *err)
{
    enum nd_status status = enter(d, ND_CALL_CHANGES, err);

    if (status != ND_OK)
        return status;
    status = need(found, "callback for pairs", err);
    if (status == ND_OK)
        status = nd_batch_check(d, ND_PUSHED_PAIRS, items, n, err);
    if (status != ND_OK)
        return leave(d, ND_CALL_CHANGES, status);
    return leave_pushed(d, nd_push_pairs(d, items, n, found, context, err));
}

enum nd_status nd_dedup_push_prototypes(struct nd_dedup *d, const struct nd_dedup_item *items,
                                        size_t n, struct nd_error *err)
{
    enum nd_status status = enter(d, ND_CALL_CHANGES, err);

    if (status != ND_OK)
        return status;
    status = nd_batch_check(d, ND_PUSHED_PAIRS, items, n, err);
    if (status != ND_OK)
        return leave(d, ND_CALL_CHANGES, status);
    return leave_pushed(d, nd_push_pairs(d, items, n, NULL, NULL, err));
}

enum nd_status nd_dedup_ask(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                            nd_found *found, void *context, struct nd_error *err)
{
    enum nd_status status = enter(d, ND_CALL_READS, err);

    if (status != ND_OK)
        return status;
    status = need(found, "callback for pairs", err);
    if (status == ND_OK)
        status = nd_batch_check(d, ND_PUSHED_PAIRS, items, n, err);
    if (status == ND_OK)
        status = nd_ask(d, items, n, found, context, err);
    return leave(d, ND_CALL_READS, status);
}

enum nd_status nd_dedup_push_components(struct nd_dedup *d, const struct nd_dedup_item *items,
                                        size_t n, struct nd_error *err)
{
    enum nd_status status = enter(d, ND_CALL_CHANGES, err);

    if (status != ND_OK)
        return status;
    status = nd_batch_check(d, ND_PUSHED_COMPONENTS, items, n, err);
    if (status != ND_OK)
        return leave(d, ND_CALL_CHANGES, status);
    return leave_pushed(d, nd_push_components(d, items, n, err));
}

enum nd_status nd_dedup_components(struct nd_dedup *d, uint64_t first, size_t n,
                                   struct nd_decision *decisions, struct nd_component_via *via,
                                   struct nd_error *err)
{
    enum nd_status status = enter(d, ND_CALL_CHANGES, err);

    if (status != ND_OK)
        return status;
    status = need((decisions && via) || !n, "room for decisions", err);
    if (status == ND_OK)
        status = nd_decide_components(d, first, n, decisions, via, err);
    return leave(d, ND_CALL_CHANGES, status);
}

enum nd_status nd_dedup_push_prepared(struct nd_dedup *d, unsigned worker,
                                      struct nd_decision *decisions, struct nd_error *err)
{
    enum nd_status status = enter(d, ND_CALL_CHANGES, err);

    if (status != ND_OK)
        return status;
    return leave_pushed(d, nd_push_prepared_stars(d, worker, decisions, err));
}
