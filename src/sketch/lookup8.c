/* lookup8.c - Jenkins' 64-bit hash() (000 section 3.2), for keys of a multiple of eight bytes */
#include "sketch/lookup8.h"

struct state {
    uint64_t a, b, c;
};

/* One third of a round: how far c, a and b are shifted. */
static inline void stir(struct state *s, unsigned right, unsigned left, unsigned again)
{
    s->a = (s->a - s->b - s->c) ^ s->c >> right;
    s->b = (s->b - s->c - s->a) ^ s->a << left;
    s->c = (s->c - s->a - s->b) ^ s->b >> again;
}

static inline void mix(struct state *s)
{
    stir(s, 43, 9, 8);
    stir(s, 38, 23, 5);
    stir(s, 35, 49, 11);
    stir(s, 12, 18, 22);
}

/* The last block has 0 to 2 words; the low byte of its third is the length's. */
uint64_t nd_lookup8_words(const uint64_t *word, size_t n)
{
    struct state s = {0, 0, UINT64_C(0x9E3779B97F4A7C13)};
    size_t i = 0;

    for (; n - i >= 3; i += 3) {
        s.a += word[i];
        s.b += word[i + 1];
        s.c += word[i + 2];
        mix(&s);
    }
    s.c += 8 * (uint64_t)n;
    if (i < n)
        s.a += word[i];
    if (i + 1 < n)
        s.b += word[i + 1];
    mix(&s);
    return s.c;
}
