/* text_list.h - texts one after another, in a buffer that grows */
#ifndef ND_FEATURE_TEXT_LIST_H
#define ND_FEATURE_TEXT_LIST_H

#include "base/memory.h"

#include <neardup/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Starts from zeroes. */
struct nd_text_list {
    struct nd_buffer bytes;
    size_t *end; /* of each text in `bytes` */
    size_t count, capacity;
};

static inline void nd_text_list_release(struct nd_text_list *t)
{
    nd_buffer_release(&t->bytes);
    free(t->end);
    *t = (struct nd_text_list){.count = 0};
}

/* Return where the text that is being appended begins. */
static inline size_t nd_text_list_begin(const struct nd_text_list *t)
{
    return t->count ? t->end[t->count - 1] : 0;
}

/* Make the next text of the bytes appended since the last one.  False: out of memory. */
static inline bool nd_text_list_end(struct nd_text_list *t)
{
    if (!ND_RESERVE(t->end, &t->capacity, t->count + 1))
        return false;
    t->end[t->count++] = t->bytes.len;
    return true;
}

/* Text i; beyond the last, one whose data is NULL. */
static inline struct nd_view nd_text_list_at(const struct nd_text_list *t, size_t i)
{
    size_t begin;

    if (i >= t->count)
        return (struct nd_view){NULL, 0};
    begin = i ? t->end[i - 1] : 0;
    return (struct nd_view){t->bytes.data + begin, t->end[i] - begin};
}

#endif
