/* recipe_keys.h - the keys of a recipe, layer by layer, and the conditions under which they count
 */
#ifndef ND_ENGINE_RECIPE_KEYS_H
#define ND_ENGINE_RECIPE_KEYS_H

#include <neardup/recipe.h>

#include "recipe/keys.h"

#define ND_KEY_WORDS(...)                                                                          \
    .values = (const char *const[]){__VA_ARGS__},                                                  \
    .n_values = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)
/* A key of a section [signature NAME]: what follows is its type and its limits. */
#define ND_KEY_OF_SIGNATURE(field, key)                                                            \
    ND_HALF_SKETCH, .offset = offsetof(struct nd_named_signature, field), .name = (key)

/* Keys of a section [signature NAME], layer by layer: of features, weights and signatures. */
extern const struct nd_key_table nd_feature_keys, nd_weight_keys, nd_signature_keys;

/* All of a recipe. */
extern const struct nd_recipe_schema nd_recipe_schema;

/* What a section [signature NAME] starts from. */
struct nd_named_signature nd_named_signature_default(void);

/* The section of this name, made where there is none (recipe_sections.c); NULL: no name, no room.
 */
void *nd_recipe_section(void *values, struct nd_view name, struct nd_error *err);
const char *nd_recipe_nth_section(const void *values, size_t i, const void **section);

/* Whether a section [signature NAME] fits together, and the whole recipe (recipe_fit.c).  `err` is
 * not NULL.  ND_EINVAL, ND_ENOMEM. */
enum nd_status nd_signature_fits(const void *section, struct nd_error *err);
enum nd_status nd_recipe_fits(const void *values, struct nd_error *err);

/* The rule of `match` with its blanks in one form: "distance(a) <= 3 and any of (…)". */
enum nd_status nd_match_tidy(struct nd_view value, char *out, size_t size, struct nd_error *err);

#endif
