/* matching.c - the match rule of a recipe asked of signed documents */
#include "engine/document/matching.h"

#include <neardup/sketch_file.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "recipe/recipe_struct.h"
#include "sketch/signer.h"

static void describe_bits(struct nd_matching *m, unsigned i)
{
    const struct nd_signature_params *p = &m->method.signature[i].signature;

    nd_signature_mask(p, m->shape[i].mask);
    for (unsigned bit = 0; bit < p->bits; bit++)
        if (!(m->shape[i].mask[bit / 64] >> bit % 64 & 1))
            m->reserved[i][bit / 64] |= UINT64_C(1) << bit % 64;
}

static void plan_lookups(struct nd_matching *m, const struct nd_rule_lookup *asked, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct nd_signature_lookup *x = &m->lookup[i];

        x->signature = asked[i].signature;
        x->share = asked[i].share.q ? asked[i].share : (struct nd_ratio){0, 1};
        x->least = asked[i].least;
        x->of_lesser = asked[i].of_lesser;
        x->blocks = asked[i].most + 1;
        x->equal = asked[i].equal;
        x->way = asked[i].value == ND_RULE_DISTANCE ? ND_LOOKUP_BLOCKS
                 : asked[i].value == ND_RULE_EQUAL  ? ND_LOOKUP_COORDINATES
                                                    : ND_LOOKUP_VALUES;
    }
    m->n_lookups = n;
}

static bool has_values(const struct nd_matching *m)
{
    for (unsigned i = 0; i < m->method.n_signatures; i++)
        if (m->shape[i].form == ND_FORM_VALUES)
            return true;
    return false;
}

bool nd_method_ignores_text(const struct nd_method *method)
{
    for (unsigned i = 0; i < method->n_signatures; i++)
        if (!nd_feature_ignores_text(&method->signature[i].feature))
            return false;
    return method->n_signatures > 0;
}

struct nd_matching *nd_matching_new(const struct nd_method *method, struct nd_error *err)
{
    struct nd_matching *m = calloc(1, sizeof *m);
    struct nd_rule_lookup asked[ND_RULE_LOOKUPS];
    unsigned n;

    if (!m) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    m->method = *method;
    if (nd_rule_parse(&m->rule, &m->method, err) ||
        nd_rule_lookups(&m->rule, &m->method, asked, &n, err) ||
        nd_beside_init(&m->beside, &m->method, err)) {
        nd_matching_free(m);
        return NULL;
    }
    for (unsigned i = 0; i < method->n_signatures; i++) {
        const struct nd_signature_params *p = &method->signature[i].signature;

        m->shape[i].form = nd_signature_form(p);
        m->shape[i].words = nd_signature_words(p);
        if (m->shape[i].form == ND_FORM_BITS)
            describe_bits(m, i);
    }
    plan_lookups(m, asked, n);
    m->ignores_text = nd_method_ignores_text(&m->method);
    m->can_hope = has_values(m) && nd_rule_wants_more(&m->rule);
    return m;
}

void nd_matching_free(struct nd_matching *m)
{
    if (m)
        nd_beside_release(&m->beside);
    free(m);
}

struct nd_signature_index *nd_matching_index(const struct nd_matching *m)
{
    return nd_signature_index_new(m->shape, m->method.n_signatures, m->lookup, m->n_lookups);
}

static bool is_same(const struct nd_matching *m, unsigned i, const struct nd_signature *a,
                    const struct nd_signature *b)
{
    for (size_t word = 0; word < m->shape[i].words; word++)
        if ((a->word[word] ^ b->word[word]) & m->reserved[i][word])
            return false;
    return true;
}

/* One signature of both; a rejected one has nothing to compare. */
static void compare_one(const struct nd_matching *m, unsigned i, const struct nd_signature *a,
                        const struct nd_signature *b, struct nd_rule_evidence *e)
{
    if (a->is_rejected || b->is_rejected)
        return;
    e->agreement[i] = nd_signature_compare(&m->method.signature[i].signature, a, b);
    if (m->shape[i].form == ND_FORM_BITS)
        e->same[i] = is_same(m, i, a, b);
}

