/* decisions.h - which documents another run removed, looked up by their names */
#ifndef ND_USES_DECISIONS_H
#define ND_USES_DECISIONS_H

#include "base/json_out.h"
#include "reading/parsed.h"
#include "uses/read_manifest.h"

/*
 * The decision in one row of a manifest, or one line of a file of clusters, about a document.
 * The key is a 128-bit hash, of the document's name alone or of its place and name.
 */
#define ND_DECIDED_LINES ((UINT64_C(1) << 62) - 1)
struct nd_decided {
    uint64_t key[2];
    uint64_t
        more; /* hash of the place; once the rows are sorted: how many documents had this key */
    uint64_t line : 62;
    uint64_t is_removed : 1;
    uint64_t is_unsaid : 1; /* only the equality of its two names says that it is kept */
};

/* The place and the name of a document for which another was removed. */
struct nd_kept_key {
    uint64_t key[2];
};

/* Starts from zeroes. 32 bytes a row: of a manifest for each removed document, else for each. */
struct nd_decisions {
    struct nd_manifest manifest; /* its header */
    const char *path;
    struct nd_decided *row;
    size_t n, capacity;
    bool by_place;
    uint64_t own_line; /* a row whose two documents have one name; 0: there is none */

    /* With `counts`, which says before reading that sizes of clusters are asked for: place and name of
     * the kept document of each row, as keys. */
    bool counts;
    struct nd_kept_key *kept;
    size_t n_kept, kept_capacity;
};

/* Read all rows. */
enum nd_status nd_decisions_read(struct nd_decisions *d, const char *path, struct nd_error *err);
void nd_decisions_release(struct nd_decisions *d);

/*
 * Get ready to look up. by_place: documents are at the places that the manifest names. ND_EINPUT:
 * documents of one name were kept and removed; ND_EINVAL: with `counts`, sizes of clusters cannot be
 * told.
 */
enum nd_status nd_decisions_sort(struct nd_decisions *d, bool by_place, bool is_partial,
                                 struct nd_error *err);

/* Set parsed->key to what nd_decisions_take looks at; by any thread, with scratch of its own. False:
 * out of memory. */
bool nd_decisions_find(const struct nd_decisions *d, struct nd_parsed *parsed,
                       struct nd_json scratch[2]);
/* Return how many documents the cluster of a kept document has, with `counts`. */
uint32_t nd_decisions_members(const struct nd_parsed *parsed);
/* Say what becomes of a document; in order. ND_EINPUT: it is not one of those that were decided. */
enum nd_status nd_decisions_take(struct nd_decisions *d, const struct nd_parsed *parsed,
                                 bool *is_removed, struct nd_error *err);
/* All documents have been taken: check that each row named one. */
enum nd_status nd_decisions_check(const struct nd_decisions *d, struct nd_error *err);

#endif
