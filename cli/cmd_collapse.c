/* cmd_collapse.c - neardup collapse: a ranked list to one result a cluster */
#include "report.h"

int cmd_collapse(struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_use_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (!use_standard_input(s))
        return 2;
    status = nd_run_collapse(&s->run, &s->use.collapse, &events, &summary, &err);
    report_end(&report);
    return report_use(s, status, &err, &summary, summary.documents);
}
