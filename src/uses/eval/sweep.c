/* sweep.c - a corpus run with many settings of a recipe, each measured against the truth */

/*
 * Settings that make the same sketches of documents are a group: the documents are sketched once,
 * into a file, from which each setting is decided. Settings that are alone, and those that need more
 * of a document than its record, read the documents themselves. A result goes through a file in tmp,
 * in the form in which a user would give it to eval, so a row is that of the three commands.
 */
#include <neardup/sweep.h>

#include "base/file/temporary.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "base/system/naming.h"
#include "base/system/process.h"
#include "recipe/recipe_struct.h"
#include "uses/eval/evaluation.h"
#include "uses/eval/grid.h"
#include "uses/eval/score_cells.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

/* A setting, and what its result is worth. */
struct tried {
    struct nd_recipe *recipe;
    size_t group; /* the first setting with the same sketches */
    struct nd_scores scores;
    struct nd_rated rated[ND_RATES];
    enum nd_no_interval why;
    struct nd_relation form; /* of the result, without its pairs */
    double seconds, sketch_seconds;
};

struct sweeping {
    const struct nd_run_options *options;
    const struct nd_sweep_params *params;
    const struct nd_run_events *events;
    struct nd_evaluation against;
    struct nd_grid grid;
    struct tried *setting; /* one for each combination of the grid */
    struct nd_use rows;
    bool has_told; /* the warnings of this group */
};

/* ---- The recipes ----------------------------------------------------------------------------- */

/* Whether the name is that of a file, and not of a shipped recipe. */
static bool is_file(const char *name)
{
    return !nd_recipe_text(name, NULL) && (strpbrk(name, "/.") || nd_path_exists(name));
}

/* The recipe that a combination starts from. */
static enum nd_status start_recipe(const struct sweeping *s, size_t combination,
                                   struct nd_recipe **recipe, struct nd_error *err)
{
    const char *name = NULL;

    for (size_t i = 0; i < s->grid.n_keys; i++)
        if (strcmp(s->grid.key[i].name, "recipe") == 0)
            name = nd_grid_value(&s->grid, combination, i);
    *recipe = name ? nd_recipe_new(err) : nd_recipe_copy(s->options->recipe, err);
    if (!*recipe)
        return ND_ENOMEM;
    if (!name)
        return ND_OK;
    return is_file(name) ? nd_recipe_load(*recipe, name, err)
                         : nd_recipe_by_name(*recipe, name, err);
}

static bool needs_df(const struct nd_recipe *recipe)
{
    bool needs = false;

    for (size_t i = 0; i < nd_recipe_signatures(recipe); i++)
        needs = needs || nd_recipe_needs_df(recipe, i);
    return needs;
}

static enum nd_status assign(struct nd_recipe *recipe, const char *key, const char *value,
                             struct nd_error *err)
{
    char *text = NULL;
    enum nd_status status;

    if (nd_print_new(&text, "%s=%s", key, value) < 0)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = nd_recipe_set(recipe, text, err);
    free(text);
    return status;
}

static enum nd_status make_recipe(struct sweeping *s, size_t combination, struct nd_error *err)
{
    struct nd_recipe **recipe = &s->setting[combination].recipe;
    enum nd_status status = start_recipe(s, combination, recipe, err);

    for (size_t i = 0; status == ND_OK && i < s->grid.n_keys; i++)
        if (strcmp(s->grid.key[i].name, "recipe") != 0)
            status =
                assign(*recipe, s->grid.key[i].name, nd_grid_value(&s->grid, combination, i), err);
    if (status == ND_OK && s->params->df && needs_df(*recipe))
        status = nd_recipe_set_df(*recipe, s->params->df, err);
    return status == ND_OK ? nd_recipe_check(*recipe, err) : status;
}

/* Say which setting failed. */
static enum nd_status name_setting(const struct sweeping *s, size_t i, enum nd_status status,
                                   struct nd_error *err)
{
    const struct nd_error own = *err;
    char *name;

    if (status == ND_OK || status == ND_ECANCELLED || !(name = nd_grid_name(&s->grid, i)))
        return status;
    nd_fail(err, status, "%.200s: %.700s", name, own.message);
    free(name);
    return status;
}

/* Whether two recipes read the same tables. Their paths are no part of what makes a sketch. */
static bool have_same_tables(const struct nd_recipe *a, const struct nd_recipe *b)
{
    static const char *const names[] = {"df", "template_df"};
    bool same = true;

    for (size_t i = 0; same && i < 2 * nd_recipe_signatures(a); i++) {
        char key[ND_RECIPE_NAME_MAX + sizeof ".template_df"], *of_a = NULL, *of_b = NULL;

        snprintf(key, sizeof key, "%s.%s", nd_recipe_signature_name(a, i / 2), names[i % 2]);
        same = nd_recipe_get(a, key, &of_a, NULL) == ND_OK &&
               nd_recipe_get(b, key, &of_b, NULL) == ND_OK && strcmp(of_a, of_b) == 0;
        free(of_a);
        free(of_b);
    }
    return same;
}

