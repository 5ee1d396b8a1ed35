/* feature_plan.c - what a featurer does: decided once, immutable, the same for every document */
#include "feature/feature_plan.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <neardup/sketch.h>
#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>

/* Whether tokens are terms, and nothing needs to be known of each. */
static bool is_plain(const struct nd_feature_params *p, const struct nd_word_rules *words)
{
    return !nd_word_rules_have_stop_words(words) && !nd_feature_params_stem(p) &&
           p->least_length <= 1 && words->max_digits >= ND_DIGITS_ANY && !words->has_dates &&
           p->select != ND_SELECT_ANCHORED && !nd_unit_has_antecedents(p->unit) &&
           p->template_count == 0 && (p->unit != ND_FEATURE_TERMS || !words->df);
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

/* The fastest way to count that the parameters allow. */
static enum nd_counting counting_of(const struct nd_feature_plan *plan,
                                    const struct nd_weight_params *weights)
{
    const struct nd_feature_params *p = &plan->params;

    if (plan->is_flat && weights->tf == ND_TF_BINARY && !plan->df &&
        p->count == ND_FEATURE_OCCURRENCES && p->select != ND_SELECT_RAREST &&
        p->select != ND_SELECT_UNCOMMON)
        return ND_COUNT_NONE;
    if (p->unit == ND_FEATURE_TERMS && p->phrases == 0 && !plan->is_plain &&
        p->template_count == 0 && p->count == ND_FEATURE_DISTINCT && !plan->selects_occurrences &&
        !nd_feature_params_stem(p) && !(plan->words.has_dates && plan->needs_gain))
        return ND_COUNT_WORDS;
    return ND_COUNT_HASHES;
}

/* Decide how a document goes through, once all parts have been read. */
static void decide(struct nd_feature_plan *plan, const struct nd_weight_params *weights)
{
    const struct nd_feature_params *p = &plan->params;

    plan->is_plain = is_plain(p, &plan->words);
    plan->has_sentences = plan->unit->has_sentences || p->select == ND_SELECT_SENTENCE;
    plan->needs_gain = nd_weigher_needs_gain(plan->weigher);
    plan->needs_marks = nd_weigher_needs_marks(plan->weigher);
    plan->selects_occurrences =
        p->select == ND_SELECT_KTH || p->select == ND_SELECT_SENTENCE ||
        p->select == ND_SELECT_ANCHORED ||
        (p->select == ND_SELECT_FIRST && p->count == ND_FEATURE_OCCURRENCES);
    plan->is_flat = is_flat(weights);
    plan->counts_tokens = plan->unit->has_antecedents || plan->unit->source == ND_FROM_CHARACTERS;
    plan->keeps_df = plan->df && p->unit == ND_FEATURE_TERMS && p->phrases == 0;
    plan->counting = counting_of(plan, weights);
    for (unsigned c = 0; c < 128; c++)
        plan->ascii[c] = nd_mix64(c);
}

/* The next string of the anchors, normalised and hashed. */
static enum nd_status add_string(struct nd_hash_list *strings, size_t *capacity, const char *text,
                                 size_t bytes, unsigned width, struct nd_error *err)
{
    size_t at = strings->count, len, n;
    char *normal;
    enum nd_status status = nd_text_normalise(text, bytes, &normal, &len, err);
    bool good;

    if (status != ND_OK)
        return status;
    good = ND_RESERVE(strings->items, capacity, at + 1 + len);
    for (size_t i = 0; good && i < len; i += n)
        strings->items[++at] = nd_mix64(nd_utf8_decode(normal + i, &n));
    free(normal);
    if (!good)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (at - strings->count > width)
        return nd_fail(err, ND_EINVAL,
                       "anchors: %.*s has more characters than an n-gram (width = %u)", (int)bytes,
                       text, width);
    strings->items[strings->count] = at - strings->count;
    strings->count = at + 1;
    return ND_OK;
}

/* The anchors of a selection: strings for character n-grams, else words that `words` has read. */
static enum nd_status read_anchors(struct nd_feature_plan *plan, struct nd_error *err)
{
    const struct nd_feature_params *p = &plan->params;
    const char *word = p->anchors;
    enum nd_status status = ND_OK;
    size_t capacity = 0;

    if (p->select != ND_SELECT_ANCHORED)
        return ND_OK;
    if (plan->unit->source == ND_FROM_TERMS)
        return plan->words.anchors.count > 0
                   ? ND_OK
                   : nd_fail(err, ND_EINVAL, "anchors: '%s' contains no word", p->anchors);
    while (status == ND_OK && *(word += strspn(word, " \t,"))) {
        size_t bytes = strcspn(word, " \t,");

        status = add_string(&plan->anchor_strings, &capacity, word, bytes, p->width, err);
        word += bytes;
    }
    return status;
}

/*
 * e^x in 2^-16, 0 <= x <= ND_PHRASES_MAX, from additions, multiplications and divisions alone,
 * which every processor rounds alike: the Taylor series at x / 1024, squared ten times.
 */
static uint64_t exponential(double x)
{
    double step = x / 1024, term = 1, sum = 1;

    for (int i = 1; i <= 8; i++) {
        term = term * step / i;
        sum += term;
    }
    for (int i = 0; i < 10; i++)
        sum *= sum;
    return (uint64_t)(sum * 65536 + .5);
}

/* The width of the shingles that a table counts; 0: it counts none. */
static unsigned width_of(const struct nd_df *table)
{
    const char *line = strstr(nd_df_features(table), "width = ");

    return line ? (unsigned)strtoul(line + strlen("width = "), NULL, 10) : 0;
}

enum nd_status nd_template_check(const struct nd_feature_params *p, unsigned *width,
                                 struct nd_error *err)
{
    struct nd_feature_params shingles = nd_feature_params_default();

    if (!p->template_table)
        return nd_fail(err, ND_EINVAL,
                       "template_count = %u needs a df table of shingles (template_df = FILE)",
                       p->template_count);
    *width = width_of(p->template_table);
    if (*width < 1 || *width > ND_SHINGLE_MAX)
        return nd_fail(err, ND_EINVAL, "the df table of the template does not count shingles");
    shingles.unit = ND_FEATURE_SHINGLES;
    shingles.width = *width;
    shingles.join_apostrophes = p->join_apostrophes;
    shingles.mail_quotes = p->mail_quotes;
    shingles.boilerplate = p->boilerplate;
    return nd_df_check(p->template_table, &shingles, err);
}

static enum nd_status read_template(struct nd_template_rule *rule,
                                    const struct nd_feature_params *p, double weight,
                                    struct nd_error *err)
{
    if (!p->template_count)
        return ND_OK;
    rule->table = p->template_table;
    rule->count = p->template_count;
    if (weight >= 0 && weight <= 1) /* any other is refused by the weigher */
        rule->weight = (uint32_t)(weight * ND_GAIN_ONE + 0.5);
    return nd_template_check(p, &rule->width, err);
}

/*
 * A table counts one kind of feature.  Where stop words come from it and the features are not
 * terms, it must count terms, and it cannot tell the df of the features.
 */
static enum nd_status read_df(struct nd_feature_plan *plan, const struct nd_df *df,
                              struct nd_error *err)
{
    const struct nd_feature_params *p = &plan->params;
    bool only_stop_words = nd_stop_words_are_by_df(p->stop_words) && p->unit != ND_FEATURE_TERMS;

    plan->df = only_stop_words ? NULL : df;
    return df ? nd_df_check(df, p, err) : ND_OK;
}

enum nd_status nd_feature_plan_init(struct nd_feature_plan *plan,
                                    const struct nd_feature_params *features,
                                    const struct nd_weight_params *weights, const struct nd_df *df,
                                    struct nd_error *err)
{
    const struct nd_feature_params *p = &plan->params;
    enum nd_status status = nd_feature_params_check_form(features, err);

    plan->params = *features;
    plan->unit = nd_unit_of(features->unit);
    if (status == ND_OK)
        status = nd_word_rules_init(&plan->words, p, df, err);
    if (status == ND_OK)
        status = read_df(plan, df, err);
    if (status == ND_OK)
        status = nd_feature_params_check(p, plan->df != NULL, err);
    if (status == ND_OK)
        status = read_template(&plan->template, p, weights->template_weight, err);
    if (status != ND_OK)
        return status;
    plan->weigher = nd_weigher_new(weights, plan->df, p->fields[0] != 0, err);
    if (!plan->weigher)
        return err->status;
    plan->phrase_factor = p->phrases > 0 ? exponential(p->phrases) : 0;
    decide(plan, weights);
    if (plan->needs_marks && plan->unit->source != ND_FROM_TERMS)
        return nd_fail(err, ND_EINVAL, "markup applies to words, but unit = %s", plan->unit->word);
    return read_anchors(plan, err);
}

void nd_feature_plan_release(struct nd_feature_plan *plan)
{
    nd_word_rules_release(&plan->words);
    free(plan->anchor_strings.items);
    nd_weigher_free(plan->weigher);
    *plan = (struct nd_feature_plan){.df = NULL};
}
