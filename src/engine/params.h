/* params.h - whether parameters are in their ranges: every call that takes some asks first */
#ifndef ND_ENGINE_PARAMS_H
#define ND_ENGINE_PARAMS_H

#include <neardup/recipe.h>

enum nd_status nd_dedup_params_check(const struct nd_dedup_params *p, struct nd_error *err);
enum nd_status nd_bands_check(const struct nd_dedup_params *p, struct nd_error *err);
/* No more signatures than there may be, and every text ends, so that it can be read. */
enum nd_status nd_method_check(const struct nd_method *method, struct nd_error *err);
/* The same check for all signatures of a recipe.  It does not look at numbers, so that a recipe can
 * be read and changed before they are in range. */
enum nd_status nd_recipe_has_ends(const struct nd_recipe *recipe, struct nd_error *err);

#endif
