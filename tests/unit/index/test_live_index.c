/* test_live_index.c - insert, query, delete against a comparison of everything with everything */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/index.h>

#include "base/hash.h"
#include "index/candidate_list.h"
#include "index/live.h"
#include "index/live_state.h"

enum { SKETCHES = 600 };

static uint64_t random_state = 5;

static uint64_t next_random(void)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return nd_mix64(random_state);
}

/* Sketches in families: each differs from an earlier one in some minima and some bits. */
static struct nd_sketch *make_sketches(void)
{
    struct nd_sketch *s = calloc(SKETCHES, sizeof *s);

    assert_non_null(s);
    for (unsigned i = 0; i < SKETCHES; i++) {
        if (i >= 20)
            s[i] = s[next_random() % i];
        for (unsigned m = 0; m < ND_MINHASH_COUNT; m++)
            if (i < 20 || next_random() % 100 < i % 60)
                s[i].minhash[m] = (uint32_t)next_random();
        if (i < 20)
            s[i].simhash = next_random();
        for (unsigned flips = (unsigned)(next_random() % 5); flips; flips--)
            s[i].simhash ^= UINT64_C(1) << next_random() % 64;
        s[i].identity = next_random() | 1;
    }
    return s;
}

/* Insert, and grow as the engine does. */
static enum nd_status add_at_once(struct nd_index *index, const struct nd_sketch *sketch,
                                  uint32_t *number)
{
    struct nd_index_row row;

    nd_index_row_from_sketch(&row, sketch, 0);
    return nd_index_add(index, &row, number, NULL);
}

static unsigned equal_of(const struct nd_sketch *a, const struct nd_sketch *b)
{
    unsigned n = 0;

    for (unsigned m = 0; m < ND_MINHASH_COUNT; m++)
        n += (uint8_t)a->minhash[m] == (uint8_t)b->minhash[m];
    return n;
}

static bool should_meet(const struct nd_index_params *p, const struct nd_sketch *a,
                        const struct nd_sketch *b)
{
    if (p->simhash_bits != ND_NO_SIMHASH &&
        (unsigned)__builtin_popcountll(a->simhash ^ b->simhash) <= p->simhash_bits)
        return true;
    for (unsigned band = 0; band < p->bands; band++) {
        unsigned r = 0;

        while (r < p->rows &&
               (uint8_t)a->minhash[band * p->rows + r] == (uint8_t)b->minhash[band * p->rows + r])
            r++;
        if (r == p->rows)
            return true;
    }
    return false;
}

static void check_query(const struct nd_index *index, const struct nd_index_params *p,
                        const struct nd_sketch *all, const bool *is_in, unsigned i)
{
    struct nd_candidates met = {0};
    bool found[SKETCHES] = {false};

    assert_int_equal(nd_index_query(index, &all[i], i % 2, &met), ND_OK);
    for (size_t c = 0; c < met.count; c++) {
        const struct nd_candidate *now = &met.items[c];

        assert_true(now->number < SKETCHES);
        assert_false(found[now->number]);
        found[now->number] = true;
        assert_int_equal(now->equal, equal_of(&all[i], &all[now->number]));
        assert_int_equal(now->distance,
                         __builtin_popcountll(all[i].simhash ^ all[now->number].simhash));
        if (c && p->bands)
            assert_true(now[-1].equal > now->equal ||
                        (now[-1].equal == now->equal && now[-1].number < now->number));
    }
    for (unsigned j = 0; j < SKETCHES; j++)
        assert_int_equal(found[j], is_in[j] && i % 2 == j % 2 && should_meet(p, &all[i], &all[j]));
    nd_candidates_release(&met);
}

