/* kept.c - the parts of a document's record that a recipe compares */
#include <neardup/sketch_file.h>

#include <stdbool.h>

#include "recipe/recipe.h"

struct nd_sketch_kept nd_sketch_kept_of(const struct nd_recipe *recipe)
{
    const bool by_rule = recipe->dedup.candidates == ND_CANDIDATES_MATCH;

    return (struct nd_sketch_kept){.minima = !by_rule,
                                   .shingles = !by_rule || recipe->dedup.verify != ND_VERIFY_NONE};
}
