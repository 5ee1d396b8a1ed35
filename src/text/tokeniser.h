/* tokeniser.h - what the layers above may use of a tokeniser beside the public functions */
#ifndef ND_TEXT_TOKENISER_H
#define ND_TEXT_TOKENISER_H

#include <neardup/text.h>

/* As nd_tokeniser_start, of a text that is known to be valid UTF-8. */
void nd_tokeniser_begin(struct nd_tokeniser *t, const char *text, size_t len);

/*
 * The token hashes of a piece of a text, and the tokens' normalised forms: token i stands at base +
 * edge[2 i] and ends before base + edge[2 i + 1].  Without edges it is one long token of `len`
 * bytes.  At least 16 bytes from each beginning on are readable.  Of an ASCII text, `base` is at
 * byte `offset` of the text: folding moves nothing.
 */
struct nd_token_window {
    const uint64_t *hash;
    size_t count;
    const char *base;
    const uint16_t *edge;
    size_t len;
    uint64_t offset;
};

/* As nd_tokeniser_next, with forms, and fewer tokens at a time; the two may be mixed. */
int nd_tokeniser_window(struct nd_tokeniser *t, struct nd_token_window *window);

/* The normalised form of token i. */
static inline struct nd_view nd_token_form(const struct nd_token_window *w, size_t i)
{
    if (!w->edge)
        return (struct nd_view){w->base, w->len};
    return (struct nd_view){w->base + w->edge[2 * i],
                            (size_t)(w->edge[2 * i + 1] - w->edge[2 * i])};
}

#endif
