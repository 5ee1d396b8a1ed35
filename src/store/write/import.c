/* import.c - documents with their versions, times and visits, put into a store that lacks them */
#include <stdlib.h>

#include "base/thread/thread.h"
#include "base/view.h"
#include "store/read/session_state.h"
#include "store/write/write.h"

/* ---- What an import must be ---- */

static enum nd_store_result refuse(const struct nd_import *document, const char *why,
                                   struct nd_error *err)
{
    return nd_store_fail(err, ND_STORE_INVALID, "the document '%.*s' %s",
                         nd_view_shown(document->key.id), document->key.id.data, why);
}

static enum nd_store_result check_import(const struct nd_import *document, struct nd_error *err)
{
    const struct nd_version *version = document->versions;

    if (document->key.id.len == 0)
        return nd_store_fail(err, ND_STORE_INVALID, "a document has no id");
    if (document->n_versions == 0)
        return refuse(document, "has no versions", err);
    for (size_t i = 0; i < document->n_versions; i++) {
        if (version[i].number == 0 || (i && version[i].number <= version[i - 1].number))
            return refuse(document, "has versions whose numbers do not ascend from 1 on", err);
        if (version[i].distance > 64)
            return refuse(document, "has a version whose distance is above 64", err);
    }
    if (version[document->n_versions - 1].text_bytes != document->text.len)
        return refuse(document, "has a text that is not that of its last version", err);
    return ND_STORE_OK;
}

/* ---- Writing ---- */

struct imported {
    struct nd_monitor monitor;
    bool is_done;
    struct nd_write **write;
    size_t n;
};

static void note_done(void *context)
{
    struct imported *all = context;

    nd_monitor_enter(&all->monitor);
    all->is_done = true;
    nd_monitor_notify(&all->monitor);
    nd_monitor_leave(&all->monitor);
}

static enum nd_store_result make_writes(struct nd_session *session, const struct nd_caller *caller,
                                        const struct nd_import *documents, size_t n,
                                        struct imported *all, struct nd_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct nd_write_request request = {.id = documents[i].key.id,
                                                 .labels = documents[i].key.labels,
                                                 .n_labels = documents[i].key.n_labels,
                                                 .text = documents[i].text,
                                                 .title = documents[i].title};
        struct nd_error why;
        enum nd_store_result result = check_import(&documents[i], err);

        if (result != ND_STORE_OK)
            return result;
        result = nd_write_new(session, caller, &request, &all->write[i], &why);
        if (result == ND_STORE_INVALID)
            return refuse(&documents[i], why.message, err);
        if (result != ND_STORE_OK)
            return nd_store_fail(err, result, "%s", why.message);
        all->write[i]->import = &documents[i];
        all->n++;
    }
    return ND_STORE_OK;
}

/* Return the result of the first document that was not stored, or ND_STORE_OK. */
static enum nd_store_result result_of(const struct imported *all, const struct nd_import *documents,
                                      struct nd_error *err)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct nd_written *written = nd_write_result(all->write[i]);

        if (written->result == ND_STORE_INVALID)
            return nd_store_fail(err, ND_STORE_INVALID, "the document '%.*s': %s",
                                 nd_view_shown(documents[i].key.id), documents[i].key.id.data,
                                 written->message);
        if (written->result != ND_STORE_OK)
            return nd_store_fail(err, written->result, "%s", written->message);
    }
    return ND_STORE_OK;
}

static enum nd_store_result submit(struct nd_session *session, struct imported *all,
                                   const struct nd_import *documents, struct nd_error *err)
{
    enum nd_store_result result;

    nd_monitor_init(&all->monitor);
    result = nd_store_submit(session->store, all->write, all->n, note_done, all, err);
    if (result == ND_STORE_OK) {
        nd_monitor_enter(&all->monitor);
        while (!all->is_done)
            nd_monitor_wait(&all->monitor);
        nd_monitor_leave(&all->monitor);
        result = result_of(all, documents, err);
    }
    nd_monitor_release(&all->monitor);
    return result;
}

enum nd_store_result nd_store_import(struct nd_session *session, const struct nd_import *documents,
                                     size_t n, struct nd_error *err)
{
    struct imported all = {.write = calloc(n + 1, sizeof(struct nd_write *))};
    struct nd_caller *caller = nd_caller_new(session->store, NULL, 0, true, err);
    enum nd_store_result result = ND_STORE_NO_MEMORY;

    if (!all.write)
        nd_store_fail(err, result, "out of memory for an import of %zu documents", n);
    if (all.write && caller)
        result = make_writes(session, caller, documents, n, &all, err);
    if (result == ND_STORE_OK)
        result = submit(session, &all, documents, err);
    for (size_t i = 0; i < all.n; i++)
        nd_write_free(all.write[i]);
    free(all.write);
    nd_caller_free(caller);
    return result;
}
