/* featurer_explain.c - the features of a document as people read them */
#include "feature/featurer.h"

#include "feature/apostrophes.h"
#include "text/utf8.h"

#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>

/* Texts one after another. */
struct texts {
    struct nd_buffer bytes;
    size_t *end; /* of each */
    size_t count, capacity;
};

static void release(struct texts *t)
{
    nd_buffer_release(&t->bytes);
    free(t->end);
}

/* What was appended to t->bytes since the last text is the next one. */
static bool end_text(struct texts *t)
{
    void *end = t->end;

    if (!nd_array_reserve(&end, &t->capacity, t->count + 1, sizeof *t->end))
        return false;
    t->end = end;
    t->end[t->count++] = t->bytes.len;
    return true;
}

static struct nd_view text_at(const struct texts *t, size_t i)
{
    size_t begin;

    if (i >= t->count) /* a token that is none: it cannot be */
        return (struct nd_view){NULL, 0};
    begin = i ? t->end[i - 1] : 0;
    return (struct nd_view){t->bytes.data + begin, t->end[i] - begin};
}

/* The normalised forms of all tokens. */
static bool read_forms(struct nd_featurer *f, struct nd_view text, struct texts *forms)
{
    struct nd_token_window window;
    int more;

    if (f->params.join_apostrophes && !nd_apostrophes_join(&f->joined, text, &text))
        return false;
    nd_tokeniser_start(f->tokeniser, text.data, text.len);
    while ((more = nd_tokeniser_window(f->tokeniser, &window)) == 1)
        for (size_t i = 0; i < window.count; i++) {
            struct nd_view form = nd_token_form(&window, i);

            if (!nd_buffer_append(&forms->bytes, form.data, form.len) || !end_text(forms))
                return false;
        }
    return more == 0;
}

/* The term of a token follows, after a separator if it is not the first of its feature. */
static bool append_term(struct nd_featurer *f, const struct texts *forms, size_t token,
                        const char *separator, struct texts *out)
{
    struct nd_view term = nd_words_term(&f->words, text_at(forms, token));

    return term.data && nd_buffer_append(&out->bytes, separator, strlen(separator)) &&
           nd_buffer_append(&out->bytes, term.data, term.len);
}

static bool append_terms(struct nd_featurer *f, const struct texts *forms, size_t from,
                         uint64_t hash, struct texts *out)
{
    size_t n = nd_featurer_terms_of(f, from, hash);

    for (size_t i = 0; i < n; i++)
        if (!append_term(f, forms, nd_featurer_word_of(f, from + i), i ? " " : "", out))
            return false;
    return end_text(out);
}

/* a:rally:kick, as the paper writes them. */
static bool append_spot(struct nd_featurer *f, const struct texts *forms, size_t token,
                        struct texts *out)
{
    struct nd_view first = text_at(forms, token);
    size_t next = 0;

    while (next < f->kept.count && f->kept.at[next] <= token)
        next++;
    if (!nd_buffer_append(&out->bytes, first.data, first.len))
        return false;
    for (size_t k = 1; k <= f->params.width; k++)
        if (!append_term(f, forms, f->kept.at[next + k * f->params.distance - 1], ":", out))
            return false;
    return end_text(out);
}

static bool explain_words(struct nd_featurer *f, struct nd_view text, struct texts *out)
{
    struct texts forms = {0};
    bool good = read_forms(f, text, &forms);

    for (size_t i = 0; good && i < f->origin.count && i < f->tally.count; i++)
        good = f->params.unit == ND_FEATURE_SPOTS
                   ? append_spot(f, &forms, f->origin.at[i], out)
                   : append_terms(f, &forms, f->origin.at[i], f->tally.entry[i + 1].hash, out);
    release(&forms);
    return good;
}

/* One code point, so that a text stays on its line. */
static bool append_code(struct texts *out, const char *bytes, size_t n)
{
    if (*bytes == '\n')
        return nd_buffer_append(&out->bytes, "\\n", 2);
    if (*bytes == '\\')
        return nd_buffer_append(&out->bytes, "\\\\", 2);
    return nd_buffer_append(&out->bytes, bytes, n);
}

static bool explain_characters(struct nd_featurer *f, struct nd_view text, struct texts *out)
{
    size_t len, at = 0, code = 0, n;
    char *normal;
    bool good = true;

    if (nd_text_normalise(text.data, text.len, &normal, &len, NULL) != ND_OK)
        return false;
    for (size_t i = 0; good && i < f->origin.count && i < f->tally.count; i++) {
        size_t end;

        for (; code < f->origin.at[i]; code++, at += n)
            (void)nd_utf8_decode(normal + at, &n);
        end = at;
        for (unsigned k = 0; good && k < f->params.width && end < len; k++, end += n) {
            (void)nd_utf8_decode(normal + end, &n);
            good = append_code(out, normal + end, n);
        }
        good = good && end_text(out);
    }
    free(normal);
    return good;
}

static bool explain_paths(struct nd_featurer *f, const struct nd_document *document,
                          struct texts *out)
{
    for (size_t i = 0; i < f->origin.count && i < f->tally.count; i++)
        if (!nd_path_text(document, f->origin.at[i], &out->bytes) || !end_text(out))
            return false;
    return true;
}

static bool explain_content(struct nd_featurer *f, const struct nd_document *document,
                            struct texts *out)
{
    switch (f->params.unit) {
    case ND_FEATURE_CHARACTERS: return explain_characters(f, document->text, out);
    case ND_FEATURE_PATHS: return explain_paths(f, document, out);
    case ND_FEATURE_NONE: return true;
    default: return explain_words(f, document->text, out);
    }
}

/* The texts in the order of the features, '\n' between them. */
static bool assemble(const struct nd_featurer *f, const struct texts *distinct,
                     const struct nd_metadata_features *metadata, size_t n_content,
                     struct nd_buffer *out)
{
    bool is_distinct = f->params.count == ND_FEATURE_DISTINCT;
    const char *line = metadata->text;

    for (size_t i = 0; i < n_content; i++) {
        struct nd_view text = text_at(distinct, is_distinct ? i : f->occurrence.at[i] - 1);

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
    struct texts distinct = {0};
    struct nd_metadata_features metadata;
    enum nd_status status = nd_featurer_run(f, document, out);

    if (status != ND_OK)
        return status;
    if (!explain_content(f, document, &distinct))
        status = ND_ENOMEM;
    if (status == ND_OK)
        status = nd_metadata_explain(f->metadata, document, &metadata);
    if (status == ND_OK && !assemble(f, &distinct, &metadata, out->count - out->n_metadata, all))
        status = ND_ENOMEM;
    release(&distinct);
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

    f->has_origins = true;
    status = explain(f, document, &all, &made);
    f->has_origins = false;
    if (status != ND_OK) {
        nd_buffer_release(&all);
        return status;
    }
    *out = made;
    *text = all.data;
    *len = all.len;
    return ND_OK;
}
