/* neardup/text.h - from bytes to normalised text and tokens (docs/format/text.md) */
#ifndef NEARDUP_TEXT_H
#define NEARDUP_TEXT_H

#include <neardup/error.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the Unicode tables, "15.0". */
ND_API const char *nd_unicode_version(void);

/*
 * Bytes to valid UTF-8: every maximal ill-formed subsequence becomes one U+FFFD (Unicode 15.0,
 * section 3.9, "substitution of maximal subparts").  Returns the number of replacements; 0 means
 * that the text was valid.  *out (caller frees with free()) and *out_len are set only where the
 * result is > 0. Negative: ND_ENOMEM.
 */
ND_API int64_t nd_utf8_repair(const char *text, size_t len, char **out, size_t *out_len);

/* Whether the text is valid UTF-8. */
ND_API int nd_utf8_valid(const char *text, size_t len);

/*
 * Normalised text: NFKC(casefold(NFKC(x))) without default-ignorable code points.  *out is the
 * caller's, to free().  ND_EINVAL: the text is not valid UTF-8; ND_ENOMEM.
 */
ND_API enum nd_status nd_text_normalise(const char *text, size_t len, char **out, size_t *out_len,
                                        struct nd_error *err);

/* Code points of the normalised text, without making it.  Negative: ND_EINVAL (the text is not
 * valid UTF-8), ND_ENOMEM. */
ND_API int64_t nd_text_length(const char *text, size_t len);

/*
 * A tokeniser is the working memory of one thread: about 100 KB, whatever the length of the text.
 *
 *     nd_tokeniser_start(t, text, len);
 *     while ((status = nd_tokeniser_next(t, &hash, &count)) == 1)
 *         ... count token hashes, in order ...
 */
struct nd_tokeniser;

ND_API struct nd_tokeniser *nd_tokeniser_new(void); /* NULL: out of memory */
ND_API void nd_tokeniser_free(struct nd_tokeniser *t);

/* Begin a text, borrowed until the last nd_tokeniser_next. */
ND_API void nd_tokeniser_start(struct nd_tokeniser *t, const char *text, size_t len);

/*
 * The token hashes of the next window of the text.  1: *hash points to *count > 0 hashes, borrowed
 * until the next call; 0: the text is at its end; ND_EINVAL: it is not valid UTF-8, and was not
 * read; ND_ENOMEM (a single token longer than the window needs memory).  After a failure another
 * text can be begun.
 */
ND_API int nd_tokeniser_next(struct nd_tokeniser *t, const uint64_t **hash, size_t *count);

/*
 * All tokens of a text with their places in the original, for people: slow and in memory
 * proportional to the text.  *tokens is the caller's, to free().  ND_EINVAL: the text is not valid
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
