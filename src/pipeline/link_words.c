/* link_words.c - what links say of their targets: anchors, and words that weigh less farther away
 */
#include "pipeline/link_words.h"

#include <neardup/text.h>

#include <stdlib.h>

enum { MERGE_FIRST = 1 << 20 };

void nd_link_words_release(struct nd_link_words *l)
{
    nd_groups_release(&l->text);
    nd_groups_release(&l->form);
    free(l->hit);
    free(l->word);
    l->hit = NULL;
    l->word = NULL;
}

static int by_target(const void *left, const void *right)
{
    const struct nd_link_word *x = left, *y = right;

    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->word < y->word ? -1 : x->word > y->word;
}

static int by_weight(const void *left, const void *right)
{
    const struct nd_link_word *x = left, *y = right;

    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->word < y->word ? -1 : x->word > y->word;
}

/* Equal words of a page become one. */
static void merge(struct nd_link_words *l)
{
    size_t n = 0;

    if (l->n_words)
        qsort(l->word, l->n_words, sizeof *l->word, by_target);
    for (size_t i = 0; i < l->n_words; i++) {
        if (n && l->word[n - 1].to == l->word[i].to && l->word[n - 1].word == l->word[i].word)
            l->word[n - 1].weight += l->word[i].weight;
        else
            l->word[n++] = l->word[i];
    }
    l->n_words = n;
    l->merge_at = 2 * n > MERGE_FIRST ? 2 * n : MERGE_FIRST;
}

static enum nd_status add_word(struct nd_link_words *l, struct nd_view text,
                               const struct nd_token *token, uint32_t to, unsigned weight)
{
    void *list = l->word;
    uint32_t number = 0;
    size_t len;
    char *form;
    bool good;

    if (nd_text_normalise(text.data + token->offset, token->len, &form, &len, NULL) != ND_OK)
        return ND_ENOMEM;
    good = nd_groups_number(&l->form, (struct nd_view){form, len}, &number);
    free(form);
    if (l->n_words >= l->merge_at)
        merge(l);
    if (!good || !nd_array_reserve(&list, &l->word_capacity, l->n_words + 1, sizeof *l->word))
        return ND_ENOMEM;
    l->word = list;
    l->word[l->n_words++] = (struct nd_link_word){to, number, weight};
    return ND_OK;
}

/* The tokens that begin in a stretch of the text: from the first on that is not before it. */
static size_t first_token(const struct nd_link_page *page, uint64_t offset)
{
    size_t low = 0, high = page->n_tokens;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (page->token[middle].offset + page->token[middle].len <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The line of the text around a stretch. */
static void find_line(struct nd_view text, const struct nd_link *link, uint64_t *begin,
                      uint64_t *end)
{
    for (*begin = link->offset; *begin > 0 && text.data[*begin - 1] != '\n';)
        --*begin;
    for (*end = link->offset + link->len; *end < text.len && text.data[*end] != '\n';)
        ++*end;
}

/* 002 s. 5.3d: words farther from the anchor weigh less, in a straight line. */
static enum nd_status add_words(struct nd_link_words *l, const struct nd_link_page *page,
                                const struct nd_link *link, uint32_t to)
{
    size_t first = first_token(page, link->offset), last = first;
    enum nd_status status = ND_OK;
    uint64_t begin, end;

    find_line(page->text, link, &begin, &end);
    for (; last < page->n_tokens && page->token[last].offset < link->offset + link->len; last++)
        if (status == ND_OK)
            status = add_word(l, page->text, &page->token[last], to, l->window + 1);
    for (unsigned d = 1; d <= l->window && status == ND_OK; d++) {
        if (d <= first && page->token[first - d].offset >= begin)
            status = add_word(l, page->text, &page->token[first - d], to, l->window + 1 - d);
        if (status == ND_OK && last + d <= page->n_tokens && page->token[last + d - 1].offset < end)
            status = add_word(l, page->text, &page->token[last + d - 1], to, l->window + 1 - d);
    }
    return status;
}

enum nd_status nd_link_words_add(struct nd_link_words *l, const struct nd_link_page *page,
                                 const struct nd_link *link, uint32_t to, uint32_t from)
{
    struct nd_view anchor = {page->text.data + link->offset, link->len};
    void *list = l->hit;
    uint32_t number = 0;

    if (link->len && !nd_groups_number(&l->text, anchor, &number))
        return ND_ENOMEM;
    if (!nd_array_reserve(&list, &l->hit_capacity, l->n_hits + 1, sizeof *l->hit))
        return ND_ENOMEM;
    l->hit = list;
    l->hit[l->n_hits++] = (struct nd_link_hit){to, from, number};
    return add_words(l, page, link, to);
}

/* Addresses and anchors have their numbers in the order in which they came. */
static int by_page(const void *left, const void *right)
{
    const struct nd_link_hit *x = left, *y = right;

    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->anchor < y->anchor ? -1 : x->anchor > y->anchor;
}

void nd_link_words_sort(struct nd_link_words *l)
{
    merge(l);
    if (l->n_words)
        qsort(l->word, l->n_words, sizeof *l->word, by_weight);
    if (l->n_hits)
        qsort(l->hit, l->n_hits, sizeof *l->hit, by_page);
}

const struct nd_link_hit *nd_link_hits_of(const struct nd_link_words *l, uint32_t to, size_t *n)
{
    size_t low = 0, high = l->n_hits;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (l->hit[middle].to < to)
            low = middle + 1;
        else
            high = middle;
    }
    for (*n = 0; low + *n < l->n_hits && l->hit[low + *n].to == to;)
        ++*n;
    return l->hit + low;
}

const struct nd_link_word *nd_link_words_of(const struct nd_link_words *l, uint32_t to, size_t *n)
{
    size_t low = 0, high = l->n_words;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (l->word[middle].to < to)
            low = middle + 1;
        else
            high = middle;
    }
    for (*n = 0; low + *n < l->n_words && l->word[low + *n].to == to;)
        ++*n;
    return l->word + low;
}
