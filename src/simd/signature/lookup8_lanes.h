/* lookup8_lanes.h - Jenkins' 64-bit hash() of single words (Seshasai 2009, §3.2), many at once:
 * included by each file of kernels, after it has defined
 *
 *     TARGET        the attributes of its functions
 *     lookup8_word  a number of 64 bits, or a vector of them
 */
#include <string.h>

enum { LOOKUP8_WIDTH = sizeof(lookup8_word) / sizeof(uint64_t) };

struct lookup8_state {
    lookup8_word a, b, c;
};

/* One third of a round: how far c, a and b are shifted. */
TARGET static inline __attribute__((always_inline)) void
lookup8_stir(struct lookup8_state *s, unsigned right, unsigned left, unsigned again)
{
    s->a = (s->a - s->b - s->c) ^ s->c >> right;
    s->b = (s->b - s->c - s->a) ^ s->a << left;
    s->c = (s->c - s->a - s->b) ^ s->b >> again;
}

/* hash(key, 8, level 0): b is 0, c the golden ratio and the length. */
TARGET static inline __attribute__((always_inline)) lookup8_word lookup8_each(lookup8_word word)
{
    const lookup8_word none = {0};
    struct lookup8_state s = {word, none, none + (UINT64_C(0x9E3779B97F4A7C13) + 8)};

    lookup8_stir(&s, 43, 9, 8);
    lookup8_stir(&s, 38, 23, 5);
    lookup8_stir(&s, 35, 49, 11);
    lookup8_stir(&s, 12, 18, 22);
    return s.c;
}

TARGET static void lookup8(uint64_t *hash, size_t n)
{
    lookup8_word word;
    size_t i = 0;

    for (; n - i >= LOOKUP8_WIDTH; i += LOOKUP8_WIDTH) {
        memcpy(&word, hash + i, sizeof word);
        word = lookup8_each(word);
        memcpy(hash + i, &word, sizeof word);
    }
    if (i < n) {
        uint64_t rest[LOOKUP8_WIDTH] = {0};

        memcpy(rest, hash + i, (n - i) * sizeof *rest);
        memcpy(&word, rest, sizeof word);
        word = lookup8_each(word);
        memcpy(rest, &word, sizeof word);
        memcpy(hash + i, rest, (n - i) * sizeof *rest);
    }
}
