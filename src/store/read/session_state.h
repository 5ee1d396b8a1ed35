/* session_state.h - the working memory of one thread that reads */
#ifndef ND_STORE_READ_SESSION_STATE_H
#define ND_STORE_READ_SESSION_STATE_H

#include "base/memory.h"
#include "store/read/callers.h"
#include "store/read/reader.h"
#include "store/read/store_state.h"
#include "store/search/leaders.h"
#include "store/search/search.h"

struct nd_session {
    struct nd_store *store;
    struct nd_sketch_maker maker;
    struct nd_search search;
    struct nd_reader reader; /* its transaction is paused between calls */
    struct nd_catalog_state state;
    struct nd_set_list sets; /* which the caller at hand sees */
    struct nd_leaders leaders;
    struct nd_arena answer;   /* what the last call gave */
    struct nd_buffer content; /* nd_session_content */
    struct nd_arena document; /* nd_session_document */
    void *list;               /* and the list that it gave */
    size_t list_capacity;
};

/* Begin an answer: a transaction, and what the caller sees in it.  _end lets the transaction go. */
enum nd_status nd_session_begin(struct nd_session *session, const struct nd_caller *caller,
                                struct nd_error *err);
void nd_session_end(struct nd_session *session);

/* The number of a label set that the database has; ND_NO_LABEL_SET. ND_EINVAL, ND_ENOMEM. */
enum nd_status nd_session_find_set(struct nd_session *session, const struct nd_view *labels,
                                   size_t n, uint32_t *number, struct nd_error *err);

/* The document that a query means, within an answer; ND_STORE_NOT_FOUND, _AMBIGUOUS … */
enum nd_store_result nd_session_find(struct nd_session *session,
                                     const struct nd_document_query *query,
                                     struct nd_document_row *row, struct nd_error *err);

/* A document as it is given, with copies of its id and title in session->answer. */
enum nd_status nd_session_describe(struct nd_session *session, struct nd_view id,
                                   const struct nd_document_row *row, struct nd_stored *out,
                                   struct nd_error *err);

/* The text of an entry, and its content, until the next. */
enum nd_status nd_session_text(struct nd_session *session, const struct nd_entry *entry,
                               struct nd_stored *out, struct nd_error *err);

/* Copy bytes, such as an id, to session->answer. */
enum nd_status nd_session_copy(struct nd_session *session, struct nd_view bytes,
                               struct nd_view *copy, struct nd_error *err);
/* Forget the list that was given last; the next one may have elements of another type. */
void nd_session_new_list(struct nd_session *session);
/* The versions of a document, the last `limit` of them, in their order, as session->list. */
enum nd_status nd_session_list_versions(struct nd_session *session,
                                        const struct nd_document_row *row, size_t limit, size_t *n,
                                        struct nd_error *err);

#endif
