/* recent.h - the documents that a caller sees, one after the other, the newest first
 *
 *     nd_recent_begin(&walk, session, NULL, &err);
 *     while (nd_recent_next(&walk, &found, &err) == 1)
 *         … found.id …
 *     nd_recent_end(&walk);
 *
 * They come by when their first version was posted, the latest first; those of one second by their
 * ids, in the order of the keys of the table `documents`, the last one first; those of one id by the
 * hashes of their label sets.  So no number of the store decides, which hidden documents would move.
 */
#ifndef ND_STORE_READ_RECENT_H
#define ND_STORE_READ_RECENT_H

#include "store/catalog/catalog_tables.h"
#include "store/read/session_state.h"

/* The next document of a label set. */
struct nd_recent_cursor {
    uint32_t set;
    struct nd_text_hash hash; /* of the set's labels */
    struct nd_key key;        /* in the table `recent` */
    uint64_t created;
    struct nd_view id; /* in the key or in the transaction */
};

/* A walk within an answer (nd_session_begin). */
struct nd_recent_walk {
    struct nd_session *session;
    struct nd_recent_cursor *cursor; /* one for each set that the caller sees */
    struct nd_recent_cursor **heap;  /* those that have a document, the newest on top */
    size_t n;
    bool is_given; /* the one on top has been given */
};

/* Begin with the newest, or behind a place that nd_recent_place gave.  ND_EINVAL: it is no place. */
enum nd_status nd_recent_begin(struct nd_recent_walk *walk, struct nd_session *session,
                               const struct nd_place *after, struct nd_error *err);
/* 1: *found is the next one, until the next call; 0: there is none; < 0. */
int nd_recent_next(struct nd_recent_walk *walk, const struct nd_recent_cursor **found,
                   struct nd_error *err);
/* The row of a document that was found. */
enum nd_status nd_recent_row(const struct nd_recent_walk *walk,
                             const struct nd_recent_cursor *document, struct nd_document_row *row,
                             struct nd_error *err);
void nd_recent_end(struct nd_recent_walk *walk);

/* The place of a document in this order. */
struct nd_place nd_recent_place(const struct nd_recent_cursor *document);

#endif