/* Return the distance of the first signature that has bits; UINT16_MAX: none has. */
static unsigned distance_of(const struct nd_matching *m, const struct nd_rule_evidence *e)
{
    for (unsigned i = 0; i < m->method.n_signatures; i++)
        if (m->shape[i].form == ND_FORM_BITS && e->agreement[i].a)
            return (unsigned)(e->agreement[i].a - e->agreement[i].shared);
    return UINT16_MAX;
}

static bool judge(const struct nd_matching *m, struct nd_match *out)
{
    const struct nd_rule_evidence *e = &out->evidence;

    out->distance = distance_of(m, e);
    if (!nd_rule_holds(&m->rule, e))
        return false;
    out->score = nd_rule_score(&m->method, e);
    out->score += out->score == ND_SCORE_NONE; /* very large sets that share little */
    return true;
}

void nd_matching_agree_stored(const struct nd_matching *m, const struct nd_signature_index *index,
                              uint32_t a, uint32_t b, struct nd_match *out)
{
    *out = (struct nd_match){.score = ND_SCORE_NONE};
    for (unsigned i = 0; i < m->method.n_signatures; i++) {
        struct nd_signature x = nd_signature_index_get(index, i, a);
        struct nd_signature y = nd_signature_index_get(index, i, b);

        compare_one(m, i, &x, &y, &out->evidence);
    }
    out->distance = distance_of(m, &out->evidence);
}

bool nd_matching_compare(const struct nd_matching *m, const struct nd_document_signatures *a,
                         const struct nd_document_signatures *b, struct nd_match *out)
{
    *out = (struct nd_match){.evidence.length = {a->length, b->length}};
    for (unsigned i = 0; i < m->method.n_signatures; i++)
        compare_one(m, i, &a->signature[i], &b->signature[i], &out->evidence);
    return judge(m, out);
}

/* Whether the rule could hold, were as many values shared as counts and bloom allow. */
static bool may_match(const struct nd_matching *m, const struct nd_document_signatures *a,
                      const struct nd_signature_index *index, uint32_t number)
{
    struct nd_rule_evidence e = {.length = {a->length, nd_signature_index_length(index, number)}};

    if (!m->can_hope)
        return true;
    for (unsigned i = 0; i < m->method.n_signatures; i++) {
        struct nd_signature stored = nd_signature_index_get(index, i, number);

        if (m->shape[i].form != ND_FORM_VALUES) {
            compare_one(m, i, &a->signature[i], &stored, &e);
        } else if (!a->signature[i].is_rejected && !stored.is_rejected) {
            struct nd_value_bloom bloom = nd_signature_index_bloom(index, i, number);

            e.agreement[i] =
                (struct nd_agreement){a->signature[i].count, stored.count,
                                      nd_value_bloom_max_shared(&a->bloom[i], a->signature[i].count,
                                                                &bloom, stored.count)};
        }
    }
    return nd_rule_holds(&m->rule, &e);
}

bool nd_matching_compare_stored(const struct nd_matching *m, const struct nd_document_signatures *a,
                                const struct nd_signature_index *index, uint32_t number,
                                struct nd_match *out)
{
    *out =
        (struct nd_match){.evidence.length = {a->length, nd_signature_index_length(index, number)}};
    for (unsigned i = 0; i < m->method.n_signatures; i++) {
        struct nd_signature stored = nd_signature_index_get(index, i, number);

        compare_one(m, i, &a->signature[i], &stored, &out->evidence);
    }
    return judge(m, out);
}

/* The documents that share a key with it and are of its group. */
static bool look_up(struct nd_matching_worker *s, const struct nd_signature_index *index,
                    const struct nd_document_signatures *a)
{
    return nd_signature_index_query(index, a->signature, &a->keys, &s->scratch, &s->met);
}

enum nd_status nd_matching_query(struct nd_matching_worker *s,
                                 const struct nd_signature_index *index,
                                 const struct nd_document_signatures *a, struct nd_candidates *out)
{
    struct nd_match match;

    out->count = 0;
    if (!look_up(s, index, a))
        return ND_ENOMEM;
    for (size_t i = 0; i < s->met.count; i++) {
        uint32_t number = s->met.items[i];

        if (nd_signature_index_group(index, number) == a->group &&
            may_match(s->matching, a, index, number) &&
            nd_matching_compare_stored(s->matching, a, index, number, &match) &&
            !nd_candidates_add(out, (struct nd_candidate){.number = number,
                                                          .equal = (uint16_t)match.score,
                                                          .distance = (uint16_t)match.distance}))
            return ND_ENOMEM;
    }
    nd_candidates_sort(out, false);
    return ND_OK;
}

