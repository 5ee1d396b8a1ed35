/* audit_join.h - the kept documents in an engine, and each removed one beside those that it finds */
#ifndef ND_USES_AUDIT_AUDIT_JOIN_H
#define ND_USES_AUDIT_AUDIT_JOIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loads/streamed.h"
#include "run/run_parts.h"
#include "uses/audit/overlaps.h"
#include "uses/audit/removals.h"

/* A removed document, in the order of the corpus. */
struct nd_audit_removed {
    uint64_t order;
    struct nd_audit_nearest best; /* of the kept ones that were compared with it */
    /* Shared with the kept document of its cluster, and in either; 0: none is known. */
    uint32_t shared, either;
    uint32_t cluster; /* of the removals; ND_REMOVAL_NONE */
};

/* A removed document that is read again: it has no match by now, or is far from the kept document of
 * its cluster. */
struct nd_audit_listed {
    uint32_t number; /* among the removed ones */
    bool is_doubtful;
    struct nd_place place;
};

/*
 * Two passes.  First all documents are given, in order: kept ones become prototypes of the engine,
 * and their places are those of run->places; removed ones are listed.  Then they are given again, and
 * each removed one is compared with those that the engine finds, and with the kept one of its cluster.
 * Starts from zeroes and the first members, which are borrowed.
 */
struct nd_audit_join {
    struct nd_run *run;
    struct nd_removals *removals;
    struct nd_ratio threshold; /* of a match; the engine finds those from `found` on */
    struct nd_audit_removed *removed;
    size_t n_removed;
    struct nd_audit_listed *listed; /* their numbers ascend */
    size_t n_listed, n_doubtful;
    uint64_t kept_bytes, doubtful_bytes; /* of texts */

    struct nd_streamed streamed;
    struct nd_dedup_item *item; /* of the batch: documents for the engine, */
    uint32_t *number;           /* and which of the removed ones they are */
    size_t n_items, room[4];
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
/* The first pass (nd_run_batch), and its end: all removed documents must be there. */
enum nd_status nd_audit_join_list(void *join, const struct nd_reading_batch *batch,
                                  struct nd_error *err);
enum nd_status nd_audit_join_listed(struct nd_audit_join *j, struct nd_error *err);
/* The second. */
enum nd_status nd_audit_join_compare(struct nd_audit_join *j, const struct nd_reading_batch *batch,
                                     struct nd_error *err);

/* The place of a document in the order of the corpus; and of a place, that of its document. */
uint64_t nd_audit_order(const struct nd_record *record);
uint64_t nd_audit_order_of(const struct nd_place *place);
/* The removed document that has this place, or NULL: it is kept.  After the first pass, any thread. */
struct nd_audit_removed *nd_audit_find_removed(const struct nd_audit_join *j, uint64_t order);
/* Whether a removed document is far from the kept one of its cluster. */
bool nd_audit_is_far(const struct nd_audit_join *j, const struct nd_audit_removed *removed);
/* The place of a removed document that is listed, by its number. */
const struct nd_place *nd_audit_listed_place(const struct nd_audit_join *j, uint32_t number);
/* The number of the kept document that has this place, which is there. */
uint32_t nd_audit_find_kept(const struct nd_audit_join *j, uint64_t order);

/* The shingles of a text; of one without tokens one that no other has.  Valid until the sketcher's next
 * text. */
struct nd_audit_shingles {
    const uint64_t *item;
    size_t n;
    bool is_empty;
    struct nd_sketch sketch;
};
enum nd_status nd_audit_shingles_of(struct nd_sketcher *sketcher, struct nd_view text,
                                    struct nd_audit_shingles *out);

#endif
