/* signers.h - the signatures of single documents, for those who show them */
#ifndef ND_PIPELINE_SIGNERS_H
#define ND_PIPELINE_SIGNERS_H

#include <neardup/method.h>

#include "base/json_out.h"

/* The working memory of one thread.  Starts from zeroes. */
struct nd_signers {
    const struct nd_method *method;
    struct nd_named_signer *signer[ND_METHOD_SIGNATURES];
};

/* The method, whose df tables are open, outlives them. */
enum nd_status nd_signers_init(struct nd_signers *s, const struct nd_method *method,
                               struct nd_error *err);
void nd_signers_release(struct nd_signers *s);

/* Signature i of a document, valid until the next.  ND_ENOMEM. */
enum nd_status nd_signers_run(struct nd_signers *s, unsigned i, const struct nd_document *document,
                              struct nd_signature *out);

/* "signatures":{"B":["hex", …], …}; null: rejected.  ND_ENOMEM. */
enum nd_status nd_signers_put(struct nd_signers *s, const struct nd_document *document,
                              struct nd_json *out);

#endif
