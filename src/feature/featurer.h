/* featurer.h - the working memory of a featurer, and what the layers above may use of it */
#ifndef ND_FEATURE_FEATURER_H
#define ND_FEATURE_FEATURER_H

#include "base/memory.h"
#include "feature/metadata.h"
#include "feature/phrases.h"
#include "feature/tally.h"
#include "feature/weigh.h"
#include "feature/word_counts.h"
#include "feature/words.h"
#include "text/text_stream.h"

#include <neardup/feature.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers that grow.  Starts from zeroes. */
struct nd_numbers {
    uint32_t *at;
    size_t count, capacity;
};
bool nd_numbers_reserve(struct nd_numbers *numbers, size_t n); /* room for n more */

/*
 * One document passes through these arrays in order:
 *
 *     word      what each token of the text is: its number in `words`
 *     sentence  the first token of each sentence that has one; only where sentences are asked for
 *     term      the hash of each term; of character n-grams the code points of a window; the hash
 *               of each path
 *     kept      which token each term is, from 0
 *     tally     the distinct features, counted; occurrence: which of them each occurrence is
 *     at        the features with their weights
 *
 * Where nothing is asked of words, tokens are terms: `word` and `kept` stay empty.
 */
struct nd_featurer {
    struct nd_feature_params params;
    const struct nd_df *df;
    struct nd_words words;
    struct nd_phrases phrases;
    struct nd_tokeniser *tokeniser;
    struct nd_text_stream *stream;
    struct nd_weigher *weigher;
    struct nd_metadata *metadata; /* NULL: none asked for */
    bool is_plain;                /* tokens are terms */
    bool has_sentences, selects_occurrences, needs_gain, needs_marks;
    bool is_flat;    /* weights come from frequencies alone */
    bool is_direct;  /* every occurrence is a feature of the same weight: nothing is counted */
    bool keeps_df;   /* terms, and each brings its df */
    bool is_by_word; /* distinct terms, each a word: counted by the numbers of words */

    uint64_t *anchor_code; /* of character n-grams: the anchors' code points, */
    size_t anchor_capacity;
    struct nd_numbers anchor_end; /* and where each anchor ends */

    struct nd_buffer joined; /* the text without apostrophes */
    struct nd_numbers word, sentence, kept;
    uint64_t ascii[128]; /* of characters: mix64 of each */
    uint64_t *term;
    uint32_t *term_df; /* of each in the df table */
    size_t term_capacity, term_df_capacity;
    uint64_t n_words;   /* tokens; of character n-grams code points, of paths elements */
    size_t n_terms;     /* of `term` */
    uint64_t n_dropped; /* code points before the first in `term` */
    uint16_t *mark;     /* of each token */
    size_t mark_capacity;
    struct nd_token *token; /* where each stands in the text, as soon as it is read */
    size_t token_capacity;
    bool has_marks; /* this document: `token` is filled */

    unsigned template_width;    /* words of a shingle of the template table */
    uint32_t template_weight;   /* of template text, in 2^-24; 0: it is left out */
    unsigned char *is_template; /* of each token, where template_count is above 0 */
    size_t template_capacity;

    uint64_t n_seen;     /* occurrences so far */
    size_t in_sentence;  /* sentences begun so far */
    unsigned seen_in_it; /* occurrences in the last of them */

    struct nd_tally tally;
    struct nd_word_counts counts;
    struct nd_numbers occurrence;      /* only for ND_FEATURE_OCCURRENCES, and to locate; */
    struct nd_numbers occurrence_from; /* where it begins, only to locate: see nd_featurer_add */
    struct nd_numbers new_number;      /* of each entry, when some are left out */
    struct nd_numbers origin; /* where each distinct feature first began; only to explain */
    bool has_origins, has_places;

    uint64_t *direct; /* where nothing is counted: the hashes of all occurrences */
    size_t n_direct, direct_capacity;
    bool is_plainly_asked; /* this document: for hashes alone, where that is all */
    struct nd_feature *at;
    int32_t *weight;
    uint32_t *df_of;
    size_t at_capacity, weight_capacity, df_capacity;
};

/* Whether features are made of the words of the text. */
static inline bool nd_unit_has_words(enum nd_feature_unit unit)
{
    return unit == ND_FEATURE_TERMS || unit == ND_FEATURE_SHINGLES ||
           unit == ND_FEATURE_SENTENCES || unit == ND_FEATURE_SPOTS;
}

