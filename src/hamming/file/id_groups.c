/* id_groups.c - index files: which ids belong to the same fingerprint, and ids that are texts
 *
 * The entries of equal fingerprints stand side by side, as a group.  One bit for each entry says
 * whether it begins a group, and answers
 *
 *     the group of entry i        the ones up to and including bit i, less 1
 *     the first entry of group j  the place of one number j
 *     the end of a group          the place of the next one
 *
 * The number of ones before every 512th bit is kept: 4 bytes for a cache line of bits.  So the
 * first answer counts within one line, and the second looks for its line among these numbers first.
 * Most sets have few equal fingerprints; where all are distinct, there are no bits at all.
 *
 * Texts are not looked up by what they say, only by number.  The place of every sixteenth is kept,
 * and from there at most fifteen lengths are skipped.
 */
#include "hamming/file/id_groups.h"

#include <string.h>

#include <neardup/hamming_file.h>

#include "base/number/bits.h"

enum { EACH = 512, WORDS_EACH = EACH / 64, TEXTS_EACH = 16, LENGTH_BYTES = 5 };

static uint64_t words_of(uint64_t n)
{
    return (n + 63) / 64;
}

static uint64_t samples_of(uint64_t n)
{
    return n / EACH + 1;
}

size_t nd_hamming_groups_bytes(uint64_t n, uint64_t m)
{
    return n == m ? 0 : (size_t)(words_of(n) + (samples_of(n) + 1) / 2) * 8;
}

void nd_hamming_groups_finish(uint64_t n, void *out)
{
    uint64_t *bit = out;
    uint32_t *ones = (uint32_t *)(void *)(bit + words_of(n)), sum = 0;

    for (uint64_t w = 0; w <= words_of(n); w++) {
        if (w % WORDS_EACH == 0 && w / WORDS_EACH < samples_of(n))
            ones[w / WORDS_EACH] = sum;
        if (w < words_of(n))
            sum += nd_count_ones(bit[w]);
    }
}

bool nd_hamming_groups_open(struct nd_hamming_groups *groups, uint64_t n, uint64_t m,
                            const void *data, size_t len)
{
    struct nd_hamming_groups g = {.n = n, .m = m, .select = nd_elias_fano_selects()};
    uint64_t sum = 0;

    if (len != nd_hamming_groups_bytes(n, m))
        return false;
    if (n != m) {
        g.bit = data;
        g.ones = (const uint32_t *)(const void *)(g.bit + words_of(n));
        for (uint64_t w = 0; w <= words_of(n); w++) {
            if (w % WORDS_EACH == 0 && w / WORDS_EACH < samples_of(n) &&
                g.ones[w / WORDS_EACH] != sum)
                return false;
            if (w < words_of(n))
                sum += nd_count_ones(g.bit[w]);
        }
        if (sum != m || !(g.bit[0] & 1) || (n % 64 && g.bit[n / 64] >> n % 64))
            return false;
    }
    *groups = g;
    return true;
}

uint64_t nd_hamming_groups_number(const struct nd_hamming_groups *g, uint64_t entry)
{
    uint64_t word = entry / EACH * WORDS_EACH, ones;

    if (!g->bit)
        return entry;
    ones = g->ones[entry / EACH];
    for (; word < entry / 64; word++)
        ones += nd_count_ones(g->bit[word]);
    ones += nd_count_ones(g->bit[word] << (63 - entry % 64));
    return ones - 1;
}

uint64_t nd_hamming_groups_start(const struct nd_hamming_groups *g, uint64_t j)
{
    const struct nd_elias_fano_bits ones = {g->bit, words_of(g->n), 0};
    uint64_t from = j / EACH, to = samples_of(g->n);

    if (!g->bit)
        return j;
    /* Entry j and those before it are of group j at most.  Few equal ones: it is not far behind. */
    for (uint64_t step = 1; from + step < to; step *= 2)
        if (g->ones[from + step] <= j)
            from += step;
        else
            to = from + step;
    while (to - from > 1) {
        uint64_t middle = from + (to - from) / 2;

        if (g->ones[middle] <= j)
            from = middle;
        else
            to = middle;
    }
    return g->select(&ones, from * EACH, j - g->ones[from] + 1);
}

