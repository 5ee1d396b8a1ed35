/* key_plans.c - plans of tables with keys, which the solver finds
 *
 * A plan does not hold its keys.  It names them: for the same bits, distance, family and length of
 * the shortest key the solver always makes the same tables, for an index and from a file's header.
 */
#include "hamming/plan/key_plans.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "hamming/plan/fingerprint.h"
#include "hamming/plan/plan_checks.h"
#include "hamming/plan/solver.h"

static struct nd_hamming_solver *new_solver(const struct nd_hamming_plan *plan)
{
    return nd_hamming_solver_new(plan->problem.distance, plan->family == ND_HAMMING_COVERING);
}

/* The keys, from malloc.  ND_EINVAL: the solver makes no such plan.  ND_ENOMEM. */
static enum nd_status keys_of(const struct nd_hamming_plan *plan, struct nd_hamming_solver *solver,
                              uint64_t **keys)
{
    unsigned bits = plan->problem.bits;

    *keys = NULL;
    if (plan->key_bits == 0 ||
        nd_hamming_solver_tables(solver, bits, (int)plan->key_bits) != plan->tables)
        return ND_EINVAL;
    *keys = nd_alloc_array(plan->tables * nd_hamming_words(bits), sizeof **keys);
    if (!*keys)
        return ND_ENOMEM;
    nd_hamming_solver_keys(solver, bits, (int)plan->key_bits, *keys);
    return ND_OK;
}

static enum nd_status find_keys(const struct nd_hamming_plan *plan, uint64_t **keys)
{
    struct nd_hamming_solver *solver = new_solver(plan);
    enum nd_status status = solver ? keys_of(plan, solver, keys) : ND_ENOMEM;

    nd_hamming_solver_free(solver);
    return status;
}

uint64_t *nd_hamming_keys_new(const struct nd_hamming_plan *plan)
{
    uint64_t *keys;

    return find_keys(plan, &keys) == ND_OK ? keys : NULL;
}

enum nd_status nd_hamming_plan_keys(const struct nd_hamming_plan *plan, uint64_t *keys,
                                    struct nd_error *err)
{
    enum nd_status status = plan ? nd_hamming_problem_check(&plan->problem, err)
                                 : nd_fail(err, ND_EINVAL, "no plan is given");
    uint64_t *copy;

    if (status == ND_OK && !nd_hamming_family_row(plan->family))
        status = nd_fail(err, ND_EINVAL, "no such family of designs");
    if (status != ND_OK || !nd_hamming_family_row(plan->family)->has_keys)
        return status;
    status = find_keys(plan, &copy);
    if (status == ND_EINVAL)
        return nd_fail(err, ND_EINVAL, "no design of %u tables has keys of %u bits", plan->tables,
                       plan->key_bits);
    if (status != ND_OK)
        return nd_fail(err, status, "out of memory for the keys of %u tables", plan->tables);
    memcpy(keys, copy, plan->tables * nd_hamming_words(plan->problem.bits) * sizeof *keys);
    free(copy);
    return ND_OK;
}

static unsigned longest_key(const struct nd_hamming_plan *plan, const uint64_t *keys)
{
    size_t words = nd_hamming_words(plan->problem.bits);
    unsigned longest = 0;

    for (unsigned t = 0; t < plan->tables; t++) {
        unsigned bits = nd_hamming_ones(keys + t * words, words);

        longest = bits > longest ? bits : longest;
    }
    return longest;
}

/* Complete a plan whose key_bits and tables are set. */
static enum nd_status complete(const struct nd_hamming_machine *machine,
                               struct nd_hamming_solver *solver, struct nd_hamming_plan *plan,
                               struct nd_error *err)
{
    uint64_t *keys;

    if (keys_of(plan, solver, &keys) != ND_OK)
        return nd_fail(err, ND_ENOMEM, "out of memory for the keys of %u tables", plan->tables);
    plan->key_bits_max = longest_key(plan, keys);
    nd_hamming_family_row(plan->family)->predict(machine, plan, keys);
    free(keys);
    return ND_OK;
}

/* The longest key that the same number of tables allows, so that key_bits is the smallest p_i. */
static unsigned stretch(struct nd_hamming_solver *solver, unsigned bits, unsigned tables,
                        unsigned key_bits)
{
    while (key_bits < ND_HAMMING_KEY_MAX &&
           nd_hamming_solver_tables(solver, bits, (int)key_bits + 1) == tables)
        key_bits++;
    return key_bits;
}

enum nd_status nd_hamming_keys_design(const struct nd_hamming_machine *machine, unsigned key_bits,
                                      unsigned tables, struct nd_hamming_plan *plan,
                                      struct nd_error *err)
{
    const struct nd_hamming_problem *problem = &plan->problem;
    struct nd_hamming_solver *solver = new_solver(plan);
    enum nd_status status;

    if (!solver)
        return nd_fail(err, ND_ENOMEM, "out of memory for planning");
    if (key_bits == 0)
        key_bits = nd_hamming_solver_key_bits(solver, problem->bits, tables);
    plan->tables = key_bits == 0 || key_bits > ND_HAMMING_KEY_MAX
                       ? ND_HAMMING_NO_TABLES
                       : nd_hamming_solver_tables(solver, problem->bits, (int)key_bits);
    if (plan->tables == ND_HAMMING_NO_TABLES) {
        status = nd_fail(err, ND_EINVAL,
                         key_bits ? "no design of at most %u tables has keys of %u bits for "
                                    "%u-bit fingerprints within %u"
                                  : "%u tables (key of %u bits) are too few for %u-bit "
                                    "fingerprints within %u",
                         key_bits ? ND_HAMMING_TABLES_MAX : tables, key_bits, problem->bits,
                         problem->distance);
    } else {
        plan->key_bits = stretch(solver, problem->bits, plan->tables, key_bits);
        status = complete(machine, solver, plan, err);
    }
    nd_hamming_solver_free(solver);
    return status;
}

/* Every number of tables of the family, with the longest key that it allows. */
enum nd_status nd_hamming_keys_list(const struct nd_hamming_machine *machine,
                                    const struct nd_hamming_plan *blank,
                                    struct nd_hamming_plan *plans, size_t *n, struct nd_error *err)
{
    const struct nd_hamming_problem *problem = &blank->problem;
    struct nd_hamming_solver *solver = new_solver(blank);
    enum nd_status status = ND_OK;

    if (!solver)
        return nd_fail(err, ND_ENOMEM, "out of memory for planning");
    for (unsigned key_bits = 1; key_bits <= ND_HAMMING_KEY_MAX && status == ND_OK; key_bits++) {
        struct nd_hamming_plan *plan = &plans[*n];

        *plan = *blank;
        plan->tables = nd_hamming_solver_tables(solver, problem->bits, (int)key_bits);
        if (plan->tables == ND_HAMMING_NO_TABLES)
            break;
        key_bits = plan->key_bits = stretch(solver, problem->bits, plan->tables, key_bits);
        status = complete(machine, solver, plan, err);
        ++*n;
    }
    nd_hamming_solver_free(solver);
    return status;
}
