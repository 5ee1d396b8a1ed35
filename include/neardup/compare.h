/* neardup/compare.h - two documents beside each other: edits, terms, copied passages, templates
 *
 * Library: neardup.
 *
 *     struct nd_edit_costs costs = nd_edit_costs_default();
 *     uint64_t distance;
 *
 *     if (nd_edit_distance(a, n_a, b, n_b, &costs, ND_EDIT_NO_LIMIT, &distance, &err) == ND_OK)
 *         printf("%" PRIu64 "\n", distance);
 *
 * All functions here take documents as their token hashes, in order (nd_token_hash,
 * nd_text_tokens, nd_tokeniser_next): two tokens are equal where their hashes are.  They keep
 * nothing, so any thread may call them.  A pointer may be NULL where its length is 0.
 */
#ifndef NEARDUP_COMPARE_H
#define NEARDUP_COMPARE_H

#include <neardup/error.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The greatest cost of an edit. */
#define ND_EDIT_COST_MAX 255u

/* The cost of each edit, 1 … ND_EDIT_COST_MAX.  Replacing never costs more than removing and
 * inserting: a higher cost is lowered to what those two cost. */
struct nd_edit_costs {
    uint32_t insert, remove, replace;
};

/* 1, 1, 1. */
ND_API struct nd_edit_costs nd_edit_costs_default(void);

/* As a limit: none. */
#define ND_EDIT_NO_LIMIT UINT64_MAX
/* As a distance: greater than the limit. */
#define ND_EDIT_BEYOND UINT64_MAX

/*
 * The edit distance: the lowest cost of inserting, removing and replacing tokens that turns a into
 * b (the lecture slides, "Edit distance").  *distance: it, or ND_EDIT_BEYOND where it exceeds the
 * limit.  Only the diagonals that a script of that cost can reach are computed, so time is the
 * product of the longer text and the distance (or the limit), and memory one row.  ND_EINVAL (a
 * cost out of range), ND_ENOMEM, ND_EUNSUPPORTED (texts so long that costs leave 32 bits).
 */
ND_API enum nd_status nd_edit_distance(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
                                       const struct nd_edit_costs *costs, uint64_t limit,
                                       uint64_t *distance, struct nd_error *err);

enum nd_edit_kind { ND_EDIT_KEEP, ND_EDIT_REPLACE, ND_EDIT_REMOVE, ND_EDIT_INSERT };

/* An edit of `count` tokens, from a[at_a] and b[at_b] on.  An insertion has its place in a, a
 * removal in b. */
struct nd_edit {
    enum nd_edit_kind kind;
    size_t at_a, at_b, count;
};

/*
 * The distance, and a script of that cost: runs of edits in order, which cover both texts.  Linear
 * memory (Hirschberg 1975).  Of several scripts of the same cost it is always the same one.  The
 * caller frees *edits with free(); beyond the limit it is NULL and there are none.  Statuses as
 * above.
 */
ND_API enum nd_status nd_edit_script(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
                                     const struct nd_edit_costs *costs, uint64_t limit,
                                     uint64_t *distance, struct nd_edit **edits, size_t *n_edits,
                                     struct nd_error *err);

/* The greatest limit with which no more than `cells` cells are computed: a bound on time. */
ND_API uint64_t nd_edit_limit_for(size_t n_a, size_t n_b, const struct nd_edit_costs *costs,
                                  uint64_t cells);

/* The distinct terms of two documents, and how often they occur. */
struct nd_term_overlap {
    /* Distinct terms of a, of b, and of both. */
    struct nd_overlap distinct;
    /* Occurrences: the lengths of the texts. */
    uint64_t tokens_a, tokens_b;
    /* The sum of tf_a tf_b: the raw inner product (Seshasai 2009, §2). */
    uint64_t inner;
    /* The sums of tf^2: the squared lengths of the two vectors. */
    uint64_t squares_a, squares_b;
};

/* ND_ENOMEM; ND_EUNSUPPORTED: more than 2^31 tokens. */
ND_API enum nd_status nd_terms_compare(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
                                       struct nd_term_overlap *out, struct nd_error *err);

/*
 * The rule of Conrad 2004 (Manku 2007, §6A; Seshasai 2009, §2.5.1): the shared terms are at least
 * `terms` (4/5) of the distinct terms of each document, and the shorter text has at least `length`
 * (4/5: within 20%) of the longer one's tokens.  1: they are duplicates; 0: they are not, as are
 * documents without terms.
 */
ND_API int nd_conrad_schriber(const struct nd_term_overlap *overlap, struct nd_ratio terms,
                              struct nd_ratio length);

/* How passages are found.  Start from nd_passage_params_default(). */
struct nd_passage_params {
    /* k: tokens of a hashed run, the noise threshold, 1 … least (3). */
    unsigned shingle;
    /* t: every passage of at least so many tokens is found (8). */
    unsigned least;
    /* Passages with at most so many other tokens between them in both texts become one (0). */
    unsigned gap;
};
ND_API struct nd_passage_params nd_passage_params_default(void);

