/* live_state.h - the columns and tables of the live index, and how they are read */
#ifndef ND_INDEX_LIVE_STATE_H
#define ND_INDEX_LIVE_STATE_H

#include <stdbool.h>
#include <string.h>

#include <neardup/index.h>

#include "base/memory.h"
#include "index/index_row.h"
#include "index/multimap.h"

struct nd_live_growth;
struct nd_live_file;

enum {
    ND_LIVE_LISTED = 1,
    ND_LIVE_DELETED = 2,
    ND_LIVE_SHORT = 4,
    ND_LIVE_LEFT_OUT = 8,
    ND_LIVE_IDENTITY_ONLY = 16
};
enum { ND_LIVE_TABLES_MAX = ND_MINHASH_COUNT + ND_SIMHASH_BITS_MAX + 2 };
_Static_assert(ND_LIVE_TABLES_MAX <= 64 * ND_TABLE_SET_WORDS, "a table has its bit in a set");

enum { ND_LIVE_TOGETHER_MAX = 192 << 20 }; /* together_max of a new index */

/* The word that decides, without a look at the bytes, that two documents cannot meet. */
struct nd_live_gate {
    uint32_t group, n_shingles;
};

/* Columns by number, and a table of numbers for every band and block. */
struct nd_index {
    struct nd_index_params params;
    const struct nd_sketch_kernels *kernels;
    unsigned n_tables, n_queried; /* nd_table_count, nd_table_queried */
    nd_equal_minima band_starts;  /* the bit of each band's first row */
    uint32_t n;                   /* numbers given */
    uint32_t n_deleted;           /* of them */
    struct nd_column low, simhash, identity, gate, flags;
    struct nd_column left_out;    /* struct nd_table_set, of those with that flag, in order */
    struct nd_column left_out_at; /* uint32_t, by number: where; empty as long as there are none */
    size_t n_left_out;
    uint64_t n_keys_left_out;
    struct nd_multimap table[ND_LIVE_TABLES_MAX];
    struct nd_multimap_block block; /* of the tables that have none of their own */
    struct nd_multimap_block own[ND_LIVE_TABLES_MAX];
    size_t together_max; /* bytes of tables that grow side by side; larger ones grow in turn */
    struct nd_live_growth *growth; /* larger tables that are being filled; NULL: there are none */
    struct nd_live_file *file;     /* the snapshot that it began with; NULL: it began empty */
    char *folder;                  /* where the columns' files are; NULL: they lie in memory */
    bool is_frozen;                /* by nd_index_freeze: it has no tables */
};

static inline const uint8_t *nd_live_low(const struct nd_index *index, uint32_t number)
{
    return (const uint8_t *)index->low.data + (size_t)number * ND_MINHASH_COUNT;
}

static inline uint64_t nd_live_simhash(const struct nd_index *index, uint32_t number)
{
    return ((const uint64_t *)index->simhash.data)[number];
}

static inline uint64_t nd_live_identity(const struct nd_index *index, uint32_t number)
{
    return ((const uint64_t *)index->identity.data)[number];
}

static inline struct nd_live_gate nd_live_gate(const struct nd_index *index, uint32_t number)
{
    return ((const struct nd_live_gate *)index->gate.data)[number];
}

static inline unsigned char *nd_live_flags(const struct nd_index *index, uint32_t number)
{
    return (unsigned char *)index->flags.data + number;
}

/* Return the tables that a document with the flag is left out of. */
static inline const struct nd_table_set *nd_live_left_out(const struct nd_index *index,
                                                          uint32_t number)
{
    const struct nd_table_set *all = index->left_out.data;

    return &all[((const uint32_t *)index->left_out_at.data)[number]];
}

static inline bool nd_table_set_has(const struct nd_table_set *set, unsigned table)
{
    return set->word[table / 64] >> table % 64 & 1;
}

/* Whether a document stands in a table; `identity_only`: it has that flag. */
static inline bool nd_live_stands_in(const struct nd_index *index, unsigned table,
                                     bool identity_only)
{
    return !identity_only || table == index->n_tables - 1;
}

