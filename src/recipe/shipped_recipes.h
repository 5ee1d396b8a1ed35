/* shipped_recipes.h - the recipes that come with the library */
#ifndef ND_RECIPE_SHIPPED_RECIPES_H
#define ND_RECIPE_SHIPPED_RECIPES_H

#include <stddef.h>

struct nd_recipe_text {
    const char *name, *text; /* both end with a zero, */
    size_t len;              /* which is not counted */
};

/* In the order of their names. */
extern const struct nd_recipe_text nd_recipe_texts[];
extern const size_t nd_n_recipe_texts;

#endif
