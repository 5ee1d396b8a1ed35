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
        s->signer[i] = nd_named_signer_new(&m->method.signature[i], err);
        if (!s->signer[i]) {
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
    for (unsigned i = 0; i < s->matching->method.n_signatures; i++)
        nd_named_signer_free(s->signer[i]);
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
    *out = (struct nd_signed){.group = group};
    for (unsigned i = 0; i < s->matching->method.n_signatures; i++) {
        uint64_t n_tokens;
        enum nd_status status =
            nd_named_signer_run(s->signer[i], document, &out->signature[i], &n_tokens);

        if (status)
            return status;
        if (!hold(arena, &out->signature[i]))
            return ND_ENOMEM;
        if (s->matching->shape[i].form == ND_FORM_VALUES)
            out->sieve[i] = nd_value_sieve_of(&out->signature[i]);
        if (n_tokens > out->length)
            out->length = n_tokens;
    }
    return make_keys(s, arena, out);
}
