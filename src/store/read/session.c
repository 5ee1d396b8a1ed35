/* session.c - the working memory of one thread that reads, and what it is asked about one document */
#include "store/read/session_state.h"

#include <stdlib.h>
#include <string.h>

#include "record/content.h"
#include "store/search/compare_quotes.h"
#include "store/search/verdict.h"

struct nd_session *nd_session_new(struct nd_store *store, struct nd_error *err)
{
    struct nd_session *session = calloc(1, sizeof *session);

    if (!session) {
        nd_fail(err, ND_ENOMEM, "out of memory for a session");
        return NULL;
    }
    session->store = store;
    if (nd_sketch_maker_init(&session->maker, &store->sketching, err)) {
        if (!nd_search_init(&session->search, &session->maker) ||
            !nd_reader_init(&session->reader, store->segments))
            nd_fail(err, ND_ENOMEM, "out of memory for a session");
        else if (nd_catalog_begin(store->catalog, false, &session->reader.txn, err) == ND_OK) {
            nd_catalog_pause(session->reader.txn);
            return session;
        }
    }
    nd_session_free(session);
    return NULL;
}

void nd_session_free(struct nd_session *session)
{
    if (!session)
        return;
    if (session->reader.txn)
        nd_catalog_abort(session->reader.txn);
    nd_leaders_release(&session->leaders);
    nd_search_release(&session->search);
    nd_reader_release(&session->reader);
    nd_sketch_maker_release(&session->maker);
    nd_arena_release(&session->answer);
    nd_arena_release(&session->document);
    nd_buffer_release(&session->content);
    free(session->sets.number);
    free(session->list);
    free(session);
}

/* ---- An answer ---- */

enum nd_status nd_session_begin(struct nd_session *session, const struct nd_caller *caller,
                                struct nd_error *err)
{
    enum nd_status status = nd_catalog_renew(session->reader.txn, err);

    if (status != ND_OK)
        return status;
    nd_arena_reset(&session->answer);
    status = nd_catalog_get_state(session->reader.txn, &session->state, err);
    if (status == ND_OK)
        status = nd_caller_sets(caller, session->state.n_label_sets, &session->sets, err);
    if (status != ND_OK) {
        nd_catalog_pause(session->reader.txn);
        return status;
    }
    nd_leaders_begin(&session->leaders, session->reader.txn, session->sets.number, session->sets.n);
    return ND_OK;
}

void nd_session_end(struct nd_session *session)
{
    nd_catalog_pause(session->reader.txn);
}

static enum nd_store_result end_with(struct nd_session *session, enum nd_status status)
{
    nd_session_end(session);
    return nd_store_result_of(status);
}

enum nd_status nd_session_find_set(struct nd_session *session, const struct nd_view *labels,
                                   size_t n, uint32_t *number, struct nd_error *err)
{
    char *bytes;
    size_t len;
    enum nd_status status = nd_label_set_bytes(labels, n, &bytes, &len, err);

    if (status != ND_OK)
        return status;
    *number = nd_label_sets_find(session->store->sets, (struct nd_view){bytes, len});
    if (*number != ND_NO_LABEL_SET && *number >= session->state.n_label_sets)
        *number = ND_NO_LABEL_SET;
    free(bytes);
    return ND_OK;
}

static bool is_visible(const struct nd_session *session, uint32_t set)
{
    const struct nd_visible_sets visible = {.number = session->sets.number, .n = session->sets.n};

    return set != ND_NO_LABEL_SET && nd_visible_sets_has(&visible, set);
}

/* In the set of these labels, or in any that the caller sees. */
static int look_for(struct nd_session *session, const struct nd_document_query *query,
                    struct nd_document_row *row, struct nd_error *err)
{
    struct nd_document_row other;
    uint32_t number;
    int n_found = 0;

    if (!query->any_labels) {
        enum nd_status status =
            nd_session_find_set(session, query->labels, query->n_labels, &number, err);

        if (status != ND_OK)
            return (int)status;
        if (!is_visible(session, number))
            return 0;
        return nd_catalog_get_document(session->reader.txn, number, query->id, row, err);
    }
    for (size_t i = 0; i < session->sets.n; i++) {
        int found = nd_catalog_get_document(session->reader.txn, session->sets.number[i], query->id,
                                            n_found ? &other : row, err);

        if (found < 0)
            return found;
        n_found += found;
    }
    return n_found;
}

