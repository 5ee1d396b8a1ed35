/* growth.c - tables of the live index that grow a little with every insertion */

/*
 * A pause would be as long as it takes to fill all tables again: a second at 10^6 documents.
 * Instead, at a load of 80%, larger tables are allocated, and every insertion does a part of the
 * work, so that they are complete before the present ones hold 90%:
 *
 *   1. The pages of the larger tables are made, one huge page at a time.
 *   2. The documents are added to them in order of their numbers, STEP at a time.  New documents
 *      go to the present tables, and have the last numbers.
 *   3. Once all are there the larger tables take the place of the present ones, whose memory is
 *      given back a slice at a time.
 *
 * Queries read the present tables alone, and so take no longer.  Until step 3 both have memory.
 */
#include "index/live_state.h"

#include <stdlib.h>

enum { GRADUAL_FROM = 4096 }; /* documents; the tables of fewer are filled in a millisecond */
enum { STEP = 16, SLICE = 16 << 20, HUGE_PAGE = 2 << 20 };

enum stage { MAKING_PAGES, FILLING, GIVING_BACK };

struct nd_live_growth {
    enum stage stage;
    struct nd_multimap table[ND_LIVE_TABLES_MAX];
    struct nd_multimap_block block; /* theirs; GIVING_BACK: of the tables that were replaced */
    size_t touched;                 /* bytes of the block whose pages are made */
    uint32_t next;                  /* documents before this one stand in the tables */
};

size_t nd_live_growth_bytes(const struct nd_index *index)
{
    return index->growth ? sizeof *index->growth + index->growth->block.bytes : 0;
}

void nd_live_growth_drop(struct nd_index *index)
{
    struct nd_live_growth *g = index->growth;

    if (!g)
        return;
    nd_multimap_block_release(&g->block, g->table, index->n_tables);
    free(g);
    index->growth = NULL;
}

/* The table that has every number. */
static struct nd_multimap *last_table(struct nd_index *index)
{
    return &index->table[index->n_tables - 1];
}

/* Whether the present tables hold so much that the larger ones are needed now. */
static bool is_full(const struct nd_multimap *s)
{
    return s->count >= s->n_lines / 10 * (9 * ND_MULTIMAP_SLOTS);
}

/* Allocate the larger tables.  False: out of memory, and there is no growth. */
static bool begin(struct nd_index *index)
{
    const struct nd_multimap *last = last_table(index);
    struct nd_live_growth *g = calloc(1, sizeof *g);

    if (!g)
        return false;
    for (unsigned t = 0; t < index->n_tables; t++) {
        g->table[t].n_lines = last->n_lines;
        g->table[t].count = last->count;
    }
    if (!nd_multimap_block_grow(&g->block, g->table, index->n_tables, 1)) {
        free(g);
        return false;
    }
    index->growth = g;
    return true;
}

static void make_pages(struct nd_live_growth *g)
{
    size_t bytes = g->block.bytes - g->touched;

    if (bytes > HUGE_PAGE)
        bytes = HUGE_PAGE;
    nd_table_touch((char *)g->block.lines + g->touched, bytes);
    g->touched += bytes;
    if (g->touched == g->block.bytes)
        g->stage = FILLING;
}

/* The tables in which a document stands, and its keys there; what the tables need is prefetched. */
static struct nd_table_set find_places(const struct nd_index *index, uint32_t number, uint64_t *key)
{
    const struct nd_live_growth *g = index->growth;
    unsigned char flags = *nd_live_flags(index, number);
    struct nd_table_set places = {{0}};
    struct nd_index_row row;

    if (!(flags & ND_LIVE_LISTED))
        return places;
    nd_live_row(index, number, &row);
    nd_table_keys(&index->params, &row, key);
    for (unsigned t = 0; t < index->n_tables; t++) {
        if (!nd_live_stands_in(index, t, row.identity_only) ||
            (flags & ND_LIVE_LEFT_OUT && nd_table_set_has(nd_live_left_out(index, number), t)))
            continue;
        nd_multimap_prefetch(&g->table[t], key[t]);
        places.word[t / 64] |= UINT64_C(1) << t % 64;
    }
    return places;
}

/* Add some documents; the waits for memory overlap. */
static void fill(struct nd_index *index)
{
    struct nd_live_growth *g = index->growth;
    uint32_t n = index->n - g->next < STEP ? index->n - g->next : STEP;
    uint64_t key[STEP][ND_LIVE_TABLES_MAX];
    struct nd_table_set places[STEP];

    for (uint32_t i = 0; i < n; i++)
        places[i] = find_places(index, g->next + i, key[i]);
    for (uint32_t i = 0; i < n; i++)
        for (unsigned t = 0; t < index->n_tables; t++)
            if (nd_table_set_has(&places[i], t))
                nd_multimap_add(&g->table[t], key[i][t], g->next + i);
    g->next += n;
}

/* The larger tables take the place of the present ones. */
static void replace_tables(struct nd_index *index)
{
    struct nd_live_growth *g = index->growth;
    struct nd_multimap_block old = index->block;

    memcpy(index->table, g->table, sizeof index->table);
    index->block = g->block;
    g->block = old;
    g->stage = GIVING_BACK;
}

static void give_back(struct nd_index *index)
{
    struct nd_multimap_block *old = &index->growth->block;
    size_t bytes = old->bytes % SLICE ? old->bytes % SLICE : SLICE;

    if (old->bytes <= SLICE) {
        nd_live_growth_drop(index);
        return;
    }
    old->bytes -= bytes;
    nd_table_free((char *)old->lines + old->bytes, bytes);
}

static void go_on(struct nd_index *index)
{
    struct nd_live_growth *g = index->growth;

    switch (g->stage) {
    case MAKING_PAGES: make_pages(g); break;
    case FILLING:
        fill(index);
        if (g->next == index->n)
            replace_tables(index);
        break;
    case GIVING_BACK: give_back(index); break;
    }
}

/* Make room in the present tables without larger ones beside them. */
static bool grow_at_once(struct nd_index *index)
{
    if (!nd_multimap_block_grow(&index->block, index->table, index->n_tables, 1))
        return false;
    for (unsigned t = 0; t < index->n_tables; t++)
        nd_live_fill_table(index, t);
    return true;
}

bool nd_live_grow(struct nd_index *index)
{
    bool is_large = last_table(index)->count >= GRADUAL_FROM;

    if (index->growth)
        go_on(index);
    if (nd_multimap_fits(last_table(index), 1))
        return true;
    if (!index->growth && is_large)
        (void)begin(index); /* without memory for both, one more try at each insertion */
    if (is_large && !is_full(last_table(index)))
        return true;
    while (index->growth)
        go_on(index);
    return nd_multimap_fits(last_table(index), 1) || grow_at_once(index);
}

void nd_live_growth_remove(struct nd_index *index, const struct nd_index_row *row, uint32_t number)
{
    struct nd_live_growth *g = index->growth;

    if (!g || g->stage != FILLING || number >= g->next)
        return;
    for (unsigned t = 0; t < index->n_tables; t++)
        nd_multimap_remove(&g->table[t],
                           row->key ? row->key[t] : nd_table_key(&index->params, t, row), number);
}
