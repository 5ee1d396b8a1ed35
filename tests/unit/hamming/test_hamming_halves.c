/* test_hamming_halves.c - two halves of more lines than a half has data: bit 31 chooses too */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include <cmocka.h>

#include "base/hash.h"
#include "hamming/memory/halves.h"
#include "hamming/plan/family.h"
#include "hamming/plan/predict.h"

/* Fingerprints whose buckets are among the first, which are divided first. */
enum { N = 1200, FIRST = 64, QUERIES = 1000 };

static uint64_t seed;

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

static uint64_t fingerprint(const struct nd_hamming_code *code)
{
    uint64_t x = 0;

    for (int h = 0; h < 2; h++) {
        uint32_t own = nd_hamming_code_word(code, (uint32_t)(any() % FIRST), any() & 31);

        x = x << 32 | own | any() << 63 >> 32;
    }
    return x;
}

/* Two halves with some lines fewer than the 2^26 of the data, empty.  The memory is reserved, and
 * hardly any of it used.  NULL: the system reserves none. */
static struct nd_halves *make_large(unsigned distance)
{
    struct nd_hamming_plan plan = {
        .problem = {64, distance, 0}, .family = ND_HAMMING_HALVES, .tables = 2, .fill = 1};
    struct nd_halves *s = nd_hamming_family_row(ND_HAMMING_HALVES)->make(&plan);

    assert_non_null(s);
    for (int h = 0; h < 2; h++) {
        s->group[h].size = ((size_t)1 << 26) - 200;
        if (!nd_hamming_lines_resize(&s->group[h].lines, s->group[h].size)) {
            nd_hamming_family_row(ND_HAMMING_HALVES)->destroy(s);
            return NULL;
        }
        s->group[h].level = (size_t)1 << 25;
    }
    return s;
}

/* From now on every fingerprint that is added divides a bucket of each table. */
static void grow_always(struct nd_halves *s)
{
    s->group[0].fill = s->group[1].fill = 0;
}

/* All rows within the distance, and each once, by a plain loop over them. */
static void check(const struct nd_halves *s, const uint64_t *row, size_t n)
{
    for (unsigned q = 0; q < QUERIES; q++) {
        struct nd_hamming_matches out = {.items = NULL};
        struct nd_hamming_list list[ND_HAMMING_LISTS];
        struct nd_hamming_sink sink = {.matches = &out, .list = list};
        uint64_t x = row[any() % n];
        size_t expected = 0;
        bool met[N] = {false};

        for (uint64_t flips = any() % (s->distance + 2); flips; flips--) {
            static const unsigned top[] = {31, 63};

            x ^= UINT64_C(1) << (any() % 4 ? any() % 64 : top[any() % 2]);
        }
        nd_hamming_family_row(ND_HAMMING_HALVES)->query(s, &x, 1, s->distance, &sink);
        nd_hamming_sink_flush(&sink);
        for (size_t i = 0; i < n; i++)
            expected += (unsigned)__builtin_popcountll(row[i] ^ x) <= s->distance;
        assert_int_equal(out.count, expected);
        for (size_t i = 0; i < out.count; i++) {
            assert_false(met[out.items[i].id]);
            met[out.items[i].id] = true;
            assert_int_equal(out.items[i].distance, __builtin_popcountll(row[out.items[i].id] ^ x));
        }
        nd_hamming_matches_release(&out);
    }
}

static void bit_31_chooses_where_there_are_more_lines(void **state)
{
    static uint64_t row[N];

    (void)state;
    for (unsigned distance = 0; distance <= 3; distance++) {
        struct nd_halves *s = make_large(distance);

        if (!s) {
            print_message("skipped: the system reserves no 8 GB of memory\n");
            skip();
        }
        for (size_t i = 0; i < N; i++) {
            row[i] = i % 3 ? row[any() % i] : fingerprint(&s->code);
            for (uint64_t flips = i % 3 ? any() % 4 : 0; flips; flips--)
                row[i] ^= UINT64_C(1) << any() % 64;
        }
        assert_int_equal(nd_hamming_family_row(ND_HAMMING_HALVES)->add(s, row, NULL, 0, N / 2),
                         N / 2);
        assert_true(s->group[0].lines.n_main < (size_t)1 << 26);
        check(s, row, N / 2);
        grow_always(s);
        for (uint32_t i = N / 2; i < N; i++) {
            assert_int_equal(nd_hamming_family_row(ND_HAMMING_HALVES)->add(s, &row[i], NULL, i, 1),
                             1);
            if (i % 60 == 0)
                check(s, row, i + 1);
        }
        assert_true(s->group[0].lines.n_main > ((size_t)1 << 26) + FIRST);
        check(s, row, N);
        for (uint32_t i = 0; i < N; i++)
            assert_true(nd_hamming_family_row(ND_HAMMING_HALVES)->remove(s, &row[i], i));
        assert_int_equal(s->entries, 0);
        nd_hamming_family_row(ND_HAMMING_HALVES)->destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bit_31_chooses_where_there_are_more_lines),
    };

    (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* a line that is used takes 4 KB, not 2 MB */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