static bool have_same_sketches(const struct nd_recipe *a, const struct nd_recipe *b)
{
    const struct nd_sketch_kept of_a = nd_sketch_kept_of(a), of_b = nd_sketch_kept_of(b);
    char *key = NULL;
    bool same = of_a.minima == of_b.minima && of_a.shingles == of_b.shingles &&
                nd_recipe_difference(a, b, 1, &key, NULL) == ND_OK && !key;

    free(key);
    return same && have_same_tables(a, b);
}

static enum nd_status make_recipes(struct sweeping *s, struct nd_error *err)
{
    bool is_used = !s->params->df;
    enum nd_status status = ND_OK;

    s->setting = calloc(s->grid.n, sizeof *s->setting);
    if (!s->setting)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; status == ND_OK && i < s->grid.n; i++) {
        struct tried *c = &s->setting[i];

        status = name_setting(s, i, make_recipe(s, i, err), err);
        if (status != ND_OK)
            return status;
        is_used = is_used || needs_df(c->recipe);
        while (c->group < i && (s->setting[c->group].group != c->group ||
                                !have_same_sketches(s->setting[c->group].recipe, c->recipe)))
            c->group++;
    }
    return is_used ? ND_OK
                   : nd_fail(err, ND_EINVAL, "%s: no recipe needs a df table", s->params->df);
}

/* ---- A setting ------------------------------------------------------------------------------- */

/* A file in tmp that nobody else has. */
static enum nd_status make_file(const struct sweeping *s, char path[PATH_BYTES],
                                struct nd_error *err)
{
    uint64_t random;
    int fd = -1, len;

    do {
        errno = EIO;
        len = nd_random_bytes(&random, sizeof random)
                  ? snprintf(path, PATH_BYTES, "%s/neardup-sweep-%016" PRIx64, s->options->tmp,
                             random)
                  : -1;
        if (len > 0 && len < PATH_BYTES)
            fd = nd_descriptor_open(path, ND_OPEN_BOTH | ND_OPEN_NEW | ND_OPEN_OWN);
    } while (fd < 0 && len > 0 && errno == EEXIST);
    if (fd < 0) {
        *path = '\0';
        return nd_fail(err, ND_EIO, "%s: cannot create a file: %s", s->options->tmp,
                       strerror(errno));
    }
    (void)nd_descriptor_close(fd);
    return ND_OK;
}

static void remove_file(char path[PATH_BYTES])
{
    if (*path)
        (void)nd_path_remove(path);
    *path = '\0';
}

/* The options of a run that reads `sketches`, or where that is NULL the documents. */
static struct nd_run_options run_options(const struct sweeping *s, const char *const *sketches,
                                         const struct nd_recipe *recipe)
{
    struct nd_run_options own = *s->options; /* which is never freed */

    own.recipe = recipe;
    own.output_level = 0;
    own.manifest = own.clusters = own.summary = NULL;
    if (sketches) {
        own.paths = sketches;
        own.n_paths = 1;
    }
    return own;
}

/* Tell of bad records when the ids are read, and of what recipes miss once for a group. */
static struct nd_run_events run_events(struct sweeping *s)
{
    struct nd_run_events events = {.context = NULL};

    if (s->events)
        events = *s->events;
    events.bad_record = NULL;
    if (s->has_told)
        events.problem = NULL;
    s->has_told = true;
    return events;
}

static enum nd_status run_setting(struct sweeping *s, const struct tried *c,
                                  const char *const *sketches, const char *result,
                                  struct nd_error *err)
{
    static const struct nd_pairs_params as_tsv = {.json = 0};
    struct nd_run_options own = run_options(s, sketches, c->recipe);
    const struct nd_run_events events = run_events(s);
    struct nd_run_summary summary;
    char kept[PATH_BYTES] = ""; /* the survivors, which of sketches are a sketch file */
    enum nd_status status = ND_OK;

    own.output = result;
    if (!s->params->removes)
        return nd_run_pairs(&own, &as_tsv, &events, &summary, err);
    own.manifest = result;
    own.output = sketches ? kept : "/dev/null";
    if (sketches)
        status = make_file(s, kept, err);
    if (status == ND_OK)
        status = nd_run_dedup(&own, &events, &summary, err);
    remove_file(kept);
    return status;
}

