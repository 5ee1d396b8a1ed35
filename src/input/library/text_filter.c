/* text_filter.c - which program makes text of which kind of file: the user's, and ready-made ones */
#include "input/library/text_filter.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/c_functions.h"
#include "base/system/naming.h"
#include "base/system/run_program.h"

/*
 * Each was chosen because it is small, writes UTF-8 whatever the locale is, and ends with a status
 * that is not 0 for what it cannot read.  odt2txt wants a file with a name; the document is a file,
 * so /dev/stdin names it.
 */
static const struct nd_input_filter READY[] = {
    {"pdf", "PDF files", "pdftotext -q -enc UTF-8 -nopgbrk - -", "pdftotext", "poppler-utils", 0},
    {"docx", "Word files", "docx2txt - -", "docx2txt", "docx2txt", 0},
    {"odt", "OpenDocument texts", "odt2txt --encoding=UTF-8 --width=-1 /dev/stdin", "odt2txt",
     "odt2txt", 0},
    {"epub", "EPUB books", "pandoc -f epub -t plain --wrap=none", "pandoc", "pandoc", 0},
};
enum { N_READY = sizeof READY / sizeof *READY };

/* Whether a program of this name is in a folder of PATH. */
static bool is_installed(const char *program)
{
    const char *path = getenv("PATH");
    char file[4096];

    for (const char *at = path ? path : "/usr/bin:/bin"; *at; at += strspn(at, ":")) {
        size_t len = strcspn(at, ":");

        if (len + strlen(program) + 2 <= sizeof file) {
            memcpy(file, at, len);
            file[len] = '/';
            memcpy(file + len + 1, program, strlen(program) + 1);
            if (nd_path_is_program(file))
                return true;
        }
        at += len;
    }
    return false;
}

int nd_input_filter(size_t i, struct nd_input_filter *row)
{
    if (i >= N_READY)
        return 0;
    *row = READY[i];
    row->is_installed = is_installed(row->program);
    return 1;
}

static const struct nd_input_filter *find_ready(const char *name)
{
    for (size_t i = 0; i < N_READY; i++)
        if (nd_compare_caseless(READY[i].name, name) == 0)
            return &READY[i];
    return NULL;
}

/* ---- One filter as a user writes it ---- */

/* The endings that a filter is for, separated by commas, and its command. */
struct endings {
    const char *list;
    size_t len;
    const char *command;
};

/* False: it is neither of the form EXT:COMMAND nor the name of a ready-made filter. */
static bool split_filter(const char *filter, struct endings *e)
{
    const char *colon = strchr(filter, ':');
    const struct nd_input_filter *ready = colon ? NULL : find_ready(filter);

    if (!colon && !ready)
        return false;
    *e = (struct endings){filter, colon ? (size_t)(colon - filter) : strlen(filter),
                          colon ? colon + 1 + strspn(colon + 1, " \t") : ready->command};
    return true;
}

/* Take the next ending off the list, without a dot before it; false: there is none. */
static bool next_ending(struct endings *e, const char **ending, size_t *len)
{
    size_t to;

    if (!e->len)
        return false;
    to = strcspn(e->list, ",:");
    *ending = e->list + (*e->list == '.' ? 1 : 0);
    *len = to - (*e->list == '.' ? 1 : 0);
    to += to < e->len ? 1 : 0;
    e->list += to;
    e->len -= to;
    return true;
}

static enum nd_status no_filter(const char *filter, struct nd_error *err)
{
    return nd_fail(err, ND_EINVAL,
                   "filter: '%.80s' is none of pdf, docx, odt, epub; another one has the form "
                   "EXT:COMMAND, as pdf:pdftotext - -",
                   filter);
}
_Static_assert(N_READY == 4, "the message names the ready-made filters");

enum nd_status nd_filter_check(const char *filter, struct nd_error *err)
{
    struct endings e;
    const char *ending;
    size_t len, n = 0;

    if (!split_filter(filter, &e))
        return no_filter(filter, err);
    if (!*e.command)
        return nd_fail(err, ND_EINVAL, "filter: '%.80s' has no command", filter);
    while (next_ending(&e, &ending, &len)) {
        if (!len || memchr(ending, '/', len) || memchr(ending, ' ', len))
            return nd_fail(err, ND_EINVAL,
                           "filter: '%.80s' does not name the endings of files before its colon",
                           filter);
        n++;
    }
    return n ? ND_OK
             : nd_fail(err, ND_EINVAL,
                       "filter: '%.80s' does not name the endings of files before its colon",
                       filter);
}

