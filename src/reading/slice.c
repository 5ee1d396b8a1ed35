/* slice.c - a sample of documents in which near duplicates stay together */
#include "reading/slice.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"

/* The pieces of the beginning do for a long text. */
enum { PIECE = 24, PIECES_END = 8192 };

/* The lists of hashes are sorted at the end, so that the order of the workers does not count. */
struct slice_worker {
    struct nd_slice_mark *read, *sampled; /* of all documents, and of those in the slice */
    size_t n_read, n_sampled, read_capacity, sampled_capacity;
    uint64_t parsing, slicing;
    char unshared[64]; /* by other workers' cache lines */
};

struct nd_slice {
    uint64_t limit; /* mixed keys below it are in the slice */
    struct slice_worker *worker;
    unsigned n_workers;
};

struct nd_slice *nd_slice_new(double share, unsigned workers)
{
    struct nd_slice *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->limit = share >= 1 ? UINT64_MAX : (uint64_t)(share * 0x1p64);
    s->n_workers = workers + 1; /* and who reads for them */
    s->worker = calloc(s->n_workers, sizeof *s->worker);
    if (s->worker)
        return s;
    free(s);
    return NULL;
}

void nd_slice_free(struct nd_slice *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < s->n_workers; i++) {
        free(s->worker[i].read);
        free(s->worker[i].sampled);
    }
    free(s->worker);
    free(s);
}

/* ---- Keys ---- */

enum { WORD = 8 };
static const uint64_t ONES = UINT64_C(0x0101010101010101), TOPS = UINT64_C(0x8080808080808080);

/* The top bit of each byte that begins a word: it follows a byte up to a space, and is none.  Where
 * scripts put no spaces, each character of three bytes does.  *spaces: those of the word before. */
static uint64_t beginnings(uint64_t bytes, uint64_t *spaces)
{
    const uint64_t low = ~TOPS;
    uint64_t inked = (((bytes & low) + ONES * (0x7F - ' ')) | bytes) & TOPS;
    uint64_t begin = inked & (((inked ^ TOPS) << 8) | *spaces);
    uint64_t other = bytes ^ ONES * 0xE0;

    *spaces = (inked ^ TOPS) >> 56;
    return begin | (~(((other & ONES * 0x70) + ONES * 0x70) | other) & TOPS);
}

/* The least hashes of the pieces of a text by two functions. */
struct minima {
    uint64_t first, second;
};

static void take(struct minima *m, uint64_t hash)
{
    uint64_t other = hash * UINT64_C(0xA0761D6478BD642F);

    other ^= other >> 29;
    m->first = hash < m->first ? hash : m->first;
    m->second = other < m->second ? other : m->second;
}

/*
 * Line ends count as spaces, and letters of ASCII in lower case; other bytes lose a bit, which does
 * no harm.
 */
static uint64_t as_one(uint64_t bytes)
{
    const uint64_t inked = (((bytes & ~TOPS) + ONES * (0x7F - ' ')) | bytes) & TOPS;

    return (bytes & (inked | (inked - (inked >> 7)))) | ONES * 0x20;
}

