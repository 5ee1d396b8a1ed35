/* signature_kernels_check.c - every signature kernel that this processor can run gives what the
 * scalar one gives
 *
 * A program of its own, without a test library, so that a cross build can run it too.  Prints
 * "N passed, N failed"; exits 1 where one failed.
 */
#include <stdio.h>
#include <string.h>

#include <neardup/cpu.h>

#include "base/hash.h"
#include "simd/signature/signature_kernels.h"
#include "sketch/hash_functions.h"

enum { LENGTHS = 130, SHIFTS = 8, LONG = 1000, ROOM = LONG + SHIFTS };
#define GUARD UINT64_C(0x5A5A5A5A5A5A5A5A)

static const char *const isa_name[] = {"scalar", "avx2", "avx512", "neon"};
static const struct nd_signature_kernels *const definition = &nd_signature_scalar;
static uint64_t value[ROOM], other[ROOM], out[ROOM + 1], expected[ROOM];
static int32_t weight[ROOM];
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

static void fill(void)
{
    static const uint64_t extreme[] = {0, UINT64_MAX, 1, UINT64_C(1) << 63, UINT32_MAX};

    for (size_t i = 0; i < ROOM; i++) {
        value[i] = any() % 8 ? any() : extreme[any() % 5];
        other[i] = any();
    }
}

/* Weights as recipes make them, or of any size, the extreme ones included. */
static void fill_weights(unsigned kind)
{
    static const int32_t extreme[] = {INT32_MIN, INT32_MAX, -1, 0, INT32_MIN + 1};

    for (size_t i = 0; i < ROOM; i++)
        weight[i] = kind == 0   ? (int32_t)(any() % 32769)
                    : kind == 1 ? (int32_t)(uint32_t)any() % 40000
                    : kind == 2 ? (int32_t)(uint32_t)any()
                                : extreme[any() % 5];
}

static void check_mix(const struct nd_signature_kernels *k, const char *isa, size_t n, size_t shift)
{
    uint64_t add = any();

    for (size_t i = 0; i < n; i++)
        expected[i] = nd_mix64(value[shift + i] + add);
    out[n] = GUARD;
    k->mix(value + shift, n, add, out);
    expect(!memcmp(out, expected, n * sizeof *out) && out[n] == GUARD, isa, "mix", n, shift);
    memcpy(out, value + shift, n * sizeof *out);
    k->mix(out, n, add, out);
    expect(!memcmp(out, expected, n * sizeof *out) && out[n] == GUARD, isa, "mix in place", n,
           shift);
}

static void check_weighted(const struct nd_signature_kernels *k, const char *isa, size_t n,
                           size_t shift)
{
    int64_t got[ND_WEIGHTED_BITS + 1], want[ND_WEIGHTED_BITS + 1];

    fill_weights((unsigned)(any() % 4));
    for (int b = 0; b <= ND_WEIGHTED_BITS; b++)
        got[b] = want[b] = (int64_t)any() >> 2;
    definition->weighted(value + shift, weight + shift, n, want);
    k->weighted(value + shift, weight + shift, n, got);
    expect(!memcmp(got, want, sizeof got), isa, "weighted", n, shift);
}

static void check_lookup8(const struct nd_signature_kernels *k, const char *isa, size_t n,
                          size_t shift)
{
    for (size_t i = 0; i < n; i++)
        expected[i] = nd_lookup8_words(value + shift + i, 1);
    memcpy(out + shift, value + shift, n * sizeof *out);
    out[shift + n] = GUARD;
    k->lookup8(out + shift, n);
    expect(!memcmp(out + shift, expected, n * sizeof *out) && out[shift + n] == GUARD, isa,
           "lookup8", n, shift);
}

/* t^64 + t^4 + t^3 + t + 1, and others that need not be irreducible. */
static void check_rabin(const struct nd_signature_kernels *k, const char *isa, size_t n,
                        size_t shift)
{
    static const uint64_t polynomial[] = {0x1B, UINT64_C(0x243F6A8885A30907), UINT64_MAX, 1, 0};
    struct nd_rabin r;

    if (!nd_rabin_init(&r, polynomial[(n + shift) % 5])) {
        expect(0, isa, "rabin: out of memory", n, shift);
        return;
    }
    for (size_t i = 0; i < n; i++)
        expected[i] = definition->rabin_words(&r, value + shift + i, 1);
    memcpy(out + shift, value + shift, n * sizeof *out);
    out[shift + n] = GUARD;
    k->rabin(&r, out + shift, n);
    expect(!memcmp(out + shift, expected, n * sizeof *out) && out[shift + n] == GUARD, isa, "rabin",
           n, shift);
    expect(k->rabin_words(&r, value + shift, n) == definition->rabin_words(&r, value + shift, n),
           isa, "rabin_words", n, shift);
    nd_rabin_release(&r);
}

static void check_equal(const struct nd_signature_kernels *k, const char *isa, size_t n,
                        size_t shift)
{
    static const int32_t some[] = {1, 0, -3, 32768, 77, INT32_MAX, INT32_MIN};
    int64_t got[ND_WEIGHTED_BITS + 1], want[ND_WEIGHTED_BITS + 1];
    uint64_t signs = 0;

    for (int b = 0; b <= ND_WEIGHTED_BITS; b++)
        got[b] = want[b] = any() % 3 ? (int64_t)any() >> 2 : 0;
    definition->equal(value + shift, n, some[n % 7], want);
    k->equal(value + shift, n, some[n % 7], got);
    expect(!memcmp(got, want, sizeof got), isa, "equal", n, shift);
    for (int b = 0; b < ND_WEIGHTED_BITS; b++)
        signs |= (uint64_t)(want[b] > 0) << b;
    expect(k->signs(want) == signs, isa, "signs", n, shift);
}