/* Whether a name, up to `end`, has something before a dot, and then this ending. */
static bool ends_in(const char *name, const char *end, const char *ending, size_t len)
{
    return (size_t)(end - name) > len + 1 && end[-1 - (ptrdiff_t)len] == '.' &&
           nd_compare_caseless_n(end - len, ending, len) == 0;
}

const char *nd_filter_of_name(const struct nd_input_options *options, const char *name,
                              const char *end)
{
    for (size_t i = options->n_filters; i-- > 0;) {
        struct endings e;
        const char *ending;
        size_t len;

        if (!split_filter(options->filters[i], &e))
            continue;
        while (next_ending(&e, &ending, &len))
            if (ends_in(name, end, ending, len))
                return e.command;
    }
    return NULL;
}

const char *nd_filter_only(const struct nd_input_options *options)
{
    struct endings e;

    return options->n_filters == 1 && split_filter(options->filters[0], &e) ? e.command : NULL;
}

const char *nd_filter_package(const char *command)
{
    for (size_t i = 0; i < N_READY; i++)
        if (READY[i].command == command)
            return READY[i].package;
    return NULL;
}

/* ---- One run ---- */

static bool take_text(void *text, const char *bytes, size_t n)
{
    return nd_buffer_append(text, bytes, n);
}

int nd_filter_run(const char *command, struct nd_view document,
                  const struct nd_filter_limits *limits, struct nd_buffer *text, char *reason,
                  size_t reason_bytes)
{
    enum { SHOWN_BYTES = 60 };
    const char *package = nd_filter_package(command);
    char missing[80], why[200];
    const struct nd_program program = {.command = command,
                                       .document = document.data,
                                       .document_len = document.len,
                                       .seconds = limits->seconds,
                                       .memory_bytes = limits->memory_bytes,
                                       .output_bytes = limits->output_bytes,
                                       .if_missing = package ? missing : NULL,
                                       .take = take_text,
                                       .context = text};
    int status;

    (void)snprintf(missing, sizeof missing, "is not installed: Debian's package %s brings it",
                   package ? package : "");
    status = nd_program_run(&program, why, sizeof why);
    if (status == 0)
        (void)snprintf(reason, reason_bytes, "the filter '%.*s%s' %s", SHOWN_BYTES, command,
                       strlen(command) > SHOWN_BYTES ? "…" : "", why);
    return status < 0 ? ND_ENOMEM : status;
}

void nd_filter_abandon(void)
{
    nd_programs_abandon();
}

/* ---- Limits ---- */

/* A number with K, M or G behind it where `takes_units`.  False: it is none, or 0. */
static bool read_number(const char *text, size_t len, bool takes_units, uint64_t *number)
{
    static const char units[] = "KMG";
    uint64_t n = 0;
    size_t i = 0;

    for (; i < len && text[i] >= '0' && text[i] <= '9' && n < 100000000; i++)
        n = 10 * n + (uint64_t)(text[i] - '0');
    if (i == 0)
        return false;
    if (takes_units && i + 1 == len && strchr(units, text[i]))
        n <<= 10 * (strchr(units, text[i++]) - units + 1);
    *number = n;
    return i == len && n > 0;
}

enum nd_status nd_filter_limits_parse(const char *text, struct nd_filter_limits *limits,
                                      struct nd_error *err)
{
    struct nd_filter_limits read = *limits;
    const char *at = text;

    do {
        size_t len = strcspn(at, ","), name = strcspn(at, "=,");
        const char *value = at + name + 1;
        size_t value_len = name < len ? len - name - 1 : 0;
        uint64_t n = 0;
        bool is_time = name == 4 && memcmp(at, "time", 4) == 0;
        bool is_memory = name == 6 && memcmp(at, "memory", 6) == 0;
        bool is_output = name == 6 && memcmp(at, "output", 6) == 0;

        if (!(is_time || is_memory || is_output) || !value_len ||
            !read_number(value, value_len, !is_time, &n) ||
            (is_time && n > ND_FILTER_SECONDS_MAX) || (is_output && n > ND_FILTER_OUTPUT_MAX))
            return nd_fail(err, ND_EINVAL,
                           "filter-limits: '%.80s' does not have the form "
                           "time=SECONDS,memory=SIZE,output=SIZE, as time=60,memory=2G,output=64M "
                           "(at most %d seconds and 1G of output)",
                           text, ND_FILTER_SECONDS_MAX);
        if (is_time)
            read.seconds = (unsigned)n;
        else if (is_memory)
            read.memory_bytes = n;
        else
            read.output_bytes = n;
        at += len + (at[len] == ',' ? 1 : 0);
        if (!*at)
            break;
    } while (true);
    *limits = read;
    return ND_OK;
}
