/* fold.c - the fast path: a text in windows of normalised bytes */
#include "text/fold.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "text/fold_table.h"

#include <stdlib.h>
#include <string.h>

/*
 * `run` is 0 outside a run of a script without spaces; within one it holds the last character: its
 * UTF-8 in memory order in bits 0-31, its bytes in bits 32-34, and RUN_LONG from the second
 * character on.  A register, because the character that was just written as bytes cannot be read
 * back as a word without a stall.
 */
#define RUN_LONG (UINT64_C(1) << 36)
#define RUN_BYTES(run) ((size_t)((run) >> 32 & 7))

enum { KEPT = 16 * ND_FOLDER_WINDOW };

bool nd_folder_init(struct nd_folder *f)
{
    *f = (struct nd_folder){.capacity = ND_FOLDER_WINDOW};
    f->buffer = malloc(f->capacity + ND_FOLDER_MARGIN);
    return f->buffer != NULL;
}

void nd_folder_release(struct nd_folder *f)
{
    free(f->buffer);
    nd_normal_release(&f->normal);
}

/* Free what one huge token or piece has needed, before it is kept for all texts to come. */
static void give_back(struct nd_folder *f)
{
    void *less;

    if (f->capacity > KEPT) {
        less = realloc(f->buffer, ND_FOLDER_WINDOW + ND_FOLDER_MARGIN);
        if (less) {
            f->buffer = less;
            f->capacity = ND_FOLDER_WINDOW;
        }
    }
    if (f->normal.piece.capacity > KEPT || f->normal.out.capacity > KEPT)
        nd_normal_release(&f->normal);
}

void nd_folder_start(struct nd_folder *f, const char *text, size_t len)
{
    give_back(f);
    f->kernels = nd_text_kernels();
    f->text = f->in = f->mark_in = (const uint8_t *)text;
    f->end = len ? f->text + len : f->text;
    f->len = f->mark = 0;
    f->run = f->mark_run = 0;
}

void nd_folder_drop(struct nd_folder *f, size_t n)
{
    memmove(f->buffer, f->buffer + n, f->len - n);
    f->len -= n;
    f->mark = f->mark > n ? f->mark - n : 0;
}

static bool reserve(struct nd_folder *f, size_t need)
{
    size_t capacity = f->capacity + ND_FOLDER_MARGIN;

    if (need <= f->capacity)
        return true;
    if (need > SIZE_MAX - ND_FOLDER_MARGIN ||
        !ND_RESERVE(f->buffer, &capacity, need + ND_FOLDER_MARGIN))
        return false;
    f->capacity = capacity - ND_FOLDER_MARGIN;
    return true;
}

static const struct nd_fold_tables tables = {nd_fold_pairs, nd_fold_entry_block, nd_fold_entry};

static inline uint32_t entry(uint32_t c)
{
    if (c >= ND_UNICODE_LIMIT) /* ignorable, the empty sequence; or a separator */
        return c - 0xE0000 < 0x1000 ? ND_FOLD_STRING << 2 : 0;
    return nd_fold_entry[(size_t)nd_fold_entry_block[c / 64] * 64 + c % 64];
}

/* The UTF-8 of c in memory order, and its length: nd_utf8_put without byte stores. */
static inline uint32_t encode(uint32_t c, size_t *n)
{
    if (c < 0x80) {
        *n = 1;
        return c;
    }
    if (c < 0x800) {
        *n = 2;
        return 0x80C0 | c >> 6 | (c & 63) << 8;
    }
    if (c < 0x10000) {
        *n = 3;
        return 0x8080E0 | c >> 12 | (c >> 6 & 63) << 8 | (c & 63) << 16;
    }
    *n = 4;
    return 0x808080F0 | c >> 18 | (c >> 12 & 63) << 8 | (c >> 6 & 63) << 16 | (c & 63) << 24;
}

/* Append a character of a script without spaces: with the one before it, if there is one. */
static inline uint8_t *put_bigram(uint8_t *out, uint32_t bytes, size_t n, uint64_t *run)
{
    if (*run & RUN_LONG) {
        uint64_t before = (*run & UINT32_MAX) << 8;

        memcpy(out, &before, 8);
        out += 1 + RUN_BYTES(*run);
    } else if (*run == 0) {
        *out++ = 0; /* a word may stand before */
    }
    memcpy(out, &bytes, 4);
    *run = bytes | (uint64_t)n << 32 | (*run ? RUN_LONG : 0);
    return out + n;
}

