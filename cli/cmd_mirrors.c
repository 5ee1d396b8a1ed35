/* cmd_mirrors.c - neardup mirrors: pairs of hosts */
#include "report.h"

int cmd_mirrors(struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_use_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (!use_standard_input(s))
        return 2;
    status = nd_run_mirrors(&s->run, &s->use.mirrors, &events, &summary, &err);
    report_end(&report);
    return report_use(s, status, &err, &summary, summary.found);
}
