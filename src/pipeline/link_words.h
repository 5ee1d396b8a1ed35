/* link_words.h - what links say of their targets: anchors, and words that weigh less farther away
 */
#ifndef ND_PIPELINE_LINK_WORDS_H
#define ND_PIPELINE_LINK_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "pipeline/groups.h"

/* A link from page to page, numbers of addresses, with its anchor, a number of `text`; 0: empty. */
struct nd_link_hit {
    uint32_t to, from, anchor;
};

/* A word about a page, a number of `word`; in 1 / (window + 1). */
struct nd_link_word {
    uint32_t to, word;
    uint64_t weight;
};

/* Starts from zeroes and `window`. */
struct nd_link_words {
    unsigned window;
    struct nd_groups text, form;
    struct nd_link_hit *hit;   /* once sorted: by target, then as they came */
    struct nd_link_word *word; /* once sorted: by target, the heaviest first, then as they came */
    size_t n_hits, n_words, hit_capacity, word_capacity;
    size_t merge_at; /* words that are so many are merged */
};
void nd_link_words_release(struct nd_link_words *l);

/*
 * Before the links of a page are added: its tokens, borrowed until its last link was.  Of each link
 * the anchor and the words about it count, within the line of the text in which it stands.
 */
struct nd_link_page {
    struct nd_view text;
    const struct nd_token *token;
    size_t n_tokens;
};

/* A link to another page.  ND_ENOMEM. */
enum nd_status nd_link_words_add(struct nd_link_words *l, const struct nd_link_page *page,
                                 const struct nd_link *link, uint32_t to, uint32_t from);

/* All have been added. */
void nd_link_words_sort(struct nd_link_words *l);

/* The first that are about a page, in the sorted lists; *n: how many. */
const struct nd_link_hit *nd_link_hits_of(const struct nd_link_words *l, uint32_t to, size_t *n);
const struct nd_link_word *nd_link_words_of(const struct nd_link_words *l, uint32_t to, size_t *n);

#endif
