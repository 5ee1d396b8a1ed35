/* test_run_memory.c - every allocation of a run is made to fail once: an error and no file left, or
 * the same files */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <neardup/explain.h>
#include <neardup/run.h>
#include <neardup/uses.h>

#include "failing_malloc.h"
#include "reading/run_options.h"
#include "recipe/recipe_struct.h"

static char folder[] = "/tmp/neardup-test-XXXXXX";

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int make_corpus(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || chdir(folder) != 0 || mkdir("in", 0777) != 0)
        return -1;
    write_file("in/a.jsonl",
               "{\"id\":1,\"text\":\"one two three four five six seven eight nine\"}\n"
               "{\"id\":2,\"text\":\"one two three four five six seven eight nine ten\","
               "\"lang\":\"en\"}\n{broken\n"
               "{\"id\":1,\"text\":\"one two three four five six seven eight nine\"}\n");
    write_file("in/b.jsonl", "{\"text\":\"quite another text \\u00e9 of some words\",\"n\":4}\n");
    return 0;
}

static int remove_corpus(void **state)
{
    (void)state;
    (void)!unlink("in/a.jsonl");
    (void)!unlink("in/b.jsonl");
    (void)!rmdir("in");
    if (chdir("/") != 0)
        return -1;
    return rmdir(folder);
}

#if !HAS_OWN_MALLOC
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

static bool reads_sketches;
static const char *const outputs[] = {"out", "manifest.jsonl", "clusters.tsv.gz"};
static const char *const expected[] = {"out.expected", "manifest.expected", "clusters.expected"};

static bool is_same_file(const char *a, const char *b)
{
    static char at[2][1 << 16];
    const char *const name[2] = {a, b};
    size_t n[2] = {0, 0};

    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(name[i], "rb");

        if (!file)
            return false;
        n[i] = fread(at[i], 1, sizeof at[i], file);
        fclose(file);
    }
    return n[0] == n[1] && n[0] < sizeof at[0] && memcmp(at[0], at[1], n[0]) == 0;
}

/* In a process of its own.  0: as it should be; 1: not; 2: there was no n-th allocation. */
static int run_with_failure(const struct nd_run_options *options, long n)
{
    struct nd_run_summary summary;
    struct nd_error err;
    int before = count_files();
    enum nd_status status;
    long left;

    atomic_store(&until_failure, n);
    status = nd_run_dedup(options, NULL, &summary, &err);
    left = atomic_exchange(&until_failure, 0);
    if (status == ND_OK) {
        bool is_same = true;

        for (int i = 0; i < 3; i++) {
            is_same &= is_same_file(outputs[i], expected[i]);
            unlink(outputs[i]);
        }
        if (!is_same)
            fprintf(stderr, "ND_OK, and other files\n");
        return !is_same ? 1 : left > 0 ? 2 : 0; /* what can be done without may be done without */
    }
    if (left <= 0 && err.message[0] && err.status == status && count_files() == before &&
        !strstr(err.message, "without a reason"))
        return 0;
    fprintf(stderr, "%s, %ld left, %d files, '%s' of %s\n", nd_status_name(status), left,
            count_files() - before, err.message, nd_status_name(err.status));
    return 1;
}

