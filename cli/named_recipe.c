/* named_recipe.c - a recipe is a shipped one's name, or a file */
#define _GNU_SOURCE
#include "named_recipe.h"

#include <string.h>
#include <unistd.h>

enum nd_status read_named_recipe(struct nd_recipe *recipe, const char *name, struct nd_error *err)
{
    const char *nearest;

    if (nd_recipe_text(name, NULL))
        return nd_recipe_by_name(recipe, name, err);
    if (strpbrk(name, "/.") || access(name, F_OK) == 0)
        return nd_recipe_load(recipe, name, err);
    nearest = nd_recipe_nearest(name);
    return nd_fail(err, ND_EINVAL, "there is no recipe and no file '%s'%s%s%s", name,
                   nearest ? "; did you mean '" : "; see neardup recipe list",
                   nearest ? nearest : "", nearest ? "'?" : "");
}

bool is_recipe_file(const char *name)
{
    return !nd_recipe_text(name, NULL);
}

void warn_of_recipe(const char *name, const struct nd_recipe *recipe)
{
    struct nd_error warning;

    for (size_t i = 0; nd_recipe_warning(recipe, i, &warning); i++)
        say("%s%swarning: %s", name ? name : "", name ? ": " : "", warning.message);
}
