/* test_visits.c - the interval between visits: by the rule, and against reading it literally */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <neardup/visits.h>

enum { DAY = 86400 };

static struct nd_visits after(const struct nd_visit_params *params, const uint64_t *simhash,
                              size_t n)
{
    struct nd_visits v = {0};

    assert_int_equal(nd_visits_check(params, NULL), ND_OK);
    for (size_t i = 0; i < n; i++)
        nd_visits_add(params, &v, simhash[i]);
    assert_int_equal(v.visits, n);
    return v;
}

static uint64_t interval_after(const uint64_t *simhash, size_t n)
{
    struct nd_visit_params params = nd_visit_params_default();

    return after(&params, simhash, n).interval;
}

static void three_equal_in_a_row_are_visited_less_often(void **state)
{
    const uint64_t same[] = {7, 7, 7, 7}, with_change[] = {7, 7, 8, 8, 8};

    (void)state;
    assert_int_equal(interval_after(same, 1), DAY);
    assert_int_equal(interval_after(same, 2), DAY);
    assert_int_equal(interval_after(same, 3), 2 * DAY);
    assert_int_equal(interval_after(same, 4), 4 * DAY);
    assert_int_equal(interval_after(with_change, 4), DAY);
    assert_int_equal(interval_after(with_change, 5), 2 * DAY);
}

static void three_changes_in_a_row_are_visited_more_often(void **state)
{
    const uint64_t other[] = {1, 2, 3, 4, 5}, back[] = {1, 2, 1, 2, 2, 3};

    (void)state;
    assert_int_equal(interval_after(other, 3), DAY);
    assert_int_equal(interval_after(other, 4), DAY / 2);
    assert_int_equal(interval_after(other, 5), DAY / 4);
    assert_int_equal(interval_after(back, 6), DAY / 2);
}

/* Given the distances of the simhashes, the rule comes to the same. */
static void distances_alone_are_enough(void **state)
{
    struct nd_visit_params params = nd_visit_params_default();
    struct nd_visits by_simhash = {0}, by_distance = {0};
    uint64_t simhash = 1, before = 0;

    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        nd_visits_add(&params, &by_simhash, simhash);
        nd_visits_add_distance(&params, &by_distance,
                               i ? (uint32_t)__builtin_popcountll(simhash ^ before) : 64);
        assert_int_equal(by_distance.visits, by_simhash.visits);
        assert_int_equal(by_distance.changes, by_simhash.changes);
        assert_int_equal(by_distance.interval, by_simhash.interval);
        assert_int_equal(by_distance.priority, by_simhash.priority);
        assert_int_equal(by_distance.equal, by_simhash.equal);
        assert_int_equal(by_distance.changed, by_simhash.changed);
        before = simhash;
        simhash = i % 7 < 4 ? simhash * 3 + i : simhash;
    }
}

static void the_greater_distance_is_indexed_earlier(void **state)
{
    const uint64_t simhash[] = {0, 0xF, 0xFF, 0xFF};
    const unsigned priority[] = {64, 4, 4, 0};
    const uint64_t changes[] = {0, 1, 2, 2};
    struct nd_visit_params params = nd_visit_params_default();
    struct nd_visits v;

    (void)state;
    for (size_t n = 1; n <= 4; n++) {
        v = after(&params, simhash, n);
        assert_int_equal(v.priority, priority[n - 1]);
        assert_int_equal(v.changes, changes[n - 1]);
    }
}

/* The rule as it is written: look at the last so many, each time anew. */
static uint64_t slow_interval(const struct nd_visit_params *p, const uint64_t *s, size_t n)
{
    uint64_t interval = p->interval;

    for (size_t i = 0; i < n; i++) {
        bool equal = i + 1 >= p->equal, changed = i >= p->changes;

        for (size_t k = 1; equal && k < p->equal; k++)
            equal = s[i - k] == s[i];
        for (size_t k = 0; changed && k < p->changes; k++)
            changed = s[i - k] != s[i - k - 1];
        if (equal)
            interval = interval * p->factor > p->longest ? p->longest : interval * p->factor;
        else if (changed)
            interval = interval / p->factor < p->shortest ? p->shortest : interval / p->factor;
    }
    return interval;
}

static void the_interval_is_that_of_the_rule(void **state)
{
    uint32_t seed = 11;

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        struct nd_visit_params params = nd_visit_params_default();
        struct nd_visits v;
        uint64_t simhash[40];
        size_t n;

        seed = seed * 1664525u + 1013904223u;
        n = 1 + (seed >> 9) % 40;
        params.equal = 2 + (seed >> 16) % 3;
        params.changes = 1 + (seed >> 20) % 4;
        params.factor = 2 + (seed >> 24) % 3;
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            simhash[i] = i && (seed >> 28) < 8 ? simhash[i - 1] : seed >> 30;
        }
        v = after(&params, simhash, n);
        assert_int_equal(v.interval, slow_interval(&params, simhash, n));
    }
}

/* A document that changes by so much a day, visited when it is to be. */
static uint64_t settled_interval(uint32_t expect, uint64_t a_day)
{
    struct nd_visit_params params = nd_visit_params_default();
    struct nd_visits v = {0};

    params.expect = expect;
    nd_visits_add_distance(&params, &v, 64);
    for (unsigned i = 0; i < 60; i++)
        nd_visits_add_distance(&params, &v, (uint32_t)(v.interval * a_day / DAY));
    return v.interval;
}

