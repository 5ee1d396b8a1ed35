/* hamming_plan.c - all designs for a problem, and the one to take */
#include "index/hamming_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/hamming_solver.h"

const char *nd_hamming_family_name(enum nd_hamming_family family)
{
    static const char *const name[] = {"scan",   "blocks",   "covering",
                                       "halves", "popcount", "windows"};

    return (size_t)family < sizeof name / sizeof *name ? name[family] : NULL;
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
        return nd_fail(err, ND_EINVAL, "there is no problem to solve");
    if (problem->bits < ND_HAMMING_BITS_MIN || problem->bits > ND_HAMMING_BITS_MAX)
        return nd_fail(err, ND_EINVAL, "fingerprints of %u bits: %u to %u can be searched",
                       problem->bits, ND_HAMMING_BITS_MIN, ND_HAMMING_BITS_MAX);
    if (problem->distance > ND_HAMMING_DISTANCE_MAX)
        return nd_fail(err, ND_EINVAL, "a distance of %u bits: 0 to %u can be searched",
                       problem->distance, ND_HAMMING_DISTANCE_MAX);
    return ND_OK;
}

enum nd_status nd_hamming_machine_check(const struct nd_hamming_machine *machine,
                                        struct nd_error *err)
{
    bool fine = true;

    if (!machine)
        return ND_OK;
    for (size_t i = 0; i < ND_HAMMING_SIZES; i++)
        fine &= isfinite(machine->line_ns[i]) && machine->line_ns[i] > 0;
    fine &= isfinite(machine->compare_ns) && machine->compare_ns > 0;
    fine &= isfinite(machine->fresh_ns) && machine->fresh_ns > 0;
    fine &= isfinite(machine->table_ns) && machine->table_ns > 0;
    fine &= isfinite(machine->bucket_ns) && machine->bucket_ns > 0;
    fine &= isfinite(machine->table_add_ns) && machine->table_add_ns > 0;
    fine &= isfinite(machine->half_add_ns) && machine->half_add_ns > 0;
    return fine ? ND_OK : nd_fail(err, ND_EINVAL, "every figure of a machine is above 0");
}

static bool has_keys(const struct nd_hamming_plan *plan)
{
    return plan->family == ND_HAMMING_BLOCKS || plan->family == ND_HAMMING_COVERING;
}

/* The keys, from malloc.  ND_EINVAL: the plan is none of ours.  ND_ENOMEM. */
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
    bool coverings = plan->family == ND_HAMMING_COVERING;
    struct nd_hamming_solver *solver = nd_hamming_solver_new(plan->problem.distance, coverings);
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
                                 : nd_fail(err, ND_EINVAL, "there is no plan");
    uint64_t *copy;

    if (status == ND_OK && !nd_hamming_family_name(plan->family))
        status = nd_fail(err, ND_EINVAL, "no such family of designs");
    if (status != ND_OK || !has_keys(plan))
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
    unsigned most = 0;

    for (unsigned t = 0; t < plan->tables; t++) {
        unsigned bits = 0;

        for (size_t w = 0; w < words; w++)
            bits += (unsigned)__builtin_popcountll(keys[t * words + w]);
        most = bits > most ? bits : most;
    }
    return most;
}

/* A plan of the family with a choice: key_bits and tables are set; the rest follows. */
static enum nd_status complete(const struct nd_hamming_machine *machine,
                               struct nd_hamming_solver *solver, struct nd_hamming_plan *plan,
                               struct nd_error *err)
{
    uint64_t *keys;

    if (keys_of(plan, solver, &keys) != ND_OK)
        return nd_fail(err, ND_ENOMEM, "out of memory for the keys of %u tables", plan->tables);
    plan->key_bits_most = longest_key(plan, keys);
    nd_hamming_predict(machine, plan, keys);
    free(keys);
    return ND_OK;
}

static bool is_for_halves(const struct nd_hamming_problem *problem)
{
    return problem->bits == 64 && problem->distance <= 3;
}

