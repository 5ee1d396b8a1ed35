/* featurer_units.c - from terms to features: terms, shingles, characters, sentences, spots */
#include "feature/featurer.h"

#include "base/hash.h"
#include "feature/scan.h"
#include "simd/sketch_kernels.h"
#include "text/utf8.h"

#include <neardup/sketch.h>

#include <string.h>

enum { BATCH = 512, AHEAD = 16 };

/* Occurrences on their way to the tally. */
struct batch {
    uint64_t hash[BATCH];
    uint32_t from[BATCH];
    size_t count;
};

static bool flush(struct nd_featurer *f, struct batch *b)
{
    bool good = nd_featurer_add(f, b->hash, b->from, b->count);

    b->count = 0;
    return good;
}

static bool put(struct nd_featurer *f, struct batch *b, uint64_t hash, size_t from)
{
    if (b->count == BATCH && !flush(f, b))
        return false;
    b->hash[b->count] = hash;
    b->from[b->count++] = (uint32_t)from;
    return true;
}

static uint64_t rotate(uint64_t x)
{
    return x << ND_SHINGLE_ROTATION | x >> (64 - ND_SHINGLE_ROTATION);
}

uint64_t nd_featurer_short_shingle(const uint64_t *term, size_t n)
{
    uint64_t sum = term[0];

    for (size_t i = 1; i < n; i++)
        sum = rotate(sum) + term[i];
    return nd_shingle_finalise(sum + ND_POSITION_STEP * n);
}

/* Of fewer terms than a shingle has: one feature, all of them (docs/format/sketch.md). */
static bool count_short(struct nd_featurer *f, const uint64_t *term, size_t n)
{
    uint64_t hash = nd_featurer_short_shingle(term, n);
    uint32_t from = 0;

    return nd_featurer_add(f, &hash, &from, 1);
}

/* n shingles where every occurrence is a feature, wherever it stands. */
static bool put_run(struct nd_featurer *f, const uint64_t *term, size_t n)
{
    if (!nd_featurer_reserve_direct(f, n))
        return false;
    nd_sketch_kernels()->shingles(term, n, f->params.width, f->direct + f->n_direct);
    f->n_direct += n;
    return true;
}

/* The n shingles that begin at term[0 … n - 1]; the first is number `from`. */
static bool count_run(struct nd_featurer *f, const uint64_t *term, size_t n, size_t from)
{
    const struct nd_sketch_kernels *kernels = nd_sketch_kernels();
    struct batch b;

    if (nd_featurer_is_direct(f) && !f->selects_occurrences)
        return put_run(f, term, n);
    for (size_t i = 0; i < n; i += BATCH) {
        b.count = n - i < BATCH ? n - i : BATCH;
        kernels->shingles(term + i, b.count, f->params.width, b.hash);
        for (size_t k = 0; k < b.count; k++)
            b.from[k] = (uint32_t)(from + i + k);
        if (!flush(f, &b))
            return false;
    }
    return true;
}

static bool count_shingles(struct nd_featurer *f)
{
    size_t n = f->n_terms, w = f->params.width;

    if (n == 0)
        return true;
    return n < w ? count_short(f, f->term, n) : count_run(f, f->term, n - w + 1, 0);
}

static bool count_terms(struct nd_featurer *f)
{
    struct batch b;

    for (size_t i = 0; i < f->n_terms; i += BATCH) {
        b.count = f->n_terms - i < BATCH ? f->n_terms - i : BATCH;
        memcpy(b.hash, f->term + i, b.count * sizeof *b.hash);
        for (size_t k = 0; k < b.count; k++)
            b.from[k] = (uint32_t)(i + k);
        if (!flush(f, &b))
            return false;
    }
    return true;
}

/* Terms, and after the first of a phrase the phrase (002 s. 5.3e). */
static bool count_phrases(struct nd_featurer *f)
{
    struct batch b = {.count = 0};

    for (size_t i = 0; i < f->n_terms; i++) {
        if (i + AHEAD + 1 < f->n_terms)
            nd_phrases_prefetch(&f->phrases, f->term[i + AHEAD], f->term[i + AHEAD + 1]);
        if (!put(f, &b, f->term[i], i))
            return false;
        if (i + 1 < f->n_terms && nd_phrases_have(&f->phrases, f->term[i], f->term[i + 1]) &&
            !put(f, &b, nd_phrase_hash(f->term[i], f->term[i + 1]), i))
            return false;
    }
    return flush(f, &b);
}

/* The code points of a window of normalised text follow those in `term`: eight of ASCII at a time.
 */
static bool append_codes(struct nd_featurer *f, const char *bytes, size_t len)
{
    const uint64_t *ascii = f->ascii;
    uint64_t *term;
    size_t n;

    if (!nd_featurer_reserve_terms(f, f->n_terms + len))
        return false;
    term = f->term + f->n_terms;
    for (size_t i = 0; i < len; i += n) {
        uint64_t eight = len - i < 8 ? UINT64_MAX : nd_scan_load(bytes + i);

        if (!nd_scan_is_wide(eight)) {
            for (n = 0; n < 8; n++)
                *term++ = ascii[(unsigned char)bytes[i + n]];
            continue;
        }
        n = 1;
        *term++ = (unsigned char)bytes[i] < 0x80 ? ascii[(unsigned char)bytes[i]]
                                                 : nd_mix64(nd_utf8_decode(bytes + i, &n));
    }
    f->n_terms = (size_t)(term - f->term);
    return true;
}

