/* test_bounded.c - dedup and pairs in bounded memory write the bytes of both in memory, whatever the bound */
#define _GNU_SOURCE
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <neardup/run.h>
#include <neardup/uses.h>

#include "base/hash.h"
#include "reading/run_options.h"
#include "recipe/recipe_struct.h"

#include "sized.h"

enum { DOCUMENTS = 1200, WORDS = 60, TEXT_MAX = WORDS * 8 };

static char folder[] = "/tmp/neardup-test-XXXXXX";
static uint64_t random_state;

static uint64_t below(uint64_t n)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return nd_mix64(random_state) % n;
}

static void write_record(FILE *out, unsigned i, const unsigned *word, unsigned n)
{
    static const char *const hosts[] = {"a", "b", "c"};

    fprintf(out, "{\"id\":%u,\"host\":\"%s\",\"date\":%u,", i, hosts[below(3)],
            (unsigned)below(50));
    if (i % 5)
        fprintf(out, "\"url\":\"http://%c.org/%u\",", 'a' + (char)(i % 4), i);
    fprintf(out, "\"text\":\"");
    for (unsigned w = 0; w < n; w++)
        fprintf(out, "w%u ", word[w]);
    fprintf(out, "\"}\n");
    if (below(50) == 0)
        fprintf(out, "{broken\n");
}

/* Edited copies of earlier texts, near and less near; equal, short and empty ones; pages of one
 * template; a record that no test has room for. */
static void write_corpus(const char *name, uint64_t seed)
{
    static unsigned words[DOCUMENTS][WORDS], length[DOCUMENTS];
    FILE *out = fopen(name, "w");

    assert_non_null(out);
    random_state = seed;
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        bool is_new = i < 10 || below(3) == 0, is_page = below(6) == 0;
        unsigned from = is_new ? 0 : (unsigned)below(i), edits = (unsigned)below(12);

        length[i] = is_new ? (unsigned)below(WORDS) : length[from];
        if (below(12) == 0)
            length[i] = (unsigned)below(4);
        for (unsigned w = 0; w < length[i]; w++)
            words[i][w] = is_page && w < WORDS / 2      ? w
                          : is_new || w >= length[from] ? (unsigned)below(5000)
                                                        : words[from][w];
        for (; edits && length[i] && !is_new; edits--)
            words[i][below(length[i])] = (unsigned)below(5000);
        write_record(out, i, words[i], length[i]);
    }
    assert_int_equal(fclose(out), 0);
}

static int begin(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    (void)!unlink("corpus");
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static const char *const outputs[] = {"out", "manifest", "clusters", "removed"};
enum { N_OUTPUTS = 4 };

/* The whole file, which goes. */
static char *take_file(const char *name, size_t *len)
{
    FILE *file = fopen(name, "rb");
    char *bytes;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *len = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(*len + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *len, file), *len);
    fclose(file);
    assert_int_equal(unlink(name), 0);
    return bytes;
}

struct result {
    char *bytes[N_OUTPUTS];
    size_t len[N_OUTPUTS];
    struct nd_run_summary summary;
};

static void run(struct nd_run_options *options, struct result *result)
{
    struct nd_error err = {0};

    if (nd_run_dedup(options, NULL, &result->summary, &err) != ND_OK)
        fail_msg("%s", err.message);
    for (unsigned i = 0; i < N_OUTPUTS; i++)
        result->bytes[i] = take_file(outputs[i], &result->len[i]);
}

static void assert_same(const struct result *a, const struct result *b, const char *what)
{
    const struct nd_run_summary *x = &a->summary, *y = &b->summary;

    for (unsigned i = 0; i < N_OUTPUTS; i++)
        if (a->len[i] != b->len[i] || memcmp(a->bytes[i], b->bytes[i], a->len[i]) != 0)
            fail_msg("%s: the file %s differs", what, outputs[i]);
    assert_int_equal(x->documents, y->documents);
    assert_int_equal(x->kept, y->kept);
    assert_int_equal(x->near, y->near);
    assert_int_equal(x->identical_bytes, y->identical_bytes);
    assert_int_equal(x->identical_tokens, y->identical_tokens);
    assert_int_equal(x->short_documents, y->short_documents);
    assert_int_equal(x->empty_documents, y->empty_documents);
    assert_int_equal(x->cut_documents, y->cut_documents);
    assert_int_equal(x->unsigned_documents, y->unsigned_documents);
    assert_int_equal(x->crowded_documents, y->crowded_documents);
    assert_int_equal(x->clusters, y->clusters);
    assert_int_equal(x->candidates, y->candidates);
    assert_int_equal(x->checks, y->checks);
    assert_int_equal(x->n_largest, y->n_largest);
    assert_memory_equal(x->largest, y->largest, sizeof x->largest);
    assert_memory_equal(x->measured, y->measured, sizeof x->measured);
}

