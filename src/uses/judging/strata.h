/* strata.h - pairs divided by a value, and how many of each part are drawn */
#ifndef ND_USES_JUDGING_STRATA_H
#define ND_USES_JUDGING_STRATA_H

#include <neardup/error.h>

#include "uses/eval/relation.h"

/* Pairs whose values lie in [from, to), and are listed or near misses. */
struct nd_stratum {
    double from, to; /* -INFINITY, INFINITY: without an end; NAN: pairs without a value */
    double most;     /* greatest value of its pairs */
    bool is_listed;
    uint64_t pairs, drawn;
};

/* Starts from zeroes. */
struct nd_strata {
    char *column; /* NULL: there is one, or two with near misses */
    double *edge;
    size_t n_edges, edges_capacity;
    double width; /* each begins at a multiple of it; 0: not so */
    struct nd_stratum *at;
    size_t n, capacity;
};
void nd_strata_release(struct nd_strata *s);

/*
 * Read what an option says: COLUMN, where each value is a stratum; COLUMN:WIDTH; or COLUMN:EDGE,EDGE…,
 * ascending. NULL: no column. ND_EINVAL, ND_ENOMEM.
 */
enum nd_status nd_strata_parse(struct nd_strata *s, const char *option, struct nd_error *err);

/* Divide the pairs, listed strata first, each kind by rising values; of[i] becomes the stratum of pair
 * i. ND_EINPUT: there are more than 1,000. */
enum { ND_STRATA_MAX = 1000 };
enum nd_status nd_strata_divide(struct nd_strata *s, const struct nd_relation *pairs, uint32_t *of,
                                struct nd_error *err);

/* Say how many are drawn of each: equally many, or in proportion, but one at least; all where `size`
 * is no less than all. */
void nd_strata_allocate(struct nd_strata *s, uint64_t size, bool equally);
/* The least size with which the share that is the same in listed strata, where it is `expected`, has
 * an interval of at most `half` at each side; *half is what it then is. */
uint64_t nd_strata_size_for(struct nd_strata *s, double *half, double expected, bool equally);

/* How far the farther end of the interval is from the share, as above, with what is drawn now. */
double nd_strata_half_width(const struct nd_strata *s, double expected);

/* The name of a stratum: "0.5-0.6", "3", "all", "none" without a value; near misses as
 * "near-miss 0.5-0.6". */
enum { ND_STRATUM_NAME = 96 };
void nd_stratum_name(const struct nd_stratum *s, char out[ND_STRATUM_NAME]);

#endif
