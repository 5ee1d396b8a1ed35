/* designs.c - all designs for a problem, and the one to take */
#include "hamming/plan/plan_checks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hamming/plan/family.h"

const char *nd_hamming_family_name(enum nd_hamming_family family)
{
    const struct nd_hamming_family_row *row = nd_hamming_family_row(family);

    return row ? row->name : NULL;
}

int nd_hamming_family_has_sizes(enum nd_hamming_family family)
{
    const struct nd_hamming_family_row *row = nd_hamming_family_row(family);

    return row && row->has_sizes;
}

const char *nd_hamming_plan_name(const struct nd_hamming_plan *plan)
{
    static const struct {
        unsigned bits, distance, tables, key_bits;
        const char *name;
    } known[] = {
        {64, 3, 4, 16, "manku 4"},   {64, 3, 10, 25, "manku 10"},    {64, 3, 16, 28, "manku 16"},
        {64, 3, 20, 31, "manku 20"}, {384, 11, 12, 32, "henzinger"},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (plan->family == ND_HAMMING_BLOCKS && plan->problem.bits == known[i].bits &&
            plan->problem.distance == known[i].distance && plan->tables == known[i].tables &&
            plan->key_bits == known[i].key_bits)
            return known[i].name;
    return NULL;
}

enum nd_status nd_hamming_problem_check(const struct nd_hamming_problem *problem,
                                        struct nd_error *err)
{
    if (!problem)
        return nd_fail(err, ND_EINVAL, "no problem is given");
    if (problem->bits < ND_HAMMING_BITS_MIN || problem->bits > ND_HAMMING_BITS_MAX)
        return nd_fail(err, ND_EINVAL, "fingerprints of %u bits: they must have from %u to %u",
                       problem->bits, ND_HAMMING_BITS_MIN, ND_HAMMING_BITS_MAX);
    if (problem->distance > ND_HAMMING_DISTANCE_MAX)
        return nd_fail(err, ND_EINVAL, "a distance of %u bits: it must be from 0 to %u",
                       problem->distance, ND_HAMMING_DISTANCE_MAX);
    return ND_OK;
}

enum nd_status nd_hamming_check_bits(const uint64_t *fingerprints, size_t n, unsigned bits,
                                     struct nd_error *err)
{
    size_t words = nd_hamming_words(bits);

    if (n && !fingerprints)
        return nd_fail(err, ND_EINVAL, "no fingerprints are given, but their number is %zu", n);
    if (bits % 64 == 0)
        return ND_OK;
    for (size_t i = 0; i < n; i++)
        if (fingerprints[(i + 1) * words - 1] >> bits % 64)
            return nd_fail(err, ND_EINVAL, "fingerprint %zu has more than %u bits", i, bits);
    return ND_OK;
}

enum nd_status nd_hamming_design(const struct nd_hamming_problem *problem,
                                 const struct nd_hamming_machine *machine,
                                 enum nd_hamming_family family, unsigned key_bits, unsigned tables,
                                 struct nd_hamming_plan *plan, struct nd_error *err)
{
    const struct nd_hamming_machine usual = nd_hamming_machine_default();
    const struct nd_hamming_family_row *row = nd_hamming_family_row(family);
    struct nd_hamming_plan made = {.family = family};
    enum nd_status status = nd_hamming_problem_check(problem, err);

    if (status == ND_OK)
        status = nd_hamming_machine_check(machine, err);
    if (status == ND_OK && !row)
        status = nd_fail(err, ND_EINVAL, "no such family of designs");
    if (status != ND_OK)
        return status;
    made.problem = *problem;
    status = row->design(machine ? machine : &usual, key_bits, tables, &made, err);
    if (status == ND_OK)
        *plan = made;
    return status;
}

/* A plan that was altered would make an index that misses answers. */
enum nd_status nd_hamming_plan_check(const struct nd_hamming_plan *plan, struct nd_error *err)
{
    struct nd_hamming_plan again;
    enum nd_status status;

    if (!plan)
        return nd_fail(err, ND_EINVAL, "no plan is given");
    status = nd_hamming_design(&plan->problem, NULL, plan->family, plan->key_bits, plan->tables,
                               &again, err);
    if (status != ND_OK)
        return status;
    if (again.tables != plan->tables || again.key_bits != plan->key_bits)
        return nd_fail(err, ND_EINVAL, "no %s design has %u tables with keys of %u bits",
                       nd_hamming_family_name(plan->family), plan->tables, plan->key_bits);
    if (nd_hamming_family_row(plan->family)->has_fill &&
        !(plan->fill >= ND_HAMMING_FILL_MIN && plan->fill <= ND_HAMMING_FILL_MAX))
        return nd_fail(err, ND_EINVAL, "%s with a fill of %g: it must be from %g to %g",
                       nd_hamming_family_name(plan->family), plan->fill, ND_HAMMING_FILL_MIN,
                       ND_HAMMING_FILL_MAX);
    return ND_OK;
}

static bool beats(const struct nd_hamming_plan *a, const struct nd_hamming_plan *b)
{
    return a->family == b->family && a->bytes <= b->bytes && a->query_seconds <= b->query_seconds &&
           (a->bytes < b->bytes || a->query_seconds < b->query_seconds);
}

/* Halves of different fill are the same index where both have the fewest buckets that there can be,
 * or the most. */
static bool repeats(const struct nd_hamming_plan *a, const struct nd_hamming_plan *b)
{
    return a->family == b->family && a->tables == b->tables && a->bytes == b->bytes &&
           a->query_seconds == b->query_seconds;
}

/* Leave only the plans worth showing; returns how many. */
static size_t drop_beaten(struct nd_hamming_plan *plans, size_t n)
{
    bool beaten[ND_HAMMING_PLANS_MAX] = {false};
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            beaten[i] |=
                (beats(&plans[j], &plans[i]) || (j < i && repeats(&plans[j], &plans[i]))) &&
                !nd_hamming_plan_name(&plans[i]);
    for (size_t i = 0; i < n; i++)
        if (!beaten[i])
            plans[kept++] = plans[i];
    return kept;
}

static int by_time(const void *a, const void *b)
{
    const struct nd_hamming_plan *x = a, *y = b;

    if (x->query_seconds != y->query_seconds)
        return x->query_seconds < y->query_seconds ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* All of them, the fastest first; `plans` holds ND_HAMMING_PLANS_MAX. */
static enum nd_status list_all(const struct nd_hamming_problem *problem,
                               const struct nd_hamming_machine *machine,
                               struct nd_hamming_plan *plans, size_t *n, struct nd_error *err)
{
    const struct nd_hamming_machine usual = nd_hamming_machine_default();
    enum nd_status status = nd_hamming_problem_check(problem, err);
    const struct nd_hamming_family_row *row;

    if (status == ND_OK)
        status = nd_hamming_machine_check(machine, err);
    machine = machine ? machine : &usual;
    *n = 0;
    for (unsigned f = 0;
         status == ND_OK && (row = nd_hamming_family_row((enum nd_hamming_family)f)); f++) {
        const struct nd_hamming_plan blank = {.problem = *problem,
                                              .family = (enum nd_hamming_family)f};

        status = row->list(machine, &blank, plans, n, err);
    }
    if (status != ND_OK)
        return status;
    *n = drop_beaten(plans, *n);
    qsort(plans, *n, sizeof *plans, by_time);
    return ND_OK;
}

enum nd_status nd_hamming_plans(const struct nd_hamming_problem *problem,
                                const struct nd_hamming_machine *machine,
                                struct nd_hamming_plan *plans, size_t capacity, size_t *n,
                                struct nd_error *err)
{
    struct nd_hamming_plan all[ND_HAMMING_PLANS_MAX];
    size_t count;
    enum nd_status status = list_all(problem, machine, all, &count, err);

    if (status != ND_OK)
        return status;
    *n = count < capacity ? count : capacity;
    memcpy(plans, all, *n * sizeof *plans);
    return ND_OK;
}

enum nd_status nd_hamming_choose(const struct nd_hamming_problem *problem,
                                 const struct nd_hamming_machine *machine, double memory,
                                 struct nd_hamming_plan *plan, struct nd_error *err)
{
    struct nd_hamming_plan all[ND_HAMMING_PLANS_MAX];
    size_t n;
    enum nd_status status = list_all(problem, machine, all, &n, err);
    double smallest = 0;

    if (status != ND_OK)
        return status;
    for (size_t i = 0; i < n; i++) {
        if (memory == 0 || all[i].bytes <= memory) {
            *plan = all[i];
            return ND_OK;
        }
        if (i == 0 || all[i].bytes < smallest)
            smallest = all[i].bytes;
    }
    return nd_fail(err, ND_EINVAL, "no design fits in %.0f bytes: the smallest takes %.0f", memory,
                   smallest);
}
