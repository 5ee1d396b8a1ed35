/* test_containers.c - documents found by shingles, against a count of all with all */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "index/containers.h"
#include "index/live.h"

#include "sized.h"

enum { DOCUMENTS = 200, SHINGLES_MAX = 900 };

static uint64_t random_state;

static unsigned below(unsigned n)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return (unsigned)(nd_mix64(random_state) % n);
}

struct content {
    uint32_t value[SHINGLES_MAX];
    struct nd_container_row row;
    uint64_t left_out[SHINGLES_MAX / 64 + 1];
    bool is_listed;
};

/* Part of an earlier document and something of its own; what is common to many is in most. */
static void make_document(struct content *list, unsigned i, uint64_t (*shingle)[SHINGLES_MAX],
                          unsigned *count)
{
    static uint64_t scratch[2 * SHINGLES_MAX];
    unsigned own = below(4) ? below(300) : below(20), n = 0, group = below(8) == 0;

    if (i && below(3)) {
        unsigned from = below(i), share = below(101);

        for (unsigned k = 0; k < count[from] && n < 500; k++)
            if (below(100) < share)
                shingle[i][n++] = shingle[from][k];
    }
    for (unsigned k = 0; k < 20; k++)
        if (below(2))
            shingle[i][n++] = nd_mix64(k + 1);
    for (unsigned k = 0; k < own; k++)
        shingle[i][n++] = nd_mix64(random_state += 77);
    for (unsigned a = 0; a < n; a++) /* each once */
        for (unsigned b = a + 1; b < n;)
            if (shingle[i][a] == shingle[i][b])
                shingle[i][b] = shingle[i][--n];
            else
                b++;
    count[i] = n;
    list[i].row = (struct nd_container_row){.value = list[i].value,
                                            .n_values = (uint32_t)nd_container_values(
                                                shingle[i], n, group, NULL, list[i].value, scratch),
                                            .n_shingles = n,
                                            .group = group};
    assert_true(list[i].row.n_values == n);
}

static struct content *make_documents(uint64_t seed)
{
    struct content *list = calloc(DOCUMENTS, sizeof *list);
    uint64_t(*shingle)[SHINGLES_MAX] = calloc(DOCUMENTS, sizeof *shingle);
    unsigned count[DOCUMENTS];

    assert_non_null(list);
    assert_non_null(shingle);
    random_state = seed;
    for (unsigned i = 0; i < DOCUMENTS; i++)
        make_document(list, i, shingle, count);
    free(shingle);
    return list;
}

static bool has(const struct nd_container_row *row, uint32_t value, bool listed_only)
{
    for (uint32_t i = 0; i < row->n_values; i++)
        if (row->value[i] == value)
            return !listed_only || !row->left_out || !(row->left_out[i / 64] >> i % 64 & 1);
    return false;
}

/* The definition at the head of containers.h; the estimate, 0: no candidate. */
static unsigned meets(const struct nd_container_params *p, const struct nd_container_row *a,
                      const struct nd_container_row *b)
{
    bool in_kept = p->way == ND_CONTAINERS_IN_KEPT ||
                   (p->way == ND_CONTAINERS_BY_SMALLER && a->n_shingles <= b->n_shingles);
    const struct nd_container_row *inner = in_kept ? a : b, *outer = in_kept ? b : a;
    uint32_t k = inner->n_values < p->sample ? inner->n_values : p->sample, shared = 0,
             least = p->min_shared;
    uint32_t stored =
        p->way == ND_CONTAINERS_OF_KEPT && b->n_values > p->sample ? p->sample : b->n_values;
    bool is_met = !b->left_out;

    if (a->group != b->group)
        return 0;
    if (inner->n_values < p->sample)
        least = (inner->n_shingles * p->threshold.p + p->threshold.q - 1) / p->threshold.q;
    for (uint32_t i = 0; i < k; i++)
        shared += has(outer, inner->value[i], false);
    for (uint32_t i = 0; b->left_out && i < stored; i++)
        is_met = is_met || (!(b->left_out[i / 64] >> i % 64 & 1) && has(a, b->value[i], false));
    return shared >= least && shared && is_met ? shared * 65000 / k : 0;
}

static struct nd_container_params params_of(enum nd_container_way way, struct nd_ratio threshold)
{
    struct nd_container_params p = {.way = way, .threshold = threshold};

