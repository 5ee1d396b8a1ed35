/* multimap_block.c - tables that grow together, side by side in one piece of memory */
#include "index/multimap_block.h"

#include "base/memory.h"

/*
 * Small blocks have their pages made at once, and so has the first one, as it is read before it is
 * written to; later large ones are of huge pages, which are few.
 */
enum { LARGE = 4 << 20, HUGE_PAGE = 2 << 20 };

bool nd_multimap_block_grow(struct nd_multimap_block *block, struct nd_multimap *map, unsigned n,
                            size_t more)
{
    size_t n_lines = nd_multimap_lines_for(&map[n - 1], more), bytes;
    struct nd_multimap_line *lines;

    if (__builtin_mul_overflow(n_lines, n * sizeof *lines, &bytes))
        return false;
    if (bytes >= LARGE && bytes < SIZE_MAX - HUGE_PAGE)
        bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    if (!nd_table_renew(&block->lines, block->bytes, bytes))
        return false;
    if (bytes < LARGE || map[n - 1].count == 0)
        nd_table_touch(block->lines, bytes);
    block->bytes = bytes;
    lines = block->lines;
    for (unsigned t = 0; t < n; t++)
        map[t] = (struct nd_multimap){.line = lines + t * n_lines, .n_lines = n_lines};
    return true;
}

void nd_multimap_block_release(struct nd_multimap_block *block, struct nd_multimap *map, unsigned n)
{
    nd_table_free(block->lines, block->bytes);
    *block = (struct nd_multimap_block){0};
    memset(map, 0, n * sizeof *map);
}
