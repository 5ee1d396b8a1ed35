/* test_cluster_estimate.c - the share of duplicates estimated from blocks, beside the true one */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <math.h>

#include "base/hash.h"
#include "uses/plan/cluster_estimate.h"

enum { DOCUMENTS = 20000, IN_BLOCK = 20 };

/* A corpus: the cluster of each document, in the order of the input. */
struct corpus {
    uint64_t cluster[DOCUMENTS];
    size_t n;
    uint64_t clusters;
};

static double uniform(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    return (double)(nd_mix64(*state) >> 11) * 0x1p-53;
}

static void add_cluster(struct corpus *c, size_t size)
{
    for (size_t i = 0; i < size && c->n < DOCUMENTS; i++)
        c->cluster[c->n++] = c->clusters;
    c->clusters++;
}

static void shuffle(struct corpus *c, uint64_t seed)
{
    for (size_t i = c->n; i > 1; i--) {
        size_t k = (size_t)(uniform(&seed) * (double)i);
        uint64_t kept = c->cluster[i - 1];

        c->cluster[i - 1] = c->cluster[k];
        c->cluster[k] = kept;
    }
}

/* Sizes of clusters with the density of k^-exponent; one share of documents is alone. */
static void make_zipf(struct corpus *c, double exponent, uint64_t seed)
{
    *c = (struct corpus){.n = 0};
    while (c->n < DOCUMENTS)
        add_cluster(c, (size_t)fmin(pow(1 - uniform(&seed), -1 / (exponent - 1)), 500));
}

static void make_pairs(struct corpus *c, double share, uint64_t seed)
{
    *c = (struct corpus){.n = 0};
    while (c->n < DOCUMENTS)
        add_cluster(c, uniform(&seed) < share ? 2 : 1);
}

static double share_of(const struct corpus *c)
{
    return 1 - (double)c->clusters / (double)c->n;
}

/* Every `stride`-th block, from one that the seed chooses. */
static struct nd_estimate estimate(const struct corpus *c, size_t stride, uint64_t seed)
{
    struct nd_sampled_document *d = malloc(c->n * sizeof *d);
    struct nd_estimate e;
    size_t n = 0, first = (size_t)(uniform(&seed) * (double)stride);

    assert_non_null(d);
    for (size_t i = 0; i < c->n; i++)
        if (i / IN_BLOCK % stride == first)
            d[n++] = (struct nd_sampled_document){c->cluster[i], (uint32_t)(i / IN_BLOCK)};
    assert_int_equal(nd_estimate_duplicates(d, n, (double)c->n / (double)n, &e, NULL), ND_OK);
    assert_true(e.low <= e.value && e.value <= e.high);
    assert_true(e.low >= 0 && e.high <= 1);
    free(d);
    return e;
}

/* A quarter of the documents: every estimate within three tenths of the truth, and all but so many
 * intervals hold it. */
static void assert_near(struct corpus *(*make)(uint64_t seed), unsigned most_missed)
{
    unsigned missed = 0;

    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct corpus *c = make(seed);
        struct nd_estimate e = estimate(c, 4, seed);
        double truth = share_of(c);

        if (fabs(e.value / truth - 1) > 0.3)
            fail_msg("seed %u: %g for %g", (unsigned)seed, e.value, truth);
        missed += truth < e.low || truth > e.high;
    }
    assert_true(missed <= most_missed);
}

static struct corpus made;

static struct corpus *pairs(uint64_t seed)
{
    make_pairs(&made, 0.1, seed);
    shuffle(&made, seed);
    return &made;
}

static struct corpus *heavy_tail(uint64_t seed)
{
    make_zipf(&made, 2.5, seed);
    shuffle(&made, seed);
    return &made;
}

static struct corpus *light_tail(uint64_t seed)
{
    make_zipf(&made, 3.5, seed);
    shuffle(&made, seed);
    return &made;
}

static struct corpus *side_by_side(uint64_t seed)
{
    make_zipf(&made, 3, seed);
    return &made;
}

static void pairs_are_estimated(void **state)
{
    (void)state;
    assert_near(pairs, 3);
}

static void clusters_of_all_sizes_are_estimated(void **state)
{
    (void)state;
    assert_near(heavy_tail, 3);
    assert_near(light_tail, 3);
}

static void duplicates_side_by_side_are_not_counted_as_pairs_of_blocks(void **state)
{
    (void)state;
    /* Clusters across the end of a block have one part in the sample: less is found. */
    assert_near(side_by_side, 10);
}

static void no_duplicates_are_estimated_as_none(void **state)
{
    struct nd_estimate e;

    (void)state;
    make_pairs(&made, 0, 1);
    e = estimate(&made, 10, 1);
    assert_true(e.value == 0 && e.low == 0);
    assert_true(e.high > 0 && e.high < 0.05);
}

/* Fewer documents tell less. */
static void the_interval_grows_as_the_sample_shrinks(void **state)
{
    double before = 0;

    (void)state;
    pairs(1);
    for (size_t stride = 2; stride <= 50; stride *= 5) {
        struct nd_estimate e = estimate(&made, stride, 1);

        assert_true(e.high - e.low > before);
        before = e.high - e.low;
    }
}

static void a_sample_of_everything_is_exact(void **state)
{
    struct nd_estimate e;

    (void)state;
    heavy_tail(1);
    e = estimate(&made, 1, 1);
    assert_true(e.low == e.value && e.high == e.value);
    assert_true(fabs(e.value - share_of(&made)) < 1e-12);
}

static void the_same_documents_give_the_same_estimate(void **state)
{
    struct nd_estimate a, b;

    (void)state;
    light_tail(3);
    a = estimate(&made, 7, 3);
    b = estimate(&made, 7, 3);
    assert_true(a.value == b.value && a.low == b.low && a.high == b.high);
}

static void an_empty_sample_estimates_nothing(void **state)
{
    struct nd_sampled_document one = {1, 1};
    struct nd_estimate e;

    (void)state;
    assert_int_equal(nd_estimate_duplicates(&one, 0, 3, &e, NULL), ND_OK);
    assert_true(e.value == 0 && e.low == 0 && e.high == 0);
    assert_int_equal(nd_estimate_duplicates(&one, 1, 3, &e, NULL), ND_OK);
    assert_true(e.value == 0 && e.high > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_estimated),
        cmocka_unit_test(clusters_of_all_sizes_are_estimated),
        cmocka_unit_test(duplicates_side_by_side_are_not_counted_as_pairs_of_blocks),
        cmocka_unit_test(no_duplicates_are_estimated_as_none),
        cmocka_unit_test(the_interval_grows_as_the_sample_shrinks),
        cmocka_unit_test(a_sample_of_everything_is_exact),
        cmocka_unit_test(the_same_documents_give_the_same_estimate),
        cmocka_unit_test(an_empty_sample_estimates_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
