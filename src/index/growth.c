/* growth.c - tables of the live index that grow a little with every insertion */

/*
 * A pause would be as long as it takes to fill all tables again: a second at 10^6 documents.
 * Instead, at a load of 80%, larger tables are allocated, and every insertion does a part of the
 * work, so that they are complete before the present ones hold 90%:
 *
 *   1. The pages of the larger tables are made, one huge page at a time.
 *   2. The documents are added to them in order of their numbers.  New documents go to the present
 *      tables, and have the last numbers.
 *   3. Once all are there the larger tables take the place of the present ones, whose memory is
 *      given back a slice at a time.
 *
 * Queries read the present tables alone, and so take no longer.
 *
 * Until step 3 both have memory.  So only tables that are small together grow together, and stay
 * side by side; of large ones, one grows at a time, the fullest, and gets memory of its own.  They
 * grow in turn, as their sizes differ (nd_live_lines_for, lines_of_one): at any time they have an
 * eighth more than they need on average, and one of them has memory twice.
 */
#include "index/live_state.h"

#include <stdlib.h>

enum { GRADUAL_FROM = 4096 }; /* documents; the tables of fewer are filled in a millisecond */
enum { STEP = 16, SLICE = 16 << 20, HUGE_PAGE = 2 << 20 };

enum stage { MAKING_PAGES, FILLING, GIVING_BACK };

struct nd_live_growth {
    enum stage stage;
    unsigned first, end; /* the tables that grow: all, or one */
    struct nd_multimap table[ND_LIVE_TABLES_MAX];
    struct nd_multimap_block block; /* theirs; GIVING_BACK: of the tables that were replaced */
    bool is_part;                   /* GIVING_BACK: the block is a part of the index's */
    size_t touched;                 /* bytes of the block whose pages are made */
    uint32_t next;                  /* documents before this one stand in the tables */
};

size_t nd_live_growth_bytes(const struct nd_index *index)
{
    const struct nd_live_growth *g = index->growth;

    return g ? sizeof *g + (g->is_part ? 0 : g->block.bytes) : 0;
}

/* The shared memory, once no table is there any more. */
static void end_sharing(struct nd_index *index)
{
    for (unsigned t = 0; t < index->n_tables; t++)
        if (!index->own[t].bytes)
            return;
    nd_table_free(index->block.lines, index->block.bytes);
    index->block = (struct nd_multimap_block){0};
}

void nd_live_growth_drop(struct nd_index *index)
{
    struct nd_live_growth *g = index->growth;

    if (!g)
        return;
    if (!g->is_part)
        nd_table_free(g->block.lines, g->block.bytes);
    free(g);
    index->growth = NULL;
    end_sharing(index);
}

/* The table that has every number. */
static struct nd_multimap *last_table(struct nd_index *index)
{
    return &index->table[index->n_tables - 1];
}

static unsigned fullest(const struct nd_index *index)
{
    unsigned best = 0;

    for (unsigned t = 0; t < index->n_tables; t++) {
        const struct nd_multimap *a = &index->table[best], *b = &index->table[t];

        if (b->n_lines == 0)
            return t;
        if ((unsigned __int128)b->count * a->n_lines > (unsigned __int128)a->count * b->n_lines)
            best = t;
    }
    return best;
}

/* Whether some table holds so much that it must grow now. */
static bool is_full(const struct nd_index *index)
{
    for (unsigned t = 0; t < index->n_tables; t++)
        if (nd_multimap_is_full(&index->table[t]))
            return true;
    return false;
}

/* Whether all tables stand side by side, and still may when they have grown. */
static bool stay_together(struct nd_index *index)
{
    size_t n_lines = nd_multimap_lines_for(last_table(index), 1);

    for (unsigned t = 0; t < index->n_tables; t++)
        if (index->own[t].bytes)
            return false;
    return n_lines <= index->together_max / sizeof(struct nd_multimap_line) / index->n_tables;
}

/* By a quarter, and every listed document would fit; tables of one size grow to different ones. */
static size_t lines_of_one(struct nd_index *index, unsigned t)
{
    const struct nd_multimap *s = &index->table[t];
    size_t n_lines = s->n_lines + s->n_lines / 4,
           least = nd_multimap_lines_of(last_table(index)->count + 1);

    if (n_lines < least)
        n_lines = least;

    for (unsigned other = t + 1; other < index->n_tables; other++)
        if (index->table[other].n_lines == s->n_lines)
            return n_lines + s->n_lines / (4 * (size_t)index->n_tables) * (t + 1);
    return n_lines;
}

