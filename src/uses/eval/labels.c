/* labels.c - what a label says of a pair: the words of people, numbers, grades, scores */
#include "uses/eval/labels.h"

#include "base/number/number.h"
#include "base/view.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *word;
    enum nd_label label;
} words[] = {
    {"1", ND_LABEL_SAME},           {"0", ND_LABEL_DIFFERENT},    {"?", ND_LABEL_UNSURE},
    {"", ND_LABEL_UNSURE},          {"same", ND_LABEL_SAME},      {"different", ND_LABEL_DIFFERENT},
    {"unsure", ND_LABEL_UNSURE},    {"duplicate", ND_LABEL_SAME}, {"other", ND_LABEL_DIFFERENT},
    {"unclear", ND_LABEL_UNSURE},   {"correct", ND_LABEL_SAME},   {"incorrect", ND_LABEL_DIFFERENT},
    {"undecided", ND_LABEL_UNSURE}, {"match", ND_LABEL_SAME},     {"near-miss", ND_LABEL_DIFFERENT},
    {"yes", ND_LABEL_SAME},         {"no", ND_LABEL_DIFFERENT},   {"true", ND_LABEL_SAME},
    {"false", ND_LABEL_DIFFERENT},
};

const char *nd_label_word(enum nd_label label)
{
    static const char *const word[ND_LABELS] = {"same", "different", "unsure"};

    return word[label];
}

bool nd_label_number(struct nd_view text, double *number)
{
    char copy[64], *end;

    if (!text.len || text.len >= sizeof copy || strchr(" \t", *text.data))
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    *number = nd_number_read(copy, &end);
    return *end == '\0' && isfinite(*number);
}

static bool find_word(struct nd_view text, enum nd_label *label)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (nd_view_is(text, words[i].word)) {
            *label = words[i].label;
            return true;
        }
    return false;
}

bool nd_label_read(const struct nd_label_rule *rule, struct nd_view text, enum nd_label *label)
{
    double score;

    if (rule->has_at) {
        if (!nd_label_number(text, &score))
            return false;
        *label = score >= rule->at ? ND_LABEL_SAME : ND_LABEL_DIFFERENT;
        return true;
    }
    if (!rule->n_positive)
        return find_word(text, label);
    *label = !text.len || nd_view_is(text, "?") ? ND_LABEL_UNSURE : ND_LABEL_DIFFERENT;
    for (size_t i = 0; i < rule->n_positive; i++)
        if (nd_view_is(text, rule->positive[i]))
            *label = ND_LABEL_SAME;
    return true;
}

bool nd_label_is_likely(struct nd_view text)
{
    enum nd_label label;
    double number;

    return nd_label_number(text, &number) || find_word(text, &label);
}
