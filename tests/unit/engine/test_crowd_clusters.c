/* test_crowd_clusters.c - near copies in components, complete link, pairs and questions: what is
 * compared, and that it does not depend on what it should not */
#include "crowd_fixture.h"
#include "engine/engine.h"

static struct nd_dedup_stats push_components(const struct nd_dedup_params *p,
                                             const struct corpus *c, unsigned batch,
                                             struct nd_decision *got, struct nd_component_via *via)
{
    struct nd_dedup *d = nd_dedup_new_with(p, NULL, NULL);
    struct nd_dedup_stats stats;

    assert_non_null(d);
    for (unsigned i = 0; i < c->n; i += batch)
        assert_int_equal(
            nd_dedup_push_components(d, c->item + i, batch < c->n - i ? batch : c->n - i, NULL),
            ND_OK);
    assert_int_equal(nd_dedup_components(d, 0, c->n, got, via, NULL), ND_OK);
    nd_dedup_get_stats(d, &stats);
    nd_dedup_free(d);
    return stats;
}

/* A forest: each near copy is compared about once, in whatever batches, and all are one. */
static void near_copies_make_a_forest(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = new_corpus();
    static struct nd_decision got[MOST];
    static struct nd_component_via via[MOST];

    (void)state;
    p.cluster = ND_CLUSTER_COMPONENTS;
    while (c->n < 3000)
        add_near_copy(c);
    for (unsigned batch = 300; batch <= 3000; batch *= 10) {
        struct nd_dedup_stats stats = push_components(&p, c, batch, got, via);

        assert_int_equal(stats.kept, 1);
        assert_true(stats.checks < 2 * c->n);
        assert_true(stats.crowded_documents > c->n / 2);
    }
    free_corpus(c);
}

/*
 * If few words are used, a document is compared with max_checks others, and what is left out of
 * that is counted: the same in any batches and on any threads.
 */
static void components_of_small_vocabularies_are_bounded(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = new_corpus();
    static struct nd_decision got[MOST];
    static struct nd_component_via via[MOST];
    uint64_t kept = 0, cut = 0;

    (void)state;
    p.cluster = ND_CLUSTER_COMPONENTS;
    p.threshold = (struct nd_ratio){7, 10};
    p.max_checks = 4;
    while (c->n < 2000)
        add_small_vocabulary(c);
    for (unsigned i = 0; i < 4; i++) {
        static const unsigned batch[] = {1, 70, 500, 2000};
        struct nd_dedup_stats stats;

        p.threads = 1 + i % 3;
        stats = push_components(&p, c, batch[i], got, via);
        assert_true(stats.checks <= (uint64_t)c->n * p.max_checks);
        assert_true(stats.cut_documents > c->n / 50);
        assert_true(i == 0 || (stats.kept == kept && stats.cut_documents == cut));
        kept = stats.kept;
        cut = stats.cut_documents;
    }
    free_corpus(c);
}

/* Template pages, their variants and near copies, in components: the same in any batches, on any
 * threads, and with or without documents elsewhere. */
static void components_depend_on_no_document_elsewhere(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = new_corpus(), *part = new_corpus();
    static struct nd_decision got[MOST], again[MOST], alone[MOST];
    static struct nd_component_via via[MOST], via_again[MOST];
    static unsigned parent[MOST], whole[MOST];
    struct nd_dedup_stats stats, stats_again;
    struct known *known;

    (void)state;
    p.cluster = ND_CLUSTER_COMPONENTS;
    p.bands = 3;
    p.rows = 2;
    p.max_checks = 16;
    while (c->n < 1000) {
        unsigned kind = c->n ? below(5) : 0;

        if (kind == 0)
            add_page(c, 0, 60, 12);
        else if (kind == 1)
            add_variant(c, below(c->n));
        else if (kind == 2)
            add_near_copy(c);
        else
            add_page(c, 0, 30, 50);
    }
    known = read_all(c, &p);
    join_all(c, known, p.bands, p.rows, parent);
    p.threads = 1;
    stats = push_components(&p, c, 1000, got, via);
    assert_true(stats.crowded_keys > 100 && stats.kept > 300);
    for (p.threads = 1; p.threads <= 3; p.threads++) {
        stats_again = push_components(&p, c, 70 * p.threads, again, via_again);
        assert_memory_equal(&via, &via_again, sizeof via);
        for (unsigned i = 0; i < c->n; i++)
            assert_int_equal(got[i].kept, again[i].kept);
        assert_int_equal(stats.checks, stats_again.checks);
        assert_int_equal(stats.crowded_keys, stats_again.crowded_keys);
    }
    for (unsigned i = 0; i < c->n; i++)
        if (root(parent, i) == root(parent, 0)) {
            whole[part->n] = i;
            part->item[part->n++] = c->item[i];
        }
    assert_true(part->n > 100 && part->n < c->n - 100);
    (void)push_components(&p, part, 130, alone, via_again);
    for (unsigned i = 0; i < part->n; i++) {
        assert_int_equal(whole[alone[i].kept], got[whole[i]].kept);
        assert_int_equal(whole[via_again[i].document], via[whole[i]].document);
    }
    free(known);
    free_corpus(part);
    free_corpus(c);
}

