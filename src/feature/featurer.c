/* featurer.c - from a document to weighted features (docs/format/features.md) */
#include "feature/featurer.h"

#include "base/hash.h"
#include "feature/apostrophes.h"
#include "feature/marks.h"
#include "text/token_places.h"
#include "text/utf8.h"

#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>

/* Whether tokens are terms, and nothing needs to be known of each. */
static bool is_plain(const struct nd_feature_params *p, const struct nd_words *w)
{
    return !nd_stop_words_any(&w->stop) && !w->stemmer && p->least_length <= 1 &&
           w->most_digits >= ND_DIGITS_ANY && !w->has_dates && p->select != ND_SELECT_ANCHORED &&
           p->unit != ND_FEATURE_SPOTS && p->template_count == 0 &&
           (p->unit != ND_FEATURE_TERMS || !w->df);
}

/* The anchors of character n-grams: their code points, as the n-grams have them. */
static enum nd_status read_strings(struct nd_featurer *f, struct nd_error *err)
{
    const char *word = f->params.anchors;
    size_t count = 0, len, n, codes = 0;
    char *normal;

    while (*(word += strspn(word, " \t,"))) {
        size_t bytes = strcspn(word, " \t,");
        enum nd_status status = nd_text_normalise(word, bytes, &normal, &len, err);
        void *code = f->anchor_code;
        bool good;

        if (status != ND_OK)
            return status;
        good = nd_array_reserve(&code, &f->anchor_capacity, count + len, sizeof *f->anchor_code) &&
               nd_numbers_reserve(&f->anchor_end, 1);
        f->anchor_code = code;
        codes = 0;
        for (size_t i = 0; good && i < len; i += n, codes++)
            f->anchor_code[count++] = nd_mix64(nd_utf8_decode(normal + i, &n));
        free(normal);
        if (!good)
            return nd_fail(err, ND_ENOMEM, "out of memory");
        if (codes > f->params.width)
            return nd_fail(err, ND_EINVAL,
                           "anchors: %.*s has more characters than an n-gram (width = %u)",
                           (int)bytes, word, f->params.width);
        f->anchor_end.at[f->anchor_end.count++] = (uint32_t)count;
        word += bytes;
    }
    return ND_OK;
}

/* Whether a weight depends on how often the feature occurs, and on how often the most frequent one
 * does, and on nothing else. */
static bool is_flat(const struct nd_weight_params *w)
{
    return w->idf == ND_IDF_NONE && w->position == ND_POSITION_NONE &&
           w->markup == ND_MARKUP_IGNORE && w->clip_quantile == 0 && w->clip_rank == 0 &&
           w->low == 0 && w->high == 0 && w->band_low == 0 && w->band_high == 0 && w->top == 0 &&
           w->top_share == 0 && w->template_weight == 0;
}

/* What is asked for, from the parameters and the weigher. */
static enum nd_status plan(struct nd_featurer *f, const struct nd_weight_params *weights,
                           struct nd_error *err)
{
    const struct nd_feature_params *p = &f->params;

