/* shingler.c - from token hashes, window by window, to distinct shingles and the identity */
#include "sketch/shingler.h"

#include <string.h>

#include "base/hash.h"
#include "simd/sketch/sketch_kernels.h"

void nd_shingler_begin(struct nd_shingler *s, unsigned w)
{
    nd_shingle_set_clear(&s->set);
    s->w = w;
    s->n_tail = 0;
    s->n_tokens = 0;
    s->sequence_sum = 0;
}

void nd_shingler_release(struct nd_shingler *s)
{
    nd_shingle_set_release(&s->set);
}

/* 0 for no tokens, and for nothing else. */
static uint64_t identity(const struct nd_shingler *s)
{
    uint64_t h = nd_mix64(s->sequence_sum + s->n_tokens * ND_POSITION_STEP);

    return s->n_tokens == 0 ? 0 : h ? h : 1;
}

/* The n shingles that begin at token[0 … n - 1], a batch in cache at a time. */
static bool add_shingles(struct nd_shingler *s, const uint64_t *token, size_t n)
{
    enum { BATCH = 512 };
    const struct nd_sketch_kernels *kernels = nd_sketch_kernels();
    uint64_t batch[BATCH];

    for (size_t i = 0; i < n; i += BATCH) {
        size_t m = n - i < BATCH ? n - i : BATCH;

        kernels->shingles(token + i, m, s->w, batch);
        if (!nd_shingle_set_add(&s->set, batch, m))
            return false;
    }
    return true;
}

/* The shingles that begin in the windows before and end in this one. */
static bool bridge(struct nd_shingler *s, const uint64_t *token, size_t n)
{
    uint64_t both[2 * ND_SHINGLE_MAX];
    size_t have = s->n_tail, more = n < s->w - 1 ? n : s->w - 1;

    memcpy(both, s->tail, have * sizeof *both);
    memcpy(both + have, token, more * sizeof *both);
    return have + more < s->w || add_shingles(s, both, have + more - s->w + 1);
}

static void keep_tail(struct nd_shingler *s, const uint64_t *token, size_t n)
{
    size_t capacity = s->w - 1, take = n < capacity ? n : capacity, stay = capacity - take;

    if (stay > s->n_tail)
        stay = s->n_tail;
    memmove(s->tail, s->tail + s->n_tail - stay, stay * sizeof *s->tail);
    memcpy(s->tail + stay, token + n - take, take * sizeof *s->tail);
    s->n_tail = (unsigned)(stay + take);
}

bool nd_shingler_feed(struct nd_shingler *s, const uint64_t *token, size_t n)
{
    if (n == 0)
        return true;
    s->sequence_sum += nd_sketch_kernels()->sequence_sum(token, n, s->n_tokens);
    s->n_tokens += n;
    if (!nd_shingle_set_reserve(&s->set, s->set.count + n))
        return false;
    if (s->n_tail && !bridge(s, token, n))
        return false;
    if (n >= s->w && !add_shingles(s, token, n - s->w + 1))
        return false;
    keep_tail(s, token, n);
    return true;
}

/* A text of fewer than w tokens has one shingle. */
static bool add_short(struct nd_shingler *s)
{
    uint64_t shingle = nd_shingle_of_all(s->tail, s->n_tail);

    return nd_shingle_set_add(&s->set, &shingle, 1);
}

bool nd_shingler_end(struct nd_shingler *s, struct nd_sketch *out)
{
    if (s->n_tokens > 0 && s->n_tokens < s->w && !add_short(s))
        return false;
    out->n_tokens = s->n_tokens;
    out->n_shingles = s->set.count;
    out->shingle = s->set.distinct;
    out->identity = identity(s);
    out->simhash = 0;
    memset(out->minhash, 0xFF, sizeof out->minhash);
    return true;
}
