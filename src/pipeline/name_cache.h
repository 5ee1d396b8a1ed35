/* name_cache.h - the names of documents met lately, in bounded memory */
#ifndef ND_PIPELINE_NAME_CACHE_H
#define ND_PIPELINE_NAME_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/names.h"

/*
 * Names stand one after the other in a ring of bytes; a slot, by number, says where:
 *
 *     slot[number % SLOTS]   number | position | length | kind
 *     ring                   … name name name …        position counts bytes ever written
 *
 * A slot whose bytes have been overwritten since is empty.  12 MB at most, touched as it fills.
 */
struct nd_name_cache;

struct nd_name_cache *nd_name_cache_new(void); /* NULL: out of memory */
void nd_name_cache_free(struct nd_name_cache *c);

/* Remember a name; very long ones are not. */
void nd_name_cache_put(struct nd_name_cache *c, uint64_t number, const struct nd_name *name);

/* The name, valid until the next _put.  False: not remembered (any more). */
bool nd_name_cache_get(const struct nd_name_cache *c, uint64_t number, struct nd_name *name);

#endif
