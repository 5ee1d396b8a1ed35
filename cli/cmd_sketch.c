/* cmd_sketch.c - neardup sketch: what a document's sketches are */
#include "report.h"

int cmd_sketch(struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_run_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (!use_standard_input(s))
        return 2;
    status = nd_run_sketch(&s->run, &events, &summary, &err);
    report_end(&report);
    return report_run(s, status, &err, &summary, true);
}