    assert_int_equal(nd_sample_choose(threshold, 0.995, &p.sample, &p.min_shared, NULL), ND_OK);
    return p;
}

static void check_query(const struct nd_containers *c, const struct nd_container_params *p,
                        const struct content *list, unsigned n, unsigned asked,
                        struct nd_container_scratch *s, size_t *n_found)
{
    struct nd_candidates out = {0};
    unsigned expected = 0;
    uint32_t first = UINT32_MAX;

    assert_int_equal(nd_containers_query(c, s, &list[asked].row, ND_REACH_ALL, &out), ND_OK);
    for (unsigned e = 0; e < n; e++) {
        unsigned score = list[e].is_listed ? meets(p, &list[asked].row, &list[e].row) : 0;
        size_t at = 0;

        while (at < out.count && out.items[at].number != e)
            at++;
        assert_int_equal(at<out.count, score> 0);
        if (score)
            assert_int_equal(out.items[at].equal, score);
        expected += score > 0;
        first = score && e < first ? e : first;
    }
    assert_int_equal(out.count, expected);
    for (size_t i = 1; i < out.count; i++)
        assert_true(out.items[i - 1].equal > out.items[i].equal ||
                    (out.items[i - 1].equal == out.items[i].equal &&
                     out.items[i - 1].number < out.items[i].number));
    if (first != UINT32_MAX) {
        const struct nd_reach all = ND_REACH_ALL;

        assert_true(nd_containers_meets_any(c, s, &list[asked].row, all, first + 1));
        assert_false(nd_containers_meets_any(c, s, &list[asked].row, all, first));
    }
    *n_found += out.count;
    nd_candidates_release(&out);
}

/* Every fourth document is left out of some values, every seventh is removed again. */
static size_t check_way(enum nd_container_way way, struct nd_ratio threshold, uint64_t seed,
                        bool leaves_out)
{
    const struct nd_container_params p = params_of(way, threshold);
    struct nd_containers *c = nd_containers_new(&p);
    struct content *list = make_documents(seed);
    struct nd_container_scratch s = {0};
    size_t n_found = 0;

    assert_non_null(c);
    for (unsigned round = 0; round < 2; round++) { /* the second time in memory that was used */
        nd_containers_clear(c);
        for (unsigned i = 0; i < DOCUMENTS; i++) {
            check_query(c, &p, list, i, i, &s, &n_found);
            if (leaves_out && i % 4 == 0) {
                for (uint32_t k = 0; k < list[i].row.n_values; k++)
                    if (below(10))
                        list[i].left_out[k / 64] |= UINT64_C(1) << k % 64;
                list[i].row.left_out = list[i].left_out;
            }
            assert_true(nd_containers_append(c, &list[i].row));
            assert_true(nd_containers_list(c, i, &list[i].row));
            list[i].is_listed = true;
            if (i % 7 == 3) {
                unsigned out = below(i + 1);

                nd_containers_remove(c, out);
                list[out].is_listed = false;
            }
        }
    }
    nd_container_scratch_release(&s);
    nd_containers_free(c);
    free(list);
    return n_found;
}

static void those_that_share_enough_are_found_and_no_others(void **state)
{
    static const struct nd_ratio threshold[] = {{4, 5}, {1, 2}, {1, 10}, {1, 1}};
    size_t whole = 0, left_out = 0;

    (void)state;
    for (unsigned t = 0; t < 4; t++)
        for (enum nd_container_way way = 0; way <= ND_CONTAINERS_BY_SMALLER; way++) {
            whole += check_way(way, threshold[t], 5 + t, false);
            left_out += check_way(way, threshold[t], 50 + t, true);
        }
    assert_true(whole > 1000);
    assert_true(left_out > 500);
}

static void values_of_equal_hashes_count_once(void **state)
{
    struct nd_container_params p = params_of(ND_CONTAINERS_IN_KEPT, (struct nd_ratio){1, 1});
    struct nd_containers *c = nd_containers_new(&p);
    uint32_t value[] = {3, 8, 12}, larger[] = {3, 8, 11, 12};
    struct nd_container_row of_three = {value, 3, 4, 0, NULL}, of_four = {larger, 4, 4, 0, NULL};
    struct nd_container_scratch s = {0};
    struct nd_candidates out = {0};

    (void)state;
    assert_non_null(c);
    assert_true(nd_containers_append(c, &of_four));
    assert_true(nd_containers_list(c, 0, &of_four));
    assert_int_equal(nd_containers_query(c, &s, &of_three, ND_REACH_ALL, &out), ND_OK);
    assert_int_equal(out.count, 1); /* four shingles, two of them with one value */
    nd_candidates_release(&out);
    nd_container_scratch_release(&s);
    nd_containers_free(c);
}

