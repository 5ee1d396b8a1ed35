/* cmd_filter.c - neardup filter: a stream against prototypes */
#include "report.h"

#include <neardup/result_file.h>

#include <stdio.h>

/* --count goes to --output too; that this is no input the run has seen. */
static enum nd_status write_count(const struct settings *s, uint64_t found, struct nd_error *err)
{
    struct nd_result_file *file;
    enum nd_status status =
        nd_result_file_open(&file, s->run.output ? s->run.output : "-", NULL, 0, err);

    if (status != ND_OK)
        return status;
    fprintf(nd_result_file_stream(file), "%llu\n", (unsigned long long)found);
    return nd_result_file_publish(file, err);
}

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
    if (status == ND_OK && s->use.filter == ND_FILTER_NOTHING)
        status = write_count(s, summary.found, &err);
    return report_use(s, status, &err, &summary,
                      s->use.filter == ND_FILTER_OTHERS ? summary.documents - summary.found
                                                        : summary.found);
}
