/* run_files.c - deduplicate files, as `neardup dedup INPUT -o OUTPUT` does
 *
 * usage: run_files INPUT OUTPUT
 *
 * Prints, for articles.jsonl:
 *     4 documents: 2 kept, 1 copy and 1 near copy removed
 */
#include <neardup.h>
#include <neardup/run.h>

#include <inttypes.h>
#include <stdio.h>

static void print_bad_record(void *context, const char *place, const char *reason)
{
    (void)context;
    fprintf(stderr, "%s: %s\n", place, reason);
}

int main(int argc, char **argv)
{
    struct nd_run_events events = {.bad_record = print_bad_record};
    struct nd_run_summary s;
    struct nd_error err;
    struct nd_recipe *recipe;
    struct nd_run_options *options;
    enum nd_status status;

    if (argc != 3) {
        fprintf(stderr, "usage: run_files INPUT OUTPUT\n");
        return 2;
    }
    recipe = nd_recipe_new(&err);
    options = recipe ? nd_run_options_new(&err) : NULL;
    status = options ? nd_run_options_set(options, "path", argv[1], &err) : err.status;
    if (status == ND_OK)
        status = nd_run_options_set(options, "output", argv[2], &err);
    if (status == ND_OK) {
        nd_run_options_set_recipe(options, recipe);
        status = nd_run_dedup(options, &events, &s, &err);
    }
    if (status == ND_OK)
        printf("%" PRIu64 " documents: %" PRIu64 " kept, %" PRIu64 " copy and %" PRIu64
               " near copy removed\n",
               s.documents, s.kept, s.identical_bytes, s.near);
    else
        fprintf(stderr, "%s\n", err.message);
    nd_run_options_free(options);
    nd_recipe_free(recipe);
    return status != ND_OK;
}
