/* numbers.c - documents that are indexed, kept or not: copies of them, and two of them compared */
#include <stdlib.h>
#include <string.h>

#include "engine/pairs.h"

/* The same bytes as a document of an earlier batch, or as an earlier one of this. */
static void find_copy(void *context, size_t place, unsigned worker)
{
    struct nd_batch_job *job = context;
    struct nd_worker *w = &job->d->worker[worker];
    struct nd_item *item = &job->item[place];
    uint32_t number;

    if (item->first_same != place) {
        item->state = ND_ITEM_FOLLOWS;
    } else if (!w->status && nd_kept_find_bytes(job->d, w, item, &number) > 0) {
        item->state = ND_ITEM_REMOVED;
        item->kept = (struct nd_kept_ref){number, false};
    }
}

enum nd_status nd_items_find_copies(struct nd_batch_job *job, struct nd_error *err)
{
    nd_pool_run(job->d->pool, job->n, find_copy, job);
    return nd_workers_status(job->d, err);
}

/* What the signatures have in common: of near ones, as in stars. */
static void describe_agreement(const struct nd_dedup *d, uint32_t a, uint32_t b,
                               struct nd_decision *out)
{
    struct nd_match match;

    nd_matching_agree_stored(d->matching, d->signatures, a, b, &match);
    memcpy(out->agreement, match.evidence.agreement, sizeof match.evidence.agreement);
    out->distance = match.distance;
}

/* The same tokens: their hashes propose it, the texts say it. */
static enum nd_status find_same_tokens(struct nd_dedup *d, struct nd_worker *w, uint32_t a,
                                       uint32_t b, struct nd_decision *out)
{
    struct nd_view x, y;
    char *copy;

    if (nd_dedup_ignores_text(d) ||
        nd_index_identity(d->index, a) != nd_index_identity(d->index, b))
        return ND_OK;
    if (nd_fetch_text(d, w, a, &x))
        return w->status;
    copy = malloc(x.len + 1); /* the next text takes its place */
    if (!copy)
        return nd_worker_fail(w, ND_ENOMEM, "comparing documents");
    if (x.len)
        memcpy(copy, x.data, x.len);
    if (nd_fetch_text(d, w, b, &y) == ND_OK &&
        nd_same_text(d, w, (struct nd_view){copy, x.len}, y) > 0)
        out->identical = ND_IDENTICAL_TOKENS;
    free(copy);
    return w->status;
}

enum nd_status nd_numbers_compare(struct nd_dedup *d, struct nd_worker *w, uint32_t a, uint32_t b,
                                  struct nd_decision *out)
{
    uint32_t n_a = nd_index_shingles(d->index, a);
    const uint64_t *shingle;
    size_t n;

    out->is_short = nd_index_is_short(d->index, a);
    out->is_empty = out->is_short && n_a == 0;
    out->verified = 1;
    out->distance = (unsigned)__builtin_popcountll(nd_index_simhash(d->index, a) ^
                                                   nd_index_simhash(d->index, b));
    if (a == b) {
        out->identical = ND_IDENTICAL_BYTES;
        out->overlap = (struct nd_overlap){n_a, n_a, n_a};
        return ND_OK;
    }
    if (d->matching)
        describe_agreement(d, a, b, out);
    if (nd_fetch_shingles(d, w, a, &shingle, &n))
        return w->status;
    if (!nd_shingle_set_build(&w->set, shingle, n))
        return nd_worker_fail(w, ND_ENOMEM, "comparing documents");
    if (nd_fetch_shingles(d, w, b, &shingle, &n))
        return w->status;
    out->overlap = (struct nd_overlap){n_a, n, nd_shingle_set_shared(&w->set, shingle, n, 0)};
    return find_same_tokens(d, w, a, b, out);
}