static void links_miss_no_pair_of_a_batch(void **state)
{
    (void)state;
    for (enum nd_container_way way = 0; way <= ND_CONTAINERS_BY_SMALLER; way++) {
        struct nd_container_params p = params_of(way, (struct nd_ratio){1, 2});
        struct content *list = make_documents(9);
        const struct nd_container_row *row[DOCUMENTS];
        unsigned char linked[DOCUMENTS] = {0};
        unsigned alone = 0;

        for (unsigned i = 0; i < DOCUMENTS; i++)
            row[i] = i % 5 ? &list[i].row : NULL;
        assert_true(nd_containers_link(&p, row, DOCUMENTS, linked));
        for (unsigned i = 0; i < DOCUMENTS; i++) {
            alone += row[i] && !linked[i];
            assert_true(row[i] || !linked[i]);
            for (unsigned e = 0; row[i] && e < i; e++)
                if (row[e] && meets(&p, row[i], row[e])) {
                    assert_true(linked[i] & ND_LINKED_EARLIER);
                    assert_true(linked[e] & ND_LINKED_LATER);
                }
        }
        assert_true(alone > DOCUMENTS / 20);
        free(list);
    }
}

static void full_values_are_counted(void **state)
{
    struct nd_container_params p = params_of(ND_CONTAINERS_IN_KEPT, (struct nd_ratio){1, 2});
    struct content *list = make_documents(4);
    struct nd_containers *c = nd_containers_new(&p);

    (void)state;
    assert_non_null(c);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        if (i % 3 == 0) {
            for (uint32_t k = 0; k < list[i].row.n_values; k++)
                if (below(2))
                    list[i].left_out[k / 64] |= UINT64_C(1) << k % 64;
            list[i].row.left_out = list[i].left_out;
        }
        assert_true(nd_containers_append(c, &list[i].row));
        assert_true(nd_containers_list(c, i, &list[i].row));
    }
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        unsigned e = below(DOCUMENTS);
        uint32_t full[SHINGLES_MAX] = {0}, again[SHINGLES_MAX] = {0};

        nd_containers_count(c, &list[i].row, e, full);
        nd_container_row_count(&p, &list[i].row, &list[e].row, again);
        assert_memory_equal(full, again, sizeof full);
        for (uint32_t k = 0; k < list[i].row.n_values; k++)
            assert_int_equal(full[k], has(&list[e].row, list[i].value[k], true));
    }
    nd_containers_free(c);
    free(list);
}

/*
 * If lists have room for two documents, a look-up meets no more than fit into the lists of 64
 * values, however many documents there are.
 */
static void full_lists_bound_what_a_look_up_meets(void **state)
{
    enum { VALUES = 64, ROOM = 2, MANY = 2000 };
    struct nd_container_scratch s = {0};
    struct nd_candidates out = {0};

    (void)state;
    for (enum nd_container_way way = 0; way <= ND_CONTAINERS_BY_SMALLER; way++) {
        struct nd_container_params p = params_of(way, (struct nd_ratio){4, 5});
        struct nd_containers *c = nd_containers_new(&p);
        uint64_t n_values;

        assert_non_null(c);
        nd_containers_bound(c, ROOM, NULL);
        for (unsigned i = 0; i < MANY; i++) {
            uint32_t value[VALUES];
            struct nd_container_row row = {value, 0, 0, 0, NULL};
            uint64_t before = s.n_met;

            for (uint32_t v = 1; v <= VALUES; v++)
                if (below(2))
                    value[row.n_values++] = v * (UINT32_MAX / VALUES);
            row.n_shingles = row.n_values;
            assert_int_equal(nd_containers_query(c, &s, &row, ND_REACH_ALL, &out), ND_OK);
            assert_true(s.n_met - before <= 2 * VALUES * ROOM);
            assert_true(nd_containers_append(c, &row));
            assert_true(nd_containers_list(c, i, &row));
        }
        for (enum nd_container_table t = 0; t < ND_CONTAINER_TABLES; t++)
            assert_true(nd_containers_longest(c, t) <= ROOM);
        assert_true(nd_containers_crowded(c, &n_values) > MANY / 2);
        assert_true(n_values > MANY);
        nd_containers_free(c);
    }
    nd_candidates_release(&out);
    nd_container_scratch_release(&s);
}