/* Hold a result against the truth. */
static enum nd_status measure(struct sweeping *s, struct tried *c, const char *path,
                              struct nd_error *err)
{
    const struct nd_eval_params *p = &s->params->eval;
    const struct nd_relation_request request = {.form = s->params->removes ? ND_EVAL_MANIFEST
                                                                           : ND_EVAL_PAIRS,
                                                .refuses_strangers = true,
                                                .closes = p->closes != 0};
    struct nd_relation result = {.n_pairs = 0};
    enum nd_status status = nd_relation_read(&result, path, &request, &s->against.ids, err);

    if (status == ND_OK)
        status = nd_scores_count(&c->scores, &s->against.truth, &result, s->against.ids.n_known,
                                 s->against.all, NULL, err);
    if (status == ND_OK)
        status = nd_resample(&c->scores, p->resamplings, p->seed, c->rated, &c->why, err);
    free(c->scores.component);
    c->scores.component = NULL;
    c->form.form = result.form;
    c->form.has_sets = result.has_sets;
    nd_relation_release(&result);
    return status;
}

static enum nd_status try_setting(struct sweeping *s, size_t i, const char *const *sketches,
                                  struct nd_error *err)
{
    struct tried *c = &s->setting[i];
    const double started = nd_processor_clock();
    char path[PATH_BYTES];
    enum nd_status status = make_file(s, path, err);

    if (status == ND_OK)
        status = run_setting(s, c, sketches, path, err);
    c->seconds = nd_processor_clock() - started;
    if (status == ND_OK)
        status = measure(s, c, path, err);
    remove_file(path);
    return name_setting(s, i, status, err);
}

/* ---- A group --------------------------------------------------------------------------------- */

/* Whether a run needs more of a document than records keep. */
static bool needs_documents(const struct sweeping *s, const struct tried *c)
{
    const struct nd_run_options *o = s->options;

    return o->within || o->security_field || o->n_never || o->prefer_field || o->df_auto ||
           (s->params->removes && strcmp(c->recipe->keep, "first") != 0);
}

/* Sketch all documents into a file that goes when the process is stopped. NULL: failed. */
static struct nd_temporary *sketch_all(struct sweeping *s, struct tried *first,
                                       struct nd_error *err)
{
    char path[PATH_BYTES], target[PATH_BYTES + 8];
    struct nd_run_options own = run_options(s, NULL, first->recipe);
    const struct nd_run_events events = run_events(s);
    struct nd_run_summary summary;
    struct nd_temporary *file = NULL;
    const double started = nd_processor_clock();
    enum nd_status status = make_file(s, path, err);

    own.output = path;
    if (status == ND_OK)
        status = nd_run_sketch_file(&own, 1, &events, &summary, err);
    if (status == ND_OK) {
        snprintf(target, sizeof target, "%s.sketch", path);
        file = nd_temporary_create_link(target, path, err);
    }
    if (file && nd_temporary_publish_for_now(file, err) != ND_OK)
        file = NULL;
    first->sketch_seconds = nd_processor_clock() - started;
    remove_file(path);
    return file;
}

static enum nd_status try_group(struct sweeping *s, size_t group, struct nd_error *err)
{
    struct tried *first = &s->setting[group];
    struct nd_temporary *file = NULL;
    const char *path = NULL;
    enum nd_status status = ND_OK;
    size_t n = 0;

    for (size_t i = group; i < s->grid.n; i++)
        n += s->setting[i].group == group;
    s->has_told = false;
    if (n > 1 && !needs_documents(s, first)) {
        file = sketch_all(s, first, err);
        if (!file)
            return name_setting(s, group, err->status, err);
        path = nd_temporary_target(file);
    }
    for (size_t i = group; status == ND_OK && i < s->grid.n; i++)
        if (s->setting[i].group == group) {
            s->setting[i].sketch_seconds = first->sketch_seconds;
            status = try_setting(s, i, file ? &path : NULL, err);
        }
    nd_temporary_discard(file);
    return status;
}

/* ---- The rows -------------------------------------------------------------------------------- */

