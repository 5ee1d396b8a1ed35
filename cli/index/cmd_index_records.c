/*
 * cmd_index_records.c - neardup index over records: a sketch file in which documents are looked up
 *
 * Recipes that compare by another thing than one fingerprint have no Hamming index.  Their index is the
 * file of the documents' records, which `neardup sketch` writes as well.
 */
#include "index/cmd_index_records.h"

#include <stdlib.h>
#include <string.h>

#include "id_list.h"
#include "index/document_fingerprints.h"
#include "index/fingerprints.h"
#include "report.h"

bool index_is_of_records(const char *index)
{
    return is_sketch_path(index);
}

bool index_becomes_records(const struct settings *s)
{
    struct nd_recipe_simhash simhash;

    return s->hamming.records ||
           (recipe_is_given(s) && nd_recipe_simhash_of(s->recipe, &simhash, NULL) != ND_OK);
}

/* Options of fingerprints have no meaning here. */
static bool fits(const struct settings *s)
{
    const struct hamming_settings *h = &s->hamming;
    const char *name = h->has_bits       ? "bits"
                       : h->has_distance ? "distance"
                       : h->raw          ? "raw"
                       : h->any_digits   ? "any-digits"
                       : h->fingerprints ? "fingerprints"
                       : h->run_memory   ? "memory"
                                         : NULL;

    if (name)
        say("--%s applies to fingerprints, and the index is one of records", name);
    return !name;
}

/* Name the files that the run reads, and one more option.  False: the error was reported. */
static bool set_run(struct settings *s, const char *key, const char *value, const char *const *path,
                    size_t n)
{
    static const struct nd_hamming_recipe none = {.text = NULL};
    struct nd_error err;

    if (!documents_recipe(s, &none, NULL) || !run_reads(s->run, path, n))
        return false;
    if (nd_run_options_set(s->run, key, value, &err) == ND_OK)
        return true;
    say("%s", err.message);
    return false;
}

/* The recipe of the file is that of the run, unless another one is given. */
static bool take_recipe(struct settings *s, const char *index)
{
    struct nd_hamming_recipe known = {.text = NULL};
    struct nd_error err;
    struct nd_sketch_file *file = nd_sketch_file_open(index, &err);
    bool fine = file != NULL;

    if (file) {
        known.text = nd_sketch_file_info(file)->recipe.data;
        known.len = nd_sketch_file_info(file)->recipe.len;
        fine = documents_recipe(s, &known, index);
    } else {
        say("%s", err.message);
    }
    nd_sketch_file_close(file);
    return fine;
}

static int ended(struct settings *s, struct report *report, enum nd_status status,
                 const struct nd_error *err, const struct nd_run_summary *summary)
{
    report_end(report);
    return report_run(s, status, err, summary, true);
}

int records_build(struct settings *s, const char *const *path, size_t n)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_run_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (!fits(s) || !set_run(s, "output", s->hamming.output, path, n))
        return 2;
    status = nd_run_sketch_file(s->run, 1, &events, &summary, &err);
    return ended(s, &report, status, &err, &summary);
}

int records_add(struct settings *s, const char *index, const char *const *path, size_t n)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_run_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (!fits(s) || !take_recipe(s, index) || !run_reads(s->run, path, n))
        return 2;
    if (nd_run_options_set(s->run, "against", index, &err) != ND_OK ||
        nd_run_options_set(s->run, "append", "yes", &err) != ND_OK) {
        say("%s", err.message);
        return 2;
    }
    status = nd_run_index_add(s->run, &events, &summary, &err);
    return ended(s, &report, status, &err, &summary);
}

int records_query(struct settings *s, const char *index, const char *queries)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_run_summary summary;
    struct nd_error err;
    enum nd_status status;
    int ending;

    if (!fits(s) || !take_recipe(s, index) || !run_reads(s->run, &queries, 1))
        return 2;
    if (nd_run_options_set(s->run, "against", index, &err) != ND_OK ||
        (s->hamming.output &&
         nd_run_options_set(s->run, "output", s->hamming.output, &err) != ND_OK)) {
        say("%s", err.message);
        return 2;
    }
    status = nd_run_index_query(s->run, 0, &events, &summary, &err);
    ending = ended(s, &report, status, &err, &summary);
    return ending == 0 && !summary.pairs ? 1 : ending;
}

int records_merge(const struct settings *s, const char *const *path, size_t n)
{
    const struct nd_sketch_merge all = {.paths = path, .n_paths = n, .output = s->hamming.output};
    struct nd_error err;
    uint64_t documents;

    if (!all.output)
        say("index merge needs --output FILE for indexes of records");
    else if (nd_run_sketch_merge(&all, &documents, &err) == ND_OK)
        return 0;
    else
        say("%s", err.message);
    return 2;
}

int records_remove(const char *index, const char *ids)
{
    struct nd_sketch_merge rest = {
        .paths = &index, .n_paths = 1, .output = index, .chooses = 1, .leaves_out = 1};
    struct id_list list = {.id = NULL};
    struct nd_view *view = NULL;
    struct nd_error err;
    uint64_t documents;
    int status = 2;

    if (id_list_read(&list, ids))
        view = calloc(list.n + 1, sizeof *view);
    for (size_t i = 0; view && i < list.n; i++)
        view[i] = (struct nd_view){list.id[i], strlen(list.id[i])};
    rest.ids = view;
    rest.n_ids = list.n;
    if (view && nd_run_sketch_merge(&rest, &documents, &err) == ND_OK)
        status = 0;
    else if (view)
        say("%s", err.message);
    free(view);
    id_list_release(&list);
    return status;
}