/* As many are found as asked, of many documents of which exactly the threshold is in another. */
static void the_recall_is_what_was_asked_for(void **state)
{
    static const struct nd_ratio threshold[] = {{4, 5}, {1, 2}, {3, 10}, {1, 10}};
    enum { INNER = 800 };
    const unsigned tries = (unsigned)sized(4000, 1000);
    static uint64_t shingle[2][INNER], scratch[2 * INNER];
    static uint32_t value[2][INNER];

    (void)state;
    random_state = 1;
    for (unsigned t = 0; t < 4; t++) {
        struct nd_container_params p = params_of(ND_CONTAINERS_IN_KEPT, threshold[t]);
        unsigned found = 0, share = INNER * threshold[t].p / threshold[t].q;

        for (unsigned try = 0; try < tries; try++) {
            struct nd_container_row row[2];

            for (unsigned i = 0; i < INNER; i++) {
                shingle[0][i] = nd_mix64(random_state++);
                shingle[1][i] = i < share ? shingle[0][i] : nd_mix64(random_state++);
            }
            for (unsigned i = 0; i < 2; i++) {
                row[i] = (struct nd_container_row){.value = value[i], .n_shingles = INNER};
                row[i].n_values =
                    (uint32_t)nd_container_values(shingle[i], INNER, 0, NULL, value[i], scratch);
            }
            found += meets(&p, &row[0], &row[1]) > 0;
        }
        /* Three standard deviations of a binomial. */
        assert_true(found >= 0.995 * tries - 3 * sqrt(0.995 * 0.005 * tries));
    }
}

static void the_curve_is_that_of_a_binomial(void **state)
{
    unsigned sample, least;

    (void)state;
    assert_int_equal(nd_sample_choose((struct nd_ratio){4, 5}, 0.995, &sample, &least, NULL),
                     ND_OK);
    assert_int_equal(sample, 128);
    assert_true(nd_sample_recall(0.8, sample, least) >= 0.995);
    assert_true(nd_sample_recall(0.8, sample, least + 1) < 0.995);
    assert_true(nd_sample_recall(0.5, sample, least) < 1e-5);
    assert_true(nd_sample_recall(1, sample, least) == 1);
    assert_true(nd_sample_recall(0, sample, least) == 0);
    assert_float_equal(nd_sample_recall(0.5, 3, 2), 0.5, 1e-12);
    assert_float_equal(nd_sample_recall(0.25, 2, 1), 1 - 0.75 * 0.75, 1e-12);
}

static void what_cannot_be_promised_is_refused(void **state)
{
    unsigned sample, least;
    struct nd_error err;

    (void)state;
    assert_int_equal(nd_sample_choose((struct nd_ratio){1, 1000}, 0.995, &sample, &least, &err),
                     ND_EINVAL);
    assert_string_equal(err.message,
                        "samples of 1024 shingles cannot find pairs at 1/1000 with recall 0.995");
    assert_int_equal(nd_sample_choose((struct nd_ratio){0, 1}, 0.995, &sample, &least, &err),
                     ND_EINVAL);
    assert_int_equal(nd_sample_choose((struct nd_ratio){1, 2}, 1, &sample, &least, &err),
                     ND_EINVAL);
    assert_int_equal(nd_sample_choose((struct nd_ratio){1, 100}, 0.9999, &sample, &least, &err),
                     ND_OK);
    assert_true(least >= 1 && sample == 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_share_enough_are_found_and_no_others),
        cmocka_unit_test(values_of_equal_hashes_count_once),
        cmocka_unit_test(links_miss_no_pair_of_a_batch),
        cmocka_unit_test(full_values_are_counted),
        cmocka_unit_test(full_lists_bound_what_a_look_up_meets),
        cmocka_unit_test(the_recall_is_what_was_asked_for),
        cmocka_unit_test(the_curve_is_that_of_a_binomial),
        cmocka_unit_test(what_cannot_be_promised_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
