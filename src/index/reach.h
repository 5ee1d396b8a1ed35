/* reach.h - the rule by which two documents of a group that share a key could match
 *
 * One document's side of it, made by the plan of its recipe (nd_engine_plan_reach).  Whoever has
 * documents asks it about the other one: the live index and the containers, rows on disk and on other
 * machines, and the estimate of `plan`.  Resemblance looks the same from both sides.
 */
#ifndef ND_INDEX_REACH_H
#define ND_INDEX_REACH_H

#include <stdbool.h>
#include <stdint.h>

struct nd_reach {
    uint32_t least, most; /* distinct shingles of the other one */
    uint32_t distance;    /* most low bytes of minima, or bits of a fingerprint, that differ */
};
#define ND_REACH_ALL ((struct nd_reach){0, UINT32_MAX, UINT32_MAX})

/* The two halves of nd_reaches, for those to whom one of them costs less. */
static inline bool nd_reaches_count(struct nd_reach reach, uint32_t n_shingles)
{
    return n_shingles >= reach.least && n_shingles <= reach.most;
}

static inline bool nd_reaches_distance(struct nd_reach reach, unsigned distance)
{
    return distance <= reach.distance;
}

static inline bool nd_reaches(struct nd_reach reach, uint32_t n_shingles, unsigned distance)
{
    return nd_reaches_distance(reach, distance) && nd_reaches_count(reach, n_shingles);
}

#endif
