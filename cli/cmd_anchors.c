/* cmd_anchors.c - neardup anchors: what the links of pages say of the pages that they lead to */
#include "report.h"

int cmd_anchors(struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_use_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (s->paths.count == 0) {
        say("anchors wants files or folders: they are read three times");
        return 2;
    }
    status = nd_run_anchors(&s->run, &s->use.anchors, &events, &summary, &err);
    report_end(&report);
    return report_use(s, status, &err, &summary, summary.found);
}
