/* checked.h - bytes of a file in units, each compared with its checksum when it is first read */
#ifndef ND_BASE_FILE_CHECKED_H
#define ND_BASE_FILE_CHECKED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ND_CHECKED_UNIT = 4096 };

/* The units of so many bytes; the last one may be shorter. */
static inline size_t nd_checked_units(uint64_t bytes)
{
    return (size_t)((bytes + ND_CHECKED_UNIT - 1) / ND_CHECKED_UNIT);
}

/* ---- Writing ---- */

/* The checksums (XXH3) of bytes that come in pieces.  Starts from zeroes. */
struct nd_checked_sums {
    unsigned char unit[ND_CHECKED_UNIT]; /* the bytes of the unit at hand */
    size_t in_unit;
    uint64_t *sum;
    size_t n, capacity;
};
/* Go on with these bytes; NULL: so many zeroes.  False: out of memory. */
bool nd_checked_sums_add(struct nd_checked_sums *sums, const void *data, size_t bytes);
/* Add the checksum of the last unit.  False: out of memory. */
bool nd_checked_sums_finish(struct nd_checked_sums *sums);
void nd_checked_sums_release(struct nd_checked_sums *sums);

/* ---- Reading ---- */

/* Bytes with their checksums; any number of threads read them. */
struct nd_checked {
    const unsigned char *data;
    uint64_t bytes;
    const uint64_t *sum;
    _Atomic uint64_t *sound; /* a bit for each unit: its checksum was compared and is right */
    atomic_size_t left;      /* units without this bit */
};
/* Return the reader of these bytes, which stay where they are; NULL: out of memory. */
struct nd_checked *nd_checked_new(const void *data, uint64_t bytes, const uint64_t *sum);
void nd_checked_free(struct nd_checked *checked);
/* Compare a unit with its checksum. */
bool nd_checked_compare(struct nd_checked *checked, size_t unit);

/* Check the units of `len` bytes at `at`, unless they were checked before.  len > 0. */
static inline bool nd_checked_is_sound(struct nd_checked *c, const void *at, size_t len)
{
    size_t from = (size_t)((const unsigned char *)at - c->data);
    size_t last = (from + len - 1) / ND_CHECKED_UNIT;

    if (atomic_load_explicit(&c->left, memory_order_relaxed) == 0)
        return true;
    for (size_t unit = from / ND_CHECKED_UNIT; unit <= last; unit++)
        if (!(atomic_load_explicit(&c->sound[unit / 64], memory_order_relaxed) >> unit % 64 & 1) &&
            !nd_checked_compare(c, unit))
            return false;
    return true;
}

/* Bytes that one reader knows to be sound, those of the units that it asked for last: they spare who
 * reads in order most look-ups.  Starts from zeroes. */
struct nd_checked_stretch {
    const unsigned char *from, *to;
};
/* Check the units of `len` bytes, and let the stretch be of these.  len > 0. */
bool nd_checked_stretch_move(struct nd_checked *checked, struct nd_checked_stretch *stretch,
                             const void *at, size_t len);

/* Return whether these bytes are sound, as nd_checked_is_sound does, by the last stretch first. */
static inline bool nd_checked_stretch_is_sound(struct nd_checked *c, struct nd_checked_stretch *s,
                                               const void *at, size_t len)
{
    const unsigned char *from = at;

    return (s->from <= from && from + len <= s->to) || nd_checked_stretch_move(c, s, at, len);
}

#endif
