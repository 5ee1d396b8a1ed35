/* test_shingle_cache.c - what is in is right, the newest are in, the limit holds */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/document/shingle_cache.h"

static uint64_t value_of(uint32_t number, size_t i)
{
    return (uint64_t)number << 32 | i;
}

static void put(struct nd_shingle_cache *cache, uint32_t number, size_t n)
{
    uint64_t *shingle = malloc(n * sizeof *shingle + 1);

    assert_non_null(shingle);
    for (size_t i = 0; i < n; i++)
        shingle[i] = value_of(number, i);
    assert_true(nd_shingle_cache_put(cache, number, shingle, n));
    free(shingle);
}

static bool holds(struct nd_shingle_cache *cache, uint32_t number, size_t n)
{
    size_t got = 0;
    const uint64_t *shingle = nd_shingle_cache_get(cache, number, &got);

    if (!shingle)
        return false;
    assert_int_equal(got, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(shingle[i], value_of(number, i));
    return true;
}

static void what_is_put_is_found(void **state)
{
    struct nd_shingle_cache *cache = nd_shingle_cache_new((size_t)1 << 24);

    (void)state;
    for (uint32_t i = 0; i < 5000; i++)
        put(cache, i * 7, i % 40);
    put(cache, 7, 1); /* there already */
    for (uint32_t i = 0; i < 5000; i++)
        assert_true(holds(cache, i * 7, i % 40));
    assert_false(holds(cache, 1, 0));
    nd_shingle_cache_free(cache);
}

/* Rings of many sizes and entries of many lengths, so that they end and wrap in every way. */
static void the_newest_are_in_and_right(void **state)
{
    (void)state;
    for (size_t words = 40; words < 400; words += 7) {
        struct nd_shingle_cache *cache = nd_shingle_cache_new(words * 8);
        static size_t length[2000];

        assert_non_null(cache);
        for (uint32_t i = 0; i < 2000; i++) {
            size_t newest = 0, n = length[i] = i * 2654435761u % (words / 4 - 3);
            bool gone = false;

            put(cache, i, n);
            assert_true(holds(cache, i, n));
            for (uint32_t back = 0; back <= i && back < 300; back++) {
                bool in = holds(cache, i - back, length[i - back]);

                assert_false(gone && in); /* the oldest go first */
                gone = gone || !in;
                newest += in ? length[i - back] + 2 : 0;
            }
            assert_true(newest <= words);
            if (gone)
                assert_true(newest >= words / 4);
        }
        nd_shingle_cache_free(cache);
    }
}

static void what_is_too_large_is_left_out(void **state)
{
    struct nd_shingle_cache *cache = nd_shingle_cache_new(800), *none = nd_shingle_cache_new(0);

    (void)state;
    put(cache, 1, 5);
    put(cache, 2, 50);
    assert_true(holds(cache, 1, 5));
    assert_false(holds(cache, 2, 50));
    put(none, 1, 0);
    assert_false(holds(none, 1, 0));
    nd_shingle_cache_free(cache);
    nd_shingle_cache_free(none);
}

static void moving_leaves_nothing_behind(void **state)
{
    struct nd_shingle_cache *from = nd_shingle_cache_new(100000),
                            *to = nd_shingle_cache_new(100000);

    (void)state;
    put(to, 5, 10);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 300; i++)
            put(from, round * 300 + i, 10);
        nd_shingle_cache_move(from, to);
        for (uint32_t i = 0; i < 300; i++) {
            assert_true(holds(to, round * 300 + i, 10));
            assert_false(holds(from, round * 300 + i, 10));
        }
    }
    nd_shingle_cache_free(from);
    nd_shingle_cache_free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_found),
        cmocka_unit_test(the_newest_are_in_and_right),
        cmocka_unit_test(what_is_too_large_is_left_out),
        cmocka_unit_test(moving_leaves_nothing_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
