/*
 * seen_rows.c - which rows of sketch files matter to new documents
 *
 * A document is decided by those before it that it equals or that are its candidates, by what became
 * of these, and so on (engine/README.md).  Let S be the new documents, and take into S every earlier
 * document that one of S equals or could have as a candidate, until there is none.  Then whoever
 * decides S in order decides as one who has everything: also which keys are full, since only
 * candidates count towards that.  A key that is crowded may be full of others too.  Whether one is, is
 * known when all rows were looked through; then they are looked through once more, and all documents
 * that have such a key are taken.
 *
 * With stars the files are gone through once, from their last row to the first: what comes later in
 * the order has been taken by then, and what is taken meets only what is still to come.  Several
 * threads look through a block each.  Then the rows of these blocks are looked through again for those
 * that were just taken, until none is added; so some may be taken for an earlier one, which does no
 * harm.
 *
 * Most rows meet nobody, and are never made into struct nd_sketch_row: a filter of all keys tells so
 * by their low bytes and hashes, as they are in the file.
 *
 * S is the union of what each new document brings into it.  So where memory is bounded, the files are
 * gone through for some new documents at a time.
 *
 * With other kinds of clusters the members of a cluster count, which may have come after their leader
 * and meet the new document nowhere.  So S is closed in both directions, by passes until one adds
 * nothing.
 */
#include "candidates/seen_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread/pool.h"
#include "candidates/met.h"
#include "recipe/recipe_struct.h"
#include "record/stored.h"

enum {
    BLOCKS_EACH = 2,      /* at hand, for each of several threads */
    DOCUMENT_BYTES = 2048 /* in the set: the keys of some 21 bands, in arrays that are half empty */
};

/* A block at hand. */
struct at_hand {
    struct nd_stored_rows rows;
    uint32_t number;
    bool *is_taken; /* of each row */
    size_t taken_capacity;
    uint32_t *hit; /* rows that are to be taken, from the last to the first */
    size_t n_hits, hit_capacity;
    struct nd_error err;
};

struct seen_search {
    const struct nd_seen_search *what;
    struct nd_met_set *met; /* NULL: all of them matter */
    struct nd_seen_rows *old;
    struct at_hand *hand;
    size_t n_hands, n; /* of which so many are used */
    uint32_t file;
    uint64_t **taken; /* of each file, bits, where there are several passes; or NULL */
    uint32_t part;    /* new documents that are looked for at a time */
    struct nd_met_tally
        *tally; /* of all new documents and what was taken for them; NULL: one part */
    bool is_fresh;
    bool several; /* passes, until one adds nothing */
};

void nd_seen_rows_release(struct nd_seen_rows *rows)
{
    free(rows->item);
    *rows = (struct nd_seen_rows){0};
}

/* ---- The new documents ---- */

static enum nd_status take_fresh(struct seen_search *s, uint32_t from, uint32_t to,
                                 struct nd_error *err)
{
    struct nd_sketch_room room = {0};
    enum nd_status status = ND_OK;

    for (uint32_t i = from; status == ND_OK && i < to; i++) {
        struct nd_sketch_row row;

        status = s->what->fresh(s->what->context, i, &room, &row, err);
        if (status == ND_OK)
            status = nd_met_set_add(s->met, &row, err);
    }
    nd_sketch_room_release(&room);
    return status == ND_OK ? nd_met_set_link(s->met, err) : status;
}

/* Count the keys of all new documents, where they are looked for in several parts. */
static enum nd_status tally_fresh(struct seen_search *s, struct nd_error *err)
{
    struct nd_sketch_room room = {0};
    uint32_t n = s->what->n_fresh;
    enum nd_status status = ND_OK;

    if (!s->met || s->part >= n)
        return ND_OK;
    s->tally = nd_met_tally_new();
    if (!s->tally)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (uint32_t i = 0; status == ND_OK && i < n; i++) {
        struct nd_sketch_row row;

        status = s->what->fresh(s->what->context, i, &room, &row, err);
        if (status == ND_OK)
            nd_met_set_tally(s->met, &row, s->tally);
    }
    nd_sketch_room_release(&room);
    nd_met_set_use_tally(s->met, s->tally);
    return status;
}