static void go_through(struct nd_index_params p)
{
    struct nd_sketch *all = make_sketches();
    struct nd_index *index = nd_index_new(&p, NULL);
    bool is_in[SKETCHES] = {false};
    struct nd_error err;

    assert_non_null(index);
    for (unsigned i = 0; i < SKETCHES; i++) {
        uint32_t number;

        assert_int_equal(nd_index_insert(index, &all[i], i % 2, &number, &err), ND_OK);
        assert_int_equal(number, i);
        is_in[i] = true;
    }
    for (unsigned i = 0; i < SKETCHES; i += 3)
        check_query(index, &p, all, is_in, i);
    for (unsigned i = 0; i < SKETCHES; i += 4) {
        assert_int_equal(nd_index_delete(index, i, &err), ND_OK);
        assert_int_equal(nd_index_delete(index, i, &err), ND_EINVAL);
        is_in[i] = false;
    }
    assert_int_equal(nd_index_count(index), SKETCHES - SKETCHES / 4);
    for (unsigned i = 0; i < SKETCHES; i += 3)
        check_query(index, &p, all, is_in, i);
    assert_int_equal(nd_index_delete(index, SKETCHES, &err), ND_EINVAL);
    nd_index_free(index);
    free(all);
}

static void bands_meet_whoever_shares_one(void **state)
{
    (void)state;
    go_through((struct nd_index_params){21, 6, ND_NO_SIMHASH});
    go_through((struct nd_index_params){128, 1, ND_NO_SIMHASH});
    go_through((struct nd_index_params){8, 16, ND_NO_SIMHASH});
    go_through((struct nd_index_params){3, 42, ND_NO_SIMHASH});
    go_through((struct nd_index_params){1, 128, ND_NO_SIMHASH});
    go_through((struct nd_index_params){14, 9, ND_NO_SIMHASH});
}

static void simhashes_meet_within_their_bits(void **state)
{
    (void)state;
    for (unsigned k = 0; k <= ND_SIMHASH_BITS_MAX; k += 3)
        go_through((struct nd_index_params){0, 0, k});
    go_through((struct nd_index_params){21, 6, 3});
}

/*
 * Check the marks of n rows: those that meet an earlier one, or a later one, and hardly any other.
 */
static void check_linked(const struct nd_sketch *all, const struct nd_index_row *const *given,
                         size_t n, struct nd_pool *pool)
{
    const struct nd_index_params p = {21, 6, ND_NO_SIMHASH};
    unsigned char linked[SKETCHES] = {0};
    unsigned n_linked = 0;

    assert_int_equal(nd_index_link_rows(&p, given, n, linked, pool, NULL), ND_OK);
    for (unsigned i = 0; i < n; i++) {
        unsigned char flags = 0;

        for (unsigned j = 0; j < n && given[i]; j++)
            if (j != i && given[j] && i % 2 == j % 2 && should_meet(&p, &all[i], &all[j]))
                flags |= j < i ? ND_LINKED_EARLIER : ND_LINKED_LATER;
        assert_int_equal(linked[i] & flags, flags);
        n_linked += linked[i] && !flags;
    }
    assert_true(n_linked <= n / 8);
}

static void rows_that_meet_are_linked(void **state)
{
    struct nd_sketch *all = make_sketches();
    static struct nd_index_row row[SKETCHES];
    const struct nd_index_row *given[SKETCHES];
    struct nd_pool *pool = nd_pool_new(3, NULL);

    (void)state;
    assert_non_null(pool);
    for (unsigned i = 0; i < SKETCHES; i++) {
        nd_index_row_from_sketch(&row[i], &all[i], i % 2);
        given[i] = i % 5 ? &row[i] : NULL;
    }
    for (size_t n = 1; n < SKETCHES; n += n / 4 + 1) /* few of a key, and many */
        check_linked(all, given, n, pool);
    check_linked(all, given, SKETCHES, pool);
    nd_pool_free(pool);
    free(all);
}

static struct nd_sketch sketch_of(uint64_t seed)
{
    struct nd_sketch sketch = {.simhash = nd_mix64(seed), .identity = seed};

