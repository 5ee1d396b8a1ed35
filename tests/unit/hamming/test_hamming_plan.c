/* test_hamming_plan.c - designs: the papers' numbers, and that every one of them is exact */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/hamming.h>

#include "base/hash.h"
#include "hamming/memory/code.h"
#include "hamming/plan/coverings.h"
#include "hamming/plan/plan_checks.h"
#include "hamming/plan/predict.h"
#include "hamming/plan/solver.h"

#define N_PAPER (UINT64_C(1) << 34) /* "8B" in Manku 2007, example 3.1 */

static struct nd_hamming_plan design(unsigned bits, unsigned distance,
                                     enum nd_hamming_family family, unsigned key_bits,
                                     unsigned tables)
{
    struct nd_hamming_problem problem = {bits, distance, N_PAPER};
    struct nd_hamming_plan plan;

    assert_int_equal(nd_hamming_design(&problem, NULL, family, key_bits, tables, &plan, NULL),
                     ND_OK);
    return plan;
}

/*
 * Manku 2007, example 3.1: 20, 16, 10 and 4 tables; at most 8, 64, 512, 256K fingerprints a probe.
 */
static void the_examples_of_the_paper_come_out(void **state)
{
    static const struct {
        unsigned key_bits, most, tables;
        uint64_t met;
    } example[] = {{31, 33, 20, 8}, {28, 28, 16, 64}, {25, 26, 10, 512}, {16, 16, 4, 1 << 18}};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct nd_hamming_plan plan = design(64, 3, ND_HAMMING_BLOCKS, example[i].key_bits, 0);

        assert_int_equal(plan.tables, example[i].tables);
        assert_int_equal(plan.key_bits, example[i].key_bits);
        assert_int_equal(plan.key_bits_max, example[i].most);
        assert_int_equal(N_PAPER >> plan.key_bits, example[i].met);
        assert_true(plan.candidates <= (double)(plan.tables * example[i].met));
    }
}

static void the_longest_key_for_a_number_of_tables(void **state)
{
    static const unsigned known[][2] = {{4, 16}, {10, 25}, {16, 28}, {20, 31}, {32, 32}, {35, 36}};

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        struct nd_hamming_plan plan = design(64, 3, ND_HAMMING_BLOCKS, 0, known[i][0]);

        assert_int_equal(plan.tables, known[i][0]);
        assert_int_equal(plan.key_bits, known[i][1]);
        plan = design(64, 3, ND_HAMMING_BLOCKS, known[i][1], 0);
        assert_int_equal(plan.tables, known[i][0]);
    }
}

static void coverings_need_fewer_tables(void **state)
{
    /* distance, tables, least key: 64 bits times the blocks of the key, in whole bits */
    static const unsigned known[][3] = {{3, 4, 16},  {3, 6, 20}, {3, 8, 24}, {3, 11, 28},
                                        {3, 14, 32}, {2, 7, 36}, {4, 12, 21}};

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct nd_hamming_plan plan = design(64, known[i][0], ND_HAMMING_COVERING, known[i][2], 0);

        assert_true(plan.tables <= known[i][1]);
    }
}

static void henzinger_has_twelve_tables_of_32_bits(void **state)
{
    struct nd_hamming_plan plan = design(384, 11, ND_HAMMING_BLOCKS, 0, 12);

    (void)state;
    assert_int_equal(plan.tables, 12);
    assert_int_equal(plan.key_bits, 32);
    assert_int_equal(plan.key_bits_max, 32);
    assert_string_equal(nd_hamming_plan_name(&plan), "henzinger");
}

/* A bit for each family, and those of the families that serve 64 bits alone. */
#define ALL ((1u << ND_HAMMING_FAMILY_COUNT) - 1)
#define FOR_64 (1u << ND_HAMMING_HALVES | 1u << ND_HAMMING_WINDOWS)

