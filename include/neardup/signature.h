/* neardup/signature.h - from a document's features to its signature, and how two of them compare
 *
 * Library: neardup.  The kinds are defined in docs/format/signatures.md; nd_document_signer_new
 * (recipe.h) makes features and signature of a document by a recipe.
 *
 *     struct nd_signature_params params = nd_signature_params_default();
 *     struct nd_signer *signer = nd_signer_new(&params, NULL, &err);
 *
 *     if (signer && nd_signer_run(signer, &features, &signature) == ND_OK)
 *         printf("%016" PRIx64 "\n", signature.word[0]);
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

/* The kind of signature that is made of the features. */
enum nd_signature_kind {
    /* f bits (Charikar 2002; Manku 2007, §2) */
    ND_SIGNATURE_SIMHASH,
    /* m minima under m permutations (Broder 1997) */
    ND_SIGNATURE_MINHASH,
    /* the k smallest hashes */
    ND_SIGNATURE_BOTTOM_K,
    /* the hashes divisible by p (Broder 1997) */
    ND_SIGNATURE_MOD_P,
    /* the smallest hash of every window, of equal ones the rightmost */
    ND_SIGNATURE_WINNOWING,
    /* m minima in groups, a hash of each group (Henzinger 2006) */
    ND_SIGNATURE_SUPERSHINGLES,
    /* shingles of the sorted sketch (Broder 1997) */
    ND_SIGNATURE_SORTED_SHINGLES,
    /* all pairs of the super-shingles (Fetterly 2003) */
    ND_SIGNATURE_MEGASHINGLES,
    /* a hash of the terms in a lexicon, and in K randomized ones (Kolcz 2004) */
    ND_SIGNATURE_IMATCH,
    /* terms hashed to buckets, a checksum of each bucket (Manku 2007, §5.4d) */
    ND_SIGNATURE_CHECKSUMS,
    /* quantised counts, sorted and hashed (text profile) */
    ND_SIGNATURE_PROFILE,
    /* all feature hashes, as they are */
    ND_SIGNATURE_FEATURES,
};

/* How the words of a signature are to be read. */
enum nd_signature_form {
    /* f bits, compared by Hamming distance */
    ND_FORM_BITS,
    /* compared by position; ND_COORDINATE_NONE equals nothing, not even itself */
    ND_FORM_COORDINATES,
    /* a set: ascending, distinct */
    ND_FORM_VALUES,
};
#define ND_COORDINATE_NONE UINT64_C(0)

/* How a feature is hashed: by its token hash itself, or by a function of what it consists of. */
enum nd_hash_function { ND_HASH_TOKEN, ND_HASH_LOOKUP8, ND_HASH_RABIN, ND_HASH_SHA1 };

#define ND_SIGNATURE_MINIMA_MAX 1024
/* The most super-shingles and checksums; ND_SIGNATURE_MEGA_MAX is that of mega-shingles. */
#define ND_SIGNATURE_GROUPS_MAX 1024
#define ND_SIGNATURE_MEGA_MAX 32
#define ND_SIGNATURE_LEXICONS_MAX 256
#define ND_SIGNATURE_RESERVED_MAX 16

/*
 * The parameters of a signature.  Start from nd_signature_params_default().  Each kind reads
 * the parameters that name it, and all kinds read `hash` and `seed`.  Fractions are rounded to a
 * millionth.
 */
struct nd_signature_params {
    enum nd_signature_kind kind;
    enum nd_hash_function hash;
    /* ND_HASH_RABIN: the low 64 coefficients of an irreducible polynomial of degree 64. */
    uint64_t rabin_polynomial;
    /* Simhash: 32, 64, 128, 256, 384 or 512.  Mod-p, winnowing, bottom-k, features: how many bits
     * of a hash are kept, 1 … 64. */
    unsigned bits;
    /* Simhash: 0 … 16 top bits that hold the quantised length, or the `reserved` of
     * struct nd_features. */
    unsigned reserved_bits;
    /* Min-hash, super-, sorted and mega-shingles: m, 1 … 1024.  Bottom-k: k, at least 1. */
    unsigned minima;
    /* Super-shingles: how many, a divisor of m.  Mega-shingles: pairs of how many, 2 … 32.
     * Checksums: buckets, 1 … 1024. */
    unsigned groups;
    /* Sorted shingles: how many values of the sorted sketch make one, 1 … m. */
    unsigned width;
    /* Mod-p: p, at least 1. */
    unsigned modulus;
    /* Winnowing: hashes in a window, at least 1. */
    unsigned window;
    /* I-Match: the nidf band of the primary lexicon, 0 … 1 (Kolcz 2004, §6.6). */
    double lexicon_low, lexicon_high;
    /* I-Match: add terms above the band until there are more than this many (Kolcz 2004, §3);
     * 0: add none. */
    unsigned secondary;
    /* I-Match, checksums, profile: with fewer terms the signature is rejected. */
    unsigned least_terms;
    /* I-Match: K more lexicons, randomized, 0 … 256 (Kolcz 2004, §4). */
    unsigned lexicons;
    /* I-Match: the probability that a randomized lexicon leaves a term out, 0 <= p < 1. */
    double drop;
    /* I-Match: leave terms out as drawing with replacement does, with 1/e (Kolcz 2004, §6.8). */
    unsigned char bootstrap;
    /* Not 0: other hash values and other lexicons.  It may be secret. */
    uint64_t seed;
    /* Text profile: counts are in units of this fraction of the greatest count, 0 … 1. */
    double quantum;
};
/* A simhash of 64 bits of the token hashes; the other members as in docs/format/recipe.md. */
ND_API struct nd_signature_params nd_signature_params_default(void);