/* Append a code point of the normalised text; at most 9 bytes, and 3 more are overwritten. */
static inline uint8_t *put(uint8_t *out, uint32_t c, unsigned class, uint64_t *run, bool words)
{
    size_t n;
    uint32_t bytes = encode(c, &n);

    if (words && class == ND_CLASS_BIGRAM)
        return put_bigram(out, bytes, n, run);
    if (words && class == ND_CLASS_SEPARATOR)
        bytes = 0;
    if (words && *run) {
        *out++ = 0;
        *run = 0;
    }
    memcpy(out, &bytes, 4);
    return out + n;
}

static void set_mark(struct nd_folder *f)
{
    f->mark_in = f->in;
    f->mark = f->len;
    f->mark_run = f->run;
}

static void append(struct nd_folder *f, uint32_t c, unsigned class, bool words)
{
    f->len = (size_t)(put(f->buffer + f->len, c, class, &f->run, words) - f->buffer);
}

/* The entry of the code point before f->in; at the start of the text one that does not matter. */
static uint32_t entry_before(const struct nd_folder *f)
{
    const uint8_t *p = f->in;
    size_t n;

    if (p == f->text)
        return 0;
    do
        p--;
    while ((*p & 0xC0) == 0x80);
    return entry(nd_utf8_decode((const char *)p, &n));
}

/* Normalise from the last boundary to the next by the plain algorithm: take back what was written
 * since the mark, since what comes now may change it.  A code point becomes at most 9 bytes. */
static bool redo_piece(struct nd_folder *f, bool words)
{
    const uint8_t *p = f->mark_in;
    size_t n, need;

    f->normal.piece.count = 0;
    do {
        if (!nd_codes_append(&f->normal.piece, nd_utf8_decode((const char *)p, &n)))
            return false;
        p += n;
    } while (p < f->end &&
             ND_FOLD_KIND(entry(nd_utf8_decode((const char *)p, &n))) >= ND_FOLD_MARK);
    if (!nd_normal_run(&f->normal, f->normal.piece.code, f->normal.piece.count) ||
        __builtin_mul_overflow(f->normal.out.count, (size_t)9, &need) ||
        __builtin_add_overflow(need, f->mark, &need) || !reserve(f, need))
        return false;
    f->in = p;
    f->len = f->mark;
    f->run = f->mark_run;
    for (size_t i = 0; i < f->normal.out.count; i++)
        append(f, f->normal.out.code[i], nd_class_of(f->normal.out.code[i]), words);
    return true;
}

/* Fold the next code point, which is of no kind SINGLE. */
static bool fold_special(struct nd_folder *f, bool words)
{
    size_t n;
    uint32_t c = nd_utf8_decode((const char *)f->in, &n), e = entry(c), before;
    const uint32_t *sequence = nd_fold_pool + (e >> 12);

    if (ND_FOLD_KIND(e) == ND_FOLD_STRING) {
        set_mark(f);
        for (uint32_t i = 1; i <= sequence[0]; i++)
            append(f, sequence[i], nd_class_of(sequence[i]), words);
        f->in += n;
        return true;
    }
    /*
     * A MARK stays where it is if canonical order puts it there: the rank of what stands before it
     * is no higher than its own.  A HARD one stays if it becomes itself alone and nothing composes
     * with it: before it stands a starter that composes with nothing (no FORWARD).  Else the piece
     * is redone.
     */
    before = entry_before(f);
    if (ND_FOLD_KIND(e) == ND_FOLD_MARK
            ? ND_FOLD_RANK(before) > ND_FOLD_RANK(e)
            : !(e & ND_FOLD_ALONE) || ND_FOLD_RANK(before) != 0 || (before & ND_FOLD_FORWARD))
        return redo_piece(f, words);
    append(f, c, ND_FOLD_CLASS(e), words);
    f->in += n;
    return true;
}

/* Fold characters by a kernel, as many as it takes. */
static inline void fold_many(struct nd_folder *f, size_t limit, bool words)
{
    size_t left = (size_t)(f->end - f->in), n = limit - f->len;
    size_t skip = f->run != 0; /* the end of a run of a script without spaces */
    uint8_t *out = f->buffer + f->len + skip;

    if (n > left)
        n = left;
    n = words ? f->kernels->fold_words(f->in, n, out, &tables)
              : f->kernels->fold_text(f->in, n, out, &tables);
    if (n == 0)
        return;
    if (skip)
        out[-1] = 0;
    f->run = f->mark_run = 0;
    f->in += n;
    f->len += n + skip;
    n = f->in[-1] < 0x80 ? 1 : f->in[-2] >= 0xC0 ? 2 : 3;
    f->mark_in = f->in - n;
    f->mark = f->len - n;
}

/* The state that the loop below keeps in registers: the part of the state that changes with every
 * character. */
