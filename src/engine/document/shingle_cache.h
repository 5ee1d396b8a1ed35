/* shingle_cache.h - the shingles of kept documents used lately, in a ring of fixed size */
#ifndef ND_ENGINE_DOCUMENT_SHINGLE_CACHE_H
#define ND_ENGINE_DOCUMENT_SHINGLE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * From a document's number to its distinct shingles.  One thread writes, or any number look up.
 * Which documents it holds changes no result, only how often a text is read and tokenised again.
 */
struct nd_shingle_cache;

/* A ring of that many bytes; memory is taken as it fills.  NULL: out of memory. */
struct nd_shingle_cache *nd_shingle_cache_new(size_t bytes);
void nd_shingle_cache_free(struct nd_shingle_cache *cache);

/* Bytes of the ring that were written so far. */
size_t nd_shingle_cache_bytes(const struct nd_shingle_cache *cache);

/* NULL: not here.  The array stays until the next _put, _move or _clear. */
const uint64_t *nd_shingle_cache_get(const struct nd_shingle_cache *cache, uint32_t number,
                                     size_t *n);

/*
 * Have what a look-up reads brought into the processor's caches: where the number stands, and, a
 * little later, the beginning of the array itself.
 */
void nd_shingle_cache_prefetch_entry(const struct nd_shingle_cache *cache, uint32_t number);
void nd_shingle_cache_prefetch_shingles(const struct nd_shingle_cache *cache, uint32_t number);

/*
 * Copy a document's shingles in, over the oldest ones.  What is larger than a quarter of the ring
 * is left out.  False: out of memory, nothing changed.
 */
bool nd_shingle_cache_put(struct nd_shingle_cache *cache, uint32_t number, const uint64_t *shingle,
                          size_t n);

/* Copy everything to another, and forget it here.  What does not fit is dropped. */
void nd_shingle_cache_move(struct nd_shingle_cache *from, struct nd_shingle_cache *to);

#endif
