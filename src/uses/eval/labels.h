/* labels.h - what a label says of a pair: the words of people, numbers, grades, scores */
#ifndef ND_USES_EVAL_LABELS_H
#define ND_USES_EVAL_LABELS_H

#include <stdbool.h>

#include <neardup/types.h>

enum nd_label { ND_LABEL_SAME, ND_LABEL_DIFFERENT, ND_LABEL_UNSURE, ND_LABELS };

/* How labels are read. */
struct nd_label_rule {
    bool has_at;
    double at;                   /* has_at: labels are scores, and the same from here on */
    const char *const *positive; /* grades that mean the same; all others mean different */
    size_t n_positive;
};

/* False: it is no label. */
bool nd_label_read(const struct nd_label_rule *rule, struct nd_view text, enum nd_label *label);
/* Whether it could be a label or a score by any rule: a number, a word, or nothing. */
bool nd_label_is_likely(struct nd_view text);
/* "same", "different" or "unsure". */
const char *nd_label_word(enum nd_label label);
/* The number that the text is; false: it is none. */
bool nd_label_number(struct nd_view text, double *number);

#endif
