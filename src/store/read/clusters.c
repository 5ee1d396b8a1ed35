/* clusters.c - the clusters of the newest documents that a caller sees: the largest, the newest, those
 * that grow
 *
 * The leader of each document is found as nd_session_cluster finds it.  How many documents and pairs
 * are looked at is bounded, so that an answer takes no longer in a store of any size.
 */
#include <stdlib.h>
#include <string.h>

#include "base/view.h"
#include "store/read/recent.h"
#include "store/search/verdict.h"

/* A document of the walk, and the entry that leads its cluster. */
struct cluster_member {
    uint32_t leader;
    uint64_t created;
};

/* A cluster before it is described: what it is sorted by, the greatest first. */
struct cluster_group {
    uint32_t leader;
    struct nd_cluster_row figures;
    struct nd_place place;
};

struct clustering {
    struct nd_recent_walk walk;
    const struct nd_cluster_query *query;
    struct nd_leaders *leaders;
    const struct nd_sketching *sketching;
    uint64_t hour_ago, day_ago;
    struct cluster_member *member;
    size_t n_members, members_capacity;
    struct cluster_group *group;
    size_t n_groups, groups_capacity;
};

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory for an answer");
}

static uint64_t before(uint64_t now, uint64_t seconds)
{
    return now > seconds ? now - seconds : 0;
}

/* ---- Members ---- */

/* Find the entry that leads a document's cluster.  1; 0: nothing is a duplicate of such a text. */
static int find_leader(struct clustering *c, const struct nd_document_row *row, uint32_t *leader,
                       struct nd_error *err)
{
    struct nd_near_entry own, best;
    struct nd_entry entry;
    enum nd_status status = nd_reader_entry(&c->walk.session->reader, row->entry, &entry, err);
    int found;

    if (status != ND_OK)
        return (int)status;
    if (!nd_entry_equals_itself(c->sketching, &entry))
        return 0;
    own = nd_near_itself(c->sketching, row->entry, entry.label_set, entry.row.n_shingles);
    found = nd_leaders_of(c->leaders, c->sketching, &own, row->order, &best, err);
    *leader = found > 0 ? best.number : row->entry;
    return found < 0 ? found : 1;
}

static enum nd_status add_member(struct clustering *c, const struct nd_recent_cursor *document,
                                 struct nd_error *err)
{
    struct nd_document_row row;
    uint32_t leader = 0;
    enum nd_status status = nd_recent_row(&c->walk, document, &row, err);
    int found = status == ND_OK ? find_leader(c, &row, &leader, err) : (int)status;

    if (found <= 0)
        return (enum nd_status)found;
    if (!ND_RESERVE(c->member, &c->members_capacity, c->n_members + 1))
        return no_memory(err);
    c->member[c->n_members++] = (struct cluster_member){leader, document->created};
    return ND_OK;
}

/* Look at the newest documents, up to the bounds. */
static enum nd_status collect(struct clustering *c, struct nd_clusters *out, struct nd_error *err)
{
    const struct nd_recent_cursor *document;
    enum nd_status status = ND_OK;
    int found = 0;

    while (status == ND_OK && (found = nd_recent_next(&c->walk, &document, err)) > 0) {
        out->was_cut = out->documents == ND_STORE_SCANNED || c->leaders->n_read >= ND_STORE_PAIRS;
        if (out->was_cut)
            break;
        out->documents++;
        status = add_member(c, document, err);
    }
    out->was_cut |= c->leaders->was_cut;
    out->work.pairs = c->leaders->n_pairs;
    return found < 0 ? (enum nd_status)found : status;
}

/* ---- Groups ---- */

static int compare_members(const void *a, const void *b)
{
    const struct cluster_member *x = a, *y = b;

    return x->leader < y->leader ? -1 : x->leader > y->leader;
}

/* The two numbers by which clusters come, the greater first. */
static void rank_of(const struct nd_cluster_row *figures, enum nd_cluster_order order,
                    uint64_t rank[2])
{
    switch (order) {
    case ND_CLUSTERS_NEWEST:
        rank[0] = figures->newest;
        rank[1] = figures->size;
        return;
    case ND_CLUSTERS_GROWTH:
        rank[0] = figures->last_hour << 32 | figures->last_day;
        rank[1] = figures->size;
        return;
    default: rank[0] = figures->size; rank[1] = figures->newest;
    }
}

/* The document that leads a cluster: its row, and its id in the transaction. */
static enum nd_status get_leader(struct clustering *c, uint32_t entry, struct nd_document_row *row,
                                 struct nd_view *id, struct nd_error *err)
{
    struct nd_entry of;
    uint64_t order;
    enum nd_status status = nd_reader_entry(&c->walk.session->reader, entry, &of, err);
    int found;

    if (status == ND_OK)
        status = nd_leaders_first(c->leaders, entry, &order, id, err);
    if (status != ND_OK)
        return status;
    found = nd_catalog_get_document(c->walk.session->reader.txn, of.label_set, *id, row, err);
    if (found == 0)
        return nd_fail(err, ND_EINPUT, "an entry names a document that is missing");
    return found < 0 ? (enum nd_status)found : ND_OK;
}

