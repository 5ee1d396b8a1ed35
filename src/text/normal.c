/* normal.c - the normal form of a piece of text, by the plain algorithm */
#include "text/normal.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Hangul syllables are computed, not looked up (Unicode 15.0, section 3.12). */
enum {
    S_BASE = 0xAC00,
    L_BASE = 0x1100,
    V_BASE = 0x1161,
    T_BASE = 0x11A7,
    L_COUNT = 19,
    V_COUNT = 21,
    T_COUNT = 28,
    S_COUNT = L_COUNT * V_COUNT * T_COUNT,
};

bool nd_codes_append(struct nd_codes *codes, uint32_t code)
{
    if (codes->count == codes->capacity &&
        !ND_RESERVE(codes->code, &codes->capacity, codes->count + 1))
        return false;
    codes->code[codes->count++] = code;
    return true;
}

void nd_codes_release(struct nd_codes *codes)
{
    free(codes->code);
    *codes = (struct nd_codes){0};
}

void nd_normal_release(struct nd_normal *n)
{
    nd_codes_release(&n->piece);
    nd_codes_release(&n->out);
    nd_codes_release(&n->work);
}

static unsigned combining_class(uint32_t c)
{
    return c < ND_UNICODE_LIMIT ? nd_ccc_value[nd_ccc_block[c / 64] * 64 + c % 64] : 0;
}

/* The full decomposition of c, its length first, or NULL where c stays. */
static const uint32_t *decomposition(uint32_t c)
{
    size_t place =
        c < ND_UNICODE_LIMIT ? nd_decompose_value[nd_decompose_block[c / 64] * 64 + c % 64] : 0;

    return place ? nd_sequence_pool + place : NULL;
}

static const uint32_t *folding(uint32_t c)
{
    size_t place = c < ND_UNICODE_LIMIT ? nd_fold_value[nd_fold_block[c / 64] * 64 + c % 64] : 0;

    return place ? nd_sequence_pool + place : NULL;
}

static bool append_sequence(struct nd_codes *out, const uint32_t *sequence)
{
    for (uint32_t i = 1; i <= sequence[0]; i++)
        if (!nd_codes_append(out, sequence[i]))
            return false;
    return true;
}

static bool append_hangul(struct nd_codes *out, uint32_t c)
{
    uint32_t s = c - S_BASE, t = s % T_COUNT;

    return nd_codes_append(out, L_BASE + s / (V_COUNT * T_COUNT)) &&
           nd_codes_append(out, V_BASE + s / T_COUNT % V_COUNT) &&
           (t == 0 || nd_codes_append(out, T_BASE + t));
}

static bool decompose(struct nd_codes *out, const uint32_t *in, size_t count)
{
    out->count = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t *sequence = decomposition(in[i]);
        bool done;

        if (in[i] - S_BASE < S_COUNT)
            done = append_hangul(out, in[i]);
        else if (sequence)
            done = append_sequence(out, sequence);
        else
            done = nd_codes_append(out, in[i]);
        if (!done)
            return false;
    }
    return true;
}

/* Sort a run of marks by class, stably, by counting: a hostile text may be one run of marks, so the
 * time must be linear.  `work` holds as many. */
static void sort_marks(uint32_t *mark, size_t count, uint32_t *work)
{
    size_t start[256] = {0}, sum = 0;

    for (size_t i = 0; i < count; i++)
        start[combining_class(mark[i])]++;
    for (size_t i = 0; i < 256; i++) {
        size_t n = start[i];

        start[i] = sum;
        sum += n;
    }
    for (size_t i = 0; i < count; i++)
        work[start[combining_class(mark[i])]++] = mark[i];
    memcpy(mark, work, count * sizeof *mark);
}

/* The canonical ordering algorithm (Unicode 15.0, section 3.11, D109). */
static bool reorder(struct nd_codes *text, struct nd_codes *work)
{
    if (!ND_RESERVE(work->code, &work->capacity, text->count))
        return false;
    for (size_t i = 0; i < text->count; i++) {
        size_t first = i;

        while (i < text->count && combining_class(text->code[i]) != 0)
            i++;
        if (i - first > 1)
            sort_marks(text->code + first, i - first, work->code);
    }
    return true;
}

