/* hamming_kernels_check.c - every Hamming kernel that this processor can run gives what the scalar
 * one gives
 *
 * A program of its own, without a test library, so that a cross build can run it too.  Prints
 * "N passed, N failed"; exits 1 where one failed.
 */
#include <stdio.h>
#include <string.h>

#include <neardup/cpu.h>

#include "base/hash.h"
#include "simd/elias_fano/elias_fano_kernels.h"
#include "simd/filter/filter_kernels.h"
#include "simd/hamming/hamming_kernels.h"

enum { LENGTHS = 130, LINES = 300, SHIFTS = 8, WORDS = 8 };

static const char *const isa_name[] = {"scalar", "avx2", "avx512", "neon"};
static const struct nd_hamming_kernels *const definition = &nd_hamming_scalar;
static unsigned passed, failed;
static uint64_t seed;

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

static void expect(int holds, const char *isa, const char *kernel, size_t n, unsigned distance)
{
    passed += holds != 0;
    failed += holds == 0;
    if (!holds)
        printf("%s: %s: wrong for %zu values, %u\n", isa, kernel, n, distance);
}

/* A value that differs from `near` in 0 to 8 bits, or in any. */
static uint64_t some(uint64_t near)
{
    unsigned bits = (unsigned)(any() % 10);

    if (bits == 9)
        return any();
    while (bits--)
        near ^= UINT64_C(1) << any() % 64;
    return near;
}

static void check_lines(const struct nd_hamming_kernels *k, const char *isa)
{
    static struct nd_hamming_line memory[LINES];
    static const struct nd_hamming_line *line[LINES];
    static uint32_t value[LINES];
    static struct nd_hamming_found expected[LINES], got[LINES];
    static uint32_t expected_more[LINES], got_more[LINES];

    for (size_t n = 0; n <= LINES; n += 1 + n / 20)
        for (unsigned distance = 0; distance <= 33; distance += 1 + distance / 8) {
            struct nd_hamming_seen seen, again;
            struct nd_hamming_look now, next;

            for (size_t i = 0; i < n; i++) {
                line[i] = &memory[any() % LINES];
                value[i] = (uint32_t)any();
            }
            for (size_t i = 0; i < n; i++) {
                uint32_t *word = memory[line[i] - memory].word;

                for (int j = 0; j < 15; j++)
                    word[j] = (uint32_t)some(value[i]);
                word[15] = (uint32_t)(any() % 16) | (any() % 3 ? 0 : (uint32_t)any() << 4);
            }
            now = (struct nd_hamming_look){line, value, n};
            next = (struct nd_hamming_look){line, value, any() % (LINES + 1)};
            for (size_t i = n; i < next.n; i++)
                line[i] = &memory[any() % LINES];
            seen = definition->lines(&now, &next, distance, expected, expected_more);
            again = k->lines(&now, &next, distance, got, got_more);
            expect(again.found == seen.found && again.more == seen.more &&
                       !memcmp(expected, got, seen.found * sizeof *got) &&
                       !memcmp(expected_more, got_more, seen.more * sizeof *got_more),
                   isa, "lines", n, distance);
        }
}

/* Tables that were just made, grown somewhat, and doubled often; any key and turn. */
static void check_table_places(const struct nd_hamming_kernels *k, const char *isa)
{
    static uint64_t x[LENGTHS + SHIFTS];
    static uint32_t expected[2][LENGTHS + 1], got[2][LENGTHS + 1];

    for (size_t n = 0; n <= LENGTHS; n++)
        for (unsigned round = 0; round < 40; round++) {
            struct nd_linear_hash spread = {.first = 16 + (uint32_t)(any() >> (34 + round % 30)),
                                            .groups = 1};
            const uint64_t *from = x + any() % SHIFTS;
            uint64_t key = any() & any(), most;
            unsigned turn = (unsigned)(any() % 32);

            while (any() % 4 && (uint64_t)spread.first * spread.groups < UINT32_C(1) << 29)
                spread.groups *= 2;
            most = (uint64_t)spread.first * spread.groups;
            spread.lines = most + any() % (round % 3 ? most : 1);
            for (size_t i = 0; i < LENGTHS + SHIFTS; i++)
                x[i] = any();
            for (int j = 0; j < 2; j++)
                expected[j][n] = got[j][n] = 77;
            definition->places(&spread, key, turn, from, n, expected[0], expected[1]);
            k->places(&spread, key, turn, from, n, got[0], got[1]);
            expect(!memcmp(expected[0], got[0], (n + 1) * sizeof **got) &&
                       !memcmp(expected[1], got[1], (n + 1) * sizeof **got),
                   isa, "places of a table", n, round);
            for (size_t i = 0; i < n; i++)
                expect(got[0][i] < spread.lines, isa, "places within a table", n, round);
        }
}

