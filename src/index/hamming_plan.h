/* hamming_plan.h - what the planner and the indexes agree on */
#ifndef ND_INDEX_HAMMING_PLAN_H
#define ND_INDEX_HAMMING_PLAN_H

#include <neardup/hamming.h>

/* Fingerprints for each place in the first line of a bucket: tables of keys; two halves. */
#define ND_HAMMING_FILL_TABLES (4.5 / 7)
#define ND_HAMMING_FILL_HALVES (2.0 / 3)
#define ND_HAMMING_FILL_CROWDED 1.05
#define ND_HAMMING_FILL_TIGHT 1.4
#define ND_HAMMING_FILL_CHAINED 1.6
#define ND_HAMMING_FILL_LEAST 0.25
#define ND_HAMMING_FILL_MOST 2.0

/* Room for chained lines of tables of keys beside those of uniform fingerprints: others chain more.
 */
#define ND_HAMMING_CHAINED_ROOM 1.1

/*
 * Lines that a table of keys with `bits` bits has for so many entries: by its fill, but no more
 * than two for each key that there can be.
 */
double nd_hamming_table_lines(double entries, unsigned bits);

/* Lines of chained buckets. */
struct nd_hamming_chain {
    double size;    /* lines of a bucket, the first counted even when it is empty */
    double look_up; /* lines of a bucket that a query for any key looks at */
};

/*
 * n entries, of 2^bits keys, in `lines` buckets with lines of so many slots: keys fall into buckets
 * by Poisson's law, and entries on keys.
 */
struct nd_hamming_chain nd_hamming_chain(double n, unsigned bits, double lines, unsigned slots);

/* Windows: tables at most, and the most lines that a table may have for each window. */
enum { ND_HAMMING_WINDOW_TABLES = 8, ND_HAMMING_LOOKS = 8 };

/*
 * Of two halves, by the perfect code or by windows: how many bits of its addresses table i always
 * has, the lines that it begins with where slots a line are so many, and those that it has at most.
 */
unsigned nd_hamming_half_low_bits(const struct nd_hamming_plan *plan, unsigned table);
double nd_hamming_half_lines(const struct nd_hamming_plan *plan, unsigned low_bits, unsigned slots);
double nd_hamming_half_most(const struct nd_hamming_plan *plan);

/* The same of the buckets of a half, of which linear hashing has divided the first. */
struct nd_hamming_chain nd_hamming_half_chain(double n, double lines, unsigned slots);

/* What comes in is checked by these, wherever it does.  ND_EINVAL: NULL, or bits or distance are
 * out of range; a figure is none, or not above 0 (NULL is fine); it is no design of its family, or
 * its fill is out of range (also ND_ENOMEM). */
enum nd_status nd_hamming_problem_check(const struct nd_hamming_problem *problem,
                                        struct nd_error *err);
enum nd_status nd_hamming_machine_check(const struct nd_hamming_machine *machine,
                                        struct nd_error *err);
enum nd_status nd_hamming_plan_check(const struct nd_hamming_plan *plan, struct nd_error *err);

/* The keys of a plan, from malloc; NULL: out of memory, or not a plan. */
uint64_t *nd_hamming_keys_new(const struct nd_hamming_plan *plan);

/* Fill in what a plan of this family, key and tables should cost. */
void nd_hamming_predict(const struct nd_hamming_machine *machine, struct nd_hamming_plan *plan,
                        const uint64_t *keys);

/* ND_EINVAL where one has a bit above `bits`, or there should be some and are none. */
enum nd_status nd_hamming_check_bits(const uint64_t *fingerprints, size_t n, unsigned bits,
                                     struct nd_error *err);

/* Fingerprints within the distance of one, over 2^bits: the chance that a uniform one is near. */
double nd_hamming_ball_share(unsigned bits, unsigned distance);

#endif
