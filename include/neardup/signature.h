/* neardup/signature.h - what a recipe makes of a document's features, and how two of them compare
 */
#ifndef NEARDUP_SIGNATURE_H
#define NEARDUP_SIGNATURE_H

#include <neardup/df.h>
#include <neardup/error.h>
#include <neardup/feature.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum nd_signature_kind {
    ND_SIGNATURE_SIMHASH,         /* f bits (001; 002 s. 2; 000 s. 3) */
    ND_SIGNATURE_MINHASH,         /* m minima under m permutations (001) */
    ND_SIGNATURE_BOTTOM_K,        /* the k least hashes */
    ND_SIGNATURE_MOD_P,           /* the hashes divisible by p (Broder 1997) */
    ND_SIGNATURE_WINNOWING,       /* the least hash of every window, the rightmost of equal ones */
    ND_SIGNATURE_SUPERSHINGLES,   /* m minima in groups, each hashed (003) */
    ND_SIGNATURE_SORTED_SHINGLES, /* shingles of the sorted sketch (001) */
    ND_SIGNATURE_MEGASHINGLES,    /* all pairs of the super-shingles (001) */
    ND_SIGNATURE_IMATCH,    /* hash of the terms in a lexicon, and in K randomized ones (004) */
    ND_SIGNATURE_CHECKSUMS, /* terms hashed to buckets, a checksum each (002 s. 5.4d) */
    ND_SIGNATURE_PROFILE,   /* quantised counts, sorted, hashed (text profile) */
    ND_SIGNATURE_FEATURES,  /* all feature hashes, as they are */
};

/* How the words of a signature are to be read. */
enum nd_signature_form {
    ND_FORM_BITS,        /* f bits, compared by Hamming distance */
    ND_FORM_COORDINATES, /* compared by position; ND_COORDINATE_NONE equals nothing, not itself */
    ND_FORM_VALUES,      /* a set: ascending, distinct */
};
#define ND_COORDINATE_NONE UINT64_C(0)

enum nd_hash_function { ND_HASH_TOKEN, ND_HASH_LOOKUP8, ND_HASH_RABIN, ND_HASH_SHA1 };

#define ND_SIGNATURE_MINIMA_MAX 1024
#define ND_SIGNATURE_GROUPS_MAX 1024 /* of mega-shingles: ND_SIGNATURE_MEGA_MAX */
#define ND_SIGNATURE_MEGA_MAX 32
#define ND_SIGNATURE_LEXICONS_MAX 256
#define ND_SIGNATURE_RESERVED_MAX 16

/* Start from nd_signature_params_default(); each kind reads the parameters that it names, and all
 * of them `hash` and `seed`.  Shares are rounded to a millionth (docs/format/signatures.md). */
struct nd_signature_params {
    enum nd_signature_kind kind;
    enum nd_hash_function hash; /* of a feature: the token hash itself, or what is made of it */
    uint64_t rabin_polynomial;  /* low 64 coefficients of an irreducible polynomial of degree 64 */
    unsigned bits; /* simhash: 32, 64, 128, 256, 384, 512; mod-p, winnowing, bottom-k, features:
                      kept bits, 1 … 64 */
    unsigned reserved_bits; /* simhash: top bits that hold the quantised length, or nd_features'
                               `reserved`, 0 … 16 */
    unsigned minima; /* min-hash, super-, sorted and mega-shingles: m, 1 … 1024; bottom-k: k >= 1 */
    unsigned groups;  /* super-shingles: how many, a divisor of m; mega-shingles: of how many, 2 …
                         32; checksums: buckets, 1 … 1024 */
    unsigned width;   /* sorted shingles: how many of the sorted sketch make one, 1 … m */
    unsigned modulus; /* mod-p: p >= 1 */
    unsigned window;  /* winnowing: w >= 1 */
    double lexicon_low, lexicon_high; /* I-Match: nidf band of the primary lexicon, 0 … 1 (004 s.
                                         6.6) */
    unsigned secondary;   /* I-Match: top up from the terms above the band until there are more than
                             this (004 s. 3); 0: do not */
    unsigned least_terms; /* I-Match, checksums, profile: fewer, and the signature is rejected */
    unsigned lexicons;    /* I-Match: K randomized ones more, 0 … 256 (004 s. 4) */
    double drop;          /* I-Match: p of leaving a term out, 0 <= p < 1 */
    unsigned char bootstrap; /* I-Match: drop as drawing with replacement does, 1/e (004 s. 6.8) */
    uint64_t seed;           /* not 0: other hash values, other lexicons; may be secret */
    double quantum; /* text profile: counts in units of this share of the greatest, 0 … 1 */
};
ND_API struct nd_signature_params nd_signature_params_default(void);

