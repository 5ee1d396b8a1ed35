/* neighbours.c - the documents near a document, and those of its cluster */
#include <stdlib.h>
#include <string.h>

#include "store/read/session_state.h"
#include "store/search/verdict.h"

/* A document that is to be given: one that has the text of an entry. */
struct found_near {
    struct nd_near_entry near;
    uint64_t order;    /* of the document */
    struct nd_view id; /* within the transaction */
};

/* The documents found, and how they are sorted. */
struct cluster_listing {
    struct nd_session *session;
    const struct nd_sketching *sketching;
    uint32_t entry; /* what the likeness is to: its number, its row */
    struct nd_entry row;
    size_t limit, total;
    struct found_near *found;
    size_t n, capacity;
    size_t n_read;              /* documents that have a text */
    struct nd_near_entry *near; /* a copy of what leaders->hit had */
    size_t n_near;
};

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory for an answer");
}

/* The document in question, within an answer. */
static enum nd_store_result begin(struct nd_session *session, const struct nd_caller *caller,
                                  const struct nd_document_query *query,
                                  struct nd_document_row *row, struct nd_entry *entry,
                                  struct nd_error *err)
{
    enum nd_status status = nd_session_begin(session, caller, err);
    enum nd_store_result result;

    if (status != ND_OK)
        return nd_store_result_of(status);
    nd_session_new_list(session);
    result = nd_session_find(session, query, row, err);
    if (result == ND_STORE_OK) {
        status = nd_reader_entry(&session->reader, row->entry, entry, err);
        result = nd_store_result_of(status);
    }
    if (result != ND_STORE_OK)
        nd_session_end(session);
    return result;
}

/* Read as many pairs as the answer is to have documents. */
static void read_up_to(struct nd_session *session, size_t limit)
{
    if (limit > session->leaders.most)
        session->leaders.most = limit;
}

/* An entry as near as can be to itself. */
static struct nd_near_entry itself(const struct nd_sketching *sketching, uint32_t number,
                                   const struct nd_entry *entry)
{
    return nd_near_itself(sketching, number, entry->label_set, entry->row.n_shingles);
}

/* Documents with the text of an entry: all, or those of some orders. */
struct span {
    uint64_t from, to; /* the first order, and one beyond the last */
    bool is_all;
};
static const struct span every = {0, UINT64_MAX, true};

static bool add_found(struct cluster_listing *l, const struct nd_near_entry *near, uint64_t order,
                      struct nd_view id)
{
    if (!ND_RESERVE(l->found, &l->capacity, l->n + 1))
        return false;
    l->found[l->n++] = (struct found_near){.near = *near, .order = order, .id = id};
    return true;
}

/* Whether one more document that has a text may be read; `n` of its span were. */
static bool may_read(struct cluster_listing *l, size_t n)
{
    if (n < l->session->leaders.most && l->n_read < ND_STORE_PAIRS) {
        l->n_read++;
        return true;
    }
    l->session->leaders.was_cut = true;
    return false;
}

/* Add the first documents of a span, up to the limit, but not the one of an order; count all, as far
 * as they are read. */
static enum nd_status add_holders(struct cluster_listing *l, const struct nd_near_entry *near,
                                  struct span span, uint64_t but, struct nd_error *err)
{
    struct nd_txn *txn = l->session->reader.txn;
    struct nd_entry entry;
    struct nd_view id;
    uint64_t order = span.from;
    size_t n = 0, n_read = 0;
    int found = 0;
    enum nd_status status = nd_reader_entry(&l->session->reader, near->number, &entry, err);

    if (status != ND_OK)
        return status;
    l->total += span.is_all ? entry.n_documents : 0;
    for (; (n < l->limit || !span.is_all) &&
           (found = nd_catalog_next_holder(txn, near->number, &order, &id, err)) == 1 &&
           order < span.to;
         order++) {
        if (!may_read(l, n_read++))
            break;
        l->total += !span.is_all;
        if (order == but || n == l->limit)
            continue;
        if (!add_found(l, near, order, id))
            return no_memory(err);
        n++;
    }
    return found < 0 ? (enum nd_status)found : ND_OK;
}

