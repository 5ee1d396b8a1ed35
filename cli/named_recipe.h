/* named_recipe.h - recipes as the command line names them */
#ifndef CLI_NAMED_RECIPE_H
#define CLI_NAMED_RECIPE_H

#include "settings.h"

/* Set the recipe to the shipped recipe of this name, or to that in the file. */
enum nd_status read_named_recipe(struct nd_recipe *recipe, const char *name, struct nd_error *err);

/* Whether a name means a file, and not a shipped recipe. */
bool is_recipe_file(const char *name);
/* Warn of its keys that have no effect; `name` may be NULL. */
void warn_of_recipe(const char *name, const struct nd_recipe *recipe);

#endif
