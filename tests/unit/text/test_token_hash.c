/* test_token_hash.c - the token hash: known answers, avalanche, collisions */
#include "base/hash.h"

#include <neardup/text.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t state = 1;
static uint64_t rnd(void)
{
    return nd_mix64(state += UINT64_C(0x9E3779B97F4A7C15));
}

static size_t from_hex(const char *hex, char *out)
{
    size_t n = 0;
    unsigned byte;

    for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
        out[n++] = (char)byte;
    return n;
}

static void hashes_are_the_known_answers(void **unused)
{
    FILE *file = fopen("tests/vectors/token_hash.txt", "r");
    char line[1200], hex[1000], token[500];
    unsigned long long want;
    int seen = 0;

    (void)unused;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        size_t len;

        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%999s %llx", hex, &want), 2);
        len = from_hex(hex, token);
        assert_true(nd_token_hash(token, len) == want);
        seen++;
    }
    fclose(file);
    assert_true(seen >= 30);
}

/* docs/format/text.md, word by word, for tokens of up to 16 bytes. */
static uint64_t defined(const char *token, size_t len)
{
    uint64_t word[2] = {0, 0}, x, y, low, high, h;

    for (size_t i = 0; i < len; i++)
        word[i / 8] |= (uint64_t)(uint8_t)token[i] << 8 * (i % 8);
    x = word[0] ^ UINT64_C(0xA0761D6478BD642F) ^ len * UINT64_C(0x9E3779B97F4A7C15);
    y = word[1] ^ UINT64_C(0xE7037ED1A0B428DB);
    low = x * y;
    { /* the upper half, from products of 32 bits */
        uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
        uint64_t middle = x1 * y0 + (x0 * y0 >> 32);

        high = x1 * y1 + (middle >> 32) + (((uint32_t)middle + x0 * y1) >> 32);
    }
    h = low ^ high ^ x ^ y;
    h ^= h >> 32;
    h *= UINT64_C(0xC4CEB9FE1A85EC53);
    return h ^ h >> 29;
}

static void hashes_follow_the_written_definition(void **unused)
{
    (void)unused;
    for (int i = 0; i < 200000; i++) {
        char token[16];
        size_t len = rnd() % 17;

        for (size_t k = 0; k < len; k++)
            token[k] = (char)rnd();
        assert_true(nd_token_hash(token, len) == defined(token, len));
    }
    for (size_t len = 17; len < 200; len++) {
        char token[200];

        memset(token, (int)len, sizeof token);
        assert_true(nd_token_hash(token, len) == nd_hash_bytes(token, len));
    }
}

/* Flip each bit of random tokens: each bit of the hash must flip in half of the cases. */
static void every_bit_of_a_token_reaches_every_bit_of_the_hash(void **unused)
{
    enum { TRIALS = 4096 };
    static unsigned flips[128][64];

    (void)unused;
    for (size_t len = 3; len <= 16; len++) {
        memset(flips, 0, sizeof flips);
        for (int t = 0; t < TRIALS; t++) {
            char token[16];
            uint64_t h;

            for (size_t k = 0; k < len; k++)
                token[k] = (char)(len < 6 ? (int)(rnd() & 255) : 'a' + (int)(rnd() % 26));
            h = nd_token_hash(token, len);
            for (size_t bit = 0; bit < 8 * len; bit++) {
                uint64_t difference;

                token[bit / 8] = (char)(token[bit / 8] ^ 1 << bit % 8);
                difference = h ^ nd_token_hash(token, len);
                token[bit / 8] = (char)(token[bit / 8] ^ 1 << bit % 8);
                for (int out = 0; out < 64; out++)
                    flips[bit][out] += (unsigned)(difference >> out & 1);
            }
        }
        for (size_t bit = 0; bit < 8 * len; bit++) /* 6 standard deviations of 32 */
            for (int out = 0; out < 64; out++)
                assert_in_range(flips[bit][out], TRIALS / 2 - 192, TRIALS / 2 + 192);
    }
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static size_t equal_neighbours(uint64_t *hash, size_t n, uint64_t mask)
{
    size_t equal = 0;

    for (size_t i = 0; i < n; i++)
        hash[i] &= mask;
    qsort(hash, n, sizeof *hash, compare);
    for (size_t i = 1; i < n; i++)
        equal += hash[i] == hash[i - 1];
    return equal;
}

/* 2^20 numbers, words and their plurals: no two equal; in 32 bits as many as chance gives (128). */
static void enumerations_collide_only_by_chance(void **unused)
{
    enum { N = 1 << 20 };
    static const char *const shapes[] = {"%07d", "%d", "item%dsof", "abcdefgh%08d", "%08dabcdefgh"};
    uint64_t *hash = malloc(N * sizeof *hash), *copy = malloc(N * sizeof *copy);

    (void)unused;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        for (int i = 0; i < N; i++) {
            char token[40];

            hash[i] = nd_token_hash(token, (size_t)snprintf(token, sizeof token, shapes[s], i));
        }
        memcpy(copy, hash, N * sizeof *copy);
        assert_int_equal(equal_neighbours(copy, N, UINT64_MAX), 0);
        memcpy(copy, hash, N * sizeof *copy);
        assert_in_range(equal_neighbours(copy, N, UINT32_MAX), 70, 190);
        memcpy(copy, hash, N * sizeof *copy);
        assert_in_range(equal_neighbours(copy, N, ~(uint64_t)UINT32_MAX), 70, 190);
    }
    free(hash);
    free(copy);
}

/* If one keyed word is zero, the other still decides. */
static void a_zero_factor_does_not_hide_the_other_word(void **unused)
{
    uint64_t word[2], first;

    (void)unused;
    word[0] = UINT64_C(0xA0761D6478BD642F) ^ 16 * UINT64_C(0x9E3779B97F4A7C15);
    word[1] = 1;
    first = nd_token_hash((const char *)word, 16);
    word[1] = 2;
    assert_true(nd_token_hash((const char *)word, 16) != first);
    word[1] = UINT64_C(0xE7037ED1A0B428DB);
    word[0] = 1;
    first = nd_token_hash((const char *)word, 16);
    word[0] = 2;
    assert_true(nd_token_hash((const char *)word, 16) != first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_the_known_answers),
        cmocka_unit_test(hashes_follow_the_written_definition),
        cmocka_unit_test(every_bit_of_a_token_reaches_every_bit_of_the_hash),
        cmocka_unit_test(enumerations_collide_only_by_chance),
        cmocka_unit_test(a_zero_factor_does_not_hide_the_other_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