static void check_ball(const struct nd_hamming_kernels *k, const char *isa)
{
    for (unsigned round = 0; round < 20000; round++) {
        uint32_t mask[16], expected[16] = {0}, got[16] = {0}, data = (uint32_t)any();
        uint32_t level = UINT32_C(1) << any() % 31, lines = level + (uint32_t)(any() % level);
        uint32_t wide = round % 2 ? UINT32_MAX : 2 * level + 3;
        size_t count;

        for (unsigned i = 0; i < 16; i++)
            mask[i] = (uint32_t)(any() & any()) & wide;
        count = definition->ball(mask, data, level, lines, expected);
        expect(k->ball(mask, data, level, lines, got) == count &&
                   !memcmp(expected, got, count * sizeof *got),
               isa, "ball", count, level);
    }
}

static void check_rows(const struct nd_hamming_kernels *k, const char *isa)
{
    static uint64_t memory[(LENGTHS + 1) * WORDS + SHIFTS];
    static uint32_t expected[LENGTHS], got[LENGTHS];

    for (size_t words = 1; words <= WORDS; words++)
        for (size_t n = 0; n <= LENGTHS; n++) {
            uint64_t *row = memory + any() % SHIFTS, query[WORDS];
            unsigned distance = (unsigned)(any() % 40);
            size_t count;

            for (size_t w = 0; w < words; w++)
                query[w] = any();
            for (size_t i = 0; i < n * words; i++)
                row[i] = some(query[i % words]);
            /* what lies behind is near and must not be seen */
            memcpy(row + n * words, query, words * sizeof *query);
            count = definition->rows(row, n, words, query, distance, expected);
            expect(k->rows(row, n, words, query, distance, got) == count &&
                       !memcmp(expected, got, count * sizeof *got),
                   isa, "rows", n, distance);
        }
}

static void check_next(const struct nd_hamming_kernels *k, const char *isa)
{
    static uint64_t value[LENGTHS + 8];
    static struct nd_hamming_found expected[LENGTHS], got[LENGTHS];

    for (size_t end = 0; end <= LENGTHS; end++)
        for (unsigned round = 0; round < 20; round++) {
            size_t n = end ? any() % (end + 1) : 0, gap = any() % 30, count;
            unsigned distance = (unsigned)(any() % 17);

            for (size_t i = 0; i < LENGTHS + 8; i++)
                value[i] = some(i ? value[i - 1] : 0);
            count = definition->next(value, n, end, gap, distance, expected);
            expect(k->next(value, n, end, gap, distance, got) == count &&
                       !memcmp(expected, got, count * sizeof *got),
                   isa, "next", n, distance);
        }
}

/* Words in clusters, so that there is much to find; what lies behind the end is near as well. */
static void fill_words(uint32_t *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        word[i] = (uint32_t)some(any() % 3 ? word[any() % (i + 1)] : 0);
}

/* The definition of words_next itself, by comparing each with its next. */
static void check_next_pairs(const uint32_t *word, size_t n, size_t end, unsigned reach,
                             unsigned distance, const struct nd_hamming_words *pair, size_t count)
{
    size_t expected = 0;
    int holds = 1;

    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < end && k - i <= reach; k++)
            expected += (unsigned)__builtin_popcount(word[i] ^ word[k]) <= distance;
    for (size_t p = 0; p < count; p++)
        holds &= pair[p].a < n && pair[p].a < pair[p].b && pair[p].b < end &&
                 pair[p].b - pair[p].a <= reach &&
                 (unsigned)__builtin_popcount(word[pair[p].a] ^ word[pair[p].b]) <= distance;
    expect(holds && count == expected, "scalar", "words_next", n, distance);
}

