/* hamming_ids_fixture.h - lists of ids beside plain arrays that say how often each id is there */
#ifndef ND_TESTS_HAMMING_IDS_FIXTURE_H
#define ND_TESTS_HAMMING_IDS_FIXTURE_H

#include "hamming/memory/ids.h"

enum { LIST_IDS = 300 }; /* ids are below */

struct list {
    uint32_t number;
    unsigned sum, times[LIST_IDS];
};

/* False: out of memory, and nothing has changed. */
static inline bool list_add(struct nd_hamming_ids *ids, struct list *l, uint32_t id)
{
    uint32_t number = nd_hamming_ids_add(ids, l->number, id);

    if (!number)
        return false;
    l->number = number;
    l->times[id]++;
    l->sum++;
    return true;
}

/* An id that may not be there, of a list that is not empty. */
static inline void list_remove(struct nd_hamming_ids *ids, struct list *l, uint32_t id)
{
    bool only = false;

    if (l->sum == 1) {
        id = nd_hamming_ids_end(ids, l->number);
        assert_int_equal(l->times[id], 1);
        l->number = 0;
    } else {
        assert_int_equal(nd_hamming_ids_remove(ids, l->number, id, &only), l->times[id] > 0);
        if (!l->times[id])
            return;
        assert_int_equal(only, l->sum == 2);
    }
    l->times[id]--;
    l->sum--;
}

/* Check the blocks of a list against the arrays. */
static inline void list_check(const struct nd_hamming_ids *ids, const struct list *l)
{
    unsigned met[LIST_IDS] = {0}, sum = 0;

    for (uint32_t block = l->number; block;) {
        const uint32_t *at = nd_hamming_ids_block(ids, block);

        for (unsigned i = 1; i <= nd_hamming_ids_taken(at); i++) {
            unsigned times = nd_hamming_ids_is_counted(block, at)
                                 ? nd_hamming_ids_times(ids, l->number, at[i])
                                 : 1;

            met[at[i]] += times;
            sum += times;
        }
        block = nd_hamming_ids_next(block, at);
    }
    assert_int_equal(sum, l->sum);
    assert_memory_equal(met, l->times, sizeof met);
}

#endif
