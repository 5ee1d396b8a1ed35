/* document_signer.c - a section [signature NAME] at work: from a document to one of its signatures */
#include <stdlib.h>

#include "recipe/recipe_struct.h"

struct nd_document_signer {
    struct nd_featurer *featurer;
    struct nd_signer *signer;
};

struct nd_document_signer *nd_document_signer_of(const struct nd_recipe_signature *x,
                                                 struct nd_error *err)
{
    const struct nd_weight_params weight = nd_signature_weights(&x->signature, &x->weight);
    const struct nd_feature_params feature =
        nd_signature_features(&x->signature, &x->weight, &x->feature);
    struct nd_document_signer *s = calloc(1, sizeof *s);
    struct nd_error reason = {.status = ND_ENOMEM, .message = "out of memory"};

    if (s)
        s->featurer = nd_featurer_new(&feature, &weight, x->table, &reason);
    if (s && s->featurer)
        s->signer = nd_signer_new(&x->signature, x->table, &reason);
    if (s && s->signer)
        return s;
    nd_document_signer_free(s);
    nd_fail(err, reason.status, "signature %s: %s", x->name, reason.message);
    return NULL;
}

struct nd_document_signer *nd_document_signer_new(const struct nd_recipe *recipe, size_t i,
                                                  struct nd_error *err)
{
    const struct nd_method *m = &recipe->method;

    if (nd_method_check(m, err) != ND_OK)
        return NULL;
    if (i < m->n_signatures)
        return nd_document_signer_of(&m->signature[i], err);
    nd_fail(err, ND_EINVAL, "the recipe has no signature %zu: it has %u", i, m->n_signatures);
    return NULL;
}

void nd_document_signer_free(struct nd_document_signer *s)
{
    if (!s)
        return;
    nd_featurer_free(s->featurer);
    nd_signer_free(s->signer);
    free(s);
}

enum nd_status nd_document_signer_run(struct nd_document_signer *s,
                                      const struct nd_document *document, struct nd_signature *out,
                                      uint64_t *n_tokens)
{
    struct nd_features features;
    enum nd_status status = nd_featurer_run_hashes(s->featurer, document, &features);

    if (status == ND_OK)
        status = nd_signer_run(s->signer, &features, out);
    if (status == ND_OK && n_tokens)
        *n_tokens = features.n_tokens;
    return status;
}
