/* report.c - messages, bad records and progress on standard error */
#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAD_RECORDS_SHOWN = 20, BAR = 24 };

static bool line_is_up; /* a progress line stands without its newline */

static void take_line_away(void)
{
    if (line_is_up)
        fputs("\r\033[K", stderr);
    line_is_up = false;
}

void put_name(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        bool c1 = c[0] == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0;

        fputc(*c < 0x20 || *c == 0x7F || c1 ? '?' : *c, stderr);
        c += c1;
    }
}

void say(const char *format, ...)
{
    char message[4096]; /* the library's are shorter */
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    take_line_away();
    fputs("neardup: ", stderr);
    put_name(message);
    fputc('\n', stderr);
}

static void tell_problem(void *context, const struct nd_problem *problem)
{
    struct report *r = context;

    if (problem->kind == ND_PROBLEM_NOTE && r->settings->quiet)
        return;
    say("%s%s", problem->kind == ND_PROBLEM_WARNING ? "warning: " : "", problem->message);
}

static void tell_bad_record(void *context, const char *place, const char *reason)
{
    struct report *r = context;

    if (r->bad_records++ < BAD_RECORDS_SHOWN)
        say("%s: %s", place, reason);
}

const char *bytes_text(double bytes, char out[32])
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    int unit = 0;

    while (bytes >= 1000 && unit < 4) {
        bytes /= 1000;
        unit++;
    }
    snprintf(out, 32, "%.*f %s", unit ? 1 : 0, bytes, units[unit]);
    return out;
}

/* "1:02:03" or "2:03". */
static const char *time_text(double seconds, char out[32])
{
    unsigned long s = seconds < 1e7 ? (unsigned long)(seconds + 0.5) : 9999999;

    if (s >= 3600)
        snprintf(out, 32, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, 32, "%lu:%02lu", s / 60, s % 60);
    return out;
}

/* Share of the whole run that is done, or -1 where the input's size is not known. */
static double share_done(const struct nd_run_progress *p)
{
    double share;

    if (p->pass_total)
        share = (double)p->pass_done / (double)p->pass_total;
    else if (p->bytes_total)
        share = (double)p->bytes_done / (double)p->bytes_total;
    else
        return -1;
    return (p->pass - 1 + (share < 1 ? share : 1)) / p->passes;
}

static void print_progress(const struct nd_run_progress *p, bool is_terminal)
{
    double done = share_done(p);
    char bar[BAR + 1], rate[32], left[32], seconds[32];

    bytes_text(p->seconds > 0 ? (double)p->bytes_done / p->seconds : 0, rate);
    if (is_terminal)
        fputs("\r\033[K", stderr);
    if (is_terminal && done >= 0) {
        int filled = (int)(done * BAR);

        for (int i = 0; i < BAR; i++)
            bar[i] = i < filled ? '#' : '.';
        bar[BAR] = '\0';
        fprintf(stderr, "[%s] %3.0f%%  ", bar, floor(done * 100));
    } else if (done >= 0) {
        fprintf(stderr, "neardup: %3.0f%%, ", floor(done * 100));
    } else if (!is_terminal) {
        fputs("neardup: ", stderr);
    }
    fprintf(stderr, "%llu documents", (unsigned long long)p->documents);
    if (p->pass == 1)
        fprintf(stderr, ", %s/s", rate);
    if (p->passes > 1)
        fprintf(stderr, ", pass %u of %u", p->pass, p->passes);
    if (done > 0.01)
        fprintf(stderr, ", %s left", time_text(p->seconds * (1 - done) / done, left));
    else
        fprintf(stderr, ", %s", time_text(p->seconds, seconds));
    if (!is_terminal)
        fputc('\n', stderr);
    fflush(stderr);
    line_is_up = is_terminal;
}

/* A line that changes on a terminal; elsewhere, where asked for, one line every ten seconds. */
static int show_progress(void *context, const struct nd_run_progress *progress)
{
    struct report *r = context;
    bool is_terminal = isatty(STDERR_FILENO);

    if (r->settings->quiet || (!is_terminal && !r->settings->progress) ||
        progress->seconds < r->next)
        return 0;
    r->next = progress->seconds + (is_terminal ? 0.2 : 10);
    print_progress(progress, is_terminal);
    return 0;
}

struct nd_run_events report_events(struct report *r)
{
    return (struct nd_run_events){r, tell_problem, tell_bad_record, show_progress};
}

void report_end(struct report *r)
{
    take_line_away();
    if (r->bad_records > BAD_RECORDS_SHOWN)
        say("%llu bad records in all, the first %d of which are named above", r->bad_records,
            BAD_RECORDS_SHOWN);
}

int report_failure(const struct nd_error *err)
{
    say("%s", err->message);
    say("stopped; nothing was published");
    return 2;
}

int report_partial(const struct nd_error *err)
{
    say("%s", err->message);
    say("stopped while the outputs were given their names: some are published, others are not");
    return 2;
}

static int failed_inputs(uint64_t n)
{
    if (!n)
        return 0;
    say("outputs are complete but for %llu input%s that failed, named above", (unsigned long long)n,
        n == 1 ? "" : "s");
    return 2;
}

int report_failed_inputs(const struct nd_run_summary *s)
{
    return failed_inputs(s->failed_inputs);
}

int report_use(const struct nd_use_summary *s, uint64_t found)
{
    int failed = failed_inputs(s->failed_inputs);

    return failed ? failed : found ? 0 : 1;
}
