/* signers.c - the signatures of single documents, for those who show them */
#include "pipeline/signers.h"

enum nd_status nd_signers_init(struct nd_signers *s, const struct nd_method *method,
                               struct nd_error *err)
{
    s->method = method;
    for (unsigned i = 0; i < method->n_signatures; i++) {
        const struct nd_named_signature *x = &method->signature[i];
        const struct nd_weight_params weight = nd_signature_weights(&x->signature, &x->weight);
        const struct nd_feature_params feature =
            nd_signature_features(&x->signature, &x->weight, &x->feature);
        struct nd_error reason = {0};

        s->featurer[i] = nd_featurer_new(&feature, &weight, x->table, &reason);
        if (s->featurer[i])
            s->signer[i] = nd_signer_new(&x->signature, x->table, &reason);
        if (!s->signer[i])
            return nd_fail(err, reason.status, "signature %s: %s", x->name, reason.message);
    }
    return ND_OK;
}

void nd_signers_release(struct nd_signers *s)
{
    for (unsigned i = 0; i < ND_METHOD_SIGNATURES; i++) {
        nd_featurer_free(s->featurer[i]);
        nd_signer_free(s->signer[i]);
    }
    *s = (struct nd_signers){0};
}

enum nd_status nd_signers_run(struct nd_signers *s, unsigned i, const struct nd_document *document,
                              struct nd_signature *out)
{
    struct nd_features features;
    enum nd_status status = nd_featurer_run_hashes(s->featurer[i], document, &features);

    return status ? status : nd_signer_run(s->signer[i], &features, out);
}

enum nd_status nd_signers_put(struct nd_signers *s, const struct nd_document *document,
                              struct nd_json *out)
{
    nd_json_key(out, "signatures");
    nd_json_open(out, '{');
    for (unsigned i = 0; i < s->method->n_signatures; i++) {
        struct nd_signature x;
        enum nd_status status = nd_signers_run(s, i, document, &x);

        if (status)
            return status;
        nd_json_key(out, s->method->signature[i].name);
        if (x.is_rejected) {
            nd_json_null(out);
            continue;
        }
        nd_json_open(out, '[');
        for (size_t word = 0; word < x.count; word++)
            nd_json_hex(out, x.word[word]);
        nd_json_close(out, ']');
    }
    nd_json_close(out, '}');
    return ND_OK;
}