static void check_words_next(const struct nd_hamming_kernels *k, const char *isa)
{
    static uint32_t word[LENGTHS + ND_HAMMING_PADDING];
    static struct nd_hamming_words expected[LENGTHS * ND_HAMMING_NEXT],
        got[LENGTHS * ND_HAMMING_NEXT];

    for (size_t end = 0; end <= LENGTHS; end++)
        for (unsigned round = 0; round < 20; round++) {
            size_t n = end ? any() % (end + 1) : 0, count;
            unsigned distance = (unsigned)(any() % 17);
            unsigned reach = round % 2 ? k->reach : 1 + (unsigned)(any() % ND_HAMMING_NEXT);

            fill_words(word, LENGTHS + ND_HAMMING_PADDING);
            count = definition->words_next(word, n, end, reach, distance, expected);
            check_next_pairs(word, n, end, reach, distance, expected, count);
            expect(k->words_next(word, n, end, reach, distance, got) == count &&
                       !memcmp(expected, got, count * sizeof *got),
                   isa, "words_next", n, distance);
        }
}

static void check_words_in(const struct nd_hamming_kernels *k, const char *isa)
{
    static uint32_t word[LENGTHS + ND_HAMMING_PADDING];
    static struct nd_hamming_near expected[LENGTHS * LENGTHS], got[LENGTHS * LENGTHS];

    for (size_t n = 0; n <= LENGTHS; n++)
        for (unsigned round = 0; round < 20; round++) {
            size_t from = any() % (n / ND_HAMMING_GROUP + 1) * ND_HAMMING_GROUP, count;
            size_t rows = any() % 20 * ND_HAMMING_GROUP, gap = any() % 20;
            unsigned distance = (unsigned)(any() % 17);

            fill_words(word, LENGTHS + ND_HAMMING_PADDING);
            count = definition->words_in(word, from, rows, n, gap, distance, expected);
            expect(k->words_in(word, from, rows, n, gap, distance, got) == count &&
                       !memcmp(expected, got, count * sizeof *got),
                   isa, "words_in", n, distance);
        }
}

/* The definition of words_in itself: each pair once, by comparing all with all. */
static void check_each_pair_once(void)
{
    static uint32_t word[LENGTHS + ND_HAMMING_PADDING];
    static struct nd_hamming_near found[LENGTHS * LENGTHS];

    for (size_t n = 0; n <= LENGTHS; n++) {
        size_t gap = any() % 20, count, pairs = 0, expected = 0;
        unsigned distance = (unsigned)(any() % 17);

        fill_words(word, LENGTHS + ND_HAMMING_PADDING);
        count = definition->words_in(word, 0, LENGTHS + 2, n, gap, distance, found);
        for (size_t f = 0; f < count; f++) {
            size_t i = found[f].line, first = i - i % ND_HAMMING_GROUP + 1 + gap;

            for (unsigned b = 0; b < ND_HAMMING_WINDOW; b++) {
                size_t j = first + found[f].more * (size_t)ND_HAMMING_WINDOW + b;

                if (!(found[f].slots >> b & 1))
                    continue;
                pairs++;
                expect(j > i + gap && j < n &&
                           (unsigned)__builtin_popcount(word[i] ^ word[j]) <= distance,
                       "scalar", "words_in", n, distance);
            }
        }
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1 + gap; j < n; j++)
                expected += (unsigned)__builtin_popcount(word[i] ^ word[j]) <= distance;
        expect(pairs == expected, "scalar", "words_in", n, distance);
    }
}

