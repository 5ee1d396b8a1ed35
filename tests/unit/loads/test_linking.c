/* test_linking.c - components found in bounded memory, against those of a comparison of all pairs */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <neardup/candidates.h>

#include "base/hash.h"
#include "loads/linking.h"
#include "recipe/recipe_struct.h"

#include "failing_malloc.h"

enum { DOCUMENTS = 700, WORDS = 50, TEXT_MAX = WORDS * 8 };

static uint64_t random_state = 5;

static uint64_t below(uint64_t n)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return nd_mix64(random_state) % n;
}

static char text[DOCUMENTS][TEXT_MAX];
static struct nd_document document[DOCUMENTS];
static struct nd_dedup_item item[DOCUMENTS];

/* Edited copies, equal and short texts, pages of one template; some records are bad. */
static int make_texts(void **state)
{
    static unsigned words[DOCUMENTS][WORDS], length[DOCUMENTS];

    (void)state;
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        bool is_new = i < 10 || below(2) == 0, is_page = below(5) == 0;
        unsigned from = is_new ? 0 : (unsigned)below(i);
        size_t len = 0;

        length[i] = is_new ? 1 + (unsigned)below(WORDS - 1) : length[from];
        for (unsigned w = 0; w < length[i]; w++)
            words[i][w] = is_page && w < WORDS / 2 ? w
                          : is_new                 ? (unsigned)below(5000)
                                                   : words[from][w];
        for (unsigned edits = is_new ? 0 : (unsigned)below(8); edits; edits--)
            words[i][below(length[i])] = (unsigned)below(5000);
        for (unsigned w = 0; w < length[i]; w++)
            len += (size_t)snprintf(text[i] + len, TEXT_MAX - len, "w%u ", words[i][w]);
        document[i] = (struct nd_document){.text = {text[i], len}};
        item[i] = (struct nd_dedup_item){.text = {text[i], len},
                                         .document = i % 97 ? &document[i] : NULL,
                                         .group = below(3) == 0};
    }
    return 0;
}

static struct nd_recipe recipe_of(const char *name)
{
    struct nd_recipe recipe = nd_recipe_default();

    if (strchr(name, '='))
        assert_int_equal(nd_recipe_set(&recipe, name, NULL), ND_OK);
    else if (*name)
        assert_int_equal(nd_recipe_by_name(&recipe, name, NULL), ND_OK);
    return recipe;
}

/* ---- The slow way ---- */

struct oracle {
    uint64_t keys[DOCUMENTS][ND_CANDIDATE_KEYS_MAX];
    size_t n_keys[DOCUMENTS];
    unsigned char *row[DOCUMENTS];
    uint32_t component[DOCUMENTS]; /* its first document */
};

static bool are_linked(const struct oracle *o, const struct nd_candidate_rows *rows, size_t a,
                       size_t b)
{
    for (size_t i = 0; i < o->n_keys[a]; i++)
        for (size_t k = 0; k < o->n_keys[b]; k++)
            if (o->keys[a][i] == o->keys[b][k])
                return o->keys[a][i] & 1 || nd_candidate_rows_match_by_key(rows) ||
                       nd_candidate_rows_could_match(rows, o->row[a], o->row[b]);
    return false;
}

static void join(struct oracle *o, uint32_t a, uint32_t b)
{
    uint32_t from = a > b ? a : b, to = a > b ? b : a;

    for (size_t i = 0; from != to && i < DOCUMENTS; i++)
        if (o->component[i] == from)
            o->component[i] = to;
}

static struct oracle *make_oracle(const struct nd_recipe *recipe)
{
    struct nd_candidate_rows *rows = nd_candidate_rows_new(recipe, NULL);
    struct oracle *o = calloc(1, sizeof *o);

    assert_non_null(rows);
    assert_non_null(o);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        o->component[i] = (uint32_t)i;
        o->row[i] = calloc(1, nd_candidate_rows_bytes(rows));
        assert_non_null(o->row[i]);
        if (item[i].document)
            assert_int_equal(nd_candidate_rows_make(rows, &item[i], item[i].group, o->row[i],
                                                    o->keys[i], &o->n_keys[i], NULL),
                             ND_OK);
    }
    for (size_t i = 0; i < DOCUMENTS; i++)
        for (size_t k = 0; k < i; k++)
            if (are_linked(o, rows, i, k))
                join(o, o->component[i], o->component[k]);
    nd_candidate_rows_free(rows);
    return o;
}

static void free_oracle(struct oracle *o)
{
    for (size_t i = 0; i < DOCUMENTS; i++)
        free(o->row[i]);
    free(o);
}

/* ---- The fast way ---- */

/* All documents, so many times, `step` in a go. */
static enum nd_status link_all(const struct nd_linking_options *options, unsigned times,
                               size_t step, struct nd_linking **made, struct nd_error *err)
{
    struct nd_linking *l = nd_linking_new(options, err);
    enum nd_status status = l ? ND_OK : err->status;
    unsigned char flags[DOCUMENTS];

    for (; status == ND_OK && times; times--)
        for (size_t from = 0; status == ND_OK && from < DOCUMENTS; from += step)
            status = nd_linking_add(l, item + from,
                                    from + step < DOCUMENTS ? step : DOCUMENTS - from, flags, err);
    if (status == ND_OK)
        status = nd_linking_join(l, err);
    *made = l;
    return status;
}

