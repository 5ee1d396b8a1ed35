/* recipe_default.c - the recipe that holds where none is named */
#include <neardup/recipe.h>

#include <string.h>

struct nd_recipe nd_recipe_default(void)
{
    struct nd_recipe recipe;

    memset(&recipe, 0, sizeof recipe);
    recipe.dedup = nd_dedup_params_default();
    memcpy(recipe.keep, "first", sizeof "first");
    return recipe;
}
