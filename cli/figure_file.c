/* figure_file.c - the file of a figure, which must not be one that the command reads */
#include "figure_file.h"

#include <stdlib.h>

/* All files that are read, including those in folders: the figure must not be one of them. */
struct reads {
    struct words names, tables; /* the second half has strings of its own */
    struct nd_input *input;     /* owns the names; NULL: no input can be listed */
};

/* The df tables of its signatures. */
static bool list_tables(struct reads *r, const struct nd_recipe *recipe)
{
    static const char *const names[] = {"df", "template_df"};
    bool good = true;

    for (size_t i = 0; i < 2 * nd_recipe_signatures(recipe) && good; i++) {
        char key[ND_RECIPE_NAME_MAX + sizeof ".template_df"], *path = NULL;

        snprintf(key, sizeof key, "%s.%s", nd_recipe_signature_name(recipe, i / 2), names[i % 2]);
        good = nd_recipe_get(recipe, key, &path, NULL) == ND_OK && words_take(&r->tables, path) &&
               words_add(&r->names, path);
    }
    return good;
}

static bool list_reads(struct reads *r, const struct settings *s, const struct words *inputs)
{
    const char *read;
    bool good = true;

    for (size_t i = 0; i < inputs->count && good; i++)
        good = words_add(&r->names, inputs->at[i]);
    for (size_t i = 0; good && (read = nd_run_options_get(s->run, "also-read", i)) != NULL; i++)
        good = words_add(&r->names, read);
    good = good && list_tables(r, s->recipe);
    r->input =
        nd_input_open(inputs->at, inputs->count, nd_run_options_input(s->run), NULL, NULL, NULL);
    if (r->input && nd_input_list(r->input, NULL) == ND_OK)
        for (size_t i = 0; i < nd_input_files(r->input) && good; i++)
            good = words_add(&r->names, nd_input_file(r->input, i)->path);
    if (!good)
        say("out of memory");
    return good;
}

static void release_reads(struct reads *r)
{
    nd_input_close(r->input);
    for (size_t i = 0; i < r->tables.count; i++)
        free((char *)(uintptr_t)r->tables.at[i]);
    free(r->tables.at);
    free(r->names.at);
}

bool open_figure(struct results *figure, const char *svg, const struct settings *s,
                 const struct words *inputs)
{
    struct reads reads = {.input = NULL};
    bool good = true;

    *figure = (struct results){.file = NULL};
    if (svg)
        good = list_reads(&reads, s, inputs) &&
               results_open(figure, svg, reads.names.at, reads.names.count);
    release_reads(&reads);
    return good;
}