    for (unsigned i = 0; i < ND_MINHASH_COUNT; i++)
        sketch.minhash[i] = (uint32_t)nd_mix64(seed * ND_MINHASH_COUNT + i);
    return sketch;
}

/* Every document that is left is found under its new number, in the order that there was. */
static void check_compact(struct nd_index *index, bool *is_in, uint64_t *who, size_t *n)
{
    struct nd_candidates met = {0};
    uint32_t *to, next = 0;
    size_t n_numbers;

    assert_int_equal(nd_index_compact(index, &to, &n_numbers, NULL), ND_OK);
    assert_int_equal(n_numbers, *n);
    for (size_t i = 0; i < *n; i++) {
        assert_int_equal(to[i], is_in[i] ? next : ND_INDEX_GONE);
        if (is_in[i])
            who[next++] = who[i];
    }
    free(to);
    for (size_t i = 0; i < next; i++)
        is_in[i] = true;
    *n = next;
    assert_int_equal(nd_index_count(index), next);
    for (uint32_t i = 0; i < next; i++) {
        const struct nd_sketch sketch = sketch_of(who[i]);

        assert_int_equal(nd_index_query(index, &sketch, (uint32_t)(who[i] % 3), &met), ND_OK);
        assert_int_equal(met.count, 1);
        assert_int_equal(met.items[0].number, i);
    }
    nd_candidates_release(&met);
}

/* Documents come and go for ever: the index stays as small as what is in it. */
static void deleted_documents_give_their_memory_back(void **state)
{
    enum { ROUNDS = 12, ADDED = 3000, MOST = 2 * ADDED };
    const struct nd_index_params p = nd_index_params_default();
    struct nd_index *index = nd_index_new(&p, NULL);
    static bool is_in[MOST];
    static uint64_t who[MOST];
    size_t n = 0, most = 0, n_numbers;
    uint64_t seed = 1;
    uint32_t number, *to;

    (void)state;
    assert_non_null(index);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < ADDED; i++, n++, seed++) {
            const struct nd_sketch sketch = sketch_of(seed);

            assert_int_equal(nd_index_insert(index, &sketch, (uint32_t)(seed % 3), &number, NULL),
                             ND_OK);
            assert_int_equal(number, n);
            who[n] = seed;
            is_in[n] = true;
        }
        for (uint32_t i = 0; i < n; i++) {
            if (i % 8 == round % 8)
                continue;
            assert_int_equal(nd_index_delete(index, i, NULL), ND_OK);
            is_in[i] = false;
        }
        check_compact(index, is_in, who, &n);
        if (round == 1)
            most = nd_index_bytes(index);
        if (round > 1)
            assert_true(nd_index_bytes(index) <= most + most / 4);
    }
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(nd_index_delete(index, i, NULL), ND_OK);
    assert_int_equal(nd_index_compact(index, NULL, NULL, NULL), ND_OK);
    assert_true(nd_index_bytes(index) < 16 << 10);
    assert_int_equal(nd_index_compact(index, &to, &n_numbers, NULL), ND_OK); /* of nothing */
    assert_int_equal(n_numbers, 0);
    free(to);
    assert_int_equal(nd_index_insert(index, &(struct nd_sketch){0}, 0, &number, NULL), ND_OK);
    assert_int_equal(number, 0);
    nd_index_free(index);
}

