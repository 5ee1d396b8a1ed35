/* shared_keys.h - the keys that several documents have, in order, found in bounded memory */
#ifndef ND_LOADS_SHARED_KEYS_H
#define ND_LOADS_SHARED_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include <neardup/candidates.h>
#include <neardup/error.h>

#include "base/file/spool.h"
#include "base/thread/pool.h"

/*
 * A document has some 21 keys, and nearly all of them are no other's.  These are not written to any
 * file:
 *
 *     add       rows go to a file, and keys to a filter (base/repeats.h), which notes which of them
 *               came before
 *     finish    the rows are read again and tell their keys (or the keys of rows that do not are read
 *               again); those that may have come more than once go to an external sort
 *     next      the keys come back in order
 *
 * If the keys do not all fit into the filter, they go through it in rounds, a share of them in each.
 * The share of the first round is noted as documents are added.
 */
struct nd_shared_keys;

struct nd_shared_keys_options {
    const struct nd_candidate_rows *rows;
    struct nd_pool *pool;
    const char *tmp;
    /* The memory of the sort, and that of the filter, which `finish` gives back. */
    size_t sort_bytes, filter_bytes;
    /* About how many there will be: with more, more keys than needed are sorted. */
    uint64_t documents;
};

/* A document has a key. */
struct nd_keyed {
    uint64_t key;
    uint64_t document; /* its number */
};

/* Everything is borrowed.  NULL: ND_ENOMEM, ND_EIO. */
struct nd_shared_keys *nd_shared_keys_new(const struct nd_shared_keys_options *options,
                                          struct nd_error *err);
/* NULL is allowed. */
void nd_shared_keys_free(struct nd_shared_keys *s);

/* The rows of the next n documents, and the n_keys[i] keys of each.  ND_ENOMEM, ND_EIO. */
enum nd_status nd_shared_keys_add(struct nd_shared_keys *s, const void *rows,
                                  const uint64_t (*keys)[ND_CANDIDATE_KEYS_MAX],
                                  const size_t *n_keys, size_t n, struct nd_error *err);
/* All have been added.  Likewise. */
enum nd_status nd_shared_keys_finish(struct nd_shared_keys *s, struct nd_error *err);

/* The next in the order of keys, documents of one key in that of their numbers; valid until the next
 * call.  Some of the keys are those of one document.  1; 0: there is none; < 0: as above. */
int nd_shared_keys_next(struct nd_shared_keys *s, const struct nd_keyed **keyed,
                        struct nd_error *err);

/* The rows of all documents, one after the other; empty where all that share a key could match. */
const struct nd_spool *nd_shared_keys_rows(const struct nd_shared_keys *s);

/* Bytes written to files so far. */
uint64_t nd_shared_keys_spilled(const struct nd_shared_keys *s);

#endif
