/* signing.c - a document's signatures by a recipe, and their table keys */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/matching.h"

struct nd_signing *nd_signing_new(const struct nd_matching *m, struct nd_error *err)
{
    struct nd_signing *s = calloc(1, sizeof *s);

    if (!s) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    s->matching = m;
    for (unsigned i = 0; i < m->method.n_signatures; i++) {
        const struct nd_named_signature *x = &m->method.signature[i];
        const struct nd_weight_params weight = nd_signature_weights(&x->signature, &x->weight);
        const struct nd_feature_params feature =
            nd_signature_features(&x->signature, &x->weight, &x->feature);
        struct nd_error reason;

        s->featurer[i] = nd_featurer_new(&feature, &weight, x->table, &reason);
        if (s->featurer[i])
            s->signer[i] = nd_signer_new(&x->signature, x->table, &reason);
        if (!s->signer[i]) {
            nd_fail(err, reason.status, "signature %s: %s", x->name, reason.message);
            nd_signing_free(s);
            return NULL;
        }
    }
    return s;
}

void nd_signing_free(struct nd_signing *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < s->matching->method.n_signatures; i++) {
        nd_featurer_free(s->featurer[i]);
        nd_signer_free(s->signer[i]);
    }
    nd_key_list_release(&s->keys);
    nd_key_list_release(&s->scratch);
    nd_numbers_release(&s->met);
    free(s);
}

static bool hold(struct nd_arena *arena, struct nd_signature *x)
{
    uint64_t *copy = nd_arena_alloc(arena, x->count * sizeof *copy + sizeof *copy);

    if (copy && x->count)
        memcpy(copy, x->word, x->count * sizeof *copy);
    x->word = copy;
    return copy != NULL;
}

static enum nd_status make_keys(struct nd_signing *s, struct nd_arena *arena, struct nd_signed *out)
{
    const struct nd_matching *m = s->matching;
    const struct nd_signature_row row = {out->signature, out->group, out->length};
    uint64_t *copy;

    if (!nd_signatures_row_keys(m->shape, m->lookup, m->n_lookups, &row, &s->keys))
        return ND_ENOMEM;
    copy = nd_arena_alloc(arena, s->keys.count * sizeof *copy + sizeof *copy);
    if (!copy)
        return ND_ENOMEM;
    if (s->keys.count)
        memcpy(copy, s->keys.at, s->keys.count * sizeof *copy);
    out->keys = s->keys;
    out->keys.at = copy;
    return ND_OK;
}

enum nd_status nd_signing_run(struct nd_signing *s, const struct nd_document *document,
                              uint32_t group, struct nd_arena *arena, struct nd_signed *out)
{
    struct nd_features features;

    *out = (struct nd_signed){.group = group};
    for (unsigned i = 0; i < s->matching->method.n_signatures; i++) {
        enum nd_status status = nd_featurer_run_hashes(s->featurer[i], document, &features);

        if (status == ND_OK)
            status = nd_signer_run(s->signer[i], &features, &out->signature[i]);
        if (status)
            return status;
        if (!hold(arena, &out->signature[i]))
            return ND_ENOMEM;
        if (s->matching->shape[i].form == ND_FORM_VALUES)
            out->sieve[i] = nd_value_sieve_of(&out->signature[i]);
        if (features.n_tokens > out->length)
            out->length = features.n_tokens;
    }
    return make_keys(s, arena, out);
}
