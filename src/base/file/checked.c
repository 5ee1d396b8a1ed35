/* checked.c - bytes of a file in units, each compared with its checksum when it is first read */
#include "base/file/checked.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

static bool add_sum(struct nd_checked_sums *s, const void *unit, size_t bytes)
{
    if (!ND_RESERVE(s->sum, &s->capacity, s->n + 1))
        return false;
    s->sum[s->n++] = nd_hash_bytes(unit, bytes);
    return true;
}

/* Fill the unit at hand from `data`, and return how many bytes it took. */
static size_t fill(struct nd_checked_sums *s, const char *data, size_t bytes)
{
    size_t some = ND_CHECKED_UNIT - s->in_unit;

    some = bytes < some ? bytes : some;
    if (data)
        memcpy(s->unit + s->in_unit, data, some);
    else
        memset(s->unit + s->in_unit, 0, some);
    s->in_unit += some;
    return some;
}

bool nd_checked_sums_add(struct nd_checked_sums *s, const void *data, size_t bytes)
{
    const char *at = data;

    for (size_t some; bytes; bytes -= some, at = at ? at + some : NULL) {
        bool is_whole = at && s->in_unit == 0 && bytes >= ND_CHECKED_UNIT;

        some = is_whole ? (size_t)ND_CHECKED_UNIT : fill(s, at, bytes);
        if (is_whole && !add_sum(s, at, some))
            return false;
        if (s->in_unit == ND_CHECKED_UNIT && !nd_checked_sums_finish(s))
            return false;
    }
    return true;
}

bool nd_checked_sums_finish(struct nd_checked_sums *s)
{
    size_t bytes = s->in_unit;

    s->in_unit = 0;
    return bytes == 0 || add_sum(s, s->unit, bytes);
}

void nd_checked_sums_release(struct nd_checked_sums *s)
{
    free(s->sum);
    s->sum = NULL;
}

struct nd_checked *nd_checked_new(const void *data, uint64_t bytes, const uint64_t *sum)
{
    struct nd_checked *c = calloc(1, sizeof *c);
    size_t units = nd_checked_units(bytes);

    if (!c)
        return NULL;
    c->data = data;
    c->bytes = bytes;
    c->sum = sum;
    c->sound = calloc(units / 64 + 1, sizeof *c->sound);
    if (!c->sound) {
        free(c);
        return NULL;
    }
    atomic_init(&c->left, units);
    return c;
}

void nd_checked_free(struct nd_checked *c)
{
    if (c)
        free(c->sound);
    free(c);
}

bool nd_checked_compare(struct nd_checked *c, size_t unit)
{
    const uint64_t at = (uint64_t)unit * ND_CHECKED_UNIT, bit = UINT64_C(1) << unit % 64;
    size_t len = c->bytes - at < ND_CHECKED_UNIT ? (size_t)(c->bytes - at) : ND_CHECKED_UNIT;

    if (nd_hash_bytes(c->data + at, len) != c->sum[unit])
        return false;
    /* Whichever thread sets the bit counts it. */
    if (!(atomic_fetch_or_explicit(&c->sound[unit / 64], bit, memory_order_relaxed) & bit))
        atomic_fetch_sub_explicit(&c->left, 1, memory_order_relaxed);
    return true;
}

bool nd_checked_stretch_move(struct nd_checked *c, struct nd_checked_stretch *s, const void *at,
                             size_t len)
{
    const size_t from = (size_t)((const unsigned char *)at - c->data);
    const size_t end = (from + len + ND_CHECKED_UNIT - 1) / ND_CHECKED_UNIT * ND_CHECKED_UNIT;

    if (!nd_checked_is_sound(c, at, len))
        return false;
    s->from = c->data + from / ND_CHECKED_UNIT * ND_CHECKED_UNIT;
    s->to = c->data + (end < c->bytes ? end : c->bytes);
    return true;
}