/* The published designs stand in the list with their names, and what they need is as published. */
static void designs_with_a_name_are_listed(void **state)
{
    static const struct {
        unsigned bits, distance, tables;
        const char *name;
    } known[] = {{64, 3, 4, "manku 4"},
                 {64, 3, 10, "manku 10"},
                 {64, 3, 16, "manku 16"},
                 {64, 3, 20, "manku 20"},
                 {384, 11, 12, "henzinger"}};

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        static const uint64_t counts[] = {1000, 1000000, 1000000000, N_PAPER};

        for (size_t c = 0; c < 4; c++) {
            struct nd_hamming_problem problem = {known[i].bits, known[i].distance, counts[c]};
            struct nd_hamming_plan plan[ND_HAMMING_PLANS_MAX];
            unsigned seen = 0, families = 0;
            size_t n;

            assert_int_equal(nd_hamming_plans(&problem, NULL, plan, ND_HAMMING_PLANS_MAX, &n, NULL),
                             ND_OK);
            for (size_t j = 0; j < n; j++) {
                const char *name = nd_hamming_plan_name(&plan[j]);

                families |= 1u << plan[j].family;
                if (name && !strcmp(name, known[i].name)) {
                    seen++;
                    assert_int_equal(plan[j].tables, known[i].tables);
                }
            }
            assert_int_equal(seen, 1);
            assert_int_equal(families, known[i].bits == 64 ? ALL : ALL & ~FOR_64);
        }
    }
}

/* Every choice of `distance` of the blocks lies in a set. */
static void each_covering_covers(void **state)
{
    (void)state;
    for (size_t i = 0; i < nd_hamming_n_coverings; i++) {
        const struct nd_hamming_covering *c = &nd_hamming_coverings[i];
        const uint16_t *set = nd_hamming_covering_sets + c->first;

        for (unsigned t = 0; t < c->tables; t++) {
            assert_int_equal(__builtin_popcount(set[t]), c->dropped);
            assert_int_equal(set[t] >> c->blocks, 0);
        }
        for (unsigned s = 0; s < 1u << c->blocks; s++) {
            bool covered = __builtin_popcount(s) != c->distance;

            for (unsigned t = 0; t < c->tables; t++)
                covered |= !(s & ~(unsigned)set[t]);
            assert_true(covered);
        }
    }
}

static bool missed_by_a_key(const struct nd_hamming_plan *plan, const uint64_t *keys,
                            const uint64_t *errors)
{
    size_t words = nd_hamming_words(plan->problem.bits);

    for (unsigned t = 0; t < plan->tables; t++) {
        uint64_t hit = 0;

        for (size_t w = 0; w < words; w++)
            hit |= keys[t * words + w] & errors[w];
        if (!hit)
            return true;
    }
    return false;
}

/* All choices of `left` more bits from `next` on; every one must be missed by some key. */
static void try_errors(const struct nd_hamming_plan *plan, const uint64_t *keys, uint64_t *errors,
                       unsigned next, unsigned left)
{
    if (left == 0) {
        assert_true(missed_by_a_key(plan, keys, errors));
        return;
    }
    for (unsigned i = next; i + left <= plan->problem.bits; i++) {
        errors[i / 64] ^= UINT64_C(1) << i % 64;
        try_errors(plan, keys, errors, i + 1, left - 1);
        errors[i / 64] ^= UINT64_C(1) << i % 64;
    }
}

static void check_keys(const struct nd_hamming_plan *plan, bool every_error)
{
    size_t words = nd_hamming_words(plan->problem.bits);
    uint64_t *keys = calloc(plan->tables * words, sizeof *keys), errors[ND_HAMMING_WORDS_MAX];
    unsigned least = UINT32_MAX, most = 0, bits = plan->problem.bits;

    assert_non_null(keys);
    assert_int_equal(nd_hamming_plan_keys(plan, keys, NULL), ND_OK);
    for (unsigned t = 0; t < plan->tables; t++) {
        unsigned n = 0;

        for (size_t w = 0; w < words; w++)
            n += (unsigned)__builtin_popcountll(keys[t * words + w]);
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    assert_int_equal(least < ND_HAMMING_KEY_MAX ? least : ND_HAMMING_KEY_MAX, plan->key_bits);
    assert_int_equal(most, plan->key_bits_max);
    memset(errors, 0, sizeof errors);
    if (every_error)
        try_errors(plan, keys, errors, 0, plan->problem.distance);
    for (uint64_t i = 0; i < 2000; i++) {
        memset(errors, 0, sizeof errors);
        for (unsigned j = 0; j < plan->problem.distance; j++) {
            /* scattered, or close together */
            unsigned at = (unsigned)(nd_mix64(i * 16 + j) % (i % 2 ? bits : 24)) +
                          (i % 2 ? 0 : (unsigned)(nd_mix64(i) % (bits - 24)));

            errors[at / 64] |= UINT64_C(1) << at % 64;
        }
        assert_true(missed_by_a_key(plan, keys, errors));
    }
    free(keys);
}

static void check_problem(unsigned bits, unsigned distance)
{
    struct nd_hamming_problem problem = {bits, distance, 1000000};
    struct nd_hamming_plan plan[ND_HAMMING_PLANS_MAX];
    size_t n = 0;

    assert_int_equal(nd_hamming_plans(&problem, NULL, plan, ND_HAMMING_PLANS_MAX, &n, NULL), ND_OK);
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++) {
        assert_true(plan[i].bytes > 0 && plan[i].query_seconds > 0);
        if (i)
            assert_true(plan[i - 1].query_seconds <= plan[i].query_seconds);
        if (plan[i].tables <= 300 &&
            (plan[i].family == ND_HAMMING_BLOCKS || plan[i].family == ND_HAMMING_COVERING))
            check_keys(&plan[i], (distance <= 3 && bits <= 72) || distance == 1);
    }
}

