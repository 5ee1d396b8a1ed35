/* fuzz_input.h - bytes as a file, read through the whole input layer */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <neardup/input.h>
#include <neardup/text.h>

#include "base/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(int holds)
{
    if (!holds)
        abort();
}

/* The sum of a reading: equal readings have equal sums. */
struct sum {
    uint64_t records, documents, bytes, hash, problems, failures;
    uint64_t
        packed; /* records that are not in the file as they are: compressed, or in an archive */
};

static inline void sum_bytes(struct sum *s, const char *data, size_t len)
{
    s->hash = nd_mix64(s->hash ^ nd_hash_bytes(data, len)) + len;
}

static inline void sum_problem(void *context, const struct nd_problem *problem)
{
    struct sum *s = context;

    require(problem->message[0] && strlen(problem->message) < 4000);
    s->problems++;
    s->failures += problem->kind == ND_PROBLEM_FAILED;
}

/* A text in which something was replaced has U+FFFD. */
static inline void sum_replaced(struct sum *s, uint64_t replaced, struct nd_view text)
{
    require(!replaced || memmem(text.data, text.len, "\xEF\xBF\xBD", 3));
    s->hash = nd_mix64(s->hash + replaced);
}

/* Check every document. */
static inline void sum_document(struct sum *s, const struct nd_document *d)
{
    require(d->text.data && nd_utf8_valid(d->text.data, d->text.len));
    require((d->id_kind == ND_ID_NONE) == (d->id.data == NULL));
    require(d->id_kind == ND_ID_NONE || (d->id.len > 0 && nd_utf8_valid(d->id.data, d->id.len)));
    sum_bytes(s, d->text.data, d->text.len);
    sum_bytes(s, d->id.data ? d->id.data : "", d->id.len);
    sum_replaced(s, d->text_replaced, d->text);
    for (size_t i = 0; i < d->n_fields; i++) {
        sum_bytes(s, d->fields[i].value.data ? d->fields[i].value.data : "",
                  d->fields[i].value.len);
        if (d->fields_replaced)
            sum_replaced(s, d->fields_replaced[i], d->fields[i].value);
    }
    s->documents++;
}

static inline void sum_record(struct sum *s, struct nd_input *input, struct nd_parser *parser,
                              const struct nd_record *record)
{
    const struct nd_source *source = nd_input_source(input, record->source);
    struct nd_document d;
    struct nd_bad_record bad = {{0}};
    int status = nd_parser_parse(parser, source, record->bytes, &d, NULL, &bad);

    require(status == 0 || status == 1);
    if (status == 1)
        sum_document(s, &d);
    else
        require(bad.reason[0] && memchr(bad.reason, 0, sizeof bad.reason) != NULL);
    sum_bytes(s, record->bytes.data, record->bytes.len);
    s->records++;
    s->bytes += record->bytes.len;
    s->packed += source->archive || strcmp(source->compression, "none") != 0;
    if (source->is_rereadable) {
        char *again = NULL;
        size_t capacity = 0;

        require(nd_input_reread(input, record->source, record->offset, record->bytes.len, &again,
                                &capacity, NULL) == ND_OK);
        require(memcmp(again, record->bytes.data, record->bytes.len) == 0);
        free(again);
    }
}

/* Read `path` to its end in batches of about these sizes; *all gets the bytes of all records. */
static inline struct sum read_path(const char *path, const struct nd_input_options *o,
                                   size_t max_bytes, size_t max_records)
{
    struct sum s = {0};
    struct nd_input *input = nd_input_open(&path, 1, o, sum_problem, &s, NULL);
    struct nd_parser *parser = nd_parser_new(o, NULL);
    struct nd_batch batch = {0};
    int status;

    require(input && parser);
    while ((status = nd_input_read(input, max_bytes, max_records, &batch, NULL)) > 0) {
        require(batch.count > 0 && batch.count <= max_records);
        for (size_t i = 0; i < batch.count; i++)
            sum_record(&s, input, parser, &batch.records[i]);
        nd_parser_reset(parser);
    }
    require(status == 0);
    nd_batch_release(&batch);
    nd_parser_free(parser);
    nd_input_close(input);
    return s;
}

/* The bytes as a regular file, read in large and in small batches: the same either way. */
static inline struct sum read_bytes(const uint8_t *data, size_t size,
                                    const struct nd_input_options *o)
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    struct sum large, small;
    char path[40];

    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    large = read_path(path, o, 1 << 13, 1 << 13);
    small = read_path(path, o, 100, 3);
    require(memcmp(&large, &small, sizeof large) == 0);
    (void)close(fd);
    return large;
}

#endif