static inline void nd_live_row(const struct nd_index *index, uint32_t number,
                               struct nd_index_row *row)
{
    memcpy(row->low, nd_live_low(index, number), ND_MINHASH_COUNT);
    row->simhash = nd_live_simhash(index, number);
    row->identity = nd_live_identity(index, number);
    row->group = nd_live_gate(index, number).group;
    row->n_shingles = nd_live_gate(index, number).n_shingles;
    row->is_short = (*nd_live_flags(index, number) & ND_LIVE_SHORT) != 0;
    row->identity_only = (*nd_live_flags(index, number) & ND_LIVE_IDENTITY_ONLY) != 0;
    row->key = NULL;
    row->left_out = (struct nd_table_set){{0}};
}

/* The key under which a number stands in a table; bands, the many, without a copy of the row. */
static inline uint64_t nd_live_key(const struct nd_index *index, unsigned t, uint32_t number)
{
    struct nd_index_row row;

    if (t < index->params.bands)
        return nd_band_key(&index->params, t, nd_live_low(index, number),
                           nd_live_gate(index, number).group);
    nd_live_row(index, number, &row);
    return nd_table_key(&index->params, t, &row);
}

/* ND_EINVAL: no index can have these. */
enum nd_status nd_live_check_params(const struct nd_index_params *params, struct nd_error *err);

/* ---- The tables' memory (table_memory.c) ---- */

/* Whether `more` documents fit into every table. */
bool nd_live_fits(const struct nd_index *index, size_t more);

size_t nd_live_tables_bytes(const struct nd_index *index);
void nd_live_tables_release(struct nd_index *index);

/* The lines of each table of n documents: all of them fit, and the tables will grow in turn. */
void nd_live_lines_for(const struct nd_index *index, size_t n, size_t *n_lines);

/* Make empty tables with these lines in place of the present ones.  False: out of memory, and nothing
 * has changed. */
bool nd_live_tables_renew(struct nd_index *index, size_t n);

/* Make the tables larger, all of one size, so that `more` documents fit, and empty them.  False: as
 * above. */
bool nd_live_tables_grow(struct nd_index *index, size_t more);

/* Add all documents of a range that are listed to a table, in order: to `map`, which has room; or to
 * the table t of the index, which is empty, those of all numbers. */
void nd_live_fill_range(const struct nd_index *index, unsigned t, uint32_t from, uint32_t to,
                        struct nd_multimap *map);
void nd_live_fill_table(struct nd_index *index, unsigned t);

/* ---- Growing a little with every insertion (growth.c) ---- */

/*
 * Before a document is inserted: true if it fits, or once there is room for it.  Large tables grow
 * without a pause: while the present ones, of which queries read, go on filling up to 90%, every
 * insertion adds some of the documents to larger ones, which take their place when they hold all.
 * Small tables grow at once.  False: out of memory, and nothing that is found has changed.
 */
bool nd_live_grow(struct nd_index *index);

/* A listed document is about to be removed from the present tables: remove it from the larger ones
 * too, if it stands there. */
void nd_live_growth_remove(struct nd_index *index, const struct nd_index_row *row, uint32_t number);

/* A document was added to the present tables that had its number before, perhaps when the larger ones
 * passed it: add it to those that did. */
void nd_live_growth_add(struct nd_index *index, const struct nd_index_row *row, uint32_t number);

/* Give the larger tables up. */
void nd_live_growth_drop(struct nd_index *index);

size_t nd_live_growth_bytes(const struct nd_index *index);

/* ---- Columns that lie in files (backing.c) ---- */

/* Empty them. */
void nd_live_restart_columns(struct nd_index *index);

/* Have those of n_left documents take their place, whose new numbers are to[number] or ND_INDEX_GONE.
 * ND_EIO, ND_ENOMEM: nothing has changed. */
enum nd_status nd_live_copy_columns(struct nd_index *index, const uint32_t *to, size_t n_left,
                                    struct nd_error *err);

/* ---- Snapshots (snapshot.c) ---- */

/* The descriptor of the snapshot, and where in it the columns begin that may lie in files: low bytes,
 * simhashes, identities, gates, places of sets of tables, these sets. */
enum { ND_LIVE_BACKED = 6 };
int nd_live_file_columns(const struct nd_live_file *file, uint64_t offset[ND_LIVE_BACKED]);

/* NULL is allowed. */
void nd_live_file_close(struct nd_live_file *file);

#endif
