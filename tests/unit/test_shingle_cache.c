/* test_shingle_cache.c - what is in is right, what is asked for stays, the limit holds */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/shingle_cache.h"

static void put(struct nd_shingle_cache *cache, uint32_t number, size_t n)
{
    uint64_t *shingle = malloc(n * sizeof *shingle + 1);

    assert_non_null(shingle);
    for (size_t i = 0; i < n; i++)
        shingle[i] = (uint64_t)number << 32 | i;
    assert_true(nd_shingle_cache_put(cache, number, shingle, n));
}

static bool holds(struct nd_shingle_cache *cache, uint32_t number, size_t n)
{
    size_t got = 0;
    const uint64_t *shingle = nd_shingle_cache_get(cache, number, &got);

    if (!shingle)
        return false;
    assert_int_equal(got, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(shingle[i], (uint64_t)number << 32 | i);
    return true;
}

static void what_is_put_is_found(void **state)
{
    struct nd_shingle_cache *cache = nd_shingle_cache_new((size_t)1 << 30);

    (void)state;
    for (uint32_t i = 0; i < 5000; i++)
        put(cache, i * 7, i % 40);
    put(cache, 7, 1); /* there already: given back */
    for (uint32_t i = 0; i < 5000; i++)
        assert_true(holds(cache, i * 7, i % 40));
    assert_false(holds(cache, 1, 0));
    nd_shingle_cache_free(cache);
}

static void trimming_keeps_what_is_asked_for(void **state)
{
    struct nd_shingle_cache *cache = nd_shingle_cache_new(100000);
    unsigned kept = 0;

    (void)state;
    for (uint32_t round = 0; round < 50; round++) {
        for (uint32_t i = 0; i < 10; i++)
            put(cache, 1000 + round * 10 + i, 100);
        if (round == 0)
            put(cache, 1, 100);
        assert_true(holds(cache, 1, 100));
        nd_shingle_cache_trim(cache);
        assert_false(nd_shingle_cache_is_full(cache));
        assert_true(nd_shingle_cache_bytes(cache) <= 100000);
    }
    for (uint32_t i = 0; i < 500; i++)
        kept += holds(cache, 1000 + i, 100);
    assert_true(kept > 50 && kept < 125);
    nd_shingle_cache_free(cache);
}

static void moving_leaves_nothing_behind(void **state)
{
    struct nd_shingle_cache *from = nd_shingle_cache_new(1000000),
                            *to = nd_shingle_cache_new(1000000);

    (void)state;
    for (uint32_t i = 0; i < 300; i++)
        put(from, i, 10);
    put(to, 5, 10);
    nd_shingle_cache_move(from, to);
    assert_int_equal(nd_shingle_cache_bytes(from), 0);
    for (uint32_t i = 0; i < 300; i++) {
        assert_true(holds(to, i, 10));
        assert_false(holds(from, i, 10));
    }
    nd_shingle_cache_free(from);
    nd_shingle_cache_free(to);
}

static void without_a_limit_nothing_stays(void **state)
{
    struct nd_shingle_cache *cache = nd_shingle_cache_new(0);

    (void)state;
    put(cache, 3, 10);
    nd_shingle_cache_trim(cache);
    assert_false(holds(cache, 3, 10));
    assert_int_equal(nd_shingle_cache_bytes(cache), 0);
    nd_shingle_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_found),
        cmocka_unit_test(trimming_keeps_what_is_asked_for),
        cmocka_unit_test(moving_leaves_nothing_behind),
        cmocka_unit_test(without_a_limit_nothing_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
