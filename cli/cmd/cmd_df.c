/* cmd_df.c - neardup df: build, merge, look into and calibrate df tables */
#include "file_list.h"
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/df.h>
#include <neardup/result_file.h>

enum { TOP = 20 };

static int failed(const struct nd_error *err)
{
    say("%s", err->message);
    return 2;
}

static bool wants_output(const struct settings *s, const char *what)
{
    const char *name = run_option(s, "output");

    if (name && strcmp(name, "-") != 0)
        return true;
    say("df %s needs --output FILE", what);
    return false;
}

/* Have the run read the command's paths, without the first n. */
static bool take_paths(struct settings *s, size_t n)
{
    if (s->paths.count > n)
        return run_reads(s->run, s->paths.at + n, s->paths.count - n);
    s->paths.count = 0;
    return use_standard_input(s);
}

/* Without --features and --recipe, terms are counted. False: an option of shingles was given. */
static bool check_shingles(const struct settings *s)
{
    const char *given = NULL, *features = s->df_table.build.features;
    bool has_recipe = false;

    for (size_t i = 0; i < s->given.count; i++) {
        const char *name = s->given.at[i];

        if (strcmp(name, "shingle") == 0 || strcmp(name, "characters") == 0)
            given = name;
        has_recipe = has_recipe || strcmp(name, "recipe") == 0;
    }
    if (!given || (features ? strcmp(features, "terms") != 0 : has_recipe))
        return true;
    say("--%s applies to --features sketch, but terms are counted", given);
    return false;
}

static int df_build(struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_run_summary summary;
    struct nd_error err;
    enum nd_status status;
    struct nd_df *df;

    if (!wants_output(s, "build") || !check_shingles(s) || !take_paths(s, 1))
        return 2;
    status = nd_run_df_build(s->run, &s->df_table.build, &events, &summary, &err);
    report_end(&report);
    if (status != ND_OK)
        return report_run(s, status, &err, &summary, true);
    df = nd_df_open(run_option(s, "output"), &err); /* check that what was written can be read */
    if (!df)
        return failed(&err);
    if (!s->quiet)
        fprintf(stderr, "%" PRIu64 " features of %" PRIu64 " documents, version 0x%016" PRIx64 "\n",
                nd_df_terms(df), nd_df_documents(df), nd_df_fingerprint(df));
    nd_df_close(df);
    return report_run(s, ND_OK, &err, &summary, true);
}

/* Add the tables one by one to the builder of the first. */
static enum nd_status merge_tables(const struct settings *s, struct nd_df_builder **sum,
                                   struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 1; i < s->paths.count && status == ND_OK; i++) {
        struct nd_df *df = nd_df_open(s->paths.at[i], err);
        struct nd_df_builder_params params = {.memory_bytes = s->df_table.build.memory_bytes,
                                              .tmp = run_option(s, "tmp"),
                                              .like = df};

        if (!df)
            return err->status;
        params.keep_texts = (unsigned char)nd_df_has_texts(df);
        if (!*sum)
            *sum = nd_df_builder_new(&params, err);
        status = *sum ? nd_df_builder_add_table(*sum, df, err) : err->status;
        if (status == ND_EINVAL) {
            struct nd_error reason = *err;

            nd_fail(err, ND_EINVAL, "%s: %s", s->paths.at[i], reason.message);
        }
        nd_df_close(df);
    }
    if (status == ND_OK)
        status = nd_df_builder_write(sum, 1, run_option(s, "output"), err);
    return status;
}

static int df_merge(struct settings *s)
{
    struct nd_df_builder *sum = NULL;
    struct nd_error err;
    enum nd_status status;

    if (s->paths.count < 2) {
        say("df merge needs tables");
        return 2;
    }
    if (!wants_output(s, "merge") || !file_lists_fit(s, run_option(s, "output")))
        return 2;
    status =
        nd_result_file_check(run_option(s, "output"), s->paths.at + 1, s->paths.count - 1, &err);
    if (status == ND_OK)
        status = merge_tables(s, &sum, &err);
    nd_df_builder_free(sum);
    return status == ND_OK ? 0 : failed(&err);
}

static void print_features(const char *features)
{
    if (!*features)
        puts("features: not known");
    else
        printf("features:\n");
    while (*features) {
        int len = (int)strcspn(features, "\n");

        printf("  %.*s\n", len, features);
        features += len + 1;
    }
}

static int df_info(const char *path)
{
    struct nd_df_cursor cursor = {0, 0};
    uint64_t occurrences = 0, once = 0;
    struct nd_df_term term;
    struct nd_error err;
    struct nd_df *df = nd_df_open(path, &err);

    if (!df)
        return failed(&err);
    while (nd_df_next(df, &cursor, &term)) {
        occurrences += term.count;
        once += term.count == 1;
    }
    printf("documents: %" PRIu64 "\ndistinct features: %" PRIu64 "\nin one document: %" PRIu64
           "\nsum of counts: %" PRIu64 "\ntexts: %s\nversion: 0x%016" PRIx64 "\n",
           nd_df_documents(df), nd_df_terms(df), once, occurrences,
           nd_df_has_texts(df) ? "yes" : "no", nd_df_fingerprint(df));
    print_features(nd_df_features(df));
    nd_df_close(df);
    return close_output();
}

