/* signature_fixture.h - features and signers for the tests of signatures */
#ifndef ND_TEST_SIGNATURE_FIXTURE_H
#define ND_TEST_SIGNATURE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "sketch/signer.h"

enum { DOCUMENTS = 10000, KINDS = ND_SIGNATURE_FEATURES + 1 };

static uint64_t random_state;

static inline uint64_t any(void)
{
    return nd_mix64(++random_state);
}

/* A df table in which every term stands in as many documents as its hash says, 1 … 4096. */
static inline uint32_t df_of(const void *context, uint64_t hash)
{
    (void)context;
    return 1u << hash % 13;
}

static inline struct nd_signer *signer_of(const struct nd_signature_params *params)
{
    const struct nd_df_source df = {DOCUMENTS, df_of, NULL};
    struct nd_error err = {0};
    struct nd_signer *s = nd_signer_new_from(params, &df, &err);

    if (!s)
        fail_msg("%s", err.message);
    return s;
}

static inline struct nd_signature_params params_of(enum nd_signature_kind kind)
{
    struct nd_signature_params p = nd_signature_params_default();

    p.kind = kind;
    return p;
}

static inline struct nd_signature sign(struct nd_signer *s, const struct nd_feature *f, size_t n)
{
    const struct nd_features features = {.items = f, .count = n, .n_tokens = n, .n_terms = n};
    struct nd_signature out;

    assert_int_equal(nd_signer_run(s, &features, &out), ND_OK);
    return out;
}

/* A signature that outlives the signer's next document: its words go to `words`. */
static inline struct nd_signature copy_of(struct nd_signature from, uint64_t *words)
{
    if (from.count)
        memcpy(words, from.word, from.count * sizeof *words);
    from.word = words;
    return from;
}

/*
 * Two sets of random features of weight 1: n_both in both, n_a and n_b in one alone.  The features
 * of one document stand in another order than those of the other.
 */
static inline void two_sets(struct nd_feature *a, size_t n_a, struct nd_feature *b, size_t n_b,
                            size_t n_both)
{
    for (size_t i = 0; i < n_both; i++) {
        a[i] = (struct nd_feature){any(), 1};
        b[n_b + n_both - 1 - i] = a[i];
    }
    for (size_t i = 0; i < n_a; i++)
        a[n_both + i] = (struct nd_feature){any(), 1};
    for (size_t i = 0; i < n_b; i++)
        b[i] = (struct nd_feature){any(), 1};
}

#endif