/* A key of up to 32 runs, and what it says of any values. */
static void check_parts(const struct nd_hamming_kernels *k, const char *isa)
{
    static uint64_t x[LENGTHS + SHIFTS];
    static uint32_t expected[LENGTHS + 1], got[LENGTHS + 1];
    static uint64_t expected_place[LENGTHS + 1], got_place[LENGTHS + 1];

    for (size_t n = 0; n <= LENGTHS; n++) {
        struct nd_record_code code = {.n_runs = (unsigned)(1 + any() % (n % 2 ? 2 : 32))};
        const uint64_t *from = x + any() % SHIFTS;

        for (unsigned r = 0; r < code.n_runs; r++) {
            code.shift[r] = (unsigned)(any() % 64);
            code.mask[r] = any();
        }
        code.key_bits = (unsigned)(1 + any() % 64);
        code.part_bits = (unsigned)(any() % 13);
        code.place_bits = (unsigned)(any() % 21);
        for (size_t i = 0; i < LENGTHS + SHIFTS; i++)
            x[i] = any();
        expected[n] = got[n] = 77;
        expected_place[n] = got_place[n] = 77;
        definition->join_parts(&code, from, n, expected);
        k->join_parts(&code, from, n, got);
        expect(!memcmp(expected, got, (n + 1) * sizeof *got), isa, "parts", n, 0);
        definition->join_places(&code, from, n, expected_place);
        k->join_places(&code, from, n, got_place);
        expect(!memcmp(expected_place, got_place, (n + 1) * sizeof *got_place), isa, "places", n,
               0);
        definition->join_words(from, n, expected);
        k->join_words(from, n, got);
        expect(!memcmp(expected, got, (n + 1) * sizeof *got), isa, "words", n, 0);
    }
}

/* Any checks and errors: the kernels need not know that they are a code's. */
static void check_places(const struct nd_filter_kernels *k, const char *isa)
{
    static uint64_t x[LENGTHS + SHIFTS];
    static uint32_t expected[LENGTHS + 1], got[LENGTHS + 1];

    for (size_t n = 0; n <= LENGTHS; n++)
        for (unsigned half = 0; half < 2; half++) {
            struct nd_filter_code code;
            const uint64_t *from = x + any() % SHIFTS;

            for (int j = 0; j < ND_FILTER_CHECKS; j++)
                code.check[j] = (uint32_t)any();
            for (int s = 0; s < 1 << ND_FILTER_CHECKS; s++)
                code.error[s] = (uint32_t)any();
            for (size_t i = 0; i < LENGTHS + SHIFTS; i++)
                x[i] = any();
            expected[n] = got[n] = 77;
            nd_filter_scalar.places(&code, from, n, half, expected);
            k->places(&code, from, n, half, got);
            expect(!memcmp(expected, got, (n + 1) * sizeof *got), isa, "places", n, half);
        }
}

static void check_marked(const struct nd_filter_kernels *k, const char *isa)
{
    enum { BITS = 1 << 14 };
    static uint32_t set[BITS / 32], place[LENGTHS + SHIFTS], expected[LENGTHS + 1],
        got[LENGTHS + 1];

    for (size_t n = 0; n <= LENGTHS; n++)
        for (unsigned fill = 0; fill <= 3; fill++) {
            const uint32_t *from = place + any() % SHIFTS;
            size_t count;

            for (size_t i = 0; i < BITS / 32; i++)
                set[i] = fill == 3 ? UINT32_MAX : fill ? (uint32_t)(any() & (any() | fill)) : 0;
            for (size_t i = 0; i < LENGTHS + SHIFTS; i++)
                place[i] = (uint32_t)(any() % BITS);
            count = nd_filter_scalar.marked(set, from, n, expected);
            expect(k->marked(set, from, n, got) == count &&
                       !memcmp(expected, got, count * sizeof *got),
                   isa, "marked", n, fill);
        }
}

/*
 * Every number of low bits and every length, from any value on, with ones close together, far
 * apart, and beyond a long gap.
 */
static void check_elias_fano(nd_elias_fano_decode *decode, const char *isa)
{
    enum { VALUES = 1500, WORDS_OF_HIGH = 1 << 14 };
    static uint64_t low[VALUES + 1], high[WORDS_OF_HIGH], place[VALUES], expected[VALUES + 1],
        got[VALUES + 1];

    for (unsigned low_bits = 0; low_bits <= 63; low_bits++)
        for (unsigned round = 0; round < 60; round++) {
            struct nd_elias_fano_run run = {.low = low, .high = high, .low_bits = low_bits};
            uint64_t at = any() % 200;
            unsigned gap = round % 4 == 0 ? 1 : round % 4 == 1 ? 5 : 300;

            memset(high, 0, sizeof high);
            for (size_t i = 0; i < VALUES; i++) {
                at += 1 + any() % gap;
                if (round % 8 == 3 && i == VALUES / 2)
                    at += 64 * 9000;
                place[i] = at;
                high[at / 64] |= UINT64_C(1) << at % 64;
            }
            for (size_t i = 0; i <= VALUES; i++)
                low[i] = any();
            run.first = any() % 300;
            run.place = place[run.first];
            run.count = round < 10 ? VALUES - 300 : any() % LENGTHS;
            expected[run.count] = got[run.count] = 77;
            nd_elias_fano_scalar(&run, expected);
            decode(&run, got);
            expect(!memcmp(expected, got, (run.count + 1) * sizeof *got), isa, "elias_fano",
                   run.count, low_bits);
        }
}

