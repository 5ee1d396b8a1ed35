/* sampling.c - which bytes of the inputs are in a sample, and how the sample is entered */
#include "input/streams/sampling.h"

#include "base/hash.h"

/*
 * A block holds enough records that those cut off at its ends do not count, and few enough that a
 * sample of some megabytes has a hundred blocks.
 */
enum { BLOCK_MIN = 1 << 12, BLOCK_MAX = 1 << 20, BLOCKS_WANTED = 256 };

/* Decompressing is some five times as fast as sketching; what is read is ten times what is sketched. */
enum { DECOMPRESSED_TIMES = 2 };

/* Blocks of a beginning are told apart from those in strides. */
static const uint32_t OF_BEGINNING = UINT32_C(1) << 31;

void nd_sampling_begin(struct nd_sampling *s, uint64_t total, uint64_t bytes)
{
    uint64_t block = bytes / BLOCKS_WANTED;

    *s = (struct nd_sampling){.total = total};
    if (bytes >= total)
        return;
    s->is_on = true;
    s->block = block < BLOCK_MIN ? BLOCK_MIN : block > BLOCK_MAX ? BLOCK_MAX : block;
    s->stride = (uint64_t)((double)s->block * ((double)total / (double)(bytes ? bytes : 1)));
    if (s->stride < s->block)
        s->stride = s->block;
    s->decompresses = total / DECOMPRESSED_TIMES <= bytes;
}

static uint64_t block_start(const struct nd_sampling *s, uint64_t number)
{
    return number * s->stride + nd_mix64(number + 1) % (s->stride - s->block + 1);
}

/* As many of its first bytes as blocks would have. */
static uint64_t beginning_of(const struct nd_sampling *s)
{
    uint64_t share = (uint64_t)((double)s->size * (double)s->block / (double)s->stride);

    return share > s->block ? share : s->block;
}

uint64_t nd_sampling_next(const struct nd_sampling *s, uint64_t position, uint32_t *block)
{
    uint64_t number, from;

    if (s->is_beginning) {
        *block = OF_BEGINNING | (uint32_t)(position / s->block);
        return position - s->start < beginning_of(s) ? position : UINT64_MAX;
    }
    for (number = position / s->stride;; number++) {
        from = block_start(s, number);
        if (position < from + s->block)
            break;
    }
    *block = (uint32_t)number;
    return position > from ? position : from;
}

uint64_t nd_sampling_left(const struct nd_sampling *s, uint64_t position)
{
    uint64_t to = s->is_beginning ? s->start + beginning_of(s)
                                  : block_start(s, position / s->stride) + s->block;

    return position < to ? to - position : 0;
}

bool nd_sampling_enter(struct nd_sampling *s, uint64_t size)
{
    uint32_t block;

    s->start += s->size;
    s->size = size;
    s->is_beginning = false;
    s->at = s->start;
    return !s->is_on || nd_sampling_next(s, s->start, &block) < s->start + (size ? size : 1);
}

void nd_sampling_take_beginning(struct nd_sampling *s)
{
    if (s->is_beginning)
        return;
    s->is_beginning = true;
    s->beginnings++;
    s->beginning_bytes += s->size;
}
