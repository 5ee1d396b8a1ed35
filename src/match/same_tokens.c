/* same_tokens.c - whether two texts are the same sequence of tokens */
#include "match/same_tokens.h"

#include "text/mail_quotes.h"
#include "text/tokeniser.h"

#include <stdlib.h>
#include <string.h>

/* Windows of the two texts need not end at the same token: compare the shorter rest, then go on.
 * n_x and n_y tokens are left of the current windows, from x and y on. */
static int same_tokens(struct nd_tokeniser *left, struct nd_view a, struct nd_tokeniser *right,
                       struct nd_view b)
{
    const uint64_t *x = NULL, *y = NULL;
    size_t n_x = 0, n_y = 0;

    nd_tokeniser_begin(left, a.data, a.len);
    nd_tokeniser_begin(right, b.data, b.len);
    for (;;) {
        int more_x = n_x ? 1 : nd_tokeniser_next(left, &x, &n_x);
        int more_y = n_y ? 1 : nd_tokeniser_next(right, &y, &n_y);
        size_t n;

        if (more_x < 0 || more_y < 0)
            return ND_ENOMEM;
        if (!more_x || !more_y)
            return more_x == more_y;
        n = n_x < n_y ? n_x : n_y;
        if (memcmp(x, y, n * sizeof *x) != 0)
            return 0;
        x += n;
        y += n;
        n_x -= n;
        n_y -= n;
    }
}

static int same_characters(struct nd_view a, struct nd_view b)
{
    char *x = NULL, *y = NULL;
    size_t n_x, n_y;
    int same = ND_ENOMEM;

    if (nd_text_normalise(a.data, a.len, &x, &n_x, NULL) == ND_OK &&
        nd_text_normalise(b.data, b.len, &y, &n_y, NULL) == ND_OK)
        same = n_x == n_y && (n_x == 0 || memcmp(x, y, n_x) == 0);
    free(x);
    free(y);
    return same;
}

int nd_same_as_sketched(const struct nd_sketch_params *params,
                        struct nd_tokeniser *const tokeniser[2], struct nd_view a, struct nd_view b)
{
    struct nd_mail_quotes quotes[2] = {{0}, {0}};
    int same = ND_ENOMEM;

    if (params->mail_quotes == ND_QUOTES_KEEP ||
        (nd_mail_quotes_drop(&quotes[0], &a) && nd_mail_quotes_drop(&quotes[1], &b)))
        same = params->unit == ND_SHINGLE_WORDS ? same_tokens(tokeniser[0], a, tokeniser[1], b)
                                                : same_characters(a, b);
    nd_mail_quotes_release(&quotes[0]);
    nd_mail_quotes_release(&quotes[1]);
    return same;
}
