/* explain_terms.c - the distinct terms of two texts, shared and differing */
#include "pipeline/explain.h"

#include <neardup/text.h>

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* A term where it first stands: places in a come before those in b. */
struct place {
    uint64_t hash, at, count[2];
    struct nd_view text;
};

/* The distinct terms, in the order in which they were met, and where each stands by its hash. */
struct terms {
    struct place *place;
    size_t n, capacity;
    uint32_t *slot; /* number + 1; 0: free */
    size_t slots;   /* a power of two, at most half full */
};

/* 0: in both, 1: only in a, 2: only in b. */
static int class_of(const struct place *p)
{
    return p->count[0] && p->count[1] ? 0 : p->count[0] ? 1 : 2;
}

static int by_class(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    if (class_of(a) != class_of(b))
        return class_of(a) - class_of(b);
    return a->at < b->at ? -1 : a->at > b->at;
}

static uint32_t *find(const struct terms *terms, uint64_t hash)
{
    size_t at = (size_t)hash & (terms->slots - 1);

    while (terms->slot[at] && terms->place[terms->slot[at] - 1].hash != hash)
        at = (at + 1) & (terms->slots - 1);
    return &terms->slot[at];
}

static bool make_room(struct terms *terms)
{
    void *place = terms->place;

    if (terms->n == UINT32_MAX - 1 ||
        !nd_array_reserve(&place, &terms->capacity, terms->n + 1, sizeof *terms->place))
        return false;
    terms->place = place;
    if (2 * (terms->n + 1) <= terms->slots)
        return true;
    free(terms->slot);
    terms->slots = terms->slots ? 2 * terms->slots : 1024;
    terms->slot = calloc(terms->slots, sizeof *terms->slot);
    for (size_t i = 0; terms->slot && i < terms->n; i++)
        *find(terms, terms->place[i].hash) = (uint32_t)i + 1;
    return terms->slot != NULL;
}

/* The terms of a text; `before`: tokens before it. */
static enum nd_status add_text(struct terms *terms, struct nd_view text, unsigned which,
                               size_t *before, struct nd_error *err)
{
    struct nd_token *token = NULL;
    size_t n = 0;
    enum nd_status status = nd_text_tokens(text.data, text.len, &token, &n, err);

    for (size_t i = 0; i < n && status == ND_OK; i++) {
        uint32_t *slot;

        if (!make_room(terms)) {
            status = nd_fail(err, ND_ENOMEM, "out of memory");
            break;
        }
        slot = find(terms, token[i].hash);
        if (!*slot) {
            *slot = (uint32_t)terms->n + 1;
            terms->place[terms->n++] =
                (struct place){.hash = token[i].hash,
                               .at = *before + i,
                               .text = {text.data + token[i].offset, token[i].len}};
        }
        terms->place[*slot - 1].count[which]++;
    }
    *before += n;
    free(token);
    return status;
}

static enum nd_status copy_terms(const struct place *place, size_t n, struct nd_explanation *out,
                                 struct nd_error *err)
{
    out->terms = calloc(n ? n : 1, sizeof *out->terms);
    if (!out->terms)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++) {
        char *text = malloc(place[i].text.len + 1);

        if (!text)
            return nd_fail(err, ND_ENOMEM, "out of memory");
        memcpy(text, place[i].text.data, place[i].text.len);
        text[place[i].text.len] = '\0';
        out->terms[i] = (struct nd_term){text, place[i].count[0], place[i].count[1]};
        out->n_shared += class_of(&place[i]) == 0;
        out->n_only_a += class_of(&place[i]) == 1;
        out->n_only_b += class_of(&place[i]) == 2;
    }
    return ND_OK;
}

enum nd_status nd_explain_terms(struct nd_view a, struct nd_view b, struct nd_explanation *out,
                                struct nd_error *err)
{
    struct terms terms = {0};
    size_t before = 0;
    enum nd_status status = add_text(&terms, a, 0, &before, err);

    if (status == ND_OK)
        status = add_text(&terms, b, 1, &before, err);
    if (status == ND_OK && terms.n)
        qsort(terms.place, terms.n, sizeof *terms.place, by_class);
    if (status == ND_OK)
        status = copy_terms(terms.place, terms.n, out, err);
    free(terms.place);
    free(terms.slot);
    return status;
}
