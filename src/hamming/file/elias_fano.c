/* elias_fano.c - sorted values in little space: Elias-Fano
 *
 * elias_fano.h draws the code.  Two things are computed from it:
 *
 *     value i      Its low part is number i of `front` and of `back`.  Its high part is the place of one number i in
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
 * A search for values near a query reads lists: the values whose first bits are the key.
 * It need not decode them.  The fronts of a list stand side by side, each of as many bits; that of
 * the query is compared with them where they are (nd_elias_fano_near).  Only where it is near, the
 * rest is looked up.  And where a key ends with a sample, that is all that says where its list
 * begins.
 *
 * The bytes come from a file.  nd_hamming_ef_check reads all of them and says whether ones, samples
 * and order agree.  But a large file is to be ready at once, so that nobody may have called it: what
 * is read may be anything.  A place that is computed is held against the ends of the code before it
 * is read, and the bytes that an answer comes from against their checksums before it is given.  A
 * search for a one ends with the last place of the string, which is never a one of a code: a 0 for
 * the last high part stands there, or padding.
 */
#include <string.h>

#include "hamming/file/elias_fano.h"
#include "hamming/file/packed_numbers.h"
#include "simd/elias_fano/elias_fano_kernels.h"

#define ALL UINT64_MAX
enum {
    SAMPLES = 8,
    FRONT_SHIFT = 9, /* one of so many, as a power of 2, passes the front by chance */
    LOW_MAX = 63,
    HIGH_MAX = 56,
    FEW = 8,
    AT_ONCE = 256, /* values whose fronts and backs are joined */
    SHORT = 64,    /* values of a list that are compared though not all of them need be */
    FAR = 4096     /* ones that are counted from a place, rather than looked up in the samples */
};

static size_t words_of(uint64_t bits)
{
    return (size_t)((bits + 63) / 64);
}

static uint64_t high_parts(const struct nd_hamming_ef *ef)
{
    return UINT64_C(1) << (ef->bits - ef->low_bits);
}

static unsigned back_bits(const struct nd_hamming_ef *ef)
{
    return ef->low_bits - ef->front_bits;
}

struct nd_hamming_ef_kind nd_hamming_ef_kind(unsigned distance)
{
    struct nd_hamming_ef_kind kind = {SAMPLES, distance + 1};

    for (; kind.front_bits < LOW_MAX; kind.front_bits++) {
        uint64_t near = 0, choices = 1; /* of front_bits bits so many are wrong */

        for (unsigned i = 0; i <= distance; i++) {
            near += choices;
            choices = choices * (kind.front_bits - i) / (i + 1);
        }
        if (near <= UINT64_C(1) << kind.front_bits >> FRONT_SHIFT)
            break;
    }
    return kind;
}

/* low_bits = log2(2^f / n), rounded down: f - ceil(log2 n). */
struct nd_hamming_ef nd_hamming_ef_shape(uint64_t n, unsigned bits, struct nd_hamming_ef_kind kind)
{
    unsigned min = bits > HIGH_MAX ? bits - HIGH_MAX : 0;
    struct nd_hamming_ef ef = {.n = n,
                               .bits = bits,
                               .low_bits = bits < LOW_MAX ? bits : LOW_MAX,
                               .sample_shift = kind.sample_shift};

    while (ef.low_bits > min && (n - (n > 0)) >> (bits - ef.low_bits))
        ef.low_bits--;
    ef.front_bits = kind.front_bits < ef.low_bits ? kind.front_bits : ef.low_bits;
    ef.front_words = (size_t)nd_packed_words(n, ef.front_bits);
    if (ef.front_bits < ef.low_bits)
        ef.back_words = (size_t)nd_packed_words(n, back_bits(&ef));
    ef.high_words = words_of(n + high_parts(&ef));
    ef.samples = (size_t)(high_parts(&ef) >> ef.sample_shift) + 1;
    return ef;
}

size_t nd_hamming_ef_bytes(const struct nd_hamming_ef *ef)
{
    return (ef->front_words + ef->back_words + ef->high_words + ef->samples) * sizeof(uint64_t);
}

static inline uint64_t low_mask(const struct nd_hamming_ef *ef)
{
    return (UINT64_C(1) << ef->low_bits) - 1;
}

static inline uint64_t low_of(const struct nd_hamming_ef *ef, uint64_t i)
{
    uint64_t front = nd_packed_get(ef->front, ef->front_bits, i);

    return ef->back_words ? front << back_bits(ef) | nd_packed_get(ef->back, back_bits(ef), i)
                          : front;
}