static bool reaches(const struct corpus *c, const struct nd_dedup_params *p, size_t a, size_t b)
{
    struct nd_dedup_params own = *p;
    struct nd_dedup_item pair[2] = {c->item[a], c->item[b]};
    struct nd_decision got[2];
    struct nd_dedup *d;

    own.cluster = ND_CLUSTER_STAR;
    own.candidates = ND_CANDIDATES_ALL;
    own.threads = 1;
    d = nd_dedup_new_with(&own, NULL, NULL);
    assert_non_null(d);
    assert_int_equal(nd_dedup_push(d, pair, 2, got, NULL), ND_OK);
    nd_dedup_free(d);
    return got[1].kept == 0;
}

/*
 * Few are compared if the distances to the kept one do not decide; one that is not compared does
 * not join.
 */
static void complete_link_compares_few(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = new_corpus();
    static struct nd_decision got[MOST], again[MOST];
    struct nd_dedup_stats stats, stats_again;
    unsigned checked = 0;

    (void)state;
    p.cluster = ND_CLUSTER_COMPLETE;
    p.threads = 1;
    p.max_checks = 8;
    while (c->n < 600)
        add_near_copy(c);
    while (c->n < 1000)
        add_variant(c, c->n - 1 - below(100));
    stats = push(&p, c, 1000, got);
    assert_true(stats.checks <= 2 * (uint64_t)p.max_checks * c->n);
    assert_true(stats.cut_documents > 0);
    assert_true(stats.kept < c->n / 2);
    for (p.threads = 1; p.threads <= 3; p.threads++) {
        stats_again = push(&p, c, 90 * p.threads, again);
        assert_int_equal(stats.checks, stats_again.checks);
        for (unsigned i = 0; i < c->n; i++) {
            assert_int_equal(got[i].kept, again[i].kept);
            assert_int_equal(got[i].was_cut, again[i].was_cut);
            assert_int_equal(got[i].checks, again[i].checks);
        }
    }
    for (unsigned i = 0; i < c->n; i++)
        for (unsigned j = 0; j < i; j++)
            if (got[i].kept == got[j].kept && below(4) == 0) {
                assert_true(reaches(c, &p, j, i));
                checked++;
            }
    assert_true(checked > 100);
    free_corpus(c);
}

/* All match by their distance to the kept one: nothing is compared but with kept ones. */
static void complete_link_trusts_distances(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = new_corpus();
    static struct nd_decision got[MOST];
    struct nd_dedup_stats stats;

    (void)state;
    p.cluster = ND_CLUSTER_COMPLETE;
    p.threshold = (struct nd_ratio){7, 10};
    p.max_checks = 1;
    while (c->n < 2000)
        add_near_copy(c);
    stats = push(&p, c, 400, got);
    assert_int_equal(stats.kept, 1);
    assert_int_equal(stats.cut_documents, 0);
    assert_true(stats.checks < c->n);
    free_corpus(c);
}

struct counting {
    uint64_t n, last_a;
};

static enum nd_status count_pair(void *context, const struct nd_found_pair *pair)
{
    struct counting *counting = context;

    assert_true(pair->a >= counting->last_a && pair->b < pair->a);
    counting->last_a = pair->a;
    counting->n++;
    return ND_OK;
}

static enum nd_status count_match(void *context, const struct nd_found_pair *pair)
{
    (void)pair;
    ((struct counting *)context)->n++;
    return ND_OK;
}

/* More pairs than are held at once, in one push. */
static void pairs_of_equal_documents_are_all_told_of(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = new_corpus();
    struct counting counting = {0, 0};
    struct nd_dedup *d;

    (void)state;
    p.cluster = ND_CLUSTER_PAIRS;
    p.threads = 3;
    while (c->n < 1600) {
        random_state = 9;
        add_near_copy(c);
    }
    d = nd_dedup_new_with(&p, NULL, NULL);
    assert_non_null(d);
    assert_int_equal(nd_dedup_push_pairs(d, c->item, c->n, count_pair, &counting, NULL), ND_OK);
    assert_int_equal(counting.n, (uint64_t)c->n * (c->n - 1) / 2);
    nd_dedup_free(d);
    free_corpus(c);
}

/* Documents that are only pushed for asking are compared with nothing, and bound what is asked. */
static void asking_a_crowd_is_bounded(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = new_corpus();
    struct nd_dedup_stats stats;
    struct counting counting = {0, 0};
    struct nd_dedup *d;

    (void)state;
    p.cluster = ND_CLUSTER_PAIRS;
    p.max_checks = 16;
    while (c->n < 2000)
        add_near_copy(c);
    d = nd_dedup_new_with(&p, NULL, NULL);
    assert_non_null(d);
    assert_int_equal(nd_dedup_push_prototypes(d, c->item, c->n, NULL), ND_OK);
    nd_dedup_get_stats(d, &stats);
    assert_int_equal(stats.checks, 0);
    assert_true(stats.crowded_documents > c->n / 2);
    for (unsigned i = 0; i < c->n; i += 100) {
        uint64_t before = counting.n;

        counting.last_a = 0;
        assert_int_equal(nd_dedup_query(d, &c->item[i], 1, count_match, &counting, NULL), ND_OK);
        assert_true(counting.n > before && counting.n <= before + p.max_checks);
    }
    nd_dedup_free(d);
    free_corpus(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_copies_make_a_forest),
        cmocka_unit_test(components_of_small_vocabularies_are_bounded),
        cmocka_unit_test(components_depend_on_no_document_elsewhere),
        cmocka_unit_test(complete_link_compares_few),
        cmocka_unit_test(complete_link_trusts_distances),
        cmocka_unit_test(pairs_of_equal_documents_are_all_told_of),
        cmocka_unit_test(asking_a_crowd_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
