/* row_maker.h - documents made into rows of an index outside of an engine: what is looked up, how near
 *
 * For those who keep rows themselves: the rows that travel between machines (candidate_rows.c), and
 * the store of the service.
 */
#ifndef ND_CANDIDATES_ROW_MAKER_H
#define ND_CANDIDATES_ROW_MAKER_H

#include "engine/document/worker.h"

/* The part of a row by which documents are compared. */
enum nd_row_kind {
    ND_ROW_NOTHING,     /* no document is a candidate that is not equal */
    ND_ROW_LOW_BYTES,   /* of the minima */
    ND_ROW_SIMHASH,     /* of the section [sketch] */
    ND_ROW_FINGERPRINT, /* of a section [signature NAME] */
    ND_ROW_KEYS,        /* the keys of signatures alone: nd_row_plan_init does not choose it */
};

/* The rows that a recipe asks for.  A plan never changes once it is made: all threads read it. */
struct nd_row_plan {
    struct nd_engine_plan plan;
    enum nd_row_kind kind;
    unsigned signature; /* of a fingerprint: which */
    size_t words;       /* of what is compared, 64 bits each */
    uint64_t mask[8];   /* of a simhash or a fingerprint: the bits that count */
};

/* ND_EUNSUPPORTED: candidates are found in another way, and *key names the key that says so; what
 * nd_recipe_params_check says; ND_ENOMEM.  Either way nd_row_plan_release frees what was made. */
enum nd_status nd_row_plan_init(struct nd_row_plan *rows, const struct nd_recipe *recipe,
                                const char **key, struct nd_error *err);
void nd_row_plan_release(struct nd_row_plan *rows);

/*
 * How far apart the bodies of two documents are, `words` of each, at any place in memory: low bytes
 * that differ, or bits.  Whether they could match is what nd_engine_plan_reach says of it.
 */
unsigned nd_row_distance(const struct nd_row_plan *rows, const void *a, const void *b);

/* The working memory of one thread. */
struct nd_row_maker {
    const struct nd_row_plan *rows;
    struct nd_crew crew; /* of one worker */
    uint64_t *key;       /* of the item's row: scratch */
};
/* False: nd_row_maker_release frees what was made. */
bool nd_row_maker_init(struct nd_row_maker *maker, const struct nd_row_plan *rows,
                       struct nd_error *err);
void nd_row_maker_release(struct nd_row_maker *maker);

/*
 * Read a document.  With `all`, sketch and sign it if it has any tokens; else only if it is compared
 * by more than equality.  The item and its shingles, which w->sketcher has, are valid until the next
 * call.  ND_EINVAL: the text is not valid UTF-8; ND_ENOMEM, ND_EUNSUPPORTED.
 */
enum nd_status nd_row_maker_run(struct nd_row_maker *maker, const struct nd_dedup_item *document,
                                bool all, struct nd_item *item, struct nd_error *err);

/* Whether an item that was read is compared by more than equality. */
static inline bool nd_row_is_compared(const struct nd_row_plan *rows, const struct nd_item *item)
{
    return item->read.is_listed && !item->read.is_short && rows->kind != ND_ROW_NOTHING;
}

#endif