/* Check `count` numbers of so many bits each, from number i on. */
static bool packed_is_sound(const struct nd_hamming_ef *ef, const uint64_t *packed, unsigned bits,
                            uint64_t i, uint64_t count)
{
    return nd_hamming_ef_bits_are_sound(ef, packed, i * bits, count * bits);
}

/* Check the low bits of `count` values from number i on. */
static bool low_is_sound(const struct nd_hamming_ef *ef, uint64_t i, uint64_t count)
{
    return packed_is_sound(ef, ef->front, ef->front_bits, i, count) &&
           packed_is_sound(ef, ef->back, back_bits(ef), i, count);
}

/* Check from one place to another, both included; those behind the string do not count. */
static bool high_is_sound(const struct nd_hamming_ef *ef, uint64_t from, uint64_t to)
{
    const uint64_t last = 64 * (uint64_t)ef->high_words - 1;

    return nd_hamming_ef_bits_are_sound(ef, ef->high, from, (to < last ? to : last) - from + 1);
}

bool nd_hamming_ef_low(const struct nd_hamming_ef *ef, uint64_t i, uint64_t *low)
{
    *low = low_of(ef, i);
    return packed_is_sound(ef, ef->back, back_bits(ef), i, 1);
}

void nd_hamming_ef_encode(const struct nd_hamming_ef *shape, const uint64_t *value, void *out)
{
    uint64_t *front = out, *back = front + shape->front_words, *high = back + shape->back_words;
    uint64_t *sample = high + shape->high_words;
    unsigned l = shape->low_bits, rest = back_bits(shape);
    size_t next = 0;

    for (uint64_t i = 0; i < shape->n; i++) {
        uint64_t place = (value[i] >> l) + i;

        nd_packed_put(front, shape->front_bits, i, (value[i] & low_mask(shape)) >> rest);
        if (rest)
            nd_packed_put(back, rest, i, value[i] & ((UINT64_C(1) << rest) - 1));
        high[place / 64] |= UINT64_C(1) << place % 64;
        for (; next < shape->samples && (uint64_t)next << shape->sample_shift <= value[i] >> l;
             next++)
            sample[next] = i;
    }
    for (; next < shape->samples; next++)
        sample[next] = shape->n;
}

/* Find the place behind the zero number nth from `place` on, which is in the string. */
static bool behind_zeros(const struct nd_hamming_ef *ef, uint64_t place, uint64_t nth,
                         uint64_t *found)
{
    const struct nd_elias_fano_bits zeros = {ef->high, ef->high_words, ~UINT64_C(0)};

    *found = ef->select(&zeros, place, nth) + 1;
    return high_is_sound(ef, place, *found);
}

/* Find the place of the one number nth from `place` on, which is in the string. */
static bool place_of_nth(const struct nd_hamming_ef *ef, uint64_t place, uint64_t nth,
                         uint64_t *found)
{
    const struct nd_elias_fano_bits ones = {ef->high, ef->high_words, 0};

    *found = ef->select(&ones, place, nth);
    return *found + 1 < 64 * (uint64_t)ef->high_words && high_is_sound(ef, place, *found);
}

/* Find how many values sample number i says are below its high part. */
static bool read_sample(const struct nd_hamming_ef *ef, uint64_t i, uint64_t *below)
{
    *below = ef->sample[i];
    return *below <= ef->n && nd_hamming_ef_bits_are_sound(ef, ef->sample, 64 * i, 64);
}

/* Find the place at which the ones of high part h begin, and how many come before them. */
static bool place_of_high(const struct nd_hamming_ef *ef, uint64_t h, uint64_t *place,
                          uint64_t *rank)
{
    uint64_t from = h >> ef->sample_shift << ef->sample_shift, below;

    if (!read_sample(ef, h >> ef->sample_shift, &below))
        return false;
    *place = below + from;
    if (h > from && !behind_zeros(ef, *place, h - from, place))
        return false;
    *rank = *place - h;
    return *rank <= ef->n;
}

/* Find the first value from number *rank to before `end` whose low bits are not below `low`. */
static bool halve(const struct nd_hamming_ef *ef, uint64_t low, uint64_t end, uint64_t *rank)
{
    while (*rank < end) {
        uint64_t middle = *rank + (end - *rank) / 2;

        if (!low_is_sound(ef, middle, 1))
            return false;
        if (low_of(ef, middle) < low)
            *rank = middle + 1;
        else
            end = middle;
    }
    return true;
}

