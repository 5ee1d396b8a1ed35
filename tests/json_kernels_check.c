/* json_kernels_check.c - every JSON kernel that this processor can run against a plain loop
 *
 * A program of its own, without a test library, so that a cross build can run it too.  Exits 1 at
 * the first difference.
 */
#include "simd/instruction_set.h"
#include "simd/json/json_kernels.h"

#include "base/hash.h"

#include <neardup/cpu.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 200, ROUNDS = 400 };

static uint64_t state = 1;
static uint64_t rnd(void)
{
    return nd_mix64(state += UINT64_C(0x9E3779B97F4A7C15));
}

/* RFC 8259, section 7, a byte at a time. */
static size_t by_definition(const uint8_t *in, size_t len, uint8_t *out, size_t *made)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    size_t i = 0;

    for (*made = 0; i < len; (*made)++) {
        const char *known;

        if (in[i] != '\\') {
            out[*made] = in[i++];
            continue;
        }
        if (i + 1 == len || in[i + 1] == 0 || !(known = strchr(from, in[i + 1])))
            break;
        out[*made] = (uint8_t)to[known - from];
        i += 2;
    }
    return i;
}

/* Backslashes seldom, often or everywhere, before what they may escape and before what not. */
static void fill(uint8_t *p, size_t len, unsigned round)
{
    static const unsigned seldom[] = {2, 5, 20, 60, 1000};
    unsigned every = seldom[round % 5], wrong = round / 5 % 3 ? 200 : 6;

    for (size_t i = 0; i < len; i++) {
        uint64_t r = rnd();

        p[i] = (uint8_t)(r >> 8);
        if (p[i] == '\\')
            p[i] = 'x';
        if (r % every == 0) {
            p[i] = '\\';
            if (i + 1 < len)
                p[++i] = (r >> 20) % wrong == 0 ? (uint8_t)(r >> 30)
                                                : (uint8_t) "nnnt\"\\\\/bfru"[(r >> 40) % 11];
        }
    }
}

/* The input is an allocation of its exact size with the slack, so that the sanitisers see more. */
static void check(const struct nd_json_kernels *kernels, size_t len, unsigned round)
{
    uint8_t *in = malloc(len + ND_UNESCAPE_SLACK);
    uint8_t want[LONGEST + 1], got[LONGEST + ND_UNESCAPE_SLACK + 1];
    size_t want_made, got_made, want_read, got_read;

    fill(in, len, round);
    memset(in + len, '\\', ND_UNESCAPE_SLACK);
    want_read = by_definition(in, len, want, &want_made);
    got[want_made + ND_UNESCAPE_SLACK] = 0xA5;
    got_read = kernels->unescape(in, len, got, &got_made);
    if (got_read != want_read || got_made != want_made || memcmp(got, want, want_made) != 0 ||
        got[want_made + ND_UNESCAPE_SLACK] != 0xA5) {
        printf("%s: unescape: wrong for %zu bytes, round %u\n", kernels->name, len, round);
        exit(1);
    }
    free(in);
}

static void check_all(const struct nd_json_kernels *kernels)
{
    printf("kernels: %s\n", kernels->name);
    for (size_t len = 0; len <= LONGEST; len++)
        for (unsigned round = 0; round < ROUNDS; round++)
            check(kernels, len, round);
}

int main(void)
{
    check_all(&nd_json_scalar);
#if defined(__x86_64__)
    if (nd_cpu_force("avx512", NULL) == ND_OK && nd_isa_has_vbmi2())
        check_all(&nd_json_vbmi2);
#endif
    return 0;
}