uint64_t nd_hamming_groups_end(const struct nd_hamming_groups *g, uint64_t start)
{
    uint64_t at = start + 1, word = at / 64, bits;

    if (!g->bit || at >= g->n)
        return at;
    bits = g->bit[word] & ~UINT64_C(0) << at % 64;
    while (!bits && ++word < words_of(g->n))
        bits = g->bit[word];
    return bits ? word * 64 + (uint64_t)__builtin_ctzll(bits) : g->n;
}

static uint64_t places_of(uint64_t n)
{
    return (n + TEXTS_EACH - 1) / TEXTS_EACH + 1;
}

size_t nd_hamming_texts_bytes(uint64_t n, uint64_t sum, uint64_t lengths)
{
    return (size_t)(places_of(n) * 8 + (sum + lengths + 7) / 8 * 8);
}

size_t nd_hamming_text_length_bytes(size_t len)
{
    size_t bytes = 1;

    while (len >>= 7)
        bytes++;
    return bytes;
}

void nd_hamming_texts_add(uint64_t n, uint64_t i, const char *text, size_t len, uint64_t *place,
                          void *out)
{
    uint64_t *places = out;
    unsigned char *bytes = (unsigned char *)(places + places_of(n));
    size_t left = len;

    if (i % TEXTS_EACH == 0)
        places[i / TEXTS_EACH] = *place;
    for (; left >= 128; left >>= 7)
        bytes[(*place)++] = (unsigned char)(left % 128 + 128);
    bytes[(*place)++] = (unsigned char)left;
    memcpy(bytes + *place, text, len);
    *place += len;
    if (i + 1 == n)
        places[places_of(n) - 1] = *place;
}

/* The length at *at, which goes behind it.  False: it is none, or goes beyond the end. */
static bool read_length(const unsigned char *bytes, uint64_t *at, uint64_t end, size_t *len)
{
    *len = 0;
    for (unsigned i = 0; i < LENGTH_BYTES && *at < end; i++) {
        unsigned char byte = bytes[(*at)++];

        *len |= (size_t)(byte & 127) << 7 * i;
        if (byte < 128)
            return *len <= end - *at;
    }
    return false;
}

bool nd_hamming_text_is_id(const char *text, size_t len)
{
    return !memchr(text, '\t', len) && !memchr(text, '\n', len) && !memchr(text, '\0', len);
}

bool nd_hamming_texts_open(struct nd_hamming_texts *texts, uint64_t n, const void *data, size_t len)
{
    struct nd_hamming_texts t = {n, data, NULL};
    uint64_t end, at = 0;

    if (places_of(n) > len / 8)
        return false;
    t.bytes = (const unsigned char *)(t.place + places_of(n));
    end = t.place[places_of(n) - 1];
    if (end > len || nd_hamming_texts_bytes(n, end, 0) != len)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        size_t text;

        if ((i % TEXTS_EACH == 0 && t.place[i / TEXTS_EACH] != at) ||
            !read_length(t.bytes, &at, end, &text) ||
            !nd_hamming_text_is_id((const char *)t.bytes + at, text))
            return false;
        at += text;
    }
    *texts = t;
    return at == end;
}

const char *nd_hamming_texts_get(const struct nd_hamming_texts *texts, uint64_t i, size_t *len)
{
    uint64_t at = texts->place[i / TEXTS_EACH], end = texts->place[places_of(texts->n) - 1];

    (void)read_length(texts->bytes, &at, end, len);
    for (unsigned skip = i % TEXTS_EACH; skip; skip--) {
        at += *len;
        (void)read_length(texts->bytes, &at, end, len);
    }
    return (const char *)texts->bytes + at;
}

bool nd_hamming_text_number(const char *text, uint32_t *number)
{
    uint64_t n = 0;
    size_t len = 0;

    for (; text[len] >= '0' && text[len] <= '9' && len <= ND_HAMMING_NUMBER_MAX; len++)
        n = n * 10 + (uint64_t)(text[len] - '0');
    if (len == 0 || text[len] || n > UINT32_MAX || (text[0] == '0' && len > 1))
        return false;
    *number = (uint32_t)n;
    return true;
}

char *nd_hamming_number_text(uint32_t number, char *out, size_t *len)
{
    char *at = out + ND_HAMMING_NUMBER_MAX;

    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    *len = (size_t)(out + ND_HAMMING_NUMBER_MAX - at);
    return at;
}
