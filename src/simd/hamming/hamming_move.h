/* hamming_move.h - the records of a join on their way to their parts, a group at a time */
#ifndef ND_SIMD_HAMMING_HAMMING_MOVE_H
#define ND_SIMD_HAMMING_HAMMING_MOVE_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

enum { ND_MOVE_GROUP = 16 };

/* A group of records of one part.  Value and position stand side by side here: each record that
 * comes touches one line. */
struct nd_move_group {
    alignas(64) struct {
        uint64_t value, position;
    } record[ND_MOVE_GROUP];
};

/*
 * The state of one thread, for each part: where its records begin, where the next goes, and those
 * of its group that are on their way; and where all of them go.
 */
struct nd_move {
    uint32_t *first, *next;
    struct nd_move_group *group;
    uint64_t *value;
    uint32_t *position;
};

/* Write those records [from, to) that are of the group that begins at `base`. */
static inline void nd_move_some(const struct nd_move *m, const struct nd_move_group *g, size_t base,
                                size_t from, size_t to)
{
    for (size_t i = from > base ? from : base; i < to; i++) {
        m->value[i] = g->record[i - base].value;
        m->position[i] = (uint32_t)g->record[i - base].position;
    }
}

/* The body of the kernel `join_move`; `write` copies a group to its aligned place. */
static inline __attribute__((always_inline)) void
nd_move_records(const struct nd_move *given, const uint32_t *part, const uint64_t *value,
                uint32_t position, size_t n,
                void (*write)(const struct nd_move_group *g, uint64_t *value, uint32_t *position))
{
    const struct nd_move m = *given; /* not what is written to */

    for (size_t i = 0; i < n; i++) {
        uint32_t p = part[i], at = m.next[p]++, slot = at % ND_MOVE_GROUP;
        struct nd_move_group *g = &m.group[p];
        size_t base = at - slot;

        g->record[slot].value = value[i];
        g->record[slot].position = position + i;
        if (slot != ND_MOVE_GROUP - 1)
            continue;
        if (base >= m.first[p])
            write(g, m.value + base, m.position + base);
        else /* the group begins with another thread's or part's */
            nd_move_some(&m, g, base, m.first[p], (size_t)at + 1);
    }
}

#endif
