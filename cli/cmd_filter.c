/* cmd_filter.c - neardup filter: a stream against prototypes */
#include "report.h"

#include <stdio.h>

int cmd_filter(struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_use_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (!s->use.prototypes.count) {
        say("filter wants --prototypes FILE; see neardup help filter");
        return 2;
    }
    if (s->use.json && s->use.filter != ND_FILTER_ROWS) {
        say("--json is for --annotate; see neardup help filter");
        return 2;
    }
    if (s->run.output_dir && s->use.filter == ND_FILTER_NOTHING) {
        say("--count writes nothing to --output-dir; see neardup help filter");
        return 2;
    }
    if (!use_standard_input(s))
        return 2;
    if (!s->has_output && s->run.output_dir)
        s->run.output = NULL;
    status = nd_run_filter(&s->run, s->use.prototypes.at, s->use.prototypes.count, s->use.filter,
                           &events, &summary, &err);
    report_end(&report);
    if (status != ND_OK)
        return report_failure(&err);
    if (s->use.filter == ND_FILTER_NOTHING) {
        printf("%llu\n", (unsigned long long)summary.found);
        if (close_output())
            return 2;
    }
    return report_use(&summary, s->use.filter == ND_FILTER_OTHERS
                                    ? summary.documents - summary.found
                                    : summary.found);
}
