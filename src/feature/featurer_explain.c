/* featurer_explain.c - the features of a document as people read them, and where they stand
 *
 * Slow and plain: the document goes through the featurer once more with a request for origins or
 * places, and the texts are made from its tokens.
 */
#include "feature/featurer.h"

#include "base/utf8.h"
#include "feature/text_list.h"
#include "feature/word/apostrophes.h"
#include "text/places.h"

#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>

/* The normalised forms of all tokens. */
static bool read_forms(struct nd_featurer *f, struct nd_view text, struct nd_text_list *forms)
{
    struct nd_token_window window;
    int more;

    if (!nd_document_terms_text(&f->terms, &text))
        return false;
    nd_tokeniser_start(f->terms.tokeniser, text.data, text.len);
    while ((more = nd_tokeniser_window(f->terms.tokeniser, &window)) == 1)
        for (size_t i = 0; i < window.count; i++) {
            struct nd_view form = nd_token_form(&window, i);

            if (!nd_buffer_append(&forms->bytes, form.data, form.len) || !nd_text_list_end(forms))
                return false;
        }
    return more == 0;
}

/* The tokens as terms; an antecedent stands as it is: a:rally:kick, as Theobald 2008 writes spots. */
static bool append_tokens(struct nd_featurer *f, const struct nd_text_list *forms,
                          const struct nd_number_list *token, struct nd_text_list *out)
{
    bool has_antecedent = f->plan.unit->has_antecedents;
    const char *separator = has_antecedent ? ":" : " ";

    for (size_t i = 0; i < token->count; i++) {
        struct nd_view form = nd_text_list_at(forms, token->items[i]);

        if (i > 0 || !has_antecedent)
            form = nd_words_term(&f->terms.words, form);
        if (!form.data || !nd_buffer_append(&out->bytes, separator, i > 0) ||
            !nd_buffer_append(&out->bytes, form.data, form.len))
            return false;
    }
    return nd_text_list_end(out);
}

static bool explain_words(struct nd_featurer *f, struct nd_view text, struct nd_text_list *out)
{
    struct nd_number_list token = {0};
    struct nd_text_list forms = {0};
    bool good = read_forms(f, text, &forms);

    for (size_t i = 0; good && i < f->counts.origin.count && i < f->counts.tally.count; i++)
        good = nd_feature_tokens(&f->terms, f->counts.origin.items[i],
                                 f->counts.tally.entry[i + 1].hash, &token) &&
               append_tokens(f, &forms, &token, out);
    nd_text_list_release(&forms);
    free(token.items);
    return good;
}

/* One code point, so that a text stays on its line. */
static bool append_code(struct nd_text_list *out, const char *bytes, size_t n)
{
    if (*bytes == '\n')
        return nd_buffer_append(&out->bytes, "\\n", 2);
    if (*bytes == '\\')
        return nd_buffer_append(&out->bytes, "\\\\", 2);
    return nd_buffer_append(&out->bytes, bytes, n);
}

static bool explain_characters(struct nd_featurer *f, struct nd_view text, struct nd_text_list *out)
{
    size_t len, at = 0, code = 0, n;
    char *normal;
    bool good = true;

    if (nd_text_normalise(text.data, text.len, &normal, &len, NULL) != ND_OK)
        return false;
    for (size_t i = 0; good && i < f->counts.origin.count && i < f->counts.tally.count; i++) {
        size_t end;

        for (; code < f->counts.origin.items[i]; code++, at += n)
            (void)nd_utf8_decode(normal + at, &n);
        end = at;
        for (unsigned k = 0; good && k < f->plan.params.width && end < len; k++, end += n) {
            (void)nd_utf8_decode(normal + end, &n);
            good = append_code(out, normal + end, n);
        }
        good = good && nd_text_list_end(out);
    }
    free(normal);
    return good;
}

static void reverse(char *text, size_t len)
{
    for (size_t i = 0; i < len / 2; i++) {
        char c = text[i];

        text[i] = text[len - 1 - i];
        text[len - 1 - i] = c;
    }
}

/* "html/body/p": each name backwards from the element up, and then all of it reversed. */
static bool append_path(const struct nd_document *document, size_t element, struct nd_buffer *out)
{
    size_t from = out->len, i = element;

    for (;;) {
        const struct nd_element *e = &document->elements[i];

        if (!nd_buffer_append(out, "/", i != element) ||
            !nd_buffer_append(out, e->name.data, e->name.len))
            return false;
        reverse(out->data + out->len - e->name.len, e->name.len);
        if (e->parent >= i)
            break;
        i = e->parent;
    }
    reverse(out->data + from, out->len - from);
    return true;
}

static bool explain_paths(struct nd_featurer *f, const struct nd_document *document,
                          struct nd_text_list *out)
{
    for (size_t i = 0; i < f->counts.origin.count && i < f->counts.tally.count; i++)
        if (!append_path(document, f->counts.origin.items[i], &out->bytes) ||
            !nd_text_list_end(out))
            return false;
    return true;
}

static bool explain_content(struct nd_featurer *f, const struct nd_document *document,
                            struct nd_text_list *out)
{
    switch (f->plan.unit->source) {
    case ND_FROM_TERMS: return explain_words(f, document->text, out);
    case ND_FROM_CHARACTERS: return explain_characters(f, document->text, out);
    case ND_FROM_ELEMENTS: return explain_paths(f, document, out);
    case ND_FROM_NOTHING: break;
    }
    return true;
}