/* Windows: m of each half, each of which leaves out an m-th of it. */
static unsigned window_bits(unsigned tables)
{
    unsigned m = tables / 2;

    return 32 - (32 + m - 1) / m;
}

/* The fewest tables whose windows have key_bits, or, 0, as many as there may be.  False: none do.
 */
static bool choose_windows(struct nd_hamming_plan *plan, unsigned key_bits, unsigned tables)
{
    unsigned most = ND_HAMMING_WINDOW_TABLES;

    if (key_bits)
        for (tables = 4; tables < most && window_bits(tables) < key_bits; tables += 2)
            ;
    plan->tables = tables < most ? tables & ~1u : most;
    if (plan->tables < 4 || window_bits(plan->tables) < key_bits)
        return false;
    plan->key_bits = plan->key_bits_most = window_bits(plan->tables);
    return true;
}

/* The families that leave no choice, and windows.  False: this one does not serve the problem. */
static bool design_fixed(const struct nd_hamming_machine *machine, unsigned key_bits,
                         unsigned tables, struct nd_hamming_plan *plan)
{
    bool halves = plan->family == ND_HAMMING_HALVES, windows = plan->family == ND_HAMMING_WINDOWS;

    plan->key_bits = plan->key_bits_most = 0;
    plan->tables = 0;
    if (halves || windows) {
        plan->fill = plan->fill > 0 ? plan->fill : ND_HAMMING_FILL_HALVES;
        if (!is_for_halves(&plan->problem) || (windows && !choose_windows(plan, key_bits, tables)))
            return false;
    }
    if (plan->family == ND_HAMMING_POPCOUNT)
        plan->tables = plan->problem.bits + 1;
    if (halves) {
        plan->tables = 2;
        plan->key_bits = plan->key_bits_most = 26;
    }
    nd_hamming_predict(machine, plan, NULL);
    return true;
}

/* The longest key that the same number of tables allows, so that key_bits is the least p_i. */
static unsigned stretch(struct nd_hamming_solver *solver, unsigned bits, unsigned tables,
                        unsigned key_bits)
{
    while (key_bits < ND_HAMMING_KEY_MAX &&
           nd_hamming_solver_tables(solver, bits, (int)key_bits + 1) == tables)
        key_bits++;
    return key_bits;
}

static enum nd_status design_keys(const struct nd_hamming_machine *machine, unsigned key_bits,
                                  unsigned tables, struct nd_hamming_plan *plan,
                                  struct nd_error *err)
{
    const struct nd_hamming_problem *problem = &plan->problem;
    struct nd_hamming_solver *solver =
        nd_hamming_solver_new(problem->distance, plan->family == ND_HAMMING_COVERING);
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

enum nd_status nd_hamming_design(const struct nd_hamming_problem *problem,
                                 const struct nd_hamming_machine *machine,
                                 enum nd_hamming_family family, unsigned key_bits, unsigned tables,
                                 struct nd_hamming_plan *plan, struct nd_error *err)
{
    const struct nd_hamming_machine usual = nd_hamming_machine_default();
    struct nd_hamming_plan made = {.family = family};
    enum nd_status status = nd_hamming_problem_check(problem, err);

    if (status == ND_OK)
        status = nd_hamming_machine_check(machine, err);
    if (status != ND_OK)
        return status;
    made.problem = *problem;
    if (!nd_hamming_family_name(family))
        return nd_fail(err, ND_EINVAL, "no such family of designs");
    machine = machine ? machine : &usual;
    if (has_keys(&made)) {
        status = design_keys(machine, key_bits, tables, &made, err);
        if (status != ND_OK)
            return status;
    } else if (!design_fixed(machine, key_bits, tables, &made)) {
        if (is_for_halves(problem))
            return nd_fail(err, ND_EINVAL, "windows have 4 to %u tables and keys of 16 to %u bits",
                           ND_HAMMING_WINDOW_TABLES, window_bits(ND_HAMMING_WINDOW_TABLES));
        return nd_fail(err, ND_EINVAL, "two halves serve 64 bits within 3, not %u within %u",
                       problem->bits, problem->distance);
    }
    *plan = made;
    return ND_OK;
}

/* A plan that was altered would make an index that misses answers. */
enum nd_status nd_hamming_plan_check(const struct nd_hamming_plan *plan, struct nd_error *err)
{
    struct nd_hamming_plan again;
    enum nd_status status;

