/* crawl.c - what to visit next, among the documents that a caller sees; and figures of those */
#include <stdlib.h>
#include <string.h>

#include "base/view.h"
#include "store/read/session_state.h"

/* A position in the reading of a label set: its next document. */
struct crawl_cursor {
    uint32_t set;
    bool has;
    uint64_t due, document;
    struct nd_view id; /* within the transaction */
};

/* A document that is due at the time at hand. */
struct due {
    struct nd_view id;
    struct nd_document_row row;
    const struct nd_view *labels;
    size_t n_labels;
};

struct crawling {
    struct nd_session *session;
    struct crawl_cursor *cursor; /* one for each set that the caller sees */
    struct due *due;             /* of one time */
    size_t n_due, due_capacity;
    struct nd_crawl_row *row;
    size_t n, limit;
    uint32_t expect;
    uint64_t now;
};

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory for an answer");
}

/* Go to the first document of a cursor's set from here on. */
static enum nd_status seek(struct nd_session *session, struct crawl_cursor *cursor,
                           struct nd_error *err)
{
    int found = nd_catalog_next_due(session->reader.txn, cursor->set, &cursor->due,
                                    &cursor->document, &cursor->id, err);

    cursor->has = found == 1;
    return found < 0 ? (enum nd_status)found : ND_OK;
}

static bool earliest_time(const struct crawling *c, uint64_t *due)
{
    bool has = false;

    for (size_t i = 0; i < c->session->sets.n; i++) {
        const struct crawl_cursor *cursor = &c->cursor[i];

        if (cursor->has && (!has || cursor->due < *due)) {
            *due = cursor->due;
            has = true;
        }
    }
    return has;
}

static enum nd_status add_due(struct crawling *c, const struct crawl_cursor *cursor,
                              struct nd_error *err)
{
    struct due *due;
    int found;

    if (!ND_RESERVE(c->due, &c->due_capacity, c->n_due + 1))
        return no_memory(err);
    due = &c->due[c->n_due++];
    *due = (struct due){.id = cursor->id};
    due->labels = nd_label_sets_labels(c->session->store->sets, cursor->set, &due->n_labels);
    found =
        nd_catalog_get_document(c->session->reader.txn, cursor->set, cursor->id, &due->row, err);
    if (found == 0)
        return nd_fail(err, ND_EINPUT, "a document that is due is missing");
    return found < 0 ? (enum nd_status)found : ND_OK;
}

/* All documents of one time, in every set. */
static enum nd_status collect(struct crawling *c, uint64_t due, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    c->n_due = 0;
    for (size_t i = 0; status == ND_OK && i < c->session->sets.n; i++) {
        struct crawl_cursor *cursor = &c->cursor[i];

        while (status == ND_OK && cursor->has && cursor->due == due) {
            status = add_due(c, cursor, err);
            cursor->document++;
            if (status == ND_OK)
                status = seek(c->session, cursor, err);
        }
    }
    return status;
}

static int compare_due(const void *a, const void *b)
{
    const struct due *x = a, *y = b;
    uint32_t of_x = x->row.visits.priority, of_y = y->row.visits.priority;
    int order;

    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    order = nd_view_compare(x->id, y->id);
    for (size_t i = 0; order == 0 && i < x->n_labels && i < y->n_labels; i++)
        order = nd_view_compare(x->labels[i], y->labels[i]);
    return order ? order : (x->n_labels > y->n_labels) - (x->n_labels < y->n_labels);
}

static enum nd_status give(struct crawling *c, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (c->n_due)
        qsort(c->due, c->n_due, sizeof *c->due, compare_due);
    for (size_t i = 0; status == ND_OK && i < c->n_due && c->n < c->limit; i++) {
        struct nd_crawl_row *row = &c->row[c->n++];

        row->is_due = c->due[i].row.due <= c->now;
        row->gap = nd_visits_gap(&c->due[i].row.visits, c->expect);
        status = nd_session_describe(c->session, c->due[i].id, &c->due[i].row, &row->document, err);
    }
    return status;
}

static enum nd_status begin(struct crawling *c, struct nd_error *err)
{
    const struct nd_set_list *sets = &c->session->sets;
    enum nd_status status = ND_OK;

    c->cursor = nd_alloc_array(sets->n + 1, sizeof *c->cursor);
    if (!c->cursor)
        return no_memory(err);
    for (size_t i = 0; status == ND_OK && i < sets->n; i++) {
        c->cursor[i] = (struct crawl_cursor){.set = sets->number[i]};
        status = seek(c->session, &c->cursor[i], err);
    }
    return status;
}

/* One time after the other. */
static enum nd_status crawl(struct crawling *c, struct nd_error *err)
{
    enum nd_status status = begin(c, err);
    uint64_t due = 0;

    while (status == ND_OK && c->n < c->limit && earliest_time(c, &due)) {
        status = collect(c, due, err);
        if (status == ND_OK && !ND_RESERVE(c->row, &c->session->list_capacity, c->n + c->n_due))
            status = no_memory(err);
        c->session->list = c->row;
        if (status == ND_OK)
            status = give(c, err);
    }
    free(c->cursor);
    free(c->due);
    return status;
}

enum nd_store_result nd_session_crawl(struct nd_session *session, const struct nd_caller *caller,
                                      uint32_t expect, size_t limit,
                                      const struct nd_crawl_row **out, size_t *n,
                                      struct nd_error *err)
{
    const struct nd_store *store = session->store;
    struct crawling c = {.session = session,
                         .limit = limit,
                         .expect = expect ? expect : store->options.visits.expect,
                         .now = nd_store_now(store)};
    enum nd_status status = nd_session_begin(session, caller, err);

    if (status != ND_OK)
        return nd_store_result_of(status);
    nd_session_new_list(session);
    status = crawl(&c, err);
    *out = c.row;
    *n = c.n;
    nd_session_end(session);
    return nd_store_result_of(status);
}

/* ---- Figures ---- */

static enum nd_status count_due(struct nd_session *session, uint32_t set, uint64_t now, uint64_t *n,
                                struct nd_error *err)
{
    struct crawl_cursor cursor = {.set = set};
    enum nd_status status = seek(session, &cursor, err);

    while (status == ND_OK && cursor.has && cursor.due <= now && *n < ND_STORE_DUE_COUNTED) {
        ++*n;
        cursor.document++;
        status = seek(session, &cursor, err);
    }
    return status;
}

static enum nd_status add_set(struct nd_session *session, uint32_t set, uint64_t now,
                              struct nd_visible_stats *out, struct nd_error *err)
{
    struct nd_set_counts counts;
    int found = nd_catalog_get_counts(session->reader.txn, set, &counts, err);

    if (found <= 0)
        return (enum nd_status)found;
    out->documents += counts.documents;
    out->versions += counts.versions;
    out->contents += counts.entries;
    out->text_bytes += counts.text_bytes;
    out->label_sets += counts.documents > 0;
    return count_due(session, set, now, &out->due, err);
}

enum nd_store_result nd_session_visible_stats(struct nd_session *session,
                                              const struct nd_caller *caller,
                                              struct nd_visible_stats *out, struct nd_error *err)
{
    struct nd_visible_stats stats = {0};
    uint64_t now = nd_store_now(session->store);
    enum nd_status status = nd_session_begin(session, caller, err);

    if (status != ND_OK)
        return nd_store_result_of(status);
    for (size_t i = 0; status == ND_OK && i < session->sets.n; i++)
        status = add_set(session, session->sets.number[i], now, &stats, err);
    if (status == ND_OK)
        *out = stats;
    nd_session_end(session);
    return nd_store_result_of(status);
}