static void release(struct result *result)
{
    for (unsigned i = 0; i < N_OUTPUTS; i++)
        free(result->bytes[i]);
}

/* A way to decide, by options and keys of the recipe. */
struct way {
    const char *recipe; /* NULL: the default */
    enum nd_cluster cluster;
    const char *keep, *within, *prefer, *never;
    unsigned max_checks; /* 0: the default */
};

static void set(struct nd_run_options *options, const char *key, const char *value)
{
    if (value)
        assert_int_equal(nd_run_options_set(options, key, value, NULL), ND_OK);
}

/* Memory for a handful of documents in a load, for some hundred, and for all. */
static void compare(const struct way *way, unsigned threads)
{
    static const uint64_t memory[] = {8000, 200000, 64 << 20};
    struct nd_run_options *options = nd_run_options_new(NULL);
    struct nd_recipe recipe = nd_recipe_default();
    struct result expected, result;
    bool is_broder = way->recipe && strcmp(way->recipe, "broder-1997") == 0;
    char what[200];

    if (way->recipe)
        assert_int_equal(nd_recipe_by_name(&recipe, way->recipe, NULL), ND_OK);
    recipe.dedup.cluster = way->cluster;
    if (way->max_checks)
        recipe.dedup.max_checks = way->max_checks;
    snprintf(recipe.keep, sizeof recipe.keep, "%s", way->keep);
    nd_run_options_set_recipe(options, &recipe);
    set(options, "path", "corpus");
    for (unsigned i = 0; i < N_OUTPUTS; i++)
        set(options, i ? outputs[i] : "output", outputs[i]);
    set(options, "max-bad", "1");
    set(options, "within", way->within);
    set(options, "prefer", way->prefer);
    set(options, "never", way->never);
    options->threads = threads;
    run(options, &expected);
    for (unsigned i = 0; i < sizeof memory / sizeof *memory; i++) {
        snprintf(what, sizeof what, "%s, cluster %d, keep %s, memory %d",
                 way->recipe ? way->recipe : "default", (int)way->cluster, way->keep,
                 (int)memory[i]);
        options->memory = memory[i];
        run(options, &result);
        assert_same(&expected, &result, what);
        assert_true(result.summary.loads >= (i == 0 && !is_broder ? 2 : 1));
        assert_true(result.summary.spilled_bytes > 0);
        release(&result);
    }
    release(&expected);
    nd_run_options_free(options);
}

static void outputs_do_not_depend_on_the_memory(void **state)
{
    static const struct way ways[] = {
        {NULL, ND_CLUSTER_STAR, "first", NULL, NULL, NULL, 0},
        {NULL, ND_CLUSTER_STAR, "last", "host", NULL, NULL, 0},
        {NULL, ND_CLUSTER_STAR, "longest", NULL, "host=b,a", NULL, 3},
        {NULL, ND_CLUSTER_COMPONENTS, "first", NULL, NULL, NULL, 0},
        {NULL, ND_CLUSTER_COMPONENTS, "newest:date", NULL, NULL, "host=c", 5},
        {NULL, ND_CLUSTER_COMPLETE, "longest", NULL, NULL, NULL, 0},
        {NULL, ND_CLUSTER_COMPLETE, "min:date", "host", "host=c", NULL, 4},
        {"short-texts", ND_CLUSTER_STAR, "last", NULL, NULL, NULL, 0},
        {"broder-1997", ND_CLUSTER_STAR, "first", NULL, NULL, NULL, 0},
        {"manku-2007", ND_CLUSTER_STAR, "first", NULL, NULL, NULL, 0},
        {"manku-2007", ND_CLUSTER_COMPONENTS, "longest", NULL, NULL, NULL, 0},
    };

    (void)state;
    for (unsigned seed = 1; seed <= sized(8, 1); seed++) {
        write_corpus("corpus", seed);
        for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++)
            compare(&ways[i], 1 + (i + seed) % 3);
    }
}

/* ---- Rows that are known ---- */

