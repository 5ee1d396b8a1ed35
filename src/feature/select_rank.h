/* select_rank.h - the value of a rank among numbers */
#ifndef ND_FEATURE_SELECT_RANK_H
#define ND_FEATURE_SELECT_RANK_H

#include <stddef.h>
#include <stdint.h>

/* The value that stands at place `rank`, from 0, when n > rank values are sorted; they are put into
 * another order.  Time in proportion to n, whatever the values. */
uint64_t nd_rank_select(uint64_t *value, size_t n, size_t rank);

#endif
