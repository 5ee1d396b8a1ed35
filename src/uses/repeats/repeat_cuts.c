/* repeat_cuts.c - which windows of all texts are cut, and where each stays */
#include "uses/repeats/repeat_cuts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/external_sort.h"
#include "base/file/spool.h"
#include "base/file/temporary.h"
#include "base/memory.h"
#include "base/system/descriptor.h"
#include "base/system/pages.h"

/* A window on its way through the first sort. */
struct hashed_window {
    uint64_t low, high; /* its hash */
    uint64_t place;     /* document << 32 | unit */
    uint32_t from, to;
};

/* A window that repeats, on its way through the second sort. */
struct grouped_window {
    uint64_t place, group;
    uint32_t from, to;
};

/* The first window of a group that stands. */
struct standing_window {
    uint64_t place_after; /* its place + 1; 0: none stands yet */
    uint32_t from, to;
};

struct nd_repeat_cuts {
    struct nd_repeat_cuts_options options;
    struct nd_external_sort *by_hash, *by_place;
    uint64_t n_groups;

    /* A group's first members, until there are enough of them. */
    struct hashed_window *member;
    size_t n_members, member_capacity;

    struct standing_window *standing; /* of each group, mapped */
    size_t standing_bytes;

    /* The document at hand: windows that stand unless a cut touches them, in order. */
    struct grouped_window *pending;
    size_t first_pending, n_pending, pending_capacity;
    uint32_t document, cut_to;

    struct nd_repeat_cut row; /* that may still grow, its last windows at these units */
    bool has_row;
    uint64_t row_place, row_source_place;
    struct nd_spool *rows;
    uint64_t at; /* where the next row is read */
    struct nd_buffer piece;
    size_t in_piece;
};

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* Order windows whose hashes begin alike. */
static int by_high(const void *a, const void *b, void *context)
{
    const struct hashed_window *x = a, *y = b;

    (void)context;
    return (x->high > y->high) - (x->high < y->high);
}

struct nd_repeat_cuts *nd_repeat_cuts_new(const struct nd_repeat_cuts_options *options,
                                          struct nd_error *err)
{
    const struct nd_external_sort_options by_hash = {.tmp = options->tmp,
                                                     .record_bytes = sizeof(struct hashed_window),
                                                     .memory_bytes = options->sort_bytes,
                                                     .compare = by_high};
    const struct nd_external_sort_options by_place = {.tmp = options->tmp,
                                                      .record_bytes = sizeof(struct grouped_window),
                                                      .memory_bytes = options->order_bytes};
    struct nd_repeat_cuts *c = calloc(1, sizeof *c);

    if (!c) {
        (void)no_memory(err);
        return NULL;
    }
    c->options = *options;
    c->by_hash = nd_external_sort_new(&by_hash, err);
    c->by_place = c->by_hash ? nd_external_sort_new(&by_place, err) : NULL;
    c->rows = c->by_place ? nd_spool_new(options->tmp, err) : NULL;
    if (c->rows)
        return c;
    nd_repeat_cuts_free(c);
    return NULL;
}

void nd_repeat_cuts_free(struct nd_repeat_cuts *c)
{
    if (!c)
        return;
    nd_external_sort_free(c->by_hash);
    nd_external_sort_free(c->by_place);
    nd_spool_free(c->rows);
    nd_buffer_release(&c->piece);
    if (c->standing)
        (void)nd_pages_free(c->standing, c->standing_bytes);
    free(c->member);
    free(c->pending);
    free(c);
}

enum nd_status nd_repeat_cuts_add(struct nd_repeat_cuts *c, uint32_t document,
                                  const struct nd_window_list *list, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < list->n; i++) {
        const struct nd_text_window *w = &list->item[i];
        const struct hashed_window record = {w->hash[0], w->hash[1],
                                             (uint64_t)document << 32 | w->unit, w->from, w->to};

        status = nd_external_sort_add(c->by_hash, &record, err);
    }
    return status;
}

/* ---- Groups of equal windows ----------------------------------------------------------------- */

static enum nd_status add_grouped(struct nd_repeat_cuts *c, const struct hashed_window *w,
                                  struct nd_error *err)
{
    const struct grouped_window record = {w->place, c->n_groups, w->from, w->to};

    return nd_external_sort_add(c->by_place, &record, err);
}

/* Hold a member back until its group has enough, then pass on all. */
static enum nd_status take_member(struct nd_repeat_cuts *c, const struct hashed_window *w,
                                  struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (c->n_members >= c->options.occurrences)
        return add_grouped(c, w, err);
    if (!ND_RESERVE(c->member, &c->member_capacity, c->n_members + 1))
        return no_memory(err);
    c->member[c->n_members++] = *w;
    if (c->n_members < c->options.occurrences)
        return ND_OK;
    for (size_t i = 0; status == ND_OK && i < c->n_members; i++)
        status = add_grouped(c, &c->member[i], err);
    return status;
}

static void end_group(struct nd_repeat_cuts *c)
{
    c->n_groups += c->n_members >= c->options.occurrences;
    c->n_members = 0;
}

static enum nd_status find_groups(struct nd_repeat_cuts *c, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    const void *record;
    int got = 0;

    while (status == ND_OK && (got = nd_external_sort_next(c->by_hash, &record, err)) > 0) {
        const struct hashed_window *w = record;

        if (c->n_members && (c->member[0].low != w->low || c->member[0].high != w->high))
            end_group(c);
        status = take_member(c, w, err);
    }
    end_group(c);
    nd_external_sort_free(c->by_hash);
    c->by_hash = NULL;
    return status == ND_OK && got < 0 ? (enum nd_status)got : status;
}