static void the_greater_the_changes_the_sooner_the_visit(void **state)
{
    (void)state;
    assert_in_range(settled_interval(12, 3), 4 * DAY * 9 / 10, 4 * DAY * 11 / 10);
    assert_in_range(settled_interval(12, 12), DAY * 9 / 10, DAY * 11 / 10);
    assert_in_range(settled_interval(12, 48), DAY / 4 * 9 / 10, DAY / 4 * 11 / 10);
    assert_in_range(settled_interval(24, 48), DAY / 2 * 9 / 10, DAY / 2 * 11 / 10);
    assert_int_equal(settled_interval(12, 0), 90 * DAY); /* never: as without it */
    assert_int_equal(settled_interval(0, 240), 3600);    /* any change is one */
}

/* In fractions, as the rule is written: sums of which the older half is worth half as much. */
static uint64_t slow_expected(const struct nd_visit_params *p, const uint32_t *distance,
                              const uint64_t *seconds, size_t n)
{
    double interval = (double)p->interval;
    unsigned equal = 1;

    for (size_t i = 1; i < n; i++) {
        double by = 0, in = 0, gap;

        for (size_t k = 1; k <= i; k++) {
            by = by / 2 + distance[k];
            in = in / 2 + (double)seconds[k];
        }
        equal = distance[i] ? 1 : equal + 1;
        gap = equal >= p->equal ? interval * p->factor : by > 0 ? in * p->expect / by : interval;
        gap = gap < interval / p->factor ? interval / p->factor : gap;
        gap = gap > interval * p->factor ? interval * p->factor : gap;
        interval = gap < (double)p->shortest  ? (double)p->shortest
                   : gap > (double)p->longest ? (double)p->longest
                                              : gap;
    }
    return (uint64_t)interval;
}

static void the_expected_interval_is_that_of_the_rule(void **state)
{
    uint32_t seed = 5;

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        struct nd_visit_params params = nd_visit_params_default();
        uint32_t distance[14];
        uint64_t seconds[14], slow;
        struct nd_visits v = {0};
        size_t n;

        seed = seed * 1664525u + 1013904223u;
        n = 1 + (seed >> 9) % 14;
        params.expect = 1 + (seed >> 16) % 40;
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            distance[i] = (seed >> 30) ? (seed >> 20) % 64 : 0;
            seconds[i] = (seed >> 8) % (20 * DAY);
            nd_visits_add_after(&params, &v, distance[i], seconds[i]);
        }
        slow = slow_expected(&params, distance, seconds, n);
        assert_in_range(v.interval, slow - slow / 1000 - 2, slow + slow / 1000 + 2);
    }
}

/* In fractions: the time in which `expect` comes together. */
static double slow_gap(uint32_t expect, const uint32_t *distance, const uint64_t *seconds, size_t n)
{
    double by = 0, in = 0;

    for (size_t i = 1; i < n; i++) {
        by = by / 2 + distance[i];
        in = in / 2 + (double)seconds[i];
    }
    return by > 0 ? in * expect / by : 0;
}

static void the_gap_is_the_time_of_a_change(void **state)
{
    const struct nd_visit_params params = nd_visit_params_default();
    uint32_t seed = 7;

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        uint32_t distance[14], expect;
        uint64_t seconds[14], gap;
        struct nd_visits v = {0};
        double slow;
        size_t n;

        seed = seed * 1664525u + 1013904223u;
        n = 1 + (seed >> 9) % 14;
        expect = 1 + (seed >> 16) % 40;
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            distance[i] = (seed >> 30) ? (seed >> 20) % 64 : 0;
            seconds[i] = (seed >> 8) % (20 * DAY);
            nd_visits_add_after(&params, &v, distance[i], seconds[i]);
        }
        gap = nd_visits_gap(&v, expect);
        slow = slow_gap(expect, distance, seconds, n);
        assert_int_equal(gap > 0, slow > 0);
        assert_true((double)gap >= slow * .999 - 2 && (double)gap <= slow * 1.001 + 2);
        assert_int_equal(nd_visits_gap(&v, 0), 0);
    }
}

static void a_gap_fits_32_bits(void **state)
{
    const struct nd_visits at_once = {.changed_by = 64 << 16, .in_time = 0};
    const struct nd_visits slow = {.changed_by = 1, .in_time = UINT64_MAX};

    (void)state;
    assert_int_equal(nd_visits_gap(&at_once, 1), 1);
    assert_int_equal(nd_visits_gap(&slow, UINT32_MAX), UINT32_MAX);
}

static void parameters_that_cannot_be_are_refused(void **state)
{
    const struct nd_visit_params good = nd_visit_params_default();
    struct nd_visit_params bad[6] = {good, good, good, good, good, good};
    struct nd_error err;

    (void)state;
    bad[0].equal = 1;
    bad[1].changes = 0;
    bad[2].factor = 1;
    bad[3].shortest = 0;
    bad[4].longest = good.interval - 1;
    bad[5].longest = UINT64_MAX;
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(nd_visits_check(&bad[i], &err), ND_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_equal_in_a_row_are_visited_less_often),
        cmocka_unit_test(three_changes_in_a_row_are_visited_more_often),
        cmocka_unit_test(distances_alone_are_enough),
        cmocka_unit_test(the_greater_distance_is_indexed_earlier),
        cmocka_unit_test(the_interval_is_that_of_the_rule),
        cmocka_unit_test(the_greater_the_changes_the_sooner_the_visit),
        cmocka_unit_test(the_expected_interval_is_that_of_the_rule),
        cmocka_unit_test(the_gap_is_the_time_of_a_change),
        cmocka_unit_test(a_gap_fits_32_bits),
        cmocka_unit_test(parameters_that_cannot_be_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
