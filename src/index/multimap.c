/* multimap.c - from 64-bit keys to document numbers, many of one key: a table of cache lines */
#include "index/multimap.h"

#include <string.h>

#include "base/memory.h"

enum { SLOTS = 12, LINES_MIN = 16 };
_Static_assert(sizeof(struct nd_multimap_line) == 64, "a line is a cache line");

/* The most numbers for so many lines: 80% of the slots. */
static size_t room(size_t n_lines)
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
    return s->count + more <= room(s->n_lines);
}

bool nd_multimap_grow(struct nd_multimap *s, size_t more)
{
    size_t old = s->n_lines, n_lines = old + old / 4;
    void *table = s->line;

    if (n_lines < LINES_MIN)
        n_lines = LINES_MIN;
    while (s->count + more > room(n_lines))
        n_lines += n_lines / 4;
    if (n_lines > SIZE_MAX / sizeof *s->line ||
        !nd_table_grow(&table, old * sizeof *s->line, n_lines * sizeof *s->line))
        return false;
    memset(table, 0, old * sizeof *s->line);
    s->line = table;
    s->n_lines = n_lines;
    s->count = 0;
    return true;
}

void nd_multimap_add(struct nd_multimap *s, uint64_t key, uint32_t number)
{
    struct nd_multimap_line *line = &s->line[nd_multimap_place(s, key)];

    while (line->n == SLOTS) {
        line->overflow = 1;
        if (++line == s->line + s->n_lines)
            line = s->line;
    }
    line->tag[line->n] = (uint8_t)key;
    line->number[line->n] = number;
    line->n++;
    s->count++;
}

/* The last number of the line takes the place of the removed one; `overflow` stays, as others may
 * have passed. */
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
            return true;
        }
    }
    return false;
}

/* Twelve bytes compared at once: 8 and 4, a zero byte found by the borrow trick made exact. */
unsigned nd_multimap_match(const struct nd_multimap_line *line, uint8_t tag)
{
    const uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t pattern = tag * UINT64_C(0x0101010101010101), a, b = 0;

    memcpy(&a, line->tag, 8);
    memcpy(&b, line->tag + 8, 4);
    a ^= pattern;
    b ^= pattern;
    a = ~(((a & low7) + low7) | a | low7); /* 0x80 in every zero byte */
    b = ~(((b & low7) + low7) | b | low7);
    a = (a >> 7) * UINT64_C(0x0102040810204080) >> 56; /* byte i to bit i */
    b = (b >> 7) * UINT64_C(0x0102040810204080) >> 56;
    return (unsigned)(a | b << 8) & ((1u << line->n) - 1);
}