/* Its tables go from pages of 4 KB to huge ones on the way; every seventh document is deleted. */
static void a_large_index_loses_nobody(void **state)
{
    enum { MANY = 150000 };
    const struct nd_index_params p = {0, 0, 3};
    struct nd_index *index = nd_index_new(&p, NULL);
    struct nd_candidates met = {0};
    struct nd_sketch sketch = {0};
    uint32_t number;

    (void)state;
    assert_non_null(index);
    for (uint32_t i = 0; i < MANY; i++) {
        sketch.simhash = nd_mix64(i);
        sketch.identity = nd_mix64(sketch.simhash);
        assert_int_equal(nd_index_insert(index, &sketch, 0, &number, NULL), ND_OK);
        assert_int_equal(number, i);
        if (i % 7 == 6)
            assert_int_equal(nd_index_delete(index, i, NULL), ND_OK);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        sketch.simhash = nd_mix64(i);
        sketch.identity = nd_mix64(sketch.simhash);
        assert_int_equal(nd_index_query(index, &sketch, 0, &met), ND_OK);
        assert_int_equal(met.count, i % 7 == 6 ? 0 : 1); /* 64 random bits: no others within 3 */
        assert_true(met.count == 0 || met.items[0].number == i);
    }
    assert_true(nd_index_bytes(index) > (size_t)4 << 20);
    nd_candidates_release(&met);
    nd_index_free(index);
}

static bool in_order(struct nd_candidate a, struct nd_candidate b, bool by_simhash)
{
    if (by_simhash && a.distance != b.distance)
        return a.distance < b.distance;
    if (!by_simhash && a.equal != b.equal)
        return a.equal > b.equal;
    return a.number < b.number;
}

static void candidates_are_sorted(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 2000; n = n * 3 / 2 + 1)
        for (int by_simhash = 0; by_simhash < 2; by_simhash++) {
            struct nd_candidates list = {0};
            uint64_t before = 0, after = 0;

            for (unsigned i = 0; i < n; i++) {
                struct nd_candidate c = {(uint32_t)nd_mix64(i), (uint16_t)(next_random() % 129),
                                         (uint16_t)(next_random() % 65)};

                before += nd_mix64(c.number + ((uint64_t)c.equal << 40) * 3 + c.distance);
                assert_true(nd_candidates_add(&list, c));
            }
            nd_candidates_sort(&list, by_simhash);
            for (unsigned i = 0; i < n; i++) {
                struct nd_candidate c = list.items[i];

                after += nd_mix64(c.number + ((uint64_t)c.equal << 40) * 3 + c.distance);
                assert_true(i == 0 || in_order(list.items[i - 1], c, by_simhash));
            }
            assert_true(before == after);
            nd_candidates_release(&list);
        }
}

static void impossible_bands_are_refused(void **state)
{
    struct nd_error err;

    (void)state;
    assert_null(nd_index_new(&(struct nd_index_params){22, 6, ND_NO_SIMHASH}, &err));
    assert_int_equal(err.status, ND_EINVAL);
    assert_null(nd_index_new(&(struct nd_index_params){1, 0, ND_NO_SIMHASH}, &err));
    assert_null(nd_index_new(&(struct nd_index_params){0, 0, ND_SIMHASH_BITS_MAX + 1}, &err));
}

/* A sketch of a family, of which some minima are its own. */
static struct nd_sketch member(unsigned i)
{
    struct nd_sketch s = {.simhash = nd_mix64(i % 97), .identity = nd_mix64(i) | 1};

    for (unsigned m = 0; m < ND_MINHASH_COUNT; m++) {
        uint64_t own = nd_mix64((uint64_t)i << 8 | m);

        s.minhash[m] = (uint32_t)(own % 100 < 15 ? own >> 8 : nd_mix64((i % 997) << 8 | m));
    }
    return s;
}

static void expect_same_candidates(const struct nd_index *a, const struct nd_index *b, unsigned i)
{
    struct nd_candidates of_a = {0}, of_b = {0};
    struct nd_sketch sketch = member(i);

    assert_int_equal(nd_index_query(a, &sketch, 0, &of_a), ND_OK);
    assert_int_equal(nd_index_query(b, &sketch, 0, &of_b), ND_OK);
    assert_int_equal(of_a.count, of_b.count);
    if (of_a.count)
        assert_memory_equal(of_a.items, of_b.items, of_a.count * sizeof *of_a.items);
    nd_candidates_release(&of_a);
    nd_candidates_release(&of_b);
}

