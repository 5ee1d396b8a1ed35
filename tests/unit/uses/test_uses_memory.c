/* test_uses_memory.c - every allocation of a use fails once: an error with its reason and no
 * output, or the same output */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <neardup/eval.h>
#include <neardup/explain.h>
#include <neardup/judging.h>
#include <neardup/plan.h>
#include <neardup/run_df.h>
#include <neardup/uses.h>

#include "failing_malloc.h"
#include "reading/run_options.h"
#include "recipe/recipe_struct.h"

static char folder[] = "/tmp/neardup-test-XXXXXX";

static int make_corpus(void **state)
{
    static const char *const paths[] = {"in.jsonl"};
    struct nd_run_options options = nd_run_options_default();
    struct nd_recipe recipe = nd_recipe_default();
    struct nd_run_summary summary;
    FILE *file;

    (void)state;
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return -1;
    file = fopen("in.jsonl", "w");
    if (!file)
        return -1;
    for (unsigned i = 0; i < 8; i++)
        fprintf(file,
                "{\"id\":%u,\"url\":\"http://h%u.org/p%u\",\"at\":%u,\"text\":\"one two three four "
                "five six seven eight %u\"}\n",
                i, i % 2, i / 2, i, i / 2);
    fputs("{broken\n", file);
    if (fclose(file) != 0)
        return -1;
    for (char name[] = "a.html"; name[0] <= 'b'; name[0]++) {
        file = fopen(name, "w");
        if (!file ||
            fputs("<base href='./'>to <a href=a.html>a</a> <a href=b.html>b</a>", file) < 0 ||
            fclose(file) != 0)
            return -1;
    }
    options.paths = paths;
    options.n_paths = 1;
    options.output = "/dev/null";
    options.manifest = "rows.jsonl";
    recipe.dedup.threshold = (struct nd_ratio){1, 10};
    options.recipe = &recipe;
    if (nd_run_dedup(&options, NULL, &summary, NULL) != ND_OK)
        return -1;
    file = fopen("clusters.tsv", "w");
    if (!file)
        return -1;
    for (unsigned i = 0; i < 8; i++)
        fprintf(file, "%u\t0\n", i);
    return fclose(file);
}

static int remove_corpus(void **state)
{
    (void)state;
    (void)!unlink("in.jsonl");
    (void)!unlink("clusters.tsv");
    (void)!unlink("rows.jsonl");
    (void)!unlink("a.html");
    (void)!unlink("b.html");
    if (chdir("/") != 0)
        return -1;
    return rmdir(folder);
}

#if !HAS_OWN_MALLOC

static enum nd_status take_recipe(struct nd_run_options *options, const char *name,
                                  struct nd_error *err)
{
    static struct nd_recipe recipe;

    recipe = nd_recipe_default();
    options->recipe = &recipe;
    return nd_recipe_by_name(&recipe, name, err);
}

