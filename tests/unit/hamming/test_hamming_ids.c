/* test_hamming_ids.c - lists of ids, of every size, against plain arrays */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "hamming_ids_fixture.h"

static uint64_t seed;

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

/* Short and long ones at once, ids many times, down to one and up again. */
static void lists_hold_what_was_added(void **state)
{
    enum { LISTS = 12, STEPS = 120000 };
    static const unsigned n_ids[] = {3, 40, LIST_IDS};
    static struct list list[LISTS];
    struct nd_hamming_ids ids = {.n_lines = 0};

    (void)state;
    for (int step = 0; step < STEPS; step++) {
        struct list *l = &list[any() % LISTS];
        uint32_t id = (uint32_t)(any() % n_ids[(l - list) % 3]);
        bool grow = step / 6000 % 2 == 0 ? any() % 3 != 0 : any() % 3 == 0;

        if (grow || l->sum == 0)
            assert_true(list_add(&ids, l, id));
        else
            list_remove(&ids, l, id);
        if (step % 100 == 0)
            for (int i = 0; i < LISTS; i++)
                list_check(&ids, &list[i]);
    }
    nd_hamming_ids_release(&ids);
}

/* The id that stands first, in the middle or last of a list. */
static uint32_t standing_at(const struct nd_hamming_ids *ids, const struct list *l, int where)
{
    uint32_t at[LIST_IDS + 16] = {0};
    unsigned n = 0;

    for (uint32_t block = l->number; block && n < LIST_IDS;) {
        const uint32_t *words = nd_hamming_ids_block(ids, block);

        for (unsigned i = 1; i <= nd_hamming_ids_taken(words); i++)
            at[n++] = words[i];
        block = nd_hamming_ids_next(block, words);
    }
    return at[where == 0 ? 0 : where == 1 ? n / 2 : n - 1];
}

/* Every length there is on the way up, and every one on the way down, whichever id goes. */
static void every_length_is_passed_both_ways(void **state)
{
    (void)state;
    for (int where = 0; where < 3; where++)
        for (unsigned repeat = 1; repeat <= 3; repeat++)
            for (unsigned n = 1; n <= 150; n++) {
                struct nd_hamming_ids ids = {.n_lines = 0};
                struct list l = {.number = 0};

                for (uint32_t i = 0; i < n; i++) {
                    assert_true(list_add(&ids, &l, i / repeat * 2));
                    list_check(&ids, &l);
                }
                /* the newest twice: it is the first to be moved to where another goes */
                assert_true(list_add(&ids, &l, (n - 1) / repeat * 2));
                list_remove(&ids, &l, 1); /* not there */
                while (l.sum) {
                    list_remove(&ids, &l, standing_at(&ids, &l, where));
                    list_check(&ids, &l);
                }
                nd_hamming_ids_release(&ids);
            }
}

/* The lengths of lists change, their memory stays: what one gives back serves the next. */
static void what_is_given_back_is_used_again(void **state)
{
    enum { LISTS = 2000, ROUNDS = 20 };
    struct list *list = calloc(LISTS, sizeof *list);
    struct nd_hamming_ids ids = {.n_lines = 0};
    uint32_t n_lines = 0;

    (void)state;
    assert_non_null(list);
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < LISTS; i++)
            for (uint32_t id = 0; id <= i % 97; id++)
                assert_true(list_add(&ids, &list[(i + (uint32_t)round) % LISTS], id));
        for (uint32_t i = 0; i < LISTS; i++)
            list_check(&ids, &list[i]);
        if (round == 0)
            n_lines = ids.n_lines;
        assert_true(ids.n_lines <= n_lines + 1);
        for (uint32_t i = 0; i < LISTS; i++)
            while (list[i].sum)
                list_remove(&ids, &list[i], standing_at(&ids, &list[i], (int)(any() % 3)));
        assert_int_equal(ids.taken, 0);
    }
    nd_hamming_ids_release(&ids);
    free(list);
}

/* Lists of 2 and 3 are what most are: a quarter of a line each. */
static void a_short_list_takes_a_quarter_of_a_line(void **state)
{
    enum { LISTS = 1000 };
    static struct list list[LISTS];
    struct nd_hamming_ids ids = {.n_lines = 0};

    (void)state;
    for (uint32_t i = 0; i < LISTS; i++)
        for (uint32_t id = 0; id < 3; id++)
            assert_true(list_add(&ids, &list[i], id));
    assert_int_equal(ids.n_lines, LISTS / 4);
    for (uint32_t i = 0; i < LISTS; i++)
        list_check(&ids, &list[i]);
    nd_hamming_ids_release(&ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_hold_what_was_added),
        cmocka_unit_test(every_length_is_passed_both_ways),
        cmocka_unit_test(what_is_given_back_is_used_again),
        cmocka_unit_test(a_short_list_takes_a_quarter_of_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