/* The n-grams that end within some more bytes of normalised text. */
static bool count_codes(struct nd_featurer *f, const char *bytes, size_t len)
{
    size_t w = f->params.width, n;

    if (!append_codes(f, bytes, len))
        return false;
    if (f->n_terms < w)
        return true;
    n = f->n_terms - w + 1;
    if (!count_run(f, f->term, n, f->n_dropped))
        return false;
    memmove(f->term, f->term + n, (w - 1) * sizeof *f->term);
    f->n_dropped += n;
    f->n_terms = w - 1;
    return true;
}

/* Where a part of the text that the first cache holds ends: whole code points. */
static size_t end_of_part(const char *bytes, size_t len, size_t from)
{
    enum { PART = 1024 };
    size_t end = len - from < PART ? len : from + PART;

    while (end < len && ((unsigned char)bytes[end] & 0xC0) == 0x80)
        end++;
    return end;
}

/*
 * Character n-grams, part by part: `term` holds the code points of a part and the last w - 1
 * before it.
 */
static enum nd_status count_characters(struct nd_featurer *f, struct nd_view text)
{
    const char *bytes;
    size_t len;
    int more;

    f->n_terms = 0;
    f->n_dropped = 0;
    nd_text_stream_start(f->stream, text.data, text.len);
    while ((more = nd_text_stream_next(f->stream, &bytes, &len)) == 1) {
        for (size_t from = 0, end; from < len; from = end) {
            end = end_of_part(bytes, len, from);
            if (!count_codes(f, bytes + from, end - from))
                return ND_ENOMEM;
        }
    }
    if (more < 0)
        return (enum nd_status)more;
    f->n_words = f->n_dropped + f->n_terms;
    if (f->n_dropped == 0 && f->n_terms > 0 && !count_short(f, f->term, f->n_terms))
        return ND_ENOMEM;
    return ND_OK;
}

/* The hash of a sequence of terms of any length: the identity of docs/format/sketch.md. */
static uint64_t sequence_hash(const uint64_t *term, size_t n)
{
    uint64_t h = nd_mix64(nd_sketch_kernels()->sequence_sum(term, n, 0) + n * ND_POSITION_STEP);

    return h ? h : 1;
}

static bool count_sentences(struct nd_featurer *f)
{
    struct batch b = {.count = 0};
    size_t i = 0, end;

    for (size_t s = 0; s < f->sentence.count; s++) {
        size_t stop = s + 1 < f->sentence.count ? f->sentence.at[s + 1] : f->n_words;

        for (end = i; end < f->n_terms && nd_featurer_word_of(f, end) < stop;)
            end++;
        if (end > i && !put(f, &b, sequence_hash(f->term + i, end - i), i))
            return false;
        i = end;
    }
    return flush(f, &b);
}

/*
 * Spot signatures (Theobald, Siddharth and Paepcke 2008, s. 3): an antecedent and a chain of the
 * terms after it, `distance` apart; none where the text ends first.
 */
static bool count_spots(struct nd_featurer *f)
{
    const uint32_t wanted = f->words.n_anchors ? ND_WORD_ANCHOR : ND_WORD_STOP;
    const size_t c = f->params.width, d = f->params.distance;
    struct batch b = {.count = 0};
    size_t next = 0; /* the first term after the word */

    for (size_t i = 0; i < f->word.count; i++) {
        const struct nd_word *word = &f->words.word[f->word.at[i]];
        uint64_t sum = word->hash;

        while (next < f->n_terms && f->kept.at[next] <= i)
            next++;
        if (f->n_terms - next < c * d)
            break;
        if (!(word->kinds & wanted) || nd_featurer_is_left_out(f, i))
            continue;
        for (size_t k = 1; k <= c; k++)
            sum = rotate(sum) + f->term[next + k * d - 1];
        if (!put(f, &b, nd_shingle_finalise(sum), i))
            return false;
    }
    return flush(f, &b);
}

enum nd_status nd_featurer_count(struct nd_featurer *f, struct nd_view text)
{
    bool good = true;

    switch (f->params.unit) {
    case ND_FEATURE_TERMS:
        good = nd_featurer_is_by_word(f) ? nd_featurer_count_words(f)
               : f->phrases.is_used      ? count_phrases(f)
                                         : count_terms(f);
        break;
    case ND_FEATURE_PATHS: good = count_terms(f); break;
    case ND_FEATURE_NONE: break;
    case ND_FEATURE_SHINGLES: good = count_shingles(f); break;
    case ND_FEATURE_CHARACTERS: return count_characters(f, text);
    case ND_FEATURE_SENTENCES: good = count_sentences(f); break;
    case ND_FEATURE_SPOTS: good = count_spots(f); break;
    }
    return good ? ND_OK : ND_ENOMEM;
}

size_t nd_featurer_terms_of(const struct nd_featurer *f, size_t from, uint64_t hash)
{
    size_t n = f->params.width, stop;

    switch (f->params.unit) {
    case ND_FEATURE_SHINGLES: return f->n_terms < n ? f->n_terms : n;
    case ND_FEATURE_SENTENCES:
        for (n = 0; n < f->sentence.count && f->sentence.at[n] <= nd_featurer_word_of(f, from);)
            n++;
        stop = n < f->sentence.count ? f->sentence.at[n] : f->n_words;
        for (n = from; n < f->n_terms && nd_featurer_word_of(f, n) < stop;)
            n++;
        return n - from;
    default: return f->term[from] == hash ? 1 : 2; /* a phrase */
    }
}
