/* signers.c - the signatures of single documents, for those who show them */
#include "pipeline/signers.h"

enum nd_status nd_signers_init(struct nd_signers *s, const struct nd_method *method,
                               struct nd_error *err)
{
    s->method = method;
    for (unsigned i = 0; i < method->n_signatures; i++) {
        s->signer[i] = nd_named_signer_new(&method->signature[i], err);
        if (!s->signer[i])
            return err->status;
    }
    return ND_OK;
}

void nd_signers_release(struct nd_signers *s)
{
    for (unsigned i = 0; i < ND_METHOD_SIGNATURES; i++)
        nd_named_signer_free(s->signer[i]);
    *s = (struct nd_signers){0};
}

enum nd_status nd_signers_run(struct nd_signers *s, unsigned i, const struct nd_document *document,
                              struct nd_signature *out)
{
    return nd_named_signer_run(s->signer[i], document, out, NULL);
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
