/* winnow.h - the shingles of a run of tokens, and those that winnowing keeps */
#ifndef ND_MATCH_WINNOW_H
#define ND_MATCH_WINNOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A shingle and the place of its first token. */
struct nd_winnowed {
    uint64_t value;
    size_t place;
};

/*
 * value[i]: of the tokens i … i + width - 1, for n - width + 1 places (none if n < width).  Equal
 * runs have equal values; it is a value of this process, in no file.
 */
void nd_run_hashes(const uint64_t *token, size_t n, unsigned width, uint64_t *value);

/*
 * Of every `window` shingles on end the one of least value, the rightmost of equal ones, each once,
 * in order; of fewer shingles than that, none.  *out is the caller's.  False: out of memory.
 */
bool nd_winnow(const uint64_t *token, size_t n, unsigned width, unsigned window,
               struct nd_winnowed **out, size_t *n_out);

#endif
