/* words.h - what is known of each distinct token: worked out once, then looked up by its hash */
#ifndef ND_FEATURE_WORDS_H
#define ND_FEATURE_WORDS_H

#include "feature/word/stemmer.h"
#include "feature/word_rules.h"
#include "text/tokeniser.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nd_word {
    uint64_t hash;
    uint64_t term;  /* the hash of its stem */
    uint32_t df;    /* of the term in the df table, at least 1; 0 without a table */
    uint32_t kinds; /* ND_WORD_…, of word_table.h */
};

struct nd_word_slot {
    uint64_t hash;
    uint32_t number; /* of the word; 0: free */
};

/*
 * The working memory of one thread, of bounded size: it is emptied between documents.
 *
 *     word  [ . | w1 | w2 | … ]         in order of first occurrence, from 1: frequent words, which
 *                                       come early, share cache lines
 *     slot  [ 0 | h2 2 | 0 | h1 1 | … ] open addressing, on huge pages where it is large; it repeats
 *                                       the hash, so that a look-up touches one line of the slots
 *                                       and none of the words
 */
struct nd_words {
    const struct nd_word_rules *rules;
    struct nd_stemmer *stemmer; /* NULL: terms are tokens */
    struct nd_word *word;       /* word[0] is none */
    size_t count, capacity;
    struct nd_word_slot *slot;
    unsigned log2; /* of the number of slots; 0: none */
};

/* `w` is zeroes, `rules` outlive it; `stem` is "none" or a Snowball language.  ND_EINVAL,
 * ND_EUNSUPPORTED, ND_ENOMEM; release it in any case. */
enum nd_status nd_words_init(struct nd_words *w, const struct nd_word_rules *rules,
                             const char *stem, struct nd_error *err);
void nd_words_release(struct nd_words *w);

/* Before each document: forget all words if there are too many. */
void nd_words_begin(struct nd_words *w);

/* The numbers of the window's tokens in w->word, valid until the next nd_words_begin.  False: out
 * of memory. */
bool nd_words_find(struct nd_words *w, const struct nd_token_window *window, uint32_t *number);

/* The form of the term of a token, borrowed until the next call; .data NULL: out of memory. */
struct nd_view nd_words_term(struct nd_words *w, struct nd_view form);

#endif