/* ND_EINVAL: a parameter is out of its range, or two do not fit together; the message names it. */
ND_API enum nd_status nd_signature_params_check(const struct nd_signature_params *params,
                                                struct nd_error *err);

/* The words of one document's signature; borrowed from the signer until its next document. */
struct nd_signature {
    const uint64_t *word;
    size_t count;              /* words: (bits + 63) / 64, coordinates, or values */
    unsigned char is_rejected; /* equals nothing, not itself: empty text, too few terms, no value
                                  that was kept */
};

/*
 * Weights that give the same signature for less work: where a kind asks only whether a feature has
 * one, and nothing but its count decides that, nothing is counted.
 */
ND_API struct nd_weight_params nd_signature_weights(const struct nd_signature_params *params,
                                                    const struct nd_weight_params *weights);

/*
 * And features: where a kind takes them as a set and all that occur have a weight, what seldom
 * occurs twice (shingles, n-grams, sentences, spots: not terms) is not made distinct beforehand.
 */
ND_API struct nd_feature_params nd_signature_features(const struct nd_signature_params *params,
                                                      const struct nd_weight_params *weights,
                                                      const struct nd_feature_params *features);

/* The working memory of one thread. */
struct nd_signer;

/* `df` is shared and outlives it; only I-Match asks for one.  NULL and *err: ND_EINVAL (out of
 * range; a df table is needed and missing), ND_ENOMEM. */
ND_API struct nd_signer *nd_signer_new(const struct nd_signature_params *params,
                                       const struct nd_df *df, struct nd_error *err);
ND_API void nd_signer_free(struct nd_signer *s);

/*
 * Features of weight 0 are left out by every kind.  Winnowing and the text profile want each
 * occurrence (ND_FEATURE_OCCURRENCES), in order; the other kinds take features as a set, but for
 * the simhash, which adds up what it is given.  ND_ENOMEM.
 */
ND_API enum nd_status nd_signer_run(struct nd_signer *s, const struct nd_features *features,
                                    struct nd_signature *out);

ND_API enum nd_signature_form nd_signature_form(const struct nd_signature_params *params);
/* Words of each signature; 0: it varies (values). */
ND_API size_t nd_signature_words(const struct nd_signature_params *params);
/* The bits that a Hamming distance counts, as a mask of the words: reserved ones are 0.  Of bits
 * only; other forms leave *mask alone. */
ND_API void nd_signature_mask(const struct nd_signature_params *params, uint64_t *mask);

/*
 * What two signatures of one kind have in common.  Of bottom-k only the k least values of the union
 * are counted, a uniform sample of it: so shared / (a + b - shared) estimates the resemblance, and
 * shared / a the containment of the first, without bias.
 */
struct nd_agreement {
    uint64_t a, b;   /* bits that count, coordinates that are not NONE, or values of each */
    uint64_t shared; /* agreeing bits, equal coordinates, or values in both; rejected: 0 */
};
ND_API struct nd_agreement nd_signature_compare(const struct nd_signature_params *params,
                                                const struct nd_signature *a,
                                                const struct nd_signature *b);

#ifdef __cplusplus
}
#endif
#endif
