/* key_filter.c - a filter of table keys: which rows could stand under one of them? */
#include "index/key_filter.h"

#include <stdlib.h>
#include <string.h>

#include "simd/filter/band_filter.h"

enum { KEY_BITS = 24, LEAST_WORDS = 1024 };

static uint64_t load_band(const uint8_t *low, unsigned rows)
{
    uint64_t word;

    memcpy(&word, low, sizeof word);
    return word & nd_band_mask(rows);
}

size_t nd_filter_keys(const struct nd_index_params *params, const struct nd_index_row *row,
                      uint64_t *key)
{
    unsigned n = nd_table_identity(params);

    if (nd_key_filter_takes(params)) {
        for (unsigned band = 0; band < n; band++)
            key[band] =
                nd_key_of_band(load_band(row->low + band * params->rows, params->rows), band);
        return n;
    }
    for (unsigned table = 0; table < n; table++)
        key[table] = (nd_table_key(params, table, row) ^ table * ND_KEY_FACTOR) & ~UINT64_C(1);
    return n;
}

uint64_t nd_filter_key_of_identity(uint64_t identity)
{
    return identity | 1;
}

void nd_key_filter_release(struct nd_key_filter *f)
{
    free(f->word);
    *f = (struct nd_key_filter){0};
}

static size_t words_for(size_t n_keys)
{
    size_t n = n_keys * KEY_BITS / 64 + 1;

    return n < LEAST_WORDS ? LEAST_WORDS : n < UINT32_MAX ? n : UINT32_MAX;
}

bool nd_key_filter_suits(const struct nd_key_filter *f, size_t n_keys)
{
    return f->n_words >= words_for(n_keys);
}

bool nd_key_filter_make(struct nd_key_filter *f, size_t n_keys)
{
    size_t n = words_for(n_keys);
    uint64_t *word = calloc(n, sizeof *word);

    if (!word)
        return false;
    free(f->word);
    f->word = word;
    f->n_words = n;
    return true;
}

void nd_key_filter_clear(struct nd_key_filter *f)
{
    if (f->n_words > LEAST_WORDS) /* a large one would not stay in the caches */
        nd_key_filter_release(f);
    if (f->word)
        memset(f->word, 0, f->n_words * sizeof *f->word);
}

static uint64_t *word_of(const struct nd_key_filter *f, uint64_t key)
{
    return &f->word[nd_key_word(key, f->n_words)];
}

void nd_key_filter_add(struct nd_key_filter *f, uint64_t key)
{
    *word_of(f, key) |= nd_key_bits(key);
}

bool nd_key_filter_has(const struct nd_key_filter *f, uint64_t key)
{
    uint64_t bits = nd_key_bits(key);

    return f->word && (*word_of(f, key) & bits) == bits;
}

void nd_key_filter_prefetch(const struct nd_key_filter *f, uint64_t key)
{
    if (f->word)
        __builtin_prefetch(word_of(f, key), 1);
}

bool nd_key_filter_takes(const struct nd_index_params *params)
{
    return params->bands && nd_table_identity(params) == params->bands;
}

size_t nd_key_filter_bands(const struct nd_key_filter *f, const struct nd_index_params *params,
                           const uint8_t *const *low, size_t n, uint32_t *found)
{
    const struct nd_key_words words = {f->word, f->n_words};
    const struct nd_low_bands bands = {params->bands, params->rows};

    return f->word ? nd_band_filter()(&words, &bands, low, n, found) : 0;
}