/* One index grows as documents come; the other has all its room from the start. */
static void documents_are_found_while_tables_grow(void **state)
{
    enum { DOCUMENTS = 24000 };
    struct nd_index_params p = {12, 6, 3};
    struct nd_index *growing = nd_index_new(&p, NULL), *roomy = nd_index_new(&p, NULL);
    unsigned n_while_growing = 0, n_growths = 0;
    bool was_growing = false;
    struct nd_error err;

    (void)state;
    assert_non_null(growing);
    assert_non_null(roomy);
    assert_int_equal(nd_index_reserve(roomy, DOCUMENTS, &err), ND_OK);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        struct nd_sketch sketch = member(i);
        uint32_t number, other, gone = (uint32_t)(next_random() % (i + 1));

        assert_int_equal(nd_index_insert(growing, &sketch, 0, &number, &err), ND_OK);
        assert_int_equal(add_at_once(roomy, &sketch, &other), ND_OK);
        assert_int_equal(number, other);
        if (i % 5 == 0)
            assert_int_equal(nd_index_delete(growing, gone, &err),
                             nd_index_delete(roomy, gone, &err));
        n_growths += growing->growth && !was_growing;
        was_growing = growing->growth != NULL;
        n_while_growing += was_growing;
        if (i % 7 == 0 || (was_growing && i % 3 == 0))
            expect_same_candidates(growing, roomy, (unsigned)(next_random() % (i + 1)));
    }
    assert_null(roomy->growth);
    assert_in_range(n_growths, 2, 20);
    assert_in_range(n_while_growing, 500, DOCUMENTS);
    for (unsigned i = 0; i < DOCUMENTS; i += 11)
        expect_same_candidates(growing, roomy, i);
    nd_index_free(growing);
    nd_index_free(roomy);
}

/* Every line of the tables was full at some time if documents come and go for long. */
static void queries_end_after_much_coming_and_going(void **state)
{
    enum { LIVE = 140, DOCUMENTS = 20000 };
    struct nd_index *index = nd_index_new(&(struct nd_index_params){21, 6, ND_NO_SIMHASH}, NULL);
    struct nd_candidates found = {0};

    (void)state;
    assert_non_null(index);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        struct nd_sketch sketch = member(i), stranger = member(i + DOCUMENTS * 997 + 500);
        uint32_t number;

        assert_int_equal(nd_index_insert(index, &sketch, 0, &number, NULL), ND_OK);
        if (i >= LIVE)
            assert_int_equal(nd_index_delete(index, i - LIVE, NULL), ND_OK);
        assert_int_equal(nd_index_query(index, &stranger, 0, &found), ND_OK);
        if (i % 100)
            continue;
        for (unsigned j = i < LIVE ? 0 : i - LIVE + 1; j <= i; j++) {
            struct nd_sketch present = member(j);

            assert_int_equal(nd_index_query(index, &present, 0, &found), ND_OK);
            assert_true(found.count > 0);
            assert_int_equal(found.items[0].equal, ND_MINHASH_COUNT);
        }
    }
    nd_candidates_release(&found);
    nd_index_free(index);
}

