/* elias_fano.h - sorted values in little space: Elias-Fano */
#ifndef ND_HAMMING_FILE_ELIAS_FANO_H
#define ND_HAMMING_FILE_ELIAS_FANO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>

#include "base/file/checked.h"
#include "simd/elias_fano/elias_fano_kernels.h"

/*
 * Elias-Fano (Elias 1974).  n ascending values of f bits are cut in two.  The low l bits of each
 * are kept as they are, one after the other.  The high parts ascend too, from 0 to 2^(f - l) - 1;
 * they are written in unary: a 1 for each value, and a 0 for each step to the next high part.  So
 * value i of high part h is a 1 at place h + i, and the high part of a 1 is the number of zeros
 * before it:
 *
 *     values, f = 5, l = 2    2 = 000|10   3 = 000|11   13 = 011|01   31 = 111|11
 *     low                     10 11 01 11
 *     high                    1 1 0 0 0 1 0 0 0 0 1         places 0 1 5 10
 *
 * With l = log2(2^f / n) there are about as many zeros as ones: 2 + l bits a value, of which no
 * code of n such values needs fewer than l + 1.44.  To find a value the place of a high part must
 * be known; for every 256th one the number of values below it is kept, and from there ones and
 * zeros are counted a word at a time.  Equal values may follow one another.
 *
 * A search for values near a query compares low bits.  The upper w of them tell nearly all
 * values from near ones, so the low bits are kept as two arrays, the front with these and the back
 * with the others: a query then reads the front of a list and little else.
 *
 * Memory, from `front` on, in this order, each part a multiple of 8 bytes:
 *
 *     front    n * w bits, and 8 bytes of 0 behind, so that any value is one load
 *     back     n * (l - w) bits, and 8 bytes of 0; nothing where l = w
 *     high     n + 2^(f - l) bits
 *     sample   2^(f - l) / 2^s + 1 numbers of 64 bits, for every 2^s-th high part one
 *
 * The bytes may be damaged, or be those of no code.  With `checked` every function below compares
 * what it has read with its checksums before it gives an answer: it returns false, and no answer,
 * where they differ, or where a place leads out of the code.
 */
struct nd_hamming_ef {
    uint64_t n;
    unsigned bits, low_bits, front_bits, sample_shift; /* f; l; w; s */
    size_t front_words, back_words, high_words, samples;
    const uint64_t *front, *back, *high, *sample; /* of whoever holds the bytes */
    struct nd_checked *checked;                   /* the bytes around; NULL: they are sound */
    nd_elias_fano_select *select;
    nd_elias_fano_near *near; /* for the front */
};

/* The two choices that the code leaves: s; w, where l is not less. */
struct nd_hamming_ef_kind {
    unsigned sample_shift, front_bits;
};
/* For queries within so many bits: w is the least for which at most one of 512 values of w bits is
 * within the distance of another. */
struct nd_hamming_ef_kind nd_hamming_ef_kind(unsigned distance);

/* The shape of the code of n values of `bits` bits, 1 to 64; the pointers are NULL. */
struct nd_hamming_ef nd_hamming_ef_shape(uint64_t n, unsigned bits, struct nd_hamming_ef_kind kind);
size_t nd_hamming_ef_bytes(const struct nd_hamming_ef *ef);

/* Write n ascending values to nd_hamming_ef_bytes bytes of zeroes, aligned to 8. */
void nd_hamming_ef_encode(const struct nd_hamming_ef *shape, const uint64_t *value, void *out);

/*
 * Point at encoded bytes (aligned to 8), `checked` being NULL.  Nothing is read of them.  ND_EINPUT:
 * they are too few or too many.
 */
enum nd_status nd_hamming_ef_point(struct nd_hamming_ef *ef, uint64_t n, unsigned bits,
                                   struct nd_hamming_ef_kind kind, const void *data, size_t len,
                                   struct nd_error *err);
/* Read all of the code: it is that of n values, which ascend.  ND_EINPUT. */
enum nd_status nd_hamming_ef_check(const struct nd_hamming_ef *ef, struct nd_error *err);
/* Both of these: reading is safe afterwards. */
enum nd_status nd_hamming_ef_open(struct nd_hamming_ef *ef, uint64_t n, unsigned bits,
                                  struct nd_hamming_ef_kind kind, const void *data, size_t len,
                                  struct nd_error *err);

/* out[i] = value first + i, i < count; first + count <= n. */
bool nd_hamming_ef_decode(const struct nd_hamming_ef *ef, uint64_t first, size_t count,
                          uint64_t *out);

/* *rank: how many values are below x, a number of `bits` bits. */
bool nd_hamming_ef_rank(const struct nd_hamming_ef *ef, uint64_t x, uint64_t *rank);

/* Values from number `first` to before `end`, at most n; `place` is one of `high` with `rank` ones
 * before it, rank <= first. */
struct nd_hamming_ef_list {
    uint64_t first, end, place, rank;
};

/*
 * *list: the values from low to high, both included; where they are few, with others of the same
 * high parts.
 */
