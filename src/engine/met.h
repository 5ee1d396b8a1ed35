/* met.h - a set of documents, and which others could meet one of them: equal it or be its candidate
 *
 * For runs that look through documents of a file which are far more than matter (pipeline/against.c).
 */
#ifndef ND_ENGINE_MET_H
#define ND_ENGINE_MET_H

#include <stdbool.h>

#include <neardup/recipe.h>
#include <neardup/sketch_file.h>

struct nd_met_set;

/* For a recipe, which outlives the set, with room for so many documents.  NULL: ND_EUNSUPPORTED, the recipe finds candidates by other
 * means than rows of sketch files; ND_ENOMEM. */
ND_API struct nd_met_set *nd_met_set_new(const struct nd_recipe *recipe, uint64_t documents,
                                         struct nd_error *err);
ND_API void nd_met_set_free(struct nd_met_set *met); /* NULL: nothing */

/* Add a document; its row may go.  ND_ENOMEM. */
ND_API enum nd_status nd_met_set_add(struct nd_met_set *met, const struct nd_sketch_row *row,
                                     struct nd_error *err);
/* Documents that are added from now on, until the next call, are fresh. */
ND_API void nd_met_set_begin_round(struct nd_met_set *met);

/*
 * Whether the document equals one of the set or could be a candidate of one, or one of it: with
 * is_fresh, one that is fresh.  Never wrongly no; yes also where only hashes
 * agree, or where too many documents of the set share a key with it to compare it with all.  Any
 * number of threads may ask while nobody adds.
 */
ND_API bool nd_met_set_has(const struct nd_met_set *met, const struct nd_sketch_row *row,
                           bool is_fresh);

#endif
