/* live_compact.c - the live index without its deleted documents: memory and numbers come back */
#include <stdlib.h>
#include <string.h>

#include "index/live_state.h"

/* Each number's new one, from 0 on in the same order; ND_INDEX_GONE: it was deleted. */
static void renumber(const struct nd_index *index, uint32_t *to)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < index->n; i++)
        to[i] = *nd_flags_of(index, i) & ND_DELETED ? ND_INDEX_GONE : next++;
}

/* What is left moves to the front of a column, which keeps `extra` elements more. */
static void move_up(struct nd_column *column, size_t size, const uint32_t *to, uint32_t n,
                    size_t n_left, size_t extra)
{
    char *data = column->data;

    for (uint32_t i = 0; i < n; i++)
        if (to[i] != ND_INDEX_GONE && to[i] != i)
            memcpy(data + to[i] * size, data + i * size, size);
    nd_column_shrink(column, n_left ? n_left + extra : 0, size);
}

enum nd_status nd_index_compact(struct nd_index *index, uint32_t **new_numbers, size_t *n_numbers,
                                struct nd_error *err)
{
    struct nd_multimap table[ND_INDEX_TABLES_MAX] = {{0}};
    struct nd_multimap_block block = {0};
    uint32_t n = index->n, n_left = n - index->n_deleted;
    uint32_t *to = nd_alloc_array(n, sizeof *to);

    if (!to || (n_left && !nd_multimap_block_grow(&block, table, index->n_tables, n_left))) {
        free(to);
        return nd_fail(err, ND_ENOMEM, "out of memory for an index of %u documents", n_left);
    }
    renumber(index, to);
    move_up(&index->low, ND_MINHASH_COUNT, to, n, n_left, 1);
    move_up(&index->simhash, sizeof(uint64_t), to, n, n_left, 0);
    move_up(&index->identity, sizeof(uint64_t), to, n, n_left, 0);
    move_up(&index->gate, sizeof(struct nd_gate), to, n, n_left, 0);
    move_up(&index->flags, 1, to, n, n_left, 0);
    nd_multimap_block_release(&index->block, index->table, index->n_tables);
    index->block = block;
    memcpy(index->table, table, sizeof table);
    index->n = n_left;
    index->n_deleted = 0;
    for (unsigned t = 0; n_left && t < index->n_tables; t++)
        nd_index_fill(index, t);
    if (n_numbers)
        *n_numbers = n;
    if (new_numbers)
        *new_numbers = to;
    else
        free(to);
    return ND_OK;
}
