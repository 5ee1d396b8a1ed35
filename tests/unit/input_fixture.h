/* input_fixture.h - a directory of files to read, and what reading them gave */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef TESTS_INPUT_FIXTURE_H
#define TESTS_INPUT_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <neardup/input.h>

#include "base/hash.h"
#include "base/memory.h"

/* The current directory of a test is its own, made by fixture_enter and removed by fixture_leave.
 */
static inline int fixture_enter(void **state)
{
    char *path = strdup("/tmp/neardup-test-XXXXXX");

    *state = path;
    return !path || !mkdtemp(path) || chdir(path);
}

static inline int fixture_leave(void **state)
{
    char command[300];

    (void)snprintf(command, sizeof command, "chmod -R u+rwx '%s'; rm -rf '%s'", (char *)*state,
                   (char *)*state);
    free(*state);
    return chdir("/") || system(command);
}

static inline void write_file(const char *path, const void *data, size_t len)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static inline void write_text(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

static inline void run(const char *command)
{
    if (system(command) != 0)
        fail_msg("cannot run: %s", command);
}

static inline char *slurp(const char *path, size_t *len)
{
    struct nd_buffer b = {0};
    FILE *f = fopen(path, "rb");
    char piece[1 << 16];
    size_t n;

    assert_non_null(f);
    while ((n = fread(piece, 1, sizeof piece, f)) > 0)
        assert_true(nd_buffer_append(&b, piece, n));
    (void)fclose(f);
    *len = b.len;
    assert_true(nd_buffer_reserve(&b, b.len));
    return b.data;
}

/* All that reading gave, as text: one line a record, one a problem. */
struct reading {
    struct nd_buffer records;  /* the bytes of all records */
    struct nd_buffer log;      /* "place:line[id]{text}" of documents, "place:line bad: reason" */
    struct nd_buffer problems; /* "warning: …", "failed: …" */
    size_t n_records, n_documents, n_bad, n_warnings, n_failures, n_batches;
    uint64_t repaired;
};

static inline void put(struct nd_buffer *b, const char *format, ...)
{
    static char line[1 << 16];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n >= (int)sizeof line)
        n = sizeof line - 1;
    assert_true(nd_buffer_append(b, line, (size_t)n));
}

static inline void note_problem(void *context, const struct nd_problem *problem)
{
    struct reading *r = context;
    static const char *const kind[] = {[ND_PROBLEM_WARNING] = "warning",
                                       [ND_PROBLEM_FAILED] = "failed",
                                       [ND_PROBLEM_NOTE] = "note"};

    r->n_failures += problem->kind == ND_PROBLEM_FAILED;
    r->n_warnings += problem->kind == ND_PROBLEM_WARNING;
    put(&r->problems, "%s: %s\n", kind[problem->kind], problem->message);
}

static inline void note_document(struct reading *r, const struct nd_source *s,
                                 const struct nd_record *record, const struct nd_document *d)
{
    put(&r->log, "%s%s%s", s->path, s->entry ? "!" : "", s->entry ? s->entry : "");
    if (record->line)
        put(&r->log, ":%d", (int)record->line);
    if (d->id_kind != ND_ID_NONE)
        put(&r->log, d->id_kind == ND_ID_RAW ? "[%.*s]" : "['%.*s']", (int)d->id.len, d->id.data);
    put(&r->log, "{%.*s}", (int)(d->text.len > 200 ? 200 : d->text.len), d->text.data);
    for (size_t i = 0; i < d->n_fields; i++)
        put(&r->log, " %.*s=%.*s", (int)d->fields[i].name.len, d->fields[i].name.data,
            d->fields[i].value.data ? (int)d->fields[i].value.len : 1,
            d->fields[i].value.data ? d->fields[i].value.data : "-");
    put(&r->log, "\n");
}

static inline void note_batch(struct reading *r, struct nd_input *input, struct nd_parser *parser,
                              const struct nd_batch *batch)
{
    size_t bytes = 0;

    for (size_t i = 0; i < batch->count; i++) {
        const struct nd_record *record = &batch->records[i];
        const struct nd_source *source = nd_input_source(input, record->source);
        struct nd_document d;
        struct nd_bad_record bad;
        int status = nd_parser_parse(parser, source, record->bytes, &d, &r->repaired, &bad);

        assert_true(status >= 0);
        bytes += record->bytes.len;
        assert_true(nd_buffer_append(&r->records, record->bytes.data, record->bytes.len));
        if (status == 1)
            note_document(r, source, record, &d);
        else
            put(&r->log, "%s:%d bad: %s\n", source->path, (int)record->line, bad.reason);
        r->n_documents += status == 1;
        r->n_bad += status == 0;
    }
    assert_int_equal(bytes, batch->bytes);
    r->n_records += batch->count;
    r->n_batches++;
    nd_parser_reset(parser);
}

static inline void close_reading(struct reading *r)
{
    nd_buffer_release(&r->records);
    nd_buffer_release(&r->log);
    nd_buffer_release(&r->problems);
    *r = (struct reading){0};
}

/* Read all of the paths (NULL at the end) in batches of at most these sizes. */
static inline void read_all(struct reading *r, const char *const *paths,
                            const struct nd_input_options *options, size_t max_bytes,
                            size_t max_records)
{
    struct nd_parser *parser = nd_parser_new(options, NULL);
    struct nd_batch batch = {0};
    struct nd_input *input;
    size_t n = 0;
    int status;

    while (paths[n])
        n++;
    input = nd_input_open(paths, n, options, note_problem, r, NULL);
    assert_non_null(input);
    assert_non_null(parser);
    while ((status = nd_input_read(input, max_bytes, max_records, &batch, NULL)) > 0) {
        assert_true(batch.count <= (max_records ? max_records : 1));
        note_batch(r, input, parser, &batch);
    }
    assert_int_equal(status, 0);
    put(&r->log, "%s", "");
    put(&r->problems, "%s", "");
    assert_true(nd_buffer_reserve(&r->log, r->log.len));
    assert_true(nd_buffer_reserve(&r->problems, r->problems.len));
    nd_batch_release(&batch);
    nd_input_close(input);
    nd_parser_free(parser);
}

static inline void assert_log(const struct reading *r, const char *expected)
{
    assert_string_equal(r->log.data, expected);
}

static inline void assert_problems(const struct reading *r, const char *expected)
{
    assert_string_equal(r->problems.data ? r->problems.data : "", expected);
}

/* The usual: defaults, read, compare. */
static inline void expect(const struct nd_input_options *options, const char *path, const char *log,
                          const char *problems)
{
    struct reading r = {0};

    read_all(&r, (const char *const[]){path, NULL}, options, 1 << 20, 1000);
    assert_log(&r, log);
    assert_problems(&r, problems);
    close_reading(&r);
}

#endif
