/* named_recipe.h - recipes as the command line names them */
#ifndef CLI_NAMED_RECIPE_H
#define CLI_NAMED_RECIPE_H

#include "settings.h"

/* Change *recipe to what the shipped recipe of this name says, or the file. */
enum nd_status read_named_recipe(struct nd_recipe *recipe, const char *name, struct nd_error *err);

/* Say which of its keys change nothing; `name` may be NULL. */
/* Whether such a name is that of a file, and not of a shipped recipe. */
bool is_recipe_file(const char *name);
void warn_of_recipe(const char *name, const struct nd_recipe *recipe);

#endif
