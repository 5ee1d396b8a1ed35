/* select_rank.c - the value of a rank among numbers, bit by bit from the highest */
#include "feature/select_rank.h"

/*
 * Partition by one bit at a time, and go on in the part that holds the rank: at most 64 rounds, of
 * which each but the last few halves the part where values are spread.  No pivot, so no values are
 * the worst ones.
 */
uint64_t nd_rank_select(uint64_t *value, size_t n, size_t rank)
{
    uint64_t differ = 0;

    for (size_t i = 1; i < n; i++)
        differ |= value[0] ^ value[i];
    while (differ) {
        uint64_t bit = UINT64_C(1) << (63 - __builtin_clzll(differ)), first, among = 0;
        size_t zeros = 0;

        for (size_t i = 0; i < n; i++) {
            if (value[i] & bit)
                continue;
            first = value[i];
            value[i] = value[zeros];
            value[zeros++] = first;
        }
        if (rank < zeros) {
            n = zeros;
        } else {
            value += zeros;
            n -= zeros;
            rank -= zeros;
        }
        for (size_t i = 1; i < n; i++)
            among |= value[0] ^ value[i];
        differ = among;
    }
    return value[0];
}
