/* marks.c - how far each word of a document is marked by tags and links */
#include "feature/marks.h"
#include "feature/weigh.h"

#include <neardup/feature.h>

int nd_feature_reads_markup(const struct nd_feature_params *features,
                            const struct nd_weight_params *weights)
{
    return weights->markup != ND_MARKUP_IGNORE || features->links;
}

/* Tokens that begin before a place: the stretch is searched from `i` on, since stretches rise. */
static size_t skip_to(const struct nd_token *token, size_t n, size_t i, uint64_t offset)
{
    while (i < n && token[i].offset + token[i].len <= offset)
        i++;
    return i;
}

static void raise(uint16_t *mark, unsigned to)
{
    if (*mark < to)
        *mark = (uint16_t)to;
}

/* The words on either side of tokens begin … end - 1, at distance 1 … window. */
static void mark_window(size_t begin, size_t end, size_t n, unsigned window, uint16_t *mark)
{
    for (unsigned distance = 1; distance <= window; distance++) {
        unsigned to = (unsigned)((uint64_t)ND_MARK_FULL * (window + 1 - distance) / (window + 1));

        if (distance <= begin)
            raise(&mark[begin - distance], to);
        if (distance <= n - end)
            raise(&mark[end + distance - 1], to);
    }
}

void nd_marks_fill(const struct nd_document *document, unsigned window,
                   const struct nd_token *token, size_t n, uint16_t *mark)
{
    size_t first = 0;

    for (size_t i = 0; i < n; i++)
        mark[i] = 0;
    for (size_t m = 0; m < document->n_markup; m++) {
        const struct nd_markup *span = &document->markup[m];

        first = skip_to(token, n, first, span->offset);
        for (size_t i = first; i < n && token[i].offset < span->offset + span->len; i++)
            mark[i] = ND_MARK_FULL;
    }
    if (window == 0)
        return;
    first = 0;
    for (size_t l = 0; l < document->n_links; l++) {
        const struct nd_link *link = &document->links[l];
        size_t end;

        first = skip_to(token, n, first, link->offset);
        for (end = first; end < n && token[end].offset < link->offset + link->len; end++)
            mark[end] = ND_MARK_FULL;
        mark_window(first, end, n, window, mark);
    }
}
