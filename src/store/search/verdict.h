/* verdict.h - what a caller is told about a text, from the hit that decides */
#ifndef ND_STORE_SEARCH_VERDICT_H
#define ND_STORE_SEARCH_VERDICT_H

#include "store/catalog/label_sets.h"
#include "store/search/leaders.h"
#include "store/store.h"

/* Begin the verdict of a text: it is new, as far as the text alone tells. */
struct nd_verdict nd_verdict_of_text(const struct nd_sketched *text);

/* How a text of n_shingles and a hit compare. */
struct nd_likeness nd_likeness_of(const struct nd_sketching *sketching, uint64_t n_shingles,
                                  const struct nd_near_entry *hit);

/* A leader was found: all but its id. */
void nd_verdict_set_leader(struct nd_verdict *verdict, const struct nd_sketching *sketching,
                           const struct nd_label_sets *sets, const struct nd_near_entry *hit);

/*
 * Count the work of a search in the sets that the caller sees (ascending), and move their hits to
 * the front of search->hit: *n_visible of them.
 */
void nd_verdict_count(struct nd_verdict *verdict, struct nd_search *search, const uint32_t *sets,
                      size_t n_sets, size_t *n_visible);

/*
 * Find the document that one with the text of a stored entry duplicates; is_first: none has it
 * before this one. 1: *hit is it; 0: nothing; < 0.
 */
int nd_verdict_of_entry(struct nd_leaders *leaders, const struct nd_sketching *sketching,
                        enum nd_equal_by equal_by, uint32_t number, uint32_t set,
                        uint64_t n_shingles, bool is_first, struct nd_near_entry *hit,
                        struct nd_error *err);

#endif
