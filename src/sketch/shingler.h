/* shingler.h - from token hashes, window by window, to distinct shingles and the identity */
#ifndef ND_SKETCH_SHINGLER_H
#define ND_SKETCH_SHINGLER_H

#include <neardup/sketch.h>

#include "sketch/shingle_set.h"

/*
 * The result depends on the sequence of tokens only, never on how it is cut into windows.  Start
 * from zeroes, then nd_shingler_init.
 */
struct nd_shingler {
    struct nd_shingle_set set;
    unsigned w;
    unsigned n_tail; /* of the w - 1 last tokens so far, how many there are */
    uint64_t tail[ND_SHINGLE_MAX];
    uint64_t n_tokens;
    uint64_t sequence_sum;
};

void nd_shingler_begin(struct nd_shingler *s, unsigned w);

/* False: out of memory. */
bool nd_shingler_feed(struct nd_shingler *s, const uint64_t *token, size_t n);

/* Fill what a sketch has without its parts.  False: out of memory. */
bool nd_shingler_end(struct nd_shingler *s, struct nd_sketch *out);

void nd_shingler_release(struct nd_shingler *s);

#endif
