/* figures.c - what is predicted of a run and measured by it, by the names that files use */
#include "evidence/figures.h"

const char *nd_figure_word(enum nd_figure figure)
{
    static const char *const words[ND_FIGURES] = {
        [ND_FIGURE_DOCUMENTS] = "documents",
        [ND_FIGURE_BYTES] = "bytes",
        [ND_FIGURE_REMOVED] = "removed",
        [ND_FIGURE_IDENTICAL_BYTES] = "identical_bytes",
        [ND_FIGURE_IDENTICAL_TOKENS] = "identical_tokens",
        [ND_FIGURE_NEAR] = "near",
        [ND_FIGURE_CANDIDATES] = "candidates",
        [ND_FIGURE_PROCESSOR_SECONDS] = "processor_seconds",
        [ND_FIGURE_SECONDS] = "seconds",
        [ND_FIGURE_PEAK_BYTES] = "peak_bytes",
        [ND_FIGURE_SPOOL_BYTES] = "spool_bytes",
        [ND_FIGURE_SPILLED_BYTES] = "spilled_bytes",
        [ND_FIGURE_LOADS] = "loads",
    };

    return words[figure];
}

static double share(uint64_t part, uint64_t documents)
{
    return documents ? (double)part / (double)documents : 0;
}

double nd_figure_of(const struct nd_run_summary *s, enum nd_figure figure)
{
    switch (figure) {
    case ND_FIGURE_DOCUMENTS: return (double)s->documents;
    case ND_FIGURE_BYTES: return (double)s->bytes;
    case ND_FIGURE_REMOVED: return share(s->removed, s->documents);
    case ND_FIGURE_IDENTICAL_BYTES: return share(s->identical_bytes, s->documents);
    case ND_FIGURE_IDENTICAL_TOKENS: return share(s->identical_tokens, s->documents);
    case ND_FIGURE_NEAR: return share(s->near, s->documents);
    case ND_FIGURE_CANDIDATES: return share(s->candidates, s->documents);
    case ND_FIGURE_PROCESSOR_SECONDS: return s->processor_seconds;
    case ND_FIGURE_SECONDS: return s->seconds;
    case ND_FIGURE_PEAK_BYTES: return (double)s->peak_bytes;
    case ND_FIGURE_SPOOL_BYTES: return (double)s->spool_bytes;
    case ND_FIGURE_SPILLED_BYTES: return (double)s->spilled_bytes;
    case ND_FIGURE_LOADS: return (double)s->loads;
    }
    return 0;
}

void nd_figures_put(struct nd_json *out, const struct nd_forecast forecast[ND_FIGURES],
                    const struct nd_run_summary *summary)
{
    nd_json_open(out, '{');
    for (int i = 0; i < ND_FIGURES; i++) {
        nd_json_key(out, nd_figure_word((enum nd_figure)i));
        nd_json_open(out, '{');
        nd_json_put_double(out, "value", forecast[i].value);
        nd_json_put_double(out, "low", forecast[i].low);
        nd_json_put_double(out, "high", forecast[i].high);
        if (summary)
            nd_json_put_double(out, "measured", nd_figure_of(summary, (enum nd_figure)i));
        nd_json_close(out, '}');
    }
    nd_json_close(out, '}');
}