static void check(const struct nd_linking_options *options, size_t step,
                  const struct oracle *oracle, const char *name)
{
    struct nd_linking *l = NULL;
    struct nd_error err = {0};
    unsigned n_components = 0;

    if (link_all(options, 1, step, &l, &err) != ND_OK)
        fail_msg("%s: %s", name, err.message);
    for (uint32_t i = 0; i < DOCUMENTS; i++) {
        uint32_t first = oracle->component[i];

        if (nd_linking_component(l, i) != first)
            fail_msg("%s: document %u is in the component of %u, not %u", name, (unsigned)i,
                     (unsigned)nd_linking_component(l, i), (unsigned)first);
        n_components += first == i;
        if (nd_linking_is_alone(l, i))
            for (uint32_t k = 0; k < DOCUMENTS; k++)
                assert_true(k == i || oracle->component[k] != i);
    }
    assert_in_range(n_components, DOCUMENTS / 10, DOCUMENTS - 50);
    nd_linking_free(l);
}

/* Filters that hold all keys, that take rounds, and that hold nothing; more documents than said. */
static void components_are_those_of_all_pairs(void **state)
{
    static const char *const recipes[] = {"", "threshold=0.5", "candidates=simhash", "manku-2007",
                                          "candidates=identity"};
    static const struct nd_linking_options sizes[] = {
        {.sort_bytes = 1 << 20, .filter_bytes = 1 << 20, .rows_bytes = 1 << 20, .records = 700},
        {.sort_bytes = 1, .filter_bytes = 1 << 13, .rows_bytes = 1 << 18, .records = 700},
        {.sort_bytes = 1, .filter_bytes = 1, .rows_bytes = 1 << 20, .records = 70000},
        {.sort_bytes = 1 << 16, .filter_bytes = 1 << 20, .rows_bytes = 1 << 20},
    };

    (void)state;
    for (size_t r = 0; r < sizeof recipes / sizeof *recipes; r++) {
        struct nd_recipe recipe = recipe_of(recipes[r]);
        struct oracle *oracle = make_oracle(&recipe);

        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct nd_linking_options options = sizes[i];

            options.recipe = &recipe;
            options.tmp = "/tmp";
            options.pool = nd_pool_new(1 + (unsigned)i, NULL);
            assert_non_null(options.pool);
            check(&options, i % 2 ? DOCUMENTS : 33, oracle, recipes[r]);
            nd_pool_free(options.pool);
        }
        free_oracle(oracle);
    }
}

/* How many keys several documents have, each counted for each of them. */
static size_t count_shared(const struct oracle *o)
{
    size_t n = 0;

    for (size_t i = 0; i < DOCUMENTS; i++)
        for (size_t k = 0; k < o->n_keys[i]; k++) {
            bool is_shared = false;

            for (size_t other = 0; other < DOCUMENTS && !is_shared; other++)
                for (size_t m = 0; m < o->n_keys[other] && !is_shared; m++)
                    is_shared = other != i && o->keys[other][m] == o->keys[i][k];
            n += is_shared;
        }
    return n;
}

static void keys_of_one_document_are_not_written(void **state)
{
    struct nd_recipe recipe = nd_recipe_default();
    struct nd_linking_options options = {.recipe = &recipe,
                                         .tmp = "/tmp",
                                         .pool = nd_pool_new(1, NULL),
                                         .filter_bytes = 1 << 20,
                                         .sort_bytes = 1,
                                         .rows_bytes = 1 << 20,
                                         .records = DOCUMENTS};
    struct nd_candidate_rows *rows = nd_candidate_rows_new(&recipe, NULL);
    struct oracle *oracle = make_oracle(&recipe);
    size_t n_shared = count_shared(oracle);
    struct nd_linking *l = NULL;
    uint64_t bytes;

    (void)state;
    assert_non_null(options.pool);
    assert_non_null(rows);
    assert_int_equal(link_all(&options, 1, DOCUMENTS, &l, NULL), ND_OK);
    bytes = nd_linking_spilled(l) - DOCUMENTS * nd_candidate_rows_bytes(rows);
    assert_in_range(bytes / 16, n_shared, n_shared * 11 / 10);
    nd_candidate_rows_free(rows);
    nd_linking_free(l);
    nd_pool_free(options.pool);
    free_oracle(oracle);
}

/* ---- Failures ---- */

static enum nd_status link_times(unsigned times, struct nd_error *err)
{
    struct nd_recipe recipe = nd_recipe_default();
    struct nd_linking_options options = {
        .recipe = &recipe, .tmp = "/tmp", .pool = nd_pool_new(1, err), .records = DOCUMENTS};
    struct nd_linking *l = NULL;
    enum nd_status status = options.pool ? link_all(&options, times, 100, &l, err) : err->status;

    nd_linking_free(l);
    nd_pool_free(options.pool);
    return status;
}

static void memory_that_runs_out_is_reported(void **state)
{
#if HAS_OWN_MALLOC
    (void)state;
    skip();
#else
    enum nd_status status = ND_ENOMEM;

    (void)state;
    for (long at = 1; status != ND_OK; at++) {
        struct nd_error err = {0};

        atomic_store(&until_failure, at);
        status = link_times(1, &err);
        atomic_store(&until_failure, 0);
        if (status != ND_OK)
            assert_int_equal(status, ND_ENOMEM);
        assert_true(at < 10000);
    }
#endif
}

/* A limit on the size of files stands for a full disk. */
static void a_full_disk_is_reported(void **state)
{
    struct rlimit before, small;
    struct nd_error err = {0};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){1 << 12, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(link_times(20, &err), ND_EIO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_non_null(strstr(err.message, "/tmp: the temporary file in it cannot be written: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_are_those_of_all_pairs),
        cmocka_unit_test(keys_of_one_document_are_not_written),
        cmocka_unit_test(memory_that_runs_out_is_reported),
        cmocka_unit_test(a_full_disk_is_reported),
    };

    return cmocka_run_group_tests(tests, make_texts, NULL);
}
