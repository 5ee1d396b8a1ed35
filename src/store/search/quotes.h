/* quotes.h - the entries that have most of a text in them, or of which a text has most
 *
 *     nd_quotes_collect(&search->quotes, &store->contained, &text, sets, n_sets, below, &err);
 *     nd_quotes_compare(&search->quotes, &store->contained, search, &text, &source, &err);
 *     … quotes->hit, quotes->n_hits, quotes->was_cut …
 *
 * Each label set has an index of its own, so that what is found there, and what is done for it,
 * depends on the entries of that set alone.
 */
#ifndef ND_STORE_SEARCH_QUOTES_H
#define ND_STORE_SEARCH_QUOTES_H

#include "index/containers.h"
#include "store/catalog/catalog.h"
#include "store/search/sketching.h"

/* The entries of a label set, by the numbers that its index has given them. */
struct nd_contained_set {
    struct nd_containers *index; /* NULL: it has none */
    uint32_t *entry;             /* ascending */
    size_t n, capacity;
};

/*
 * The shingles of entries.  Lists have no bound, so that what is found depends on the entries that are
 * there alone, and not on those that were: the time of a look-up grows with the entries of a set that
 * have the rarest shingles of the text.  One writer and no reader, or any number of readers.
 */
struct nd_contained {
    struct nd_container_params params; /* .sample 0: nothing is kept, and nothing is found */
    struct nd_contained_set *set;      /* by the numbers of label sets */
    size_t n_sets, capacity;
    uint64_t *scratch; /* of the writer */
    size_t scratch_capacity;
};
/* For a share of the smaller text's shingles; 0/0: none.  ND_EUNSUPPORTED: the recipe does not compare
 * shingles; ND_EINVAL: the share is out of range. */
enum nd_status nd_contained_init(struct nd_contained *contained,
                                 const struct nd_sketching *sketching, struct nd_ratio share,
                                 struct nd_error *err);
void nd_contained_release(struct nd_contained *contained);
/* Bytes of memory. */
size_t nd_contained_bytes(const struct nd_contained *contained);

/* Add an entry of a label set, with a number above those that the set has.  ND_ENOMEM. */
enum nd_status nd_contained_add(struct nd_contained *contained, uint32_t set, uint32_t number,
                                const struct nd_sketched *text, struct nd_error *err);
/* No look-up finds an entry any more; one that is not there is no failure. */
void nd_contained_remove(struct nd_contained *contained, uint32_t number);

/* An entry that has the share of the text in it, or of which the text has it. */
struct nd_quote {
    uint32_t number, set;
    enum nd_identical identical;
    uint64_t n_shingles; /* of the entry */
    uint64_t shared;
};

/* The working memory of one thread. */
struct nd_quotes {
    struct nd_container_scratch scratch;
    struct nd_candidates found;
    uint64_t *word; /* the values of the text, and room to make them */
    size_t word_capacity;
    struct nd_quote *hit; /* candidates, until they are compared */
    size_t n_hits, hit_capacity;
    uint64_t n_candidates, n_compared;
    bool was_cut; /* a label set had more than max_checks */
};
void nd_quotes_release(struct nd_quotes *quotes);

/* Collect the candidates of a text among the numbers below a bound, in these label sets.  ND_ENOMEM. */
enum nd_status nd_quotes_collect(struct nd_quotes *quotes, const struct nd_contained *contained,
                                 const struct nd_sketched *text, const uint32_t *sets,
                                 size_t n_sets, uint32_t below, struct nd_error *err);

#endif