/* Every 1-, 2- and 3-bit error of 64 bits and less, samples of the rest. */
static void every_error_is_missed_by_some_key(void **state)
{
    static const unsigned bits[] = {32, 33, 64, 65, 128, 384, 512};

    (void)state;
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        for (unsigned distance = 0; distance <= 16; distance++)
            check_problem(bits[i], distance);
}

/* 31-bit words within 1 of each other meet in a bucket of the ball, for every syndrome and error.
 */
static void the_ball_of_a_word_is_sixteen_buckets(void **state)
{
    static struct nd_hamming_code code;

    (void)state;
    nd_hamming_code_init(&code);
    for (uint64_t i = 0; i < 5000; i++) {
        uint32_t word = (uint32_t)nd_mix64(i) & INT32_MAX;
        unsigned s = nd_hamming_syndrome(&code, word);
        uint32_t data = (word ^ code.error[s]) & ND_HAMMING_DATA_MASK;

        assert_int_equal(nd_hamming_code_word(&code, data, s), word);
        for (unsigned bit = 0; bit <= 31; bit++) {
            uint32_t near = (word ^ (bit < 31 ? UINT32_C(1) << bit : 0)), bucket;
            unsigned found = 0;

            bucket = (near ^ code.error[nd_hamming_syndrome(&code, near)]) & ND_HAMMING_DATA_MASK;
            for (unsigned j = 0; j < (s ? ND_HAMMING_BALL : 1); j++)
                found += (data ^ code.ball[s][j]) == bucket;
            assert_int_equal(found, 1);
        }
    }
}

static void chance_is_what_the_formula_says(void **state)
{
    struct nd_hamming_problem problem = {64, 3, 1000000000};

    (void)state;
    assert_true(fabs(nd_hamming_chance_pairs(&problem) - 1185.7) < 0.5);
    problem.distance = 6;
    assert_true(fabs(nd_hamming_chance_degree(&problem) - 0.0045) < 0.0001);
    problem.count = 0;
    assert_true(nd_hamming_chance_degree(&problem) == 0);
}

static void what_cannot_be_is_refused(void **state)
{
    struct nd_hamming_problem problem = {31, 3, 1000};
    struct nd_hamming_plan plan;
    struct nd_error err;
    size_t n;

    (void)state;
    assert_int_equal(nd_hamming_plans(&problem, NULL, &plan, 1, &n, &err), ND_EINVAL);
    problem = (struct nd_hamming_problem){64, 17, 1000};
    assert_int_equal(nd_hamming_choose(&problem, NULL, 0, &plan, &err), ND_EINVAL);
    problem.distance = 3;
    assert_int_equal(nd_hamming_choose(&problem, NULL, 100, &plan, &err), ND_EINVAL);
    assert_int_equal(nd_hamming_design(&problem, NULL, ND_HAMMING_BLOCKS, 0, 3, &plan, &err),
                     ND_EINVAL);
    assert_int_equal(nd_hamming_design(&problem, NULL, ND_HAMMING_BLOCKS, 62, 0, &plan, &err),
                     ND_EINVAL);
    problem.bits = 128;
    assert_int_equal(nd_hamming_design(&problem, NULL, ND_HAMMING_HALVES, 0, 0, &plan, &err),
                     ND_EINVAL);
    assert_string_equal(nd_hamming_family_name(ND_HAMMING_HALVES), "halves");
    assert_null(nd_hamming_family_name((enum nd_hamming_family)99));
}

