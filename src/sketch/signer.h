/* signer.h - the state of a signer, and what its kinds share */
#ifndef ND_SKETCH_SIGNER_H
#define ND_SKETCH_SIGNER_H

#include <neardup/signature.h>

#include "base/memory.h"
#include "sketch/hasher.h"
#include "sketch/shingle_set.h"

/* The source of document frequencies: a df table, or what a test puts in its place. */
struct nd_df_source {
    uint64_t n_documents; /* 0: there is none */
    uint32_t (*count)(const void *context, uint64_t hash);
    const void *context;
};

/* Memory that grows with the documents: numbers of 64 bits. */
struct nd_word_array {
    uint64_t *items;
    size_t capacity;
};

struct nd_signer {
    struct nd_signature_params params;
    struct nd_hasher hasher;
    uint64_t kept_bits; /* of a value: a mask */
    uint64_t seed;      /* what is added before mixing; 0: nothing is mixed */
    struct nd_word_array hash, scratch, extra, word;
    uint64_t modulus_inverse, modulus_most; /* mod-p: of its odd part, and the greatest multiple */
    unsigned modulus_shift;

    /* I-Match */
    struct nd_df_source df;
    uint32_t df_least, df_most; /* of the primary lexicon */
    uint32_t drop;              /* of 2^16 */
    uint64_t key[ND_SIGNATURE_LEXICONS_MAX / 4];
    struct nd_feature *feature; /* of those that came as hashes */
    size_t feature_capacity;
    struct nd_shingle_set set;

    uint64_t quantum; /* in millionths */
};

/* As nd_signer_new, with another source of document frequencies. */
struct nd_signer *nd_signer_new_from(const struct nd_signature_params *params,
                                     const struct nd_df_source *df, struct nd_error *err);

/* Move the words of a signature into memory of the arena.  False: out of memory. */
bool nd_signature_hold(struct nd_signature *x, struct nd_arena *arena);

/* A share in millionths. */
uint64_t nd_signature_millionths(double share);

/* False: out of memory. */
bool nd_word_array_reserve(struct nd_word_array *words, size_t n);

/*
 * The hashes of the features that have a weight to s->hash, keyed by the seed; returns how many,
 * or -1: out of memory.  `content` leaves out what comes from fields.
 */
int64_t nd_signer_gather(struct nd_signer *s, const struct nd_features *features, bool content);
/*
 * Gather features from … from + n - 1, by the hash function and cut to the bits that are kept,
 * to `hash`, which holds n + 1: so a part of them at a time stays in the first cache.
 */
size_t nd_signer_take(const struct nd_signer *s, const struct nd_features *features, size_t from,
                      size_t n, uint64_t *hash);

/* Turn hashes of features into keyed ones, in place. */
void nd_signer_key(const struct nd_signer *s, uint64_t *hash, size_t n);

/* One for each kind: fills s->word, *out all but `word`. */
enum nd_status nd_sign_simhash(struct nd_signer *s, const struct nd_features *features,
                               struct nd_signature *out);
enum nd_status nd_sign_minima(struct nd_signer *s, const struct nd_features *features,
                              struct nd_signature *out);
enum nd_status nd_sign_shingled_minima(struct nd_signer *s, const struct nd_features *features,
                                       struct nd_signature *out);
enum nd_status nd_sign_values(struct nd_signer *s, const struct nd_features *features,
                              struct nd_signature *out);
enum nd_status nd_sign_imatch(struct nd_signer *s, const struct nd_features *features,
                              struct nd_signature *out);
enum nd_status nd_sign_checksums(struct nd_signer *s, const struct nd_features *features,
                                 struct nd_signature *out);
enum nd_status nd_sign_profile(struct nd_signer *s, const struct nd_features *features,
                               struct nd_signature *out);

/* Read what I-Match needs of the df table. */
enum nd_status nd_imatch_prepare(struct nd_signer *s, struct nd_error *err);

#endif
