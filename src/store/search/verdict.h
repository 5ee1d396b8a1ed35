/* verdict.h - what a caller is told about a text: the nearest documents, and whose cluster it joins
 *
 *     … nd_search_collect and nd_search_compare, nd_leaders_begin …
 *     nd_verdict_decide(&judge, sets, n_sets, &verdict, &err);
 *
 * The nearest documents are chosen among all that the caller sees, the leader among those that lead.
 */
#ifndef ND_STORE_SEARCH_VERDICT_H
#define ND_STORE_SEARCH_VERDICT_H

#include "base/memory.h"
#include "store/catalog/label_sets.h"
#include "store/search/leaders.h"
#include "store/store.h"

/* Begin the verdict of a text: it is new, as far as the text alone tells. */
struct nd_verdict nd_verdict_of_text(const struct nd_sketched *text);

/* How a text of n_shingles and a hit compare. */
struct nd_likeness nd_likeness_of(const struct nd_sketching *sketching, uint64_t n_shingles,
                                  const struct nd_near_entry *hit);

/* The document in question, if it is stored: it is no answer to itself. */
struct nd_own_document {
    uint32_t entry; /* ND_NO_ENTRY: it is not stored */
    uint64_t order;
    bool is_unchanged; /* it has the text, and stays in its cluster */
};
#define ND_NOT_STORED ((struct nd_own_document){.entry = ND_NO_ENTRY})

/* All that a verdict needs. */
struct nd_judge {
    const struct nd_sketching *sketching;
    const struct nd_label_sets *sets;
    struct nd_search *search; /* which has compared the text */
    const struct nd_search_source *source;
    const struct nd_contained *contained; /* by which search->quotes was found */
    struct nd_view text;
    struct nd_leaders *leaders; /* of this answer */
    struct nd_arena *answer;    /* the verdict points into it */
    struct nd_own_document own;
    struct nd_asked asked;
    uint64_t visited_since; /* documents that were visited before are no answer */
};

/* Note what is asked for, at a time. */
void nd_judge_ask(struct nd_judge *judge, const struct nd_asked *asked, uint64_t now);

/* Decide about the text that was searched, for a caller who sees these label sets (ascending). */
enum nd_status nd_verdict_decide(const struct nd_judge *judge, const uint32_t *sets, size_t n_sets,
                                 struct nd_verdict *verdict, struct nd_error *err);

/* Copy what a verdict points to; free(*memory) releases it. */
enum nd_status nd_verdict_keep(struct nd_verdict *verdict, void **memory, struct nd_error *err);

#endif
