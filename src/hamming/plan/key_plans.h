/* key_plans.h - plans of tables with keys, which the solver finds */
#ifndef ND_HAMMING_PLAN_KEY_PLANS_H
#define ND_HAMMING_PLAN_KEY_PLANS_H

#include "hamming/plan/family.h"

/* For the families that has_keys: see struct nd_hamming_family_row. */
enum nd_status nd_hamming_keys_design(const struct nd_hamming_machine *machine, unsigned key_bits,
                                      unsigned tables, struct nd_hamming_plan *plan,
                                      struct nd_error *err);
enum nd_status nd_hamming_keys_list(const struct nd_hamming_machine *machine,
                                    const struct nd_hamming_plan *blank,
                                    struct nd_hamming_plan *plans, size_t *n, struct nd_error *err);

/* The keys of a plan, from malloc; NULL: out of memory, or not a plan. */
uint64_t *nd_hamming_keys_new(const struct nd_hamming_plan *plan);

#endif