static size_t chunks_of(const char *name)
{
    DIR *directory = opendir(name);
    const struct dirent *e;
    size_t n = 0;

    while (directory && (e = readdir(directory)))
        n += strstr(e->d_name, ".sketch") != NULL;
    if (directory)
        closedir(directory);
    return n;
}

static void remove_folder(const char *name)
{
    char path[300];
    DIR *directory = opendir(name);
    const struct dirent *e;

    while (directory && (e = readdir(directory))) {
        snprintf(path, sizeof path, "%s/%.200s", name, e->d_name);
        (void)unlink(path);
    }
    if (directory)
        closedir(directory);
    (void)rmdir(name);
}

/* The recipe outlives the options. */
static struct nd_run_options *options_of(struct nd_recipe *recipe, const char *recipe_name,
                                         enum nd_cluster cluster, const char *keep)
{
    struct nd_run_options *options = nd_run_options_new(NULL);

    *recipe = nd_recipe_default();
    if (recipe_name)
        assert_int_equal(nd_recipe_by_name(recipe, recipe_name, NULL), ND_OK);
    recipe->dedup.cluster = cluster;
    snprintf(recipe->keep, sizeof recipe->keep, "%s", keep);
    nd_run_options_set_recipe(options, recipe);
    set(options, "path", "corpus");
    for (unsigned i = 0; i < N_OUTPUTS; i++)
        set(options, i ? outputs[i] : "output", outputs[i]);
    set(options, "max-bad", "1");
    options->threads = 2;
    return options;
}

