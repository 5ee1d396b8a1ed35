/* kernels_check.c - every sketch kernel that this processor can run gives what the scalar one gives
 *
 * A program of its own, without a test library, so that a cross build can run it too.  Prints
 * "N passed, N failed"; exits 1 where one failed.
 */
#include <stdio.h>
#include <string.h>

#include <neardup/cpu.h>

#include "base/hash.h"
#include "simd/filter/band_filter.h"
#include "simd/sketch/sketch_kernels.h"

enum { LENGTHS = 130, SHIFTS = 8, ROOM = 2048, SLOTS_LOG2 = 9 };
#define GUARD UINT64_C(0x5A5A5A5A5A5A5A5A)

static const char *const isa_name[] = {"scalar", "avx2", "avx512", "neon"};
static const struct nd_sketch_kernels *const definition = &nd_sketch_scalar;
static unsigned passed, failed;
static uint64_t seed;

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

static void expect(int holds, const char *isa, const char *kernel, size_t n, size_t shift)
{
    if (holds) {
        passed++;
        return;
    }
    failed++;
    printf("%s: %s: wrong for %zu values, shifted by %zu\n", isa, kernel, n, shift);
}

/* Random values, and now and then the extreme ones. */
static void fill(uint64_t *value, size_t n)
{
    static const uint64_t extreme[] = {0,          UINT64_MAX,           1, UINT64_C(1) << 63,
                                       UINT32_MAX, ~(uint64_t)UINT32_MAX};

    for (size_t i = 0; i < n; i++)
        value[i] = any() % 8 ? any() : extreme[any() % 6];
}

static void check_shingles(const struct nd_sketch_kernels *k, const char *isa, uint64_t *memory)
{
    static const unsigned w[] = {1, 2, 3, 4, 5, 9, 32};
    uint64_t expected[LENGTHS + 1], got[LENGTHS + 1], token[LENGTHS + 32];

    for (size_t i = 0; i < sizeof w / sizeof *w; i++)
        for (size_t n = 0; n <= LENGTHS; n++)
            for (size_t shift = 0; shift < SHIFTS; shift++) {
                fill(token, n + w[i] - 1);
                memcpy(memory + shift, token, (n + w[i] - 1) * sizeof *token);
                got[n] = GUARD;
                definition->shingles(token, n, w[i], expected);
                k->shingles(memory + shift, n, w[i], got);
                expect(!memcmp(expected, got, n * sizeof *got) && got[n] == GUARD, isa, "shingles",
                       n, shift);
            }
}

static void check_minhash_length(const struct nd_sketch_kernels *k, const char *isa,
                                 uint64_t *memory, size_t n, size_t shift)
{
    uint64_t value[ROOM];
    uint32_t expected[ND_MINIMA], got[ND_MINIMA];

    fill(value, n);
    memcpy(memory + shift, value, n * sizeof *value);
    for (int i = 0; i < ND_MINIMA; i++)
        expected[i] = got[i] = any() % 2 ? UINT32_MAX : (uint32_t)any();
    definition->minhash(value, n, expected);
    k->minhash(memory + shift, n, got);
    expect(!memcmp(expected, got, sizeof got), isa, "minhash", n, shift);
}

static void check_simhash_length(const struct nd_sketch_kernels *k, const char *isa,
                                 uint64_t *memory, size_t n, size_t shift)
{
    static uint64_t value[20000];
    int64_t expected[ND_SIMHASH_WIDTH], got[ND_SIMHASH_WIDTH];

    fill(value, n);
    if (n > LENGTHS && shift == 1)
        memset(value, 0xFF, n * sizeof *value);
    memcpy(memory + shift, value, n * sizeof *value);
    for (int i = 0; i < ND_SIMHASH_WIDTH; i++)
        expected[i] = got[i] = (int64_t)any() >> 2;
    definition->simhash(value, n, expected);
    k->simhash(memory + shift, n, got);
    expect(!memcmp(expected, got, sizeof got), isa, "simhash", n, shift);
}

static void check_sketches(const struct nd_sketch_kernels *k, const char *isa, uint64_t *memory)
{
    static const size_t longer[] = {511, 512, 513, 620, 1020, 1100, ROOM};
    static const size_t very_long[] = {248,  249,  255,  256,  1021,  2040,
                                       2041, 4032, 4033, 4081, 16200, 20000};

    for (size_t shift = 0; shift < SHIFTS; shift++) {
        for (size_t n = 0; n <= LENGTHS; n++) {
            check_minhash_length(k, isa, memory, n, shift);
            check_simhash_length(k, isa, memory, n, shift);
        }
        for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
            check_minhash_length(k, isa, memory, longer[i], shift);
        for (size_t i = 0; i < sizeof very_long / sizeof *very_long; i++)
            check_simhash_length(k, isa, memory, very_long[i], shift);
    }
}

