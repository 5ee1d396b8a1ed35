/* fuzz_recipe.c - an accepted recipe has a canonical form that reads back to the same recipe */
#include <neardup/recipe.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

/* As where nobody set anything: every field within what its key allows. */
static struct nd_recipe blank(void)
{
    struct nd_recipe recipe;

    memset(&recipe, 0, sizeof recipe);
    recipe.dedup.sketch.w = 3;
    recipe.dedup.threshold = (struct nd_ratio){4, 5};
    recipe.dedup.max_checks = 256;
    memcpy(recipe.keep, "first", sizeof "first");
    return recipe;
}

/* The canonical text, which says all that a recipe says. */
static char *canonical(const struct nd_recipe *recipe, uint64_t *fingerprint)
{
    char *text = NULL;
    size_t len = 0;

    require(nd_recipe_canonical(recipe, &text, &len, fingerprint, NULL) == ND_OK);
    require(strlen(text) == len);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_recipe recipe = blank(), again = blank();
    struct nd_error err = {0};
    enum nd_status status = nd_recipe_parse(&recipe, "input", (const char *)data, size, &err);
    uint64_t first, second;
    char *text = canonical(&recipe, &first), *twice;

    if (status == ND_OK)
        require(nd_recipe_parse(&again, "again", text, strlen(text), NULL) == ND_OK);
    else /* refused: said why, and nothing changed */
        require(err.message[0] && !strchr(err.message, '\n'));
    twice = canonical(&again, &second);
    require(strcmp(text, twice) == 0 && first == second);
    free(text);
    free(twice);
    return 0;
}