/* Map a place for each group: in memory, or where that is too much of it, in a file. */
static enum nd_status map_standing(struct nd_repeat_cuts *c, struct nd_error *err)
{
    const size_t bytes = (size_t)(c->n_groups + 1) * sizeof *c->standing;
    const bool is_filed = bytes > c->options.group_bytes;
    int fd = is_filed ? nd_temporary_spool(c->options.tmp) : -1;
    void *map = NULL;

    /* Disk space is taken before it is used: a write to a map cannot fail otherwise than by a signal. */
    if (!is_filed)
        map = nd_pages_alloc(bytes);
    else if (fd >= 0 && nd_descriptor_take_space(fd, 0, bytes))
        map = nd_pages_map(fd, 0, bytes, ND_MAP_SHARED, NULL);
    if (!map)
        (void)nd_fail(err, is_filed ? ND_EIO : ND_ENOMEM, "%s: no place for %zu bytes: %s",
                      is_filed ? c->options.tmp : "memory", bytes, strerror(errno));
    if (fd >= 0)
        (void)nd_descriptor_close(fd);
    if (!map)
        return is_filed ? ND_EIO : ND_ENOMEM;
    c->standing = map;
    c->standing_bytes = bytes;
    return ND_OK;
}

/* ---- Cuts ------------------------------------------------------------------------------------ */

static enum nd_status end_row(struct nd_repeat_cuts *c, struct nd_error *err)
{
    if (!c->has_row)
        return ND_OK;
    c->has_row = false;
    return nd_spool_append(c->rows, &c->row, sizeof c->row, NULL, err);
}

/* Cut a window.  Let the last row grow if both texts go on in it, one unit further. */
static enum nd_status cut_window(struct nd_repeat_cuts *c, const struct grouped_window *w,
                                 const struct standing_window *source, struct nd_error *err)
{
    const uint64_t source_place = source->place_after - 1;
    enum nd_status status = ND_OK;

    if (c->has_row && w->place == c->row_place + 1 && source_place == c->row_source_place + 1 &&
        w->from <= c->row.to && source->from <= c->row.source_to) {
        c->row.to = w->to;
        c->row.source_to = source->to;
    } else {
        status = end_row(c, err);
        c->row = (struct nd_repeat_cut){
            c->document, (uint32_t)(source_place >> 32), w->from, w->to, source->from, source->to};
        c->has_row = true;
    }
    c->row_place = w->place;
    c->row_source_place = source_place;
    c->cut_to = w->to;
    c->first_pending = c->n_pending = 0; /* it touches all that are left */
    return status;
}

/* Let the windows stand that end before a place, which no cut can touch any more. */
static void settle(struct nd_repeat_cuts *c, uint64_t before)
{
    for (; c->first_pending < c->n_pending; c->first_pending++) {
        const struct grouped_window *w = &c->pending[c->first_pending];
        struct standing_window *s = &c->standing[w->group];

        if (w->to > before)
            return;
        if (!s->place_after)
            *s = (struct standing_window){w->place + 1, w->from, w->to};
    }
    c->first_pending = c->n_pending = 0;
}

static enum nd_status wait_for_cuts(struct nd_repeat_cuts *c, const struct grouped_window *w,
                                    struct nd_error *err)
{
    if (c->first_pending && c->n_pending == c->pending_capacity) {
        c->n_pending -= c->first_pending;
        memmove(c->pending, c->pending + c->first_pending, c->n_pending * sizeof *c->pending);
        c->first_pending = 0;
    }
    if (!ND_RESERVE(c->pending, &c->pending_capacity, c->n_pending + 1))
        return no_memory(err);
    c->pending[c->n_pending++] = *w;
    return ND_OK;
}

static enum nd_status decide_window(struct nd_repeat_cuts *c, const struct grouped_window *w,
                                    struct nd_error *err)
{
    const struct standing_window *source = &c->standing[w->group];

    if (w->place >> 32 != c->document) {
        settle(c, UINT64_MAX);
        c->document = (uint32_t)(w->place >> 32);
        c->cut_to = 0;
    }
    settle(c, w->from);
    if (source->place_after)
        return cut_window(c, w, source, err);
    return w->from >= c->cut_to ? wait_for_cuts(c, w, err) : ND_OK;
}

enum nd_status nd_repeat_cuts_decide(struct nd_repeat_cuts *c, struct nd_error *err)
{
    enum nd_status status = find_groups(c, err);
    const void *record;
    int got = 0;

    if (status == ND_OK)
        status = map_standing(c, err);
    while (status == ND_OK && (got = nd_external_sort_next(c->by_place, &record, err)) > 0)
        status = decide_window(c, record, err);
    nd_external_sort_free(c->by_place);
    c->by_place = NULL;
    if (status == ND_OK && got < 0)
        status = (enum nd_status)got;
    return status == ND_OK ? end_row(c, err) : status;
}

int nd_repeat_cuts_next(struct nd_repeat_cuts *c, const struct nd_repeat_cut **cut,
                        struct nd_error *err)
{
    enum { PIECE_ROWS = 4096 };
    const uint64_t left = nd_spool_bytes(c->rows) - c->at;
    const size_t most = PIECE_ROWS * sizeof(struct nd_repeat_cut);

    if (c->in_piece == c->piece.len) {
        const size_t len = left < most ? (size_t)left : most;
        enum nd_status status;

        if (!left)
            return 0;
        status = nd_spool_read(c->rows, c->at, len, &c->piece, err);
        if (status != ND_OK)
            return status;
        c->at += len;
        c->in_piece = 0;
    }
    *cut = (const void *)(c->piece.data + c->in_piece);
    c->in_piece += sizeof **cut;
    return 1;
}
