/* cmd_dedup.c - neardup dedup: remove near-duplicates */
#include "report.h"

#include <stdio.h>
#include <unistd.h>

/* Without a name the input is the standard input, unless somebody sits there. */
bool use_standard_input(struct settings *s)
{
    if (s->run.n_paths)
        return true;
    if (isatty(STDIN_FILENO)) {
        say("no input: name files or folders, or - for standard input");
        return false;
    }
    if (!words_add(&s->paths, "-"))
        return false;
    s->run.paths = s->paths.at;
    s->run.n_paths = s->paths.count;
    return true;
}

int cmd_dedup(struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_run_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (!use_standard_input(s))
        return 2;
    if (!s->has_output && (s->run.output_dir || s->run.copy_to || s->run.link_to))
        s->run.output = NULL;
    status = nd_run_dedup(&s->run, &events, &summary, &err);
    report_end(&report);
    if (status == ND_OK && !s->quiet)
        print_summary(&summary);
    return report_run(s, status, &err, &summary, true);
}