/* Whether a comes before b: by count, ties by hash. */
static bool comes_first(const struct nd_df_term *a, const struct nd_df_term *b, bool rarest)
{
    if (a->count != b->count)
        return rarest ? a->count < b->count : a->count > b->count;
    return a->hash < b->hash;
}

/* A heap of the first n entries, with the last of them on top. */
static void sift_down(struct nd_df_term *heap, size_t n, bool rarest)
{
    for (size_t i = 0;;) {
        size_t last = i;
        struct nd_df_term swap = heap[i];

        for (size_t c = 2 * i + 1; c < 2 * i + 3 && c < n; c++)
            if (comes_first(&heap[last], &heap[c], rarest))
                last = c;
        if (last == i)
            return;
        heap[i] = heap[last];
        heap[last] = swap;
        i = last;
    }
}

static void sift_up(struct nd_df_term *heap, size_t i, bool rarest)
{
    while (i > 0 && comes_first(&heap[(i - 1) / 2], &heap[i], rarest)) {
        struct nd_df_term swap = heap[i];

        heap[i] = heap[(i - 1) / 2];
        heap[(i - 1) / 2] = swap;
        i = (i - 1) / 2;
    }
}

static bool is_shown(const struct df_settings *s, const struct nd_df_term *term)
{
    return term->count >= s->least && (!s->most || term->count <= s->most);
}

static size_t find_top(const struct nd_df *df, struct nd_df_term *heap, size_t most,
                       const struct df_settings *shown)
{
    const bool rarest = shown->rarest;
    struct nd_df_cursor cursor = {0, 0};
    struct nd_df_term term;
    size_t n = 0;

    while (nd_df_next(df, &cursor, &term)) {
        if (!is_shown(shown, &term))
            continue;
        if (n < most) {
            heap[n] = term;
            sift_up(heap, n++, rarest);
        } else if (comes_first(&term, &heap[0], rarest)) {
            heap[0] = term;
            sift_down(heap, n, rarest);
        }
    }
    for (size_t left = n; left > 1; left--) { /* sort: move the last entry to the end */
        struct nd_df_term swap = heap[0];

        heap[0] = heap[left - 1];
        heap[left - 1] = swap;
        sift_down(heap, left - 1, rarest);
    }
    return n;
}

/* Control characters, which could control a terminal, become spaces. */
static void print_text(struct nd_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];

        putchar(c < ' ' || c == 127 ? ' ' : c);
    }
}

static int df_top(const struct settings *s, const char *path)
{
    size_t most = s->df_table.count ? s->df_table.count : TOP, n;
    struct nd_df_term *heap;
    struct nd_error err;
    struct nd_df *df = nd_df_open(path, &err);

    if (!df)
        return failed(&err);
    heap = calloc(most, sizeof *heap);
    if (!heap) {
        nd_df_close(df);
        say("out of memory");
        return 2;
    }
    n = find_top(df, heap, most, &s->df_table);
    for (size_t i = 0; i < n; i++) {
        printf("%" PRIu32 "\t%016" PRIx64, heap[i].count, heap[i].hash);
        if (nd_df_has_texts(df)) {
            putchar('\t');
            print_text(heap[i].text);
        }
        putchar('\n');
    }
    free(heap);
    nd_df_close(df);
    return close_output();
}

static int df_calibrate(struct settings *s)
{
    struct nd_run_df_calibration c = {.features = s->df_table.build.features,
                                      .drop = s->df_table.drop > 0 ? s->df_table.drop : 0.5,
                                      .sample = s->df_table.sample};
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_run_summary summary;
    const char *table = s->paths.at[1];
    struct nd_error err;
    enum nd_status status;

    if (!take_paths(s, 2))
        return 2;
    status = nd_run_df_calibrate(s->run, table, &events, &summary, &c, &err);
    report_end(&report);
    if (status != ND_OK)
        return report_run(s, status, &err, &summary, true);
    printf("# %" PRIu64 " documents, %" PRIu64 " features; below the factor, on the mean of the "
           "documents: %.2f%%\nlow = %.6f\n",
           c.documents, c.n_features, 100 * c.dropped, c.factor);
    return close_output() ? 2 : report_run(s, ND_OK, &err, &summary, true);
}

int cmd_df(struct settings *s)
{
    const char *what = s->paths.count ? s->paths.at[0] : "";
    size_t n = s->paths.count ? s->paths.count - 1 : 0;

    if (strcmp(what, "build") == 0)
        return df_build(s);
    if (strcmp(what, "merge") == 0)
        return df_merge(s);
    if (strcmp(what, "info") == 0 && n == 1)
        return df_info(s->paths.at[1]);
    if (strcmp(what, "top") == 0 && n == 1)
        return df_top(s, s->paths.at[1]);
    if (strcmp(what, "calibrate") == 0 && n >= 1)
        return df_calibrate(s);
    say("usage: df build FILE…, merge TABLE…, info TABLE, top TABLE, or calibrate TABLE FILE…; see "
        "neardup help df");
    return 2;
}
