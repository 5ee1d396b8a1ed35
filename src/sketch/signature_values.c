/* signature_values.c - sets of hashes: all, the k least, those that p divides, those that win */
#include "sketch/signer.h"

#include <string.h>

#include "base/sort.h"
#include "simd/signature_kernels.h"

/* The hashes that the modulus divides (Broder 1997; 002 section 5.4a), without a division. */
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

/* 4 standard deviations of k above k, times so much of the range as one of n values has. */
static uint64_t likely_bound(uint64_t range, size_t n, size_t k)
{
    size_t deviation = 1;

    while (deviation * deviation < k)
        deviation++;
    k += 4 * deviation;
    return k >= n ? range : range / n * k;
}

/*
 * The k least: of hashes, nearly always among those below a bound that a few more than k are
 * expected under; only those are sorted.
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

/* The hashes that win; one that wins in window after window stands once.  A list shorter than the
 * window is one. */
static size_t winnow(uint64_t *hash, size_t n, size_t window)
{
    size_t windows, count = 0;
    uint64_t before;

    if (n == 0)
        return 0;
    windows = least_of_windows(hash, n, window < n ? window : n);
    before = ~hash[0];
    for (size_t i = 0; i < windows; i++) {
        uint64_t h = hash[i];

        hash[count] = h;
        count += h != before;
        before = h;
    }
    return count;
}

enum nd_status nd_sign_values(struct nd_signer *s, const struct nd_features *features,
                              struct nd_signature *out)
{
    int64_t gathered = nd_signer_hash(s, features);
    size_t n = (size_t)gathered;
    struct nd_words words;

    if (gathered < 0 || !nd_words_reserve(&s->scratch, 2 * n + 1))
        return ND_ENOMEM;
    switch (s->params.kind) {
    case ND_SIGNATURE_BOTTOM_K: n = bottom_k(s->hash.at, n, s, s->scratch.at); break;
    case ND_SIGNATURE_MOD_P: n = multiples(s, s->hash.at, n); break;
    case ND_SIGNATURE_WINNOWING: n = winnow(s->hash.at, n, s->params.window); break;
    default: break;
    }
    out->count = nd_sort_distinct(s->hash.at, n, s->scratch.at);
    out->is_rejected = out->count == 0;
    words = s->word;
    s->word = s->hash;
    s->hash = words;
    return ND_OK;
}
