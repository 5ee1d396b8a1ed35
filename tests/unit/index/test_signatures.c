/* test_signatures.c - an index of signatures finds every set of values that a look-up says it must,
 * and the bits that are near: held against all pairs
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "index/rarity.h"
#include "index/signature_index.h"

enum { SETS = 600, MOST = 40 };

static uint64_t value[SETS][MOST];
static struct nd_signature set[SETS];
static bool is_in[SETS];
static uint64_t seed;

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/*
 * Make a set of frequent values and rare ones; every other set is another one with some values
 * changed, fewer or more.
 */
static void make(size_t i)
{
    size_t n = i % 17 == 5 ? 0 : 1 + any() % (any() % 4 ? 12 : MOST), count = 0;

    for (size_t k = 0; k < n; k++)
        value[i][k] = nd_mix64(any() % 3 ? any() % 2000 : any() % 12);
    if (i % 2 && set[i - 1].count) {
        size_t from = i > 40 && any() % 2 ? i - 1 - any() % 40 : i - 1, keep = set[from].count;

        for (size_t k = 0; k < keep; k++)
            if (k >= n || any() % 5)
                value[i][k] = value[from][k];
        n = keep > n ? keep : n - (any() % 2 ? n - keep : 0);
    }
    qsort(value[i], n, sizeof value[i][0], ascending);
    for (size_t k = 0; k < n; k++)
        if (k == 0 || value[i][k] != value[i][count - 1])
            value[i][count++] = value[i][k];
    set[i] = (struct nd_signature){value[i], count, count == 0};
}

static uint64_t shared(size_t a, size_t b)
{
    uint64_t count = 0;

    for (size_t i = 0, j = 0; i < set[a].count && j < set[b].count;) {
        uint64_t x = set[a].word[i], y = set[b].word[j];

        i += x <= y;
        j += y <= x;
        count += x == y;
    }
    return count;
}

/* Whether the look-up promises to find one by the other. */
static bool must_meet(const struct nd_signature_lookup *l, size_t a, size_t b)
{
    uint64_t both = shared(a, b), x = set[a].count, y = set[b].count;
    uint64_t size = (x < y) == l->of_lesser ? x : y;

    return both > 0 && both >= l->least && both * l->share.q >= size * l->share.p;
}

static struct nd_signature_row row_of(size_t i)
{
    return (struct nd_signature_row){&set[i], (uint32_t)(i % 7 == 3), 0};
}

/* Check what a look-up of set a meets, in any order. */
static void check_query(const struct nd_signature_index *s, const struct nd_signature_lookup *l,
                        size_t a, size_t n)
{
    static const struct nd_signature_shape shape = {.form = ND_FORM_VALUES};
    const struct nd_signature_row row = row_of(a);
    struct nd_key_list keys = {0}, scratch = {0};
    struct nd_numbers met = {0};
    bool found[SETS] = {false};

    assert_true(nd_signature_index_row_keys(&shape, l, 1, &row, &keys));
    assert_true(nd_signature_index_query(s, row.signature, &keys, &scratch, &met));
    for (size_t i = 0; i < met.count; i++) {
        assert_false(found[met.items[i]]);
        found[met.items[i]] = true;
    }
    for (size_t b = 0; b < n; b++)
        if (is_in[b] && row_of(b).group == row.group && must_meet(l, a, b))
            assert_true(found[b]);
    nd_key_list_release(&keys);
    nd_key_list_release(&scratch);
    nd_numbers_release(&met);
}

/* One after the other, as documents come; some leave again. */
static void check(struct nd_signature_lookup l)
{
    static const struct nd_signature_shape shape = {.form = ND_FORM_VALUES};
    struct nd_signature_index *s = nd_signature_index_new(&shape, 1, &l, 1);

    assert_non_null(s);
    memset(is_in, 0, sizeof is_in);
    for (size_t i = 0; i < SETS; i++) {
        const struct nd_signature_row row = row_of(i);

        check_query(s, &l, i, i);
        assert_true(nd_signature_index_append(s, &row));
        is_in[i] = i % 11 != 7 && nd_signature_index_list(s, (uint32_t)i);
        if (i % 13 == 12 && is_in[i - 5]) {
            nd_signature_index_remove(s, (uint32_t)i - 5);
            is_in[i - 5] = false;
        }
    }
    for (size_t i = 0; i < SETS; i += 3)
        check_query(s, &l, i, SETS);
    nd_signature_index_free(s);
}

static int fill(void **state)
{
    (void)state;
    for (size_t i = 0; i < SETS; i++)
        make(i);
    return 0;
}

