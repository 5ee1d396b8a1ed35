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

static int by_hash(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

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

static void list_places(struct nd_view text, const struct nd_token *token, size_t n, unsigned which,
                        size_t before, struct place *place)
{
    for (size_t i = 0; i < n; i++) {
        place[i] = (struct place){.hash = token[i].hash,
                                  .at = before + i,
                                  .text = {text.data + token[i].offset, token[i].len}};
        place[i].count[which] = 1;
    }
}

/* Sorted by hash: add up equal ones; how many are left. */
static size_t merge(struct place *place, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (kept && place[kept - 1].hash == place[i].hash) {
            place[kept - 1].count[0] += place[i].count[0];
            place[kept - 1].count[1] += place[i].count[1];
        } else {
            place[kept++] = place[i];
        }
    }
    return kept;
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
    struct nd_token *token[2] = {NULL, NULL};
    size_t n[2] = {0, 0}, distinct;
    struct place *place = NULL;
    enum nd_status status = nd_text_tokens(a.data, a.len, &token[0], &n[0], err);

    if (status == ND_OK)
        status = nd_text_tokens(b.data, b.len, &token[1], &n[1], err);
    if (status == ND_OK) {
        place = nd_alloc_array(n[0] + n[1], sizeof *place);
        if (!place)
            status = nd_fail(err, ND_ENOMEM, "out of memory");
    }
    if (place) {
        list_places(a, token[0], n[0], 0, 0, place);
        list_places(b, token[1], n[1], 1, n[0], place + n[0]);
        qsort(place, n[0] + n[1], sizeof *place, by_hash);
        distinct = merge(place, n[0] + n[1]);
        qsort(place, distinct, sizeof *place, by_class);
        status = copy_terms(place, distinct, out, err);
    }
    free(token[0]);
    free(token[1]);
    free(place);
    return status;
}
