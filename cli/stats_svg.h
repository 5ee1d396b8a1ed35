/* stats_svg.h - the figures of index stats, drawn */
#ifndef CLI_STATS_SVG_H
#define CLI_STATS_SVG_H

#include <stdio.h>

#include <neardup/hamming_stats.h>

/* Two bar charts, one below the other, as an SVG of 800 by 760. */
void draw_stats(FILE *out, const struct nd_hamming_stats *stats);

#endif