static void only_families_with_sizes_heed_them(void **state)
{
    (void)state;
    for (int f = 0; f < ND_HAMMING_FAMILY_COUNT; f++) {
        const enum nd_hamming_family family = (enum nd_hamming_family)f;
        bool heeds = design(64, 3, family, 0, 4).tables != design(64, 3, family, 0, 20).tables;

        assert_true(heeds == (nd_hamming_family_has_sizes(family) != 0));
    }
    assert_false(nd_hamming_family_has_sizes((enum nd_hamming_family)99));
}

static void a_plan_that_was_altered_is_refused(void **state)
{
    struct nd_hamming_problem problem = {64, 3, 10};
    struct nd_hamming_plan plan;
    struct nd_hamming *index;
    uint64_t wide = UINT64_C(1) << 40;

    (void)state;
    assert_int_equal(nd_hamming_design(&problem, NULL, ND_HAMMING_BLOCKS, 0, 10, &plan, NULL),
                     ND_OK);
    plan.tables = 9;
    assert_int_equal(nd_hamming_new(&index, &plan, NULL), ND_EINVAL);
    plan.tables = 10;
    plan.key_bits++;
    assert_int_equal(nd_hamming_new(&index, &plan, NULL), ND_EINVAL);
    problem.bits = 40;
    assert_int_equal(nd_hamming_choose(&problem, NULL, 0, &plan, NULL), ND_OK);
    assert_int_equal(nd_hamming_new(&index, &plan, NULL), ND_OK);
    assert_int_equal(nd_hamming_add(index, &wide, NULL, 0, 1, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_count(index), 0);
    nd_hamming_free(index);
}

static void a_measured_machine_serves_to_plan(void **state)
{
    struct nd_hamming_problem problem = {64, 3, 1000000};
    struct nd_hamming_machine machine;
    struct nd_hamming_plan plan;

    (void)state;
    assert_int_equal(nd_hamming_calibrate(&machine, NULL), ND_OK);
    for (int i = 0; i < ND_HAMMING_SIZES; i++)
        assert_true(machine.line_ns[i] > 0);
    assert_true(machine.compare_ns > 0 && machine.fresh_ns > 0 && machine.table_ns > 0);
    assert_true(machine.bucket_ns > 0 && machine.table_add_ns > 0 && machine.half_add_ns > 0);
    assert_int_equal(nd_hamming_choose(&problem, &machine, 0, &plan, NULL), ND_OK);
    assert_true(plan.query_seconds > 0);
}

static void a_machine_is_read_as_it_was_written(void **state)
{
    struct nd_hamming_machine machine = nd_hamming_machine_default(), again;
    char text[ND_HAMMING_MACHINE_TEXT], other[ND_HAMMING_MACHINE_TEXT];
    size_t n = nd_hamming_machine_print(&machine, text);
    struct nd_error err;

    (void)state;
    assert_int_equal(strlen(text), n);
    assert_int_equal(nd_hamming_machine_parse(text, n, &again, &err), ND_OK);
    assert_memory_equal(&again, &machine, sizeof machine);
    assert_int_equal(nd_hamming_machine_parse(text, n - 1, &again, NULL), ND_OK); /* no last \n */
    for (size_t len = 0; len + 1 < n; len++) {
        enum nd_status status = nd_hamming_machine_parse(text, len, &again, &err);

        /* a last number that is cut short is a number still */
        assert_true(status == ND_EINVAL || (text[len - 1] != ' ' && len > n - 8));
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(other, text, n);
        other[i] = '#';
        assert_int_equal(nd_hamming_machine_parse(other, n, &again, &err), ND_EINVAL);
    }
    n = (size_t)snprintf(other, sizeof other, "%sbucket_ps 7\n", text); /* twice */
    assert_int_equal(nd_hamming_machine_parse(other, n, &again, &err), ND_EINVAL);
}

/* Fewer than 2 to a bucket: keys that hold one each are as good as none, so Poisson's law remains.
 */
static void chains_are_as_long_as_chance_makes_them(void **state)
{
    struct nd_hamming_chain chain = nd_hamming_chain(1e6, 64, 1e6 / 4, 6);
    double expected = 0, p = exp(-4);

    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        expected += p * (i <= 6 ? 1 : ceil(i / 6.0));
        p *= 4.0 / (i + 1);
    }
    assert_true(fabs(chain.size - expected) < 1e-6 && fabs(chain.look_up - expected) < 1e-6);
    /* 15.26 of a key, alone in its bucket or with few others: 2.7 lines and what is beside it */
    chain = nd_hamming_chain(1e6, 16, 131072, 7);
    assert_true(chain.look_up > 2.7 && chain.look_up < 2.7 + 7.63 / 7 + 0.5);
    /* the rough form for long chains goes on where the exact one ends */
    for (unsigned bits = 13; bits <= 14; bits++) {
        chain = nd_hamming_chain(1e6, bits, ldexp(2, (int)bits), 7);
        assert_true(fabs(chain.look_up - 1.5 * ldexp(1e6, -(int)bits) / 7 - 0.5) < 0.1);
    }
}

