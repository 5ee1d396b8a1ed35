/* bucket_lines.c - buckets of one cache line each, the overflow in chained lines */
#include "hamming/memory/bucket_lines.h"

#include <string.h>

enum { TAKEN = 15, NEXT_SHIFT = 4 };
#define OVER_MAX (UINT32_MAX >> NEXT_SHIFT)

static uint16_t *rest_of(enum nd_hamming_layout layout, struct nd_hamming_line *line)
{
    return (uint16_t *)(void *)(line->word + nd_hamming_slots(layout));
}

void nd_hamming_line_set(enum nd_hamming_layout layout, struct nd_hamming_line *line, unsigned slot,
                         const struct nd_hamming_entry *entry)
{
    uint16_t rest = (uint16_t)entry->rest;

    line->word[slot] = entry->word;
    if (layout != ND_HAMMING_LAYOUT_ROWS)
        memcpy(rest_of(layout, line) + slot, &rest, sizeof rest);
    if (layout != ND_HAMMING_LAYOUT_OTHER)
        line->word[nd_hamming_first_id(layout) + slot] = entry->id;
}

bool nd_hamming_lines_resize(struct nd_hamming_lines *s, size_t n)
{
    if (!nd_column_reserve(&s->main, n, sizeof(struct nd_hamming_line)))
        return false;
    s->n_main = n;
    return true;
}

void nd_hamming_lines_request(struct nd_hamming_lines *s, size_t n, size_t n_over,
                              struct nd_column_request request[2])
{
    s->n_main = n;
    request[0] = (struct nd_column_request){&s->main, n * sizeof(struct nd_hamming_line)};
    request[1] = (struct nd_column_request){&s->over, n_over * sizeof(struct nd_hamming_line)};
}

void nd_hamming_lines_release(struct nd_hamming_lines *s)
{
    nd_column_release(&s->main);
    nd_column_release(&s->over);
    s->n_main = s->n_over = 0;
    s->free_line = 0;
}

size_t nd_hamming_lines_bytes(const struct nd_hamming_lines *s)
{
    return s->main.bytes + s->over.bytes;
}

static struct nd_hamming_line *over_line(const struct nd_hamming_lines *s, uint32_t number)
{
    return (struct nd_hamming_line *)s->over.data + (number - 1);
}

bool nd_hamming_lines_ready(struct nd_hamming_lines *s, size_t n)
{
    return (n == 1 && s->free_line) ||
           (s->n_over < OVER_MAX - n &&
            nd_column_reserve(&s->over, s->n_over + n, sizeof *over_line(s, 1)));
}

/* The number of an empty overflow line, which nd_hamming_lines_ready has made sure of. */
static uint32_t take_free(struct nd_hamming_lines *s)
{
    uint32_t number = s->free_line;

    if (number)
        s->free_line = over_line(s, number)->word[15] >> NEXT_SHIFT;
    else
        number = (uint32_t)++s->n_over;
    over_line(s, number)->word[15] = 0;
    return number;
}

void nd_hamming_lines_give_back(struct nd_hamming_lines *s, struct nd_hamming_line *line)
{
    line->word[15] = s->free_line << NEXT_SHIFT;
    s->free_line = (uint32_t)(line - (struct nd_hamming_line *)s->over.data) + 1;
}

bool nd_hamming_lines_unchain(struct nd_hamming_lines *s, struct nd_hamming_line *copy)
{
    struct nd_hamming_line *next = nd_hamming_lines_next(s, copy);

    if (!next)
        return false;
    *copy = *next;
    nd_hamming_lines_give_back(s, next);
    return true;
}

void nd_hamming_lines_put(struct nd_hamming_lines *s, size_t bucket,
                          const struct nd_hamming_entry *entry)
{
    unsigned slots = nd_hamming_slots(s->layout);
    struct nd_hamming_line *main = nd_hamming_lines_at(s, bucket), *line = main;

    if (nd_hamming_line_taken(line) == slots) {
        line = nd_hamming_lines_next(s, main);
        if (!line || nd_hamming_line_taken(line) == slots) {
            uint32_t number = take_free(s);

            line = over_line(s, number);
            line->word[15] = main->word[15] & ~(uint32_t)TAKEN;
            main->word[15] = number << NEXT_SHIFT | slots;
        }
    }
    nd_hamming_line_set(s->layout, line, nd_hamming_line_taken(line), entry);
    line->word[15]++;
}

/* The hole is filled with the last entry of the first overflow line, or of the main line. */
void nd_hamming_lines_take(struct nd_hamming_lines *s, size_t bucket, struct nd_hamming_line *line,
                           unsigned slot)
{
    struct nd_hamming_line *main = nd_hamming_lines_at(s, bucket);
    struct nd_hamming_line *first = nd_hamming_lines_next(s, main), *from = first ? first : main;
    unsigned last = nd_hamming_line_taken(from) - 1;
    struct nd_hamming_entry e = nd_hamming_line_get(s->layout, from, last);

    nd_hamming_line_set(s->layout, line, slot, &e);
    from->word[15]--;
    if (first && last == 0) {
        main->word[15] = (first->word[15] & ~(uint32_t)TAKEN) | nd_hamming_slots(s->layout);
        nd_hamming_lines_give_back(s, first);
    }
}