/* ---- Blocks at hand ---- */

static bool was_taken(const struct seen_search *s, uint64_t number)
{
    const uint64_t *bits = s->taken ? s->taken[s->file] : NULL;

    return bits && (bits[number / 64] >> number % 64 & 1);
}

static enum nd_status read_hand(struct seen_search *s, struct at_hand *h)
{
    const struct nd_sketch_file *file = s->what->file[s->file];
    enum nd_status status = nd_stored_rows_read(file, h->number, &h->rows, &h->err);

    if (status == ND_OK && (!ND_RESERVE(h->is_taken, &h->taken_capacity, h->rows.n) ||
                            !ND_RESERVE(h->hit, &h->hit_capacity, h->rows.n)))
        status = nd_fail(&h->err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; status == ND_OK && i < h->rows.n; i++)
        h->is_taken[i] = was_taken(s, h->rows.first + i);
    if (h->number >= s->n_hands)
        nd_stored_rows_announce(file, h->number - s->n_hands);
    return status;
}

/* Return as bits those of up to 64 rows, from `from` on, that could meet the set. */
static uint64_t sift(const struct seen_search *s, const struct at_hand *h, size_t from, unsigned n)
{
    struct nd_met_keys keys[ND_MET_SIFTED];

    if (!s->met)
        return UINT64_MAX >> (ND_MET_SIFTED - n);
    for (unsigned i = 0; i < n; i++) {
        const struct nd_sketch_row_head *head = nd_stored_row_head(&h->rows, from + i);

        keys[i] = (struct nd_met_keys){nd_stored_row_low(&h->rows, from + i), head->identity};
    }
    return nd_met_set_sift(s->met, keys, n, s->is_fresh);
}

static bool is_hit(const struct seen_search *s, const struct at_hand *h, size_t i)
{
    struct nd_sketch_row row;

    if (h->is_taken[i])
        return false;
    if (!s->met)
        return true;
    nd_stored_row_get(&h->rows, i, &row);
    return nd_met_set_has(s->met, &row, s->is_fresh);
}

/* The last row before `end` that meets the set, + 1; 0: none does. */
static size_t last_hit(const struct seen_search *s, const struct at_hand *h, size_t end)
{
    while (end) {
        size_t from = end > ND_MET_SIFTED ? end - ND_MET_SIFTED : 0;
        uint64_t left = sift(s, h, from, (unsigned)(end - from));

        while (left) {
            unsigned i = 63 - (unsigned)__builtin_clzll(left);

            if (is_hit(s, h, from + i))
                return from + i + 1;
            left ^= UINT64_C(1) << i;
        }
        end = from;
    }
    return 0;
}

static enum nd_status take(struct seen_search *s, struct at_hand *h, size_t i, struct nd_error *err)
{
    uint64_t number = h->rows.first + i;
    struct nd_sketch_row row;