/* Runs of one value, among which single ones. */
static void check_changes(const struct nd_signature_kernels *k, const char *isa, size_t n,
                          size_t shift)
{
    static uint64_t run[ROOM];
    uint64_t before = any() % 3;
    size_t count;

    for (size_t i = 0; i < n; i++)
        run[shift + i] = i > 0 && any() % (1 + n % 30) ? run[shift + i - 1] : any() % 3;
    count = definition->changes(run + shift, n, before, expected);
    memset(out, 0x5A, sizeof out);
    expect(k->changes(run + shift, n, before, out + shift) == count &&
               !memcmp(out + shift, expected, count * sizeof *out) && out[shift + n] == GUARD,
           isa, "changes", n, shift);
}

static void check_lexicons(const struct nd_signature_kernels *k, const char *isa, size_t n,
                           size_t shift)
{
    static const uint32_t drop[] = {0, 1, 21627, 24109, 65535, 65536};
    enum { MOST = 13 };
    uint64_t key[MOST], sum[MOST + 1], want[MOST + 1], count[MOST + 1], want_count[MOST + 1];
    const struct nd_lexicons lexicons = {key, (unsigned)(any() % (MOST + 1)), drop[any() % 6]};

    for (int i = 0; i < MOST; i++)
        key[i] = any();
    for (int i = 0; i <= MOST; i++) {
        sum[i] = want[i] = any();
        count[i] = want_count[i] = any();
    }
    definition->lexicons(&lexicons, value + shift, other + shift, n, want, want_count);
    k->lexicons(&lexicons, value + shift, other + shift, n, sum, count);
    expect(!memcmp(sum, want, sizeof sum) && !memcmp(count, want_count, sizeof count), isa,
           "lexicons", n, shift);
}

static void check_least(const struct nd_signature_kernels *k, const char *isa, size_t n,
                        size_t shift)
{
    static const size_t distance[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 64, 200};

    for (size_t d = 0; d < sizeof distance / sizeof *distance; d++) {
        memcpy(expected, value + shift, n * sizeof *value);
        memcpy(out + shift, value + shift, n * sizeof *value);
        out[shift + n] = GUARD;
        definition->least(expected, n, distance[d]);
        k->least(out + shift, n, distance[d]);
        expect(!memcmp(out + shift, expected, n * sizeof *out) && out[shift + n] == GUARD, isa,
               "least", n, shift);
    }
}

static void check_sha1(const struct nd_signature_kernels *k, const char *isa)
{
    uint32_t state[5][ND_SHA1_LANES], want[5][ND_SHA1_LANES], block[16][ND_SHA1_LANES];
    uint32_t one[5], one_block[16];

    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 16; i++)
            for (int lane = 0; lane < ND_SHA1_LANES; lane++) {
                block[i][lane] = (uint32_t)any();
                if (i < 5)
                    state[i][lane] = want[i][lane] = (uint32_t)any();
            }
        for (int i = 0; i < 16; i++) {
            one_block[i] = block[i][round % ND_SHA1_LANES];
            if (i < 5)
                one[i] = state[i][round % ND_SHA1_LANES];
        }
        definition->sha1(want, (const uint32_t(*)[ND_SHA1_LANES])block);
        k->sha1(state, (const uint32_t(*)[ND_SHA1_LANES])block);
        expect(!memcmp(state, want, sizeof state), isa, "sha1", 1, 0);
        k->sha1_one(one, one_block);
        for (int i = 0; i < 5; i++)
            expect(one[i] == want[i][round % ND_SHA1_LANES], isa, "sha1_one", 1, 0);
    }
}

int main(void)
{
    static const size_t longer[] = {255, 256, 257, 511, 512, 513, LONG};

    for (int i = 0; i < (int)(sizeof isa_name / sizeof *isa_name); i++) {
        const struct nd_signature_kernels *kernels = nd_signature_kernels_of((enum nd_isa)i);

        if (!kernels || nd_cpu_force(isa_name[i], NULL) != ND_OK) {
            printf("%s: not on this machine\n", isa_name[i]);
            continue;
        }
        printf("%s\n", isa_name[i]);
        check_sha1(kernels, isa_name[i]);
        for (size_t shift = 0; shift < SHIFTS; shift++) {
            fill();
            for (size_t n = 0; n <= LENGTHS + sizeof longer / sizeof *longer; n++) {
                size_t len = n <= LENGTHS ? n : longer[n - LENGTHS - 1];

                check_lookup8(kernels, isa_name[i], len, shift);
                check_rabin(kernels, isa_name[i], len, shift);
                check_equal(kernels, isa_name[i], len, shift);
                check_changes(kernels, isa_name[i], len, shift);
                check_mix(kernels, isa_name[i], len, shift);
                check_weighted(kernels, isa_name[i], len, shift);
                check_lexicons(kernels, isa_name[i], len, shift);
                check_least(kernels, isa_name[i], len, shift);
            }
        }
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
