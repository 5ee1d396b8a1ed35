/* elias_fano.c - sorted values in little space: Elias-Fano
 *
 * elias_fano.h draws the code.  Two things are computed from it:
 *
 *     value i      Its low part is number i of `low`.  Its high part is the place of one number i in
 *                  `high`, less i, since so many zeros stand before it.
 *     rank of x    How many values are below x.  Let h be the high part of x.  The ones of h begin
 *                  at a place p behind h zeros, so p - h values have a lower high part.  The low
 *                  parts of the ones from p on ascend; those below the low part of x count too.
 *
 * For both, a one or a zero must be found by its number.  A sample says where the ones of every
 * 256th high part begin.  From there the ones or zeros are counted, a word at a time
 * (nd_elias_fano_selects).  For a zero the sample follows from its number; for a one it is found by
 * halving over the samples.
 *
 * Uniform values have about one value for each high part, so the last step of a rank is short.  A
 * cluster can put any number of values under one high part.  After a few steps the rank therefore
 * looks up where the next high part begins, and halves what lies between.
 *
 * Those who look for what is near to a query read lists: the values whose first bits are the key.
 * They need not decode them.  The low bits of a list stand side by side, each as many; those of the
 * query are compared with them where they are (nd_elias_fano_near).  Only where they are near, the
 * high part is looked up.  And where a key ends with a sample, that is all that says where its list
 * begins.
 *
 * The bytes come from a file.  nd_hamming_ef_open reads all of them once and checks that ones,
 * samples and order agree; afterwards no place that is computed lies outside of them.
 */
#include <stdbool.h>
#include <string.h>

#include "hamming/file/elias_fano.h"
#include "hamming/file/packed.h"
#include "simd/elias_fano.h"

enum {
    LOW_MAX = 63,
    HIGH_MAX = 56,
    FEW = 8,
    SHORT = 64,    /* values of a list that are compared though not all of them need be */
    FAR = 4096,    /* ones that are counted from a place, rather than looked up in the samples */
    LINE = 64,     /* bytes that memory brings at once */
    LINES_MAX = 16 /* of them asked for before a list is read */
};

static size_t words_of(uint64_t bits)
{
    return (size_t)((bits + 63) / 64);
}

static uint64_t high_parts(const struct nd_hamming_ef *ef)
{
    return UINT64_C(1) << (ef->bits - ef->low_bits);
}

/* low_bits = log2(2^f / n), rounded down: f - ceil(log2 n). */
struct nd_hamming_ef nd_hamming_ef_shape(uint64_t n, unsigned bits, unsigned sample_shift)
{
    unsigned min = bits > HIGH_MAX ? bits - HIGH_MAX : 0;
    struct nd_hamming_ef ef = {.n = n,
                               .bits = bits,
                               .low_bits = bits < LOW_MAX ? bits : LOW_MAX,
                               .sample_shift = sample_shift};

    while (ef.low_bits > min && (n - (n > 0)) >> (bits - ef.low_bits))
        ef.low_bits--;
    ef.low_words = (size_t)nd_packed_words(n, ef.low_bits);
    ef.high_words = words_of(n + high_parts(&ef));
    ef.samples = (size_t)(high_parts(&ef) >> sample_shift) + 1;
    return ef;
}

size_t nd_hamming_ef_bytes(const struct nd_hamming_ef *ef)
{
    return (ef->low_words + ef->high_words + ef->samples) * sizeof(uint64_t);
}

static inline uint64_t low_mask(const struct nd_hamming_ef *ef)
{
    return (UINT64_C(1) << ef->low_bits) - 1;
}

static inline uint64_t low_of(const struct nd_hamming_ef *ef, uint64_t i)
{
    return nd_packed_get(ef->low, ef->low_bits, i);
}

