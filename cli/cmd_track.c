/* cmd_track.c - neardup track: versions of documents over time */
#include "report.h"

int cmd_track(struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_use_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (!use_standard_input(s))
        return 2;
    status = nd_run_track(&s->run, &s->use.track, &events, &summary, &err);
    report_end(&report);
    return report_use(s, status, &err, &summary, summary.documents);
}