static uint64_t hash_of_piece(const char *piece)
{
    uint64_t word[PIECE / WORD], hash = 0;

    memcpy(word, piece, sizeof word);
    for (size_t i = 0; i < PIECE / WORD; i++) {
        hash = (hash ^ as_one(word[i])) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return hash * UINT64_C(0xD6E8FEB86659FD93);
}

static struct minima minima_of(struct nd_view text)
{
    struct minima m = {UINT64_MAX, UINT64_MAX};
    uint64_t spaces = 0x80;
    size_t end = text.len < PIECES_END ? text.len : PIECES_END;

    for (size_t i = 0; i + WORD + PIECE <= end; i += WORD) {
        uint64_t bytes, begin;

        memcpy(&bytes, text.data + i, sizeof bytes);
        for (begin = beginnings(bytes, &spaces); begin; begin &= begin - 1)
            take(&m, hash_of_piece(text.data + i + (unsigned)__builtin_ctzll(begin) / 8));
    }
    return m;
}

static struct minima minima_of_row(const struct nd_sketch_row *row)
{
    struct minima m = {UINT64_MAX, UINT64_MAX};

    for (uint32_t i = 0; row->shingles && i < row->n_shingles; i++)
        take(&m, nd_mix64(row->shingles[i]));
    if (!row->shingles && row->n_shingles)
        m = (struct minima){row->low[0], (uint64_t)row->low[1] << 8 | row->low[2]};
    return m;
}

/* A text without pieces is near no other; of documents without texts nothing is known. */
void nd_slice_note(struct nd_parsed *parsed)
{
    struct nd_view text = parsed->document.text;
    struct nd_slice_mark *mark = &parsed->mark;
    struct minima m;

    if (parsed->bad)
        return;
    if (parsed->sketched) {
        mark->text = parsed->sketched->text_hash[0];
        m = minima_of_row(parsed->sketched);
    } else {
        mark->text = text.len ? nd_hash_bytes(text.data, text.len)
                              : nd_hash_bytes(parsed->document.id.data, parsed->document.id.len);
        m = minima_of(text);
    }
    mark->key = m.first == UINT64_MAX ? mark->text : m.first;
    mark->near = nd_mix64(mark->key ^ nd_mix64(m.second));
}

/* ---- Batches ---- */

/* Keys are minima, so they are small where texts are long: they are mixed once more. */
static bool is_in_slice(const struct nd_slice *s, uint64_t key)
{
    return s->limit == UINT64_MAX || nd_mix64(key ^ UINT64_C(0x243F6A8885A308D3)) < s->limit;
}

bool nd_slice_cut(struct nd_slice *s, struct nd_parsed *parsed, size_t *n, unsigned worker)
{
    struct slice_worker *w = &s->worker[worker];
    size_t left = 0;

    if (!ND_RESERVE(w->read, &w->read_capacity, w->n_read + *n) ||
        !ND_RESERVE(w->sampled, &w->sampled_capacity, w->n_sampled + *n))
        return false;
    for (size_t i = 0; i < *n; i++) {
        if (!parsed[i].bad) {
            w->read[w->n_read++] = parsed[i].mark;
            if (!is_in_slice(s, parsed[i].mark.key))
                continue;
            w->sampled[w->n_sampled++] = parsed[i].mark;
        }
        parsed[left++] = parsed[i];
    }
    *n = left;
    return true;
}

void nd_slice_spent(struct nd_slice *s, unsigned worker, uint64_t parsing, uint64_t slicing)
{
    s->worker[worker].parsing += parsing;
    s->worker[worker].slicing += slicing;
}

/* ---- Totals ---- */

/* The shares of documents whose text, or marks of nearness, an earlier one has. */
static enum nd_status count_repeated(const struct nd_slice *s, bool sampled,
                                     struct nd_slice_repeated *repeated, struct nd_error *err)
{
    size_t n = 0, at = 0;
    uint64_t *text, *near, *scratch;

    for (unsigned i = 0; i < s->n_workers; i++)
        n += sampled ? s->worker[i].n_sampled : s->worker[i].n_read;
    text = nd_alloc_array(3 * n + 1, sizeof *text);
    if (!text)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    near = text + n;
    scratch = near + n;
    for (unsigned i = 0; i < s->n_workers; i++) {
        const struct slice_worker *w = &s->worker[i];

        for (size_t k = 0; k < (sampled ? w->n_sampled : w->n_read); k++, at++) {
            const struct nd_slice_mark *mark = sampled ? &w->sampled[k] : &w->read[k];

            text[at] = mark->text;
            near[at] = mark->near;
        }
    }
    if (n) {
        repeated->text = 1 - (double)nd_sort_distinct(text, n, scratch) / (double)n;
        repeated->near = 1 - (double)nd_sort_distinct(near, n, scratch) / (double)n;
    }
    free(text);
    return ND_OK;
}

enum nd_status nd_slice_total(const struct nd_slice *s, struct nd_slice_totals *totals,
                              struct nd_error *err)
{
    enum nd_status status;

    *totals = (struct nd_slice_totals){.documents = 0};
    for (unsigned i = 0; i < s->n_workers; i++) {
        const struct slice_worker *w = &s->worker[i];

        totals->documents += w->n_read;
        totals->parsing_seconds += (double)w->parsing / 1e9;
        totals->slice_seconds += (double)w->slicing / 1e9;
        totals->bytes += (w->read_capacity + w->sampled_capacity) * sizeof *w->read;
    }
    status = count_repeated(s, false, &totals->all, err);
    return status == ND_OK ? count_repeated(s, true, &totals->sampled, err) : status;
}