void nd_hamming_ef_encode(const struct nd_hamming_ef *shape, const uint64_t *value, void *out)
{
    uint64_t *low = out, *high = low + shape->low_words, *sample = high + shape->high_words;
    unsigned l = shape->low_bits;
    size_t next = 0;

    for (uint64_t i = 0; i < shape->n; i++) {
        uint64_t place = (value[i] >> l) + i;

        nd_packed_put(low, l, i, value[i] & low_mask(shape));
        high[place / 64] |= UINT64_C(1) << place % 64;
        for (; next < shape->samples && (uint64_t)next << shape->sample_shift <= value[i] >> l;
             next++)
            sample[next] = i;
    }
    for (; next < shape->samples; next++)
        sample[next] = shape->n;
}

/* Where the ones of high part h begin, and how many come before them. */
static uint64_t place_of_high(const struct nd_hamming_ef *ef, uint64_t h, uint64_t *rank)
{
    const struct nd_elias_fano_bits zeros = {ef->high, ef->high_words, ~UINT64_C(0)};
    uint64_t from = h >> ef->sample_shift << ef->sample_shift;
    uint64_t place = ef->sample[h >> ef->sample_shift] + from;

    if (h > from)
        place = nd_elias_fano_selects()(&zeros, place, h - from) + 1;
    *rank = place - h;
    return place;
}

uint64_t nd_hamming_ef_rank(const struct nd_hamming_ef *ef, uint64_t x)
{
    uint64_t high = x >> ef->low_bits, low = x & low_mask(ef), rank, end = ef->n;
    uint64_t place = place_of_high(ef, high, &rank);

    for (unsigned step = 0; step < FEW; step++, rank++, place++)
        if (rank == ef->n || !(ef->high[place / 64] >> place % 64 & 1) || low_of(ef, rank) >= low)
            return rank;
    if (high + 1 < high_parts(ef))
        (void)place_of_high(ef, high + 1, &end);
    while (rank < end) {
        uint64_t middle = rank + (end - rank) / 2;

        if (low_of(ef, middle) < low)
            rank = middle + 1;
        else
            end = middle;
    }
    return rank;
}

/* The place of the one number i: by halving over the samples, then word by word. */
static uint64_t place_of_one(const struct nd_hamming_ef *ef, uint64_t i)
{
    const struct nd_elias_fano_bits ones = {ef->high, ef->high_words, 0};
    size_t from = 0, to = ef->samples;
    uint64_t place;

    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;

        if (ef->sample[middle] <= i)
            from = middle;
        else
            to = middle;
    }
    place = ef->sample[from] + ((uint64_t)from << ef->sample_shift);
    return nd_elias_fano_selects()(&ones, place, i - ef->sample[from] + 1);
}

void nd_hamming_ef_decode(const struct nd_hamming_ef *ef, uint64_t first, size_t count,
                          uint64_t *out)
{
    struct nd_elias_fano_run run = {
        .low = ef->low, .high = ef->high, .low_bits = ef->low_bits, .first = first, .count = count};

    if (count == 0)
        return;
    run.place = place_of_one(ef, first);
    nd_elias_fano()(&run, out);
}

/* Where the ones of high part h begin, if those of a lower one, `from`, begin at `place`. */
static uint64_t place_from(const struct nd_hamming_ef *ef, uint64_t place, uint64_t from,
                           uint64_t h)
{
    const struct nd_elias_fano_bits zeros = {ef->high, ef->high_words, ~UINT64_C(0)};
    uint64_t rank;

    return h >> ef->sample_shift == from >> ef->sample_shift
               ? nd_elias_fano_selects()(&zeros, place, h - from) + 1
               : place_of_high(ef, h, &rank);
}

struct nd_hamming_ef_list nd_hamming_ef_list(const struct nd_hamming_ef *ef, uint64_t low,
                                             uint64_t high)
{
    uint64_t from = low >> ef->low_bits, to = (high >> ef->low_bits) + 1, mask = low_mask(ef);
    struct nd_hamming_ef_list list;

    list.place = place_of_high(ef, from, &list.rank);
    list.first = list.rank;
    list.end = to < high_parts(ef) ? place_from(ef, list.place, from, to) - to : ef->n;
    if (list.end - list.first > SHORT && (low & mask))
        list.first = nd_hamming_ef_rank(ef, low);
    if (list.end - list.first > SHORT && (~high & mask))
        list.end = nd_hamming_ef_rank(ef, high + 1);
    return list;
}