/* Every number of low bits and every length, from any value on, with few values near and with many,
 * to one value and to several. */
static void check_near(nd_elias_fano_near *near, const char *isa)
{
    enum { VALUES = 1500 };
    static uint64_t low[VALUES + 1];
    static uint32_t expected[VALUES * ND_ELIAS_FANO_PROBES], got[VALUES * ND_ELIAS_FANO_PROBES];

    for (unsigned low_bits = 0; low_bits <= 63; low_bits++)
        for (unsigned round = 0; round < 200; round++) {
            struct nd_elias_fano_run run = {.low = low, .low_bits = low_bits};
            struct nd_elias_fano_probes probes = {.n = 1 + round % ND_ELIAS_FANO_PROBES,
                                                  .distance = (unsigned)(any() % (low_bits + 2))};
            size_t n;

            for (size_t i = 0; i <= VALUES; i++)
                low[i] = any();
            run.first = any() % 300;
            for (unsigned i = 0; i < probes.n; i++)
                probes.value[i] = any() & ((UINT64_C(1) << low_bits) - 1);
            run.count = round < 10 ? VALUES - 300 : any() % LENGTHS;
            n = nd_elias_fano_near_scalar(&run, &probes, expected);
            expect(near(&run, &probes, got) == n && !memcmp(expected, got, n * sizeof *got), isa,
                   "near", run.count, low_bits);
        }
}

/* Thin, thick and empty bits, ones and zeros, from any place on, up to more than there are. */
static void check_select(nd_elias_fano_select *select, const char *isa)
{
    enum { BIT_WORDS = 60 };
    static uint64_t word[BIT_WORDS];

    for (unsigned round = 0; round < 4000; round++) {
        struct nd_elias_fano_bits bits = {word, 1 + any() % BIT_WORDS,
                                          round & 1 ? ~UINT64_C(0) : 0};
        uint64_t place = any() % (bits.words * 64), nth = 1 + any() % 200, left = nth, at = place;

        for (size_t w = 0; w < bits.words; w++)
            word[w] = round % 5 == 0 ? any() & any() & any() : round % 5 == 1 ? 0 : any() | any();
        while (at < bits.words * 64 && (left -= ((word[at / 64] ^ bits.flip) >> at % 64) & 1))
            at++;
        at = at < bits.words * 64 ? at : at - 1;
        expect(select(&bits, place, nth) == at, isa, "select", (size_t)nth, round);
    }
}

int main(void)
{
    check_each_pair_once();
    check_select(nd_elias_fano_selects_of(ND_ISA_SCALAR), isa_name[ND_ISA_SCALAR]);
    for (int isa = 1; isa < 4; isa++) {
        const struct nd_hamming_kernels *k = nd_hamming_kernels_of((enum nd_isa)isa);

        if (!k || nd_cpu_force(isa_name[isa], NULL) != ND_OK || nd_hamming_kernels() != k)
            continue;
        check_lines(k, isa_name[isa]);
        check_table_places(k, isa_name[isa]);
        check_ball(k, isa_name[isa]);
        check_rows(k, isa_name[isa]);
        check_next(k, isa_name[isa]);
        check_words_next(k, isa_name[isa]);
        check_words_in(k, isa_name[isa]);
        check_parts(k, isa_name[isa]);
        check_places(nd_filter_kernels_of((enum nd_isa)isa), isa_name[isa]);
        check_marked(nd_filter_kernels_of((enum nd_isa)isa), isa_name[isa]);
        check_select(nd_elias_fano_selects_of((enum nd_isa)isa), isa_name[isa]);
        check_elias_fano(nd_elias_fano_of((enum nd_isa)isa), isa_name[isa]);
        check_near(nd_elias_fano_nears_of((enum nd_isa)isa), isa_name[isa]);
        printf("%s\n", isa_name[isa]);
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
