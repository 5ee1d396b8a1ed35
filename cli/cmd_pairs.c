/* cmd_pairs.c - neardup pairs: every pair, with its evidence */
#include "report.h"

#include <stdio.h>

int cmd_pairs(struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_run_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (!use_standard_input(s))
        return 2;
    status = nd_run_pairs(&s->run, &events, &summary, &err);
    report_end(&report);
    if (status == ND_OK && !s->quiet)
        print_summary(&summary);
    return report_run(s, status, &err, &summary, summary.pairs > 0);
}
