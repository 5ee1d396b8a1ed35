/* report.c - what a run tells: messages, bad records, progress, the summary */

/*
 * Everything that a run tells its user goes to standard error from here: messages as they come
 * (only the first few of each kind), the progress line, and the summary at the end. The exit status
 * follows from the outcome of the run.
 */
#include "report.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "color.h"
#include "file_list.h"
#include "print_figures.h"
#include "signals.h"

#include <neardup/index.h>
#include <neardup/terminal.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 20, BAR = 24 }; /* messages shown of each kind; width of the progress bar */

static bool line_is_up; /* the cursor is behind a progress line */

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

/* "neardup: " and the message; a warning says so itself. */
static void put_message(enum hue hue, const char *format, va_list arguments)
{
    static const char warning[] = "warning: ";
    char message[4096]; /* messages of the library are shorter */
    const char *rest = message;

    (void)vsnprintf(message, sizeof message, format, arguments);
    take_line_away();
    fprintf(stderr, "%sneardup: ", color_code(stderr, hue));
    if (strncmp(message, warning, sizeof warning - 1) == 0) {
        rest += sizeof warning - 1;
        fputs(warning, stderr);
    }
    fputs(color_code(stderr, HUE_PLAIN), stderr);
    put_name(rest);
    fputc('\n', stderr);
}

void say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    put_message(HUE_RED, format, arguments);
    va_end(arguments);
}

void caution(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    put_message(HUE_YELLOW, format, arguments);
    va_end(arguments);
}

void inform(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    put_message(HUE_BOLD, format, arguments);
    va_end(arguments);
}

static void tell_problem(void *context, const struct nd_problem *problem)
{
    struct report *r = context;
    char place[512];

    if (problem->kind == ND_PROBLEM_NOTE && r->settings->quiet)
        return;
    if (r->problems[problem->kind]++ >= SHOWN)
        return;
    if (problem->kind == ND_PROBLEM_WARNING)
        caution("warning: %s", problem->message);
    else if (problem->kind == ND_PROBLEM_NOTE)
        inform("%s", problem->message);
    else if (problem->kind == ND_PROBLEM_FAILED &&
             file_lists_place(r->settings, problem->message, place))
        say("%s: %s", place, problem->message);
    else
        say("%s", problem->message);
}

static void tell_bad_record(void *context, const char *place, const char *reason)
{
    struct report *r = context;

    if (r->bad_records++ < SHOWN)
        caution("%s: %s", place, reason);
}

const char *bytes_text(double bytes, char out[32])
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    int unit = 0;

    while (bytes >= 1000 && unit < 4) {
        bytes /= 1000;
        unit++;
    }
    if (bytes < 1e5)
        snprintf(out, 32, "%.*f %s", unit ? 1 : 0, bytes, units[unit]);
    else
        snprintf(out, 32, "%.3g %s", bytes, units[unit]);
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

/* The fraction of the run that is done; -1 if the size of the input is unknown. */
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

    bytes_text(p->seconds > 0 ? (double)p->bytes_unpacked / p->seconds : 0, rate);
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

/*
 * Show progress: on a terminal a line that is overwritten; elsewhere, if requested, a line every
 * ten seconds.
 */
static int show_progress(void *context, const struct nd_run_progress *progress)
{
    struct report *r = context;
    bool is_terminal = nd_descriptor_is_terminal(2);

    if (r->settings->quiet || (!is_terminal && !r->settings->progress) ||
        progress->seconds < r->next)
        return 0;
    r->next = progress->seconds + (is_terminal ? 0.2 : 10);
    print_progress(progress, is_terminal);
    return 0;
}

