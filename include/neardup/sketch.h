/* neardup/sketch.h - from a text to its sketch (docs/format/sketch.md)
 *
 * Library: neardup.
 *
 *     struct nd_sketch_params params = nd_sketch_params_default();
 *     struct nd_sketcher *s = nd_sketcher_new(&params, &err);
 *
 *     if (s && nd_sketcher_run(s, text, len, ND_SKETCH_ALL, &sketch) == ND_OK)
 *         printf("%016" PRIx64 "\n", sketch.simhash);
 */
#ifndef NEARDUP_SKETCH_H
#define NEARDUP_SKETCH_H

#include <neardup/error.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of minima of a sketch (Broder 1997, "min-wise permutations"). */
#define ND_MINHASH_COUNT 128
/* The greatest number of tokens of a shingle. */
#define ND_SHINGLE_MAX 32

/* The unit of a shingle. */
enum nd_shingle_unit {
    /* w consecutive tokens */
    ND_SHINGLE_WORDS,
    /* w consecutive code points of the normalised text */
    ND_SHINGLE_CHARACTERS,
};

/* Which shingles a sketch is made of; w is 1 … ND_SHINGLE_MAX. */
struct nd_sketch_params {
    enum nd_shingle_unit unit;
    unsigned w;
    enum nd_quoted_mail mail_quotes;
    /* For who reads pages (nd_input_options.boilerplate): a sketcher is given texts. */
    enum nd_boilerplate boilerplate;
};

/* The default: word 3-shingles. */
ND_API struct nd_sketch_params nd_sketch_params_default(void);

/* The sketch of one document. */
struct nd_sketch {
    /* Tokens of the text; of character shingles its code points. */
    uint64_t n_tokens;
    /* Distinct shingles. */
    uint64_t n_shingles;
    /* The hash of each distinct shingle, in the order of their first occurrence; borrowed from the
     * sketcher until its next text. */
    const uint64_t *shingle;
    /* The hash of the sequence of tokens; 0 where there are none. */
    uint64_t identity;
    /* 64 bits over the distinct shingles, each of weight 1 (Manku 2007, §2). */
    uint64_t simhash;
    /* The minima; all UINT32_MAX where there are no shingles. */
    uint32_t minhash[ND_MINHASH_COUNT];
};

/* The parts of a sketch that cost time of their own; the others are always made. */
enum nd_sketch_parts {
    ND_SKETCH_SIMHASH = 1,
    ND_SKETCH_MINHASH = 2,
    ND_SKETCH_ALL = 3,
};

/* A sketcher: the working memory of one thread, 200 KB and 24 to 44 bytes for each distinct shingle
 * of the largest text. */
struct nd_sketcher;

/* NULL and *err filled: ND_EINVAL (w or unit out of range), ND_ENOMEM. */
ND_API struct nd_sketcher *nd_sketcher_new(const struct nd_sketch_params *params,
                                           struct nd_error *err);
ND_API void nd_sketcher_free(struct nd_sketcher *s);

/* Sketch a text.  `parts` is a set of enum nd_sketch_parts.  ND_EINVAL: the text is not valid
 * UTF-8; ND_ENOMEM.  After a failure the sketcher can be used as before. */
ND_API enum nd_status nd_sketcher_run(struct nd_sketcher *s, const char *text, size_t len,
                                      unsigned parts, struct nd_sketch *out);

/*
 * The first of two steps, for a caller that may stop after it: n_tokens, identity and the distinct
 * shingles; simhash and minhash stay those of an empty text.  It returns what nd_sketcher_run does.
 */
ND_API enum nd_status nd_sketcher_read(struct nd_sketcher *s, const char *text, size_t len,
                                       struct nd_sketch *out);

/* The second step: add these parts, from the shingles of the sketch.  Any thread may do it. */
ND_API void nd_sketch_finish(struct nd_sketch *sketch, unsigned parts);

/* The number of equal minima of two sketches; divided by ND_MINHASH_COUNT it estimates their
 * resemblance. */
ND_API unsigned nd_minhash_equal(const uint32_t *a, const uint32_t *b);

/*
 * The longest sequence of tokens of a document of which every shingle of w tokens is among
 * `shingle`, which ascend: the first one of several.  Returns its number of tokens, and *first is
 * where it begins; 0: no shingle is there, and *first is not set.
 */
ND_API size_t nd_shingles_longest_run(const uint64_t *token, size_t n_tokens, unsigned w,
                                      const uint64_t *shingle, size_t n_shingles, size_t *first);

/* The only shingle of a text of n_tokens, fewer than w, as it would be where the same tokens are a
 * shingle of that width within a longer text. */
ND_API uint64_t nd_shingle_within(uint64_t shingle, size_t n_tokens);

/* How many shingles are in both of two lists of distinct shingles.  ND_ENOMEM. */
ND_API enum nd_status nd_shingles_overlap(const uint64_t *a, size_t n_a, const uint64_t *b,
                                          size_t n_b, struct nd_overlap *out);

#ifdef __cplusplus
}
#endif
#endif
