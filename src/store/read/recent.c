/* recent.c - the documents that a caller sees, the newest first; a list of them */
#include "store/read/recent.h"

#include <stdlib.h>
#include <string.h>

#include "base/view.h"

/* A place: when the document came, the hash of its label set, its id as in a key. */
enum { PLACE_HASH = 8, PLACE_ID = PLACE_HASH + 16, PLACE_MAX = PLACE_ID + ND_KEY_ID_WHOLE + 1 };
_Static_assert((int)PLACE_MAX <= (int)ND_STORE_PLACE_MAX, "a place has room for every document");

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory for an answer");
}

/* ---- Order ---- */

static struct nd_view key_id(const struct nd_recent_cursor *c)
{
    return (struct nd_view){(const char *)c->key.bytes + ND_KEY_RECENT_ID,
                            c->key.len - ND_KEY_RECENT_ID};
}

static int compare_hashes(struct nd_text_hash x, struct nd_text_hash y)
{
    if (x.high != y.high)
        return x.high < y.high ? -1 : 1;
    return x.low < y.low ? -1 : x.low > y.low;
}

static bool is_newer(const struct nd_recent_cursor *x, const struct nd_recent_cursor *y)
{
    int order;

    if (x->created != y->created)
        return x->created > y->created;
    order = nd_view_compare(key_id(x), key_id(y));
    return order ? order > 0 : compare_hashes(x->hash, y->hash) > 0;
}

/* Move a cursor down to its place in the heap. */
static void sink(struct nd_recent_walk *w, size_t at)
{
    struct nd_recent_cursor *cursor = w->heap[at];

    for (size_t child = 2 * at + 1; child < w->n; child = 2 * at + 1) {
        if (child + 1 < w->n && is_newer(w->heap[child + 1], w->heap[child]))
            child++;
        if (!is_newer(w->heap[child], cursor))
            break;
        w->heap[at] = w->heap[child];
        at = child;
    }
    w->heap[at] = cursor;
}

/* ---- Places ---- */

struct nd_place nd_recent_place(const struct nd_recent_cursor *document)
{
    const struct nd_view id = key_id(document);
    struct nd_key head = {0};
    struct nd_place place;

    nd_key_add_64(&head, document->created);
    nd_key_add_64(&head, document->hash.high);
    nd_key_add_64(&head, document->hash.low);
    memcpy(place.bytes, head.bytes, PLACE_ID);
    memcpy(place.bytes + PLACE_ID, id.data, id.len);
    place.len = PLACE_ID + id.len;
    return place;
}

/* Begin a walk in a label set behind the place, or at it. */
static bool start_behind(struct nd_recent_cursor *c, const struct nd_place *after)
{
    const struct nd_text_hash hash = {nd_key_get_64(after->bytes + PLACE_HASH + 8),
                                      nd_key_get_64(after->bytes + PLACE_HASH)};

    c->key.len = 0;
    nd_key_add_32(&c->key, c->set);
    nd_key_add_64(&c->key, nd_key_get_64(after->bytes));
    memcpy(c->key.bytes + c->key.len, after->bytes + PLACE_ID, after->len - PLACE_ID);
    c->key.len += after->len - PLACE_ID;
    return compare_hashes(c->hash, hash) >= 0;
}

/* Find the first document of a label set.  1, 0, < 0. */
static int find_first(struct nd_recent_walk *w, struct nd_recent_cursor *c,
                      const struct nd_place *after, struct nd_error *err)
{
    struct nd_txn *txn = w->session->reader.txn;
    int found = 0;

    if (!after) { /* no id is as great as that */
        memset(c->key.bytes, 0xFF, sizeof c->key.bytes);
        c->key.len = 0;
        nd_key_add_32(&c->key, c->set);
        c->key.len = ND_KEY_MAX;
    } else if (!start_behind(c, after)) {
        found = nd_catalog_get_recent(txn, &c->key, &c->created, &c->id, err);
    }
    return found ? found : nd_catalog_recent_before(txn, &c->key, &c->created, &c->id, err);
}

/* ---- The walk ---- */

static enum nd_status begin_sets(struct nd_recent_walk *w, const struct nd_place *after,
                                 struct nd_error *err)
{
    const struct nd_set_list *sets = &w->session->sets;

    for (size_t i = 0; i < sets->n; i++) {
        struct nd_recent_cursor *c = &w->cursor[i];
        int found;

        *c = (struct nd_recent_cursor){.set = sets->number[i]};
        c->hash = nd_text_hash(nd_label_sets_bytes(w->session->store->sets, c->set));
        found = find_first(w, c, after, err);
        if (found < 0)
            return (enum nd_status)found;
        if (found)
            w->heap[w->n++] = c;
    }
    for (size_t i = w->n / 2; i-- > 0;)
        sink(w, i);
    return ND_OK;
}

