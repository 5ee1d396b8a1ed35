/* score_cells.h - the figures of a result as cells of its row (docs/format/eval.md) */
#ifndef ND_USES_EVAL_SCORE_CELLS_H
#define ND_USES_EVAL_SCORE_CELLS_H

#include "uses/eval/resample.h"
#include "uses/use.h"

/* Runs of words that removed documents have, and those of them that no kept one has. */
struct nd_runs_lost {
    bool is_known;
    uint64_t removed, lost;
};

/* A count; where it is not known, "-" or null. */
void nd_cell_count(struct nd_use *rows, const char *key, uint64_t count, bool is_known);
/* A figure: four digits behind the point for people, all in JSON; NAN: it is not known. */
void nd_cell_figure(struct nd_use *rows, const char *key, double value);
/* A rate, and the two ends of its interval. */
void nd_cell_rated(struct nd_use *rows, const char *key, const struct nd_rated *m);
/* Say which figures are left out, and why. */
void nd_cell_notes(struct nd_use *rows, const struct nd_scores *t, enum nd_no_interval why);

/* Write the form of a result: "pairs", "closed pairs", "clusters" or "manifest". */
void nd_cell_form(struct nd_use *rows, const struct nd_relation *r);

/* All figures of a result, against a truth of classes or of pairs and clusters. */
void nd_cells_of_classes(struct nd_use *rows, const struct nd_scores *t);
void nd_cells_of_pairs(struct nd_use *rows, const struct nd_scores *t,
                       const struct nd_runs_lost *lost, const struct nd_rated m[ND_RATES],
                       enum nd_no_interval why);

#endif
