/* report.c - messages, bad records and progress on standard error */
#include "report.h"
#include "signals.h"

#include <neardup/terminal.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 20, BAR = 24 }; /* of bad records, warnings and failed inputs each */

static bool line_is_up; /* a progress line stands without its newline */

static void take_line_away(void)
{
    if (line_is_up)
        fputs("\r\033[K", stderr);
    line_is_up = false;
}

void put_name(const char *text)
{
    for (size_t left = strlen(text), n; left; text += n, left -= n) {
        int is_control;

        n = nd_terminal_character(text, left, &is_control);
        if (is_control)
            fputc('?', stderr);
        else
            fwrite(text, 1, n, stderr);
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
    if (r->problems[problem->kind]++ >= SHOWN)
        return;
    say("%s%s", problem->kind == ND_PROBLEM_WARNING ? "warning: " : "", problem->message);
}

static void tell_bad_record(void *context, const char *place, const char *reason)
{
    struct report *r = context;

    if (r->bad_records++ < SHOWN)
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

static void tell_rest(unsigned long long n, const char *what)
{
    if (n > SHOWN)
        say("%llu %s in all, the first %d of which are named above", n, what, SHOWN);
}

void report_end(struct report *r)
{
    take_line_away();
    tell_rest(r->bad_records, "bad records");
    tell_rest(r->problems[ND_PROBLEM_WARNING], "warnings");
    tell_rest(r->problems[ND_PROBLEM_FAILED], "messages of inputs that failed");
}

/* Whether what the command writes to standard output is all that it writes. */
static bool writes_elsewhere(const struct nd_run_options *o)
{
    return (o->output && strcmp(o->output, "-") != 0) || o->output_dir || o->copy_to ||
           o->link_to || o->manifest || o->clusters || o->summary || o->removed;
}

static int failure(const struct settings *s, const struct nd_error *err, const struct outcome *o)
{
    if (!writes_elsewhere(&s->run))
        die_where_output_is_closed();
    say("%s", err->message);
    if (o->partly_published)
        say("stopped while the outputs were given their names: some are published, others are not");
    else if (o->wrote_in_place)
        say("stopped; no file was published, but what was written to a pipe or a device cannot be "
            "taken back");
    else
        say("stopped; nothing was published");
    return 2;
}

/* "12 records", "1 record". */
static void count_text(uint64_t n, const char *what, char out[64])
{
    snprintf(out, 64, "%llu %s%s", (unsigned long long)n, what, n == 1 ? "" : "s");
}

static int left_out(const struct outcome *o)
{
    char records[64], inputs[64];

    count_text(o->left_out, "bad record", records);
    count_text(o->failed_inputs, "input", inputs);
    if (o->left_out && o->failed_inputs)
        say("done, but %s and (parts of) %s that failed were left out", records, inputs);
    else if (o->left_out)
        say("done, but %s %s left out", records, o->left_out == 1 ? "was" : "were");
    else
        say("done, but (parts of) %s that failed %s left out", inputs,
            o->failed_inputs == 1 ? "was" : "were");
    return 3;
}

int report_outcome(const struct settings *s, enum nd_status status, const struct nd_error *err,
                   const struct outcome *o)
{
    if (status != ND_OK)
        return failure(s, err, o);
    if (o->left_out || o->failed_inputs)
        return left_out(o);
    return o->found ? 0 : 1;
}

int report_run(const struct settings *s, enum nd_status status, const struct nd_error *err,
               const struct nd_run_summary *summary, bool found)
{
    const struct outcome o = {summary->left_out, summary->failed_inputs,
                              summary->partly_published != 0, summary->wrote_in_place != 0, found};

    return report_outcome(s, status, err, &o);
}

int report_use(const struct settings *s, enum nd_status status, const struct nd_error *err,
               const struct nd_use_summary *summary, uint64_t found)
{
    const struct outcome o = {summary->left_out, summary->failed_inputs,
                              summary->partly_published != 0, summary->wrote_in_place != 0,
                              found != 0};

    return report_outcome(s, status, err, &o);
}
