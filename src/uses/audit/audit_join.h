/* audit_join.h - the kept documents in an engine, and each removed one beside those that it finds */
#ifndef ND_USES_AUDIT_AUDIT_JOIN_H
#define ND_USES_AUDIT_AUDIT_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loads/streamed.h"
#include "run/run_parts.h"
#include "sketch/sketcher.h"
#include "uses/audit/overlaps.h"
#include "uses/audit/removals.h"
#include "uses/eval/lost.h"

/* A removed document, in the order of the corpus. */
struct nd_audit_removed {
    struct nd_audit_nearest best; /* of the kept ones that were compared with it */
    /* Shared with the kept document of its cluster, and in either; 0: none is known. */
    uint32_t shared, either;
    uint32_t cluster; /* of the removals; ND_REMOVAL_NONE */
    bool is_searched; /* it was compared with every kept one */
};

/*
 * All documents are given once, in order: kept ones become prototypes of the engine, and their places
 * are those of run->places; removed ones are listed.  Then the removed ones are read again, and each
 * is compared with those that the engine finds, and with the kept one of its cluster; and its runs are
 * noted.  Starts from zeroes and the first members, which are borrowed.
 */
struct nd_audit_join {
    struct nd_run *run;
    struct nd_removals *removals;
    struct nd_ratio threshold; /* of a match */
    struct nd_audit_removed *removed;
    size_t n_removed;
    struct nd_places at;                 /* of the removed documents */
    size_t n_doubtful;                   /* removed ones that have no match by now */
    uint64_t kept_bytes, doubtful_bytes; /* of texts */

    struct nd_streamed streamed;
    struct nd_dedup_item *item; /* of the batch, for the engine */
    size_t n_items, from;       /* the first of them, where they are removed ones */
    size_t room[2];
    struct nd_audit_join_worker *worker;
    unsigned n_workers;
    uint64_t n_texts; /* documents that have one, so far */
    struct nd_json name, value;
};

/* The ratio at which documents are near enough to be shown as the nearest: the threshold, but one half
 * at most. */
struct nd_ratio nd_audit_join_ratio(struct nd_ratio threshold);

/* Make the engine.  run->recipe becomes that of the join. */
enum nd_status nd_audit_join_begin(struct nd_audit_join *j, struct nd_error *err);
void nd_audit_join_release(struct nd_audit_join *j);
/* Take a batch of all documents (nd_run_batch); once all were given, all removed ones must be there. */
enum nd_status nd_audit_join_list(void *join, const struct nd_reading_batch *batch,
                                  struct nd_error *err);
enum nd_status nd_audit_join_listed(struct nd_audit_join *j, struct nd_error *err);
/* Take n removed documents from this one on (nd_audit_take). */
enum nd_status nd_audit_join_compare(void *join, const struct nd_parsed *loaded, size_t from,
                                     size_t n, struct nd_error *err);
/* All have been: their runs, of which kept ones may be met.  NULL: out of memory. */
struct nd_lost *nd_audit_join_runs(struct nd_audit_join *j);

/* Read documents again by their places, in batches: n documents from this one on. */
typedef enum nd_status nd_audit_take(void *context, const struct nd_parsed *loaded, size_t from,
                                     size_t n, struct nd_error *err);
enum nd_status nd_audit_read_again(struct nd_run *run, const struct nd_places *places,
                                   unsigned pass, nd_audit_take *take, void *context,
                                   struct nd_error *err);
/* That and the reading of all documents, as they count in the progress. */
enum { ND_AUDIT_PASSES = 3 };

/* The place of a document in the order of the corpus. */
uint64_t nd_audit_order_of(const struct nd_place *place);
/* Whether a removed document is far from the kept one of its cluster. */
bool nd_audit_is_far(const struct nd_audit_join *j, const struct nd_audit_removed *removed);
/* The number of the kept document that has this place, which is there. */
uint32_t nd_audit_find_kept(const struct nd_audit_join *j, uint64_t order);

/* The shingles of a text, also as a set; of one without tokens one that no other has, and no set.
 * Valid until the sketcher's next text. */
struct nd_audit_shingles {
    const uint64_t *item;
    size_t n;
    const struct nd_shingle_set *set;
    struct nd_sketch sketch;
};
enum nd_status nd_audit_shingles_of(struct nd_sketcher *sketcher, struct nd_view text,
                                    struct nd_audit_shingles *out);

#endif