/* Two strings of minima with each number of equal ones, and bytes beyond that must not matter. */
static unsigned ones(const uint64_t mask[2])
{
    return (unsigned)(__builtin_popcountll(mask[0]) + __builtin_popcountll(mask[1]));
}

static void check_comparisons(const struct nd_sketch_kernels *k, const char *isa)
{
    uint32_t a[ND_MINIMA], b[ND_MINIMA];
    uint8_t memory[2 * ND_MINIMA + 64], expected[ND_MINIMA];
    uint64_t mask[2], expected_mask[2];

    for (unsigned equal = 0; equal <= ND_MINIMA; equal++)
        for (size_t shift = 0; shift < SHIFTS; shift++) {
            uint8_t *x = memory + shift, *y = memory + ND_MINIMA + 32 - shift;

            for (unsigned i = 0; i < ND_MINIMA; i++) {
                unsigned at = (i * 37 + (unsigned)shift) % ND_MINIMA;

                a[at] = (uint32_t)any();
                b[at] = i < equal ? a[at] : a[at] ^ (UINT32_C(1) << any() % 8);
            }
            expect(k->minima_equal(a, b) == equal && definition->minima_equal(a, b) == equal, isa,
                   "minima_equal", equal, shift);
            definition->low_bytes(a, expected);
            k->low_bytes(a, x);
            expect(!memcmp(expected, x, ND_MINIMA), isa, "low_bytes", equal, shift);
            k->low_bytes(b, y);
            k->bytes_equal(x, y, mask);
            definition->bytes_equal(x, y, expected_mask);
            expect(ones(mask) == equal && !memcmp(mask, expected_mask, sizeof mask), isa,
                   "bytes_equal", equal, shift);
        }
}

static void check_positive(const struct nd_sketch_kernels *k, const char *isa)
{
    int64_t sum[ND_SIMHASH_WIDTH];

    for (size_t round = 0; round < 100; round++) {
        for (size_t b = 0; b < ND_SIMHASH_WIDTH; b++)
            sum[b] = any() % 3 ? (int64_t)any() >> any() % 64 : 0;
        expect(k->positive(sum) == definition->positive(sum), isa, "positive", round, 0);
    }
}

static void check_sequence_sum(const struct nd_sketch_kernels *k, const char *isa, uint64_t *memory)
{
    for (size_t n = 0; n <= LENGTHS; n++)
        for (size_t shift = 0; shift < SHIFTS; shift++) {
            uint64_t first = any() >> any() % 64;

            fill(memory + shift, n);
            expect(k->sequence_sum(memory + shift, n, first) ==
                       definition->sequence_sum(memory + shift, n, first),
                   isa, "sequence_sum", n, shift);
        }
}

/* Values to look up: in the order of the entries, with gaps, or in none; and some that are not
 * held.
 */
static size_t choose_values(uint64_t *value, size_t n, const uint64_t *held, size_t n_held)
{
    size_t expected = 0, in_order = any() % n_held, run = any() % 3 ? 20 : 1;

    for (size_t i = 0; i < n; i++) {
        int is_held = run > 1 ? any() % 20 != 0 : any() % 2;

        in_order = any() % run ? (in_order + 1) % n_held : any() % n_held;
        value[i] = is_held ? held[1 + in_order] : any() % 9 ? any() : held[0];
        expected += (size_t)is_held;
    }
    return expected;
}

/* A nearly full table, half of whose values begin their search at its end. */
static void check_count_found(const struct nd_sketch_kernels *k, const char *isa, bool wide,
                              uint64_t *memory)
{
    enum { SLOTS = 1 << SLOTS_LOG2, HELD = SLOTS - 40 };
    static uint16_t narrow_slot[SLOTS + 2];
    static uint32_t wide_slot[SLOTS + 1];
    static uint64_t held[HELD + 1], value[2 * LENGTHS];
    const struct nd_slots in = {held, HELD, wide ? (void *)wide_slot : (void *)narrow_slot,
                                64 - SLOTS_LOG2, wide};

    memset(narrow_slot, 0, sizeof narrow_slot);
    memset(wide_slot, 0, sizeof wide_slot);
    for (unsigned number = 1; number <= HELD; number++) {
        size_t at;

        held[number] = number % 2 ? any() : any() | UINT64_C(0xFF) << 56;
        for (at = held[number] >> in.shift; narrow_slot[at]; at = (at + 1) % SLOTS)
            ;
        narrow_slot[at] = (uint16_t)number;
        wide_slot[at] = number;
    }
    for (size_t n = 0; n <= 2 * LENGTHS; n++)
        for (size_t shift = 0; shift < SHIFTS; shift++) {
            size_t near = any() % 2 ? 1 : 1 + any() % (2 * HELD), expected;

            held[0] = any();
            expected = choose_values(value, n, held, HELD);
            memcpy(memory + shift, value, n * sizeof *value);
            expect(k->count_found(&in, memory + shift, n, &near) == expected, isa, "count_found", n,
                   shift);
        }
}

