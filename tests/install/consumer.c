/* consumer.c - a program outside the tree that finds duplicates with the installed library */
#include <neardup.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    static const char *const text[] = {
        "The cat sat on the mat, and the dog lay by the fire all through the long evening.",
        "A second document, which has nothing in common with the first.",
        "The cat sat on the mat -- and the dog lay by the fire all through the long evening!",
    };
    struct nd_dedup_item items[3] = {0};
    struct nd_decision decisions[3];
    struct nd_error err;
    struct nd_recipe *recipe = nd_recipe_new(&err);
    struct nd_dedup *dedup = recipe ? nd_dedup_new(recipe, NULL, &err) : NULL;

    nd_recipe_free(recipe);
    for (int i = 0; i < 3; i++)
        items[i].text = (struct nd_view){text[i], strlen(text[i])};
    if (!dedup || nd_dedup_push(dedup, items, 3, decisions, &err) != ND_OK) {
        fprintf(stderr, "%s\n", err.message);
        nd_dedup_free(dedup);
        return 1;
    }
    for (int i = 0; i < 3; i++)
        if (decisions[i].kept != (uint64_t)i)
            printf("%d duplicates %d: %d of %d shingles shared\n", i, (int)decisions[i].kept,
                   (int)decisions[i].overlap.shared, (int)decisions[i].overlap.a);
    nd_dedup_free(dedup);
    return 0;
}
