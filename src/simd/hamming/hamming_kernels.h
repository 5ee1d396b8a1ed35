/* hamming_kernels.h - the hot loops of searching by Hamming distance, one table an instruction set
 */
#ifndef ND_SIMD_HAMMING_HAMMING_KERNELS_H
#define ND_SIMD_HAMMING_HAMMING_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "simd/hamming/hamming_move.h"
#include "simd/hamming/hamming_record.h"
#include "simd/instruction_set.h"

/*
 * A cache line of a table: up to 15 slots that begin with a word each, and in word 15 how many of
 * them are taken (low 4 bits) and, above, whatever else the owner keeps there.
 */
struct nd_hamming_line {
    _Alignas(64) uint32_t word[16];
};

/* A line, or a value, by its number, in which something is near. */
struct nd_hamming_found {
    uint32_t line, slots; /* bit i: slot i */
};

/* Lines to look at, and the value that each is looked at for. */
struct nd_hamming_look {
    const struct nd_hamming_line *const *line;
    const uint32_t *value;
    size_t n;
};

/* How many lines have something near, and how many have more than their slots. */
struct nd_hamming_seen {
    size_t found, more;
};

/*
 * The places of the lines of a table's buckets: by linear hashing (Litwin, 1980) on top of the
 * lines that the table was made with, among which the hash's upper half chooses, so that the table
 * grows one line at a time.
 */
struct nd_linear_hash {
    uint64_t lines;  /* that there are, below 2^31 */
    uint32_t first;  /* made with so many */
    uint32_t groups; /* a power of 2: first * groups <= lines < 2 * first * groups */
};

static inline uint64_t nd_hamming_hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static inline uint64_t nd_hamming_hash_end(uint64_t hash)
{
    hash *= UINT64_C(0xD6E8FEB86659FD93);
    return hash ^ hash >> 32;
}

static inline uint32_t nd_hamming_place(const struct nd_linear_hash *table, uint64_t hash)
{
    uint64_t place = (hash >> 32) * table->first >> 32, low = hash & (2 * table->groups - 1);

    place += low * table->first;
    /* branchless: which of the two it is is unpredictable */
    return (uint32_t)(place - (place >= table->lines) * (uint64_t)table->groups * table->first);
}

/* Fold a fingerprint for the table beside its row: its halves, the upper one rotated, by XOR. */
static inline uint32_t nd_hamming_fold(uint64_t x, unsigned rotation)
{
    uint32_t low = (uint32_t)x, high = (uint32_t)(x >> 32);

    return low ^ (high << rotation | high >> (31 - rotation) >> 1);
}

/*
 * Words are compared a group at a time with the window that follows the first of the group: each of
 * the group meets at least ND_HAMMING_NEXT behind it.
 */
enum {
    ND_HAMMING_WINDOW = 16,
    ND_HAMMING_GROUP = 4,
    ND_HAMMING_NEXT = ND_HAMMING_WINDOW - ND_HAMMING_GROUP + 1,
    ND_HAMMING_PADDING = 20
};

/* Two words that are near one another, the former first. */
struct nd_hamming_words {
    uint32_t a, b;
};

/* In block `more` of a bucket slots that are near a word: as words_in returns them. */
struct nd_hamming_near {
    uint32_t line;
    uint16_t slots, more;
};

/* The pairs of word i with those of the next `reach` that are near: bit b of `slots` says word
 * i + 1 + b.  Returns how many. */
static inline size_t nd_hamming_add_next(size_t i, unsigned slots, unsigned reach,
                                         struct nd_hamming_words *pair)
{
    size_t count = 0;

    for (slots &= (1u << reach) - 1; slots; slots &= slots - 1)
        pair[count++] = (struct nd_hamming_words){(uint32_t)i,
                                                  (uint32_t)i + 1 + (uint32_t)__builtin_ctz(slots)};
    return count;
}

/* The kernel `rows`, compiled for each instruction set: where there is POPCNT, it is one instruction
 * a word.  Branchless: each row is written, and counted where it is near. */
static inline __attribute__((always_inline)) size_t
nd_hamming_count_rows(const uint64_t *row, size_t n, size_t words, const uint64_t *query,
                      unsigned distance, uint32_t *found)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++, row += words) {
        unsigned bits = 0;

        for (size_t w = 0; w < words; w++)
            bits += (unsigned)__builtin_popcountll(row[w] ^ query[w]);
        found[count] = (uint32_t)i;
        count += bits <= distance;
    }
    return count;
}

/* All tables give the same results; the scalar one is the definition. */
struct nd_hamming_kernels {
    /* Nanoseconds that words_next takes for a word, and words_in for each that one is compared
     * with: about so many, for the choice of a design.  What is found depends on no design. */
    double next_ns, word_ns;
    /* With how many that follow words_next compares a word best. */
    unsigned reach;

    /*
     * Find for n fingerprints of one word each the place of the hash of the bits in `key`, and the
     * fold.
     */
    void (*places)(const struct nd_linear_hash *table, uint64_t key, unsigned rotation,
                   const uint64_t *x, size_t n, uint32_t *place, uint32_t *fold);

