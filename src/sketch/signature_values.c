/* signature_values.c - sets of hashes: all, the k least, those that p divides, those that win */
#include "sketch/signer.h"

#include <string.h>

#include "base/sort.h"

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

/* Sort what was taken, keep the k least of it. */
static size_t least_of(uint64_t *taken, size_t n, size_t k, uint64_t *scratch)
{
    n = nd_sort_distinct(taken, n, scratch);
    return n < k ? n : k;
}

/*
 * The k least: those below the k-th so far are taken to the front, and whenever as many again have
 * come, the k-th is found anew.
 */
static size_t bottom_k(uint64_t *hash, size_t n, size_t k, uint64_t *scratch)
{
    uint64_t bound = UINT64_MAX;
    size_t count = 0, room = k < 64 ? 128 : 2 * k;

    for (size_t i = 0; i < n; i++) {
        uint64_t h = hash[i];

        hash[count] = h;
        count += h <= bound;
        if (count == room && count > k) {
            count = least_of(hash, count, k, scratch);
            if (count == k)
                bound = hash[k - 1];
        }
    }
    return least_of(hash, count, k, scratch);
}

/*
 * The least hash of every window (Schleimer, Wilkerson and Aiken 2003); of equal ones the
 * rightmost, which stays longest.  A list shorter than the window is one.  The winners stand in
 * order in front; one that wins in many windows stands once.
 */
static size_t winnow(uint64_t *hash, size_t n, size_t window, uint64_t *won)
{
    size_t count = 0, least = 0;

    if (window > n)
        window = n;
    for (size_t i = 0; i < n; i++) {
        size_t from = i + 1 < window ? 0 : i + 1 - window;

        if (hash[i] <= hash[least]) {
            least = i;
        } else if (least < from) {
            least = from;
            for (size_t k = from + 1; k <= i; k++)
                if (hash[k] <= hash[least])
                    least = k;
        } else if (i + 1 != window) {
            continue;
        }
        if (i + 1 >= window)
            won[count++] = hash[least];
    }
    memcpy(hash, won, count * sizeof *hash);
    return count;
}

enum nd_status nd_sign_values(struct nd_signer *s, const struct nd_features *features,
                              struct nd_signature *out)
{
    int64_t gathered = nd_signer_hash(s, features);
    size_t n = (size_t)gathered;
    struct nd_words words;

    if (gathered < 0 || !nd_words_reserve(&s->scratch, n + 1))
        return ND_ENOMEM;
    switch (s->params.kind) {
    case ND_SIGNATURE_BOTTOM_K: n = bottom_k(s->hash.at, n, s->params.minima, s->scratch.at); break;
    case ND_SIGNATURE_MOD_P: n = multiples(s, s->hash.at, n); break;
    case ND_SIGNATURE_WINNOWING: n = winnow(s->hash.at, n, s->params.window, s->scratch.at); break;
    default: break;
    }
    out->count = nd_sort_distinct(s->hash.at, n, s->scratch.at);
    out->is_rejected = out->count == 0;
    words = s->word;
    s->word = s->hash;
    s->hash = words;
    return ND_OK;
}