enum nd_store_result nd_session_find(struct nd_session *session,
                                     const struct nd_document_query *query,
                                     struct nd_document_row *row, struct nd_error *err)
{
    int n_found = look_for(session, query, row, err);

    if (n_found < 0)
        return nd_store_result_of((enum nd_status)n_found);
    if (n_found == 0)
        return nd_store_fail(err, ND_STORE_NOT_FOUND, "there is no such document");
    if (n_found > 1)
        return nd_store_fail(err, ND_STORE_AMBIGUOUS,
                             "there are several documents with this id: name the security labels");
    return ND_STORE_OK;
}

enum nd_status nd_session_copy(struct nd_session *session, struct nd_view bytes,
                               struct nd_view *copy, struct nd_error *err)
{
    char *data = nd_arena_copy(&session->answer, bytes.data, bytes.len);

    if (!data)
        return nd_fail(err, ND_ENOMEM, "out of memory for an answer");
    *copy = (struct nd_view){data, bytes.len};
    return ND_OK;
}

enum nd_status nd_session_describe(struct nd_session *session, struct nd_view id,
                                   const struct nd_document_row *row, struct nd_stored *out,
                                   struct nd_error *err)
{
    struct nd_entry entry;
    enum nd_status status = nd_reader_entry(&session->reader, row->entry, &entry, err);

    if (status != ND_OK)
        return status;
    *out = (struct nd_stored){.created = row->created,
                              .updated = row->updated,
                              .visited = row->visited,
                              .version = row->version,
                              .tokens = entry.n_tokens,
                              .shingles = entry.row.n_shingles,
                              .simhash = entry.row.simhash,
                              .text_bytes = entry.text.bytes,
                              .visits = row->visits,
                              .due = row->due};
    out->key.labels =
        nd_label_sets_labels(session->store->sets, row->label_set, &out->key.n_labels);
    status = nd_session_copy(session, nd_title_view(&row->title), &out->title, err);
    return status == ND_OK ? nd_session_copy(session, id, &out->key.id, err) : status;
}

void nd_session_new_list(struct nd_session *session)
{
    free(session->list);
    session->list = NULL;
    session->list_capacity = 0;
}

/* ---- Contents ---- */

enum nd_store_result nd_session_content(struct nd_session *session,
                                        const struct nd_document *document, struct nd_view *text,
                                        struct nd_error *err)
{
    const struct nd_sketching *sketching = &session->store->sketching;
    enum nd_status status;

    *text = document->text;
    if (!nd_sketching_reads_beside(sketching))
        return ND_STORE_OK;
    session->content.len = 0;
    status = nd_content_pack(nd_sketching_beside(sketching), document, &session->content, err);
    *text = (struct nd_view){session->content.data, session->content.len};
    return nd_store_result_of(status);
}

enum nd_store_result nd_session_document(struct nd_session *session, struct nd_view content,
                                         struct nd_document *document, struct nd_error *err)
{
    nd_arena_reset(&session->document);
    return nd_store_result_of(nd_content_unpack(nd_sketching_beside(&session->store->sketching),
                                                content, &session->document, document, err));
}

enum nd_status nd_session_text(struct nd_session *session, const struct nd_entry *entry,
                               struct nd_stored *out, struct nd_error *err)
{
    enum nd_status status = nd_reader_text(&session->reader, entry, &out->content, err);

    if (status == ND_OK &&
        !nd_content_text(nd_sketching_beside(&session->store->sketching), out->content, &out->text))
        return nd_fail(err, ND_EINPUT, "a stored document cannot be right");
    return status;
}

/* ---- "Have we this already?" ---- */

/*
 * The transaction is renewed under the lock: so it is not older than what was removed from the
 * index.  If it is newer, the index may still have what it has not.
 */