    for (unsigned c = 0; c < 128; c++)
        f->ascii[c] = nd_mix64(c);
    f->is_plain = is_plain(p, &f->words);
    f->template_weight = (uint32_t)(weights->template_weight * ND_GAIN_ONE + 0.5);
    f->has_sentences = p->unit == ND_FEATURE_SENTENCES || p->select == ND_SELECT_SENTENCE;
    f->selects_occurrences = p->select == ND_SELECT_KTH || p->select == ND_SELECT_SENTENCE ||
                             p->select == ND_SELECT_ANCHORED ||
                             (p->select == ND_SELECT_FIRST && p->count == ND_FEATURE_OCCURRENCES);
    f->is_flat = is_flat(weights);
    f->is_direct = f->is_flat && weights->tf == ND_TF_BINARY && !f->df &&
                   p->count == ND_FEATURE_OCCURRENCES && p->select != ND_SELECT_RAREST &&
                   p->select != ND_SELECT_UNCOMMON;
    f->keeps_df = f->df && p->unit == ND_FEATURE_TERMS && p->phrases == 0;
    f->needs_gain = nd_weigher_needs_gain(f->weigher);
    f->is_by_word = p->unit == ND_FEATURE_TERMS && p->phrases == 0 && !f->is_plain &&
                    p->template_count == 0 && p->count == ND_FEATURE_DISTINCT &&
                    !f->selects_occurrences && !f->words.stemmer &&
                    !(f->words.has_dates && f->needs_gain);
    f->needs_marks = nd_weigher_needs_marks(f->weigher);
    if (f->needs_marks && !nd_unit_has_words(p->unit))
        return nd_fail(err, ND_EINVAL, "markup is about words, but unit = %s",
                       nd_feature_unit_name(p->unit));
    if (p->unit == ND_FEATURE_CHARACTERS && p->select == ND_SELECT_ANCHORED)
        return read_strings(f, err);
    if (p->select == ND_SELECT_ANCHORED && f->words.n_anchors == 0)
        return nd_fail(err, ND_EINVAL, "anchors: there is no word in '%s'", p->anchors);
    return ND_OK;
}

/*
 * A table counts one kind of feature.  Where stop words come from it and the features are no terms,
 * it must count terms, and says nothing of the features.
 */
static enum nd_status check_df(struct nd_featurer *f, struct nd_error *err)
{
    if (nd_stop_words_are_by_df(f->params.stop_words) && f->params.unit != ND_FEATURE_TERMS)
        f->df = NULL;
    return f->words.df ? nd_df_check(f->words.df, &f->params, err) : ND_OK;
}

/* The parts of a featurer that is zeroes but for its parameters. */
static enum nd_status make(struct nd_featurer *f, const struct nd_weight_params *weights,
                           struct nd_error *err)
{
    enum nd_status status = nd_feature_words_check(&f->params, err);

    if (status == ND_OK)
        status = nd_words_init(&f->words, &f->params, f->df, err);
    if (status == ND_OK)
        status = check_df(f, err);
    if (status == ND_OK)
        status = nd_feature_params_check(&f->params, f->df != NULL, err);
    if (status == ND_OK && f->params.template_count)
        status = nd_template_check(&f->params, &f->template_width, err);
    if (status != ND_OK)
        return status;
    f->weigher = nd_weigher_new(weights, f->df, err);
    if (!f->weigher)
        return err->status;
    f->metadata = nd_metadata_new(&f->params, err);
    if (!f->metadata)
        return err->status;
    f->tokeniser = nd_tokeniser_new();
    f->stream = nd_text_stream_new();
    if (!f->tokeniser || !f->stream || !nd_phrases_init(&f->phrases, f->params.phrases, f->df))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return plan(f, weights, err);
}

struct nd_featurer *nd_featurer_new(const struct nd_feature_params *features,
                                    const struct nd_weight_params *weights, const struct nd_df *df,
                                    struct nd_error *err)
{
    struct nd_featurer *f = calloc(1, sizeof *f);
    struct nd_error local;

    err = err ? err : &local;
    if (!f) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    f->params = *features;
    f->df = df;
    if (make(f, weights, err) != ND_OK) {
        nd_featurer_free(f);
        return NULL;
    }
    return f;
}

void nd_featurer_free(struct nd_featurer *f)
{
    if (!f)
        return;
    nd_words_release(&f->words);
    nd_phrases_release(&f->phrases);
    nd_tokeniser_free(f->tokeniser);
    nd_text_stream_free(f->stream);
    nd_weigher_free(f->weigher);
    nd_metadata_free(f->metadata);
    free(f->anchor_code);
    free(f->anchor_end.at);
    nd_buffer_release(&f->joined);
    free(f->word.at);
    free(f->sentence.at);
    free(f->kept.at);
    free(f->term);
    free(f->term_df);
    free(f->mark);
    free(f->is_template);
    free(f->token);
    nd_tally_release(&f->tally);
    nd_word_counts_release(&f->counts);
    free(f->occurrence.at);
    free(f->occurrence_from.at);
    free(f->new_number.at);
    free(f->origin.at);
    free(f->direct);
    free(f->at);
    free(f->weight);
    free(f->df_of);
    free(f);
}

