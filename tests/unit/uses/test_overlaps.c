/* test_overlaps.c - documents searched for by lists of their shingles, beside a comparison of all pairs */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "sketch/shingle_set.h"
#include "uses/audit/overlaps.h"

enum { DOCUMENTS = 120, SHINGLES = 40, WORKERS = 2 };

struct random_document {
    uint64_t shingle[SHINGLES];
    uint32_t n;
};

static uint64_t draw(uint64_t *seed, uint64_t below)
{
    *seed = nd_mix64(*seed + 1);
    return *seed % below;
}

/* Documents of few distinct shingles, one of which is 0; many are like the one before. */
static void make_documents(struct random_document *document, uint64_t seed)
{
    for (size_t i = 0; i < DOCUMENTS; i++) {
        struct random_document *d = &document[i];
        struct nd_shingle_set set = {0};

        if (i && draw(&seed, 3))
            assert_true(nd_shingle_set_add(&set, document[i - 1].shingle, document[i - 1].n));
        for (uint64_t k = 1 + draw(&seed, 12); k && set.count < SHINGLES; k--) {
            const uint64_t drawn = draw(&seed, draw(&seed, 2) ? 30 : 3000),
                           shingle = drawn == 1 ? 0 : drawn; /* 1 stands for 0 */

            assert_true(nd_shingle_set_add(&set, &shingle, 1));
        }
        d->n = (uint32_t)(set.count < SHINGLES ? set.count : SHINGLES);
        memcpy(d->shingle, set.distinct, d->n * sizeof *d->shingle);
        nd_shingle_set_release(&set);
    }
}

static uint32_t shared_of(const struct random_document *a, const struct random_document *b)
{
    uint32_t shared = 0;

    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t k = 0; k < b->n; k++)
            shared += a->shingle[i] == b->shingle[k];
    return shared;
}

/* The nearest of all documents to one that is searched for, pair by pair. */
static struct nd_audit_nearest nearest_of(const struct random_document *document, size_t at,
                                          bool after)
{
    struct nd_audit_nearest best = {0};

    for (size_t i = 0; i < DOCUMENTS; i++) {
        const uint32_t shared = shared_of(&document[i], &document[at]);

        if (i != at && (!after || i < at))
            nd_audit_nearest_offer(&best, (struct nd_audit_nearest){
                                              i, shared, document[i].n + document[at].n - shared});
    }
    return best;
}

static void take_all(const struct nd_overlaps *o, struct nd_overlaps_worker worker[WORKERS],
                     const struct random_document *document)
{
    for (size_t i = 0; i < DOCUMENTS; i++) {
        struct nd_shingle_set set = {0};

        assert_true(nd_shingle_set_build(&set, document[i].shingle, document[i].n));
        nd_overlaps_take(o, &worker[i % WORKERS], i, document[i].shingle, document[i].n, &set);
        nd_shingle_set_release(&set);
    }
    for (unsigned k = 1; k < WORKERS; k++)
        nd_overlaps_join(o, &worker[0], &worker[k]);
}

static void check(const struct nd_sought *sought, const struct nd_audit_nearest *got,
                  const struct random_document *document, struct nd_ratio threshold)
{
    for (size_t i = 0; i < DOCUMENTS; i++) {
        const struct nd_audit_nearest best = nearest_of(document, i, sought[i].after);

        assert_int_equal(nd_audit_nearest_reaches(&got[i], threshold),
                         nd_audit_nearest_reaches(&best, threshold));
        if (!sought[i].whole)
            continue;
        assert_int_equal(got[i].shared, best.shared);
        assert_int_equal(got[i].either, best.shared ? best.either : 0);
        assert_int_equal(got[i].order, best.shared ? best.order : 0);
    }
}

static void try_documents(struct nd_ratio threshold, uint64_t seed)
{
    struct random_document document[DOCUMENTS];
    uint64_t copy[DOCUMENTS][SHINGLES];
    struct nd_sought sought[DOCUMENTS];
    struct nd_overlaps_worker worker[WORKERS];
    struct nd_overlaps o;

    make_documents(document, seed);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        memcpy(copy[i], document[i].shingle, sizeof copy[i]);
        sought[i] = (struct nd_sought){.order = i,
                                       .shingle = copy[i],
                                       .n = document[i].n,
                                       .after = i % 2,
                                       .whole = i % 3 == 0};
    }
    assert_true(nd_overlaps_init(&o, sought, DOCUMENTS, threshold));
    for (unsigned k = 0; k < WORKERS; k++)
        assert_true(nd_overlaps_worker_init(&worker[k], &o));
    take_all(&o, worker, document);
    check(sought, worker[0].nearest, document, threshold);
    for (unsigned k = 0; k < WORKERS; k++)
        nd_overlaps_worker_release(&worker[k]);
    nd_overlaps_release(&o);
}

static void all_are_found_that_reach_the_threshold_and_the_nearest_of_some(void **state)
{
    static const struct nd_ratio threshold[] = {{4, 5}, {1, 2}, {1, 1}, {1, 10}, {2, 3}};

    (void)state;
    for (uint64_t seed = 0; seed < 25; seed++)
        try_documents(threshold[seed % 5], seed);
}

static void nobody_is_sought(void **state)
{
    struct nd_overlaps o;
    struct nd_overlaps_worker worker;
    const uint64_t shingle = 7;

    (void)state;
    assert_true(nd_overlaps_init(&o, NULL, 0, (struct nd_ratio){4, 5}));
    assert_true(nd_overlaps_worker_init(&worker, &o));
    nd_overlaps_take(&o, &worker, 1, &shingle, 1, NULL);
    nd_overlaps_worker_release(&worker);
    nd_overlaps_release(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_found_that_reach_the_threshold_and_the_nearest_of_some),
        cmocka_unit_test(nobody_is_sought),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