static enum nd_status collect(struct nd_session *session, const struct nd_caller *caller,
                              const struct nd_sketched *text, const struct nd_asked *asked,
                              bool *is_same, struct nd_error *err)
{
    const struct nd_store *store = session->store;
    enum nd_status status;

    session->search.at = asked ? asked->at : (struct nd_ratio){0, 0};
    nd_rwlock_read(store->index_lock);
    status = nd_session_begin(session, caller, err);
    if (status == ND_OK) {
        *is_same = store->commit == session->state.commit;
        status = nd_search_collect(&session->search, store->index, &store->signatures, text,
                                   session->sets.number, session->sets.n, session->state.next_entry,
                                   err);
        if (status == ND_OK)
            status = nd_quotes_collect(&session->search.quotes, &store->contained, text,
                                       session->sets.number, session->sets.n,
                                       session->state.next_entry, err);
        if (status != ND_OK)
            nd_session_end(session);
    }
    nd_rwlock_unlock(store->index_lock);
    return status;
}

/* Find the document that is to have the text, if the caller sees it: it is no answer to itself, and
 * leads nobody any more if its text changes. */
static enum nd_status find_own(struct nd_session *session, const struct nd_document_key *key,
                               const struct nd_sketched *text, struct nd_own_document *own,
                               struct nd_error *err)
{
    struct nd_document_query query = {
        .id = key->id, .labels = key->labels, .n_labels = key->n_labels};
    struct nd_document_row row;
    uint32_t entry;
    enum nd_status status;
    int found = look_for(session, &query, &row, err);

    if (found <= 0)
        return (enum nd_status)found;
    found = nd_reader_find(&session->reader, row.label_set, text, &entry, err);
    if (found < 0 && found != ND_EUNSUPPORTED)
        return (enum nd_status)found;
    *own = (struct nd_own_document){
        .entry = row.entry, .order = row.order, .is_unchanged = found == 1 && entry == row.entry};
    if (own->is_unchanged)
        session->search.equal = row.entry;
    status = nd_reader_leave_out(&session->reader, row.entry, err);
    return status != ND_OK || own->is_unchanged
               ? status
               : nd_leaders_leave_out(&session->leaders, row.entry, row.order, err);
}

static enum nd_status decide(struct nd_session *session, const struct nd_sketched *text,
                             const struct nd_document_key *own, const struct nd_asked *asked,
                             bool is_same, struct nd_verdict *out, struct nd_error *err)
{
    struct nd_judge judge = {.sketching = &session->store->sketching,
                             .sets = session->store->sets,
                             .search = &session->search,
                             .leaders = &session->leaders,
                             .answer = &session->answer,
                             .own = ND_NOT_STORED};
    struct nd_search_source source;
    enum nd_status status = ND_OK;

    if (own)
        status = find_own(session, own, text, &judge.own, err);
    if (status != ND_OK)
        return status;
    nd_judge_ask(&judge, asked, nd_store_now(session->store));
    source =
        is_same ? nd_reader_source(&session->reader) : nd_reader_source_checked(&session->reader);
    judge.source = &source;
    judge.contained = &session->store->contained;
    judge.text = text->text;
    status = nd_search_compare(&session->search, text, &source, err);
    if (status == ND_OK)
        status = nd_quotes_compare(&session->search.quotes, judge.contained, &session->search, text,
                                   &source, err);
    return status == ND_OK
               ? nd_verdict_decide(&judge, session->sets.number, session->sets.n, out, err)
               : status;
}

enum nd_store_result nd_session_query(struct nd_session *session, const struct nd_caller *caller,
                                      struct nd_view text, const struct nd_document_key *own,
                                      const struct nd_asked *asked, struct nd_verdict *out,
                                      struct nd_error *err)
{
    struct nd_sketched sketched;
    struct nd_verdict verdict;
    enum nd_status status;
    bool is_same;

    if (!session->store->index)
        return nd_store_fail(err, ND_STORE_INVALID, "the store was opened to be read only");
    if (asked && asked->at.q && nd_store_check_at(session->store, asked->at, err) != ND_OK)
        return ND_STORE_INVALID;
    status = nd_sketch_text(&session->maker, text, &sketched, err);
    if (status == ND_OK)
        status = collect(session, caller, &sketched, asked, &is_same, err);
    if (status != ND_OK)
        return nd_store_result_of(status);
    verdict = nd_verdict_of_text(&sketched);
    status = decide(session, &sketched, own, asked, is_same, &verdict, err);
    session->reader.absent = ND_NO_ENTRY;
    if (status == ND_OK)
        *out = verdict;
    return end_with(session, status);
}

