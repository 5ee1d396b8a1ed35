/* search.h - the entries of label sets that are within the threshold of a text
 *
 *     nd_search_collect(search, index, &text, sets, n_sets, below, &err);   // the index is locked
 *     nd_search_compare(search, &text, &source, &err);                      // it is not
 *     … search->hit, search->n_hits; search->searched …
 *
 * Each label set is a group of the index, and is searched on its own: what is found there, and what
 * is done for it, depends on the entries of that set alone.
 */
#ifndef ND_STORE_SEARCH_SEARCH_H
#define ND_STORE_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "index/live.h"
#include "store/search/quotes.h"
#include "store/search/signed_entries.h"
#include "store/search/sketching.h"

/* The view of the store that a search needs. Functions that return int: 1, 0, or < 0 with *err. */
struct nd_search_source {
    void *context;
    /* Whether the entry is there for whoever searches; NULL: all below the bound are. */
    int (*is_there)(void *context, uint32_t number, struct nd_error *err);
    /* The entry of a label set with the very bytes of the text. */
    int (*find)(void *context, uint32_t set, const struct nd_sketched *text, uint32_t *number,
                struct nd_error *err);
    /* The stored pair of an entry with another one, of a set; NULL: none is known. */
    int (*pair)(void *context, uint32_t number, uint32_t set, uint32_t other,
                struct nd_pair_row *row, struct nd_error *err);
    /* The text of an entry, until the next call. */
    enum nd_status (*fetch)(void *context, uint32_t number, struct nd_view *text,
                            struct nd_error *err);
};

/* An entry that equals the text or is within the threshold of it, or within what was asked for. */
struct nd_near_entry {
    uint32_t number, set;
    enum nd_identical identical;
    uint64_t n_shingles; /* of the entry */
    uint64_t shared; /* shingles; the score of a rule on signatures; 0 where neither is compared */
    unsigned distance; /* UINT16_MAX: no signature has bits */
    bool is_below;     /* the threshold: it was asked for, and decides nothing */
};

/* An entry as near as can be to itself. */
struct nd_near_entry nd_near_itself(const struct nd_sketching *sketching, uint32_t number,
                                    uint32_t set, uint64_t n_shingles);

/* The work done in one label set. */
struct nd_searched {
    uint32_t set;
    size_t first, n_met; /* candidates, of search->met */
    /* Candidates that can only be below the threshold: besides, and as many are compared. */
    size_t first_below, n_below;
    size_t n_compared; /* of both */
    bool was_cut;      /* there were more than max_checks, of either */
    bool has_equal; /* besides, an entry with the very bytes of the text, which is the first hit */
};

/* A candidate. */
struct nd_met {
    uint32_t number, n_shingles;
    uint16_t distance;
    uint16_t score;  /* of a rule on signatures; ND_SCORE_NONE: it does not hold */
    bool has_tokens; /* perhaps those of the text: its identity is the same */
};

/* The working memory of one thread. */
struct nd_search {
    struct nd_sketch_maker *maker;
    uint64_t *key;           /* of a row */
    struct nd_key_list keys; /* of signatures */
    struct nd_candidates found, same;
    struct nd_shingle_set shingles;
    bool has_shingles; /* of the text at hand */
    /* How near neighbours are that are asked for, where that is below the threshold; 0/0: those within
     * the threshold.  It is set before nd_search_collect. */
    struct nd_ratio at;
    /* An entry with the very bytes of the text, whose pairs say how the text compares; UINT32_MAX: none
     * is known.  Whoever knows one sets it after nd_search_collect. */
    uint32_t equal;
    struct nd_met *met;
    size_t n_met, met_capacity;
    struct nd_searched *searched;
    size_t n_searched, searched_capacity;
    struct nd_near_entry *hit;
    size_t n_hits, hit_capacity;
    struct nd_quotes quotes; /* of whoever looks for them */
};
/* The maker outlives it.  False: out of memory, nd_search_release frees what was made. */
bool nd_search_init(struct nd_search *search, struct nd_sketch_maker *maker);
void nd_search_release(struct nd_search *search);

/* The candidates of a text among the numbers below a bound, in these label sets; `entries`: what
 * nd_sketching_signs asks for.  ND_ENOMEM. */
enum nd_status nd_search_collect(struct nd_search *search, const struct nd_index *index,
                                 const struct nd_signed_entries *entries,
                                 const struct nd_sketched *text, const uint32_t *sets,
                                 size_t n_sets, uint32_t below, struct nd_error *err);
/* Compare them exactly, at most max_checks in each set, and find those with the very bytes of the
 * text, which are hits in any crowd.  ND_ENOMEM, and what the source returns. */
enum nd_status nd_search_compare(struct nd_search *search, const struct nd_sketched *text,
                                 const struct nd_search_source *source, struct nd_error *err);

/* Count the shingles of an entry, and those that it shares with the text at hand.  ND_ENOMEM, and what
 * the source returns. */
enum nd_status nd_search_shared(struct nd_search *search, const struct nd_sketched *text,
                                const struct nd_search_source *source, uint32_t number,
                                uint64_t *n_shingles, uint64_t *shared, struct nd_error *err);

/* Compare a text with one entry.  1: it is a hit; 0: it is not. */
int nd_search_compare_one(struct nd_search *search, const struct nd_sketched *text,
                          const struct nd_search_source *source, uint32_t set,
                          const struct nd_met *met, struct nd_near_entry *hit,
                          struct nd_error *err);

/*
 * Say in row->left_out from which tables a new entry of the text is to be left out, as max_checks of
 * its candidates stand there under its key already.  `same_set` is what was done in the set of the
 * entry, which is row->group; gone[n_gone] are numbers that the index has and the store no longer.
 * True: the entry is to be listed; false: it is to be found in no table.
 */
bool nd_search_note_crowded(const struct nd_search *search, const struct nd_index *index,
                            const struct nd_sketched *text, const struct nd_searched *same_set,
                            const uint32_t *gone, size_t n_gone, struct nd_index_row *row);
/* Whether the signatures of an entry with this row are listed: only where the recipe asks for that. */
bool nd_row_is_signed(const struct nd_sketching *sketching, const struct nd_index_row *row);
/* Whether an entry with this row is listed. */
bool nd_row_is_listed(const struct nd_sketching *sketching, const struct nd_index_row *row);

#endif
