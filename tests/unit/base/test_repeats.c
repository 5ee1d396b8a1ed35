/* test_repeats.c - hashes that come twice are always found, those that come once nearly never */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/hash.h"
#include "base/repeats.h"

enum { HASHES = 200000 };

/* Every 10th hash is that of another one, before or behind it. */
static uint64_t *make_hashes(void)
{
    uint64_t *hash = malloc(HASHES * sizeof *hash);

    assert_non_null(hash);
    for (size_t i = 0; i < HASHES; i++)
        hash[i] = nd_mix64(i + 1);
    for (size_t i = 0; i < HASHES; i += 10)
        hash[i] = hash[nd_mix64(i) % (HASHES / 10) * 10 + 5];
    return hash;
}

static int by_hash(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The slow way: whether a hash occurs twice in a sorted list. */
static bool repeats(const uint64_t *sorted, uint64_t hash)
{
    const uint64_t *at = bsearch(&hash, sorted, HASHES, sizeof *sorted, by_hash);

    return (at > sorted && at[-1] == hash) || (at + 1 < sorted + HASHES && at[1] == hash);
}

/* How many of 1000 hashes that come once are taken for others, with so many bits a hash. */
static uint64_t false_share(size_t bits, unsigned n_slices)
{
    uint64_t *hash = make_hashes(), *sorted = make_hashes();
    bool *may = malloc(HASHES * sizeof *may);
    uint64_t once = 0, wrong = 0;
    struct nd_repeats r;

    assert_non_null(may);
    assert_true(nd_repeats_init(&r, HASHES * bits / 8));
    for (unsigned slice = n_slices; slice-- > 0;)
        nd_repeats_note(&r, slice, n_slices, hash, HASHES);
    nd_repeats_end_noting(&r);
    nd_repeats_find(&r, hash, HASHES, may);
    qsort(sorted, HASHES, sizeof *sorted, by_hash);
    for (size_t i = 0; i < HASHES; i++)
        if (repeats(sorted, hash[i])) {
            assert_true(may[i]);
        } else {
            once++;
            wrong += may[i];
        }
    nd_repeats_release(&r);
    free(may);
    free(sorted);
    free(hash);
    return wrong * 1000 / once;
}

static void hashes_that_repeat_are_found(void **state)
{
    (void)state;
    for (unsigned n_slices = 1; n_slices <= ND_REPEATS_SLICES; n_slices *= 4) {
        assert_true(false_share(16, n_slices) <= 3);
        assert_true(false_share(8, n_slices) <= 20);
        assert_true(false_share(0, n_slices) <= 1000);
    }
}

static void slices_change_nothing(void **state)
{
    (void)state;
    assert_int_equal(false_share(6, 1), false_share(6, 64));
}

static void what_was_noted_can_be_forgotten(void **state)
{
    const uint64_t hash[] = {nd_mix64(1), nd_mix64(2)};
    struct nd_repeats r;
    bool may[2];

    (void)state;
    assert_true(nd_repeats_init(&r, 0));
    for (unsigned i = 0; i < 2; i++)
        nd_repeats_note(&r, 0, 1, hash, 1);
    nd_repeats_find(&r, hash, 2, may);
    assert_true(may[0] && !may[1]);
    nd_repeats_clear(&r);
    nd_repeats_note(&r, 0, 1, hash, 2);
    nd_repeats_find(&r, hash, 2, may);
    assert_false(may[0] || may[1]);
    nd_repeats_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_that_repeat_are_found),
        cmocka_unit_test(slices_change_nothing),
        cmocka_unit_test(what_was_noted_can_be_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
