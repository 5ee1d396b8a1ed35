/* audit_result.c - what an audit counts, and the clusters that are false */
#include "uses/audit/audit_result.h"

#include <stdlib.h>

#include "base/memory.h"

/* Whether a removed document shares less with the kept one of its cluster than another one does. */
static bool is_farther(const struct nd_audit_removed *r, const struct nd_audit_removed *than)
{
    return (uint64_t)r->shared * than->either < (uint64_t)than->shared * r->either;
}

/* All clusters, by their numbers. */
static struct nd_audit_cluster *count_clusters(const struct nd_audit_join *j)
{
    struct nd_audit_cluster *cluster = calloc(j->removals->n_clusters + 1, sizeof *cluster);

    for (size_t i = 0; cluster && i < j->n_removed; i++) {
        const struct nd_audit_removed *r = &j->removed[i];
        struct nd_audit_cluster *c;

        if (r->cluster == ND_REMOVAL_NONE || !r->either)
            continue;
        c = &cluster[r->cluster];
        c->number = r->cluster;
        if (!c->removed++ || is_farther(r, &j->removed[c->farthest]))
            c->farthest = (uint32_t)i;
        c->far += nd_audit_is_far(j, r);
    }
    return cluster;
}

enum nd_status nd_audit_count(const struct nd_audit_join *j, struct nd_audit_result *result,
                              struct nd_error *err)
{
    struct nd_audit_cluster *cluster = count_clusters(j);

    if (!cluster)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    *result = (struct nd_audit_result){
        .removed = j->n_removed, .kept = j->run->places.count, .doubtful = j->n_doubtful};
    for (size_t i = 0; i < j->removals->n_clusters; i++) {
        const struct nd_audit_cluster *c = &cluster[i];

        result->clustered += c->removed;
        result->far += c->far;
        if (!c->removed || c->far < c->removed)
            continue;
        result->false_clusters++;
        if (c->removed > result->largest_false)
            result->largest_false = c->removed;
    }
    free(cluster);
    return ND_OK;
}

/* A cluster, and the number of its kept document. */
struct ranked_cluster {
    struct nd_audit_cluster cluster;
    uint32_t kept;
};

static int by_far(const void *left, const void *right)
{
    const struct ranked_cluster *a = left, *b = right;

    if (a->cluster.far != b->cluster.far)
        return a->cluster.far > b->cluster.far ? -1 : 1;
    if (a->kept != b->kept)
        return a->kept < b->kept ? -1 : 1;
    return a->cluster.farthest < b->cluster.farthest ? -1 : 1;
}

struct nd_audit_cluster *nd_audit_far_clusters(const struct nd_audit_join *j, size_t *n)
{
    struct nd_audit_cluster *cluster = count_clusters(j);
    struct ranked_cluster *ranked = nd_alloc_array(j->removals->n_clusters + 1, sizeof *ranked);

    *n = 0;
    for (size_t i = 0; cluster && ranked && i < j->removals->n_clusters; i++)
        if (cluster[i].far)
            ranked[(*n)++] = (struct ranked_cluster){cluster[i], j->removals->cluster[i].kept};
    if (*n)
        qsort(ranked, *n, sizeof *ranked, by_far);
    for (size_t i = 0; i < *n; i++)
        cluster[i] = ranked[i].cluster;
    if (!ranked) {
        free(cluster);
        cluster = NULL;
    }
    free(ranked);
    return cluster;
}

/* ---- Shares ------------------------------------------------------------------------------------- */

struct nd_rated nd_audit_unmatched(const struct nd_audit_result *r)
{
    const struct nd_judged_stratum doubtful = {
        .size = r->doubtful, .judged = r->searched, .same = r->searched - r->join_missed};
    const double share = r->removed ? (double)r->doubtful / (double)r->removed : 0;
    struct nd_rated rated = {0};

    if (r->doubtful)
        rated = nd_share_weighted(&doubtful, 1);
    rated.value *= share;
    rated.low *= share;
    rated.high *= share;
    return rated;
}

struct nd_rated nd_audit_missed(const struct nd_audit_result *r)
{
    const struct nd_judged_stratum kept = {
        .size = r->kept, .judged = r->kept_sampled, .same = r->missed};
    const struct nd_rated none = {.value = -1};

    return r->kept_sampled ? nd_share_weighted(&kept, 1) : none;
}