/* "mails.mbox", "12 inputs, the first of which is mails.mbox"; then what it lost, or would lose. */
static void put_replaced(const struct nd_run_replaced *r, const char *will)
{
    char gone[FIGURE_TEXT], records[FIGURE_TEXT];

    if (r->inputs > 1)
        fprintf(stderr, "%llu inputs, of which the first is ", (unsigned long long)r->inputs);
    put_name(r->first);
    fprintf(stderr, ": %s of %s record%s %s", grouped_text((double)r->gone, gone),
            grouped_text((double)r->records, records), r->records == 1 ? "" : "s", will);
}

/* Ask on the terminal; only "y" and "yes" agree. */
static int ask_to_replace(void *context, const struct nd_run_replaced *replaced)
{
    char answer[16] = "";

    (void)context;
    take_line_away();
    fputs("neardup: the result replaces ", stderr);
    put_replaced(replaced, "would be gone. Replace? [y/N] ");
    fflush(stderr);
    if (!fgets(answer, sizeof answer, stdin)) {
        fputc('\n', stderr);
        return 0;
    }
    answer[strcspn(answer, "\n")] = '\0';
    return nd_compare_caseless(answer, "y") == 0 || nd_compare_caseless(answer, "yes") == 0;
}

struct nd_run_events report_events(struct report *r)
{
    const bool can_ask = nd_descriptor_is_terminal(0) && nd_descriptor_is_terminal(2);

    return (struct nd_run_events){r, tell_problem, tell_bad_record, show_progress,
                                  can_ask ? ask_to_replace : NULL};
}

static void print_replaced(const struct nd_run_replaced *replaced)
{
    if (!replaced->inputs)
        return;
    fputs("Replaced\n  ", stderr);
    put_replaced(replaced, "are no longer there\n");
}

void report_replaced(const struct settings *s, const struct nd_use_summary *summary)
{
    if (s->quiet || !summary->replaced.inputs)
        return;
    fputs("neardup: replaced ", stderr);
    put_replaced(&summary->replaced, "are no longer there\n");
}

static void tell_rest(unsigned long long n, const char *what)
{
    if (n > SHOWN)
        inform("%llu %s in all; only the first %d are shown above", n, what, SHOWN);
}

void report_end(struct report *r)
{
    take_line_away();
    tell_rest(r->bad_records, "bad records");
    tell_rest(r->problems[ND_PROBLEM_WARNING], "warnings");
    tell_rest(r->problems[ND_PROBLEM_FAILED], "messages about inputs that failed");
}

/* Whether the command writes anything besides the standard output. */
static bool writes_elsewhere(const struct nd_run_options *o)
{
    static const char *const outputs[] = {"output-dir", "copy-to", "link-to", "manifest",
                                          "clusters",   "summary", "removed"};
    const char *name = nd_run_options_get(o, "output", 0);

    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (nd_run_options_get(o, outputs[i], 0))
            return true;
    return name && strcmp(name, "-") != 0;
}

static int failure(const struct settings *s, const struct nd_error *err,
                   const struct nd_use_summary *o)
{
    if (!writes_elsewhere(s->run))
        die_where_output_is_closed();
    say("%s", err->message);
    if (o->partly_published)
        say("stopped while publishing the outputs: some were published, others were not");
    else if (o->wrote_in_place)
        say("stopped; no file was published, but what was written to a pipe or a device cannot be "
            "undone");
    else
        say("stopped; nothing was published");
    return 2;
}

/* "12 records", "1 record". */
static void count_text(uint64_t n, const char *what, char out[64])
{
    snprintf(out, 64, "%llu %s%s", (unsigned long long)n, what, n == 1 ? "" : "s");
}

static int left_out(const struct nd_use_summary *o)
{
    char records[64], inputs[64];

    count_text(o->left_out, "bad record", records);
    count_text(o->failed_inputs, "input", inputs);
    if (o->left_out && o->failed_inputs)
        caution("done, but %s and (parts of) %s that failed were left out", records, inputs);
    else if (o->left_out)
        caution("done, but %s %s left out", records, o->left_out == 1 ? "was" : "were");
    else
        caution("done, but (parts of) %s that failed %s left out", inputs,
                o->failed_inputs == 1 ? "was" : "were");
    return 3;
}