bool nd_hamming_ef_list(const struct nd_hamming_ef *ef, uint64_t low, uint64_t high,
                        struct nd_hamming_ef_list *list);

/* Check `bits` bits of an array from number `bit` on, unless they were checked before. */
static inline bool nd_hamming_ef_bits_are_sound(const struct nd_hamming_ef *ef,
                                                const uint64_t *array, uint64_t bit, uint64_t bits)
{
    return !ef->checked || bits == 0 ||
           nd_checked_is_sound(ef->checked, (const unsigned char *)array + bit / 8,
                               (size_t)((bit % 8 + bits + 7) / 8));
}
/* Check the fronts of a list; `known` is of these. */
static inline bool nd_hamming_ef_fronts_are_sound(const struct nd_hamming_ef *ef,
                                                  const struct nd_hamming_ef_list *list,
                                                  struct nd_checked_stretch *known)
{
    const unsigned char *front = (const unsigned char *)ef->front;
    const uint64_t from = list->first * ef->front_bits / 8;
    const uint64_t to = (list->end * ef->front_bits + 7) / 8;

    return !ef->checked || from == to ||
           nd_checked_stretch_is_sound(ef->checked, known, front + from, (size_t)(to - from));
}

/*
 * As nd_hamming_ef_list, for a low that is a multiple of 2^free_bits and the number before the next
 * one. If these are no fewer than the values between two samples, the samples say it; `known` is of
 * these.
 */
static inline bool nd_hamming_ef_key_list(const struct nd_hamming_ef *ef, uint64_t low,
                                          unsigned free_bits, struct nd_checked_stretch *known,
                                          struct nd_hamming_ef_list *list)
{
    unsigned shift = ef->low_bits + ef->sample_shift;
    uint64_t from, to;

    if (free_bits < shift || ef->bits <= shift)
        return nd_hamming_ef_list(ef, low, low + ((UINT64_C(1) << free_bits) - 1), list);
    from = low >> shift;
    to = from + (UINT64_C(1) << (free_bits - shift));
    list->first = list->rank = ef->sample[from];
    list->place = list->first + (from << ef->sample_shift);
    list->end = ef->sample[to];
    return list->first <= list->end && list->end <= ef->n &&
           (!ef->checked ||
            nd_checked_stretch_is_sound(ef->checked, known, &ef->sample[from],
                                        (size_t)(to - from + 1) * sizeof *ef->sample));
}

/* Ask memory for what the two will read first of these values; then, when that is there, for what
 * they will read next. */
static inline void nd_hamming_ef_prefetch_sample(const struct nd_hamming_ef *ef, uint64_t low)
{
    __builtin_prefetch(&ef->sample[low >> ef->low_bits >> ef->sample_shift]);
}
void nd_hamming_ef_prefetch_high(const struct nd_hamming_ef *ef, uint64_t low);

/*
 * The number of a value x that is there, in two steps, between which memory brings what the second
 * one reads: where the values of its high part begin; and which of them it is.
 */
bool nd_hamming_ef_find_high(const struct nd_hamming_ef *ef, uint64_t x,
                             struct nd_hamming_ef_list *list);
bool nd_hamming_ef_find(const struct nd_hamming_ef *ef, const struct nd_hamming_ef_list *list,
                        uint64_t x, uint64_t *number);

/* Ask for the front of a list, as far as it is not so long that the processor runs ahead by itself;
 * and for the back of value number i. */
enum { ND_HAMMING_EF_LINE = 64, ND_HAMMING_EF_LINES_MAX = 16 };
static inline void nd_hamming_ef_prefetch_list(const struct nd_hamming_ef *ef,
                                               const struct nd_hamming_ef_list *list)
{
    const char *at = (const char *)ef->front + list->first * ef->front_bits / 8;
    const char *end = (const char *)ef->front + list->end * ef->front_bits / 8;

    for (unsigned i = 0; i < ND_HAMMING_EF_LINES_MAX && at <= end; i++, at += ND_HAMMING_EF_LINE)
        __builtin_prefetch(at, 0, 2);
}
static inline void nd_hamming_ef_prefetch_back(const struct nd_hamming_ef *ef, uint64_t i)
{
    const uint64_t *word = ef->back + i * (ef->low_bits - ef->front_bits) / 64;

    __builtin_prefetch(word);
    __builtin_prefetch(word + 1); /* which may begin the next line */
}

/*
 * Which of `count` values from number `first` on have a front near to that of a probe, as
 * nd_elias_fano_near says it.  The caller has checked the fronts.
 */
size_t nd_hamming_ef_near(const struct nd_hamming_ef *ef, uint64_t first, size_t count,
                          const struct nd_elias_fano_probes *probes, uint32_t *found);

/* *low: the low bits of value number i, whose front the caller has checked; *value: all of it, where
 * it is one of a list. */
bool nd_hamming_ef_low(const struct nd_hamming_ef *ef, uint64_t i, uint64_t *low);
bool nd_hamming_ef_value(const struct nd_hamming_ef *ef, const struct nd_hamming_ef_list *list,
                         uint64_t i, uint64_t low, uint64_t *value);

#endif
