/* signature_keys.c - under which keys a document's signatures are looked up */
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "index/signatures.h"

void nd_key_list_release(struct nd_key_list *list)
{
    free(list->at);
    *list = (struct nd_key_list){0};
}

/* The keys of one way to look up are told apart by `salt`: lookup, block or coordinate, group. */
static uint64_t key_of(uint64_t salt, uint64_t word)
{
    return nd_mix64(nd_mix64(salt * UINT64_C(0x9E3779B97F4A7C15) + 1) ^ word);
}

bool nd_key_list_add(struct nd_key_list *list, uint64_t key)
{
    void *at = list->at;
    bool ok = nd_array_reserve(&at, &list->capacity, list->count + 1, sizeof key);

    list->at = at;
    if (ok)
        list->at[list->count++] = key;
    return ok;
}

/* The bits that count, dealt out to n blocks in order; each block's key is of its bits in place. */
static bool add_blocks(const struct nd_signature_shape *shape, unsigned n, uint64_t salt,
                       const struct nd_signature *x, struct nd_key_list *out)
{
    unsigned n_bits = 0, from = 0, seen = 0, word = 0;

    for (size_t i = 0; i < shape->words; i++)
        n_bits += (unsigned)__builtin_popcountll(shape->mask[i]);
    for (unsigned block = 0; block < n; block++) {
        unsigned end = (unsigned)((uint64_t)(block + 1) * n_bits / n);
        uint64_t key = 0;

        while (seen < end) {
            uint64_t take = 0;

            for (; from < 64 && seen < end; from++)
                if (shape->mask[word] >> from & 1) {
                    take |= UINT64_C(1) << from;
                    seen++;
                }
            key = nd_mix64(key ^ (x->word[word] & take)) + word;
            if (from == 64) {
                from = 0;
                word++;
            }
        }
        if (!nd_key_list_add(out, key_of(salt + block, key)))
            return false;
    }
    return true;
}

static bool add_keys(const struct nd_signature_shape *shape,
                     const struct nd_signature_lookup *lookup, uint64_t salt,
                     const struct nd_signature *x, struct nd_key_list *out)
{
    if (x->is_rejected || x->count == 0)
        return true;
    switch (lookup->way) {
    case ND_LOOKUP_BLOCKS: return add_blocks(shape, lookup->blocks, salt, x, out);
    case ND_LOOKUP_COORDINATES:
        for (size_t i = 0; i + lookup->equal <= x->count; i++)
            if (x->word[i] != ND_COORDINATE_NONE &&
                !nd_key_list_add(out, key_of(salt + i, x->word[i])))
                return false;
        return true;
    case ND_LOOKUP_VALUES:
        for (size_t i = 0; i < x->count; i++)
            if (!nd_key_list_add(out, key_of(salt, x->word[i])))
                return false;
        return true;
    }
    return true;
}

bool nd_signatures_row_keys(const struct nd_signature_shape *shape,
                            const struct nd_signature_lookup *lookup, unsigned n_lookups,
                            const struct nd_signature_row *row, struct nd_key_list *out)
{
    out->count = 0;
    for (unsigned i = 0; i < n_lookups; i++) {
        uint64_t salt = (uint64_t)row->group << 20 | (uint64_t)i << 16;
        unsigned which = lookup[i].signature;

        if (!add_keys(&shape[which], &lookup[i], salt, &row->signature[which], out))
            return false;
        out->end[i] = out->count;
    }
    return true;
}
