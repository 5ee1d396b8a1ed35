/* test_run.c - a run from another program: events, stopping, several runs in one process */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <neardup/explain.h>
#include <neardup/run.h>
#include <neardup/uses.h>

#include "reading/run_options.h"
#include "recipe/recipe_struct.h"

static char folder[] = "/tmp/neardup-run-XXXXXX";
static const char *const paths[] = {"in.jsonl"};

static int make_corpus(void **state)
{
    FILE *file;

    (void)state;
    if (!mkdtemp(folder) || chdir(folder) != 0 || !(file = fopen("in.jsonl", "w")))
        return -1;
    for (int i = 0; i < 40000; i++)
        fprintf(file, "{\"id\":%d,\"text\":\"one two %d three %d four %d five\"}\n", i, i / 2,
                i / 2 * 7, i / 2 * 13);
    fputs("{\"id\":\"none\"}\n", file);
    return fclose(file);
}

static int remove_corpus(void **state)
{
    (void)state;
    unlink("in.jsonl");
    return chdir("/") || rmdir(folder);
}

struct seen {
    unsigned batches, bad, stop_at;
    uint64_t documents;
    char place[64];
};

static int on_progress(void *context, const struct nd_run_progress *progress)
{
    struct seen *seen = context;

    assert_true(progress->pass >= 1 && progress->pass <= progress->passes);
    seen->documents = progress->documents;
    return ++seen->batches == seen->stop_at;
}

static void on_bad_record(void *context, const char *place, const char *reason)
{
    struct seen *seen = context;

    seen->bad++;
    snprintf(seen->place, sizeof seen->place, "%s", place);
    assert_true(strlen(reason) > 0);
}

static struct nd_recipe recipe;

static struct nd_run_options options_to(const char *output)
{
    struct nd_run_options options = nd_run_options_default();

    recipe = nd_recipe_default();
    options.recipe = &recipe;
    options.paths = paths;
    options.n_paths = 1;
    options.output = output;
    return options;
}

static void events_tell_what_happens(void **state)
{
    struct nd_run_options options = options_to("out");
    struct seen seen = {0};
    const struct nd_run_events events = {&seen, NULL, on_bad_record, on_progress, NULL};
    struct nd_run_summary summary;
    struct nd_error err;

    (void)state;
    assert_int_equal(nd_run_dedup(&options, &events, &summary, &err), ND_OK);
    assert_int_equal(seen.bad, 1);
    assert_string_equal(seen.place, "in.jsonl:40001");
    assert_int_equal(seen.documents, 40000);
    assert_int_equal(summary.documents, 40000);
    assert_int_equal(summary.kept, 20000);
    assert_int_equal(summary.identical_bytes, 20000);
    assert_int_equal(summary.clusters, 20000);
    assert_int_equal(summary.n_largest, ND_RUN_LARGEST);
    assert_int_equal(unlink("out"), 0);
}

/* Every tenth record is bad: all are told in order, by the thread that runs. */
struct told {
    pthread_t runs;
    unsigned line, elsewhere, out_of_order;
    uint64_t documents;
};

static void note_thread(struct told *told)
{
    told->elsewhere += !pthread_equal(pthread_self(), told->runs);
}

static void on_tenth(void *context, const char *place, const char *reason)
{
    struct told *told = context;
    char expected[64];

    (void)reason;
    note_thread(told);
    snprintf(expected, sizeof expected, "tenths.jsonl:%u", told->line += 10);
    told->out_of_order += strcmp(place, expected) != 0;
}

static int on_more(void *context, const struct nd_run_progress *progress)
{
    struct told *told = context;

    note_thread(told);
    told->out_of_order += progress->documents < told->documents;
    told->documents = progress->documents;
    return 0;
}

static void events_come_in_order_from_the_thread_that_runs(void **state)
{
    static const char *const path[] = {"tenths.jsonl"};
    FILE *file = fopen(path[0], "w");

    (void)state;
    assert_non_null(file);
    for (int i = 1; i <= 60000; i++)
        fprintf(file, i % 10 ? "{\"text\":\"one %d two %d\"}\n" : "{\"id\":%d, %d}\n", i, i * 7);
    assert_int_equal(fclose(file), 0);
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct nd_run_options options = options_to(NULL);
        struct told told = {.runs = pthread_self()};
        const struct nd_run_events events = {&told, NULL, on_tenth, on_more, NULL};
        struct nd_run_summary summary;

        options.paths = path;
        options.dry_run = 1;
        options.max_bad = (struct nd_ratio){1, 10};
        options.threads = threads;
        assert_int_equal(nd_run_dedup(&options, &events, &summary, NULL), ND_OK);
        assert_int_equal(told.line, 60000);
        assert_int_equal(told.documents, 54000);
        assert_int_equal(told.elsewhere, 0);
        assert_int_equal(told.out_of_order, 0);
    }
    unlink(path[0]);
}