/* Make the place of a cluster in a list: its rank, then its leader's place. */
static enum nd_status set_place(struct clustering *c, struct cluster_group *group,
                                struct nd_error *err)
{
    struct nd_recent_cursor leader = {.set = 0};
    struct nd_document_row row;
    struct nd_place at;
    struct nd_key head = {0};
    uint64_t rank[2];
    enum nd_status status = get_leader(c, group->leader, &row, &leader.id, err);

    if (status != ND_OK)
        return status;
    leader.created = row.created;
    leader.hash = nd_text_hash(nd_label_sets_bytes(c->walk.session->store->sets, row.label_set));
    leader.key = nd_key_recent(row.label_set, row.created, leader.id);
    at = nd_recent_place(&leader);
    rank_of(&group->figures, c->query->order, rank);
    nd_key_add_64(&head, rank[0]);
    nd_key_add_64(&head, rank[1]);
    memcpy(group->place.bytes, head.bytes, head.len);
    memcpy(group->place.bytes + head.len, at.bytes, at.len);
    group->place.len = head.len + at.len;
    return ND_OK;
}

/* Count the members of a cluster, which has at least two. */
static enum nd_status add_group(struct clustering *c, const struct cluster_member *member, size_t n,
                                struct nd_error *err)
{
    struct nd_cluster_row figures = {.size = n};

    for (size_t i = 0; i < n; i++) {
        const uint64_t created = member[i].created;

        figures.newest = created > figures.newest ? created : figures.newest;
        figures.last_hour += created > c->hour_ago;
        figures.last_day += created > c->day_ago;
    }
    if (!ND_RESERVE(c->group, &c->groups_capacity, c->n_groups + 1))
        return no_memory(err);
    c->group[c->n_groups] = (struct cluster_group){.leader = member->leader, .figures = figures};
    return set_place(c, &c->group[c->n_groups++], err);
}

static enum nd_status make_groups(struct clustering *c, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t n;

    if (c->n_members)
        qsort(c->member, c->n_members, sizeof *c->member, compare_members);
    for (size_t i = 0; status == ND_OK && i < c->n_members; i += n) {
        for (n = 1; i + n < c->n_members && c->member[i + n].leader == c->member[i].leader; n++)
            ;
        if (n > 1)
            status = add_group(c, &c->member[i], n, err);
    }
    return status;
}

/* ---- The list ---- */

static int compare_places(const struct nd_place *x, const struct nd_place *y)
{
    return nd_view_compare((struct nd_view){(const char *)x->bytes, x->len},
                           (struct nd_view){(const char *)y->bytes, y->len});
}

static int greatest_first(const void *a, const void *b)
{
    const struct cluster_group *x = a, *y = b;

    return compare_places(&y->place, &x->place);
}

static enum nd_status describe(struct clustering *c, const struct cluster_group *group,
                               struct nd_cluster_row *out, struct nd_error *err)
{
    struct nd_document_row row;
    struct nd_view id;
    enum nd_status status = get_leader(c, group->leader, &row, &id, err);

    *out = group->figures;
    return status == ND_OK ? nd_session_describe(c->walk.session, id, &row, &out->leader, err)
                           : status;
}

static enum nd_status give(struct clustering *c, struct nd_clusters *out, struct nd_error *err)
{
    struct nd_cluster_row *list = nd_alloc_array(c->query->limit + 1, sizeof *list);
    enum nd_status status = list ? ND_OK : no_memory(err);

    c->walk.session->list = list;
    out->cluster = list;
    out->total = c->n_groups;
    if (c->n_groups)
        qsort(c->group, c->n_groups, sizeof *c->group, greatest_first);
    for (size_t i = 0; status == ND_OK && i < c->n_groups; i++) {
        const struct cluster_group *group = &c->group[i];

        if (c->query->after && compare_places(&group->place, c->query->after) >= 0)
            continue;
        out->has_more = out->n == c->query->limit;
        if (out->has_more)
            break;
        out->next = group->place;
        status = describe(c, group, &list[out->n++], err);
    }
    return status;
}

enum nd_store_result nd_session_clusters(struct nd_session *session, const struct nd_caller *caller,
                                         const struct nd_cluster_query *query,
                                         struct nd_clusters *out, struct nd_error *err)
{
    struct clustering c = {.query = query,
                           .leaders = &session->leaders,
                           .sketching = &session->store->sketching,
                           .hour_ago = before(nd_store_now(session->store), 3600),
                           .day_ago = before(nd_store_now(session->store), 86400)};
    struct nd_clusters clusters = {.n = 0};
    enum nd_status status = nd_session_begin(session, caller, err);

    if (status != ND_OK)
        return nd_store_result_of(status);
    nd_session_new_list(session);
    status = nd_recent_begin(&c.walk, session, NULL, err);
    if (status == ND_OK)
        status = collect(&c, &clusters, err);
    if (status == ND_OK)
        status = make_groups(&c, err);
    if (status == ND_OK)
        status = give(&c, &clusters, err);
    nd_recent_end(&c.walk);
    nd_session_end(session);
    free(c.member);
    free(c.group);
    if (status == ND_OK)
        *out = clusters;
    return nd_store_result_of(status);
}