/* A run that a signal ends after so many microseconds, unless it ends before. */
static bool is_killed(struct nd_run_options *options, uint64_t microseconds)
{
    const struct itimerval soon = {.it_value = {.tv_usec = (suseconds_t)microseconds}};
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        struct nd_run_summary summary;

        signal(SIGALRM, SIG_DFL);
        if (setitimer(ITIMER_REAL, &soon, NULL) != 0)
            _exit(1);
        _exit(nd_run_dedup(options, NULL, &summary, NULL) == ND_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    for (unsigned i = 0; i < N_OUTPUTS; i++)
        (void)unlink(outputs[i]);
    return WIFSIGNALED(status);
}

/* With a checkpoint, after kills, and again with all rows; then with a file of known sketches. */
static void compare_known(const char *recipe, enum nd_cluster cluster, const char *keep,
                          uint64_t memory)
{
    struct nd_recipe own;
    struct nd_run_options *options = options_of(&own, recipe, cluster, keep);
    struct result expected, result;
    size_t n_chunks;

    run(options, &expected);
    options->memory = memory;
    set(options, "checkpoint", "chunks");
    for (unsigned i = 0; i < 4; i++)
        (void)is_killed(options, 1 + below(60000));
    run(options, &result);
    assert_same(&expected, &result, "with a checkpoint");
    release(&result);
    n_chunks = chunks_of("chunks");
    assert_true(n_chunks > 0);
    run(options, &result);
    assert_same(&expected, &result, "with all rows of a checkpoint");
    assert_int_equal(chunks_of("chunks"), n_chunks);
    release(&result);
    remove_folder("chunks");
    options->checkpoint = NULL;
    set(options, "known-sketches", "known.sketch");
    run(options, &result);
    assert_same(&expected, &result, "with known sketches");
    release(&result);
    release(&expected);
    nd_run_options_free(options);
}

static void make_known(const char *recipe)
{
    struct nd_recipe own;
    struct nd_run_options *options = options_of(&own, recipe, ND_CLUSTER_STAR, "first");
    struct nd_run_summary summary;
    struct nd_error err = {0};

    set(options, "output", "known.sketch");
    options->removed = options->manifest = options->clusters = NULL;
    if (nd_run_sketch_file(options, 0, NULL, &summary, &err) != ND_OK)
        fail_msg("%s", err.message);
    nd_run_options_free(options);
}

static void known_rows_change_no_output(void **state)
{
    static const uint64_t memory[] = {8000, 200000, 64 << 20};

    (void)state;
    for (unsigned seed = 1; seed <= sized(6, 1); seed++) {
        write_corpus("corpus", seed);
        make_known(NULL);
        for (unsigned i = 0; i < sizeof memory / sizeof *memory; i++) {
            compare_known(NULL, ND_CLUSTER_STAR, "first", memory[i]);
            compare_known(NULL, ND_CLUSTER_COMPONENTS, "longest", memory[i]);
        }
        make_known("manku-2007");
        compare_known("manku-2007", ND_CLUSTER_STAR, "last", memory[0]);
        (void)unlink("known.sketch");
    }
}

/* ---- Pairs ---- */

static char *find_pairs(struct nd_run_options *options, const struct nd_pairs_params *params,
                        struct nd_run_summary *summary, size_t *len)
{
    struct nd_error err = {0};

    if (nd_run_pairs(options, params, NULL, summary, &err) != ND_OK)
        fail_msg("%s", err.message);
    return take_file("pairs", len);
}

static void assert_same_summary(const struct nd_run_summary *x, const struct nd_run_summary *y)
{
    assert_int_equal(x->documents, y->documents);
    assert_int_equal(x->kept, y->kept);
    assert_int_equal(x->pairs, y->pairs);
    assert_int_equal(x->near_misses, y->near_misses);
    assert_int_equal(x->short_documents, y->short_documents);
    assert_int_equal(x->empty_documents, y->empty_documents);
    assert_int_equal(x->unsigned_documents, y->unsigned_documents);
    assert_int_equal(x->candidates, y->candidates);
    assert_int_equal(x->checks, y->checks);
}

/* A way to find pairs, by options and keys of the recipe. */
struct pairs_way {
    const char *recipe; /* NULL: the default */
    const char *keys[3];
    const char *within, *never;
    struct nd_pairs_params params;
    bool is_whole; /* one engine has all, as the candidates are not found by keys */
};

static void compare_pairs(const struct pairs_way *way, unsigned threads)
{
    static const uint64_t memory[] = {8000, 200000, 64 << 20};
    struct nd_run_options *options = nd_run_options_new(NULL);
    struct nd_recipe *recipe = nd_recipe_new(NULL);
    struct nd_run_summary expected_summary, summary;
    size_t expected_len, len;
    char *expected, *got;

    if (way->recipe)
        assert_int_equal(nd_recipe_by_name(recipe, way->recipe, NULL), ND_OK);
    for (unsigned i = 0; way->keys[i]; i++)
        assert_int_equal(nd_recipe_set(recipe, way->keys[i], NULL), ND_OK);
    nd_run_options_set_recipe(options, recipe);
    set(options, "path", "corpus");
    set(options, "output", "pairs");
    set(options, "max-bad", "1");
    set(options, "within", way->within);
    set(options, "never", way->never);
    options->threads = threads;
    expected = find_pairs(options, &way->params, &expected_summary, &expected_len);
    assert_true(expected_summary.pairs > 0);
    for (unsigned i = 0; i < sizeof memory / sizeof *memory; i++) {
        options->memory = memory[i];
        got = find_pairs(options, &way->params, &summary, &len);
        if (len != expected_len || memcmp(got, expected, len) != 0)
            fail_msg("%s, %s: the pairs differ with memory %d",
                     way->recipe ? way->recipe : "default", way->keys[0] ? way->keys[0] : "",
                     (int)memory[i]);
        assert_same_summary(&expected_summary, &summary);
        assert_true(summary.spilled_bytes > 0);
        assert_true(!way->is_whole && i == 0 ? summary.loads >= 2 : summary.loads >= 1);
        free(got);
    }
    free(expected);
    nd_recipe_free(recipe);
    nd_run_options_free(options);
}

static void pairs_do_not_depend_on_the_memory(void **state)
{
    static const struct pairs_way ways[] = {
        {.recipe = NULL},
        {.params = {.json = 1, .site = "url"}},
        {.params = {.near_misses = {1, 2}}, .within = "host"},
        {.keys = {"threshold=0.5", "keep=longest"}, .never = "host=b"},
        {.keys = {"verify=none"}, .params = {.json = 1}},
        {.keys = {"candidates=identity"}},
        {.keys = {"candidates=simhash"}, .params = {.site = "url"}},
        {.keys = {"candidates=all"}, .params = {.near_misses = {1, 2}}, .is_whole = true},
        {.keys = {"verify=containment"}, .is_whole = true},
        {.recipe = "short-texts"},
        {.recipe = "manku-2007", .params = {.json = 1}},
        {.recipe = "broder-1997", .params = {.json = 1}, .is_whole = true},
    };

    (void)state;
    for (unsigned seed = 1; seed <= sized(8, 1); seed++) {
        write_corpus("corpus", seed);
        for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++)
            compare_pairs(&ways[i], 1 + (i + seed) % 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_do_not_depend_on_the_memory),
        cmocka_unit_test(known_rows_change_no_output),
        cmocka_unit_test(pairs_do_not_depend_on_the_memory),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
