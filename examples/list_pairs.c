/* list_pairs.c - list every pair of similar documents, and remove nothing
 *
 * Prints:
 *     1 and 0: resemblance 0.79
 *     3 and 0: resemblance 0.69
 *     3 and 1: resemblance 0.86
 */
#include <neardup.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const text[] = {
    "Rain is expected in the west by noon, and in the east by the evening.",
    "Rain is expected in the west by noon, and in the east by midnight.",
    "The council meets on Thursday to discuss the new bridge over the river.",
    "Rain is expected in the west by noon, and in the east by midnight or so.",
};
enum { N = sizeof text / sizeof *text };

/* Called for each pair, in order; anything but ND_OK would end the search with that status. */
static enum nd_status print_pair(void *context, const struct nd_found_pair *pair)
{
    const struct nd_overlap *o = &pair->overlap;

    (void)context;
    printf("%" PRIu64 " and %" PRIu64 ": resemblance %.2f\n", pair->a, pair->b,
           (double)o->shared / (double)(o->a + o->b - o->shared));
    return ND_OK;
}

int main(void)
{
    struct nd_dedup_options options = nd_dedup_options_default();
    struct nd_dedup_item item[N] = {0};
    struct nd_error err;
    struct nd_recipe *recipe = nd_recipe_new(&err);
    struct nd_dedup *dedup = NULL;
    int failed = 1;

    options.makes_pairs = 1;
    for (size_t i = 0; i < N; i++)
        item[i].text = (struct nd_view){text[i], strlen(text[i])};
    if (recipe && nd_recipe_set(recipe, "threshold=0.6", &err) == ND_OK)
        dedup = nd_dedup_new(recipe, &options, &err);
    if (dedup && nd_dedup_push_pairs(dedup, item, N, print_pair, NULL, &err) == ND_OK)
        failed = 0;
    else
        fprintf(stderr, "%s\n", err.message);
    nd_dedup_free(dedup); /* NULL is allowed */
    nd_recipe_free(recipe);
    return failed;
}
