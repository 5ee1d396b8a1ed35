/* own_recipe.c - decide by a recipe of one's own, given as text and changed by key
 *
 * Prints:
 *     shingle: 2
 *     threshold: 1/2
 *     verify: containment
 *     the second is a near copy of the first
 */
#include <neardup.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ini[] = "[sketch]\n"
                          "shingle = 2\n"
                          "[decide]\n"
                          "threshold = 0.9\n"
                          "verify = containment\n";

static int print_key(const struct nd_recipe *recipe, const char *key, struct nd_error *err)
{
    char *value;

    if (nd_recipe_get(recipe, key, &value, err) != ND_OK)
        return 0;
    printf("%s: %s\n", key, value);
    free(value);
    return 1;
}

int main(void)
{
    static const char a[] = "Bread, butter, cheese, apples and a bottle of good red wine.";
    static const char b[] = "Apples and a bottle of good white wine.";
    struct nd_dedup_item item[2] = {{.text = {a, sizeof a - 1}}, {.text = {b, sizeof b - 1}}};
    struct nd_decision decision[2];
    struct nd_error err;
    struct nd_dedup *dedup = NULL;
    struct nd_recipe *recipe = nd_recipe_new(&err);

    if (recipe && nd_recipe_parse(recipe, "my recipe", ini, strlen(ini), &err) == ND_OK &&
        nd_recipe_set(recipe, "threshold=0.5", &err) == ND_OK &&
        nd_recipe_check(recipe, &err) == ND_OK && print_key(recipe, "shingle", &err) &&
        print_key(recipe, "threshold", &err) && print_key(recipe, "verify", &err))
        dedup = nd_dedup_new(recipe, NULL, &err);
    nd_recipe_free(recipe); /* the engine has a copy */
    if (!dedup || nd_dedup_push(dedup, item, 2, decision, &err) != ND_OK) {
        fprintf(stderr, "%s\n", err.message);
        nd_dedup_free(dedup);
        return 1;
    }
    printf("the second is %sa near copy of the first\n", decision[1].kept == 0 ? "" : "not ");
    nd_dedup_free(dedup);
    return 0;
}