/* Allocate the larger tables.  False: out of memory, and there is no growth. */
static bool begin(struct nd_index *index)
{
    const bool all = stay_together(index);
    const unsigned t = all ? 0 : fullest(index);
    struct nd_live_growth *g = calloc(1, sizeof *g);
    size_t n_lines;
    bool made;

    if (!g)
        return false;
    g->first = t;
    g->end = all ? index->n_tables : t + 1;
    g->table[g->end - 1] = index->table[g->end - 1]; /* by which the block grows */
    n_lines = lines_of_one(index, t);
    made = all ? nd_multimap_block_grow(&g->block, g->table, g->end, 1)
               : nd_multimap_block_make(&g->block, &g->table[t], 1, &n_lines);
    if (!made) {
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

/* Add some documents: equally many entries, whether to one table or to all. */
static void fill(struct nd_index *index)
{
    struct nd_live_growth *g = index->growth;
    uint32_t step = STEP * (index->n_tables / (g->end - g->first)),
             to = index->n - g->next < step ? index->n : g->next + step;

    for (unsigned t = g->first; t < g->end; t++)
        nd_live_fill_range(index, t, g->next, to, &g->table[t]);
    g->next = to;
}

/* The larger tables take the place of the present ones. */
static void replace_all(struct nd_index *index)
{
    struct nd_live_growth *g = index->growth;
    struct nd_multimap_block old = index->block;

    memcpy(index->table, g->table, sizeof index->table);
    index->block = g->block;
    g->block = old;
}

static void replace_one(struct nd_index *index)
{
    struct nd_live_growth *g = index->growth;
    const unsigned t = g->first;
    struct nd_multimap_block old = index->own[t];

    g->is_part = old.bytes == 0;
    if (g->is_part)
        old = (struct nd_multimap_block){index->table[t].line, nd_multimap_bytes(&index->table[t])};
    index->table[t] = g->table[t];
    index->own[t] = g->block;
    g->block = old;
}

static void give_back(struct nd_index *index)
{
    struct nd_live_growth *g = index->growth;
    struct nd_multimap_block *old = &g->block;
    size_t bytes = old->bytes % SLICE ? old->bytes % SLICE : SLICE;

    if (g->is_part)
        nd_table_forget(old->lines, old->bytes);
    if (g->is_part || old->bytes <= SLICE) {
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
        if (g->next < index->n)
            break;
        if (g->end - g->first == index->n_tables)
            replace_all(index);
        else
            replace_one(index);
        g->stage = GIVING_BACK;
        break;
    case GIVING_BACK: give_back(index); break;
    }
}

/* Make room in the present tables without larger ones beside them. */
static bool grow_at_once(struct nd_index *index)
{
    if (!nd_live_tables_grow(index, 1))
        return false;
    for (unsigned t = 0; t < index->n_tables; t++)
        nd_live_fill_table(index, t);
    return true;
}

bool nd_live_grow(struct nd_index *index)
{
    if (index->growth)
        go_on(index);
    if (nd_live_fits(index, 1))
        return true;
    if (last_table(index)->count < GRADUAL_FROM)
        return grow_at_once(index);
    if (!index->growth)
        (void)begin(index); /* without memory for both, one more try at each insertion */
    while (is_full(index)) {
        if (!index->growth && !begin(index))
            return grow_at_once(index);
        while (index->growth)
            go_on(index);
    }
    return true;
}

void nd_live_growth_remove(struct nd_index *index, const struct nd_index_row *row, uint32_t number)
{
    struct nd_live_growth *g = index->growth;

    if (!g || g->stage != FILLING || number >= g->next)
        return;
    for (unsigned t = g->first; t < g->end; t++)
        nd_multimap_remove(&g->table[t],
                           row->key ? row->key[t] : nd_table_key(&index->params, t, row), number);
}

void nd_live_growth_add(struct nd_index *index, const struct nd_index_row *row, uint32_t number)
{
    struct nd_live_growth *g = index->growth;

    if (!g || g->stage != FILLING || number >= g->next)
        return;
    for (unsigned t = g->first; t < g->end; t++)
        if (!nd_table_set_has(&row->left_out, t) && nd_live_stands_in(index, t, row->identity_only))
            nd_multimap_add(&g->table[t],
                            row->key ? row->key[t] : nd_table_key(&index->params, t, row), number);
}
