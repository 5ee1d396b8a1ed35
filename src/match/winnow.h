/* winnow.h - the shingles of a run of tokens, and those that winnowing keeps */
#ifndef ND_MATCH_WINNOW_H
#define ND_MATCH_WINNOW_H

#include <neardup/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A token, or a shingle by its first token, and its place in a text. */
struct nd_placed_value {
    uint64_t value;
    size_t place;
};

/* The first of n, in order of their values, that is not less; n: all are. */
static inline size_t nd_first_placed(const struct nd_placed_value *list, size_t n, uint64_t value)
{
    size_t low = 0;

    while (n) {
        size_t half = n / 2;

        if (list[low + half].value < value) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
}

/*
 * value[i]: of the tokens i … i + width - 1, for n - width + 1 places (none if n < width).  Equal
 * runs have equal values; it is a value of this process, in no file.
 */
void nd_run_hashes(const uint64_t *token, size_t n, unsigned width, uint64_t *value);

/*
 * Select of every `window` shingles on end the one of least value, the rightmost of equal ones,
 * once, in order; from fewer shingles than that, none.  *out is the caller's.  False: out of memory.
 */
ND_API bool nd_winnow(const uint64_t *token, size_t n, unsigned width, unsigned window,
                      struct nd_placed_value **out, size_t *n_out);

#endif
