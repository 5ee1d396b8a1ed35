/* fuzz_features.c - any text, any parameters: the same features on all kernels, run or explained,
 * and what must hold of them
 */
#include <neardup/cpu.h>
#include <neardup/feature.h>
#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>

#include "feature/featurer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 8 }; /* bytes that choose the parameters */

static void require(int holds)
{
    if (!holds)
        abort();
}

static void choose_words(struct nd_feature_params *p, const uint8_t *head)
{
    static const char *const stop[] = {"none", "none", "english", "english"};
    static const char *const stem[] = {"none", "none", "none", "porter"};

    p->join_apostrophes = head[3] & 1;
    p->strip = (enum nd_strip)((head[3] >> 1) % 3);
    p->least_length = head[4] % 5;
    p->most_digits = head[4] & 32 ? head[4] >> 6 : 32;
    strcpy(p->stop_words, stop[head[5] & 3]);
    strcpy(p->stem, stem[head[5] >> 2 & 3]);
    p->phrases = p->unit == ND_FEATURE_TERMS && (head[5] & 16) ? -1 : 0;
}

/* One of the units that are made of the text. */
static enum nd_feature_unit unit_of_text(unsigned choice)
{
    enum nd_feature_unit units[ND_FEATURE_UNITS];
    unsigned n = 0;

    for (unsigned i = 0; i < ND_FEATURE_UNITS; i++)
        if (!nd_unit_ignores_text((enum nd_feature_unit)i))
            units[n++] = (enum nd_feature_unit)i;
    return units[choice % n];
}

static struct nd_feature_params choose(const uint8_t *head)
{
    static const char *const anchors[] = {"a", "the of", "it's, e", ""};
    struct nd_feature_params p = nd_feature_params_default();

    p.unit = unit_of_text(head[0]);
    p.count = (enum nd_feature_count)(head[0] >> 7);
    p.width = 1 + head[1] % 32;
    p.distance = 1 + head[1] / 32;
    p.select = (enum nd_feature_select)(head[2] % 7);
    p.select_count = 1 + head[2] / 7;
    strcpy(p.anchors, anchors[head[6] & 3]);
    if (nd_unit_has_words(p.unit))
        choose_words(&p, head);
    return p;
}

static struct nd_weight_params choose_weights(const uint8_t *head)
{
    struct nd_weight_params w = nd_weight_params_default();

    w.tf = (enum nd_tf)(head[7] % 3);
    w.position = (enum nd_position)((head[7] >> 2) % ND_POSITION_TABLE);
    w.markup = head[7] & 128 ? ND_MARKUP_MULTIPLY : ND_MARKUP_IGNORE;
    return w;
}

/* A copy of the features of one run, to hold the others against. */
struct copy {
    struct nd_features made;
    struct nd_feature *at;
};

static struct copy copy_of(const struct nd_features *made)
{
    struct copy c = {*made, malloc((made->count + 1) * sizeof *c.at)};

    require(c.at != NULL);
    if (made->count)
        memcpy(c.at, made->items, made->count * sizeof *c.at);
    return c;
}

static void same(const struct copy *c, const struct nd_features *made)
{
    require(made->count == c->made.count && made->n_tokens == c->made.n_tokens &&
            made->n_terms == c->made.n_terms);
    for (size_t i = 0; i < made->count; i++)
        require(made->items[i].hash == c->at[i].hash && made->items[i].weight == c->at[i].weight);
}

static void what_must_hold(const struct nd_feature_params *p, const struct nd_document *document,
                           const struct nd_features *made)
{
    require(made->n_terms <= made->n_tokens && made->df == NULL && made->n_metadata == 0);
    require(p->unit != ND_FEATURE_CHARACTERS ||
            made->n_tokens == (uint64_t)nd_text_length(document->text.data, document->text.len));
    require(p->select != ND_SELECT_FIRST || made->count <= p->select_count);
    for (size_t i = 0; i < made->count; i++)
        require(made->items[i].weight >= 0 && (made->items[i].weight <= ND_WEIGHT_ONE ||
                                               (uint64_t)made->items[i].weight <= made->n_tokens));
}

