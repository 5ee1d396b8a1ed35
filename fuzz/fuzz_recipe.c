/* fuzz_recipe.c - an accepted recipe has a canonical form that reads back to the same recipe */
#include "recipe/recipe_struct.h"

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

/* Check that a recipe which was accepted says itself again. */
static void check_accepted(const struct nd_recipe *recipe)
{
    struct nd_recipe again = blank();
    uint64_t first, second;
    char *text = canonical(recipe, &first), *twice;

    require(nd_recipe_parse(&again, "again", text, strlen(text), NULL) == ND_OK);
    twice = canonical(&again, &second);
    require(strcmp(text, twice) == 0 && first == second);
    free(text);
    free(twice);
}

/* Each line as an assignment, to a recipe that has signatures. */
static void check_assignments(const uint8_t *data, size_t size)
{
    static const char start[] = "[signature a]\n[signature b]\nkind = imatch\n";
    struct nd_recipe recipe = blank(), before;
    char line[256];

    require(nd_recipe_parse(&recipe, "start", start, sizeof start - 1, NULL) == ND_OK);
    while (size) {
        const uint8_t *newline = memchr(data, '\n', size);
        size_t len = newline ? (size_t)(newline - data) : size, used = len + (newline != NULL);
        struct nd_error err = {0};

        len = len < sizeof line ? len : sizeof line - 1;
        memcpy(line, data, len);
        line[len] = 0;
        before = recipe;
        if (nd_recipe_set(&recipe, line, &err) != ND_OK)
            require(err.message[0] && !strchr(err.message, '\n') &&
                    memcmp(&before, &recipe, sizeof recipe) == 0);
        data += used;
        size -= used;
    }
    for (size_t i = 0; nd_recipe_warning(&recipe, i, NULL); i++)
        require(i < 16);
    if (nd_recipe_check(&recipe, NULL) == ND_OK)
        check_accepted(&recipe);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_recipe recipe = blank(), before = recipe;
    struct nd_error err = {0};

    if (nd_recipe_parse(&recipe, "dir/input", (const char *)data, size, &err) != ND_OK)
        require(err.message[0] && !strchr(err.message, '\n') &&
                memcmp(&before, &recipe, sizeof recipe) == 0);
    check_accepted(&recipe);
    check_assignments(data, size);
    return 0;
}
