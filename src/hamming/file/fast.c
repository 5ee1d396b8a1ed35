/* fast.c - index files of the layout fast: opened, searched, checked
 *
 * Opening reads the list of chunks, the groups and the checksums of units, and nothing else, so that
 * the file is ready at once.  A line, an id and a fingerprint are read after the unit that they are
 * in was compared with its checksum.  As anyone can write checksums, searching trusts nothing that
 * it reads: a chain that leads elsewhere, an id that is none, and an entry that table 0 does not have
 * say that the file is damaged.  nd_hamming_fast_check reads everything: `neardup index verify` calls
 * it, and whoever writes what it has read.
 */
#include "hamming/file/fast.h"

#include <stdlib.h>

#include "base/hash.h"

enum { BLOCK = 1 << 16, FOUND = 24 };

static enum nd_status damaged(const char *what, struct nd_error *err)
{
    return nd_fail(err, ND_EINPUT, "a damaged index file: %s", what);
}

static const struct nd_hamming_line *lines_at(const unsigned char *data, uint64_t offset)
{
    return (const struct nd_hamming_line *)(const void *)(data + offset);
}

enum nd_status nd_hamming_fast_open(struct nd_hamming_segment *segment,
                                    const struct nd_hamming_chunk *chunk, const unsigned char *data,
                                    struct nd_error *err)
{
    const struct nd_hamming_plan *plan = &segment->scheme->plan;

    if ((uintptr_t)data % ND_HAMMING_FAST_ALIGN)
        return nd_fail(err, ND_EINVAL, "an index file of the layout fast is aligned to %d bytes",
                       ND_HAMMING_FAST_ALIGN);
    segment->halves = nd_halves_apart(plan, segment->checked);
    if (!segment->halves)
        return nd_fail(err, ND_ENOMEM, "out of memory for a file's tables");
    for (unsigned t = 0; t < plan->tables; t++) {
        const struct nd_hamming_chunk *main = &chunk[nd_hamming_values_chunk(t)];
        const struct nd_hamming_chunk *over = &chunk[nd_hamming_numbers_chunk(t)];
        const struct nd_halves_lines lines = {
            lines_at(data, main->offset), lines_at(data, over->offset),
            (size_t)(main->bytes / sizeof *lines.main), (size_t)(over->bytes / sizeof *lines.over)};

        if (main->bytes % sizeof *lines.main || over->bytes % sizeof *lines.over ||
            !nd_halves_set_lines(segment->halves, t, &lines))
            return damaged("a table has too few or too many lines", err);
    }
    return ND_OK;
}

/* A result of a search: entries from number `at` on, of query number `query`. */
struct found_ids {
    uint32_t query, distance;
    struct nd_hamming_id own;
};

/* The ids of what was found are asked for, and read some twenty at a time. */
struct expansion {
    const struct nd_hamming_segment *segment;
    const struct nd_hamming_search *search;
    struct found_ids found[FOUND];
    size_t n;
};

static void report(struct nd_hamming_sink *sink, const struct expansion *e,
                   const struct found_ids *f)
{
    const struct nd_hamming_segment *s = e->segment;
    const uint32_t *id = e->search->entries ? NULL : s->id;
    uint64_t at = f->own.number, end = at + 1;

    if (f->own.is_list)
        end = nd_hamming_groups_end(&s->groups, at);
    /* Also for entries, so that their ids can be given later (nd_hamming_file_text). */
    if (s->id && !nd_hamming_is_sound(s, &s->id[at], (size_t)(end - at) * sizeof *s->id)) {
        sink->is_damaged = true;
        return;
    }
    for (; at < end && !sink->out_of_memory; at++)
        nd_hamming_sink_id(sink, f->query, id ? id[at] : e->search->base + (uint32_t)at,
                           f->distance);
}

static void report_all(struct nd_hamming_sink *sink, struct expansion *e)
{
    for (size_t i = 0; i < e->n; i++)
        report(sink, e, &e->found[i]);
    e->n = 0;
}

/* As of struct nd_hamming_sink. */
static void expand(struct nd_hamming_sink *sink, uint32_t query, struct nd_hamming_id own,
                   uint32_t distance)
{
    struct expansion *e = sink->context;

    if (own.number >= e->segment->count) {
        sink->is_damaged = true;
        return;
    }
    if (!e->search->entries)
        __builtin_prefetch(&e->segment->id[own.number]);
    e->found[e->n++] = (struct found_ids){query, distance, own};
    if (e->n == FOUND)
        report_all(sink, e);
}