static void every_set_that_shares_enough_is_met(void **state)
{
    static const struct nd_ratio share[] = {{0, 1}, {1, 100}, {1, 3}, {1, 2},   {2, 3},
                                            {4, 5}, {9, 10},  {1, 1}, {44, 100}};

    (void)state;
    for (size_t i = 0; i < sizeof share / sizeof *share; i++)
        for (size_t least = 0; least < 4; least++)
            for (int lesser = 0; lesser < 2; lesser++)
                check((struct nd_signature_lookup){.way = ND_LOOKUP_VALUES,
                                                   .share = share[i],
                                                   .least = least,
                                                   .of_lesser = lesser});
}

/* Removed sets leave nothing behind. */
static void removed_sets_are_not_met(void **state)
{
    static const struct nd_signature_shape shape = {.form = ND_FORM_VALUES};

    (void)state;
    for (int lesser = 0; lesser < 2; lesser++) {
        struct nd_signature_lookup l = {
            .way = ND_LOOKUP_VALUES, .share = {4, 5}, .of_lesser = lesser};
        struct nd_signature_index *s = nd_signature_index_new(&shape, 1, &l, 1);
        struct nd_key_list keys = {0}, scratch = {0};
        struct nd_numbers met = {0};

        assert_non_null(s);
        for (uint32_t i = 0; i < SETS; i++) {
            const struct nd_signature_row row = row_of(i);

            assert_true(nd_signature_index_append(s, &row) && nd_signature_index_list(s, i));
        }
        for (uint32_t i = 0; i < SETS; i++)
            nd_signature_index_remove(s, i);
        for (uint32_t i = 0; i < SETS; i++) {
            const struct nd_signature_row row = row_of(i);

            assert_true(nd_signature_index_row_keys(&shape, &l, 1, &row, &keys));
            assert_true(nd_signature_index_query(s, row.signature, &keys, &scratch, &met));
            assert_int_equal(met.count, 0);
        }
        nd_key_list_release(&keys);
        nd_key_list_release(&scratch);
        nd_numbers_release(&met);
        nd_signature_index_free(s);
    }
}

/* The rarest are chosen, by the counts of when the order was fixed, whatever came later. */
static void the_order_stays_until_it_is_fixed_anew(void **state)
{
    struct nd_rarity r = {0};
    uint64_t key[300], chosen[300];
    uint16_t *order;

    (void)state;
    for (size_t i = 0; i < 300; i++)
        key[i] = nd_mix64(i + 1);
    for (size_t i = 0; i < 300; i++) /* key i i times: the first are the rarest */
        for (size_t k = 0; k < i; k++)
            assert_true(nd_rarity_count(&r, &key[i], 1, 1 << 16));
    order = nd_rarity_copy(&r);
    assert_non_null(order);
    nd_rarity_fix(&r, order);
    for (size_t k = 0; k < 70000; k++) /* more than a count holds */
        assert_true(nd_rarity_count(&r, &key[0], 1, 1 << 16));
    assert_int_equal(nd_rarity_choose(&r, key, 300, 5, chosen), 5);
    for (size_t i = 0; i < 5; i++)
        assert_true(chosen[i] == key[i]);
    order = nd_rarity_copy(&r);
    assert_non_null(order);
    nd_rarity_fix(&r, order);
    assert_int_equal(nd_rarity_choose(&r, key, 30, 5, chosen), 5);
    for (size_t i = 0; i < 5; i++)
        assert_true(chosen[i] == key[i + 1]);
    nd_rarity_release(&r);
}

/* Sets of 40 out of 1000 values: the rarest 9 of two have one in common once in 12, four hardly
 * ever, so that what a look-up hands out does not grow with all sets. */
static void sets_of_few_values_are_not_all_looked_at(void **state)
{
    enum { COUNT = 1500, VALUES = 40 };
    static const struct nd_signature_shape shape = {.form = ND_FORM_VALUES};
    const struct nd_signature_lookup l = {.way = ND_LOOKUP_VALUES, .share = {4, 5}};
    struct nd_signature_index *s = nd_signature_index_new(&shape, 1, &l, 1);
    struct nd_key_list keys = {0}, scratch = {0};
    struct nd_numbers met = {0};
    size_t handed_out = 0;

    (void)state;
    assert_non_null(s);
    for (unsigned i = 0; i < COUNT; i++) {
        uint64_t own[VALUES];
        struct nd_signature x = {own, VALUES, 0};
        const struct nd_signature_row row = {&x, 0, 0};

        for (unsigned k = 0; k < VALUES; k++) /* one of each 25 */
            own[k] = nd_mix64(k * 25 + any() % 25);
        qsort(own, VALUES, sizeof *own, ascending);
        assert_true(nd_signature_index_row_keys(&shape, &l, 1, &row, &keys));
        assert_true(nd_signature_index_query(s, row.signature, &keys, &scratch, &met));
        handed_out += met.count;
        assert_true(nd_signature_index_append(s, &row));
        assert_true(nd_signature_index_list(s, i));
        assert_true(nd_signature_index_query(s, row.signature, &keys, &scratch, &met));
        assert_true(met.count > 0); /* itself */
    }
    assert_true(handed_out < COUNT * COUNT / 2 / 50);
    assert_true(nd_signature_index_bytes(s) < 65536 + COUNT * (64 + 40 * VALUES));
    nd_key_list_release(&keys);
    nd_key_list_release(&scratch);
    nd_numbers_release(&met);
    nd_signature_index_free(s);
}

