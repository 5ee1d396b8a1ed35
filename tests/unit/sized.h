/* sized.h - the size of a test: a sample in `make test`, the whole in `make nightly` */
#ifndef TESTS_UNIT_SIZED_H
#define TESTS_UNIT_SIZED_H

#include <stddef.h>
#include <stdlib.h>

/* Both sizes make the same claim; the small one is for every change, the large one for the night.
 */
static inline size_t sized(size_t whole, size_t sample)
{
    return getenv("NEARDUP_NIGHTLY") ? whole : sample;
}

#endif