void nd_hamming_fast_search(const struct nd_hamming_segment *segment,
                            struct nd_hamming_search *search)
{
    struct expansion e = {.segment = segment, .search = search};
    struct nd_hamming_sink *sink = &search->sink;

    sink->expand = expand;
    sink->context = &e;
    for (size_t start = 0; start < search->n && !sink->out_of_memory; start += BLOCK) {
        sink->first = (uint32_t)start;
        nd_halves_query(segment->halves, search->queries + start,
                        search->n - start < BLOCK ? search->n - start : BLOCK, search->distance,
                        sink);
        report_all(sink, &e);
    }
    sink->expand = NULL;
}

/*
 * The row of table 0 for a fingerprint whose entries begin at *start; *start goes on to the next.
 */
static uint64_t own_of(const struct nd_hamming_segment *s, uint64_t *start)
{
    uint64_t first = *start, end = nd_hamming_groups_end(&s->groups, first);

    *start = end;
    return (uint64_t)(end - first > 1) << 32 | first;
}

/* Sums of hashes, whatever the order: of fingerprints; of these with what table 0 says of them. */
struct sums {
    uint64_t rows, owns, n;
};

static void add_to(struct sums *sums, uint64_t row, uint64_t own)
{
    sums->rows += nd_mix64(row);
    sums->owns += nd_mix64(row ^ nd_mix64(own));
    sums->n++;
}

/* The entries of one line of a bucket.  False: one belongs elsewhere. */
static bool add_line(const struct nd_halves *h, unsigned t, uint32_t bucket,
                     const struct nd_hamming_line *line, struct sums *sums)
{
    const struct nd_halves_group *g = nd_halves_group(h, t);

    for (unsigned i = 0; i < nd_hamming_line_taken(line); i++) {
        struct nd_hamming_entry e = nd_hamming_line_get(g->lines.layout, line, i);
        uint64_t row = nd_halves_fingerprint(h, &h->table[t], bucket, &e);
        struct nd_halves_place place = nd_halves_place(h, row, t);

        if (nd_halves_address(g, place.data) != bucket || place.word != e.word ||
            place.rest != (e.rest & h->table[t].in_rest))
            return false;
        add_to(sums, row, (uint64_t)((e.rest & ND_HALVES_MANY) != 0) << 32 | e.id);
    }
    return true;
}

/* All lines of a table: chained ones are used once, one after the other. */
static enum nd_status check_table(const struct nd_halves *h, unsigned t, struct sums *sums,
                                  struct nd_error *err)
{
    const struct nd_halves_group *g = nd_halves_group(h, t);
    unsigned slots = nd_hamming_slots(g->lines.layout);
    size_t used = 0;

    for (size_t b = 0; b < g->size; b++) {
        const struct nd_hamming_line *line = nd_hamming_lines_at(&g->lines, b);

        for (;;) {
            uint32_t next = line->word[15] >> 4;
            unsigned taken = nd_hamming_line_taken(line);

            if (taken > slots || (next && (taken != slots || next != used + 1)) ||
                next > g->lines.n_over)
                return damaged("a table's lines are not chained as they should be", err);
            if (!add_line(h, t, (uint32_t)b, line, sums))
                return damaged("a table holds a fingerprint where it is not looked for", err);
            if (!next)
                break;
            line = nd_hamming_lines_next(&g->lines, line);
            used++;
        }
    }
    return used == g->lines.n_over ? ND_OK : damaged("a table has lines that nothing uses", err);
}

enum nd_status nd_hamming_fast_check(const struct nd_hamming_segment *segment, struct nd_error *err)
{
    struct sums rows = {0};
    uint64_t start = 0;
    enum nd_status status = ND_OK;

    for (uint64_t i = 0; i < segment->distinct && status == ND_OK; i++) {
        if (i && segment->row[i] <= segment->row[i - 1])
            return damaged("its fingerprints are not in order", err);
        add_to(&rows, segment->row[i], own_of(segment, &start));
    }
    for (unsigned t = 0; t < segment->scheme->plan.tables && status == ND_OK; t++) {
        struct sums table = {0};

        status = check_table(segment->halves, t, &table, err);
        if (status == ND_OK &&
            (table.n != rows.n || table.rows != rows.rows || (t == 0 && table.owns != rows.owns)))
            status = damaged("its tables differ in their fingerprints", err);
    }
    return status;
}