bool nd_hamming_ef_rank(const struct nd_hamming_ef *ef, uint64_t x, uint64_t *rank)
{
    uint64_t high = x >> ef->low_bits, low = x & low_mask(ef), end = ef->n, place, next;

    if (!place_of_high(ef, high, &place, rank) || !high_is_sound(ef, place, place + FEW) ||
        !low_is_sound(ef, *rank, ef->n - *rank < FEW ? ef->n - *rank : FEW))
        return false;
    for (unsigned step = 0; step < FEW; step++, ++*rank, place++)
        if (*rank == ef->n || !(ef->high[place / 64] >> place % 64 & 1) || low_of(ef, *rank) >= low)
            return true;
    if (high + 1 < high_parts(ef) && !place_of_high(ef, high + 1, &next, &end))
        return false;
    return halve(ef, low, end, rank);
}

/* Find the place of the one number i: by halving over the samples, then word by word. */
static bool place_of_one(const struct nd_hamming_ef *ef, uint64_t i, uint64_t *place)
{
    size_t from = 0, to = ef->samples;
    uint64_t below;

    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;

        if (!read_sample(ef, middle, &below))
            return false;
        if (below <= i)
            from = middle;
        else
            to = middle;
    }
    return read_sample(ef, from, &below) && below <= i &&
           place_of_nth(ef, below + ((uint64_t)from << ef->sample_shift), i - below + 1, place);
}

/*
 * Put the back behind what is there of the values.  It is read as a code of which all high parts are
 * the same: its ones follow one another.
 */
static void join_back(const struct nd_hamming_ef *ef, uint64_t first, size_t count, uint64_t *out)
{
    static const uint64_t ones[AT_ONCE / 64] = {ALL, ALL, ALL, ALL};
    const unsigned bits = back_bits(ef);
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    uint64_t back[AT_ONCE];

    for (size_t done = 0; done < count; done += AT_ONCE) {
        size_t some = count - done < AT_ONCE ? count - done : AT_ONCE;
        const struct nd_elias_fano_run run = {
            .low = ef->back, .high = ones, .low_bits = bits, .first = first + done, .count = some};

        nd_elias_fano()(&run, back);
        for (size_t i = 0; i < some; i++)
            out[done + i] = out[done + i] << bits | (back[i] & mask);
    }
}

bool nd_hamming_ef_decode(const struct nd_hamming_ef *ef, uint64_t first, size_t count,
                          uint64_t *out)
{
    struct nd_elias_fano_run run = {.low = ef->front,
                                    .high = ef->high,
                                    .low_bits = ef->front_bits,
                                    .first = first,
                                    .count = count};

    uint64_t last;

    if (count == 0)
        return true;
    if (!place_of_one(ef, first, &run.place) || !place_of_nth(ef, run.place, count, &last) ||
        !low_is_sound(ef, first, count))
        return false;
    nd_elias_fano()(&run, out);
    if (ef->back_words)
        join_back(ef, first, count, out);
    return true;
}

/* Find how many values are below high part h, if the ones of a lower one, `from`, begin at `place`. */
static bool rank_from(const struct nd_hamming_ef *ef, uint64_t place, uint64_t from, uint64_t h,
                      uint64_t *rank)
{
    if (h >> ef->sample_shift != from >> ef->sample_shift)
        return place_of_high(ef, h, &place, rank);
    if (!behind_zeros(ef, place, h - from, &place))
        return false;
    *rank = place - h;
    return true;
}

bool nd_hamming_ef_list(const struct nd_hamming_ef *ef, uint64_t low, uint64_t high,
                        struct nd_hamming_ef_list *list)
{
    uint64_t from = low >> ef->low_bits, to = (high >> ef->low_bits) + 1, mask = low_mask(ef);

    if (!place_of_high(ef, from, &list->place, &list->rank))
        return false;
    list->first = list->rank;
    list->end = ef->n;
    if (to < high_parts(ef) && !rank_from(ef, list->place, from, to, &list->end))
        return false;
    if (list->end - list->first > SHORT && (low & mask) &&
        !nd_hamming_ef_rank(ef, low, &list->first))
        return false;
    if (list->end - list->first > SHORT && (~high & mask) &&
        !nd_hamming_ef_rank(ef, high + 1, &list->end))
        return false;
    return list->rank <= list->first && list->first <= list->end && list->end <= ef->n;
}

void nd_hamming_ef_prefetch_high(const struct nd_hamming_ef *ef, uint64_t low)
{
    uint64_t h = low >> ef->low_bits, rank = ef->sample[h >> ef->sample_shift];
    uint64_t word = (rank + h) / 64;

    __builtin_prefetch(&ef->high[word < ef->high_words ? word : 0]);
}

