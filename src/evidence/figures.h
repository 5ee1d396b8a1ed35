/* figures.h - what is predicted of a run and measured by it, by the names that files use */
#ifndef ND_EVIDENCE_FIGURES_H
#define ND_EVIDENCE_FIGURES_H

#include <neardup/run.h>

#include "base/json_out.h"

/* nd_figure_name, nd_run_figure */
ND_API const char *nd_figure_word(enum nd_figure figure);
ND_API double nd_figure_of(const struct nd_run_summary *summary, enum nd_figure figure);

/* Append an object of all figures, each with its value and its interval; summary: beside what the
 * run measured; NULL: alone. */
ND_API void nd_figures_put(struct nd_json *out, const struct nd_forecast forecast[ND_FIGURES],
                           const struct nd_run_summary *summary);

#endif
