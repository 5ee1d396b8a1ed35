/* test_candidate_rows.c - components of documents that could match decide as all documents together */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/candidates.h>

#include "base/hash.h"
#include "recipe/recipe_struct.h"

enum { DOCUMENTS = 300, WORDS = 60, TEXT_MAX = WORDS * 8 };

static uint64_t random_state = 3;

static uint64_t below(uint64_t n)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return nd_mix64(random_state) % n;
}

static char text[DOCUMENTS][TEXT_MAX];
static struct nd_dedup_item item[DOCUMENTS];

static void write_text(unsigned i, const unsigned *word, unsigned n)
{
    size_t len = 0;

    text[i][0] = 0;
    for (unsigned w = 0; w < n; w++)
        len +=
            (size_t)snprintf(text[i] + len, TEXT_MAX - len, "%c%u ", i % 11 ? 'w' : 'W', word[w]);
    item[i] = (struct nd_dedup_item){.text = {text[i], len}, .group = below(4) == 0};
}

/* Edited copies of earlier texts, near and less near; some equal, some short, some empty. */
static int make_texts(void **state)
{
    static unsigned words[DOCUMENTS][WORDS], length[DOCUMENTS];

    (void)state;
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        bool is_new = i < 10 || below(4) == 0;
        unsigned from = is_new ? 0 : (unsigned)below(i), edits = (unsigned)below(12);

        length[i] = is_new ? (unsigned)below(WORDS) : length[from];
        if (below(12) == 0)
            length[i] = (unsigned)below(4);
        for (unsigned w = 0; w < length[i]; w++)
            words[i][w] = is_new || w >= length[from] ? (unsigned)below(5000) : words[from][w];
        for (; edits && length[i] && !is_new; edits--)
            words[i][below(length[i])] = (unsigned)below(5000);
        write_text(i, words[i], length[i]);
    }
    return 0;
}

static struct nd_recipe *recipe_of(const char *const *keys)
{
    struct nd_recipe *recipe = nd_recipe_new(NULL);
    struct nd_error err;

    for (; *keys; keys++)
        if (!strchr(*keys, '='))
            assert_int_equal(nd_recipe_by_name(recipe, *keys, &err), ND_OK);
        else
            assert_int_equal(nd_recipe_set(recipe, *keys, &err), ND_OK);
    return recipe;
}

/* ---- Components ---- */

struct keyed {
    uint64_t key;
    uint32_t document;
};

struct corpus {
    struct nd_candidate_rows *rows;
    unsigned char *row[DOCUMENTS];
    struct keyed *keyed;
    size_t n_keyed;
    uint32_t root[DOCUMENTS];
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    return x->key < y->key ? -1 : x->key > y->key ? 1 : (x->document > y->document) * 2 - 1;
}

/* Rows that tell keys tell those that they were made with. */
static void check_keys_told(const struct corpus *c, uint32_t i, const uint64_t *keys, size_t n)
{
    uint64_t told[ND_CANDIDATE_KEYS_MAX];

    if (!nd_candidate_rows_tell_keys(c->rows))
        return;
    assert_int_equal(nd_candidate_rows_keys(c->rows, c->row[i], told), n);
    assert_memory_equal(told, keys, n * sizeof *keys);
}

static void make_rows(struct corpus *c)
{
    uint64_t keys[ND_CANDIDATE_KEYS_MAX];
    struct nd_error err;
    size_t n;

    c->keyed = calloc(DOCUMENTS * (size_t)ND_CANDIDATE_KEYS_MAX, sizeof *c->keyed);
    assert_non_null(c->keyed);
    for (uint32_t i = 0; i < DOCUMENTS; i++) {
        c->root[i] = i;
        c->row[i] = calloc(1, nd_candidate_rows_bytes(c->rows));
        assert_non_null(c->row[i]);
        assert_int_equal(
            nd_candidate_rows_make(c->rows, &item[i], item[i].group, c->row[i], keys, &n, &err),
            ND_OK);
        assert_true(n <= ND_CANDIDATE_KEYS_MAX);
        check_keys_told(c, i, keys, n);
        for (size_t k = 0; k < n; k++)
            c->keyed[c->n_keyed++] = (struct keyed){keys[k], i};
    }
    qsort(c->keyed, c->n_keyed, sizeof *c->keyed, by_key);
}

