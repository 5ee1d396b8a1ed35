/* pair_evidence.c - the sketches and the terms of two documents beside each other */
#include "evidence/pair_evidence.h"

#include <neardup/sketch.h>
#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>

#include "base/groups.h"
#include "base/memory.h"

/* ---- Their shingles -------------------------------------------------------------------------- */

enum nd_status nd_two_sketches(const struct nd_sketch_params *params,
                               const struct nd_document *const document[2],
                               struct nd_two_sketches *out, struct nd_error *err)
{
    struct nd_sketcher *sketcher[2] = {NULL, NULL};
    struct nd_sketch sketch[2] = {{0}, {0}};
    enum nd_status status = ND_OK;

    for (unsigned i = 0; status == ND_OK && i < 2; i++) {
        const struct nd_view text = document[i]->text;

        sketcher[i] = nd_sketcher_new(params, err);
        if (!sketcher[i])
            status = err->status;
        else if (nd_sketcher_run(sketcher[i], text.data, text.len, ND_SKETCH_ALL, &sketch[i]) !=
                 ND_OK)
            status = nd_fail(err, ND_ENOMEM, "out of memory");
        out->tokens[i] = sketch[i].n_tokens;
    }
    if (status == ND_OK) {
        if (nd_shingles_overlap(sketch[0].shingle, sketch[0].n_shingles, sketch[1].shingle,
                                sketch[1].n_shingles, &out->overlap) != ND_OK)
            status = nd_fail(err, ND_ENOMEM, "out of memory");
        out->distance = (unsigned)__builtin_popcountll(sketch[0].simhash ^ sketch[1].simhash);
        out->equal_minima = nd_minhash_equal(sketch[0].minhash, sketch[1].minhash);
    }
    nd_sketcher_free(sketcher[0]);
    nd_sketcher_free(sketcher[1]);
    return status;
}

/* ---- Their terms ----------------------------------------------------------------------------- */

/* A term and the position of its first occurrence; positions in a sort before those in b. */
struct term_place {
    size_t at;
    uint64_t count[2];
    struct nd_view text;
};

/* 0: in both, 1: only in a, 2: only in b. */
static int class_of(const struct term_place *p)
{
    return p->count[0] && p->count[1] ? 0 : p->count[0] ? 1 : 2;
}

static int by_class(const void *left, const void *right)
{
    const struct term_place *a = left, *b = right;

    if (class_of(a) != class_of(b))
        return class_of(a) - class_of(b);
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Add the terms of a text, by the numbers of their hashes; *before: tokens before it. */
static enum nd_status add_text(struct nd_groups *hashes, struct term_place **place,
                               size_t *capacity, struct nd_view text, unsigned which,
                               size_t *before)
{
    struct nd_token *token = NULL;
    size_t n = 0;
    enum nd_status status = nd_text_tokens(text.data, text.len, &token, &n, NULL);

    for (size_t i = 0; i < n && status == ND_OK; i++) {
        const struct nd_view hash = {(const char *)&token[i].hash, sizeof token[i].hash};
        size_t known = hashes->count;
        uint32_t number = 0;

        if (!nd_groups_number(hashes, hash, &number) ||
            !ND_RESERVE(*place, capacity, hashes->count)) {
            status = ND_ENOMEM;
            break;
        }
        if (number > known)
            (*place)[number - 1] = (struct term_place){
                .at = *before + i, .text = {text.data + token[i].offset, token[i].len}};
        (*place)[number - 1].count[which]++;
    }
    *before += n;
    free(token);
    return status;
}

void nd_terms_free(struct nd_term *term, size_t n)
{
    for (size_t i = 0; term && i < n; i++)
        free(term[i].text);
    free(term);
}

/* Copies, and how many there are of each class. */
static enum nd_status copy_terms(const struct term_place *place, size_t n, struct nd_term **term,
                                 size_t of_class[3])
{
    *term = calloc(n ? n : 1, sizeof **term);
    if (!*term)
        return ND_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        char *text = malloc(place[i].text.len + 1);

        if (!text)
            return ND_ENOMEM;
        memcpy(text, place[i].text.data, place[i].text.len);
        text[place[i].text.len] = '\0';
        (*term)[i] = (struct nd_term){text, place[i].count[0], place[i].count[1]};
        of_class[class_of(&place[i])]++;
    }
    return ND_OK;
}

enum nd_status nd_two_terms(const struct nd_document *const document[2], struct nd_term **term,
                            size_t *n_shared, size_t *n_only_a, size_t *n_only_b,
                            struct nd_error *err)
{
    struct nd_groups hashes = {.count = 0};
    struct term_place *place = NULL;
    size_t capacity = 0, before = 0, of_class[3] = {0};
    enum nd_status status = ND_OK;

    for (unsigned i = 0; i < 2 && status == ND_OK; i++)
        status = add_text(&hashes, &place, &capacity, document[i]->text, i, &before);
    if (status == ND_OK && hashes.count)
        qsort(place, hashes.count, sizeof *place, by_class);
    if (status == ND_OK)
        status = copy_terms(place, hashes.count, term, of_class);
    *n_shared = of_class[0]; /* without memory, of what has been copied */
    *n_only_a = of_class[1];
    *n_only_b = of_class[2];
    free(place);
    nd_groups_release(&hashes);
    return status == ND_OK ? ND_OK : nd_fail(err, status, "out of memory");
}