struct fold_cursor {
    const uint8_t *in, *mark_in;
    uint8_t *out, *mark;
    uint64_t run, mark_run;
};

static inline struct fold_cursor load_cursor(const struct nd_folder *f)
{
    return (struct fold_cursor){.in = f->in,
                                .mark_in = f->mark_in,
                                .out = f->buffer + f->len,
                                .mark = f->buffer + f->mark,
                                .run = f->run,
                                .mark_run = f->mark_run};
}

static inline void store_cursor(struct nd_folder *f, const struct fold_cursor *at)
{
    f->in = at->in;
    f->mark_in = at->mark_in;
    f->len = (size_t)(at->out - f->buffer);
    f->mark = (size_t)(at->mark - f->buffer);
    f->run = at->run;
    f->mark_run = at->mark_run;
}

/* Whether what stands at p is for the kernel even amid a script without spaces: 4 ASCII bytes. */
static inline bool is_ascii_run(const uint8_t *p, const uint8_t *end)
{
    uint32_t bytes;

    if (end - p < 4)
        return *p < 0x80;
    memcpy(&bytes, p, 4);
    return (bytes & 0x80808080) == 0;
}

/* The entry of a code point, found by the form of its UTF-8 already (c < ND_UNICODE_LIMIT). */
static inline uint32_t near_entry(uint32_t c)
{
    return nd_fold_entry[(size_t)nd_fold_entry_block[c / 64] * 64 + c % 64];
}

/*
 * Within a run of a script without spaces: characters of three bytes that stay as they are, which
 * is nearly all of them.  Each makes 7 bytes: the separator, the one before, itself.
 */
static inline void fold_run(struct fold_cursor *at, const uint8_t *end, const uint8_t *stop)
{
    uint32_t before = (uint32_t)at->run, bytes;

    while (end - at->in >= 4 && at->out < stop) {
        uint64_t pair;
        uint32_t e;

        memcpy(&bytes, at->in, 4);
        bytes &= 0xFFFFFF;
        e = near_entry((bytes & 15) << 12 | (bytes >> 8 & 63) << 6 | (bytes >> 16 & 63));
        if ((bytes & 0xF0) != 0xE0 || (e & ~ND_FOLD_FORWARD) != ND_CLASS_BIGRAM)
            break;
        pair = (uint64_t)before << 8 | (uint64_t)bytes << 32;
        memcpy(at->out, &pair, 8);
        at->mark_in = at->in;
        at->mark = at->out;
        at->mark_run = before | UINT64_C(3) << 32 | RUN_LONG;
        at->in += 3;
        at->out += 7;
        before = bytes;
    }
    at->run = before | UINT64_C(3) << 32 | RUN_LONG;
}

/*
 * Fold one character that the kernel leaves; where it is of a script without spaces, those after
 * it too, until a run of ASCII.  True: one is special.
 */
static inline bool fold_mixed(struct nd_folder *f, size_t limit, bool words)
{
    const uint8_t *end = f->end, *stop = f->buffer + limit;
    struct fold_cursor at = load_cursor(f);
    bool is_special = false, has_bigrams = false;

    do {
        size_t n;
        uint32_t c = nd_utf8_decode((const char *)at.in, &n), e = n < 4 ? near_entry(c) : entry(c);

        if (ND_FOLD_KIND(e) != ND_FOLD_SINGLE) {
            is_special = true;
            break;
        }
        at.mark_in = at.in;
        at.mark = at.out;
        at.mark_run = at.run;
        at.out = put(at.out, c + ND_FOLD_SHIFT(e), ND_FOLD_CLASS(e), &at.run, words);
        at.in += n;
        has_bigrams |= ND_FOLD_CLASS(e) == ND_CLASS_BIGRAM;
        if (words && (at.run & RUN_LONG) && RUN_BYTES(at.run) == 3)
            fold_run(&at, end, stop);
    } while (has_bigrams && at.in < end && at.out < stop && !is_ascii_run(at.in, end));
    store_cursor(f, &at);
    return is_special;
}

static inline bool fold(struct nd_folder *f, size_t limit, bool words)
{
    if (!reserve(f, limit))
        return false;
    while (f->in < f->end && f->len < limit) {
        if (!f->run || *f->in < 0x80)
            fold_many(f, limit, words);
        if (f->in < f->end && f->len < limit && fold_mixed(f, limit, words) &&
            !fold_special(f, words))
            return false;
    }
    return true;
}

bool nd_folder_words(struct nd_folder *f, size_t limit)
{
    return fold(f, limit, true);
}

bool nd_folder_text(struct nd_folder *f, size_t limit)
{
    return fold(f, limit, false);
}