static int compare_composites(const void *a, const void *b)
{
    const struct nd_composite *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

/* The primary composite of a pair, or 0. */
static uint32_t composite(uint32_t first, uint32_t second)
{
    struct nd_composite key = {first, second, 0};
    const struct nd_composite *found;

    if (first - L_BASE < L_COUNT && second - V_BASE < V_COUNT)
        return S_BASE + ((first - L_BASE) * V_COUNT + (second - V_BASE)) * T_COUNT;
    if (first - S_BASE < S_COUNT && (first - S_BASE) % T_COUNT == 0 &&
        second - (T_BASE + 1) < T_COUNT - 1)
        return first + (second - T_BASE);
    found = bsearch(&key, nd_composites, ND_N_COMPOSITES, sizeof key, compare_composites);
    return found ? found->composite : 0;
}

/*
 * The canonical composition algorithm, in place (Unicode 15.0, section 3.11, D117).  A code point
 * composes with the last starter unless it is blocked from it: something between them has the class
 * 0, or at least its own class.  Classes rise within a run of marks, so comparing with `last`, the
 * class of the last code point that was kept, is enough.
 */
static void compose(struct nd_codes *text)
{
    size_t written = 0, starter = SIZE_MAX;
    unsigned last = 0; /* class of the last code point kept since the starter */

    for (size_t i = 0; i < text->count; i++) {
        uint32_t c = text->code[i], made = 0;
        unsigned class = combining_class(c);

        if (starter != SIZE_MAX && (written == starter + 1 || (last < class && last != 0)))
            made = composite(text->code[starter], c);
        if (made) {
            text->code[starter] = made;
            continue;
        }
        if (class == 0)
            starter = written;
        last = class;
        text->code[written++] = c;
    }
    text->count = written;
}

static bool casefold(struct nd_codes *out, const struct nd_codes *in)
{
    out->count = 0;
    for (size_t i = 0; i < in->count; i++) {
        const uint32_t *sequence = folding(in->code[i]);

        if (sequence ? !append_sequence(out, sequence) : !nd_codes_append(out, in->code[i]))
            return false;
    }
    return true;
}

static void drop_ignored(struct nd_codes *text)
{
    size_t written = 0;

    for (size_t i = 0; i < text->count; i++)
        if (nd_class_of(text->code[i]) != ND_CLASS_IGNORED)
            text->code[written++] = text->code[i];
    text->count = written;
}

bool nd_normal_run(struct nd_normal *n, const uint32_t *in, size_t count)
{
    if (!decompose(&n->out, in, count) || !reorder(&n->out, &n->work))
        return false;
    compose(&n->out);
    if (!casefold(&n->work, &n->out) || !decompose(&n->out, n->work.code, n->work.count) ||
        !reorder(&n->out, &n->work))
        return false;
    compose(&n->out);
    drop_ignored(&n->out);
    return true;
}

static int compare_codes(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Whether c composes with something that stands before it. */
static bool composes_back(uint32_t c)
{
    if (c - V_BASE < V_COUNT || c - (T_BASE + 1) < T_COUNT - 1)
        return true;
    return bsearch(&c, nd_composite_seconds, ND_N_COMPOSITE_SECONDS, sizeof c, compare_codes) !=
           NULL;
}

bool nd_normal_is_boundary(uint32_t c)
{
    const uint32_t *sequence = decomposition(c);

    if (sequence)
        c = sequence[1];
    if (c < 0x300) /* before the first code point that combines */
        return true;
    return combining_class(c) == 0 && !composes_back(c);
}

bool nd_normal_piece(struct nd_normal *n, const char *text, size_t text_len, size_t *len)
{
    size_t at = 0, bytes;

    n->piece.count = 0;
    do {
        if (!nd_codes_append(&n->piece, nd_utf8_decode(text + at, &bytes)))
            return false;
        at += bytes;
    } while (at < text_len && !nd_normal_is_boundary(nd_utf8_decode(text + at, &bytes)));
    *len = at;
    return nd_normal_run(n, n->piece.code, n->piece.count);
}
