/* featurer_locate.c - where each occurrence of a feature stands in the text */
#include "feature/featurer.h"

#include "text/code_places.h"

#include <neardup/text.h>

#include <stdlib.h>

/* The last token of the feature that begins at `from`. */
static size_t last_token(const struct nd_featurer *f, size_t from, uint64_t hash)
{
    size_t next = 0;

    if (f->params.unit != ND_FEATURE_SPOTS)
        return nd_featurer_word_of(f, from + nd_featurer_terms_of(f, from, hash) - 1);
    while (f->kept.at[next] <= from)
        next++;
    return f->kept.at[next + (size_t)f->params.width * f->params.distance - 1];
}

static bool place_words(struct nd_featurer *f, struct nd_view text, struct nd_feature_place *out)
{
    bool is_spot = f->params.unit == ND_FEATURE_SPOTS;
    struct nd_token *token;
    size_t n;

    if (nd_featurer_places(f, text, &token, &n) != ND_OK)
        return false;
    for (size_t i = 0; i < f->occurrence.count; i++) {
        size_t from = f->occurrence_from.at[i];
        uint64_t hash = f->tally.entry[f->occurrence.at[i]].hash;
        const struct nd_token *first = &token[is_spot ? from : nd_featurer_word_of(f, from)];
        const struct nd_token *last = &token[last_token(f, from, hash)];

        out[i] = (struct nd_feature_place){hash, first->offset,
                                           last->offset + last->len - first->offset};
    }
    free(token);
    return true;
}

static bool place_characters(struct nd_featurer *f, struct nd_view text,
                             struct nd_feature_place *out)
{
    struct nd_code_place *code;
    size_t n;

    if (nd_text_code_places(text.data, text.len, &code, &n) != ND_OK)
        return false;
    for (size_t i = 0; i < f->occurrence.count; i++) {
        size_t from = f->occurrence_from.at[i];
        size_t last = n - from < f->params.width ? n - 1 : from + f->params.width - 1;

        out[i] = (struct nd_feature_place){f->tally.entry[f->occurrence.at[i]].hash,
                                           code[from].offset, code[last].end - code[from].offset};
    }
    free(code);
    return true;
}

/* What the selection among the distinct features has left out at the end. */
static void drop_unselected(struct nd_featurer *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->occurrence.count; i++) {
        f->occurrence.at[n] = f->occurrence.at[i];
        f->occurrence_from.at[n] = f->occurrence_from.at[i];
        n += f->occurrence.at[i] <= f->tally.count;
    }
    f->occurrence.count = f->occurrence_from.count = n;
}

enum nd_status nd_featurer_locate(struct nd_featurer *f, const struct nd_document *document,
                                  struct nd_feature_place **place, size_t *n_places)
{
    struct nd_feature_place *made;
    enum nd_status status;
    bool good;

    if (!nd_utf8_valid(document->text.data, document->text.len))
        return ND_EINVAL;
    f->has_places = true;
    status = nd_featurer_collect(f, document);
    f->has_places = false;
    if (status != ND_OK)
        return status;
    drop_unselected(f);
    if (f->params.unit == ND_FEATURE_PATHS)
        f->occurrence.count = 0; /* they stand in the page, not in its text */
    made = nd_alloc_array(f->occurrence.count, sizeof *made);
    if (!made)
        return ND_ENOMEM;
    good = f->params.unit == ND_FEATURE_CHARACTERS ? place_characters(f, document->text, made)
                                                   : place_words(f, document->text, made);
    if (!good) {
        free(made);
        return ND_ENOMEM;
    }
    *place = made;
    *n_places = f->occurrence.count;
    return ND_OK;
}
