/* predict.h - what families predict their costs with: chance, lengths of chains, random lines */
#ifndef ND_HAMMING_PLAN_PREDICT_H
#define ND_HAMMING_PLAN_PREDICT_H

#include <neardup/hamming.h>

/* Lines of the buckets of a table, overflow chains included. */
struct nd_hamming_chain {
    double size;    /* lines of a bucket, in the mean; the first counts even when it is empty */
    double look_up; /* lines of the bucket of a given key, in the mean */
};

/*
 * n entries whose keys have `bits` bits, in a table of `lines` buckets whose lines have so many
 * slots.  Keys fall into buckets at random, and entries on keys.
 */
struct nd_hamming_chain nd_hamming_chain(double n, unsigned bits, double lines, unsigned slots);

/*
 * As nd_hamming_chain, for a table that grew by linear hashing to any number of lines, and entries
 * that hardly share keys.
 */
struct nd_hamming_chain nd_hamming_linear_chain(double n, double lines, unsigned slots);

/* Seconds for one random line of a table of so many bytes, where many lines are under way. */
double nd_hamming_line_seconds(const struct nd_hamming_machine *machine, double bytes);

/*
 * A line whose address is known only when another one has come waits alone: it costs as much as so
 * many lines that are under way together.
 */
#define ND_HAMMING_LATE_LINE 8.0

/* Predictions take it that this fraction of queries finds one fingerprint. */
#define ND_HAMMING_FINDING 0.5

/* Bytes of the fingerprints themselves with their ids, where a family keeps them as rows: 8 bytes an
 * id. */
double nd_hamming_rows_bytes(const struct nd_hamming_problem *problem);

/* The fraction of all fingerprints of `bits` bits that lie within the distance of a given one. */
double nd_hamming_ball_fraction(unsigned bits, unsigned distance);

#endif
