/* score_cells.c - the figures of a result as cells of its row */
#include "uses/eval/score_cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nd_cell_count(struct nd_use *rows, const char *key, uint64_t count, bool is_known)
{
    static const struct nd_view none = {"-", 1};

    if (is_known)
        nd_cell_uint(rows, key, count);
    else if (rows->is_json)
        nd_cell_none(rows, key);
    else
        nd_cell_text(rows, key, none);
}

void nd_cell_figure(struct nd_use *rows, const char *key, double value)
{
    char text[32];
    int len;

    if (isnan(value) || rows->is_json) {
        if (isnan(value))
            nd_cell_count(rows, key, 0, false);
        else
            nd_cell_double(rows, key, value);
        return;
    }
    len = snprintf(text, sizeof text, "%s%lld.%04lld", value < 0 ? "-" : "",
                   llabs(llround(value * 10000)) / 10000, llabs(llround(value * 10000)) % 10000);
    nd_cell_text(rows, key, (struct nd_view){text, (size_t)len});
}

void nd_cell_rated(struct nd_use *rows, const char *key, const struct nd_rated *m)
{
    char part[64];

    nd_cell_figure(rows, key, m->value);
    snprintf(part, sizeof part, "%s_low", key);
    nd_cell_figure(rows, part, m->low);
    snprintf(part, sizeof part, "%s_high", key);
    nd_cell_figure(rows, part, m->high);
}

void nd_cell_notes(struct nd_use *rows, const struct nd_scores *t, enum nd_no_interval why)
{
    char text[300];
    int len = 0;

    if (why == ND_FEW_COMPONENTS)
        len = snprintf(text, sizeof text, "no intervals: %zu components, and %d are needed",
                       t->n_paired, ND_COMPONENTS_MIN);
    else if (why == ND_ONE_COMPONENT)
        len = snprintf(text, sizeof text,
                       "no intervals: one component has half of the pairs or more");
    if (!t->has_negatives)
        len += snprintf(text + len, sizeof text - (size_t)len,
                        "%sno precision: the truth calls no pair different", len ? "; " : "");
    nd_cell_text(rows, "note", (struct nd_view){text, (size_t)len});
}

void nd_cell_form(struct nd_use *rows, const struct nd_relation *r)
{
    static const char *const word[] = {"", "pairs", "clusters", "manifest", "clusters"};
    const char *text = r->form == ND_EVAL_PAIRS && r->has_sets ? "closed pairs" : word[r->form];

    nd_cell_text(rows, "form", (struct nd_view){text, strlen(text)});
}

void nd_cells_of_classes(struct nd_use *rows, const struct nd_scores *t)
{
    const struct nd_pair_counts *x = &t->sum.pairs;

    nd_cell_count(rows, "documents", t->n_documents, true);
    nd_cell_count(rows, "listed", x->listed, true);
    nd_cell_count(rows, "mixed", x->listed - x->right, true);
    nd_cell_count(rows, "clusters", t->n_sets, t->has_sets);
    nd_cell_count(rows, "mixed_clusters", t->mixed_sets, t->has_sets);
    nd_cell_count(rows, "members", t->members, t->has_sets);
    nd_cell_count(rows, "mixed_members", t->mixed_members, t->has_sets);
    nd_cell_count(rows, "largest_cluster", t->largest_set, t->has_sets);
}

void nd_cells_of_pairs(struct nd_use *rows, const struct nd_scores *t,
                       const struct nd_runs_lost *lost, const struct nd_rated m[ND_RATES],
                       enum nd_no_interval why)
{
    static const char *const name[ND_RATES] = {"precision",         "recall",         "f1",
                                               "query_precision",   "query_recall",   "query_f1",
                                               "cluster_precision", "cluster_recall", "cluster_f1",
                                               "bcubed_precision",  "bcubed_recall",  "bcubed_f1"};
    const struct nd_pair_counts *x = &t->sum.pairs;

    nd_cell_count(rows, "documents", t->n_documents, true);
    nd_cell_count(rows, "listed", x->listed, true);
    nd_cell_count(rows, "right", x->right, true);
    nd_cell_count(rows, "wrong", x->listed - x->right, t->has_negatives);
    nd_cell_count(rows, "unclear", t->unsure, true);
    nd_cell_count(rows, "unlabelled", t->unlabelled, true);
    nd_cell_count(rows, "missed", x->same - x->right, true);
    for (unsigned i = 0; i < ND_RATE_SET_PRECISION; i++)
        nd_cell_rated(rows, name[i], &m[i]);
    nd_cell_count(rows, "clusters", t->n_sets, t->has_sets);
    nd_cell_count(rows, "largest_cluster", t->largest_set, t->has_sets);
    for (unsigned i = ND_RATE_SET_PRECISION; i < ND_RATES; i++)
        nd_cell_rated(rows, name[i], &m[i]);
    nd_cell_figure(rows, "adjusted_rand", t->has_true_sets ? nd_scores_rand(t) : NAN);
    nd_cell_count(rows, "true_clusters", t->n_true_sets, t->has_true_sets);
    nd_cell_count(rows, "exact_clusters", t->exact_sets, t->has_true_sets);
    nd_cell_count(rows, "removed", t->removed, t->knows_removed);
    nd_cell_count(rows, "removed_without_match", t->unmatched, t->knows_removed);
    nd_cell_count(rows, "kept_with_match", t->kept_twice, t->knows_removed);
    nd_cell_count(rows, "runs_removed", lost->removed, lost->is_known);
    nd_cell_count(rows, "runs_lost", lost->lost, lost->is_known);
    nd_cell_count(rows, "components", t->n_paired, true);
    nd_cell_notes(rows, t, why);
}