/* The engine does this to an index within a growth. */
static void a_growth_gives_way_to_batches(void **state)
{
    struct nd_index_params p = {12, 6, ND_NO_SIMHASH};
    struct nd_index *index = nd_index_new(&p, NULL), *same = nd_index_new(&p, NULL);
    struct nd_index_row row;
    const struct nd_index_row *rows = &row;
    struct nd_sketch sketch;
    struct nd_error err;
    uint32_t number;
    unsigned n = 0;

    (void)state;
    assert_non_null(index);
    assert_non_null(same);
    for (; !index->growth; n++) {
        sketch = member(n);
        assert_in_range(n, 0, 100000);
        assert_int_equal(nd_index_insert(index, &sketch, 0, &number, &err), ND_OK);
        assert_int_equal(add_at_once(same, &sketch, &number), ND_OK);
    }
    sketch = member(n);
    nd_index_row_from_sketch(&row, &sketch, 0);
    assert_int_equal(nd_index_append(index, &row, &number, &err), ND_OK);
    for (unsigned i = 1; i < 900; i++) {
        sketch = member(n + i);
        assert_int_equal(nd_index_insert(index, &sketch, 0, &(uint32_t){0}, &err), ND_OK);
    }
    assert_int_equal(nd_index_list(index, &number, &rows, 1, NULL, &err), ND_OK);
    for (unsigned i = 0; i < 20000; i++) {
        sketch = member(n + 900 + i);
        assert_int_equal(nd_index_insert(index, &sketch, 0, &(uint32_t){0}, &err), ND_OK);
    }
    for (unsigned i = 0; i < 20900; i++) {
        sketch = member(n + i);
        assert_int_equal(add_at_once(same, &sketch, &number), ND_OK);
    }
    for (unsigned i = 0; i < n + 20900; i += 13)
        expect_same_candidates(index, same, i);
    nd_index_clear(index);
    assert_int_equal(nd_index_count(index), 0);
    nd_index_free(index);
    nd_index_free(same);
}

enum { BATCH = 300, BATCHES = 40 };

static void count_beside(void *context, size_t task)
{
    int *ran = context;

    ran[task]++; /* each has a task of its own */
}

/* Rows of which every fifth is not listed, in batches and one by one: the same candidates. */
static void batches_are_added_as_one_by_one(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        struct nd_pool *pool = nd_pool_new(threads, NULL);
        const struct nd_index_params p = nd_index_params_default();
        struct nd_index *index = nd_index_new(&p, NULL), *same = nd_index_new(&p, NULL);
        static struct nd_index_row row[BATCH];
        const struct nd_index_row *rows[BATCH];
        bool is_listed[BATCH];
        int ran[3] = {0};
        const struct nd_index_batch batch = {rows, is_listed, BATCH, count_beside, 3, ran};
        uint32_t first, number;

        assert_true(pool && index && same);
        for (unsigned i = 0; i < BATCH * BATCHES; i++) {
            const struct nd_sketch sketch = member(i);

            nd_index_row_from_sketch(&row[i % BATCH], &sketch, 0);
            rows[i % BATCH] = &row[i % BATCH];
            is_listed[i % BATCH] = i % 5 != 0;
            assert_int_equal(nd_index_append(same, rows[i % BATCH], &number, NULL), ND_OK);
            if (i % 5)
                assert_int_equal(nd_index_list(same, &number, &rows[i % BATCH], 1, NULL, NULL),
                                 ND_OK);
            if (i % BATCH < BATCH - 1)
                continue;
            assert_int_equal(nd_index_add_batch(index, &batch, pool, &first, NULL), ND_OK);
            assert_int_equal(first, i + 1 - BATCH);
        }
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(ran[i], BATCHES);
        for (unsigned i = 0; i < BATCH * BATCHES; i += 7)
            expect_same_candidates(index, same, i);
        nd_index_free(index);
        nd_index_free(same);
        nd_pool_free(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_added_as_one_by_one),
        cmocka_unit_test(bands_meet_whoever_shares_one),
        cmocka_unit_test(simhashes_meet_within_their_bits),
        cmocka_unit_test(rows_that_meet_are_linked),
        cmocka_unit_test(deleted_documents_give_their_memory_back),
        cmocka_unit_test(a_large_index_loses_nobody),
        cmocka_unit_test(candidates_are_sorted),
        cmocka_unit_test(impossible_bands_are_refused),
        cmocka_unit_test(queries_end_after_much_coming_and_going),
        cmocka_unit_test(documents_are_found_while_tables_grow),
        cmocka_unit_test(a_growth_gives_way_to_batches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