/* featurer_params.c: the word of a recipe; what does not fit together: ND_EINVAL. */
const char *nd_feature_unit_name(enum nd_feature_unit unit);
/* Whether its texts end and its words are some: before anything of it is read. */
enum nd_status nd_feature_words_check(const struct nd_feature_params *p, struct nd_error *err);
enum nd_status nd_feature_params_check(const struct nd_feature_params *params, bool has_df,
                                       struct nd_error *err);

/* featurer.c: from the document to the selected distinct features.  ND_ENOMEM. */
enum nd_status nd_featurer_collect(struct nd_featurer *f, const struct nd_document *document);

/* featurer_finish.c: weigh what was collected; but for out->length.  ND_ENOMEM. */
enum nd_status nd_featurer_finish(struct nd_featurer *f, const struct nd_document *document,
                                  struct nd_features *out);

/* Explaining needs the counts. */
static inline bool nd_featurer_is_direct(const struct nd_featurer *f)
{
    return f->is_direct && !f->has_origins && !f->has_places;
}

/* Explaining needs to know where features stand. */
static inline bool nd_featurer_is_by_word(const struct nd_featurer *f)
{
    return f->is_by_word && !f->has_origins && !f->has_places;
}

/* The tokens of the text, with places in it even where apostrophes were taken out; the caller frees
 * *token.  Slow.  ND_ENOMEM. */
enum nd_status nd_featurer_places(struct nd_featurer *f, struct nd_view text,
                                  struct nd_token **token, size_t *n);

/* featurer_read.c: from the text to `word` and `sentence`, or to `term`.  ND_ENOMEM. */
enum nd_status nd_featurer_read(struct nd_featurer *f, struct nd_view text);
/* Code points of the normalised text.  ND_ENOMEM. */
enum nd_status nd_featurer_length(struct nd_featurer *f, struct nd_view text, uint64_t *length);
bool nd_featurer_reserve_terms(struct nd_featurer *f, size_t n); /* n in all */

/* featurer_paths.c: from the elements of the page to `term`, and one as text.  False: out of
 * memory.
 */
bool nd_featurer_read_paths(struct nd_featurer *f, const struct nd_document *document);
bool nd_path_text(const struct nd_document *document, size_t element, struct nd_buffer *out);

/* featurer_template.c: whether the table is one of shingles, and how wide; which words are template
 * text; terms without it.  ND_EINVAL; false: out of memory. */
enum nd_status nd_template_check(const struct nd_feature_params *params, unsigned *width,
                                 struct nd_error *err);
bool nd_featurer_find_template(struct nd_featurer *f);
void nd_featurer_drop_template(struct nd_featurer *f);

/* featurer_terms.c: from words to terms.  False: out of memory. */
bool nd_featurer_keep(struct nd_featurer *f);
/* Where nd_featurer_is_by_word: from words to the tally at once.  False: out of memory. */
bool nd_featurer_count_words(struct nd_featurer *f);

/* Which token of the text a term is, from 0. */
static inline size_t nd_featurer_word_of(const struct nd_featurer *f, size_t term)
{
    return f->is_plain ? term : f->kept.at[term];
}

/* Whether a token is template text that is left out. */
static inline bool nd_featurer_is_left_out(const struct nd_featurer *f, size_t token)
{
    return f->params.template_count && !f->template_weight && f->is_template[token];
}

/* How many terms the feature has that begins with term `from`. */
size_t nd_featurer_terms_of(const struct nd_featurer *f, size_t from, uint64_t hash);

/* featurer_units.c: the shingle of all terms, where they are fewer than its width. */
uint64_t nd_featurer_short_shingle(const uint64_t *term, size_t n);

/* From terms to the tally.  ND_ENOMEM. */
enum nd_status nd_featurer_count(struct nd_featurer *f, struct nd_view text);

/*
 * featurer_select.c: count at most 512 occurrences, but those that are not selected, which are
 * taken out of the arrays; `from` is where each begins: the number of its first term, of a spot
 * that of its word, of a character n-gram that of its code point.  Then select among the distinct
 * ones. False: out of memory.
 */
bool nd_featurer_add(struct nd_featurer *f, uint64_t *hash, uint32_t *from, size_t n);
bool nd_featurer_reserve_direct(struct nd_featurer *f, size_t n); /* of `direct`: n more */
bool nd_featurer_select(struct nd_featurer *f);

#endif
