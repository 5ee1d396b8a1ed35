/* neardup/visits.h - one document over time: how much it changes, and when to look again */
#ifndef NEARDUP_VISITS_H
#define NEARDUP_VISITS_H

#include <neardup/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The rule of 000 section 2.6.1.  A document has been visited n times; the simhash of what stood
 * there is known of each visit.  The distance of a visit is the Hamming distance to the visit
 * before.  After each visit
 *
 *   - where the last `equal` simhashes are all the same, the interval is multiplied by `factor`,
 *   - where the last `changes` distances are all above 0, it is divided by it,
 *
 * within the bounds, and rounded down to seconds.  The paper names three of each; the factor, the
 * bounds and the first interval are ours, for it gives none.
 */
struct nd_visit_params {
    unsigned equal, changes;    /* 2 …: 3; 1 …: 3 */
    unsigned factor;            /* 2 … 1000: 2 */
    uint64_t interval;          /* seconds, to begin with: a day */
    uint64_t shortest, longest; /* shortest <= interval <= longest < 2^32: an hour, 90 days */
};
ND_API struct nd_visit_params nd_visit_params_default(void);

/* What is known of a document after its visits: 48 bytes to keep.  Starts from zeroes. */
struct nd_visits {
    uint64_t simhash;         /* of the last visit */
    uint64_t visits, changes; /* changes: those whose distance is above 0 */
    uint64_t interval;        /* seconds until the next visit */
    uint32_t equal, changed;  /* visits on end, up to the last: of one simhash; with a change */
    /* Distance of the last visit: the greater, the earlier it is indexed; 64 (the bits of the
     * simhash) of the first one, when nothing of the document is in the index. */
    uint32_t priority;
};

/* ND_EINVAL: parameters out of range. */
ND_API enum nd_status nd_visits_check(const struct nd_visit_params *params, struct nd_error *err);

/* Another visit, which found this simhash.  The parameters are those of all visits, checked. */
ND_API void nd_visits_add(const struct nd_visit_params *params, struct nd_visits *visits,
                          uint64_t simhash);

/*
 * The same by another measure than the simhash, which is then 0: another visit, which found
 * something at this distance from the visit before; 0: the same.  Of the first visit `distance` is
 * the priority: as far as anything can be from nothing.
 */
ND_API void nd_visits_add_distance(const struct nd_visit_params *params, struct nd_visits *visits,
                                   uint32_t distance);

#ifdef __cplusplus
}
#endif
#endif