static void unite(struct corpus *c, uint32_t a, uint32_t b)
{
    uint32_t from = c->root[a] > c->root[b] ? c->root[a] : c->root[b],
             to = c->root[a] > c->root[b] ? c->root[b] : c->root[a];

    for (uint32_t i = 0; i < DOCUMENTS; i++)
        if (c->root[i] == from)
            c->root[i] = to;
}

static void link_bucket(struct corpus *c, const struct keyed *member, size_t n)
{
    const void *row[DOCUMENTS];
    uint32_t parent[DOCUMENTS];

    for (size_t i = 0; i < n; i++)
        row[i] = c->row[member[i].document];
    if (member->key & 1)
        memset(parent, 0, sizeof parent);
    else
        assert_int_equal(nd_candidate_rows_link(c->rows, row, n, parent, NULL), ND_OK);
    for (size_t i = 0; i < n; i++) {
        assert_true(parent[i] <= i);
        unite(c, member[i].document, member[parent[i]].document);
        for (size_t k = 0; k < i && !(member->key & 1); k++)
            if (nd_candidate_rows_could_match(c->rows, row[i], row[k]))
                assert_int_equal(parent[i], parent[k]);
    }
}

static void release_corpus(struct corpus *c)
{
    for (size_t i = 0; i < DOCUMENTS; i++)
        free(c->row[i]);
    free(c->keyed);
    nd_candidate_rows_free(c->rows);
}

/* The decisions of an engine about some documents. */
static void decide(const struct nd_recipe *recipe, const uint32_t *document, size_t n,
                   struct nd_decision *decision)
{
    struct nd_dedup_item some[DOCUMENTS];
    struct nd_component_via via[DOCUMENTS];
    struct nd_decision made[DOCUMENTS];
    struct nd_dedup *d = nd_dedup_new(recipe, NULL, NULL);
    char *cluster;

    assert_non_null(d);
    assert_int_equal(nd_recipe_get(recipe, "cluster", &cluster, NULL), ND_OK);
    for (size_t i = 0; i < n; i++)
        some[i] = item[document[i]];
    if (strcmp(cluster, "components") == 0) {
        assert_int_equal(nd_dedup_push_components(d, some, n, NULL), ND_OK);
        assert_int_equal(nd_dedup_components(d, 0, n, made, via, NULL), ND_OK);
    } else {
        assert_int_equal(nd_dedup_push(d, some, n, made, NULL), ND_OK);
    }
    for (size_t i = 0; i < n; i++) {
        decision[document[i]] = made[i];
        decision[document[i]].kept = document[made[i].kept];
    }
    free(cluster);
    nd_dedup_free(d);
}

static void check_recipe(const char *const *keys, unsigned components_at_least)
{
    struct nd_recipe *recipe = recipe_of(keys);
    struct corpus c = {.rows = nd_candidate_rows_new(recipe, NULL)};
    struct nd_decision whole[DOCUMENTS], parts[DOCUMENTS];
    uint32_t all[DOCUMENTS];
    unsigned n_components = 0;

    assert_non_null(c.rows);
    make_rows(&c);
    for (size_t from = 0, to; from < c.n_keyed; from = to) {
        for (to = from + 1; to < c.n_keyed && c.keyed[to].key == c.keyed[from].key;)
            to++;
        link_bucket(&c, c.keyed + from, to - from);
    }
    for (uint32_t i = 0; i < DOCUMENTS; i++)
        all[i] = i;
    decide(recipe, all, DOCUMENTS, whole);
    recipe->dedup.threads = 1;
    for (uint32_t root = 0; root < DOCUMENTS; root++) {
        uint32_t member[DOCUMENTS];
        size_t n = 0;

        for (uint32_t i = 0; i < DOCUMENTS; i++)
            if (c.root[i] == root)
                member[n++] = i;
        if (n)
            decide(recipe, member, n, parts);
        n_components += n > 0;
    }
    assert_true(n_components >= components_at_least);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        assert_int_equal(parts[i].kept, whole[i].kept);
        assert_int_equal(parts[i].identical, whole[i].identical);
        assert_int_equal(parts[i].was_cut, whole[i].was_cut);
        assert_int_equal(parts[i].checks, whole[i].checks);
        assert_int_equal(parts[i].overlap.shared, whole[i].overlap.shared);
        assert_int_equal(parts[i].distance, whole[i].distance);
    }
    release_corpus(&c);
    nd_recipe_free(recipe);
}