bool nd_matching_meets_any(struct nd_matching_worker *s, const struct nd_signature_index *index,
                           const struct nd_document_signatures *a, uint32_t below)
{
    struct nd_match match;

    if (!look_up(s, index, a))
        return true; /* so that the document waits: the next round reports that memory is out, or finds it */
    for (size_t i = 0; i < s->met.count; i++)
        if (s->met.items[i] < below &&
            nd_signature_index_group(index, s->met.items[i]) == a->group &&
            may_match(s->matching, a, index, s->met.items[i]) &&
            nd_matching_compare_stored(s->matching, a, index, s->met.items[i], &match))
            return true;
    return false;
}

struct nd_matching_worker *nd_matching_worker_new(const struct nd_matching *m, bool signs,
                                                  struct nd_error *err)
{
    struct nd_matching_worker *s = calloc(1, sizeof *s);

    if (!s) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    s->matching = m;
    for (unsigned i = 0; signs && i < m->method.n_signatures; i++) {
        s->signer[i] = nd_document_signer_of(&m->method.signature[i], err);
        if (!s->signer[i]) {
            nd_matching_worker_free(s);
            return NULL;
        }
    }
    return s;
}

void nd_matching_worker_free(struct nd_matching_worker *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < s->matching->method.n_signatures; i++)
        nd_document_signer_free(s->signer[i]);
    nd_key_list_release(&s->keys);
    nd_key_list_release(&s->scratch);
    nd_numbers_release(&s->met);
    free(s);
}

static enum nd_status make_keys(struct nd_matching_worker *s, struct nd_arena *arena,
                                struct nd_document_signatures *out)
{
    const struct nd_matching *m = s->matching;
    const struct nd_signature_row row = {out->signature, out->group, out->length};
    uint64_t *copy;

    if (!nd_signature_index_row_keys(m->shape, m->lookup, m->n_lookups, &row, &s->keys))
        return ND_ENOMEM;
    copy = nd_arena_alloc(arena, s->keys.count * sizeof *copy + sizeof *copy);
    if (!copy)
        return ND_ENOMEM;
    if (s->keys.count)
        memcpy(copy, s->keys.items, s->keys.count * sizeof *copy);
    out->keys = s->keys;
    out->keys.items = copy;
    return ND_OK;
}

enum nd_status nd_matching_sign(struct nd_matching_worker *s, const struct nd_document *document,
                                uint32_t group, struct nd_arena *arena,
                                struct nd_document_signatures *out)
{
    *out = (struct nd_document_signatures){.group = group};
    for (unsigned i = 0; i < s->matching->method.n_signatures; i++) {
        uint64_t n_tokens;
        enum nd_status status =
            nd_document_signer_run(s->signer[i], document, &out->signature[i], &n_tokens);

        if (status)
            return status;
        if (!nd_signature_hold(&out->signature[i], arena))
            return ND_ENOMEM;
        if (s->matching->shape[i].form == ND_FORM_VALUES)
            out->bloom[i] = nd_value_bloom_of(&out->signature[i]);
        if (n_tokens > out->length)
            out->length = n_tokens;
    }
    return make_keys(s, arena, out);
}

enum nd_status nd_matching_sign_sketched(struct nd_matching_worker *s,
                                         const struct nd_sketch_row *row, uint32_t group,
                                         struct nd_arena *arena, struct nd_document_signatures *out)
{
    *out = (struct nd_document_signatures){.group = group, .length = row->length};
    for (unsigned i = 0; i < s->matching->method.n_signatures; i++) {
        out->signature[i] = row->signature[i];
        if (s->matching->shape[i].form == ND_FORM_VALUES)
            out->bloom[i] = nd_value_bloom_of(&out->signature[i]);
    }
    return make_keys(s, arena, out);
}