/* An index takes the memory that was predicted, within a tenth. */
static void bytes_come_out_as_predicted(void **state)
{
    enum { N = 300000 };
    struct nd_hamming_problem problem = {64, 3, N};
    struct nd_hamming_plan plan[ND_HAMMING_PLANS_MAX];
    uint64_t *row = malloc(N * sizeof *row);
    size_t n;

    (void)state;
    assert_non_null(row);
    for (size_t i = 0; i < N; i++)
        row[i] = nd_mix64(i);
    assert_int_equal(nd_hamming_plans(&problem, NULL, plan, ND_HAMMING_PLANS_MAX, &n, NULL), ND_OK);
    for (size_t i = 0; i < n; i++) {
        struct nd_hamming *index;
        double bytes;

        if (plan[i].tables > 20) /* few are enough */
            continue;
        assert_int_equal(nd_hamming_new(&index, &plan[i], NULL), ND_OK);
        assert_int_equal(nd_hamming_add(index, row, NULL, 0, N, NULL), ND_OK);
        bytes = (double)nd_hamming_bytes(index);
        if (fabs(bytes / plan[i].bytes - 1) > 0.1)
            fail_msg("%s of %u tables: %.0f bytes, %.0f predicted",
                     nd_hamming_family_name(plan[i].family), plan[i].tables, bytes, plan[i].bytes);
        nd_hamming_free(index);
    }
    free(row);
}

/* At 10M two halves fit in 24.4 bytes a fingerprint, crowded; with room they take more.  At 10^9
 * they fit in 24 GiB with room, and in 21 GiB tight. */
static void two_halves_are_offered_for_much_and_little_memory(void **state)
{
    struct nd_hamming_problem problem = {64, 3, 10000000};
    struct nd_hamming_plan plan;
    struct nd_hamming *index;

    (void)state;
    assert_int_equal(nd_hamming_choose(&problem, NULL, 24.4e7, &plan, NULL), ND_OK);
    assert_int_equal(plan.family, ND_HAMMING_HALVES);
    assert_true(plan.fill > 1);
    assert_int_equal(nd_hamming_choose(&problem, NULL, 32e7, &plan, NULL), ND_OK);
    assert_int_equal(plan.family, ND_HAMMING_HALVES);
    assert_true(plan.fill < 1);
    problem.count = 1000000000;
    assert_int_equal(nd_hamming_choose(&problem, NULL, ldexp(24, 30), &plan, NULL), ND_OK);
    assert_int_equal(plan.family, ND_HAMMING_HALVES);
    assert_true(plan.fill < 1);
    assert_int_equal(nd_hamming_choose(&problem, NULL, ldexp(21, 30), &plan, NULL), ND_OK);
    assert_int_equal(plan.family, ND_HAMMING_HALVES);
    assert_true(plan.fill > 1.2);
    plan.fill = 0.2;
    assert_int_equal(nd_hamming_new(&index, &plan, NULL), ND_EINVAL);
    plan.fill = 2.1;
    assert_int_equal(nd_hamming_new(&index, &plan, NULL), ND_EINVAL);
}

/* A fingerprint of 32 bits, and whose neighbour it is. */
struct neighbour {
    uint64_t value, id;
};

static int by_value(const void *left, const void *right)
{
    const struct neighbour *a = left, *b = right;

    return a->value != b->value ? (a->value < b->value ? -1 : 1)
                                : (a->id > b->id) - (a->id < b->id);
}

/* List the fingerprints of 32 bits within 2 of x; returns how many. */
static size_t list_ball(uint64_t x, uint64_t id, struct neighbour *to)
{
    size_t n = 0;

    to[n++] = (struct neighbour){x, id};
    for (unsigned i = 0; i < 32; i++) {
        to[n++] = (struct neighbour){x ^ UINT64_C(1) << i, id};
        for (unsigned j = i + 1; j < 32; j++)
            to[n++] = (struct neighbour){x ^ UINT64_C(1) << i ^ UINT64_C(1) << j, id};
    }
    return n;
}

