/* test_crowd.c - documents that are candidates of one another and match none: how many are listed,
 * and that documents elsewhere have no say in it */
#include "crowd_fixture.h"
#include "recipe/recipe_struct.h"

/* Pages of one template at .78 of one another, twice and four times as many. */
static void candidates_grow_with_the_documents(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = new_corpus();
    static struct nd_decision got[MOST];
    uint64_t candidates[3];

    (void)state;
    p.max_checks = 16;
    for (unsigned i = 0; i < 3; i++) {
        struct nd_dedup_stats stats;

        while (c->n < 1000u << i)
            add_page(c, 0, 100, 14);
        stats = push(&p, c, 500, got);
        candidates[i] = stats.candidates;
        assert_int_equal(stats.kept, c->n);
        assert_true(stats.candidates <= (uint64_t)c->n * p.max_checks * stats.bands);
        assert_true(stats.checks <= (uint64_t)c->n * p.max_checks);
        assert_true(stats.crowded_documents > c->n / 2);
        assert_true(stats.crowded_keys >= stats.crowded_documents);
    }
    assert_true(candidates[1] * 10 < candidates[0] * 23);
    assert_true(candidates[2] * 10 < candidates[1] * 23);
    free_corpus(c);
}

/* How many places under keys the documents of a corpus take. */
static uint64_t listed_places(const struct nd_dedup_stats *stats)
{
    return stats->kept * stats->bands - stats->crowded_keys;
}

/*
 * With twice as many documents, fewer than twice as many are listed, and a document meets few more.
 */
static void small_vocabularies_are_bounded_for_each_document(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = new_corpus();
    static struct nd_decision got[MOST];
    struct nd_dedup_stats half, whole;

    (void)state;
    p.max_checks = 1;
    while (c->n < MOST / 2)
        add_small_vocabulary(c);
    half = push(&p, c, 500, got);
    while (c->n < MOST)
        add_small_vocabulary(c);
    whole = push(&p, c, 500, got);
    assert_true(half.crowded_documents > MOST / 4);
    assert_true(listed_places(&whole) * 10 < listed_places(&half) * 18);
    assert_true(whole.candidates * 10 < half.candidates * 30);
    assert_true(whole.candidates <= (uint64_t)MOST * p.max_checks * whole.bands);
    assert_true(whole.checks <= (uint64_t)MOST * p.max_checks);
    free_corpus(c);
}

/* Whatever is measured: what is left out of full lists is counted, in any batches and on any threads;
 * test_containers.c counts what a look-up meets. */
static void containment_of_small_vocabularies_is_bounded(void **state)
{
    static const enum nd_verify measure[] = {ND_VERIFY_CONTAINMENT, ND_VERIFY_CONTAINMENT_OF_KEPT,
                                             ND_VERIFY_CONTAINMENT_EITHER, ND_VERIFY_COSINE};
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = new_corpus();
    static struct nd_decision got[MOST], again[MOST];

    (void)state;
    while (c->n < MOST)
        add_small_vocabulary(c);
    p.max_checks = 16;
    for (unsigned v = 0; v < 4; v++) {
        struct nd_dedup_stats half, whole, whole_again;

        p.verify = measure[v];
        p.threads = 1;
        c->n = MOST / 2;
        half = push(&p, c, 500, got);
        c->n = MOST;
        whole = push(&p, c, 500, got);
        assert_true(half.crowded_documents > MOST / 4);
        assert_true(whole.crowded_documents > half.crowded_documents + MOST / 4);
        assert_true(whole.checks <= (uint64_t)MOST * p.max_checks);
        p.threads = 3;
        whole_again = push(&p, c, 170, again);
        for (unsigned i = 0; i < c->n; i++)
            assert_int_equal(got[i].kept, again[i].kept);
        assert_int_equal(whole.candidates, whole_again.candidates);
        assert_int_equal(whole.crowded_keys, whole_again.crowded_keys);
    }
    free_corpus(c);
}

