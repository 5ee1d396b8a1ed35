/* svg.h - figures as SVG */
#ifndef CLI_SVG_H
#define CLI_SVG_H

#include <stdio.h>

#include <neardup/eval.h>
#include <neardup/explain.h>
#include <neardup/hamming_stats.h>
#include <neardup/plan.h>
#include <neardup/sweep.h>

/*
 * Draw, for each signature, its heaviest features, all weights by position, and the hashes; `h` has
 * one histogram for each signature.
 */
void draw_features(FILE *out, const struct nd_document_features *d,
                   const struct nd_hash_histogram *h);
void draw_histograms(FILE *out, const struct nd_hash_histogram *h, unsigned n);

/* Draw two bar charts, one below the other, as an SVG of 800 by 760. */
void draw_stats(FILE *out, const struct nd_hamming_stats *stats);

/* Draw the curves of recall, and the candidates of a document at each threshold, as an SVG of 800 by
 * 760. */
void draw_plan(FILE *out, const struct nd_plan *plan);

/* Draw the settings of a sweep by their recall and precision, with a line through the best, as an SVG
 * of 800 wide; the settings are named below. */
void draw_sweep(FILE *out, const struct nd_sweep *sweep);

/* Draw precision and recall over a column, a chart for each result, as an SVG of 800 wide (Manku 2007,
 * Figure 1).  The points of a result follow one another. */
void draw_curves(FILE *out, const char *column, const struct nd_eval_point *point, size_t n);

/* Draw how many clusters and documents there are by size, both axes logarithmic, a chart for each
 * result, as an SVG of 800 wide (Seshasai 2009, Figure 6-2).  The sizes of a result follow one another. */
void draw_cluster_sizes(FILE *out, const struct nd_cluster_count *count, size_t n);

/* Numbers of a paper beside ours, by label; NAN: not known. */
struct svg_series {
    const char *const *label;
    const double *paper, *here;
    size_t n;
};
/* Draw both as lines over the labels, as an SVG of 800 wide. */
void draw_series(FILE *out, const struct svg_series *series);

#endif