static void make_expected(const struct nd_run_options *options)
{
    struct nd_run_summary summary;

    assert_int_equal(nd_run_dedup(options, NULL, &summary, NULL), ND_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(rename(outputs[i], expected[i]), 0);
}

/* Make sketches of the corpus, which a run over sketches reads in place of it. */
static void make_sketches(void)
{
    static const char *const paths[] = {"in"}, *const fields[] = {"lang"};
    struct nd_run_options options = nd_run_options_default();
    struct nd_recipe recipe = nd_recipe_default();
    struct nd_run_summary summary;

    options.recipe = &recipe;
    options.paths = paths;
    options.n_paths = 1;
    options.output = "in.sketch";
    options.record_field = fields;
    options.n_record_field = 1;
    options.threads = 1;
    assert_int_equal(nd_run_sketch_file(&options, 1, NULL, &summary, NULL), ND_OK);
}

/* memory: bounded to so many bytes; 0: not. */
static void fail_each(const char *keep, enum nd_cluster cluster, unsigned threads, const char *name,
                      uint64_t memory)
{
    const char *const paths[] = {reads_sketches ? "in.sketch" : "in"};
    struct nd_run_options options = nd_run_options_default();
    struct nd_recipe recipe = nd_recipe_default();
    int result = 0;

    if (name)
        assert_int_equal(nd_recipe_by_name(&recipe, name, NULL), ND_OK);
    recipe.dedup.cluster = cluster;
    snprintf(recipe.keep, sizeof recipe.keep, "%s", keep);
    options.recipe = &recipe;
    options.paths = paths;
    options.n_paths = 1;
    options.output = outputs[0];
    options.manifest = outputs[1];
    options.clusters = outputs[2];
    options.within = "lang";
    options.threads = threads;
    make_expected(&options);
    options.memory = memory;
    for (long n = 1; result == 0; n++) {
        pid_t child = fork();
        int status;

        assert_true(child >= 0);
        if (child == 0)
            _exit(run_with_failure(&options, n));
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) == 1)
            fail_msg("keep %s: allocation %ld: %s %d", keep, n,
                     WIFEXITED(status) ? "wrong result" : "signal",
                     WIFEXITED(status) ? 1 : WTERMSIG(status));
        result = WEXITSTATUS(status);
        assert_true(n < 1000000);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(unlink(expected[i]), 0);
}
#endif

static void a_run_in_one_pass_fails_cleanly(void **state)
{
    (void)state;
#if HAS_OWN_MALLOC
    skip();
#else
    fail_each("first", ND_CLUSTER_STAR, 1, NULL, 0);
    fail_each("first", ND_CLUSTER_STAR, 2, NULL, 0);
#endif
}

static void a_run_in_three_passes_fails_cleanly(void **state)
{
    (void)state;
#if HAS_OWN_MALLOC
    skip();
#else
    fail_each("longest", ND_CLUSTER_STAR, 1, NULL, 0);
    fail_each("last", ND_CLUSTER_COMPONENTS, 2, NULL, 0);
    fail_each("first", ND_CLUSTER_COMPLETE, 2, NULL, 0);
#endif
}

/* In 2,000 bytes there is room for two documents in a load. */
static void a_run_in_bounded_memory_fails_cleanly(void **state)
{
    (void)state;
#if HAS_OWN_MALLOC
    skip();
#else
    fail_each("longest", ND_CLUSTER_STAR, 1, NULL, 2000);
    fail_each("last", ND_CLUSTER_COMPONENTS, 2, NULL, 2000);
    fail_each("first", ND_CLUSTER_COMPLETE, 2, NULL, 1 << 20);
#endif
}

static void a_run_over_sketches_fails_cleanly(void **state)
{
    (void)state;
#if HAS_OWN_MALLOC
    skip();
#else
    make_sketches();
    reads_sketches = true;
    fail_each("first", ND_CLUSTER_STAR, 1, NULL, 0);
    fail_each("last", ND_CLUSTER_COMPONENTS, 2, NULL, 0);
    reads_sketches = false;
    (void)unlink("in.sketch");
#endif
}

static void a_run_with_signatures_fails_cleanly(void **state)
{
    (void)state;
#if HAS_OWN_MALLOC
    skip();
#else
    fail_each("first", ND_CLUSTER_STAR, 2, "broder-1997", 0);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_in_one_pass_fails_cleanly),
        cmocka_unit_test(a_run_over_sketches_fails_cleanly),
        cmocka_unit_test(a_run_in_three_passes_fails_cleanly),
        cmocka_unit_test(a_run_in_bounded_memory_fails_cleanly),
        cmocka_unit_test(a_run_with_signatures_fails_cleanly),
    };

    return cmocka_run_group_tests(tests, make_corpus, remove_corpus);
}
