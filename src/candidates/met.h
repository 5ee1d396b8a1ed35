/* met.h - a set of documents, and which others could meet one of them: equal it or be its candidate
 *
 * For runs that look through documents of a file which are far more than matter
 * (old/against_run.c).
 */
#ifndef ND_CANDIDATES_MET_H
#define ND_CANDIDATES_MET_H

#include <stdbool.h>

#include <neardup/recipe.h>
#include <neardup/sketch_file.h>

struct nd_met_set;

/* For a recipe, which outlives the set, with room for so many documents.  NULL: ND_EUNSUPPORTED,
 * the recipe finds candidates by other means than rows of sketch files; ND_ENOMEM. */
ND_API struct nd_met_set *nd_met_set_new(const struct nd_recipe *recipe, uint64_t documents,
                                         struct nd_error *err);
ND_API void nd_met_set_free(struct nd_met_set *met); /* NULL: nothing */

/* Add a document, which is in the set from the next nd_met_set_link on; its row may go.  ND_ENOMEM. */
ND_API enum nd_status nd_met_set_add(struct nd_met_set *met, const struct nd_sketch_row *row,
                                     struct nd_error *err);
ND_API enum nd_status nd_met_set_link(struct nd_met_set *met, struct nd_error *err);
/* Documents that are added from now on, until the next call, are fresh.  All are linked. */
ND_API void nd_met_set_begin_round(struct nd_met_set *met);

/*
 * Whether the document equals one of the set, could be a candidate of one, or one of it, or has a key
 * that is crowded: with is_fresh, with one that is fresh.  Never wrongly no; yes also where only hashes or parts of a band
 * agree, or where too many documents of the set share a key with it to compare it with all.  Any
 * number of threads may ask while nobody adds.
 */
ND_API bool nd_met_set_has(const struct nd_met_set *met, const struct nd_sketch_row *row,
                           bool is_fresh);

/*
 * After all rows that may meet the set were asked for: find the keys of the set that have become
 * crowded, as many documents have them as a key lists, those that passed by among them.  True: there
 * are some; from now on all documents that have such a key meet the set, so that all rows are to be
 * asked for again.
 *
 * A tally counts keys of documents that are in no set, or in another, roughly: never too few.
 */
ND_API bool nd_met_set_find_crowded(struct nd_met_set *met);
struct nd_met_tally;
ND_API struct nd_met_tally *nd_met_tally_new(void); /* NULL: out of memory */
ND_API void nd_met_tally_free(struct nd_met_tally *tally);
/* Add a document's keys, or those of all documents of a set. */
ND_API void nd_met_set_tally(const struct nd_met_set *met, const struct nd_sketch_row *row,
                             struct nd_met_tally *tally);
ND_API void nd_met_set_tally_all(const struct nd_met_set *met, struct nd_met_tally *tally);
/* Have documents counted that the set does not have.  The tally outlives the set. */
ND_API void nd_met_set_use_tally(struct nd_met_set *met, const struct nd_met_tally *others);

/* The parts of a row that show that it meets nobody, as most do; behind the low bytes 8 more are
 * readable. */
struct nd_met_keys {
    const uint8_t *low;
    uint64_t identity;
};
enum { ND_MET_SIFTED = 64 };
/* Return, as bits, those of up to 64 rows for which nd_met_set_has can be true.  Of rows that meet
 * nobody that is usually one in fifty, but all where the recipe does not look up bands only. */
ND_API uint64_t nd_met_set_sift(const struct nd_met_set *met, const struct nd_met_keys *row,
                                unsigned n, bool is_fresh);

#endif
