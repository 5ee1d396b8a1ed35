/* dedup_strings.c - keep one of each group of similar strings
 *
 * Prints:
 *     0: kept
 *     1: kept
 *     2: a near copy of 0 (16 of 18 shingles are in both)
 *     3: a copy of 1, byte by byte
 */
#include <neardup.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TALE "In the old house at the end of the lane lived a clockmaker who never wound a clock"

static const char *const text[] = {
    TALE " himself.",
    "The ferry leaves the northern harbour every morning at seven.",
    TALE " alone.",
    "The ferry leaves the northern harbour every morning at seven.",
};
enum { N = sizeof text / sizeof *text };

int main(void)
{
    struct nd_dedup_item item[N] = {0};
    struct nd_decision decision[N];
    struct nd_error err;
    struct nd_recipe *recipe = nd_recipe_new(&err);
    struct nd_dedup *dedup = recipe ? nd_dedup_new(recipe, NULL, &err) : NULL;
    int failed = 1;

    for (size_t i = 0; i < N; i++)
        item[i].text = (struct nd_view){text[i], strlen(text[i])};
    if (!dedup || nd_dedup_push(dedup, item, N, decision, &err) != ND_OK) {
        fprintf(stderr, "%s\n", err.message);
        goto done;
    }
    for (uint64_t i = 0; i < N; i++) {
        const struct nd_decision *d = &decision[i];

        if (d->kept == i)
            printf("%" PRIu64 ": kept\n", i);
        else if (d->identical == ND_IDENTICAL_BYTES)
            printf("%" PRIu64 ": a copy of %" PRIu64 ", byte by byte\n", i, d->kept);
        else
            printf("%" PRIu64 ": a near copy of %" PRIu64 " (%" PRIu64 " of %" PRIu64
                   " shingles are in both)\n",
                   i, d->kept, d->overlap.shared, d->overlap.a + d->overlap.b - d->overlap.shared);
    }
    failed = 0;
done:
    nd_dedup_free(dedup); /* NULL is allowed */
    nd_recipe_free(recipe);
    return failed;
}
