/* fast_fill.c - the lines of a table of halves or windows, made at once
 *
 * An index in memory grows as fingerprints come.  Here all are known: they fill the first lines of
 * their buckets, and what finds its bucket full is sorted by bucket, so that the lines of a chain
 * follow one another.  The entries of a bucket are in the order in which they come, so that the bytes
 * are always the same.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "hamming/file/fast.h"

enum { AHEAD = 16 };
#define OVER_MAX (UINT32_MAX >> 4)

struct table_filling {
    const struct nd_halves *halves;
    unsigned t, slots;
    struct nd_hamming_fast_lines *lines;
    uint64_t *late; /* of what found its bucket full: the bucket, then the number of the entry */
    size_t n_late, late_capacity;
};

static uint32_t bucket_of(const struct table_filling *f, const struct nd_halves_place *place)
{
    return nd_halves_address(nd_halves_group(f->halves, f->t), place->data);
}

/* Put an entry into the next slot of a line. */
static void put(const struct table_filling *f, const struct nd_numbered_value *entry,
                const struct nd_halves_place *place, struct nd_hamming_line *line)
{
    const struct nd_hamming_entry e = {
        .word = place->word,
        .id = entry->number,
        .rest = place->rest | (entry->unused && f->t == 0 ? (uint32_t)ND_HALVES_MANY : 0)};

    nd_hamming_line_set(nd_halves_group(f->halves, f->t)->lines.layout, line,
                        nd_hamming_line_taken(line), &e);
    line->word[15]++;
}

/* Fill the first line of every bucket.  False: out of memory. */
static bool fill_main(struct table_filling *f, const struct nd_numbered_value *entry, size_t n)
{
    struct nd_halves_place place[AHEAD];

    for (size_t i = 0; i < n; i += AHEAD) {
        size_t some = n - i < AHEAD ? n - i : AHEAD;

        for (size_t j = 0; j < some; j++) {
            place[j] = nd_halves_place(f->halves, entry[i + j].value, f->t);
            __builtin_prefetch(&f->lines->main[bucket_of(f, &place[j])], 1);
        }
        for (size_t j = 0; j < some; j++) {
            uint32_t bucket = bucket_of(f, &place[j]);
            struct nd_hamming_line *line = &f->lines->main[bucket];

            if (nd_hamming_line_taken(line) < f->slots)
                put(f, &entry[i + j], &place[j], line);
            else if (ND_RESERVE(f->late, &f->late_capacity, f->n_late + 1))
                f->late[f->n_late++] = (uint64_t)bucket << 32 | (i + j);
            else
                return false;
        }
    }
    return true;
}

/* Sort what is late by bucket, and count the lines that it needs.  False: out of memory. */
static bool count_chained(struct table_filling *f)
{
    uint64_t *scratch = nd_alloc_array(f->n_late + 1, sizeof *scratch), bucket = UINT64_MAX;
    size_t taken = 0;

    if (!scratch)
        return false;
    nd_sort_values(f->late, f->n_late, scratch);
    free(scratch);
    for (size_t i = 0; i < f->n_late; i++, taken++) {
        if (f->late[i] >> 32 != bucket || taken == f->slots) {
            f->lines->n_over++;
            taken = 0;
        }
        bucket = f->late[i] >> 32;
    }
    if (f->lines->n_over)
        f->lines->over = nd_table_alloc(f->lines->n_over * sizeof *f->lines->over);
    return f->lines->n_over == 0 || f->lines->over;
}

/* Chain what is late to its bucket, lines that follow one another. */
static void fill_chained(struct table_filling *f, const struct nd_numbered_value *entry)
{
    struct nd_hamming_line *line = f->lines->main;
    uint64_t bucket = UINT64_MAX;
    uint32_t n = 0;

    for (size_t i = 0; i < f->n_late; i++) {
        const struct nd_numbered_value *e = &entry[(uint32_t)f->late[i]];
        struct nd_halves_place place = nd_halves_place(f->halves, e->value, f->t);

        if (f->late[i] >> 32 != bucket)
            line = &f->lines->main[bucket = f->late[i] >> 32];
        if (nd_hamming_line_taken(line) == f->slots) {
            line->word[15] |= ++n << 4;
            line = &f->lines->over[n - 1];
        }
        put(f, e, &place, line);
    }
}

enum nd_status nd_hamming_fast_fill(const struct nd_halves *halves, unsigned t,
                                    const struct nd_numbered_value *entry, size_t n,
                                    struct nd_hamming_fast_lines *lines, struct nd_error *err)
{
    const struct nd_halves_group *group = nd_halves_group(halves, t);
    struct table_filling f = {
        .halves = halves, .t = t, .slots = nd_hamming_slots(group->lines.layout), .lines = lines};
    enum nd_status status = ND_OK;

    *lines = (struct nd_hamming_fast_lines){.n_main = group->size};
    lines->main = nd_table_alloc(group->size * sizeof *lines->main);
    if (!lines->main || !fill_main(&f, entry, n) || !count_chained(&f))
        status = nd_fail(err, ND_ENOMEM, "out of memory for a table of %zu lines", group->size);
    else if (lines->n_over > OVER_MAX)
        status = nd_fail(err, ND_EUNSUPPORTED,
                         "so many fingerprints are too alike for the layout fast: use the layout "
                         "compact");
    else
        fill_chained(&f, entry);
    free(f.late);
    return status;
}

void nd_hamming_fast_release(struct nd_hamming_fast_lines *lines)
{
    if (lines->main)
        nd_table_free(lines->main, lines->n_main * sizeof *lines->main);
    if (lines->over)
        nd_table_free(lines->over, lines->n_over * sizeof *lines->over);
    *lines = (struct nd_hamming_fast_lines){.main = NULL};
}
