/* cmd_template.c - neardup template: what a cluster shares */
#include "report.h"

int cmd_template(struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_use_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (!use_standard_input(s))
        return 2;
    status = nd_run_template(&s->run, &s->use.template, &events, &summary, &err);
    report_end(&report);
    return report_use(s, status, &err, &summary, summary.found);
}