/* The tokens of the text with their places in it. */
enum nd_status nd_featurer_places(struct nd_featurer *f, struct nd_view text,
                                  struct nd_token **token, size_t *n)
{
    struct nd_view joined = text;
    enum nd_status status;

    if (f->params.join_apostrophes && !nd_apostrophes_join(&f->joined, text, &joined))
        return ND_ENOMEM;
    status = nd_token_places(joined.data, joined.len, token, n);
    if (status == ND_OK && joined.data != text.data)
        nd_apostrophes_restore(text, *token, *n);
    return status;
}

/* How far each word is marked, in documents with markup or links. */
static enum nd_status read_marks(struct nd_featurer *f, const struct nd_document *document)
{
    void *mark = f->mark;
    size_t n = (size_t)f->n_words;

    if (!f->has_marks)
        return ND_OK;
    if (f->params.join_apostrophes)
        nd_apostrophes_restore(document->text, f->token, n);
    if (!nd_array_reserve(&mark, &f->mark_capacity, n, sizeof *f->mark))
        return ND_ENOMEM;
    f->mark = mark;
    nd_marks_fill(document, f->params.anchor_window, f->token, n, f->mark);
    return ND_OK;
}

/* From the document to words, or to what the unit has in their place. */
static enum nd_status read_content(struct nd_featurer *f, const struct nd_document *document)
{
    enum nd_status status;

    switch (f->params.unit) {
    case ND_FEATURE_CHARACTERS: /* before the first gain is asked for */
        return nd_weigher_needs_length(f->weigher)
                   ? nd_featurer_length(f, document->text, &f->n_words)
                   : ND_OK;
    case ND_FEATURE_PATHS: return nd_featurer_read_paths(f, document) ? ND_OK : ND_ENOMEM;
    case ND_FEATURE_NONE: f->n_words = f->n_terms = 0; return ND_OK;
    default: break;
    }
    status = nd_featurer_read(f, document->text);
    if (status == ND_OK)
        status = read_marks(f, document);
    if (status == ND_OK && (!nd_featurer_find_template(f) || !nd_featurer_keep(f)))
        status = ND_ENOMEM;
    return status;
}

enum nd_status nd_featurer_collect(struct nd_featurer *f, const struct nd_document *document)
{
    enum nd_status status;

    nd_tally_clear(&f->tally);
    f->occurrence.count = f->occurrence_from.count = f->origin.count = f->kept.count = 0;
    f->n_seen = 0;
    f->n_direct = 0;
    f->in_sentence = 0;
    f->seen_in_it = 0;
    f->has_marks = f->needs_marks &&
                   (document->n_markup > 0 || (document->n_links > 0 && f->params.anchor_window));
    status = read_content(f, document);
    if (status == ND_OK)
        status = nd_featurer_count(f, document->text);
    if (status == ND_OK && !nd_featurer_select(f))
        status = ND_ENOMEM;
    return status;
}

static enum nd_status run(struct nd_featurer *f, const struct nd_document *document,
                          struct nd_features *out)
{
    struct nd_features made;
    enum nd_status status;

    if (!nd_utf8_valid(document->text.data, document->text.len))
        return ND_EINVAL;
    status = nd_featurer_collect(f, document);
    if (status == ND_OK)
        status = nd_featurer_finish(f, document, &made);
    if (status == ND_OK)
        *out = made;
    return status;
}

enum nd_status nd_featurer_run(struct nd_featurer *f, const struct nd_document *document,
                               struct nd_features *out)
{
    f->is_plainly_asked = false;
    return run(f, document, out);
}

enum nd_status nd_featurer_run_hashes(struct nd_featurer *f, const struct nd_document *document,
                                      struct nd_features *out)
{
    enum nd_status status;

    f->is_plainly_asked = true;
    status = run(f, document, out);
    f->is_plainly_asked = false;
    return status;
}