/* A run that stands in both texts: count_a tokens from a[at_a], count_b from b[at_b].  The two
 * counts differ only where passages were joined; `equal` counts the tokens of b in those. */
struct nd_passage {
    size_t at_a, count_a, at_b, count_b, equal;
};

/* The most places of one shingle in a that are tried. */
#define ND_PASSAGE_PLACES_MAX 256

/*
 * Find the passages of b that were copied from a, by winnowing (Schleimer 2003; Manku 2007, §5.4a):
 * of every window of least - shingle + 1 shingles the one of the smallest hash, the rightmost of
 * equal ones, is kept; equal ones of the two texts are extended to both sides as far as the tokens
 * agree.  The result is the runs of at least `least` tokens of b that stand somewhere in a and are
 * part of no longer such run, in order; two of them may overlap.  Each has one of its places in a.
 * The caller frees *passages with free().  ND_EINVAL, ND_ENOMEM, ND_EUNSUPPORTED (more than 2^31
 * tokens).
 */
ND_API enum nd_status nd_passages_find(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
                                       const struct nd_passage_params *params,
                                       struct nd_passage **passages, size_t *n_passages,
                                       struct nd_error *err);

/* How many tokens of a (which = 0) or b (1) lie in at least one passage.  UINT64_MAX: out of
 * memory. */
ND_API uint64_t nd_passages_cover(const struct nd_passage *passages, size_t n, unsigned which);

/* A document as its token hashes. */
struct nd_token_list {
    const uint64_t *hash;
    size_t count;
};

/* The text that the documents of a cluster share. */
struct nd_template {
    /* How many shingles occur in at least `least` documents. */
    uint64_t shingles;
    /* The fewest documents that are the fraction that was given. */
    uint64_t least;
    /* How many of those shingles each document has. */
    uint64_t *in_model;
    /* For each token of each document: whether it lies in one of those shingles. */
    unsigned char **is_shared;
    /* Documents. */
    size_t n;
};

/*
 * Find template words (Seshasai 2009, §2.5.3): the shingles of `width` tokens that stand in at
 * least `share` of the n documents, and in two, and the tokens of each document that they cover;
 * the other tokens are the document's own.  A document shorter than a shingle has no template
 * words.  ND_EINVAL (width 0, a share not above 0 or above 1), ND_ENOMEM.
 */
ND_API enum nd_status nd_template_find(const struct nd_token_list *documents, size_t n,
                                       unsigned width, struct nd_ratio share,
                                       struct nd_template *out, struct nd_error *err);
ND_API void nd_template_release(struct nd_template *t);

/* The greatest class of the words that only one of two texts has; each class includes those before it.
 * ORDER: there is no such word, but order or number of the words differ.  docs/format/outputs.md
 * defines the classes. */
enum nd_differs {
    ND_DIFFERS_NOTHING,
    ND_DIFFERS_ORDER,
    ND_DIFFERS_DATES,
    ND_DIFFERS_NUMBERS,
    ND_DIFFERS_NAMES,
    ND_DIFFERS_WORDS
};
/* "nothing", "order", "dates", "numbers", "names" or "words". */
ND_API const char *nd_differs_name(enum nd_differs by);

/* How many words of each text are listed, and of how many bytes: a longer one is cut before the
 * character that exceeds them. */
#define ND_DIFFERENCE_WORDS_MAX 16
#define ND_DIFFERENCE_WORD_BYTES 256

/* The distinct words that only one of two texts has. */
struct nd_difference {
    enum nd_differs by;
    /* Number of the words that only the first, and only the second text has. */
    uint64_t only[2];
    /* The first of them, as they first stand in the text, which owns their bytes. */
    struct nd_view word[2][ND_DIFFERENCE_WORDS_MAX];
};
/* Compare two texts by their words, which are tokens (docs/format/text.md).  ND_EINVAL: one is not
 * valid UTF-8; ND_ENOMEM. */
ND_API enum nd_status nd_difference_of(struct nd_view a, struct nd_view b,
                                       struct nd_difference *difference, struct nd_error *err);

/* Which documents are one form filled in differently, and so no duplicates though they match: those
 * that differ in nothing but words of these classes. */
enum nd_forms {
    /* No documents are (the default). */
    ND_FORMS_NONE,
    /* Numbers, or numbers and dates. */
    ND_FORMS_NUMBERS,
    /* Numbers or names, with dates or without. */
    ND_FORMS_NAMES,
    /* Numbers, names or dates: also dates alone. */
    ND_FORMS_DATES
};
/* Whether two documents that differ so are.  Words in another order make no form. */
ND_API int nd_forms_apart(enum nd_forms forms, enum nd_differs by);

#ifdef __cplusplus
}
#endif
#endif
