/* tokeniser.c - the token hashes of a text, window by window */
#include "text/tokeniser.h"

#include "simd/text/token_hash.h"
#include "text/fold.h"

#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 8192,  /* bytes whose edges are found at once */
    HASHES = 8192, /* given at once; a piece has at most half as many */
};

struct nd_tokeniser {
    struct nd_folder fold;
    size_t done;      /* bytes of the buffer whose tokens have been given */
    size_t final;     /* bytes of the buffer that are whole tokens; the last one is zero */
    uint64_t dropped; /* bytes before the buffer */
    bool is_last;     /* the buffer holds the end of the text */
    bool is_invalid;  /* the text is no UTF-8, and was not read */
    uint16_t edge[PIECE + ND_EDGES_SLACK];
    uint64_t hash[HASHES];
};

struct nd_tokeniser *nd_tokeniser_new(void)
{
    struct nd_tokeniser *t = malloc(sizeof *t);

    if (!t)
        return NULL;
    if (!nd_folder_init(&t->fold)) {
        free(t);
        return NULL;
    }
    nd_tokeniser_begin(t, NULL, 0);
    return t;
}

void nd_tokeniser_free(struct nd_tokeniser *t)
{
    if (!t)
        return;
    nd_folder_release(&t->fold);
    free(t);
}

void nd_tokeniser_begin(struct nd_tokeniser *t, const char *text, size_t len)
{
    nd_folder_start(&t->fold, text, len);
    t->done = t->final = 0;
    t->dropped = 0;
    t->is_last = false;
    t->is_invalid = false;
}

void nd_tokeniser_start(struct nd_tokeniser *t, const char *text, size_t len)
{
    bool is_valid = nd_utf8_valid(text, len);

    nd_tokeniser_begin(t, text, is_valid ? len : 0);
    t->is_invalid = !is_valid;
}

/* The end of the last whole token in the first n bytes. */
static size_t last_end(const uint8_t *buffer, size_t n)
{
    while (n > 0 && buffer[n - 1] != 0)
        n--;
    return n;
}

/* The next window.  One that ends within its only token is doubled.  False: out of memory. */
static bool refill(struct nd_tokeniser *t)
{
    struct nd_folder *f = &t->fold;
    size_t limit;

    nd_folder_drop(f, t->done);
    t->dropped += t->done;
    t->done = 0;
    limit = f->len < ND_FOLDER_WINDOW / 2 ? ND_FOLDER_WINDOW : 2 * f->len;
    if (!nd_folder_words(f, limit))
        return false;
    t->is_last = nd_folder_at_end(f);
    if (t->is_last)
        f->buffer[f->len++] = 0;
    t->final = t->is_last ? f->len : last_end(f->buffer, f->mark);
    return true;
}

/* A token longer than a piece. */
static void hash_long(struct nd_tokeniser *t, const uint8_t *token, uint64_t *hash,
                      struct nd_token_window *w)
{
    const uint8_t *end = memchr(token, 0, t->final - t->done);

    w->edge = NULL;
    w->len = (size_t)(end - token);
    w->count = 1;
    *hash = nd_token_hash_padded(w->base, w->len);
    t->done += w->len + 1;
}

/* Hash the whole tokens of the next piece of the window, which is not at its end. */
static inline void hash_piece(struct nd_tokeniser *t, uint64_t *hash, struct nd_token_window *w)
{
    const uint8_t *piece = t->fold.buffer + t->done;
    size_t left = t->final - t->done, len = left <= PIECE ? left : last_end(piece, PIECE);

    w->hash = hash;
    w->base = (const char *)piece;
    w->offset = t->dropped + t->done;
    if (len == 0) {
        hash_long(t, piece, hash, w);
        return;
    }
    w->edge = t->edge;
    w->len = len;
    w->count = t->fold.kernels->edges(piece, len, t->edge) / 2;
    t->fold.kernels->hash(piece, t->edge, w->count, hash);
    t->done += len;
}

/* Hash whole tokens of the window, as many as there is room for. */
static size_t hash_window(struct nd_tokeniser *t)
{
    struct nd_token_window piece;
    size_t count = 0;

    while (t->done < t->final && count + PIECE / 2 < HASHES) {
        hash_piece(t, t->hash + count, &piece);
        count += piece.count;
    }
    return count;
}

int nd_tokeniser_window(struct nd_tokeniser *t, struct nd_token_window *window)
{
    if (t->is_invalid)
        return ND_EINVAL;
    for (;;) {
        while (t->done < t->final) {
            hash_piece(t, t->hash, window);
            if (window->count > 0)
                return 1;
        }
        if (t->is_last)
            return 0;
        if (!refill(t))
            return ND_ENOMEM;
    }
}

int nd_tokeniser_next(struct nd_tokeniser *t, const uint64_t **hash, size_t *count)
{
    if (t->is_invalid)
        return ND_EINVAL;
    for (;;) {
        size_t n = hash_window(t);

        if (n > 0) {
            *hash = t->hash;
            *count = n;
            return 1;
        }
        if (t->is_last)
            return 0;
        if (!refill(t))
            return ND_ENOMEM;
    }
}