int report_use(const struct settings *s, enum nd_status status, const struct nd_error *err,
               const struct nd_use_summary *summary)
{
    if (status != ND_OK)
        return failure(s, err, summary);
    if (summary->left_out || summary->failed_inputs)
        return left_out(summary);
    return summary->found ? 0 : 1;
}

struct nd_use_summary summary_of_run(const struct nd_run_summary *summary, bool found)
{
    return (struct nd_use_summary){.documents = summary->documents,
                                   .left_out = summary->left_out,
                                   .failed_inputs = summary->failed_inputs,
                                   .partly_published = summary->partly_published,
                                   .wrote_in_place = summary->wrote_in_place,
                                   .found = found};
}

int report_run(const struct settings *s, enum nd_status status, const struct nd_error *err,
               const struct nd_run_summary *summary, bool found)
{
    const struct nd_use_summary short_one = summary_of_run(summary, found);

    return report_use(s, status, err, &short_one);
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* The line above some rows. */
static void heading(const char *text)
{
    fprintf(stderr, "%s%s%s\n", color_code(stderr, HUE_BOLD), text, color_code(stderr, HUE_PLAIN));
}

static void row(const char *name, uint64_t value)
{
    fprintf(stderr, "  %-22s %12llu\n", name, (unsigned long long)value);
}

static void row_of(const char *name, uint64_t value, uint64_t whole)
{
    fprintf(stderr, "  %-22s %12llu  %5.1f%%\n", name, (unsigned long long)value,
            percent(value, whole));
}

/* Print a line only if the count is not 0. */
static void row_if(const char *name, uint64_t value)
{
    if (value)
        row(name, value);
}

/* Print a line about what was left out. */
static void bad_row_if(const char *name, uint64_t value)
{
    if (!value)
        return;
    fputs(color_code(stderr, HUE_YELLOW), stderr);
    row(name, value);
    fputs(color_code(stderr, HUE_PLAIN), stderr);
}

static void print_kind(const struct nd_run_kind *kind)
{
    const char *format = kind->is_sketched                ? "sketches"
                         : kind->format == ND_FORMAT_AUTO ? "nothing"
                         : kind->format == ND_FORMAT_TEXT ? "text"
                                                          : nd_format_name(kind->format);
    char size[32];

    fputs("  ", stderr);
    put_name(kind->first);
    if (kind->sources > 1)
        fprintf(stderr, " and %llu more", (unsigned long long)(kind->sources - 1));
    fprintf(stderr, ": %s%s", format,
            kind->is_container && kind->format == ND_FORMAT_TEXT ? " in parts" : "");
    if (strcmp(kind->compression, "none") != 0)
        fprintf(stderr, ", %s", kind->compression);
    if (kind->archive[0])
        fprintf(stderr, ", in %s", kind->archive);
    fprintf(stderr, ", %llu record%s", (unsigned long long)kind->records,
            kind->records == 1 ? "" : "s");
    if (!kind->is_sketched)
        fprintf(stderr, ", %s", bytes_text((double)kind->bytes, size));
    fputc('\n', stderr);
}

static void print_inputs(const struct nd_run_summary *s)
{
    heading("Inputs and their formats");
    for (size_t i = 0; i < s->n_kinds; i++)
        print_kind(&s->kinds[i]);
    if (s->other_sources)
        fprintf(stderr, "  and %llu of other kinds\n", (unsigned long long)s->other_sources);
}

static void print_counts(const struct nd_run_summary *s)
{
    heading("Documents");
    row("read", s->documents);
    if (s->documents && !s->lists_pairs) {
        row_of(s->filters     ? "match no prototype"
               : s->annotates ? "not duplicates"
                              : "kept",
               s->kept, s->documents);
        row_of(s->filters     ? "match a prototype"
               : s->annotates ? "duplicates"
                              : "removed",
               s->removed, s->documents);
    }
    if (s->documents && !s->lists_pairs && !s->applies) {
        row_of("  equal bytes", s->identical_bytes, s->documents);
        row_of("  equal words", s->identical_tokens, s->documents);
        row_of("  near", s->near, s->documents);
    }
    if (s->documents && !s->lists_pairs && !s->filters && !s->applies)
        row("clusters", s->clusters);
    if (s->filters)
        row("prototypes", s->prototypes);
    if (s->lists_pairs)
        row("pairs", s->pairs);
    row_if("near misses", s->near_misses);
    row_if("never duplicates", s->never_documents);
    row_if("without words", s->empty_documents);
    row_if("shorter than a shingle", s->short_documents);
    row_if("without signatures", s->unsigned_documents);
    row_if("candidates cut", s->cut_documents);
    row_if("not listed in full bands", s->crowded_documents);
    row_if("seen before", s->seen_documents);
    row_if("of these, met", s->seen_met);
    row_if("added to what was seen", s->appended);
    bad_row_if("bad records", s->bad_records);
    bad_row_if("inputs that failed", s->failed_inputs);
    row_if("invalid UTF-8 repaired", s->repaired);
    row_if(s->ids_full ? "repeated ids, at least" : "repeated ids", s->double_ids);
}

/*
 * Print the histogram of resemblances: several columns on each line, as wide as the largest count.
 */
static void print_measured(const struct nd_run_summary *s)
{
    enum { COLUMNS = 8 };
    uint64_t most = 0;
    int width = 6;

    if (!s->measured_by || !s->near)
        return;
    for (size_t i = 0; i < s->n_measured; i++)
        most = s->measured[i].documents > most ? s->measured[i].documents : most;
    for (uint64_t limit = 1000000; most >= limit && width < 18; limit *= 10)
        width++;
    fprintf(stderr, "%sNear %s, by %s%s\n", color_code(stderr, HUE_BOLD),
            s->annotates ? "duplicates"
            : s->filters ? "matches"
                         : "documents removed",
            s->measured_by, color_code(stderr, HUE_PLAIN));
    for (size_t from = 0, to; from < s->n_measured; from = to) {
        to = from + COLUMNS < s->n_measured ? from + COLUMNS : s->n_measured;
        fputs(" ", stderr);
        for (size_t i = from; i < to; i++)
            fprintf(stderr, " %*.4g", width, s->measured[i].from);
        fputs(to > 1 ? "  or more\n " : "\n ", stderr);
        for (size_t i = from; i < to; i++)
            fprintf(stderr, " %*llu", width, (unsigned long long)s->measured[i].documents);
        fputs("\n", stderr);
    }
    if (!s->lost_runs && !s->annotates && !s->filters)
        fputs("Runs lost: 0; each of a removed document stands in the one kept for it\n", stderr);
}

static void print_largest(const struct nd_run_summary *s)
{
    if (!s->n_largest)
        return;
    heading("Largest clusters");
    for (size_t i = 0; i < s->n_largest; i++)
        fprintf(stderr, "  %12llu  %s\n", (unsigned long long)s->largest[i].documents,
                s->largest[i].id);
}

static void print_quoted(const struct nd_run_summary *s)
{
    if (!s->n_quoted)
        return;
    heading("Documents that match some of");
    for (size_t i = 0; i < s->n_quoted; i++) {
        fprintf(stderr, "  %12llu  ", (unsigned long long)s->quoted[i].documents);
        put_name(s->quoted[i].name[0] ? s->quoted[i].name : "(no value)");
        fprintf(stderr, " (%llu)\n", (unsigned long long)s->quoted[i].prototypes);
    }
    if (s->other_quoted)
        fprintf(stderr, "  and %llu others\n", (unsigned long long)s->other_quoted);
}

void print_curve(FILE *out, const struct nd_run_summary *s)
{
    static const double at[] = {0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95};

    if ((!s->bands && !s->sample) || !s->documents)
        return;
    fprintf(out, "Chance that %s, ",
            s->is_verified ? "a pair is compared" : "the sketches of a pair match");
    if (s->sample)
        fprintf(out, "%u of a sample of %u shingles\n ", s->sample_least, s->sample);
    else
        fprintf(out, "%u bands of %u\n ", s->bands, s->rows);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        fprintf(out, " %6.2f", at[i]);
    fprintf(out, "  %s\n ", s->curve_of);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        fprintf(out, " %6.4f", nd_run_recall(s, at[i]));
    fprintf(out, "\n  unrelated documents (%s %.2f): %.2g, so %.2g candidates a document\n",
            s->curve_of, ND_RUN_UNRELATED, nd_run_recall(s, ND_RUN_UNRELATED), s->unrelated);
    if (s->unrelated > 1)
        fprintf(out,
                "  warning: unrelated documents become candidates, and each such pair %s; a higher "
                "threshold or a "
                "lower --recall %s\n",
                s->is_verified ? "is compared" : "counts as a duplicate",
                s->is_verified ? "is faster" : "helps");
}

/* How much, in which time, and how fast: in bytes; of sketches in documents, as they have no texts. */
static void print_rate(const struct nd_run_summary *s)
{
    double seconds = s->seconds > 0 ? s->seconds : 1e-9;
    char all[FIGURE_TEXT], rate[FIGURE_TEXT];

    if (s->bytes || !s->documents)
        fprintf(stderr, "  %s in %.2f s: %s/s", bytes_text((double)s->bytes, all), s->seconds,
                bytes_text((double)s->bytes / seconds, rate));
    else
        fprintf(stderr, "  %s documents in %.2f s: %s/s", grouped_text((double)s->documents, all),
                s->seconds, grouped_text((double)s->documents / seconds, rate));
    fprintf(stderr, ", %u thread%s\n", s->threads, s->threads == 1 ? "" : "s");
}

static void print_work(const struct nd_run_summary *s)
{
    char peak[32], index[32];

    heading("Work");
    print_rate(s);
    if (s->applies) {
        fprintf(stderr, "  peak memory %s\n", bytes_text((double)s->peak_bytes, peak));
        return;
    }
    fprintf(stderr, "  %llu candidate%s", (unsigned long long)s->candidates,
            s->candidates == 1 ? "" : "s");
    if (s->is_verified)
        fprintf(stderr, ", %llu of them compared exactly\n", (unsigned long long)s->checks);
    else
        fputs(", none compared exactly\n", stderr);
    /*
     * Reserved memory that was never written to takes no physical memory yet, so the index may
     * exceed the peak.
     */
    fprintf(stderr, "  peak memory %s; the index reserved %s\n",
            bytes_text((double)s->peak_bytes, peak), bytes_text((double)s->index_bytes, index));
}

/* Warn of results that rest on sketches alone, except equal documents. */
static void print_unverified(const struct nd_run_summary *s)
{
    if (s->is_verified || s->applies)
        return;
    if (s->lists_pairs && s->pairs)
        fputs("NOT VERIFIED: the sketches of these pairs match; the texts were not compared\n",
              stderr);
    else if (s->near)
        fprintf(stderr,
                "NOT VERIFIED: %llu of the documents %s matched a kept one only by "
                "sketches; the texts were not compared\n",
                (unsigned long long)s->near, s->annotates ? "marked as duplicates" : "removed");
}

void print_summary(const struct nd_run_summary *s)
{
    print_unverified(s);
    print_inputs(s);
    print_counts(s);
    print_measured(s);
    print_largest(s);
    print_quoted(s);
    print_replaced(&s->replaced);
    print_curve(stderr, s);
    print_work(s);
    print_forecast(s);
}