/* The ids that a sorted table has for a value; returns a set of bits. */
static uint64_t probe(const struct neighbour *table, size_t n, uint64_t value)
{
    uint64_t ids = 0;
    size_t from = 0, to = n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (table[middle].value < value)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < n && table[from].value == value; from++)
        ids |= UINT64_C(1) << table[from].id;
    return ids;
}

static void the_extremes_are_exact_and_cost_what_is_said(void **state)
{
    enum { N = 40, BALL = 1 + 32 + 496 };
    static struct neighbour stored[N * BALL], probed[N], ball[BALL];
    const struct nd_hamming_problem problem = {32, 2, N}, paper = {64, 3, N_PAPER};
    struct nd_hamming_extreme extreme[ND_HAMMING_EXTREMES];
    uint64_t set[N], met = 0;
    size_t n = 0;

    (void)state;
    for (size_t i = 0; i < N; i++) /* some are near others, or equal */
        set[i] = i < N / 2 ? nd_mix64(i) >> 32 : set[i - N / 2] ^ (UINT64_C(11) << i % 29) >> i % 5;
    for (size_t i = 0; i < N; i++) {
        probed[i] = (struct neighbour){set[i], i};
        n += list_ball(set[i], i, stored + n);
    }
    qsort(stored, n, sizeof *stored, by_value);
    qsort(probed, N, sizeof *probed, by_value);
    assert_int_equal(nd_hamming_extremes(&problem, NULL, extreme, NULL), ND_OK);
    assert_string_equal(extreme[0].name, "stored");
    assert_true(extreme[0].entries == (double)n && extreme[0].probes == 1);
    assert_true(extreme[0].bytes == 16 * (double)n);
    assert_string_equal(extreme[1].name, "probed");
    assert_true(extreme[1].entries == N && extreme[1].probes == BALL);
    assert_true(extreme[1].bytes == 16 * N);
    for (size_t q = 0; q < N; q++) {
        const uint64_t query = set[q] ^ (q % 3 ? UINT64_C(1) << q % 32 : 0);
        uint64_t scanned = 0, of_probes = 0;
        size_t probes = list_ball(query, 0, ball);

        for (size_t i = 0; i < N; i++)
            scanned |= (uint64_t)(__builtin_popcountll(set[i] ^ query) <= 2) << i;
        for (size_t i = 0; i < probes; i++)
            of_probes |= probe(probed, N, ball[i].value);
        assert_int_equal(of_probes, scanned);
        assert_int_equal(probe(stored, n, query), scanned);
        met += (uint64_t)__builtin_popcountll(scanned);
    }
    assert_true(met > N);
    /* §3: "(64 choose 3) = 41664 probes", and those of fewer bits. */
    assert_int_equal(nd_hamming_extremes(&paper, NULL, extreme, NULL), ND_OK);
    assert_true(extreme[1].probes == 41664 + 2016 + 64 + 1);
    assert_true(extreme[0].entries == 43745 * (double)N_PAPER);
    assert_int_equal(
        nd_hamming_extremes(&(struct nd_hamming_problem){.bits = 31}, NULL, extreme, NULL),
        ND_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_of_the_paper_come_out),
        cmocka_unit_test(the_longest_key_for_a_number_of_tables),
        cmocka_unit_test(coverings_need_fewer_tables),
        cmocka_unit_test(henzinger_has_twelve_tables_of_32_bits),
        cmocka_unit_test(designs_with_a_name_are_listed),
        cmocka_unit_test(each_covering_covers),
        cmocka_unit_test(every_error_is_missed_by_some_key),
        cmocka_unit_test(the_ball_of_a_word_is_sixteen_buckets),
        cmocka_unit_test(chance_is_what_the_formula_says),
        cmocka_unit_test(the_extremes_are_exact_and_cost_what_is_said),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(only_families_with_sizes_heed_them),
        cmocka_unit_test(a_plan_that_was_altered_is_refused),
        cmocka_unit_test(a_measured_machine_serves_to_plan),
        cmocka_unit_test(a_machine_is_read_as_it_was_written),
        cmocka_unit_test(chains_are_as_long_as_chance_makes_them),
        cmocka_unit_test(bytes_come_out_as_predicted),
        cmocka_unit_test(two_halves_are_offered_for_much_and_little_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