    /*
     * data XOR each of 16 masks, as places in a table of `lines` lines by linear hashing: the bits
     * below 2 * level, a power of 2, or below level where that would be behind the last line.
     * level <= lines <= 2 * level.  A place equal to the one before it is left out.  Returns how
     * many there are; `place` holds 16.
     */
    size_t (*ball)(const uint32_t *mask, uint32_t data, uint32_t level, uint32_t lines,
                   uint32_t *place);

    /*
     * Find those of n lines in which a taken slot's word differs from value[i] in at most
     * `distance` bits; and, as numbers in `more`, those whose word 15 holds something above its low
     * 4 bits. Both in order, and with room for n. Meanwhile the lines of `next` are asked for, one
     * for each that is looked at: memory and processor both have something to do. They come into
     * the second-level cache, which takes more at a time than the first.
     */
    struct nd_hamming_seen (*lines)(const struct nd_hamming_look *now,
                                    const struct nd_hamming_look *next, unsigned distance,
                                    struct nd_hamming_found *found, uint32_t *more);

    /*
     * Find the numbers of those of n rows of `words` words each that are within the distance of the
     * query, in order. Returns how many; `found` holds n.
     */
    size_t (*rows)(const uint64_t *row, size_t n, size_t words, const uint64_t *query,
                   unsigned distance, uint32_t *found);

    /*
     * For each i < n the values within the distance of value[i] among the eight from
     * value[i + 1 + gap] on, as far as they lie before value[end]: `line` is i, bit b of `slots`
     * says value[i + 1 + gap + b].  Returns for how many there is one, in order; `found` holds n.
     * Eight values beyond value[end] are readable.
     */
    size_t (*next)(const uint64_t *value, size_t n, size_t end, size_t gap, unsigned distance,
                   struct nd_hamming_found *found);

    /*
     * For each i < n the words within the distance of word[i] among the `reach` from word[i + 1]
     * on, 1 … ND_HAMMING_NEXT, as far as they lie before word[end].  Returns how many pairs there
     * are, in order; `pair` holds n * reach.  ND_HAMMING_PADDING words beyond word[end] are
     * readable.
     */
    size_t (*words_next)(const uint32_t *word, size_t n, size_t end, unsigned reach,
                         unsigned distance, struct nd_hamming_words *pair);

    /*
     * Find in a bucket of n words, for each i of the `rows` from `from` on (both multiples of
     * ND_HAMMING_GROUP), as far as i < n, the words within the distance from word[i + 1 + gap] on.
     * `line` is i; bit b of `slots` with `more` says word[first + 1 + gap + ND_HAMMING_WINDOW *
     * more + b], where first is i / ND_HAMMING_GROUP * ND_HAMMING_GROUP. By first, then `more`,
     * then i; `near` holds one for each. ND_HAMMING_PADDING words beyond word[n] are readable.
     */
    size_t (*words_in)(const uint32_t *word, size_t from, size_t rows, size_t n, size_t gap,
                       unsigned distance, struct nd_hamming_near *near);

    /* Find where n values go in a table of a join: their parts; and their places, above their
     * filters.  And return the lower halves of n records. */
    void (*join_parts)(const struct nd_record_code *code, const uint64_t *x, size_t n,
                       uint32_t *part);
    void (*join_places)(const struct nd_record_code *code, const uint64_t *x, size_t n,
                        uint64_t *place);
    void (*join_words)(const uint64_t *record, size_t n, uint32_t *word);

    /*
     * Take n records to their parts: part[i], value[i], position + i.  They go to the groups of
     * `move`, and from there, a whole one at a time, to their place, which will not be read soon:
     * past the caches where that can be had.  Another thread sees them after `fence`.
     */
    void (*join_move)(const struct nd_move *move, const uint32_t *part, const uint64_t *value,
                      uint32_t position, size_t n);
    void (*fence)(void);
};

/*
 * The table in use, and the one of an instruction set: NULL where this build has none.  The one for
 * AVX-512 also needs VPOPCNTDQ, and gives way to the one for AVX2 where that is missing.
 */
const struct nd_hamming_kernels *nd_hamming_kernels(void);
const struct nd_hamming_kernels *nd_hamming_kernels_of(enum nd_isa isa);

extern const struct nd_hamming_kernels nd_hamming_scalar;
/* The plain join_parts, for a table that has nothing faster. */
void nd_plain_join_parts(const struct nd_record_code *code, const uint64_t *x, size_t n,
                         uint32_t *part);
void nd_plain_join_places(const struct nd_record_code *code, const uint64_t *x, size_t n,
                          uint64_t *place);
void nd_plain_join_words(const uint64_t *record, size_t n, uint32_t *word);
void nd_plain_join_move(const struct nd_move *move, const uint32_t *part, const uint64_t *value,
                        uint32_t position, size_t n);
void nd_plain_fence(void);
#if defined(__x86_64__)
extern const struct nd_hamming_kernels nd_hamming_avx2, nd_hamming_avx512;
#elif defined(__aarch64__)
extern const struct nd_hamming_kernels nd_hamming_neon;
#endif

#endif