void nd_hamming_ef_prefetch_sample(const struct nd_hamming_ef *ef, uint64_t low)
{
    __builtin_prefetch(&ef->sample[low >> ef->low_bits >> ef->sample_shift]);
}

void nd_hamming_ef_prefetch_high(const struct nd_hamming_ef *ef, uint64_t low)
{
    uint64_t h = low >> ef->low_bits;
    uint64_t place = ef->sample[h >> ef->sample_shift] + h;

    __builtin_prefetch(&ef->high[place / 64 < ef->high_words ? place / 64 : 0]);
    __builtin_prefetch((const char *)ef->low + (place - h) * ef->low_bits / 8);
}

void nd_hamming_ef_prefetch_list(const struct nd_hamming_ef *ef,
                                 const struct nd_hamming_ef_list *list)
{
    const char *at = (const char *)ef->low + list->first * ef->low_bits / 8;
    const char *end = (const char *)ef->low + list->end * ef->low_bits / 8;

    for (unsigned i = 0; i < LINES_MAX && at <= end; i++, at += LINE)
        __builtin_prefetch(at);
}

size_t nd_hamming_ef_near(const struct nd_hamming_ef *ef, uint64_t first, size_t count, uint64_t x,
                          unsigned distance, uint32_t *found)
{
    const struct nd_elias_fano_run run = {
        .low = ef->low, .low_bits = ef->low_bits, .first = first, .count = count};

    return nd_elias_fano_nears()(&run, x & low_mask(ef), distance, found);
}

uint64_t nd_hamming_ef_value(const struct nd_hamming_ef *ef, const struct nd_hamming_ef_list *list,
                             uint64_t i)
{
    const struct nd_elias_fano_bits ones = {ef->high, ef->high_words, 0};
    uint64_t nth = i - list->rank + 1;
    uint64_t place =
        nth < FAR ? nd_elias_fano_selects()(&ones, list->place, nth) : place_of_one(ef, i);

    return (place - i) << ef->low_bits | low_of(ef, i);
}

/* The ones must be n, each sample true, and equal high parts in the order of their low ones. */
static bool is_sound(const struct nd_hamming_ef *ef)
{
    uint64_t ones = 0, before = 0, parts = high_parts(ef);
    size_t next = 0;

    for (size_t word = 0; word < ef->high_words; word++)
        for (uint64_t bits = ef->high[word]; bits; bits &= bits - 1) {
            uint64_t place = word * 64 + (uint64_t)__builtin_ctzll(bits), high = place - ones;
            uint64_t value;

            if (ones == ef->n || high >= parts)
                return false;
            for (; next < ef->samples && (uint64_t)next << ef->sample_shift <= high; next++)
                if (ef->sample[next] != ones)
                    return false;
            value = high << ef->low_bits | low_of(ef, ones);
            if (value < before)
                return false;
            before = value;
            ones++;
        }
    for (; next < ef->samples; next++)
        if (ef->sample[next] != ones)
            return false;
    return ones == ef->n;
}

enum nd_status nd_hamming_ef_open(struct nd_hamming_ef *ef, uint64_t n, unsigned bits,
                                  unsigned sample_shift, const void *data, size_t len,
                                  struct nd_error *err)
{
    struct nd_hamming_ef made;

    if (n / 8 > (uint64_t)len) /* a value takes more than a bit; keeps the sums below small */
        return nd_fail(err, ND_EINPUT, "%zu bytes cannot hold %llu values", len,
                       (unsigned long long)n);
    made = nd_hamming_ef_shape(n, bits, sample_shift);
    if (nd_hamming_ef_bytes(&made) != len)
        return nd_fail(err, ND_EINPUT, "%llu values take %zu bytes, not %zu", (unsigned long long)n,
                       nd_hamming_ef_bytes(&made), len);
    made.low = data;
    made.high = made.low + made.low_words;
    made.sample = made.high + made.high_words;
    if (!is_sound(&made))
        return nd_fail(err, ND_EINPUT, "the Elias-Fano code of %llu values is damaged",
                       (unsigned long long)n);
    *ef = made;
    return ND_OK;
}
