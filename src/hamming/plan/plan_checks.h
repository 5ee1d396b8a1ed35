/* plan_checks.h - checks of what comes in: problems, machines, plans, fingerprints */
#ifndef ND_HAMMING_PLAN_PLAN_CHECKS_H
#define ND_HAMMING_PLAN_PLAN_CHECKS_H

#include <neardup/hamming.h>

/*
 * The bounds of plan->fill, in a family that has one: fingerprints for each slot in the first line
 * of a bucket.
 */
#define ND_HAMMING_FILL_MIN 0.25
#define ND_HAMMING_FILL_MAX 2.0

/*
 * Each public function that takes one of these calls the check.  ND_EINVAL: NULL, or bits or
 * distance are out of range; a figure is not above 0 (a machine may be NULL); not a design of its
 * family, or its fill is out of range (also ND_ENOMEM).
 */
enum nd_status nd_hamming_problem_check(const struct nd_hamming_problem *problem,
                                        struct nd_error *err);
enum nd_status nd_hamming_machine_check(const struct nd_hamming_machine *machine,
                                        struct nd_error *err);
enum nd_status nd_hamming_plan_check(const struct nd_hamming_plan *plan, struct nd_error *err);

/* ND_EINVAL where one has a bit above `bits`, or there should be some and are none. */
enum nd_status nd_hamming_check_bits(const uint64_t *fingerprints, size_t n, unsigned bits,
                                     struct nd_error *err);

#endif