/* A later copy of such a page with a word more is found by the words that only they have. */
static void near_copies_in_a_crowd_are_found(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = new_corpus();
    static struct nd_decision got[MOST];
    unsigned n;

    (void)state;
    p.max_checks = 8;
    while (c->n < 1500)
        add_page(c, 0, 100, 14);
    n = c->n;
    for (unsigned i = 0; i < n; i += 10) {
        size_t len = c->item[i].text.len;

        memcpy(c->text[c->n], c->text[i], len);
        len += (size_t)sprintf(c->text[c->n] + len, "more ");
        c->item[c->n].text = (struct nd_view){c->text[c->n], len};
        c->n++;
    }
    (void)push(&p, c, 700, got);
    for (unsigned i = n; i < c->n; i++)
        assert_int_equal(got[i].kept, (i - n) * 10);
    free_corpus(c);
}

/* The documents of the component of the first one, alone and among all. */
static void compare_with_component(const struct corpus *c, const struct nd_dedup_params *p,
                                   const struct nd_decision *got, unsigned *parent)
{
    struct corpus *part = new_corpus();
    static struct nd_decision alone[MOST];
    static unsigned whole[MOST];

    for (unsigned i = 0; i < c->n; i++)
        if (root(parent, i) == root(parent, 0)) {
            whole[part->n] = i;
            part->item[part->n++] = c->item[i];
        }
    assert_true(part->n > 300 && part->n < c->n - 300);
    (void)push(p, part, 170, alone);
    for (unsigned i = 0; i < part->n; i++) {
        const struct nd_decision *x = &alone[i], *y = &got[whole[i]];

        assert_int_equal(whole[x->kept], y->kept);
        assert_int_equal(x->was_cut, y->was_cut);
        assert_int_equal(x->checks, y->checks);
        assert_memory_equal(&x->overlap, &y->overlap, sizeof x->overlap);
    }
    free_corpus(part);
}

/*
 * Pages that share some words with a template have bands in common with its pages, and the keys of
 * these, but too few bytes: whether they are there or not changes nothing for the others.
 */
static void documents_elsewhere_have_no_say(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = new_corpus();
    static struct nd_decision got[MOST];
    static unsigned parent[MOST];
    struct nd_dedup_stats stats;
    unsigned meetings = 0;
    struct known *known;

    (void)state;
    p.bands = 3;
    p.rows = 2;
    while (c->n < 1200) {
        unsigned kind = c->n ? below(4) : 0;

        if (kind == 0)
            add_page(c, 0, 60, 12);
        else if (kind == 1)
            add_variant(c, below(c->n));
        else
            add_page(c, 0, 30, 50);
    }
    known = read_all(c, &p);
    join_all(c, known, p.bands, p.rows, parent);
    for (unsigned i = 0; i < c->n; i++)
        for (unsigned j = 0; j < i; j++)
            meetings +=
                (root(parent, i) == root(parent, 0)) != (root(parent, j) == root(parent, 0)) &&
                share_band(&known[i], &known[j], p.bands, p.rows);
    assert_true(meetings > 1000 && c->n == 1200);
    for (p.max_checks = 1; p.max_checks <= 256; p.max_checks *= 4)
        for (p.threads = 1; p.threads <= 3; p.threads += 2) {
            stats = push(&p, c, 230, got);
            assert_true(stats.crowded_keys > 0 || p.max_checks > 64);
            compare_with_component(c, &p, got, parent);
        }
    free(known);
    free_corpus(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidates_grow_with_the_documents),
        cmocka_unit_test(small_vocabularies_are_bounded_for_each_document),
        cmocka_unit_test(containment_of_small_vocabularies_is_bounded),
        cmocka_unit_test(near_copies_in_a_crowd_are_found),
        cmocka_unit_test(documents_elsewhere_have_no_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