/* Values of which many come again and begin their search at the end, added in two steps; held
 * against a plain search of all. */
static void check_add_distinct(const struct nd_sketch_kernels *k, const char *isa, bool wide)
{
    enum { SLOTS = 1 << SLOTS_LOG2, MOST = SLOTS - 40 };
    static uint16_t narrow_slot[SLOTS + 2];
    static uint32_t wide_slot[SLOTS + 1];
    static uint64_t held[MOST + 2], value[MOST], expected[MOST];
    struct nd_slots in = {held, 0, wide ? (void *)wide_slot : (void *)narrow_slot, 64 - SLOTS_LOG2,
                          wide};

    for (size_t n = 0; n <= MOST; n += 1 + n / 8) {
        size_t n_expected = 0, first = n ? any() % n : 0;

        memset(narrow_slot, 0, sizeof narrow_slot);
        memset(wide_slot, 0, sizeof wide_slot);
        for (size_t i = 0; i < n; i++) {
            size_t at = 0;

            value[i] =
                i && any() % 2 ? value[any() % i] : any() | (any() % 2 ? UINT64_C(0xFF) << 56 : 0);
            while (at < n_expected && expected[at] != value[i])
                at++;
            expected[at] = value[i];
            n_expected += at == n_expected;
        }
        in.n_entries = 0;
        in.n_entries = k->add_distinct(&in, value, first);
        in.n_entries = k->add_distinct(&in, value + first, n - first);
        expect(in.n_entries == n_expected &&
                   memcmp(held + 1, expected, n_expected * sizeof *held) == 0,
               isa, "add_distinct", n, wide);
    }
}

/* Every division into bands, at any address, of rows of which some share a band with those that the
 * filter has. */
static void check_band_filter(nd_band_filter_find *find, const char *isa)
{
    enum { WORDS = 300, ROWS = 200, MINIMA = 128 };
    static uint64_t word[WORDS];
    static uint8_t room[ROWS][MINIMA + 16];
    const struct nd_key_words filter = {word, WORDS};
    const uint8_t *low[ROWS];
    uint32_t expected[ROWS + 1], got[ROWS + 1];

    for (unsigned rows = 1; rows <= 20; rows++)
        for (unsigned bands = 0; bands * rows <= MINIMA; bands++) {
            const struct nd_low_bands b = {bands, rows};
            size_t n = any() % (ROWS + 1), n_found;

            memset(word, 0, sizeof word);
            for (size_t i = 0; i < ROWS; i++) {
                low[i] = room[i] + any() % 8;
                for (size_t k = 0; k < sizeof room[i]; k++)
                    room[i][k] = (uint8_t)any();
                if (bands && i % 7 == 0) {
                    unsigned band = (unsigned)(any() % bands);
                    uint64_t value = 0, key;

                    memcpy(&value, low[i] + band * rows, rows < 8 ? rows : 8);
                    key = nd_key_of_band(value, band);
                    word[nd_key_word(key, WORDS)] |= nd_key_bits(key);
                }
            }
            expected[n] = got[n] = 77;
            n_found = nd_band_filter_scalar(&filter, &b, low, n, expected);
            expect(find(&filter, &b, low, n, got) == n_found &&
                       !memcmp(expected, got, n_found * sizeof *got) && got[n] == 77 &&
                       n_found >= (bands ? (n + 6) / 7 : 0),
                   isa, "band_filter", n, rows);
        }
}

int main(void)
{
    static uint64_t memory[20000 + SHIFTS];

    for (int i = 0; i < (int)(sizeof isa_name / sizeof *isa_name); i++) {
        const struct nd_sketch_kernels *kernels = nd_sketch_kernels_of((enum nd_isa)i);

        if (!kernels || nd_cpu_force(isa_name[i], NULL) != ND_OK) {
            printf("%s: not on this machine\n", isa_name[i]);
            continue;
        }
        printf("%s\n", isa_name[i]);
        check_shingles(kernels, isa_name[i], memory);
        check_band_filter(nd_band_filter_of((enum nd_isa)i), isa_name[i]);
        check_band_filter(nd_band_filter(), isa_name[i]);
        check_sketches(kernels, isa_name[i], memory);
        check_comparisons(kernels, isa_name[i]);
        check_positive(kernels, isa_name[i]);
        check_sequence_sum(kernels, isa_name[i], memory);
        check_count_found(kernels, isa_name[i], false, memory);
        check_count_found(kernels, isa_name[i], true, memory);
        check_add_distinct(kernels, isa_name[i], false);
        check_add_distinct(kernels, isa_name[i], true);
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
