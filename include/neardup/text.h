/* neardup/text.h - from bytes to normalised text and tokens (docs/format/text.md)
 *
 * Library: neardup.
 *
 *     struct nd_tokeniser *t = nd_tokeniser_new();
 *
 *     nd_tokeniser_start(t, text, len);
 *     while ((status = nd_tokeniser_next(t, &hash, &count)) == 1)
 *         use(hash, count);
 */
#ifndef NEARDUP_TEXT_H
#define NEARDUP_TEXT_H

#include <neardup/error.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the Unicode tables, "15.0". */
ND_API const char *nd_unicode_version(void);

/* Whether the text is valid UTF-8. */
ND_API int nd_utf8_valid(const char *text, size_t len);

/*
 * Repair UTF-8: every maximal ill-formed subsequence becomes one U+FFFD (Unicode 15.0, section 3.9,
 * "substitution of maximal subparts").  Returns the number of replacements; 0 means that the text
 * was valid, and then *out is not set.  Where it is above 0, *out and *out_len are the repaired
 * text, which the caller frees with free().  Negative: ND_ENOMEM.
 */
ND_API int64_t nd_utf8_repair(const char *text, size_t len, char **out, size_t *out_len);

/*
 * A fingerprint of what nd_utf8_repair would replace; 0: the text is valid.  Two texts that are
 * equal once they are repaired were equal before if their fingerprints are equal (unless hashes
 * collide by chance, one in 2^64).  For nd_dedup_item.replaced.
 */
ND_API uint64_t nd_utf8_replaced(const char *text, size_t len);

/*
 * Find the next place, from *at on, that is U+FFFD once the text is repaired; one that stands in
 * the text itself counts too.  Returns how many bytes it has, and they end at the new *at; 0: there
 * is none.
 */
ND_API size_t nd_utf8_next_replaced(const char *text, size_t len, size_t *at);

/*
 * Normalise a text: NFKC(casefold(NFKC(x))) without default-ignorable code points.  The caller
 * frees *out with free().  ND_EINVAL: the text is not valid UTF-8; ND_ENOMEM.
 */
ND_API enum nd_status nd_text_normalise(const char *text, size_t len, char **out, size_t *out_len,
                                        struct nd_error *err);

/*
 * Write an address of a page in its canonical form (docs/format/urls.md); its bytes need not be
 * UTF-8.  The caller frees *canonical, which ends in a zero, with free().  ND_ENOMEM.
 */
ND_API enum nd_status nd_url_canonical(const char *url, size_t len, char **canonical,
                                       size_t *canonical_len, struct nd_error *err);

/* The number of code points of the normalised text, without making it.  Negative: ND_EINVAL (the
 * text is not valid UTF-8), ND_ENOMEM. */
ND_API int64_t nd_text_length(const char *text, size_t len);

/* A tokeniser: the working memory of one thread, about 100 KB whatever the length of the text. */
struct nd_tokeniser;

/* NULL: out of memory. */
ND_API struct nd_tokeniser *nd_tokeniser_new(void);
ND_API void nd_tokeniser_free(struct nd_tokeniser *t);

/* Begin a text, which is borrowed until the last nd_tokeniser_next. */
ND_API void nd_tokeniser_start(struct nd_tokeniser *t, const char *text, size_t len);

/*
 * Get the token hashes of the next window of the text, in order.  1: *hash points to *count > 0
 * hashes, borrowed until the next call; 0: the end of the text; ND_EINVAL: the text is not valid
 * UTF-8, and nothing of it was read; ND_ENOMEM (a token longer than the window needs memory).
 * After a failure another text can be begun.
 */
ND_API int nd_tokeniser_next(struct nd_tokeniser *t, const uint64_t **hash, size_t *count);

/*
 * All tokens of a text with their places in the original.  For people: slow, and in memory
 * proportional to the text.  The caller frees *tokens with free().  The normalised form of a token
 * is what nd_text_normalise makes of its bytes in the text.  ND_EINVAL: the text is not valid
 * UTF-8; ND_ENOMEM.
 */
ND_API enum nd_status nd_text_tokens(const char *text, size_t len, struct nd_token **tokens,
                                     size_t *n_tokens, struct nd_error *err);

/* The hash of one token given in its normalised form (docs/format/text.md, "Token hash"). */
ND_API uint64_t nd_token_hash(const char *normalised, size_t len);

#ifdef __cplusplus
}
#endif
#endif