static int count_files(void)
{
    DIR *dir = opendir(".");
    int n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static enum nd_status compare(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_compare_params params = nd_compare_params_default();
    struct nd_comparison c;
    char *text;
    size_t len;
    enum nd_status status;

    params.parts = 15;
    status = nd_run_compare(options, &params, "1", "2", NULL, &c, err);
    if (status != ND_OK)
        return status;
    status = nd_comparison_json(&c, &text, &len, err);
    if (status == ND_OK)
        free(text);
    nd_comparison_release(&c);
    return status;
}

/* Features are one thing more that can fail. */
static enum nd_status compare_weights(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_run_options own = *options;
    struct nd_compare_params params = nd_compare_params_default();
    struct nd_comparison c;
    enum nd_status status = take_recipe(&own, "manku-2007", err);

    params.parts = ND_COMPARE_WEIGHTS;
    if (status == ND_OK)
        status = nd_run_compare(&own, &params, "1", "2", NULL, &c, err);
    if (status == ND_OK)
        nd_comparison_release(&c);
    return status;
}

static enum nd_status explain(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_explanation e;
    char *text;
    size_t len;
    enum nd_status status = nd_run_explain(options, "1", "in.jsonl:3", NULL, &e, err);

    if (status != ND_OK)
        return status;
    status = nd_explanation_json(&e, &text, &len, err);
    if (status == ND_OK)
        free(text);
    nd_explanation_release(&e);
    return status;
}

static enum nd_status explain_signed(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_run_options own = *options;
    enum nd_status status = take_recipe(&own, "manku-2007", err);

    return status == ND_OK ? explain(&own, err) : status;
}

static int take_row(void *context, const struct nd_explained_row *row)
{
    struct nd_error *err = context;
    char *text;
    size_t len;

    if (nd_explained_row_json(row, &text, &len, err) != ND_OK)
        return 1;
    free(text);
    return 0;
}

static enum nd_status explain_rows(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_error reason = {.status = ND_OK};
    const struct nd_explain_rows_params params = {
        .manifest = "rows.jsonl", .lowest = 2, .each = take_row, .context = &reason};
    struct nd_run_options own = *options;
    struct nd_use_summary summary;
    enum nd_status status;

    own.n_paths = 0;
    status = nd_run_explain_rows(&own, &params, NULL, &summary, err);
    if (status == ND_ECANCELLED && err) {
        *err = reason;
        status = reason.status;
    }
    return status == ND_OK && summary.found != 2 ? ND_EINPUT : status;
}

static enum nd_status features(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_run_options own = *options;
    struct nd_document_features d;
    static struct nd_hash_histogram histogram;
    char *text;
    size_t len;
    enum nd_status status = take_recipe(&own, "manku-2007", err);

    if (status == ND_OK)
        status = nd_run_features(&own, "1", NULL, &d, err);
    if (status != ND_OK)
        return status;
    status = nd_document_features_json(&d, 1, 0, &text, &len, err);
    if (status == ND_OK)
        free(text);
    if (status == ND_OK)
        status = nd_hash_histogram_of(&d.signature[0], 16, &histogram, err);
    nd_document_features_release(&d);
    return status;
}

static enum nd_status histogram(const struct nd_run_options *options, struct nd_error *err)
{
    static struct nd_hash_histogram h[ND_RECIPE_SIGNATURES];
    struct nd_run_options own = *options;
    struct nd_run_summary summary;
    unsigned n;
    char *text;
    size_t len;
    enum nd_status status = take_recipe(&own, "henzinger-2006-combined", err);

    if (status == ND_OK)
        status = nd_run_hash_histograms(&own, 16, NULL, h, &n, &summary, err);
    if (status == ND_OK)
        status = nd_hash_histograms_json(h, n, &text, &len, err);
    if (status == ND_OK)
        free(text);
    return status;
}

static enum nd_status track(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_track_params params = nd_track_params_default();
    struct nd_use_summary summary;

    params.series = "url";
    params.time = "at";
    return nd_run_track(options, &params, NULL, &summary, err);
}

static enum nd_status collapse(const struct nd_run_options *options, struct nd_error *err)
{
    const struct nd_collapse_params params = {.order = "rank", .expand = "longest"};
    struct nd_use_summary summary;

    return nd_run_collapse(options, &params, NULL, &summary, err);
}

static enum nd_status collapse_records(const struct nd_run_options *options, struct nd_error *err)
{
    const struct nd_collapse_params params = {.order = NULL};
    struct nd_use_summary summary;

    return nd_run_collapse(options, &params, NULL, &summary, err);
}

static enum nd_status filter(const struct nd_run_options *options, struct nd_error *err)
{
    const struct nd_filter_params params = {.prototypes = options->paths, .n_prototypes = 1};
    struct nd_run_summary summary;

    return nd_run_filter(options, &params, NULL, &summary, err);
}

static enum nd_status apply_clusters(const struct nd_run_options *options, struct nd_error *err)
{
    const struct nd_apply_params params = {.decisions = "clusters.tsv", .partial = 1};
    struct nd_run_summary summary;

    return nd_run_apply(options, &params, NULL, &summary, err);
}

static enum nd_status apply_manifest(const struct nd_run_options *options, struct nd_error *err)
{
    const struct nd_apply_params params = {.decisions = "rows.jsonl"};
    struct nd_run_summary summary;

    return nd_run_apply(options, &params, NULL, &summary, err);
}

static enum nd_status report(const struct nd_run_options *options, struct nd_error *err)
{
    const struct nd_report_params params = {.manifest = "rows.jsonl"};
    struct nd_use_summary summary;

    return nd_run_report(options, &params, NULL, &summary, err);
}

static enum nd_status annotate(const struct nd_run_options *options, struct nd_error *err)
{
    const struct nd_filter_params params = {
        .prototypes = options->paths, .n_prototypes = 1, .output = ND_FILTER_ANNOTATE};
    struct nd_run_summary summary;

    return nd_run_filter(options, &params, NULL, &summary, err);
}

/* A manifest and clusters against clusters, and the ids of the documents. */
static enum nd_status evaluate(const struct nd_run_options *options, struct nd_error *err)
{
    static const char *const results[] = {"rows.jsonl", "clusters.tsv"};
    struct nd_eval_params params = nd_eval_params_default();
    FILE *out = fopen("table", "w");
    enum nd_status status;

    if (!out)
        return nd_fail(err, ND_ENOMEM, "out of memory for a stream");
    params.truth = "clusters.tsv";
    params.results = results;
    params.n_results = 2;
    params.counts_lost = 1;
    status = nd_run_eval(options, &params, NULL, out, err);
    if (fclose(out) == 0 && status == ND_OK)
        return rename("table", options->output) == 0 ? ND_OK : ND_EIO;
    (void)!unlink("table");
    return status;
}

/* Rows and a page of a manifest's pairs, and the figures of the rows, which nobody judged. */
static enum nd_status sample(const struct nd_run_options *options, struct nd_error *err)
{
    static const char *const files[] = {"table", "table"};
    struct nd_sample_params params = nd_sample_params_default();
    struct nd_judged_params judged = nd_judged_params_default();
    FILE *rows = fopen("table", "w"), *page = rows ? fopen("page", "w") : NULL;
    enum nd_status status = ND_ENOMEM;

    params.pairs = "rows.jsonl";
    params.strata = "resemblance:0.1";
    judged.files = files;
    judged.n_files = 2;
    if (page)
        status = nd_run_sample(options, &params, NULL, rows, page, NULL, err);
    else
        (void)nd_fail(err, ND_ENOMEM, "out of memory for a stream");
    if (rows && fclose(rows) != 0)
        status = ND_EIO;
    if (page && status == ND_OK)
        status = nd_run_judged(&judged, page, err);
    if (page && fclose(page) == 0 && status == ND_OK)
        return rename("page", options->output) == 0 ? ND_OK : ND_EIO;
    (void)!unlink("page");
    return status;
}

static enum nd_status audit(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_audit_params params = nd_audit_params_default();
    struct nd_use_summary summary;

    params.removed = "rows.jsonl";
    return nd_run_audit(options, &params, NULL, &summary, err);
}

static enum nd_status repeats(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_repeats_params params = nd_repeats_params_default();
    struct nd_repeats_summary counts;
    struct nd_use_summary summary;

    params.cut = ND_REPEATS_SENTENCES;
    return nd_run_repeats(options, &params, NULL, &counts, &summary, err);
}

static enum nd_status sources(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_sources_params params = nd_sources_params_default();
    struct nd_use_summary summary;

    params.text = "a.html";
    params.least = 2;
    return nd_run_sources(options, &params, NULL, &summary, err);
}

static enum nd_status sources_of_several(const struct nd_run_options *options, struct nd_error *err)
{
    static const char *const texts[] = {"a.html"};
    struct nd_sources_params params = nd_sources_params_default();
    struct nd_use_summary summary;

    params.texts = texts;
    params.n_texts = 1;
    params.least = 2;
    return nd_run_sources(options, &params, NULL, &summary, err);
}

static enum nd_status perturb(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_perturb_params params = nd_perturb_params_default();
    struct nd_use_summary summary;

    params.insert.words = params.remove.words = params.swap.words = params.replace.words = 1;
    return nd_run_perturb(options, &params, NULL, &summary, err);
}

static enum nd_status mirrors(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_mirrors_params params = nd_mirrors_params_default();
    struct nd_use_summary summary;

    return nd_run_mirrors(options, &params, NULL, &summary, err);
}

static enum nd_status plan(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_plan_params params = nd_plan_params_default();
    struct nd_run_options own = *options;
    struct nd_plan plan;
    enum nd_status status;

    params.sample_bytes = 1 << 12;
    own.output = "/dev/null"; /* it has times, so that no two are the same */
    status = nd_run_plan(&own, &params, NULL, &plan, err);
    if (status == ND_OK)
        (void)close(open(options->output, O_CREAT | O_WRONLY, 0600));
    return status;
}

static enum nd_status anchors(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_anchors_params params = nd_anchors_params_default();
    const char *const pages[] = {"in.jsonl", "a.html", "b.html"};
    struct nd_run_options own = *options;
    struct nd_use_summary summary;

    own.paths = pages;
    own.n_paths = 3;
    return nd_run_anchors(&own, &params, NULL, &summary, err);
}

static enum nd_status template_words(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_template_params params = nd_template_params_default();
    struct nd_use_summary summary;

    params.clusters = "clusters.tsv";
    params.cluster = "3";
    return nd_run_template(options, &params, NULL, &summary, err);
}

static enum nd_status pairs(const struct nd_run_options *options, struct nd_error *err)
{
    const struct nd_pairs_params params = {.columns =
                                               ND_PAIR_TERMS | ND_PAIR_LENGTHS | ND_PAIR_EDIT};
    struct nd_run_summary summary;

    return nd_run_pairs(options, &params, NULL, &summary, err);
}

/* There is room for two documents in a load. */
static enum nd_status bounded_pairs(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_run_options own = *options;
    struct nd_run_summary summary;

    own.memory = 2000;
    return nd_run_pairs(&own, &(struct nd_pairs_params){0}, NULL, &summary, err);
}

static enum nd_status signed_pairs(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_run_options own = *options;
    struct nd_run_summary summary;
    enum nd_status status = take_recipe(&own, "broder-1997", err);

    return status ? status : nd_run_pairs(&own, &(struct nd_pairs_params){0}, NULL, &summary, err);
}

static enum nd_status sketch(const struct nd_run_options *options, struct nd_error *err)
{
    struct nd_run_summary summary;

    return nd_run_sketch(options, NULL, &summary, err);
}

/* A table is not compressed, whatever its name is. */
static enum nd_status df_build(const struct nd_run_options *options, struct nd_error *err)
{
    const struct nd_run_df_options df = {.keep_texts = 1};
    struct nd_run_summary summary;

    return nd_run_df_build(options, &df, NULL, &summary, err);
}

struct use {
    const char *name;
    enum nd_status (*run)(const struct nd_run_options *options, struct nd_error *err);
};

static bool is_same_file(const char *a, const char *b)
{
    static char at[2][1 << 20];
    const char *const name[2] = {a, b};
    size_t n[2] = {0, 0};

    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(name[i], "rb");

        if (!file)
            continue; /* of what prints nothing */
        n[i] = fread(at[i], 1, sizeof at[i], file);
        fclose(file);
    }
    return n[0] == n[1] && n[0] < sizeof at[0] && memcmp(at[0], at[1], n[0]) == 0;
}

