/*
 * neardup/visits.h - one document over time: how much it changes, and when to visit it again
 * (library neardup)
 *
 *     struct nd_visit_params params = nd_visit_params_default();
 *     struct nd_visits visits = {0};
 *
 *     nd_visits_add(&params, &visits, sketch.simhash);
 *     next_visit = now + visits.interval;
 */
#ifndef NEARDUP_VISITS_H
#define NEARDUP_VISITS_H

#include <neardup/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The rule of Seshasai 2009, §2.6.1.  A document has been visited n times; the simhash of what
 * stood there is known of each visit.  The distance of a visit is the Hamming distance to the visit
 * before.  After each visit
 *
 *   - where the last `equal` simhashes are all the same, the interval is multiplied by `factor`,
 *   - where the last `changes` distances are all above 0, it is divided by it,
 *
 * within the bounds, and rounded down to seconds.  The paper names three of each; the factor, the
 * bounds and the first interval are ours, for it gives none.
 *
 * "The size of the Hamming distance, being proportional to the level of importance of the change"
 * (ibid.), does not count in that: any change is one.  With `expect` above 0 it does, in place of
 * the second line: the interval becomes the time in which a distance of `expect` comes together, as
 * fast as the distances of the visits so far did, each counted half as much as the one after it; at
 * most `factor` times what it was, and no less than that part of it.
 */
struct nd_visit_params {
    /* From 2 on: 3. */
    unsigned equal;
    /* From 1 on: 3. */
    unsigned changes;
    /* 2 … 1000: 2. */
    unsigned factor;
    /* Seconds, to begin with: a day. */
    uint64_t interval;
    /* Its bounds, shortest <= interval <= longest < 2^32: an hour, 90 days. */
    uint64_t shortest, longest;
    /* 0: changes count, not how great they are. */
    uint32_t expect;
};
ND_API struct nd_visit_params nd_visit_params_default(void);

/* The state of a document after its visits: 64 bytes to keep.  Starts from zeroes. */
struct nd_visits {
    /* The simhash of the last visit. */
    uint64_t simhash;
    /* All visits, and those whose distance is above 0. */
    uint64_t visits, changes;
    /* Seconds until the next visit. */
    uint64_t interval;
    /* How many visits in a row, up to the last, found one simhash, or a change. */
    uint32_t equal, changed;
    /* Distance of the last visit: the greater, the earlier it is indexed; 64 (the bits of the
     * simhash) for the first one, when nothing of the document is in the index. */
    uint32_t priority;
    /* Distances, and the seconds that they took, in 2^-16; the older ones halve with each visit. */
    uint64_t changed_by, in_time;
};

/* ND_EINVAL: parameters out of range. */
ND_API enum nd_status nd_visits_check(const struct nd_visit_params *params, struct nd_error *err);

/* Another visit, which found this simhash.  The parameters are those of all visits, checked. */
ND_API void nd_visits_add(const struct nd_visit_params *params, struct nd_visits *visits,
                          uint64_t simhash);

/*
 * Note a visit by another measure than the simhash, which is then 0: another visit, which found
 * something at this distance from the visit before; 0: the same.  For the first visit `distance` is
 * the priority: as far as anything can be from nothing.
 */
ND_API void nd_visits_add_distance(const struct nd_visit_params *params, struct nd_visits *visits,
                                   uint32_t distance);

/* Note a visit for which it is known how many seconds went by since the visit before; the others
 * take it that the document was visited when it was to be.  Of the first visit they do not count.
 */
ND_API void nd_visits_add_after(const struct nd_visit_params *params, struct nd_visits *visits,
                                uint32_t distance, uint64_t seconds);

/*
 * Return the gap: the seconds in which a distance of `expect` comes together, as fast as the
 * distances of the visits so far did, 1 to 2^32 - 1.  It is what an interval with `expect` is made
 * of, without the bounds of the parameters.  0: no visit has found a change, or `expect` is 0.
 */
ND_API uint64_t nd_visits_gap(const struct nd_visits *visits, uint32_t expect);

#ifdef __cplusplus
}
#endif
#endif