    if (!plan)
        return nd_fail(err, ND_EINVAL, "there is no plan");
    status = nd_hamming_design(&plan->problem, NULL, plan->family, plan->key_bits, plan->tables,
                               &again, err);
    if (status != ND_OK)
        return status;
    if (again.tables != plan->tables || again.key_bits != plan->key_bits)
        return nd_fail(err, ND_EINVAL, "no %s design has %u tables with keys of %u bits",
                       nd_hamming_family_name(plan->family), plan->tables, plan->key_bits);
    if ((plan->family == ND_HAMMING_HALVES || plan->family == ND_HAMMING_WINDOWS) &&
        !(plan->fill >= ND_HAMMING_FILL_LEAST && plan->fill <= ND_HAMMING_FILL_MOST))
        return nd_fail(err, ND_EINVAL, "%s with a fill of %g: %g to %g can be had",
                       nd_hamming_family_name(plan->family), plan->fill, ND_HAMMING_FILL_LEAST,
                       ND_HAMMING_FILL_MOST);
    return ND_OK;
}

/* A list of plans being made: at most one a key length and family, and the fixed ones. */
struct list {
    struct nd_hamming_plan at[ND_HAMMING_PLANS_MAX];
    size_t n;
};

/* Every number of tables of one family, with the longest key each allows. */
static enum nd_status list_family(struct list *list, const struct nd_hamming_problem *problem,
                                  const struct nd_hamming_machine *machine,
                                  enum nd_hamming_family family, struct nd_error *err)
{
    bool coverings = family == ND_HAMMING_COVERING;
    struct nd_hamming_solver *solver = nd_hamming_solver_new(problem->distance, coverings);
    enum nd_status status = ND_OK;