static void a_caller_can_stop_a_run(void **state)
{
    static const char *const keep[] = {"first", "last"};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned at = 1; at < 5; at++) {
            struct nd_run_options options = options_to("out");
            struct seen seen = {.stop_at = at};
            const struct nd_run_events events = {&seen, NULL, NULL, on_progress, NULL};
            struct nd_run_summary summary;
            struct nd_error err;

            snprintf(recipe.keep, sizeof recipe.keep, "%s", keep[i]);
            if (nd_run_dedup(&options, &events, &summary, &err) == ND_OK) {
                assert_true(seen.batches < at); /* it was over before */
                unlink("out");
                continue;
            }
            assert_int_equal(err.status, ND_ECANCELLED);
            assert_int_equal(seen.batches, at);
            assert_int_not_equal(access("out", F_OK), 0);
        }
    }
}

struct packed {
    uint64_t done, total, unpacked;
};

static int on_packed(void *context, const struct nd_run_progress *progress)
{
    struct packed *packed = context;

    *packed =
        (struct packed){progress->bytes_done, progress->bytes_total, progress->bytes_unpacked};
    return 0;
}

/* The speed that is told counts the same bytes as the summary, whatever the input is packed in. */
static void progress_counts_unpacked_bytes(void **state)
{
    static const char *const path[] = {"packed.jsonl.gz"};
    struct nd_run_options options = options_to("out");
    struct packed packed = {0};
    const struct nd_run_events events = {&packed, NULL, NULL, on_packed, NULL};
    struct nd_run_summary summary;

    (void)state;
    assert_int_equal(system("gzip -c in.jsonl >packed.jsonl.gz"), 0);
    options.paths = path;
    assert_int_equal(nd_run_dedup(&options, &events, &summary, NULL), ND_OK);
    assert_int_equal(packed.done, packed.total);
    assert_true(packed.unpacked > 2 * packed.total);
    assert_in_range(packed.unpacked, summary.bytes - 40001, summary.bytes); /* line ends */
    unlink(path[0]);
    unlink("out");
}

static void nothing_need_be_passed_but_the_options(void **state)
{
    struct nd_run_options options = options_to("out");
    struct nd_run_summary summary;

    (void)state;
    assert_int_equal(nd_run_dedup(&options, NULL, &summary, NULL), ND_OK);
    assert_int_equal(summary.bad_records, 1);
    assert_int_equal(unlink("out"), 0);
    options.n_paths = 0;
    assert_int_equal(nd_run_dedup(&options, NULL, &summary, NULL), ND_EINVAL);
    options = options_to("nowhere/out");
    assert_int_equal(nd_run_dedup(&options, NULL, &summary, NULL), ND_EIO);
    assert_int_equal(nd_run_pairs(&options, &(struct nd_pairs_params){0}, NULL, &summary, NULL),
                     ND_EIO);
    assert_int_equal(nd_run_sketch(&options, NULL, &summary, NULL), ND_EIO);
    options = options_to(NULL);
    options.within = "id"; /* no pair, so that nothing goes to the standard output */
    assert_int_equal(nd_run_pairs(&options, &(struct nd_pairs_params){0}, NULL, &summary, NULL),
                     ND_OK);
    options.tmp = NULL;
    options.manifest = "rows";
    assert_int_equal(nd_run_dedup(&options, NULL, &summary, NULL), ND_EINVAL);
}

static void two_documents_are_explained(void **state)
{
    struct nd_run_options options = options_to("-");
    struct nd_explanation explanation;

    (void)state;
    assert_int_equal(nd_run_explain(&options, "8", "in.jsonl:10", NULL, &explanation, NULL), ND_OK);
    assert_true(explanation.is_duplicate);
    assert_int_equal(explanation.identical, ND_IDENTICAL_BYTES);
    assert_string_equal(explanation.name[1].id, "9");
    assert_int_equal(explanation.n_shared, 8);
    assert_string_equal(explanation.terms[0].text, "one");
    nd_explanation_release(&explanation);
    assert_int_equal(nd_run_explain(&options, "8", "x", NULL, &explanation, NULL), ND_EINPUT);
    assert_null(explanation.terms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_tell_what_happens),
        cmocka_unit_test(events_come_in_order_from_the_thread_that_runs),
        cmocka_unit_test(a_caller_can_stop_a_run),
        cmocka_unit_test(progress_counts_unpacked_bytes),
        cmocka_unit_test(nothing_need_be_passed_but_the_options),
        cmocka_unit_test(two_documents_are_explained),
    };

    return cmocka_run_group_tests(tests, make_corpus, remove_corpus);
}