static enum nd_status list_rows(const struct sweeping *s, struct nd_sweep *sweep,
                                struct nd_error *err)
{
    sweep->row = calloc(s->grid.n, sizeof *sweep->row);
    if (!sweep->row)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    sweep->n = s->grid.n;
    for (size_t i = 0; i < sweep->n; i++) {
        const struct nd_rated *rated = s->setting[i].rated;
        const bool knows =
            s->setting[i].scores.has_negatives && s->against.truth.form != ND_EVAL_CLASSES;

        sweep->row[i] = (struct nd_sweep_row){
            .setting = nd_grid_name(&s->grid, i),
            .precision = knows ? rated[ND_RATE_PRECISION].value : NAN,
            .recall = rated[ND_RATE_RECALL].value,
            .f1 = knows ? rated[ND_RATE_F1].value : NAN,
        };
        if (!sweep->row[i].setting)
            return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    return ND_OK;
}

/* Mark the rows that no other one is better than in one of two ways, and as good in the other. */
static void mark_best(struct nd_sweep *sweep)
{
    for (size_t i = 0; i < sweep->n; i++) {
        struct nd_sweep_row *a = &sweep->row[i];

        a->is_best = !isnan(a->precision) && !isnan(a->recall);
        for (size_t j = 0; a->is_best && j < sweep->n; j++) {
            const struct nd_sweep_row *b = &sweep->row[j];

            a->is_best = !(b->precision >= a->precision && b->recall >= a->recall &&
                           (b->precision > a->precision || b->recall > a->recall));
        }
    }
}

static enum nd_status put_row(struct sweeping *s, size_t i, const struct nd_sweep_row *row,
                              FILE *stream, struct nd_error *err)
{
    static const struct nd_runs_lost unknown = {.is_known = false};
    const struct tried *c = &s->setting[i];
    struct nd_use *rows = &s->rows;

    for (size_t k = 0; k < s->grid.n_keys; k++) {
        const char *value = nd_grid_value(&s->grid, i, k);

        nd_cell_text(rows, s->grid.key[k].name, (struct nd_view){value, strlen(value)});
    }
    nd_cell_count(rows, "best", row->is_best ? 1 : 0,
                  !isnan(row->precision) && !isnan(row->recall));
    if (s->params->times) {
        nd_cell_figure(rows, "seconds", c->seconds);
        nd_cell_figure(rows, "sketch_seconds", c->sketch_seconds);
    }
    nd_cell_form(rows, &c->form);
    if (s->against.truth.form == ND_EVAL_CLASSES)
        nd_cells_of_classes(rows, &c->scores);
    else
        nd_cells_of_pairs(rows, &c->scores, &unknown, c->rated, c->why);
    return nd_row_put(rows, stream, err);
}

static enum nd_status put_rows(struct sweeping *s, struct nd_sweep *sweep, FILE *stream,
                               struct nd_error *err)
{
    enum nd_status status = list_rows(s, sweep, err);

    if (status == ND_OK)
        mark_best(sweep);
    for (size_t i = 0; status == ND_OK && i < sweep->n; i++)
        status = put_row(s, i, &sweep->row[i], stream, err);
    return status == ND_OK && ferror(stream) ? nd_fail(err, ND_EIO, "cannot write") : status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static enum nd_status check(const struct nd_run_options *options, const struct nd_sweep_params *p,
                            struct nd_error *err)
{
    if (!p->eval.truth)
        return nd_fail(err, ND_EINVAL, "no truth: name a file of labelled pairs or of clusters");
    if (!options->n_paths)
        return nd_fail(err, ND_EINVAL, "no documents: name files or folders");
    for (size_t i = 0; i < options->n_paths; i++)
        if (strcmp(options->paths[i], "-") == 0)
            return nd_fail(err, ND_EINVAL,
                           "documents are read more than once, and cannot be the standard input");
    if (p->eval.has_at && p->eval.n_positive)
        return nd_fail(err, ND_EINVAL, "labels are scores or grades: give --at or --positive");
    return ND_OK;
}

static void release(struct sweeping *s)
{
    for (size_t i = 0; s->setting && i < s->grid.n; i++) {
        nd_recipe_free(s->setting[i].recipe);
        nd_scores_release(&s->setting[i].scores);
    }
    free(s->setting);
    nd_grid_release(&s->grid);
    nd_evaluation_release(&s->against);
    nd_json_release(&s->rows.row);
    nd_json_release(&s->rows.head);
}

enum nd_status nd_run_sweep(const struct nd_run_options *options,
                            const struct nd_sweep_params *params,
                            const struct nd_run_events *events, FILE *stream,
                            struct nd_sweep *sweep, struct nd_error *err)
{
    struct sweeping s = {.options = options,
                         .params = params,
                         .events = events,
                         .rows = {.is_json = params->eval.json != 0}};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    *sweep = (struct nd_sweep){.n = 0};
    status = check(options, params, err);
    if (status == ND_OK)
        status = nd_grid_read(&s.grid, params->sets, params->n_sets, err);
    if (status == ND_OK)
        status = make_recipes(&s, err);
    if (status == ND_OK)
        status = nd_evaluation_read(&s.against, options, &params->eval, events, err);
    for (size_t i = 0; status == ND_OK && i < s.grid.n; i++)
        if (s.setting[i].group == i)
            status = try_group(&s, i, err);
    if (status == ND_OK)
        status = put_rows(&s, sweep, stream, err);
    if (status != ND_OK)
        nd_sweep_release(sweep);
    release(&s);
    return nd_run_status(status, err);
}

void nd_sweep_release(struct nd_sweep *sweep)
{
    for (size_t i = 0; i < sweep->n; i++)
        free(sweep->row[i].setting);
    free(sweep->row);
    *sweep = (struct nd_sweep){.n = 0};
}
