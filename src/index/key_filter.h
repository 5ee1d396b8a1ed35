/* key_filter.h - a filter of table keys: which rows could stand under one of them? */
#ifndef ND_INDEX_KEY_FILTER_H
#define ND_INDEX_KEY_FILTER_H

#include "index/index_row.h"

/*
 * The keys of a row are told apart by their tables, which is what the keys of nd_table_keys are not.
 * The lowest bit is set of that by which equal documents meet, and of no other.
 */

/* One for each table but that by identity; returns how many.  The group is not in them, and of a band
 * the first 8 low bytes only. */
size_t nd_filter_keys(const struct nd_index_params *params, const struct nd_index_row *row,
                      uint64_t *key);
/* That by which equal documents meet. */
uint64_t nd_filter_key_of_identity(uint64_t identity);

/* Starts from zeroes, and has then no key. */
struct nd_key_filter {
    uint64_t *word;
    size_t n_words;
};
void nd_key_filter_release(struct nd_key_filter *filter);
/* An empty filter of a size for so many keys, in place of this.  False: out of memory. */
bool nd_key_filter_make(struct nd_key_filter *filter, size_t n_keys);
/* Whether it has a size for so many keys. */
bool nd_key_filter_suits(const struct nd_key_filter *filter, size_t n_keys);
void nd_key_filter_clear(struct nd_key_filter *filter);

void nd_key_filter_add(struct nd_key_filter *filter, uint64_t key);
/* Never wrongly no; wrongly yes about once in a thousand. */
bool nd_key_filter_has(const struct nd_key_filter *filter, uint64_t key);
void nd_key_filter_prefetch(const struct nd_key_filter *filter, uint64_t key);

/* Whether nd_key_filter_bands can be used: candidates share bands only. */
bool nd_key_filter_takes(const struct nd_index_params *params);
/*
 * The numbers i < n, in order, of those low bytes of which the filter has the key of some band;
 * ND_LOW_PADDING bytes behind each are readable.  `found` holds n.  Returns how many.
 */
size_t nd_key_filter_bands(const struct nd_key_filter *filter, const struct nd_index_params *params,
                           const uint8_t *const *low, size_t n, uint32_t *found);

#endif
