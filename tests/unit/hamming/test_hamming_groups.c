/* test_hamming_groups.c - index files: groups of ids, and ids that are texts, against plain arrays
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/hamming_file.h>

#include "base/hash.h"
#include "hamming/file/id_groups.h"

static uint64_t seed;

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

/* Groups of 1 to `most`; every answer against the array of beginnings. */
static void check_groups(size_t n, uint64_t most)
{
    uint64_t *start = calloc(n + 2, sizeof *start), m = 0;
    struct nd_hamming_groups groups;
    uint64_t *data;
    size_t bytes;

    assert_non_null(start);
    for (size_t i = 0; i < n; i += any() % most + 1)
        start[m++] = i;
    start[m] = n;
    bytes = nd_hamming_groups_bytes(n, m);
    assert_true(bytes || m == n);
    data = calloc(1, bytes + 8);
    assert_non_null(data);
    for (uint64_t j = 0; m < n && j < m; j++)
        data[start[j] / 64] |= UINT64_C(1) << start[j] % 64;
    if (m < n)
        nd_hamming_groups_finish(n, data);
    assert_true(nd_hamming_groups_open(&groups, n, m, data, bytes));
    for (uint64_t j = 0; j < m; j++) {
        uint64_t within = start[j] + any() % (start[j + 1] - start[j]);

        assert_int_equal(nd_hamming_groups_start(&groups, j), start[j]);
        assert_int_equal(nd_hamming_groups_end(&groups, start[j]), start[j + 1]);
        assert_int_equal(nd_hamming_groups_number(&groups, within), j);
    }
    assert_false(nd_hamming_groups_open(&groups, n, m, data, bytes + 8));
    for (size_t bit = 0; bit < 8 * bytes; bit += 1 + any() % (bytes / 8)) {
        data[bit / 64] ^= UINT64_C(1) << bit % 64; /* but the padding of the numbers is free */
        assert_true(!nd_hamming_groups_open(&groups, n, m, data, bytes) ||
                    bit / 64 == bytes / 8 - 1);
        data[bit / 64] ^= UINT64_C(1) << bit % 64;
    }
    free(start);
    free(data);
}

static void groups_are_found_by_number_and_by_entry(void **state)
{
    (void)state;
    for (size_t n = 1; n < 40000; n = n * 2 + any() % 2)
        for (uint64_t most = 1; most < 100000; most *= 7)
            check_groups(n, most);
}

static size_t length_of(size_t i)
{
    static const size_t edges[] = {0, 1, 127, 128, 129, 16383, 16384};

    return i % 5 ? any() % 40 : edges[any() % 7];
}

static void check_texts(size_t n)
{
    char **text = calloc(n + 1, sizeof *text);
    struct nd_hamming_texts texts;
    uint64_t sum = 0, lengths = 0, place = 0;
    unsigned char *data;
    size_t bytes;

    assert_non_null(text);
    for (size_t i = 0; i < n; i++) {
        size_t len = length_of(i);

        text[i] = malloc(len + 1);
        assert_non_null(text[i]);
        for (size_t j = 0; j < len; j++)
            text[i][j] = (char)('!' + any() % 90);
        text[i][len] = '\0';
        sum += len;
        lengths += nd_hamming_text_length_bytes(len);
    }
    bytes = nd_hamming_texts_bytes(n, sum, lengths);
    data = calloc(1, bytes + 1);
    assert_non_null(data);
    for (size_t i = 0; i < n; i++)
        nd_hamming_texts_add(n, i, text[i], strlen(text[i]), &place, data);
    assert_int_equal(place, sum + lengths);
    assert_true(nd_hamming_texts_open(&texts, n, data, bytes));
    for (size_t i = 0; i < n; i++) {
        size_t len;
        const char *got = nd_hamming_texts_get(&texts, i, &len);

        assert_int_equal(len, strlen(text[i]));
        assert_memory_equal(got, text[i], len);
    }
    for (int i = 0; i < 300; i++) { /* damage: refused, or all texts are within the bytes */
        size_t at = any() % bytes;
        unsigned char bit = (unsigned char)(1u << any() % 8);

        data[at] ^= bit;
        if (nd_hamming_texts_open(&texts, n, data, bytes))
            for (size_t j = 0; j < n; j++) {
                size_t len;
                const char *got = nd_hamming_texts_get(&texts, j, &len);

                assert_true(got + len <= (char *)data + bytes);
                assert_true(nd_hamming_text_is_id(got, len));
            }
        data[at] ^= bit;
    }
    assert_false(nd_hamming_texts_open(&texts, n, data, bytes - 8));
    assert_false(nd_hamming_texts_open(&texts, n + 1, data, bytes));
    for (size_t i = 0; i < n; i++)
        free(text[i]);
    free(text);
    free(data);
}

static void texts_come_back_whatever_their_length(void **state)
{
    (void)state;
    for (size_t n = 1; n < 1000; n = n * 2 + any() % 2)
        check_texts(n);
}

static void only_numbers_as_they_are_printed_are_numbers(void **state)
{
    static const struct {
        const char *text;
        bool is;
        uint32_t number;
    } known[] = {{"0", true, 0},
                 {"7", true, 7},
                 {"4294967295", true, UINT32_MAX},
                 {"4294967296", false, 0},
                 {"00", false, 0},
                 {"07", false, 0},
                 {"", false, 0},
                 {"1 ", false, 0},
                 {"+1", false, 0},
                 {"-1", false, 0},
                 {"99999999999999999999", false, 0}};
    char out[ND_HAMMING_NUMBER_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t number = 0;
        size_t len;

        assert_int_equal(nd_hamming_text_number(known[i].text, &number), known[i].is);
        if (!known[i].is)
            continue;
        assert_int_equal(number, known[i].number);
        assert_memory_equal(nd_hamming_number_text(number, out, &len), known[i].text,
                            strlen(known[i].text));
        assert_int_equal(len, strlen(known[i].text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_found_by_number_and_by_entry),
        cmocka_unit_test(texts_come_back_whatever_their_length),
        cmocka_unit_test(only_numbers_as_they_are_printed_are_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
