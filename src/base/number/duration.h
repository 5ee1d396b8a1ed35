/* duration.h - reading a time that passes, such as 30m or 12h */
#ifndef ND_BASE_NUMBER_DURATION_H
#define ND_BASE_NUMBER_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#include <neardup/types.h>

/*
 * Read digits and perhaps a unit: s, m, h, d, w.  False: the text is no such time, or not one of 1 to
 * UINT32_MAX seconds.
 */
bool nd_duration_read(struct nd_view text, uint64_t *seconds);

#endif
