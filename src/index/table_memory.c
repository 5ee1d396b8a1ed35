/* table_memory.c - the memory of the live index's tables: side by side, or each by itself */
#include <string.h>

#include "index/live_state.h"

bool nd_live_fits(const struct nd_index *index, size_t more)
{
    for (unsigned t = index->n_tables; t-- > 0;) /* the last one has the most */
        if (!nd_multimap_fits(&index->table[t], more))
            return false;
    return true;
}

size_t nd_live_tables_bytes(const struct nd_index *index)
{
    size_t bytes = index->block.bytes;

    for (unsigned t = 0; t < index->n_tables; t++)
        bytes += index->own[t].bytes;
    return bytes;
}

void nd_live_tables_release(struct nd_index *index)
{
    for (unsigned t = 0; t < index->n_tables; t++)
        if (index->own[t].bytes)
            nd_multimap_block_release(&index->own[t], &index->table[t], 1);
    nd_multimap_block_release(&index->block, index->table, index->n_tables);
}

/*
 * If tables had room for 80% of the same number, they would all be full at once.  So from the
 * first to the last they get room for a little to a quarter more, and then grow in turn.
 */
void nd_live_lines_for(const struct nd_index *index, size_t n, size_t *n_lines)
{
    for (unsigned t = 0; t < index->n_tables; t++)
        n_lines[t] =
            n ? nd_multimap_lines_of(n + n / (4 * (size_t)index->n_tables) * (t + 1) + 1) : 0;
}

bool nd_live_tables_renew(struct nd_index *index, size_t n)
{
    struct nd_multimap table[ND_LIVE_TABLES_MAX] = {{0}};
    struct nd_multimap_block block = {0};
    size_t n_lines[ND_LIVE_TABLES_MAX];

    nd_live_lines_for(index, n, n_lines);
    if (n && !nd_multimap_block_make(&block, table, index->n_tables, n_lines))
        return false;
    nd_live_tables_release(index);
    index->block = block;
    memcpy(index->table, table, sizeof table);
    return true;
}

/* Bring tables that have grown by themselves together again. */
static bool join_tables(struct nd_index *index, size_t more)
{
    struct nd_multimap table[ND_LIVE_TABLES_MAX] = {{0}};
    struct nd_multimap_block block = {0};
    const unsigned n = index->n_tables;

    table[n - 1] = index->table[n - 1];
    if (!nd_multimap_block_grow(&block, table, n, more))
        return false;
    nd_live_tables_release(index);
    index->block = block;
    memcpy(index->table, table, sizeof table);
    return true;
}

bool nd_live_tables_grow(struct nd_index *index, size_t more)
{
    for (unsigned t = 0; t < index->n_tables; t++)
        if (index->own[t].bytes)
            return join_tables(index, more);
    return nd_multimap_block_grow(&index->block, index->table, index->n_tables, more);
}

void nd_live_fill_range(const struct nd_index *index, unsigned t, uint32_t from, uint32_t to,
                        struct nd_multimap *map)
{
    struct nd_multimap_adder adder = {.map = map};

    for (uint32_t i = from; i < to; i++) {
        unsigned char flags = *nd_live_flags(index, i);

        if (!(flags & ND_LIVE_LISTED) ||
            (flags & ND_LIVE_LEFT_OUT && nd_table_set_has(nd_live_left_out(index, i), t)) ||
            !nd_live_stands_in(index, t, flags & ND_LIVE_IDENTITY_ONLY))
            continue;
        nd_multimap_add_soon(&adder, nd_live_key(index, t, i), i);
    }
    nd_multimap_add_rest(&adder);
}

void nd_live_fill_table(struct nd_index *index, unsigned t)
{
    nd_live_fill_range(index, t, 0, index->n, &index->table[t]);
}