/* There is a text a line; a term's has its hash. */
static void explain(struct nd_featurer *f, const struct nd_feature_params *p,
                    const struct nd_document *document, const struct copy *c)
{
    struct nd_features made;
    char *text;
    size_t len, at = 0;

    require(nd_featurer_explain(f, document, &text, &len, &made) == ND_OK);
    same(c, &made);
    for (size_t i = 0; i < made.count; i++) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t n = end ? (size_t)(end - text) - at : len - at;

        require(n > 0 && (end != NULL) == (i + 1 < made.count));
        if (p->unit == ND_FEATURE_TERMS && !memchr(text + at, ' ', n))
            require(nd_token_hash(text + at, n) == made.items[i].hash);
        at += n + 1;
    }
    free(text);
}

/* Cutting into sentences changes no token. */
static void same_tokens(const struct nd_feature_params *p, const struct nd_document *document,
                        const struct nd_features *made)
{
    struct nd_feature_params other = nd_feature_params_default();
    struct nd_weight_params w = nd_weight_params_default();
    struct nd_featurer *f;
    struct nd_features cut;

    if (p->unit == ND_FEATURE_CHARACTERS)
        return;
    other.unit = ND_FEATURE_SENTENCES;
    other.join_apostrophes = p->join_apostrophes;
    f = nd_featurer_new(&other, &w, NULL, NULL);
    require(f && nd_featurer_run(f, document, &cut) == ND_OK);
    require(cut.n_tokens == made->n_tokens);
    nd_featurer_free(f);
}

/*
 * The places of words, which marks go by, are those that the plain algorithm finds; but a mark at
 * the start of a sentence is no longer in one piece with what ends the sentence before it.
 */
static void same_places(struct nd_featurer *f, const struct nd_document *document)
{
    struct nd_token *token;
    size_t n;

    if (!f->terms.notes.has_marks || f->plan.has_sentences)
        return;
    require(nd_document_terms_places(&f->terms, document->text, &token, &n) == ND_OK &&
            n == f->terms.n_tokens);
    for (size_t i = 0; i < n; i++)
        require(f->terms.notes.place[i].offset == token[i].offset &&
                f->terms.notes.place[i].len == token[i].len);
    free(token);
}

static void featurise(const uint8_t *head, const char *text, size_t len)
{
    static const char *const isa[] = {"scalar", "avx2", "avx512", "neon"};
    struct nd_feature_params p = choose(head);
    struct nd_weight_params w = choose_weights(head);
    const struct nd_markup markup = {len / 4, len / 2};
    const struct nd_document document = {.text = {text, len}, .markup = &markup, .n_markup = 1};
    struct nd_featurer *f = nd_featurer_new(&p, &w, NULL, NULL);
    struct nd_features made;
    struct copy first;

    if (!f)
        return;
    require(nd_featurer_run(f, &document, &made) == ND_OK);
    first = copy_of(&made);
    what_must_hold(&p, &document, &made);
    same_places(f, &document);
    explain(f, &p, &document, &first);
    for (size_t i = 0; i < sizeof isa / sizeof *isa; i++)
        if (nd_cpu_force(isa[i], NULL) == ND_OK) {
            require(nd_featurer_run(f, &document, &made) == ND_OK);
            same(&first, &made);
        }
    same_tokens(&p, &document, &made);
    free(first.at);
    nd_featurer_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t head[HEAD] = {0};
    size_t n_head = size < HEAD ? size : HEAD, len = size - n_head;
    char *text = malloc(len ? len : 1), *repaired;
    int64_t n;

    require(text != NULL);
    if (n_head)
        memcpy(head, data, n_head);
    if (len)
        memcpy(text, data + n_head, len);
    n = nd_utf8_repair(text, len, &repaired, &len);
    require(n >= 0);
    if (n > 0) {
        free(text);
        text = repaired;
    }
    featurise(head, text, len);
    free(text);
    return 0;
}
