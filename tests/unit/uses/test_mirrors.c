/* test_mirrors.c - addresses split by hand, samples against sorting all pages */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/hash.h"
#include "uses/sample.h"

static void check_address(const char *address, const char *expected_host, const char *expected_path)
{
    char host[ND_HOST_MAX + 1];
    struct nd_view path;
    size_t len = 0;

    if (!expected_host) {
        assert_false(
            nd_address_split((struct nd_view){address, strlen(address)}, host, &len, &path));
        return;
    }
    assert_true(nd_address_split((struct nd_view){address, strlen(address)}, host, &len, &path));
    assert_string_equal(host, expected_host);
    assert_int_equal(len, strlen(expected_host));
    assert_int_equal(path.len, strlen(expected_path));
    assert_memory_equal(path.data, expected_path, path.len);
}

static void addresses_are_split_into_host_and_path(void **state)
{
    char longest[ND_HOST_MAX + 10] = "http://";

    (void)state;
    check_address("http://example.org/a/b?c=d#e", "example.org", "/a/b?c=d");
    check_address("HTTPS://user:pw@Example.ORG:443", "example.org", "/");
    check_address("http://example.org:80?q", "example.org", "?q");
    check_address("http://example.org:443/", "example.org:443", "/");
    check_address("ftp://example.org:80/x", "example.org:80", "/x");
    check_address("//a.b/c", "a.b", "/c");
    check_address("  http://example.org./x \n", "example.org", "/x");
    check_address("http://a@b@c/d@e", "c", "/d@e");
    check_address("example.org/x", NULL, NULL);
    check_address("mailto:a@b.c", NULL, NULL);
    check_address("http:///x", NULL, NULL);
    check_address("http://:80/", NULL, NULL);
    check_address("http://./", NULL, NULL);
    check_address("http://a b/c", NULL, NULL);
    check_address("", NULL, NULL);
    memset(longest + 7, 'a', ND_HOST_MAX + 1);
    check_address(longest, NULL, NULL);
    longest[7 + ND_HOST_MAX] = '\0';
    check_address(longest, longest + 7, "/");
}

enum { HOSTS = 5, PAGES = 400 };

static int by_number(const void *left, const void *right)
{
    uint64_t x = *(const uint64_t *)left, y = *(const uint64_t *)right;

    return x < y ? -1 : x > y;
}

/* The definition: of the distinct paths those that hash least. */
static void check_sample(size_t most)
{
    static uint64_t hash[HOSTS][PAGES];
    size_t n[HOSTS] = {0};
    struct nd_sample s = {.max = most};
    struct nd_use_sketch sketch = {0};
    uint32_t seed = 21;

    for (unsigned i = 0; i < PAGES; i++) {
        char host[16], path[32];
        unsigned h, len;

        seed = seed * 1664525u + 1013904223u;
        h = (seed >> 24) % HOSTS;
        snprintf(host, sizeof host, "h%u", h);
        len = (unsigned)snprintf(path, sizeof path, "/p%u", (seed >> 8) % 90);
        sketch.raw = i;
        assert_true(nd_sample_add(&s, (struct nd_view){host, strlen(host)},
                                  (struct nd_view){path, len}, &sketch));
        hash[h][n[h]++] = nd_mix64(nd_hash_bytes(path, len));
    }
    nd_sample_sort(&s);
    assert_int_equal(s.names.count, HOSTS);
    for (unsigned i = 0; i < HOSTS; i++) {
        unsigned h = (unsigned)(s.names.value[i].data[1] - '0');
        size_t distinct = 0, expected;

        qsort(hash[h], n[h], sizeof(uint64_t), by_number);
        for (size_t k = 0; k < n[h]; k++)
            if (!distinct || hash[h][k] != hash[h][distinct - 1])
                hash[h][distinct++] = hash[h][k];
        expected = most && distinct > most ? most : distinct;
        assert_int_equal(s.host[i].pages, n[h]);
        assert_int_equal(s.host[i].n, expected);
        for (size_t k = 0; k < expected; k++)
            assert_int_equal(s.page[s.host[i].page[k]].path, hash[h][k]);
        assert_true(nd_sample_bound(&s, &s.host[i]) ==
                    (expected < distinct ? hash[h][expected - 1] : UINT64_MAX));
    }
    nd_sample_release(&s);
}

static void a_sample_is_the_paths_that_hash_least(void **state)
{
    (void)state;
    check_sample(0);
    check_sample(1);
    check_sample(7);
    check_sample(50);
    check_sample(1000);
}

static void of_equal_paths_the_first_page_counts(void **state)
{
    const struct nd_view host = {"h", 1}, path = {"/", 1};

    (void)state;
    for (size_t most = 0; most < 3; most++) {
        struct nd_sample s = {.max = most};

        for (uint64_t i = 5; i < 8; i++)
            assert_true(nd_sample_add(&s, host, path, &(struct nd_use_sketch){.raw = i}));
        nd_sample_sort(&s);
        assert_int_equal(s.host[0].n, 1);
        assert_int_equal(s.page[s.host[0].page[0]].sketch.raw, 5);
        nd_sample_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_split_into_host_and_path),
        cmocka_unit_test(a_sample_is_the_paths_that_hash_least),
        cmocka_unit_test(of_equal_paths_the_first_page_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
