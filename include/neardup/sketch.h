/* neardup/sketch.h - from a text to its sketch (docs/format/sketch.md) */
#ifndef NEARDUP_SKETCH_H
#define NEARDUP_SKETCH_H

#include <neardup/error.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ND_MINHASH_COUNT 128 /* minima of a sketch (001, "min-wise permutations") */
#define ND_SHINGLE_MAX 32    /* greatest w */

enum nd_shingle_unit {
    ND_SHINGLE_WORDS,      /* w consecutive tokens */
    ND_SHINGLE_CHARACTERS, /* w consecutive code points of the normalised text */
};

/* What the sketch half of a recipe says so far. */
struct nd_sketch_params {
    enum nd_shingle_unit unit;
    unsigned w; /* 1 … ND_SHINGLE_MAX */
};

/* The default: word 3-shingles. */
ND_API struct nd_sketch_params nd_sketch_params_default(void);

/*
 * What a recipe makes of one document.  `shingle` lists the distinct 64-bit shingle hashes in the
 * order of their first occurrence; it is borrowed from the sketcher until its next text.
 */
struct nd_sketch {
    uint64_t n_tokens;       /* tokens, or code points for character shingles */
    uint64_t n_shingles;     /* distinct */
    const uint64_t *shingle; /* n_shingles of them */
    uint64_t identity;       /* hash of the token sequence; 0 tokens: 0 */
    uint64_t simhash;        /* 64 bits over the distinct shingles, weight 1 (002 section 2) */
    uint32_t minhash[ND_MINHASH_COUNT]; /* minima; all UINT32_MAX where there are no shingles */
};

/* The parts of a sketch that cost time of their own; the others are always made. */
enum nd_sketch_parts {
    ND_SKETCH_SIMHASH = 1,
    ND_SKETCH_MINHASH = 2,
    ND_SKETCH_ALL = 3,
};

/*
 * The working memory of one thread: 200 KB, and 24 to 44 bytes a distinct shingle of the largest
 * text.
 */
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
 * The same in two steps, for who may stop after the first.  nd_sketcher_read makes n_tokens,
 * identity and the distinct shingles, and leaves simhash and minhash as those of an empty text;
 * it returns what nd_sketcher_run does.  nd_sketch_finish adds the parts asked for, from the
 * shingles of any sketch in hand; safe from any thread.
 */
ND_API enum nd_status nd_sketcher_read(struct nd_sketcher *s, const char *text, size_t len,
                                       struct nd_sketch *out);
ND_API void nd_sketch_finish(struct nd_sketch *sketch, unsigned parts);

/* Number of equal minima of two sketches / ND_MINHASH_COUNT estimates their resemblance. */
ND_API unsigned nd_minhash_equal(const uint32_t *a, const uint32_t *b);

/* How many shingles are in both, of two lists of distinct ones.  ND_ENOMEM. */
ND_API enum nd_status nd_shingles_overlap(const uint64_t *a, size_t n_a, const uint64_t *b,
                                          size_t n_b, struct nd_overlap *out);

#ifdef __cplusplus
}
#endif
#endif