/* ---- In order ---- */

/* The listing is not known to qsort; a merge keeps what is before in front. */
static void merge(struct found_near *x, size_t n_x, const struct found_near *y, size_t n_y,
                  struct found_near *to, const struct cluster_listing *l,
                  int (*compare)(const struct cluster_listing *l, const struct found_near *x,
                                 const struct found_near *y))
{
    size_t i = 0, j = 0;

    while (i < n_x || j < n_y)
        if (j == n_y || (i < n_x && compare(l, &x[i], &y[j]) <= 0))
            *to++ = x[i++];
        else
            *to++ = y[j++];
}

static bool sort_found(struct cluster_listing *l,
                       int (*compare)(const struct cluster_listing *l, const struct found_near *x,
                                      const struct found_near *y))
{
    struct found_near *other = nd_alloc_array(l->n + 1, sizeof *other);

    if (!other)
        return false;
    for (size_t width = 1; width < l->n; width *= 2) {
        struct found_near *from = l->found;

        for (size_t at = 0; at < l->n; at += 2 * width) {
            size_t n_x = l->n - at < width ? l->n - at : width;
            size_t rest = l->n - at - n_x, n_y = rest < width ? rest : width;

            merge(from + at, n_x, from + at + n_x, n_y, other + at, l, compare);
        }
        l->found = other;
        other = from;
        l->capacity = l->n + 1;
    }
    free(other);
    return true;
}

static int nearest_first(const struct cluster_listing *l, const struct found_near *x,
                         const struct found_near *y)
{
    return nd_near_compare(l->sketching, l->row.row.n_shingles, &x->near, x->order, &y->near,
                           y->order);
}

