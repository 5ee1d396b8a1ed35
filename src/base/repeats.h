/* repeats.h - which of very many hashes come more than once, in some bits each */
#ifndef ND_BASE_REPEATS_H
#define ND_BASE_REPEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Two Bloom filters (Bloom 1970), of which a hash has its bits in one cache line (Putze 2007).  A
 * hash that the first one has already goes to the second.  So the second has every hash that comes
 * twice or more, and few of those that come once.
 *
 *     note           all hashes
 *     end_noting     the first filter is not needed any more
 *     may_repeat     false: the hash came once, or never
 *
 * Hashes are mixed well in all their bits but the lowest.
 */
struct nd_bloom {
    uint64_t *word;
    size_t n_blocks;
};
struct nd_repeats {
    struct nd_bloom met, again;
};

/* Hashes are noted by several threads at a time, each those of a slice: at most so many slices, and
 * a power of two. */
enum { ND_REPEATS_SLICES = 64 };

/* Start with about so many bytes, at least 16 KB.  False: out of memory. */
bool nd_repeats_init(struct nd_repeats *r, size_t bytes);
void nd_repeats_release(struct nd_repeats *r);
/* The bytes for n hashes beyond which more of them would hardly help. */
size_t nd_repeats_enough(uint64_t n);

/* Note those of n hashes that are of a slice.  Slices do not touch one another. */
void nd_repeats_note(struct nd_repeats *r, unsigned slice, unsigned n_slices, const uint64_t *hash,
                     size_t n);
/* Forget all hashes. */
void nd_repeats_clear(struct nd_repeats *r);
/* Give back the memory of what only noting needs. */
void nd_repeats_end_noting(struct nd_repeats *r);

/* may[i]: hash[i] may have been noted more than once.  Any number of threads. */
void nd_repeats_find(const struct nd_repeats *r, const uint64_t *hash, size_t n, bool *may);

#endif
