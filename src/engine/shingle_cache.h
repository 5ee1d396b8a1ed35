/* shingle_cache.h - the shingles of kept documents that were asked for, within a limit of bytes */
#ifndef ND_ENGINE_SHINGLE_CACHE_H
#define ND_ENGINE_SHINGLE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * From a document's number to its distinct shingles.  One thread writes, or any number look up.
 * Which documents it holds changes no result, only how often a text is read and tokenised again.
 */
struct nd_shingle_cache;

struct nd_shingle_cache *nd_shingle_cache_new(size_t limit_bytes); /* NULL: out of memory */
void nd_shingle_cache_free(struct nd_shingle_cache *cache);

/* NULL: not here.  The array stays until the next _put, _trim or _clear. */
const uint64_t *nd_shingle_cache_get(struct nd_shingle_cache *cache, uint32_t number, size_t *n);

/* Take over an array from malloc.  False: out of memory, the array is still the caller's. */
bool nd_shingle_cache_put(struct nd_shingle_cache *cache, uint32_t number, uint64_t *shingle,
                          size_t n);

/* Drop what was not looked up for longest until the limit holds (second chance, in a circle). */
void nd_shingle_cache_trim(struct nd_shingle_cache *cache);

/* Move everything from one to another, which then holds it; what does not fit is dropped. */
void nd_shingle_cache_move(struct nd_shingle_cache *from, struct nd_shingle_cache *to);

size_t nd_shingle_cache_bytes(const struct nd_shingle_cache *cache);
bool nd_shingle_cache_is_full(const struct nd_shingle_cache *cache);

#endif
