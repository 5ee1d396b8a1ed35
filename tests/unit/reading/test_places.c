/* test_places.c - places, groups, hashes seen and spools against plain arrays */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/spool.h"
#include "base/groups.h"
#include "base/hash.h"
#include "base/hash_set.h"
#include "reading/lookup.h"

enum { N = 20000 };

#define LOW_48 ((UINT64_C(1) << 48) - 1)

static uint64_t number_of(uint64_t i)
{
    return nd_mix64(i + 12345);
}

static struct nd_place place_of(uint64_t i)
{
    uint64_t r = number_of(i);

    return (struct nd_place){
        .offset = r, .len = r & LOW_48, .line = ~r & LOW_48, .source = (uint32_t)r};
}

static void every_place_is_found_by_its_document(void **state)
{
    struct nd_places places = {0};
    size_t rank = 0;

    (void)state;
    for (uint64_t i = 0; i < N; i++) {
        struct nd_place place = place_of(i);
        bool has = number_of(i) % 3 || (i > 5000 && i < 7000);

        assert_true(nd_places_add(&places, has && i < 15000 ? &place : NULL));
    }
    nd_places_shrink(&places);
    for (uint64_t i = 0; i < N; i++) {
        const uint64_t r = number_of(i);
        struct nd_place got;

        assert_int_equal(nd_places_rank(&places, i), rank);
        if (!(number_of(i) % 3 || (i > 5000 && i < 7000)) || i >= 15000)
            continue;
        got = nd_places_get(&places, i);
        assert_true(got.offset == r && got.len == (r & LOW_48) && got.line == (~r & LOW_48) &&
                    got.source == (uint32_t)r);
        rank++;
    }
    assert_int_equal(places.count, rank);
    nd_places_release(&places);
}

static void equal_values_have_equal_numbers_and_others_their_own(void **state)
{
    struct nd_groups groups = {0};
    char value[32];
    uint32_t number;

    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 3000; i++) {
            int len = snprintf(value, sizeof value, "%u", i);

            assert_true(nd_groups_number(&groups, (struct nd_view){value, (size_t)len}, &number));
            assert_int_equal(number, i + 1);
        }
    }
    assert_true(nd_groups_number(&groups, (struct nd_view){NULL, 0}, &number));
    assert_int_equal(number, 0);
    assert_true(nd_groups_number(&groups, (struct nd_view){"", 0}, &number));
    assert_int_equal(number, 3001);
    nd_groups_release(&groups);
}

static void hashes_are_seen_again_until_the_budget_is_spent(void **state)
{
    struct nd_hash_set set = {.bytes_max = 1 << 18};

    (void)state;
    assert_false(nd_hash_set_add(&set, 0));
    assert_true(nd_hash_set_add(&set, 0));
    for (uint64_t i = 0; i < 100000; i++)
        assert_false(nd_hash_set_add(&set, number_of(i)));
    assert_true(set.is_full);
    assert_true(set.slots * sizeof *set.slot <= set.bytes_max);
    for (uint64_t i = 0; i + 1 < set.count; i++)
        assert_true(nd_hash_set_add(&set, number_of(i)));
    assert_false(nd_hash_set_add(&set, number_of(99999)));
    nd_hash_set_release(&set);
}

/* Pieces larger and smaller than what the spool holds back, read whole and in part. */
static void what_is_spooled_is_read_back(void **state)
{
    struct nd_spool *spool = nd_spool_new("/tmp", NULL);
    struct nd_buffer all = {0}, got = {0};
    uint64_t offset[200];
    size_t len[200];

    (void)state;
    assert_non_null(spool);
    for (unsigned i = 0; i < 200; i++) {
        char *piece;

        len[i] = number_of(i) % (i % 50 == 7 ? 3000000 : 20000);
        piece = malloc(len[i] + 1);
        assert_non_null(piece);
        memset(piece, (int)(i + 1), len[i]);
        assert_int_equal(nd_spool_append(spool, piece, len[i], &offset[i], NULL), ND_OK);
        assert_int_equal(offset[i], all.len);
        assert_true(nd_buffer_append(&all, piece, len[i]));
        free(piece);
    }
    assert_int_equal(nd_spool_bytes(spool), all.len);
    for (unsigned i = 0; i + 1 < 200; i++) {
        size_t both = len[i] + len[i + 1];

        assert_int_equal(nd_spool_read(spool, offset[i], both, &got, NULL), ND_OK);
        assert_int_equal(got.len, both);
        assert_memory_equal(got.data, all.data + offset[i], both);
    }
    assert_int_equal(nd_spool_clear(spool, NULL), ND_OK);
    assert_int_equal(nd_spool_bytes(spool), 0);
    nd_buffer_release(&all);
    nd_buffer_release(&got);
    nd_spool_free(spool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_is_found_by_its_document),
        cmocka_unit_test(equal_values_have_equal_numbers_and_others_their_own),
        cmocka_unit_test(hashes_are_seen_again_until_the_budget_is_spent),
        cmocka_unit_test(what_is_spooled_is_read_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
