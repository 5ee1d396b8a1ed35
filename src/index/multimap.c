/* multimap.c - from 64-bit keys to document numbers, many of one key: a table of cache lines */
#include "index/multimap.h"

#include <string.h>

#include "base/memory.h"

enum { SLOTS = ND_MULTIMAP_SLOTS, LINES_MIN = 16, LINES_DOUBLING = 1 << 17 };
_Static_assert(sizeof(struct nd_multimap_line) == 64, "a line is a cache line");

/* The most numbers for so many lines: 80% of the slots. */
static size_t capacity_of(size_t n_lines)
{
    return n_lines / 10 * (8 * SLOTS) + n_lines % 10 * (8 * SLOTS) / 10;
}

void nd_multimap_release(struct nd_multimap *s)
{
    nd_table_free(s->line, s->n_lines * sizeof *s->line);
    *s = (struct nd_multimap){0};
}

size_t nd_multimap_bytes(const struct nd_multimap *s)
{
    return s->n_lines * sizeof *s->line;
}

bool nd_multimap_fits(const struct nd_multimap *s, size_t more)
{
    return s->count + more <= capacity_of(s->n_lines);
}

size_t nd_multimap_lines_for(const struct nd_multimap *s, size_t more)
{
    size_t old = s->n_lines, n_lines = old < LINES_DOUBLING ? 2 * old : old + old / 4;

    if (n_lines < LINES_MIN)
        n_lines = LINES_MIN;
    while (s->count + more > capacity_of(n_lines))
        n_lines += n_lines / 4;
    return n_lines;
}

size_t nd_multimap_lines_of(size_t count)
{
    size_t n_lines =
        count / (8 * SLOTS) * 10 + (count % (8 * SLOTS) * 10 + 8 * SLOTS - 1) / (8 * SLOTS);

    return n_lines < LINES_MIN ? LINES_MIN : n_lines;
}

bool nd_multimap_is_full(const struct nd_multimap *s)
{
    return s->count / 9 >= s->n_lines * SLOTS / 10;
}

bool nd_multimap_grow(struct nd_multimap *s, size_t more)
{
    size_t old = s->n_lines, n_lines = nd_multimap_lines_for(s, more);

    if (n_lines > SIZE_MAX / sizeof *s->line ||
        !nd_table_grow(&s->line, old * sizeof *s->line, n_lines * sizeof *s->line))
        return false;
    nd_table_touch(s->line, n_lines * sizeof *s->line);
    memset(s->line, 0, old * sizeof *s->line);
    s->n_lines = n_lines;
    s->count = 0;
    return true;
}

static void set_passed(struct nd_multimap_line *line, uint32_t passed)
{
    for (unsigned i = 0; i < 3; i++)
        line->passed[i] = (uint8_t)(passed >> 8 * i);
}

void nd_multimap_add(struct nd_multimap *s, uint64_t key, uint32_t number)
{
    struct nd_multimap_line *line = &s->line[nd_multimap_place(s, key)];

    while (line->n == SLOTS) {
        uint32_t passed = nd_multimap_passed(line);

        if (passed < ND_MULTIMAP_PASSED_MAX)
            set_passed(line, passed + 1);
        if (++line == s->line + s->n_lines)
            line = s->line;
    }
    line->tag[line->n] = (uint8_t)key;
    line->number[line->n] = number;
    line->n++;
    s->count++;
}

/* A number that passed these lines is gone.  A count that reached its limit stays. */
static void count_down(struct nd_multimap *s, size_t first, size_t line)
{
    for (size_t i = first; i != line; i = i + 1 == s->n_lines ? 0 : i + 1) {
        uint32_t passed = nd_multimap_passed(&s->line[i]);

        if (passed && passed < ND_MULTIMAP_PASSED_MAX)
            set_passed(&s->line[i], passed - 1);
    }
}

/* The last number of the line takes the place of the removed one. */
bool nd_multimap_remove(struct nd_multimap *s, uint64_t key, uint32_t number)
{
    struct nd_multimap_scan scan = nd_multimap_find(s, key);
    uint32_t found;

    while (nd_multimap_next(s, &scan, &found)) {
        struct nd_multimap_line *line = &s->line[scan.line];

        if (found != number)
            continue;
        for (unsigned i = 0; i < line->n; i++) {
            if (line->number[i] != number || line->tag[i] != (uint8_t)key)
                continue;
            line->n--;
            line->tag[i] = line->tag[line->n];
            line->number[i] = line->number[line->n];
            s->count--;
            count_down(s, scan.first, scan.line);
            return true;
        }
    }
    return false;
}

void nd_multimap_empty(struct nd_multimap *s, uint64_t key)
{
    struct nd_multimap_line *line = s->line + nd_multimap_place(s, key);
    bool more = true;

    while (more) {
        more = nd_multimap_passed(line) > 0;
        *line = (struct nd_multimap_line){.n = 0};
        if (++line == s->line + s->n_lines)
            line = s->line;
    }
}

/*
 * Small blocks have their pages made at once, and so has the first one, as it is read before it is
 * written to; later large ones are of huge pages, which are few.
 */
enum { LARGE = 4 << 20, HUGE_PAGE = 2 << 20 };

static bool renew_block(struct nd_multimap_block *block, bool makes_pages, size_t n_lines)
{
    size_t bytes;

    if (__builtin_mul_overflow(n_lines, sizeof(struct nd_multimap_line), &bytes))
        return false;
    if (bytes >= LARGE && bytes < SIZE_MAX - HUGE_PAGE)
        bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    if (!nd_table_renew(&block->lines, block->bytes, bytes))
        return false;
    if (bytes < LARGE || makes_pages)
        nd_table_touch(block->lines, bytes);
    block->bytes = bytes;
    return true;
}

bool nd_multimap_block_grow(struct nd_multimap_block *block, struct nd_multimap *map, unsigned n,
                            size_t more)
{
    size_t n_lines = nd_multimap_lines_for(&map[n - 1], more), all;
    struct nd_multimap_line *lines;

    if (__builtin_mul_overflow(n_lines, n, &all) || !renew_block(block, map[n - 1].count == 0, all))
        return false;
    lines = block->lines;
    for (unsigned t = 0; t < n; t++)
        map[t] = (struct nd_multimap){.line = lines + t * n_lines, .n_lines = n_lines};
    return true;
}

bool nd_multimap_block_make(struct nd_multimap_block *block, struct nd_multimap *map, unsigned n,
                            const size_t *n_lines)
{
    struct nd_multimap_line *line;
    size_t all = 0;

    for (unsigned t = 0; t < n; t++)
        if (__builtin_add_overflow(all, n_lines[t], &all))
            return false;
    if (!renew_block(block, map[n - 1].count == 0, all))
        return false;
    line = block->lines;
    for (unsigned t = 0; t < n; line += n_lines[t++])
        map[t] = (struct nd_multimap){.line = line, .n_lines = n_lines[t]};
    return true;
}

void nd_multimap_block_release(struct nd_multimap_block *block, struct nd_multimap *map, unsigned n)
{
    nd_table_free(block->lines, block->bytes);
    *block = (struct nd_multimap_block){0};
    memset(map, 0, n * sizeof *map);
}