/* ND_EINVAL: a parameter is out of range, or two do not fit together; the message names it. */
ND_API enum nd_status nd_signature_params_check(const struct nd_signature_params *params,
                                                struct nd_error *err);

/* One document's signature; borrowed from the signer until its next document. */
struct nd_signature {
    const uint64_t *word;
    /* Words: (bits + 63) / 64, coordinates, or values. */
    size_t count;
    /* It equals nothing, not even itself: the text is empty, has too few terms, or no value of it
     * was kept. */
    unsigned char is_rejected;
};

/*
 * Weights that give the same signature for less work.  Many kinds only ask whether a feature has a
 * weight; where nothing but its count decides that, nothing needs to be counted.
 */
ND_API struct nd_weight_params nd_signature_weights(const struct nd_signature_params *params,
                                                    const struct nd_weight_params *weights);

/*
 * Features that give the same signature for less work.  Where a kind takes features as a set and
 * all of them have a weight, those that seldom occur twice (shingles, n-grams, sentences and spots,
 * but not terms) need not be made distinct beforehand.
 */
ND_API struct nd_feature_params nd_signature_features(const struct nd_signature_params *params,
                                                      const struct nd_weight_params *weights,
                                                      const struct nd_feature_params *features);

/* Makes signatures of features: the working memory of one thread. */
struct nd_signer;

/* A signer.  Only I-Match needs `df`, which may be shared and outlives the signer.  NULL: ND_EINVAL
 * (a parameter is out of range; the df table is missing), ND_ENOMEM. */
ND_API struct nd_signer *nd_signer_new(const struct nd_signature_params *params,
                                       const struct nd_df *df, struct nd_error *err);
/* NULL is allowed. */
ND_API void nd_signer_free(struct nd_signer *s);

/*
 * The signature of one document's features.  Every kind leaves features of weight 0 out.  Winnowing
 * and the text profile need each occurrence (ND_FEATURE_OCCURRENCES), in order; the simhash adds up
 * what it is given; the other kinds take features as a set.  ND_ENOMEM.
 */
ND_API enum nd_status nd_signer_run(struct nd_signer *s, const struct nd_features *features,
                                    struct nd_signature *out);

/* Replace the hashes of n features by what the signature is made of: H(x), keyed by the seed. */
ND_API void nd_signer_hash(const struct nd_signer *s, uint64_t *hash, size_t n);

/* How signatures by these parameters are to be read. */
ND_API enum nd_signature_form nd_signature_form(const struct nd_signature_params *params);
/* The words of each signature; 0: their number varies, as of values. */
ND_API size_t nd_signature_words(const struct nd_signature_params *params);
/* The bits that a Hamming distance counts, as a mask of nd_signature_words words, in which reserved
 * bits are 0.  Forms other than bits leave *mask alone. */
ND_API void nd_signature_mask(const struct nd_signature_params *params, uint64_t *mask);

/*
 * The agreement of two signatures of one kind.  Of bottom-k only the k smallest values of the
 * union are counted.  They are a uniform sample of it, so shared / (a + b - shared) estimates the
 * resemblance, and shared / a the containment of the first, without bias.
 */
struct nd_agreement {
    /* The size of each: bits that count, coordinates that are not ND_COORDINATE_NONE, or values. */
    uint64_t a, b;
    /* Bits that agree, coordinates that are equal, or values in both; 0 where one is rejected. */
    uint64_t shared;
};
ND_API struct nd_agreement nd_signature_compare(const struct nd_signature_params *params,
                                                const struct nd_signature *a,
                                                const struct nd_signature *b);

#ifdef __cplusplus
}
#endif
#endif