static void components_decide_as_all_documents_do(void **state)
{
    static const char *const recipes[][5] = {
        {NULL},
        {"threshold=0.5", NULL},
        {"threshold=0.3", "max_checks=3", NULL},
        {"threshold=0.6", "cluster=components", NULL},
        {"threshold=0.6", "cluster=complete", NULL},
        {"threshold=0.5", "cluster=components", "max_checks=2", NULL},
        {"short=tokens", NULL},
        {"short=keep", NULL},
        {"candidates=simhash", "threshold=0.5", "simhash_bits=8", NULL},
        {"candidates=simhash", "verify=none", NULL},
        {"candidates=identity", NULL},
        {"unit=characters", "shingle=7", NULL},
        {"verify=none", "bands=12", "rows=8", NULL},
        {"manku-2007", NULL},
        {"henzinger-2006-c", NULL},
        {"henzinger-2006-b", NULL},
        {"henzinger-2006-combined", "max_checks=3", NULL},
        {"pugh-henzinger-2003", NULL},
        {"text-profile", "cluster=components", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        check_recipe(recipes[i], DOCUMENTS / 10);
}

static void rows_tell_keys_but_for_identity_and_rules(void **state)
{
    static const struct {
        const char *keys[3];
        int tell;
    } recipes[] = {
        {{NULL}, 1},
        {{"candidates=simhash", NULL}, 1},
        {{"verify=none", NULL}, 1},
        {{"candidates=identity", NULL}, 0},
        {{"manku-2007", NULL}, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        struct nd_recipe *recipe = recipe_of(recipes[i].keys);
        struct nd_candidate_rows *rows = nd_candidate_rows_new(recipe, NULL);

        assert_non_null(rows);
        assert_int_equal(nd_candidate_rows_tell_keys(rows), recipes[i].tell);
        nd_candidate_rows_free(rows);
        nd_recipe_free(recipe);
    }
}

/* ---- Links ---- */

static struct nd_candidate_rows *rows_of(const char *const *keys)
{
    struct nd_recipe *recipe = recipe_of(keys);
    struct nd_candidate_rows *rows = nd_candidate_rows_new(recipe, NULL);

    assert_non_null(rows);
    nd_recipe_free(recipe);
    return rows;
}

static struct nd_candidate_rows *default_rows(void)
{
    static const char *const keys[] = {NULL};

    return rows_of(keys);
}

/* As above, but a key lists a million documents, so that all of them are compared. */
static struct nd_candidate_rows *roomy_rows(void)
{
    static const char *const keys[] = {"max_checks=1000000", NULL};

    return rows_of(keys);
}

/* Rows behind a head of 16 bytes, which differ from the one `step` before in `changes` bytes. */
static unsigned char *random_rows(size_t n, size_t bytes, size_t step, unsigned changes)
{
    unsigned char *row = calloc(n, bytes);

    assert_non_null(row);
    for (size_t i = 0; i < n; i++) {
        unsigned char *low = row + i * bytes + 16;

        for (size_t k = 0; k < bytes - 16; k++)
            low[k] = i < step ? (unsigned char)below(256) : (low - step * bytes)[k];
        for (unsigned k = 0; k < changes; k++)
            low[below(bytes - 16)] = (unsigned char)below(256);
    }
    return row;
}

static size_t link_rows(const struct nd_candidate_rows *rows, const unsigned char *row, size_t n,
                        uint32_t *parent)
{
    size_t bytes = nd_candidate_rows_bytes(rows), trees = 0;
    const void **at = calloc(n, sizeof *at);

    assert_non_null(at);
    for (size_t i = 0; i < n; i++)
        at[i] = row + i * bytes;
    assert_int_equal(nd_candidate_rows_link(rows, at, n, parent, NULL), ND_OK);
    for (size_t i = 0; i < n; i++)
        trees += parent[i] == i;
    free(at);
    return trees;
}

/* 40 chains, in which only neighbours could match. */
static void chains_are_linked_and_kept_apart(void **state)
{
    enum { CHAINS = 40, ROWS = 2000 };
    struct nd_candidate_rows *rows = roomy_rows();
    unsigned char *row = random_rows(ROWS, nd_candidate_rows_bytes(rows), CHAINS, 20);
    static uint32_t parent[ROWS];

    (void)state;
    assert_int_equal(link_rows(rows, row, ROWS, parent), CHAINS);
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(parent[i], i % CHAINS);
    free(row);
    nd_candidate_rows_free(rows);
}

/* A forest of so many near copies takes a comparison each; and what cannot be told apart in time is
 * one tree. */
static void large_buckets_take_linear_time(void **state)
{
    enum { ROWS = 200000, STRANGERS = 5000 };
    struct nd_candidate_rows *rows = roomy_rows();
    size_t bytes = nd_candidate_rows_bytes(rows);
    unsigned char *row = random_rows(ROWS, bytes, 1, 0);
    uint32_t *parent = calloc(ROWS, sizeof *parent);

    (void)state;
    assert_non_null(parent);
    assert_int_equal(link_rows(rows, row, ROWS, parent), 1);
    free(row);
    row = random_rows(STRANGERS, bytes, STRANGERS, 0);
    assert_int_equal(link_rows(rows, row, 1000, parent), 1000);
    assert_int_equal(link_rows(rows, row, STRANGERS, parent), 1);
    free(row);
    free(parent);
    nd_candidate_rows_free(rows);
}

/* Under a key that may be full, who is listed depends on all that share it. */
static void as_many_as_a_key_lists_are_one_tree(void **state)
{
    struct nd_candidate_rows *rows = default_rows();
    size_t n = nd_candidate_rows_key_room(rows);
    unsigned char *row = random_rows(n, nd_candidate_rows_bytes(rows), n, 0);
    uint32_t *parent = calloc(n, sizeof *parent);

    (void)state;
    assert_non_null(parent);
    assert_int_equal(n, 256); /* max_checks */
    assert_int_equal(link_rows(rows, row, n - 1, parent), n - 1);
    assert_int_equal(link_rows(rows, row, n, parent), 1);
    free(row);
    free(parent);
    nd_candidate_rows_free(rows);
}

static void no_rows_have_no_links(void **state)
{
    struct nd_candidate_rows *rows = default_rows();
    uint32_t parent;

    (void)state;
    assert_int_equal(nd_candidate_rows_link(rows, NULL, 0, &parent, NULL), ND_OK);
    nd_candidate_rows_free(rows);
    nd_candidate_rows_free(NULL);
}

/* ---- What is refused ---- */

static void recipes_that_need_all_documents_are_refused(void **state)
{
    static const struct {
        const char *keys[4], *named;
    } refused[] = {
        {{"candidates=all", NULL}, "candidates:"},
        {{"verify=containment", NULL}, "verify:"},
        {{"verify=cosine", "bands=20", "rows=5", NULL}, "verify:"},
        {{"broder-1997", NULL}, "match:"},
        {{"cops-1995", NULL}, "match:"},
        {{"winnowing-2003", NULL}, "match:"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct nd_recipe *recipe = recipe_of(refused[i].keys);
        struct nd_error err;

        assert_null(nd_candidate_rows_new(recipe, &err));
        assert_int_equal(err.status, ND_EUNSUPPORTED);
        assert_memory_equal(err.message, refused[i].named, strlen(refused[i].named));
        nd_recipe_free(recipe);
    }
}

static void a_text_that_is_not_utf8_is_refused(void **state)
{
    const struct nd_dedup_item bad = {.text = {"a b \xff", 5}};
    struct nd_candidate_rows *rows = default_rows();
    uint64_t keys[ND_CANDIDATE_KEYS_MAX];
    unsigned char row[256];
    struct nd_error err;
    size_t n;

    (void)state;
    assert_true(nd_candidate_rows_bytes(rows) <= sizeof row);
    assert_int_equal(nd_candidate_rows_make(rows, &bad, 0, row, keys, &n, &err), ND_EINVAL);
    assert_int_equal(nd_candidate_rows_make(rows, &item[20], 0, row, keys, &n, &err), ND_OK);
    nd_candidate_rows_free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_decide_as_all_documents_do),
        cmocka_unit_test(rows_tell_keys_but_for_identity_and_rules),
        cmocka_unit_test(chains_are_linked_and_kept_apart),
        cmocka_unit_test(large_buckets_take_linear_time),
        cmocka_unit_test(as_many_as_a_key_lists_are_one_tree),
        cmocka_unit_test(no_rows_have_no_links),
        cmocka_unit_test(recipes_that_need_all_documents_are_refused),
        cmocka_unit_test(a_text_that_is_not_utf8_is_refused),
    };

    return cmocka_run_group_tests(tests, make_texts, NULL);
}
