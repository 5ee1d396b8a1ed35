/* document_terms.h - from a document to its terms: tokens, words, marks, template text, terms */
#ifndef ND_FEATURE_DOCUMENT_TERMS_H
#define ND_FEATURE_DOCUMENT_TERMS_H

#include "base/memory.h"
#include "feature/feature_plan.h"
#include "feature/words.h"
#include "text/mail_quotes.h"
#include "text/text_stream.h"

#include <neardup/error.h>
#include <neardup/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers that grow.  Starts from zeroes. */
struct nd_number_list {
    uint32_t *items;
    size_t count, capacity;
};

/* Reserve n more; false: out of memory, or there would be 2^32 of them. */
static inline bool nd_number_list_reserve(struct nd_number_list *list, size_t n)
{
    return list->count + n <= UINT32_MAX &&
           ND_RESERVE(list->items, &list->capacity, list->count + n);
}

/* Notes on each token besides its word; each array is filled only where it is needed. */
struct nd_token_notes {
    bool has_marks;          /* this document: `place` and `mark` are filled */
    struct nd_token *place;  /* where it stands in the text */
    uint16_t *mark;          /* how far it is marked, 0 … ND_MARK_FULL */
    unsigned char *template; /* 1: it is template text */
    size_t place_capacity, mark_capacity, template_capacity;
};

/*
 * The scratch of one thread for a document's terms.  From left to right the arrays are
 *
 *     word      the number in `words` of each token of the text
 *     sentence  the first token of each sentence that has one; only where sentences matter
 *     term      the hash of each term; of character n-grams the code points of a window; the hash
 *               of each path
 *     token     which token each term is, from 0
 *
 * If nothing needs to be known of words (plan->is_plain), tokens are terms: `word` and `token`
 * stay empty.
 */
struct nd_document_terms {
    const struct nd_feature_plan *plan;
    struct nd_tokeniser *tokeniser;
    struct nd_text_stream *stream;
    struct nd_words words;
    struct nd_mail_quotes quotes; /* the text with blanks for what is not its writer's */
    struct nd_view spaced;        /* it, or the document's text; borrowed */
    struct nd_buffer joined;      /* it, without apostrophes */

    struct nd_number_list word, sentence, token;
    struct nd_token_notes notes;
    uint64_t *term;
    uint32_t *term_df; /* of each term in the df table */
    size_t term_capacity, term_df_capacity;
    size_t n_terms;
    uint64_t n_tokens;  /* of character n-grams code points, of paths elements */
    uint64_t n_dropped; /* of character n-grams: code points before the first in `term` */
};

/* `t` is zeroes; the plan outlives it.  ND_EINVAL, ND_EUNSUPPORTED (the stemmer), ND_ENOMEM; release
 * it in any case. */
enum nd_status nd_document_terms_init(struct nd_document_terms *t,
                                      const struct nd_feature_plan *plan, struct nd_error *err);
void nd_document_terms_release(struct nd_document_terms *t);

/*
 * Read a document: its tokens and terms.  Character n-grams are not read before they are counted;
 * of these only the length is known then, where the weigher needs it.  Where `by_word`, terms are
 * left to nd_word_counts, and only dates are taken out of the words.  ND_ENOMEM.
 */
enum nd_status nd_document_terms_read(struct nd_document_terms *t,
                                      const struct nd_document *document, bool by_word);

/* Make the text what tokens are taken from: without quoted mail and apostrophes, if the parameters
 * say so.  It lies in `t` until the next text.  False: out of memory. */
bool nd_document_terms_text(struct nd_document_terms *t, struct nd_view *text);

/* The flags of a word that keep it from being a term. */
#define ND_WORD_OUT (ND_WORD_STOP | ND_WORD_LEFT_OUT)

/* Which token of the text a term is, from 0. */
static inline size_t nd_token_of_term(const struct nd_document_terms *t, size_t term)
{
    return t->plan->is_plain ? term : t->token.items[term];
}

/* Whether a token is template text that is left out. */
static inline bool nd_token_is_left_out(const struct nd_document_terms *t, size_t token)
{
    return t->plan->template.table && !t->plan->template.weight && t->notes.template[token];
}

/* Make sure that `term` holds n terms in all.  False: out of memory. */
static inline bool nd_document_terms_reserve(struct nd_document_terms *t, size_t n)
{
    return ND_RESERVE(t->term, &t->term_capacity, n);
}

/* The tokens of the text with their places in it, also where apostrophes were taken out; the caller
 * frees *token.  Slow.  ND_ENOMEM. */
enum nd_status nd_document_terms_places(struct nd_document_terms *t, struct nd_view text,
                                        struct nd_token **token, size_t *n);

/*
 * mark[i] for each token, given with its place in the document's text, in order: ND_MARK_FULL
 * inside markup and inside the anchors of links, falling in a straight line to 0 over the
 * `window` words on either side of an anchor; window 0: anchors count for nothing.  The greatest
 * where several apply: marked once, however deep (Seshasai 2009, §5.4; Manku 2007, §5.3c).
 */
void nd_marks_fill(const struct nd_document *document, unsigned window,
                   const struct nd_token *token, size_t n, uint16_t *mark);

#endif
