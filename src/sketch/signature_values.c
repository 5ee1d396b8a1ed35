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

/* The hashes that win, in order; one that wins in window after window stands once. */
struct winners {
    uint64_t *at;
    size_t count;
    uint64_t last; /* of the window before; of the first one any other */
};

static void note_winners(struct winners *w, const uint64_t *least, size_t windows)
{
    uint64_t before = w->count ? w->last : ~least[0];

    w->count += nd_signature_kernels()->changes(least, windows, before, w->at + w->count);
    w->last = least[windows - 1];
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
    struct winners w;

    if (!nd_words_reserve(&s->hash, n + 1) ||
        !nd_words_reserve(&s->scratch, block + 2 * window + ALIGN + 1))
        return ND_ENOMEM;
    part = aligned(s->scratch.at);
    tail = part + block + window;
    w = (struct winners){.at = s->hash.at};
    for (size_t i = 0; i < n; i += block) {
        have += nd_signer_take(s, features, i, n - i < block ? n - i : block, part + have);
        if (have < window)
            continue;
        memcpy(tail, part + have - (window - 1), (window - 1) * sizeof *tail);
        note_winners(&w, part, least_of_windows(part, have, window));
        have = window - 1;
        memcpy(part, tail, have * sizeof *tail);
    }
    if (w.count == 0 && have > 0)
        note_winners(&w, part, least_of_windows(part, have, have));
    *count = w.count;
    return ND_OK;
}

static enum nd_status choose(struct nd_signer *s, const struct nd_features *features, size_t *count)
{
    size_t n;

    if (s->params.kind == ND_SIGNATURE_WINNOWING)
        return winnow(s, features, count);
    if (!nd_words_reserve(&s->hash, features->count + 1))
        return ND_ENOMEM;
    n = nd_signer_take(s, features, 0, features->count, s->hash.at);
    if (!nd_words_reserve(&s->scratch, 2 * n + 1))
        return ND_ENOMEM;
    switch (s->params.kind) {
    case ND_SIGNATURE_BOTTOM_K: *count = bottom_k(s->hash.at, n, s, s->scratch.at); break;
    case ND_SIGNATURE_MOD_P: *count = multiples(s, s->hash.at, n); break;
    default: *count = n; break;
    }
    return ND_OK;
}

enum nd_status nd_sign_values(struct nd_signer *s, const struct nd_features *features,
                              struct nd_signature *out)
{
    size_t n = 0;
    enum nd_status status = choose(s, features, &n);
    struct nd_words words;

    if (status != ND_OK || !nd_words_reserve(&s->scratch, n + 1))
        return ND_ENOMEM;
    out->count = nd_sort_distinct(s->hash.at, n, s->scratch.at);
    out->is_rejected = out->count == 0;
    words = s->word;
    s->word = s->hash;
    s->hash = words;
    return ND_OK;
}
