/* test_multimap.c - numbers by key against a plain list */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/hash.h"
#include "index/multimap.h"

enum { ENTRIES = 20000 };

struct entry {
    uint64_t key;
    bool is_in;
};

/* How often a number is found under a key: tags only propose, but a number has one key. */
static unsigned times_found(const struct nd_multimap *map, uint64_t key, uint32_t number)
{
    struct nd_multimap_scan scan = nd_multimap_find(map, key);
    uint32_t found;
    unsigned times = 0;

    while (nd_multimap_next(map, &scan, &found))
        times += found == number;
    return times;
}

static void add(struct nd_multimap *map, struct entry *entry, uint32_t number)
{
    if (!nd_multimap_fits(map, 1)) {
        assert_true(nd_multimap_grow(map, 1));
        for (uint32_t i = 0; i < number; i++)
            if (entry[i].is_in)
                nd_multimap_add(map, entry[i].key, i);
    }
    nd_multimap_add(map, entry[number].key, number);
    entry[number].is_in = true;
}

static void check(const struct nd_multimap *map, const struct entry *entry, uint32_t n)
{
    size_t count = 0;

    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(times_found(map, entry[i].key, i), entry[i].is_in);
        count += entry[i].is_in;
    }
    assert_int_equal(map->count, count);
}

/* n_keys distinct keys among the entries: many of one key make long runs of full lines. */
static void go_through(uint64_t n_keys)
{
    struct nd_multimap map = {0};
    struct entry *entry = calloc(ENTRIES, sizeof *entry);

    assert_non_null(entry);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        entry[i].key = nd_mix64(i % n_keys + 1);
        add(&map, entry, i);
        if (i % 3 == 2 && entry[i / 2].is_in) {
            assert_true(nd_multimap_remove(&map, entry[i / 2].key, i / 2));
            entry[i / 2].is_in = false;
            assert_false(nd_multimap_remove(&map, entry[i / 2].key, i / 2));
        }
    }
    check(&map, entry, ENTRIES);
    nd_multimap_release(&map);
    free(entry);
}

static void every_number_is_found_under_its_key(void **state)
{
    (void)state;
    go_through(ENTRIES);
    go_through(500);
}

static void numbers_of_one_key_are_all_found(void **state)
{
    struct nd_multimap map = {0};
    struct nd_multimap_scan scan;
    static struct entry entry[3000];
    static bool seen[3000];
    uint32_t found, n = 0;

    (void)state;
    for (uint32_t i = 0; i < 3000; i++) {
        entry[i].key = UINT64_MAX; /* the last line: runs go round the end */
        add(&map, entry, i);
    }
    scan = nd_multimap_find(&map, UINT64_MAX);
    for (; nd_multimap_next(&map, &scan, &found); n++) {
        assert_false(seen[found]);
        seen[found] = true;
    }
    assert_int_equal(n, 3000);
    nd_multimap_release(&map);
}

static void an_empty_table_has_nothing(void **state)
{
    struct nd_multimap map = {0};

    (void)state;
    assert_int_equal(times_found(&map, 1, 0), 0);
    assert_false(nd_multimap_remove(&map, 1, 0));
    assert_false(nd_multimap_fits(&map, 1));
    assert_int_equal(nd_multimap_bytes(&map), 0);
    nd_multimap_release(&map);
}

static void twelve_tags_are_compared(void **state)
{
    struct nd_multimap_line line = {.n = 12};

    (void)state;
    for (unsigned tag = 0; tag < 256; tag++) {
        for (unsigned i = 0; i < 12; i++)
            line.tag[i] = (uint8_t)(i % 3 == 0 ? tag : tag + 1 + i);
        assert_int_equal(nd_multimap_match(&line, (uint8_t)tag), 0x249);
    }
    line.n = 4;
    assert_int_equal(nd_multimap_match(&line, 255), 0x9);
}

/* Numbers of every line stand in the next one, though each line has room by now. */
static void a_scan_ends_where_it_began(void **state)
{
    struct nd_multimap s = {0};
    struct nd_multimap_scan scan;
    uint32_t number = 0, found;
    unsigned n_found = 0;

    (void)state;
    assert_true(nd_multimap_grow(&s, 1));
    for (size_t line = 0; line < s.n_lines; line++) {
        uint64_t key = (uint64_t)line * (UINT64_MAX / s.n_lines + 1);
        unsigned before = s.line[line].n;

        for (unsigned i = before; i <= ND_MULTIMAP_SLOTS; i++)
            nd_multimap_add(&s, key, number++);
        for (unsigned i = before; i < ND_MULTIMAP_SLOTS; i++)
            assert_true(nd_multimap_remove(&s, key, number - 2 - (i - before)));
    }
    for (size_t line = 0; line < s.n_lines; line++)
        assert_int_equal(nd_multimap_passed(&s.line[line]), 1);
    assert_int_equal(s.count, s.n_lines);
    scan = nd_multimap_find(&s, 1);
    assert_false(nd_multimap_next(&s, &scan, &found));
    for (scan = nd_multimap_find(&s, 0); nd_multimap_next(&s, &scan, &found);)
        n_found++;
    assert_int_equal(n_found, s.n_lines);
    nd_multimap_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_is_found_under_its_key),
        cmocka_unit_test(numbers_of_one_key_are_all_found),
        cmocka_unit_test(an_empty_table_has_nothing),
        cmocka_unit_test(twelve_tags_are_compared),
        cmocka_unit_test(a_scan_ends_where_it_began),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
