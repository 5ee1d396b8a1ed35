/* print_figures.c - what plan predicts and dedup measures, as people read it */
#include "print_figures.h"
#include "report.h"

#include <math.h>
#include <stdio.h>

/* "1,234,567" */
const char *grouped_text(double value, char out[FIGURE_TEXT])
{
    char digits[FIGURE_TEXT];
    int n = snprintf(digits, sizeof digits, "%.0f", value), to = 0;

    for (int i = 0; i < n && to < FIGURE_TEXT - 2; i++) {
        if (i && (n - i) % 3 == 0)
            out[to++] = ',';
        out[to++] = digits[i];
    }
    out[to] = '\0';
    return out;
}

/* "3.25 s", "12:03" or "1:02:03". */
const char *seconds_text(double seconds, char out[FIGURE_TEXT])
{
    unsigned long s = (unsigned long)(fmin(seconds, 1e12) + 0.5);

    if (seconds < 100)
        snprintf(out, FIGURE_TEXT, "%.2f s", seconds);
    else if (s < 3600)
        snprintf(out, FIGURE_TEXT, "%lu:%02lu", s / 60, s % 60);
    else
        snprintf(out, FIGURE_TEXT, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    return out;
}

const char *figure_text(enum nd_figure figure, double value, char out[FIGURE_TEXT])
{
    switch (figure) {
    case ND_FIGURE_DOCUMENTS:
    case ND_FIGURE_LOADS: return grouped_text(value, out);
    case ND_FIGURE_BYTES:
    case ND_FIGURE_PEAK_BYTES:
    case ND_FIGURE_SPILLED_BYTES:
    case ND_FIGURE_SPOOL_BYTES: return bytes_text(value, out);
    case ND_FIGURE_REMOVED:
    case ND_FIGURE_IDENTICAL_BYTES:
    case ND_FIGURE_IDENTICAL_TOKENS:
    case ND_FIGURE_NEAR: snprintf(out, FIGURE_TEXT, "%.2f%%", 100 * value); break;
    case ND_FIGURE_CANDIDATES: snprintf(out, FIGURE_TEXT, "%.4g", value); break;
    case ND_FIGURE_PROCESSOR_SECONDS:
    case ND_FIGURE_SECONDS: return seconds_text(value, out);
    }
    return out;
}

bool is_of_limits(enum nd_figure figure)
{
    return figure == ND_FIGURE_SPILLED_BYTES || figure == ND_FIGURE_LOADS;
}

const char *figure_label(enum nd_figure figure)
{
    static const char *const labels[ND_FIGURES] = {
        [ND_FIGURE_DOCUMENTS] = "documents",
        [ND_FIGURE_BYTES] = "bytes",
        [ND_FIGURE_REMOVED] = "removed",
        [ND_FIGURE_IDENTICAL_BYTES] = "  equal bytes",
        [ND_FIGURE_IDENTICAL_TOKENS] = "  equal words",
        [ND_FIGURE_NEAR] = "  near",
        [ND_FIGURE_CANDIDATES] = "candidates a document",
        [ND_FIGURE_PROCESSOR_SECONDS] = "processor time",
        [ND_FIGURE_SECONDS] = "time",
        [ND_FIGURE_PEAK_BYTES] = "peak memory",
        [ND_FIGURE_SPOOL_BYTES] = "texts in --tmp",
        [ND_FIGURE_SPILLED_BYTES] = "other files in --tmp",
        [ND_FIGURE_LOADS] = "loads",
    };

    return labels[figure];
}

/* "+12%", or of shares the difference: "+0.4 points"; "exact" where there is none. */
static const char *error_text(enum nd_figure figure, double predicted, double measured,
                              char out[FIGURE_TEXT])
{
    bool is_share = figure >= ND_FIGURE_REMOVED && figure <= ND_FIGURE_NEAR;

    if (predicted == measured)
        snprintf(out, FIGURE_TEXT, "exact");
    else if (measured > 0)
        snprintf(out, FIGURE_TEXT, "%+.1f%%", 100 * (predicted / measured - 1));
    else
        snprintf(out, FIGURE_TEXT, "%s", is_share ? "none was found" : "none was needed");
    return out;
}

void print_forecast(const struct nd_run_summary *s)
{
    char predicted[FIGURE_TEXT], measured[FIGURE_TEXT], error[FIGURE_TEXT];

    if (!s->has_forecast)
        return;
    fprintf(stderr, "Prediction %25s %16s   off by\n", "predicted", "measured");
    for (int i = 0; i < ND_FIGURES; i++) {
        enum nd_figure figure = (enum nd_figure)i;
        double value = s->forecast[i].value, actual = nd_run_figure(s, figure);

        if (is_of_limits(figure) && value == 0 && actual == 0)
            continue;
        fprintf(stderr, "  %-22s %12s %16s   %s\n", figure_label(figure),
                figure_text(figure, value, predicted), figure_text(figure, actual, measured),
                error_text(figure, value, actual, error));
    }
}