enum { BITS_ROWS = 3000, BITS_WORDS = 6 };
static uint64_t bits[BITS_ROWS][BITS_WORDS];

/* Few blocks are random: most documents share one with most others.  Every other one is near one of
 * those before it; some bits differ that do not count. */
static void make_bits(size_t i, size_t words)
{
    for (size_t w = 0; w < words; w++)
        bits[i][w] = any() & any() & UINT64_C(0xFFFF000000000000);
    if (i % 2)
        memcpy(bits[i], bits[any() % i], sizeof bits[i]);
    for (size_t n = any() % 18; i % 2 && n; n--)
        bits[i][any() % words] ^= UINT64_C(1) << any() % 64;
}

static unsigned distance_between(const struct nd_signature_shape *shape, size_t a, size_t b)
{
    unsigned count = 0;

    for (size_t w = 0; w < shape->words; w++)
        count += (unsigned)__builtin_popcountll((bits[a][w] ^ bits[b][w]) & shape->mask[w]);
    return count;
}

static struct nd_signature bits_of(size_t i, size_t words)
{
    return (struct nd_signature){bits[i], i % 19 == 4 ? 0 : words, i % 19 == 4};
}

/* Check that document a meets those of the first n that are near, each once, and no others. */
static void check_near(const struct nd_signature_index *s, const struct nd_signature_shape *shape,
                       const struct nd_signature_lookup *l, size_t a, size_t n)
{
    const struct nd_signature x = bits_of(a, shape->words);
    const struct nd_signature_row row = {&x, 0, 0};
    struct nd_key_list keys = {0}, scratch = {0};
    struct nd_numbers met = {0};
    size_t near = 0;

    assert_true(nd_signature_index_row_keys(shape, l, 1, &row, &keys));
    assert_true(nd_signature_index_query(s, &x, &keys, &scratch, &met));
    for (size_t b = 0; b < n && !x.is_rejected; b++)
        near += b % 19 != 4 && b % 7 != 2 && distance_between(shape, a, b) < l->blocks;
    assert_int_equal(met.count, near);
    for (size_t i = 0; i < met.count; i++) {
        assert_true(met.items[i] % 19 != 4 && met.items[i] % 7 != 2 && met.items[i] < n);
        assert_true(distance_between(shape, a, met.items[i]) < l->blocks);
        for (size_t k = 0; k < i; k += 1 + i / 8)
            assert_true(met.items[k] != met.items[i]);
    }
    nd_key_list_release(&keys);
    nd_key_list_release(&scratch);
    nd_numbers_release(&met);
}

static void by_blocks_only_near_bits_are_met(void **state)
{
    static const struct {
        size_t words;
        unsigned blocks;
    } tried[] = {{1, 4}, {1, 1}, {2, 4}, {BITS_WORDS, 13}};

    (void)state;
    for (size_t t = 0; t < sizeof tried / sizeof tried[0]; t++) {
        struct nd_signature_shape shape = {.form = ND_FORM_BITS, .words = tried[t].words};
        const struct nd_signature_lookup l = {.way = ND_LOOKUP_BLOCKS, .blocks = tried[t].blocks};
        struct nd_signature_index *s;

        for (size_t w = 0; w < shape.words; w++)
            shape.mask[w] = w + 1 == shape.words ? UINT64_MAX >> 2 : UINT64_MAX;
        s = nd_signature_index_new(&shape, 1, &l, 1);
        assert_non_null(s);
        for (size_t i = 0; i < BITS_ROWS; i++) {
            struct nd_signature x;

            make_bits(i, shape.words);
            x = bits_of(i, shape.words);
            if (i % 8 == 0)
                check_near(s, &shape, &l, i, i);
            assert_true(nd_signature_index_append(s, &(struct nd_signature_row){&x, 0, 0}));
            assert_true(i % 7 == 2 || nd_signature_index_list(s, (uint32_t)i));
        }
        nd_signature_index_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_set_that_shares_enough_is_met),
        cmocka_unit_test(removed_sets_are_not_met),
        cmocka_unit_test(the_order_stays_until_it_is_fixed_anew),
        cmocka_unit_test(sets_of_few_values_are_not_all_looked_at),
        cmocka_unit_test(by_blocks_only_near_bits_are_met),
    };

    return cmocka_run_group_tests(tests, fill, NULL);
}
