/* hamming_plan.h - what the planner and the indexes agree on */
#ifndef ND_INDEX_HAMMING_PLAN_H
#define ND_INDEX_HAMMING_PLAN_H

#include <neardup/hamming.h>

/* The mean number of fingerprints that a line of each kind is sized for, and its slots. */
#define ND_HAMMING_FILL_TABLES 4.5 /* of 7 */
#define ND_HAMMING_FILL_IDS 4.0    /* of 6 */
#define ND_HAMMING_FILL_OTHER 6.8  /* of 10 */

/* ND_EINVAL where bits, distance, family or number of tables are out of range. */
enum nd_status nd_hamming_problem_check(const struct nd_hamming_problem *problem,
                                        struct nd_error *err);

/* The keys of a plan, from malloc; NULL: out of memory, or not a plan. */
uint64_t *nd_hamming_keys_new(const struct nd_hamming_plan *plan);

/* Fill in what a plan of this family, key and tables should cost. */
void nd_hamming_predict(const struct nd_hamming_machine *machine, struct nd_hamming_plan *plan,
                        const uint64_t *keys);

/* ND_EINVAL where one has a bit above `bits`. */
enum nd_status nd_hamming_check_bits(const uint64_t *fingerprints, size_t n, unsigned bits,
                                     struct nd_error *err);

/* Fingerprints within the distance of one, over 2^bits: the chance that a uniform one is near. */
double nd_hamming_ball_share(unsigned bits, unsigned distance);

#endif