/* In a process of its own.  0: as it should be; 1: not; 2: there was no n-th allocation. */
static int run_with_failure(const struct use *use, const struct nd_run_options *options, long n)
{
    struct nd_error err;
    int before = count_files();
    enum nd_status status;
    long left;

    atomic_store(&until_failure, n);
    status = use->run(options, &err);
    left = atomic_exchange(&until_failure, 0);
    if (status == ND_OK) {
        bool is_same = is_same_file(options->output, "expected");

        unlink(options->output);
        if (!is_same)
            fprintf(stderr, "%s: ND_OK, and another output\n", use->name);
        return !is_same ? 1 : left > 0 ? 2 : 0; /* what can be done without may be done without */
    }
    if (left <= 0 && err.message[0] && err.status == status && count_files() == before &&
        !strstr(err.message, "without a reason"))
        return 0;
    fprintf(stderr, "%s: %s, %ld left, %d files, '%s' of %s\n", use->name, nd_status_name(status),
            left, count_files() - before, err.message, nd_status_name(err.status));
    return 1;
}

static void fail_each(const struct use *use, unsigned threads)
{
    static const char *const paths[] = {"in.jsonl"};
    struct nd_run_options options = nd_run_options_default();
    const struct nd_recipe recipe = nd_recipe_default();
    int result = 0;

    options.paths = paths;
    options.n_paths = 1;
    options.output = "out.gz";
    options.recipe = &recipe;
    options.threads = threads;
    assert_int_equal(use->run(&options, NULL), ND_OK);
    (void)!rename(options.output, "expected");
    for (long n = 1; result == 0; n++) {
        pid_t child = fork();
        int status;

        assert_true(child >= 0);
        if (child == 0)
            _exit(run_with_failure(use, &options, n));
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) == 1)
            fail_msg("%s: allocation %ld: %s %d", use->name, n,
                     WIFEXITED(status) ? "wrong result" : "signal",
                     WIFEXITED(status) ? 1 : WTERMSIG(status));
        result = WEXITSTATUS(status);
        assert_true(n < 1000000);
    }
    (void)!unlink("expected");
}
#endif