bool nd_hamming_ef_find_high(const struct nd_hamming_ef *ef, uint64_t x,
                             struct nd_hamming_ef_list *list)
{
    if (!place_of_high(ef, x >> ef->low_bits, &list->place, &list->rank))
        return false;
    list->first = list->end = list->rank;
    __builtin_prefetch((const char *)ef->front + list->rank * ef->front_bits / 8);
    return true;
}

/* The back is not read if only one value of the high part has the front of x: it is x. */
bool nd_hamming_ef_find(const struct nd_hamming_ef *ef, const struct nd_hamming_ef_list *list,
                        uint64_t x, uint64_t *number)
{
    const uint64_t front = (x & low_mask(ef)) >> back_bits(ef), left = ef->n - list->rank;
    uint64_t rank = list->rank, place = list->place;

    if (!packed_is_sound(ef, ef->front, ef->front_bits, rank, left < FEW + 1 ? left : FEW + 1) ||
        !high_is_sound(ef, place, place + FEW))
        return false;
    for (unsigned step = 0; step < FEW; step++, rank++, place++) {
        if (rank + 1 >= ef->n || nd_packed_get(ef->front, ef->front_bits, rank) > front)
            break;
        if (nd_packed_get(ef->front, ef->front_bits, rank) < front)
            continue;
        if (ef->high[(place + 1) / 64] >> (place + 1) % 64 & 1 &&
            nd_packed_get(ef->front, ef->front_bits, rank + 1) == front)
            break;
        *number = rank;
        return true;
    }
    return nd_hamming_ef_rank(ef, x, number) && *number < ef->n;
}

size_t nd_hamming_ef_near(const struct nd_hamming_ef *ef, uint64_t first, size_t count,
                          const struct nd_elias_fano_probes *probes, uint32_t *found)
{
    const struct nd_elias_fano_run run = {
        .low = ef->front, .low_bits = ef->front_bits, .first = first, .count = count};
    struct nd_elias_fano_probes fronts = *probes;

    for (unsigned i = 0; i < probes->n; i++)
        fronts.value[i] = (probes->value[i] & low_mask(ef)) >> back_bits(ef);
    return ef->near(&run, &fronts, found);
}

bool nd_hamming_ef_value(const struct nd_hamming_ef *ef, const struct nd_hamming_ef_list *list,
                         uint64_t i, uint64_t low, uint64_t *value)
{
    uint64_t nth = i - list->rank + 1, place;

    if (!(nth < FAR ? place_of_nth(ef, list->place, nth, &place) : place_of_one(ef, i, &place)) ||
        place - i >= high_parts(ef))
        return false;
    *value = (place - i) << ef->low_bits | low;
    return true;
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

enum nd_status nd_hamming_ef_check(const struct nd_hamming_ef *ef, struct nd_error *err)
{
    return is_sound(ef) ? ND_OK
                        : nd_fail(err, ND_EINPUT, "the Elias-Fano code of %llu values is damaged",
                                  (unsigned long long)ef->n);
}

enum nd_status nd_hamming_ef_point(struct nd_hamming_ef *ef, uint64_t n, unsigned bits,
                                   struct nd_hamming_ef_kind kind, const void *data, size_t len,
                                   struct nd_error *err)
{
    struct nd_hamming_ef made;

    if (n / 8 > (uint64_t)len) /* a value takes more than a bit; keeps the sums below small */
        return nd_fail(err, ND_EINPUT, "%zu bytes cannot hold %llu values", len,
                       (unsigned long long)n);
    made = nd_hamming_ef_shape(n, bits, kind);
    if (nd_hamming_ef_bytes(&made) != len)
        return nd_fail(err, ND_EINPUT, "%llu values take %zu bytes, not %zu", (unsigned long long)n,
                       nd_hamming_ef_bytes(&made), len);
    made.front = data;
    made.back = made.front + made.front_words;
    made.high = made.back + made.back_words;
    made.sample = made.high + made.high_words;
    made.select = nd_elias_fano_selects();
    made.near = nd_elias_fano_nears();
    *ef = made;
    return ND_OK;
}

enum nd_status nd_hamming_ef_open(struct nd_hamming_ef *ef, uint64_t n, unsigned bits,
                                  struct nd_hamming_ef_kind kind, const void *data, size_t len,
                                  struct nd_error *err)
{
    struct nd_hamming_ef made;
    enum nd_status status = nd_hamming_ef_point(&made, n, bits, kind, data, len, err);

    if (status == ND_OK)
        status = nd_hamming_ef_check(&made, err);
    if (status == ND_OK)
        *ef = made;
    return status;
}
