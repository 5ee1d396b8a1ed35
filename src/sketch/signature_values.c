/* signature_values.c - sets of hashes: all, the k least, those that p divides, those that win */
#include "sketch/signer.h"

#include <string.h>

#include "base/sort.h"
#include "simd/signature/signature_kernels.h"

/*
 * The hashes that the modulus p divides (Broder 1997; Manku 2007, §5.4a), without a division
 * (Granlund 1994, §9).  For odd p, multiplying by its inverse modulo 2^64 is a bijection that maps
 * the multiples 0, p, 2 p … to 0, 1, 2 …: so h is a multiple if its image is at most (2^64 - 1) / p.
 * For p = 2^shift q the image is rotated right, which makes the low bits that must be 0 the high
 * ones, and any 1 among them too large.
 */
static size_t multiples(const struct nd_signer *s, uint64_t *hash, size_t n)
{
    const unsigned shift = s->modulus_shift;
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t h = hash[i], x = h * s->modulus_inverse;

        x = x >> shift | x << ((64 - shift) & 63);
        hash[count] = h;
        count += x <= s->modulus_most;
    }
    return count;
}

/* The bound: k + 4 √k times the part of the range that one of n values has. */
static uint64_t likely_bound(uint64_t range, size_t n, size_t k)
{
    size_t deviation = 1;

    while (deviation * deviation < k)
        deviation++;
    k += 4 * deviation;
    return k >= n ? range : range / n * k;
}

/*
 * The k smallest.  Hashes are spread evenly, so k / n of the range is expected to hold k of them;
 * with a margin of 4 standard deviations (√k, as of a Poisson variable) it nearly always holds
 * enough, and only those are sorted.  Where it does not, all are.
 */
static size_t bottom_k(uint64_t *hash, size_t n, const struct nd_signer *s, uint64_t *scratch)
{
    const size_t k = s->params.minima;
    uint64_t bound = likely_bound(s->kept_bits, n, k);
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        scratch[count] = hash[i];
        count += hash[i] <= bound;
    }
    count = nd_sort_distinct(scratch, count, scratch + n);
    if (count >= k || bound == s->kept_bits) {
        count = count < k ? count : k;
        memcpy(hash, scratch, count * sizeof *hash);
        return count;
    }
    count = nd_sort_distinct(hash, n, scratch);
    return count < k ? count : k;
}

/*
 * The least hash of every window (Schleimer, Wilkerson and Aiken 2003), by halves: of windows of
 * 1, 2, 4 …, and then of two of those that cover one of `window`.  No branch depends on a hash.
 * `hash` is overwritten; returns how many windows there are.
 */
static size_t least_of_windows(uint64_t *hash, size_t n, size_t window)
{
    const struct nd_signature_kernels *kernels = nd_signature_kernels();
    size_t width = 1;

    for (; 2 * width <= window; width *= 2)
        kernels->least(hash, n, width);
    if (width < window)
        kernels->least(hash, n - width + 1, window - width);
    return n - window + 1;
}

/* Append the hashes that win, in order; one that wins in window after window stands once.  How many
 * there are then. */
static size_t add_winners(uint64_t *winner, size_t count, const uint64_t *least, size_t windows)
{
    uint64_t before = count ? winner[count - 1] : ~least[0];

    return count + nd_signature_kernels()->changes(least, windows, before, winner + count);
}

static uint64_t *aligned(uint64_t *at)
{
    return (uint64_t *)(((uintptr_t)at + ND_SIGNATURE_ALIGN - 1) &
                        ~(uintptr_t)(ND_SIGNATURE_ALIGN - 1));
}

/*
 * Winnowing, as many windows at a time as the first cache holds: the last hashes of one part begin
 * the next.  A list shorter than the window is one window.
 */
static enum nd_status winnow(struct nd_signer *s, const struct nd_features *features, size_t *count)
{
    enum { BLOCK = 2048, TIMES = 8, ALIGN = ND_SIGNATURE_ALIGN / sizeof(uint64_t) };
    const size_t n = features->count, window = s->params.window < n ? s->params.window : n;
    const size_t most = window < BLOCK / TIMES ? BLOCK : window * TIMES;
    const size_t block = most < n ? most : n;
    size_t have = 0;
    uint64_t *part, *tail;

    if (!nd_word_array_reserve(&s->hash, n + 1) ||
        !nd_word_array_reserve(&s->scratch, block + 2 * window + ALIGN + 1))
        return ND_ENOMEM;
    part = aligned(s->scratch.items);
    tail = part + block + window;
    *count = 0;
    for (size_t i = 0; i < n; i += block) {
        have += nd_signer_take(s, features, i, n - i < block ? n - i : block, part + have);
        if (have < window)
            continue;
        memcpy(tail, part + have - (window - 1), (window - 1) * sizeof *tail);
        *count = add_winners(s->hash.items, *count, part, least_of_windows(part, have, window));
        have = window - 1;
        memcpy(part, tail, have * sizeof *tail);
    }
    if (*count == 0 && have > 0)
        *count = add_winners(s->hash.items, 0, part, least_of_windows(part, have, have));
    return ND_OK;
}

static enum nd_status choose(struct nd_signer *s, const struct nd_features *features, size_t *count)
{
    size_t n;

    if (s->params.kind == ND_SIGNATURE_WINNOWING)
        return winnow(s, features, count);
    if (!nd_word_array_reserve(&s->hash, features->count + 1))
        return ND_ENOMEM;
    n = nd_signer_take(s, features, 0, features->count, s->hash.items);
    if (!nd_word_array_reserve(&s->scratch, 2 * n + 1))
        return ND_ENOMEM;
    switch (s->params.kind) {
    case ND_SIGNATURE_BOTTOM_K: *count = bottom_k(s->hash.items, n, s, s->scratch.items); break;
    case ND_SIGNATURE_MOD_P: *count = multiples(s, s->hash.items, n); break;
    default: *count = n; break;
    }
    return ND_OK;
}

enum nd_status nd_sign_values(struct nd_signer *s, const struct nd_features *features,
                              struct nd_signature *out)
{
    size_t n = 0;
    enum nd_status status = choose(s, features, &n);
    struct nd_word_array words;

    if (status != ND_OK || !nd_word_array_reserve(&s->scratch, n + 1))
        return ND_ENOMEM;
    out->count = nd_sort_distinct(s->hash.items, n, s->scratch.items);
    out->is_rejected = out->count == 0;
    words = s->word;
    s->word = s->hash;
    s->hash = words;
    return ND_OK;
}