/* The texts in the order of the features, '\n' between them. */
static bool assemble(const struct nd_featurer *f, const struct nd_text_list *distinct,
                     const struct nd_metadata_features *metadata, size_t n_content,
                     struct nd_buffer *out)
{
    bool is_distinct = f->plan.params.count == ND_FEATURE_DISTINCT;
    const char *line = metadata->text;

    for (size_t i = 0; i < n_content; i++) {
        struct nd_view text =
            nd_text_list_at(distinct, is_distinct ? i : f->counts.occurrence.items[i] - 1);

        if (!nd_buffer_append(out, "\n", i > 0) || !nd_buffer_append(out, text.data, text.len))
            return false;
    }
    for (size_t i = 0; i < metadata->count; i++) {
        size_t len = strcspn(line, "\n");

        if (!nd_buffer_append(out, "\n", n_content + i > 0) || !nd_buffer_append(out, line, len))
            return false;
        line += len + 1;
    }
    return nd_buffer_append(out, "", 0);
}

static enum nd_status explain(struct nd_featurer *f, const struct nd_document *document,
                              struct nd_buffer *all, struct nd_features *out)
{
    struct nd_text_list distinct = {0};
    struct nd_metadata_features metadata;
    enum nd_status status = nd_featurer_request(f, document, ND_REQUEST_ORIGINS, out);

    if (status != ND_OK)
        return status;
    if (!explain_content(f, document, &distinct))
        status = ND_ENOMEM;
    if (status == ND_OK)
        status = nd_metadata_explain(f->metadata, document, &metadata);
    if (status == ND_OK && !assemble(f, &distinct, &metadata, out->count - out->n_metadata, all))
        status = ND_ENOMEM;
    nd_text_list_release(&distinct);
    if (status != ND_OK)
        return status;
    out->forced = metadata.forced;
    return ND_OK;
}

enum nd_status nd_featurer_explain(struct nd_featurer *f, const struct nd_document *document,
                                   char **text, size_t *len, struct nd_features *out)
{
    struct nd_buffer all = {0};
    struct nd_features made;
    enum nd_status status;

    status = explain(f, document, &all, &made);
    if (status != ND_OK) {
        nd_buffer_release(&all);
        return status;
    }
    *out = made;
    *text = all.data;
    *len = all.len;
    return ND_OK;
}

/* Return the place of occurrence i, which begins with one token or code point and ends with
 * another. */
static struct nd_feature_place place_of(const struct nd_featurer *f, size_t i,
                                        const struct nd_token *first, const struct nd_token *last)
{
    return (struct nd_feature_place){f->counts.tally.entry[f->counts.occurrence.items[i]].hash,
                                     first->offset, last->offset + last->len - first->offset};
}

static bool place_words(struct nd_featurer *f, struct nd_view text, struct nd_feature_place *out)
{
    struct nd_number_list of = {0}; /* the feature at hand: the numbers of its tokens */
    struct nd_token *token;
    bool good = true;
    size_t n;

    if (nd_document_terms_places(&f->terms, text, &token, &n) != ND_OK)
        return false;
    for (size_t i = 0; good && i < f->counts.occurrence.count; i++) {
        uint64_t hash = f->counts.tally.entry[f->counts.occurrence.items[i]].hash;

        good = nd_feature_tokens(&f->terms, f->counts.occurrence_from.items[i], hash, &of);
        if (good)
            out[i] = place_of(f, i, &token[of.items[0]], &token[of.items[of.count - 1]]);
    }
    free(of.items);
    free(token);
    return good;
}

static bool place_characters(struct nd_featurer *f, struct nd_view text,
                             struct nd_feature_place *out)
{
    struct nd_token *code;
    size_t n;

    if (nd_code_places(text.data, text.len, &code, &n) != ND_OK)
        return false;
    for (size_t i = 0; i < f->counts.occurrence.count; i++) {
        size_t from = f->counts.occurrence_from.items[i];
        size_t last = n - from < f->plan.params.width ? n - 1 : from + f->plan.params.width - 1;

        out[i] = place_of(f, i, &code[from], &code[last]);
    }
    free(code);
    return true;
}

/* Drop the features that the selection among the distinct ones has left out at the end. */
static void drop_unselected(struct nd_featurer *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->counts.occurrence.count; i++) {
        f->counts.occurrence.items[n] = f->counts.occurrence.items[i];
        f->counts.occurrence_from.items[n] = f->counts.occurrence_from.items[i];
        n += f->counts.occurrence.items[i] <= f->counts.tally.count;
    }
    f->counts.occurrence.count = f->counts.occurrence_from.count = n;
}

enum nd_status nd_featurer_locate(struct nd_featurer *f, const struct nd_document *document,
                                  struct nd_feature_place **place, size_t *n_places)
{
    struct nd_feature_place *made;
    enum nd_status status;
    bool good;

    if (!nd_utf8_valid(document->text.data, document->text.len))
        return ND_EINVAL;
    status = nd_feature_counts_run(&f->counts, document, ND_REQUEST_PLACES);
    if (status != ND_OK)
        return status;
    drop_unselected(f);
    if (f->plan.unit->source == ND_FROM_ELEMENTS)
        f->counts.occurrence.count = 0; /* they stand in the page, not in its text */
    made = nd_alloc_array(f->counts.occurrence.count, sizeof *made);
    if (!made)
        return ND_ENOMEM;
    good = f->plan.unit->source == ND_FROM_CHARACTERS ? place_characters(f, document->text, made)
                                                      : place_words(f, document->text, made);
    if (!good) {
        free(made);
        return ND_ENOMEM;
    }
    *place = made;
    *n_places = f->counts.occurrence.count;
    return ND_OK;
}