enum nd_status nd_recent_begin(struct nd_recent_walk *walk, struct nd_session *session,
                               const struct nd_place *after, struct nd_error *err)
{
    const size_t n = session->sets.n + 1;

    if (after && (after->len <= PLACE_ID || after->len > PLACE_MAX))
        return nd_fail(err, ND_EINVAL, "cursor= is none that this service gave");
    *walk = (struct nd_recent_walk){.session = session};
    walk->cursor = nd_alloc_array(n, sizeof *walk->cursor);
    walk->heap = nd_alloc_array(n, sizeof(struct nd_recent_cursor *));
    return walk->cursor && walk->heap ? begin_sets(walk, after, err) : no_memory(err);
}

void nd_recent_end(struct nd_recent_walk *walk)
{
    free(walk->cursor);
    free((void *)walk->heap);
}

/* Move the cursor on top to its next document, or out of the heap. */
static enum nd_status step(struct nd_recent_walk *w, struct nd_error *err)
{
    struct nd_recent_cursor *c = w->heap[0];
    int found = nd_catalog_recent_before(w->session->reader.txn, &c->key, &c->created, &c->id, err);

    if (found < 0)
        return (enum nd_status)found;
    if (!found)
        w->heap[0] = w->heap[--w->n];
    if (w->n)
        sink(w, 0);
    return ND_OK;
}

int nd_recent_next(struct nd_recent_walk *walk, const struct nd_recent_cursor **found,
                   struct nd_error *err)
{
    if (walk->is_given && walk->n) {
        enum nd_status status = step(walk, err);

        if (status != ND_OK)
            return (int)status;
    }
    walk->is_given = true;
    *found = walk->n ? walk->heap[0] : NULL;
    return walk->n > 0;
}

enum nd_status nd_recent_row(const struct nd_recent_walk *walk,
                             const struct nd_recent_cursor *document, struct nd_document_row *row,
                             struct nd_error *err)
{
    int found =
        nd_catalog_get_document(walk->session->reader.txn, document->set, document->id, row, err);

    if (found == 0)
        return nd_fail(err, ND_EINPUT, "a document of the list of the newest is missing");
    return found < 0 ? (enum nd_status)found : ND_OK;
}

/* ---- A list ---- */

struct recent_list {
    struct nd_recent_walk walk;
    const struct nd_recent_query *query;
    struct nd_stored *document;
    size_t n, n_scanned;
};

/* Add a document, if the caller of the store takes it. */
static enum nd_status add(struct recent_list *l, const struct nd_recent_cursor *found,
                          struct nd_error *err)
{
    struct nd_session *session = l->walk.session;
    const struct nd_recent_query *query = l->query;
    struct nd_document_row row;
    enum nd_status status = nd_recent_row(&l->walk, found, &row, err);

    if (status != ND_OK ||
        (query->takes && !query->takes(query->context, found->id, nd_title_view(&row.title))))
        return status;
    if (!ND_RESERVE(l->document, &session->list_capacity, l->n + 1))
        return no_memory(err);
    session->list = l->document;
    return nd_session_describe(session, found->id, &row, &l->document[l->n++], err);
}

static enum nd_status collect(struct recent_list *l, struct nd_recent *out, struct nd_error *err)
{
    const struct nd_recent_cursor *found;
    enum nd_status status = ND_OK;
    int is_there = 0;

    while (status == ND_OK && (is_there = nd_recent_next(&l->walk, &found, err)) > 0 &&
           found->created >= l->query->since) {
        out->has_more = l->n == l->query->limit || l->n_scanned == ND_STORE_SCANNED;
        if (out->has_more)
            break;
        l->n_scanned++;
        out->next = nd_recent_place(found);
        status = add(l, found, err);
    }
    return is_there < 0 ? (enum nd_status)is_there : status;
}

enum nd_store_result nd_session_recent(struct nd_session *session, const struct nd_caller *caller,
                                       const struct nd_recent_query *query, struct nd_recent *out,
                                       struct nd_error *err)
{
    struct recent_list l = {.query = query};
    struct nd_recent recent = {.n = 0};
    enum nd_status status = nd_session_begin(session, caller, err);

    if (status != ND_OK)
        return nd_store_result_of(status);
    nd_session_new_list(session);
    status = nd_recent_begin(&l.walk, session, query->after, err);
    if (status == ND_OK)
        status = collect(&l, &recent, err);
    nd_recent_end(&l.walk);
    nd_session_end(session);
    recent.document = l.document;
    recent.n = l.n;
    if (status == ND_OK)
        *out = recent;
    return nd_store_result_of(status);
}
