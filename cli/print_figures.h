/* print_figures.h - what plan predicts and dedup measures, as people read it */
#ifndef CLI_PRINT_FIGURES_H
#define CLI_PRINT_FIGURES_H

#include <stdbool.h>

#include <neardup/run.h>

enum { FIGURE_TEXT = 48 };

/* A figure that only a run with a limit of memory has. */
bool is_of_limits(enum nd_figure figure);

/* "peak memory" */
const char *figure_label(enum nd_figure figure);
/* "12.3 MB", "4.50%" …; returns out. */
const char *figure_text(enum nd_figure figure, double value, char out[FIGURE_TEXT]);

/* "1,234,567", and "3.25 s", "12:03" or "1:02:03". */
const char *grouped_text(double value, char out[FIGURE_TEXT]);
const char *seconds_text(double seconds, char out[FIGURE_TEXT]);

/* A table to standard error: what was predicted of the run, what it measured, and the difference. */
void print_forecast(const struct nd_run_summary *s);

#endif
