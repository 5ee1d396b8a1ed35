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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_recipe recipe = blank(), again = blank();
    struct nd_error err = {0};
    uint64_t first, second;
    char *text, *twice;
    size_t len, len_twice;

    if (nd_recipe_parse(&recipe, "input", (const char *)data, size, &err) != ND_OK) {
        require(err.message[0] && !strchr(err.message, '\n'));
        require(memcmp(&recipe, &again, sizeof recipe) == 0);
        return 0;
    }
    require(nd_recipe_canonical(&recipe, &text, &len, &first, NULL) == ND_OK);
    require(nd_recipe_parse(&again, "again", text, len, NULL) == ND_OK);
    require(nd_recipe_canonical(&again, &twice, &len_twice, &second, NULL) == ND_OK);
    require(len == len_twice && memcmp(text, twice, len) == 0 && first == second);
    require(memcmp(&recipe, &again, sizeof recipe) == 0);
    free(text);
    free(twice);
    return 0;
}
