/* streamed.c - documents pushed as they come, and what an engine says of them */
#include "loads/streamed.h"

#include <stdlib.h>

#include "base/memory.h"
#include "engine/engine.h"

void nd_streamed_release(struct nd_streamed *s)
{
    free(s->decision);
    free(s->via);
}

static enum nd_status reserve(struct nd_streamed *s, size_t n, struct nd_error *err)
{
    return ND_RESERVE(s->decision, &s->decisions, n) ? ND_OK
                                                     : nd_fail(err, ND_ENOMEM, "out of memory");
}

/* Report n documents from this one on, whose decisions are at hand. */
static enum nd_status report(struct nd_streamed *s, uint64_t from, size_t n, bool has_via,
                             struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < n; i++)
        status =
            s->decided(s->context, from + i, &s->decision[i], has_via ? &s->via[i] : NULL, err);
    return status;
}

/* Stars and complete link say at once what becomes of a document. */
static enum nd_status push_clusters(struct nd_streamed *s, const struct nd_dedup_item *items,
                                    size_t n, struct nd_error *err)
{
    enum nd_status status = reserve(s, n, err);

    if (status == ND_OK)
        status = nd_dedup_push(s->dedup, items, n, s->decision, err);
    return status == ND_OK ? report(s, s->n, n, false, err) : status;
}

static enum nd_status compare_with_old(struct nd_streamed *s, const struct nd_dedup_item *items,
                                       size_t n, struct nd_error *err)
{
    enum nd_status status;

    if (!s->judges)
        return nd_dedup_query(s->dedup, items, n, s->found, s->context, err);
    status = reserve(s, n, err);
    return status == ND_OK ? nd_dedup_judge(s->dedup, items, n, s->decision, &s->judged, s->found,
                                            s->context, err)
                           : status;
}

static enum nd_status push(struct nd_streamed *s, const struct nd_dedup_item *items, size_t n,
                           struct nd_error *err)
{
    if (s->cluster == ND_CLUSTER_PAIRS)
        return nd_dedup_push_pairs(s->dedup, items, n, s->found, s->context, err);
    if (s->cluster == ND_CLUSTER_COMPONENTS)
        return nd_dedup_push_components(s->dedup, items, n, err);
    return push_clusters(s, items, n, err);
}

enum nd_status nd_streamed_push(struct nd_streamed *s, const struct nd_dedup_item *items, size_t n,
                                struct nd_error *err)
{
    enum nd_status status =
        s->only_old ? compare_with_old(s, items, n, err) : push(s, items, n, err);

    s->n += n;
    return status;
}

enum nd_status nd_streamed_push_old(struct nd_streamed *s, const struct nd_dedup_item *items,
                                    size_t n, struct nd_error *err)
{
    enum nd_status status =
        s->only_old ? nd_dedup_push_prototypes(s->dedup, items, n, err) : push(s, items, n, err);

    s->n += n;
    s->n_old = s->n;
    return status;
}

enum nd_status nd_streamed_ask(struct nd_streamed *s, uint64_t from, size_t n, struct nd_error *err)
{
    enum nd_status status = reserve(s, n, err);

    if (status == ND_OK && !ND_RESERVE(s->via, &s->vias, n))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK)
        status = nd_dedup_components(s->dedup, from, n, s->decision, s->via, err);
    return status == ND_OK ? report(s, from, n, true, err) : status;
}
