/* fuzz_signature.c - any parameters and features: what is accepted gives the words that are
 * promised
 *
 * The input: parameters, two forced features, then features of 12 bytes each, a hash and a weight.
 */
#include <stdlib.h>
#include <string.h>

#include "sketch/signer.h"

enum { MOST = 4096 };

static void require(int holds)
{
    if (!holds)
        abort();
}

/* The numbers of the input, one after another; 0 where it is at its end. */
struct bytes {
    const uint8_t *at;
    size_t left;
};

static uint64_t take(struct bytes *b, size_t n)
{
    uint64_t value = 0;

    n = n < b->left ? n : b->left;
    memcpy(&value, b->at, n);
    b->at += n;
    b->left -= n;
    return value;
}

/* Any bits, a NaN among them, or a share. */
static double take_double(struct bytes *b)
{
    uint64_t bits = take(b, 4) << 32;
    double value;

    memcpy(&value, &bits, sizeof value);
    return bits >> 63 ? value : (double)(bits >> 32 & 0xFFFF) / 65535;
}

static struct nd_signature_params take_params(struct bytes *b)
{
    struct nd_signature_params p = nd_signature_params_default();

    p.kind = (enum nd_signature_kind)(take(b, 1) % 13);
    p.hash = (enum nd_hash_function)(take(b, 1) % 5);
    p.bits = (unsigned)take(b, 2);
    p.reserved_bits = (unsigned)take(b, 1) % 18;
    p.minima = (unsigned)take(b, 2);
    p.groups = (unsigned)take(b, 2);
    p.width = (unsigned)take(b, 2);
    p.modulus = (unsigned)take(b, 4);
    p.window = (unsigned)take(b, 4);
    p.lexicon_low = take_double(b);
    p.lexicon_high = take_double(b);
    p.secondary = (unsigned char)take(b, 1) & 1;
    p.least_terms = (unsigned)take(b, 1);
    p.lexicons = (unsigned)take(b, 2) % 300;
    p.drop = take_double(b);
    p.bootstrap = (unsigned char)take(b, 1) & 1;
    p.seed = take(b, 2);
    p.quantum = take_double(b);
    return p;
}

static uint32_t df_of(const void *context, uint64_t hash)
{
    (void)context;
    return (uint32_t)(hash >> 8) & 0xFFF;
}

static void check_words(const struct nd_signature_params *p, const struct nd_signature *x)
{
    struct nd_agreement f = nd_signature_compare(p, x, x);
    size_t fixed = nd_signature_words(p);

    require(!fixed || x->count == fixed);
    if (nd_signature_form(p) == ND_FORM_VALUES)
        for (size_t i = 1; i < x->count; i++)
            require(x->word[i - 1] < x->word[i]);
    require(f.a == f.b && f.shared == (x->is_rejected ? 0 : f.a));
    if (nd_signature_form(p) != ND_FORM_BITS)
        require((f.a == 0) == x->is_rejected);
    if (p->kind == ND_SIGNATURE_SIMHASH && p->bits % 64)
        require(x->word[x->count - 1] >> p->bits % 64 == 0);
}

/* Check that a signer which has seen another document gives the same signature. */
static void check_again(struct nd_signer *s, const struct nd_features *f,
                        const struct nd_signature *x)
{
    uint64_t *words = malloc((x->count + 1) * sizeof *words);
    struct nd_features half = *f;
    struct nd_signature y;
    size_t count = x->count;
    int is_rejected = x->is_rejected;

    require(words != NULL);
    if (count)
        memcpy(words, x->word, count * sizeof *words);
    half.count -= (half.count - half.n_metadata) / 2;
    require(nd_signer_run(s, &half, &y) == ND_OK);
    require(nd_signer_run(s, f, &y) == ND_OK);
    require(y.count == count && y.is_rejected == is_rejected);
    require(!count || memcmp(y.word, words, count * sizeof *words) == 0);
    free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct nd_df_source df = {4096, df_of, NULL};
    struct bytes bytes = {data, size};
    struct nd_signature_params p = take_params(&bytes);
    struct nd_feature forced[2] = {{take(&bytes, 8), (int32_t)take(&bytes, 4)},
                                   {take(&bytes, 8), (int32_t)take(&bytes, 1)}};
    struct nd_features f = {.forced = forced, .n_forced = take(&bytes, 1) % 3};
    size_t n = bytes.left / 12 < MOST ? bytes.left / 12 : MOST;
    struct nd_feature *feature = calloc(n + 1, sizeof *feature);
    struct nd_error err = {0};
    enum nd_status status = nd_signature_params_check(&p, &err);
    struct nd_signer *s = nd_signer_new_from(&p, &df, &err);
    struct nd_signature x;

    require(feature != NULL);
    for (size_t i = 0; i < n; i++)
        feature[i] = (struct nd_feature){take(&bytes, 8), (int32_t)take(&bytes, 4)};
    f.items = feature;
    f.count = n;
    f.n_tokens = n * n;
    f.n_metadata = n ? feature[0].hash % (n + 1) : 0;
    require((s != NULL) == (status == ND_OK));
    require(s || err.message[0]);
    if (s) {
        require(nd_signer_run(s, &f, &x) == ND_OK);
        check_words(&p, &x);
        check_again(s, &f, &x);
    }
    nd_signer_free(s);
    free(feature);
    return 0;
}
