/* each.c - all documents that a caller sees, one after the other, in order of their commits */
#include <stdlib.h>

#include "base/sort.h"
#include "store/read/session_state.h"

/* A store that is only read learns of label sets that the process which writes has added. */
static enum nd_status read_new_sets(struct nd_session *session, struct nd_error *err)
{
    struct nd_store *store = session->store;
    enum nd_status status = ND_OK;

    if (!store->options.read_only || store->options.has_answers)
        return ND_OK;
    nd_rwlock_write(store->index_lock);
    while (status == ND_OK && nd_label_sets_count(store->sets) < session->state.n_label_sets) {
        uint32_t number = nd_label_sets_count(store->sets);
        struct nd_view bytes;
        int found = nd_catalog_get_label_set(session->reader.txn, number, &bytes, err);

        if (found <= 0)
            status =
                found ? (enum nd_status)found
                      : nd_fail(err, ND_EINPUT, "label set %lu is missing", (unsigned long)number);
        else if (nd_label_sets_add(store->sets, bytes, &number) != ND_OK)
            status = nd_fail(err, ND_ENOMEM, "out of memory for label sets");
    }
    nd_rwlock_unlock(store->index_lock);
    return status;
}

/* Documents, by their order; number: the entry. */
struct order_list {
    struct nd_numbered_value *at;
    size_t n, capacity;
};

static enum nd_status list_holders(struct nd_session *session, uint32_t entry,
                                   struct order_list *list, struct nd_error *err)
{
    struct nd_view id;
    uint64_t order = 0;
    int found;

    while ((found = nd_catalog_next_holder(session->reader.txn, entry, &order, &id, err)) > 0) {
        if (!ND_RESERVE(list->at, &list->capacity, list->n + 1))
            return nd_fail(err, ND_ENOMEM, "out of memory for the order of documents");
        list->at[list->n++] = (struct nd_numbered_value){.value = order, .number = entry};
        if (order++ == UINT64_MAX)
            break;
    }
    return found < 0 ? (enum nd_status)found : ND_OK;
}

static enum nd_status list_documents(struct nd_session *session, struct order_list *list,
                                     struct nd_error *err)
{
    const struct nd_visible_sets visible = {.number = session->sets.number, .n = session->sets.n};
    struct nd_entry entry;
    enum nd_status status = ND_OK;
    uint32_t number = 0;
    int found;

    while ((found = nd_catalog_next_entry(session->reader.txn, &number, &entry, err)) > 0) {
        if (nd_visible_sets_has(&visible, entry.label_set))
            status = list_holders(session, number, list, err);
        if (status != ND_OK || number++ == UINT32_MAX)
            return status;
    }
    return found < 0 ? (enum nd_status)found : ND_OK;
}

static enum nd_status sort_documents(struct order_list *list, struct nd_error *err)
{
    struct nd_numbered_value *other = nd_alloc_array(list->n + 1, sizeof *other);

    if (!other)
        return nd_fail(err, ND_ENOMEM, "out of memory for the order of documents");
    nd_sort_numbered(&list->at, &other, list->n);
    free(other);
    return ND_OK;
}

/* The document with an order; what is given is valid until the next. */
static enum nd_status describe(struct nd_session *session, const struct nd_numbered_value *at,
                               struct nd_stored *out, size_t *n_versions, struct nd_error *err)
{
    struct nd_document_row row;
    struct nd_entry entry;
    struct nd_view id;
    uint64_t order = at->value;
    enum nd_status status = nd_reader_entry(&session->reader, at->number, &entry, err);
    int found;

    if (status != ND_OK)
        return status;
    found = nd_catalog_next_holder(session->reader.txn, at->number, &order, &id, err);
    if (found > 0)
        found = nd_catalog_get_document(session->reader.txn, entry.label_set, id, &row, err);
    if (found <= 0)
        return found
                   ? (enum nd_status)found
                   : nd_fail(err, ND_EINPUT, "a document that has the text of entry %lu is missing",
                             (unsigned long)at->number);
    nd_arena_reset(&session->answer);
    status = nd_session_describe(session, id, &row, out, err);
    if (status == ND_OK)
        status = nd_session_text(session, &entry, out, err);
    return status == ND_OK ? nd_session_list_versions(session, &row, SIZE_MAX, n_versions, err)
                           : status;
}

enum nd_store_result nd_session_each(struct nd_session *session, const struct nd_caller *caller,
                                     int (*each)(void *context, const struct nd_stored *document,
                                                 const struct nd_version *versions, size_t n),
                                     void *context, struct nd_error *err)
{
    struct order_list list = {0};
    enum nd_status status = nd_session_begin(session, caller, err);

    if (status != ND_OK)
        return nd_store_result_of(status);
    nd_session_new_list(session);
    status = read_new_sets(session, err);
    if (status == ND_OK)
        status = nd_caller_sets(caller, session->state.n_label_sets, &session->sets, err);
    if (status == ND_OK)
        status = list_documents(session, &list, err);
    if (status == ND_OK)
        status = sort_documents(&list, err);
    for (size_t i = 0; status == ND_OK && i < list.n; i++) {
        struct nd_stored document;
        size_t n;

        status = describe(session, &list.at[i], &document, &n, err);
        if (status == ND_OK && each(context, &document, session->list, n) != 0)
            break;
    }
    free(list.at);
    nd_session_end(session);
    return nd_store_result_of(status);
}