enum nd_store_result nd_session_fingerprint(struct nd_session *session, struct nd_view text,
                                            struct nd_fingerprint *out, struct nd_error *err)
{
    struct nd_sketched sketched;
    enum nd_status status = nd_sketch_text(&session->maker, text, &sketched, err);
    const enum nd_row_kind kind = session->store->sketching.rows.kind;

    if (status != ND_OK)
        return nd_store_result_of(status);
    *out = (struct nd_fingerprint){.simhash = sketched.row.simhash,
                                   .identity = sketched.row.identity,
                                   .tokens = sketched.n_tokens,
                                   .shingles = sketched.n_shingles,
                                   .has_simhash = true,
                                   .has_minima = kind == ND_ROW_LOW_BYTES};
    if (out->has_minima)
        nd_sketch_minima(&session->maker, out->minhash);
    return ND_STORE_OK;
}

/* ---- One document ---- */

enum nd_store_result nd_session_get(struct nd_session *session, const struct nd_caller *caller,
                                    const struct nd_document_query *query, struct nd_stored *out,
                                    struct nd_error *err)
{
    struct nd_document_row row;
    struct nd_entry entry;
    struct nd_stored stored;
    enum nd_status status = nd_session_begin(session, caller, err);
    enum nd_store_result result;

    if (status != ND_OK)
        return nd_store_result_of(status);
    result = nd_session_find(session, query, &row, err);
    if (result != ND_STORE_OK) {
        nd_session_end(session);
        return result;
    }
    status = nd_session_describe(session, query->id, &row, &stored, err);
    if (status == ND_OK)
        status = nd_reader_entry(&session->reader, row.entry, &entry, err);
    if (status == ND_OK)
        status = nd_session_text(session, &entry, &stored, err);
    if (status == ND_OK)
        *out = stored;
    return end_with(session, status);
}

enum nd_status nd_session_list_versions(struct nd_session *session,
                                        const struct nd_document_row *row, size_t limit, size_t *n,
                                        struct nd_error *err)
{
    uint32_t number = row->version > limit ? (uint32_t)(row->version - limit + 1) : 1;
    struct nd_version_row version;
    struct nd_version *list = session->list;
    int found;

    for (*n = 0; *n < limit; number++) {
        found = nd_catalog_next_version(session->reader.txn, row->number, &number, &version, err);
        if (found < 0)
            return (enum nd_status)found;
        if (!found) /* the present version is the last one */
            return *n && list[*n - 1].number == row->version
                       ? ND_OK
                       : nd_fail(err, ND_EINPUT, "%s: versions of document %llu are missing",
                                 session->store->folder, (unsigned long long)row->number);
        list = session->list;
        if (!ND_RESERVE(list, &session->list_capacity, *n + 1))
            return nd_fail(err, ND_ENOMEM, "out of memory for an answer");
        session->list = list;
        list[(*n)++] = (struct nd_version){.number = number,
                                           .time = version.time,
                                           .visited = version.visited,
                                           .simhash = version.simhash,
                                           .identity = version.identity,
                                           .tokens = version.n_tokens,
                                           .shingles = version.n_shingles,
                                           .text_bytes = version.text_bytes,
                                           .distance = version.distance};
    }
    return ND_OK;
}

enum nd_store_result nd_session_versions(struct nd_session *session, const struct nd_caller *caller,
                                         const struct nd_document_query *query, size_t limit,
                                         struct nd_stored *document, const struct nd_version **out,
                                         size_t *n, struct nd_error *err)
{
    struct nd_document_row row;
    struct nd_stored stored;
    enum nd_status status = nd_session_begin(session, caller, err);
    enum nd_store_result result;

    if (status != ND_OK)
        return nd_store_result_of(status);
    result = nd_session_find(session, query, &row, err);
    if (result != ND_STORE_OK) {
        nd_session_end(session);
        return result;
    }
    nd_session_new_list(session);
    status = nd_session_describe(session, query->id, &row, &stored, err);
    if (status == ND_OK)
        status = nd_session_list_versions(session, &row, limit, n, err);
    if (status == ND_OK) {
        *document = stored;
        *out = session->list;
    }
    return end_with(session, status);
}