    nd_stored_row_get(&h->rows, i, &row);
    if (!ND_RESERVE(s->old->item, &s->old->capacity, s->old->n + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    s->old->item[s->old->n++] =
        (struct nd_seen_row){.number = number, .place = row.place, .file = s->file};
    h->is_taken[i] = true;
    if (s->taken)
        s->taken[s->file][number / 64] |= UINT64_C(1) << number % 64;
    return s->met ? nd_met_set_add(s->met, &row, err) : ND_OK;
}

/* ---- One thread: what is found is in the set before the next row is looked at ---- */

static enum nd_status search_in_order(struct seen_search *s, struct nd_error *err)
{
    struct at_hand *h = &s->hand[0];
    enum nd_status status = read_hand(s, h);
    size_t end = h->rows.n;

    if (status != ND_OK) {
        *err = h->err;
        return status;
    }
    while (status == ND_OK && (end = last_hit(s, h, end)) > 0) {
        status = take(s, h, --end, err);
        if (status == ND_OK && s->met)
            status = nd_met_set_link(s->met, err);
    }
    return status;
}

/* ---- Several threads ---- */

/* Find the rows that meet the set, or what was added to it just now. */
static void find_hits(void *context, size_t task, unsigned worker)
{
    struct seen_search *s = context;
    struct at_hand *h = &s->hand[task];
    size_t end;

    (void)worker;
    h->n_hits = 0;
    if (!s->is_fresh && read_hand(s, h) != ND_OK)
        return;
    for (end = h->rows.n; (end = last_hit(s, h, end)) > 0; end--)
        h->hit[h->n_hits++] = (uint32_t)(end - 1);
}

/* Add what was found.  *n: how many. */
static enum nd_status take_hits(struct seen_search *s, size_t *n, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    *n = 0;
    if (s->met)
        nd_met_set_begin_round(s->met);
    for (size_t k = 0; status == ND_OK && k < s->n; k++) {
        struct at_hand *h = &s->hand[k];

        if (h->err.status != ND_OK) {
            *err = h->err;
            return err->status;
        }
        for (size_t i = 0; status == ND_OK && i < h->n_hits; i++)
            status = take(s, h, h->hit[i], err);
        *n += h->n_hits;
    }
    return status == ND_OK && s->met ? nd_met_set_link(s->met, err) : status;
}

static enum nd_status search_together(struct seen_search *s, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t n = 1;

    s->is_fresh = false;
    while (status == ND_OK && n) {
        nd_pool_run(s->what->pool, s->n, find_hits, s);
        status = take_hits(s, &n, err);
        s->is_fresh = true;
        n = s->met ? n : 0;
    }
    s->is_fresh = false;
    return status;
}

/* ---- All files ---- */

/* The blocks before `end`, as many as there are hands. */
static enum nd_status search_blocks(struct seen_search *s, uint32_t end, struct nd_error *err)
{
    enum nd_status status = s->what->go_on ? s->what->go_on(s->what->context, err) : ND_OK;

    if (status != ND_OK)
        return status;
    s->n = end < s->n_hands ? end : s->n_hands;
    for (size_t k = 0; k < s->n; k++)
        s->hand[k].number = end - 1 - (uint32_t)k;
    return s->n_hands == 1 ? search_in_order(s, err) : search_together(s, err);
}

static enum nd_status search_all(struct seen_search *s, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t f = s->what->n_files; status == ND_OK && f-- > 0;) {
        s->file = (uint32_t)f;
        for (uint32_t end = nd_sketch_file_info(s->what->file[f])->blocks;
             status == ND_OK && end > 0; end -= (uint32_t)s->n)
            status = search_blocks(s, end, err);
    }
    return status;
}

/* ---- The whole ---- */

static int by_order(const void *a, const void *b)
{
    const struct nd_seen_row *x = a, *y = b;

    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Remember which rows are taken, for further passes. */
static enum nd_status remember_taken(struct seen_search *s, struct nd_error *err)
{
    const struct nd_seen_search *what = s->what;

    if (s->taken)
        return ND_OK;
    s->taken = calloc(what->n_files + 1, sizeof *s->taken);
    for (size_t i = 0; s->taken && i < what->n_files; i++) {
        s->taken[i] = calloc(nd_sketch_file_info(what->file[i])->documents / 64 + 1, 8);
        if (!s->taken[i])
            return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    for (size_t i = 0; s->taken && i < s->old->n; i++) {
        const struct nd_seen_row *row = &s->old->item[i];

        s->taken[row->file][row->number / 64] |= UINT64_C(1) << row->number % 64;
    }
    return s->taken ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

static enum nd_status make_parts(struct seen_search *s, bool several, struct nd_error *err)
{
    const struct nd_seen_search *what = s->what;

    s->n_hands = nd_pool_threads(what->pool) == 1 ? 1 : BLOCKS_EACH * nd_pool_threads(what->pool);
    s->hand = calloc(s->n_hands, sizeof *s->hand);
    if (!what->takes_all)
        s->met = nd_met_set_new(what->recipe, s->part, err);
    if (!s->hand || (!s->met && !what->takes_all && err->status != ND_EUNSUPPORTED))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    *err = (struct nd_error){0};
    if (several && s->met && remember_taken(s, err) != ND_OK)
        return ND_ENOMEM;
    return tally_fresh(s, err);
}

static void release(struct seen_search *s)
{
    for (size_t i = 0; s->hand && i < s->n_hands; i++) {
        nd_stored_rows_release(&s->hand[i].rows);
        free(s->hand[i].hit);
        free(s->hand[i].is_taken);
    }
    for (size_t i = 0; s->taken && i < s->what->n_files; i++)
        free(s->taken[i]);
    free(s->taken);
    free(s->hand);
    nd_met_set_free(s->met);
    nd_met_tally_free(s->tally);
}

static bool have_documents(const struct nd_seen_search *what)
{
    for (size_t i = 0; i < what->n_files; i++)
        if (nd_sketch_file_info(what->file[i])->documents)
            return true;
    return false;
}

/* The old documents that matter to the new ones from `from` on; s->met is empty. */
static enum nd_status search_part(struct seen_search *s, uint32_t from, uint32_t to,
                                  struct nd_error *err)
{
    enum nd_status status = s->met ? take_fresh(s, from, to, err) : ND_OK;
    bool is_closed = false;

    while (status == ND_OK && !is_closed) {
        size_t before = s->old->n;
        bool is_crowded;

        status = search_all(s, err);
        is_crowded = s->met && nd_met_set_find_crowded(s->met);
        is_closed = !is_crowded && (!s->several || !s->met || s->old->n == before);
        if (status == ND_OK && is_crowded)
            status = remember_taken(s, err);
    }
    if (s->tally)
        nd_met_set_tally_all(s->met, s->tally);
    return status;
}

/* Each part with a set of its own. */
static enum nd_status search_parts(struct seen_search *s, struct nd_error *err)
{
    uint32_t n = s->what->n_fresh, from = s->part < n ? s->part : n;
    enum nd_status status = search_part(s, 0, from, err);

    for (uint32_t to; status == ND_OK && s->met && from < n; from = to) {
        nd_met_set_free(s->met);
        s->met = nd_met_set_new(s->what->recipe, s->part, err);
        if (!s->met)
            return ND_ENOMEM;
        nd_met_set_use_tally(s->met, s->tally);
        to = n - from < s->part ? n : from + s->part;
        status = search_part(s, from, to, err);
    }
    return status;
}

/* In order, and none twice, as two parts may have found one. */
static void put_in_order(struct nd_seen_rows *old)
{
    size_t n = 0;

    if (old->n)
        qsort(old->item, old->n, sizeof *old->item, by_order);
    for (size_t i = 0; i < old->n; i++)
        if (i == 0 || by_order(&old->item[i], &old->item[n - 1]) != 0)
            old->item[n++] = old->item[i];
    old->n = n;
}

enum nd_status nd_seen_rows_find(const struct nd_seen_search *what, struct nd_seen_rows *old,
                                 struct nd_error *err)
{
    struct seen_search s = {.what = what, .old = old, .part = UINT32_MAX};
    bool several = what->recipe->dedup.cluster != ND_CLUSTER_STAR;
    enum nd_status status;

    if (!have_documents(what))
        return ND_OK;
    if (what->memory_bytes)
        s.part = (uint32_t)(what->memory_bytes / DOCUMENT_BYTES) + 1;
    if (s.part > what->n_fresh)
        s.part = what->n_fresh;
    s.several = several;
    status = make_parts(&s, several, err);
    if (status == ND_OK)
        status = search_parts(&s, err);
    release(&s);
    put_in_order(old);
    return status;
}