static int earliest_first(const struct cluster_listing *l, const struct found_near *x,
                          const struct found_near *y)
{
    (void)l;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* ---- The answer ---- */

static enum nd_status describe(struct cluster_listing *l, const struct found_near *found,
                               struct nd_neighbour *out, struct nd_error *err)
{
    struct nd_session *session = l->session;
    struct nd_document_row row;
    enum nd_status status;
    uint64_t first;
    int leads, is_there = nd_catalog_get_document(session->reader.txn, found->near.set, found->id,
                                                  &row, err);

    if (is_there <= 0)
        return is_there < 0 ? (enum nd_status)is_there
                            : nd_fail(err, ND_EINPUT, "an entry names a document that is missing");
    status = nd_session_describe(session, found->id, &row, &out->document, err);
    if (status == ND_OK)
        status = nd_leaders_order(&session->leaders, found->near.number, &first, err);
    if (status != ND_OK)
        return status;
    leads = nd_leaders_leads(&session->leaders, found->near.number, err);
    if (leads < 0)
        return (enum nd_status)leads;
    out->likeness = nd_likeness_of(l->sketching, l->row.row.n_shingles, &found->near);
    out->leads = leads && (first == found->order || !nd_entry_equals_itself(l->sketching, &l->row));
    return ND_OK;
}

static enum nd_status give(struct cluster_listing *l, struct nd_neighbours *out,
                           struct nd_error *err)
{
    size_t n_given = l->n < l->limit ? l->n : l->limit;
    struct nd_neighbour *list = nd_alloc_array(n_given + 1, sizeof *list);
    enum nd_status status = list ? ND_OK : no_memory(err);

    l->session->list = list;
    for (size_t i = 0; status == ND_OK && i < n_given; i++)
        status = describe(l, &l->found[i], &list[i], err);
    out->document = list;
    out->n = n_given;
    return status;
}

/* Take the entries that nd_leaders_neighbours found, since finding leaders overwrites them. */
static enum nd_status take_neighbours(struct cluster_listing *l, uint32_t entry,
                                      struct nd_error *err)
{
    struct nd_leaders *leaders = &l->session->leaders;
    enum nd_status status = nd_leaders_neighbours(leaders, entry, UINT64_MAX, err);

    if (status != ND_OK)
        return status;
    l->near = nd_alloc_array(leaders->n_hits + 1, sizeof *l->near);
    if (!l->near)
        return no_memory(err);
    l->n_near = leaders->n_hits;
    if (l->n_near)
        memcpy(l->near, leaders->hit, l->n_near * sizeof *l->near);
    return ND_OK;
}

static enum nd_store_result end(struct cluster_listing *l, enum nd_status status,
                                struct nd_neighbours *out)
{
    free(l->found);
    free(l->near);
    out->total = l->total;
    out->was_cut = l->session->leaders.was_cut;
    out->work = (struct nd_work){.pairs = l->session->leaders.n_pairs};
    nd_session_end(l->session);
    return nd_store_result_of(status);
}

enum nd_store_result nd_session_near(struct nd_session *session, const struct nd_caller *caller,
                                     const struct nd_document_query *query, size_t limit,
                                     struct nd_neighbours *out, struct nd_error *err)
{
    struct cluster_listing l = {
        .session = session, .sketching = &session->store->sketching, .limit = limit};
    struct nd_document_row row = {.number = 0};
    struct nd_near_entry own;
    enum nd_store_result result = begin(session, caller, query, &row, &l.row, err);
    enum nd_status status;

    if (result != ND_STORE_OK)
        return result;
    read_up_to(session, limit);
    l.entry = row.entry;
    status = take_neighbours(&l, row.entry, err);
    for (size_t i = 0; status == ND_OK && i < l.n_near; i++)
        status = add_holders(&l, &l.near[i], every, UINT64_MAX, err);
    own = itself(l.sketching, row.entry, &l.row);
    if (status == ND_OK && nd_entry_equals_itself(l.sketching, &l.row)) {
        status = add_holders(&l, &own, every, row.order, err);
        l.total--;
    }
    if (status == ND_OK && !sort_found(&l, nearest_first))
        status = no_memory(err);
    if (status == ND_OK)
        status = give(&l, out, err);
    return end(&l, status, out);
}

/* ---- Clusters ---- */

/* The leader of the cluster that a document is in, and its row. */
static enum nd_status find_leader(struct cluster_listing *l, const struct nd_document_row *document,
                                  struct nd_error *err)
{
    const struct nd_near_entry own = itself(l->sketching, document->entry, &l->row);
    struct nd_near_entry leader;
    int found =
        nd_leaders_of(&l->session->leaders, l->sketching, &own, document->order, &leader, err);

    if (found < 0)
        return (enum nd_status)found;
    l->entry = found ? leader.number : document->entry;
    return nd_reader_entry(&l->session->reader, l->entry, &l->row, err);
}

/* How the leader that the listing is about looks from an entry that is near it. */
static struct nd_near_entry leader_seen_from(const struct cluster_listing *l,
                                             const struct nd_near_entry *near)
{
    struct nd_near_entry leader = *near;

    leader.number = l->entry;
    leader.set = l->row.label_set;
    leader.n_shingles = l->row.row.n_shingles;
    return leader;
}

/* End a span where a leader begins that is nearer to an entry than that of the listing.  The leaders
 * that may be nearer are those below an order. */
static enum nd_status end_span(struct cluster_listing *l, const struct nd_near_entry *near,
                               struct span *span, uint64_t before, struct nd_error *err)
{
    const struct nd_near_entry own = leader_seen_from(l, near);
    struct nd_leaders *leaders = &l->session->leaders;
    uint64_t order = 0;
    enum nd_status status = nd_leaders_neighbours(leaders, near->number, before, err);

    for (size_t i = 0; status == ND_OK && i < leaders->n_hits; i++) {
        const struct nd_near_entry *other = &leaders->hit[i];
        int leads;

        status = nd_leaders_order(leaders, other->number, &order, err);
        if (status != ND_OK || order >= span->to || other->number == l->entry ||
            nd_near_compare(l->sketching, near->n_shingles, &own, span->from - 1, other, order) < 0)
            continue;
        leads = nd_leaders_leads(leaders, other->number, err);
        if (leads < 0)
            return (enum nd_status)leads;
        if (leads)
            span->to = order;
    }
    return status;
}

/* Add the documents of an entry that is near the leader and does not lead: those that are later than
 * the leader, and earlier than any leader that is nearer to them. */
static enum nd_status add_followers(struct cluster_listing *l, const struct nd_near_entry *near,
                                    struct nd_error *err)
{
    struct nd_leaders *leaders = &l->session->leaders;
    struct span span = {.to = UINT64_MAX};
    uint64_t order = 0, first = 0;
    struct nd_entry entry = {.n_documents = 0};
    enum nd_status status = nd_leaders_order(leaders, l->entry, &order, err);

    if (status == ND_OK)
        status = nd_leaders_order(leaders, near->number, &first, err);
    if (status == ND_OK)
        status = nd_reader_entry(&l->session->reader, near->number, &entry, err);
    if (status != ND_OK || (entry.n_documents == 1 && first < order))
        return status;
    span.from = order + 1;
    status = end_span(l, near, &span, entry.n_documents == 1 ? first : UINT64_MAX, err);
    span.is_all = first > order && span.to == UINT64_MAX;
    if (status != ND_OK || span.to <= first)
        return status;
    return add_holders(l, near, span, UINT64_MAX, err);
}

static enum nd_status add_if_follower(struct cluster_listing *l, const struct nd_near_entry *near,
                                      struct nd_error *err)
{
    int leads = nd_leaders_leads(&l->session->leaders, near->number, err);

    if (leads != 0)
        return leads < 0 ? (enum nd_status)leads : ND_OK;
    return add_followers(l, near, err);
}

/* A short document that equals nothing is a cluster of its own. */
static enum nd_status add_alone(struct cluster_listing *l, const struct nd_document_row *row,
                                struct nd_view id, struct nd_error *err)
{
    l->found = nd_alloc_array(1, sizeof *l->found);
    if (!l->found)
        return no_memory(err);
    l->found[0] = (struct found_near){
        .near = itself(l->sketching, row->entry, &l->row), .order = row->order, .id = id};
    l->n = l->total = 1;
    return ND_OK;
}

static enum nd_status add_cluster(struct cluster_listing *l, struct nd_error *err)
{
    const struct nd_near_entry leader = itself(l->sketching, l->entry, &l->row);
    enum nd_status status = take_neighbours(l, l->entry, err);

    if (status == ND_OK)
        status = add_holders(l, &leader, every, UINT64_MAX, err);
    for (size_t i = 0; status == ND_OK && i < l->n_near; i++)
        status = add_if_follower(l, &l->near[i], err);
    if (status == ND_OK && !sort_found(l, earliest_first))
        status = no_memory(err);
    return status;
}

enum nd_store_result nd_session_cluster(struct nd_session *session, const struct nd_caller *caller,
                                        const struct nd_document_query *query, size_t limit,
                                        struct nd_neighbours *out, struct nd_error *err)
{
    struct cluster_listing l = {
        .session = session, .sketching = &session->store->sketching, .limit = limit};
    struct nd_document_row row = {.number = 0};
    enum nd_store_result result = begin(session, caller, query, &row, &l.row, err);
    enum nd_status status;

    if (result != ND_STORE_OK)
        return result;
    read_up_to(session, limit);
    if (nd_entry_equals_itself(l.sketching, &l.row)) {
        status = find_leader(&l, &row, err);
        if (status == ND_OK)
            status = add_cluster(&l, err);
    } else {
        l.entry = row.entry;
        status = add_alone(&l, &row, query->id, err);
    }
    if (status == ND_OK)
        status = give(&l, out, err);
    return end(&l, status, out);
}