static void each_use_fails_cleanly(void **state)
{
    (void)state;
#if HAS_OWN_MALLOC
    skip();
#else
    static const struct use use[] = {
        {"compare", compare},
        {"compare weights", compare_weights},
        {"explain", explain},
        {"explain signed", explain_signed},
        {"explain rows", explain_rows},
        {"features", features},
        {"histogram", histogram},
        {"track", track},
        {"collapse", collapse},
        {"collapse records", collapse_records},
        {"filter", filter},
        {"annotate", annotate},
        {"apply clusters", apply_clusters},
        {"apply manifest", apply_manifest},
        {"eval", evaluate},
        {"audit", audit},
        {"report", report},
        {"perturb", perturb},
        {"repeats", repeats},
        {"sources", sources},
        {"sources of several", sources_of_several},
        {"sample", sample},
        {"mirrors", mirrors},
        {"plan", plan},
        {"template", template_words},
        {"anchors", anchors},
        {"pairs", pairs},
        {"bounded pairs", bounded_pairs},
        {"signed pairs", signed_pairs},
        {"sketch", sketch},
        {"df build", df_build},
    };

    for (size_t i = 0; i < sizeof use / sizeof *use; i++)
        fail_each(&use[i], 2);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_use_fails_cleanly)};

    return cmocka_run_group_tests(tests, make_corpus, remove_corpus);
}