    if (!solver)
        return nd_fail(err, ND_ENOMEM, "out of memory for planning");
    for (unsigned key_bits = 1; key_bits <= ND_HAMMING_KEY_MAX && status == ND_OK; key_bits++) {
        struct nd_hamming_plan *plan = &list->at[list->n];

        *plan = (struct nd_hamming_plan){.problem = *problem, .family = family};
        plan->tables = nd_hamming_solver_tables(solver, problem->bits, (int)key_bits);
        if (plan->tables == ND_HAMMING_NO_TABLES)
            break;
        key_bits = plan->key_bits = stretch(solver, problem->bits, plan->tables, key_bits);
        status = complete(machine, solver, plan, err);
        list->n++;
    }
    nd_hamming_solver_free(solver);
    return status;
}

/* Every number of tables, with room, crowded and with chains. */
static void list_windows(struct list *list, const struct nd_hamming_problem *problem,
                         const struct nd_hamming_machine *machine)
{
    static const double fill[] = {ND_HAMMING_FILL_HALVES, ND_HAMMING_FILL_CROWDED,
                                  ND_HAMMING_FILL_CHAINED};

    for (unsigned tables = 4; tables <= ND_HAMMING_WINDOW_TABLES; tables += 2)
        for (size_t i = 0; i < sizeof fill / sizeof *fill; i++) {
            list->at[list->n] = (struct nd_hamming_plan){
                .problem = *problem, .family = ND_HAMMING_WINDOWS, .fill = fill[i]};
            list->n += design_fixed(machine, 0, tables, &list->at[list->n]);
        }
}

static bool beats(const struct nd_hamming_plan *a, const struct nd_hamming_plan *b)
{
    return a->family == b->family && a->bytes <= b->bytes && a->query_seconds <= b->query_seconds &&
           (a->bytes < b->bytes || a->query_seconds < b->query_seconds);
}

/* Halves of different fill are the same where that would be fewer buckets than there must be, or
 * more than can be. */
static bool repeats(const struct nd_hamming_plan *a, const struct nd_hamming_plan *b)
{
    return a->family == b->family && a->tables == b->tables && a->bytes == b->bytes &&
           a->query_seconds == b->query_seconds;
}

static void drop_beaten(struct list *list)
{
    bool beaten[ND_HAMMING_PLANS_MAX] = {false};
    size_t kept = 0;

    for (size_t i = 0; i < list->n; i++)
        for (size_t j = 0; j < list->n; j++)
            beaten[i] |= (beats(&list->at[j], &list->at[i]) ||
                          (j < i && repeats(&list->at[j], &list->at[i]))) &&
                         !nd_hamming_plan_name(&list->at[i]);
    for (size_t i = 0; i < list->n; i++)
        if (!beaten[i])
            list->at[kept++] = list->at[i];
    list->n = kept;
}

static int by_time(const void *a, const void *b)
{
    const struct nd_hamming_plan *x = a, *y = b;

    if (x->query_seconds != y->query_seconds)
        return x->query_seconds < y->query_seconds ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static enum nd_status list_all(struct list *list, const struct nd_hamming_problem *problem,
                               const struct nd_hamming_machine *machine, struct nd_error *err)
{
    static const struct {
        enum nd_hamming_family family;
        double fill;
    } fixed[] = {{ND_HAMMING_SCAN, 0},
                 {ND_HAMMING_HALVES, ND_HAMMING_FILL_HALVES},
                 {ND_HAMMING_HALVES, ND_HAMMING_FILL_CROWDED},
                 {ND_HAMMING_HALVES, ND_HAMMING_FILL_TIGHT},
                 {ND_HAMMING_POPCOUNT, 0}};
    const struct nd_hamming_machine usual = nd_hamming_machine_default();
    enum nd_status status = nd_hamming_problem_check(problem, err);

    if (status == ND_OK)
        status = nd_hamming_machine_check(machine, err);
    machine = machine ? machine : &usual;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed && status == ND_OK; i++) {
        list->at[list->n] = (struct nd_hamming_plan){
            .problem = *problem, .family = fixed[i].family, .fill = fixed[i].fill};
        list->n += design_fixed(machine, 0, 0, &list->at[list->n]);
    }
    if (status == ND_OK)
        list_windows(list, problem, machine);
    if (status == ND_OK)
        status = list_family(list, problem, machine, ND_HAMMING_BLOCKS, err);
    if (status == ND_OK)
        status = list_family(list, problem, machine, ND_HAMMING_COVERING, err);
    if (status != ND_OK)
        return status;
    drop_beaten(list);
    qsort(list->at, list->n, sizeof *list->at, by_time);
    return ND_OK;
}

enum nd_status nd_hamming_plans(const struct nd_hamming_problem *problem,
                                const struct nd_hamming_machine *machine,
                                struct nd_hamming_plan *plans, size_t capacity, size_t *n,
                                struct nd_error *err)
{
    struct list list = {.n = 0};
    enum nd_status status = list_all(&list, problem, machine, err);

    if (status != ND_OK)
        return status;
    *n = list.n < capacity ? list.n : capacity;
    memcpy(plans, list.at, *n * sizeof *plans);
    return ND_OK;
}

enum nd_status nd_hamming_choose(const struct nd_hamming_problem *problem,
                                 const struct nd_hamming_machine *machine, double memory,
                                 struct nd_hamming_plan *plan, struct nd_error *err)
{
    struct list list = {.n = 0};
    enum nd_status status = list_all(&list, problem, machine, err);
    double least = 0;

    if (status != ND_OK)
        return status;
    for (size_t i = 0; i < list.n; i++) {
        if (memory == 0 || list.at[i].bytes <= memory) {
            *plan = list.at[i];
            return ND_OK;
        }
        if (i == 0 || list.at[i].bytes < least)
            least = list.at[i].bytes;
    }
    return nd_fail(err, ND_EINVAL, "no design fits in %.0f bytes: %.0f at least", memory, least);
}
