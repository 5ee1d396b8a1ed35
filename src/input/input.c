/* input.c - opening and closing an input, and what it tells of itself */
#include "input/formats/formats.h"
#include "input/input_limit.h"
#include "input/input_state.h"
#include "input/library/text_filter.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nd_input_options nd_input_options_default(void)
{
    static const char *const text[] = {"text"};

    return (struct nd_input_options){
        .format = ND_FORMAT_AUTO,
        .unit = ND_UNIT_FILE,
        .missing_text = ND_MISSING_SKIP,
        .text_format = ND_TEXT_PLAIN,
        .text_fields = text,
        .n_text_fields = 1,
        .id_field = "id",
        .filter_limits = {.seconds = 60,
                          .memory_bytes = UINT64_C(2) << 30,
                          .output_bytes = 64 << 20},
    };
}

void nd_report(const struct nd_problem_handler *r, enum nd_problem_kind kind, const char *format,
               ...)
{
    char message[2048];
    va_list args;

    if (!r->report)
        return;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    r->report(r->context, &(struct nd_problem){kind, message});
}

const char *nd_input_place(const struct nd_source *source, char *out, size_t capacity)
{
    (void)snprintf(out, capacity, "%s%s%s",
                   strcmp(source->path, "-") == 0 ? "(standard input)" : source->path,
                   source->entry ? "!" : "", source->entry ? source->entry : "");
    return out;
}

/* Copy the paths, because every nd_source refers to them and the caller's list may be freed. */
static bool copy_paths(struct nd_input *input, const char *const *paths, size_t n)
{
    input->given = nd_alloc_array(n, sizeof *input->given);
    if (!input->given)
        return false;
    for (size_t i = 0; i < n; i++) {
        input->given[i] = nd_arena_copy(&input->strings, paths[i], strlen(paths[i]) + 1);
        if (!input->given[i])
            return false;
    }
    input->n_given = n;
    return true;
}

static enum nd_status check_filters(const struct nd_input_options *o, struct nd_error *err)
{
    const struct nd_filter_limits *limits = &o->filter_limits;
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < o->n_filters; i++)
        status = nd_filter_check(o->filters[i], err);
    if (status == ND_OK && o->format == ND_FORMAT_FILTERED && o->n_filters != 1)
        status =
            nd_fail(err, ND_EINVAL, "format filtered: needs one filter, not %zu", o->n_filters);
    if (status == ND_OK && o->n_filters &&
        (!limits->seconds || limits->seconds > ND_FILTER_SECONDS_MAX || !limits->memory_bytes ||
         !limits->output_bytes || limits->output_bytes > ND_FILTER_OUTPUT_MAX))
        status = nd_fail(err, ND_EINVAL, "filter limits: one of them is 0, or too large");
    return status;
}

enum nd_status nd_input_options_check(const struct nd_input_options *o, struct nd_error *err)
{
    if (o->n_text_fields == 0 || !o->text_fields)
        return nd_fail(err, ND_EINVAL, "no text field is given");
    if (!o->id_field)
        return nd_fail(err, ND_EINVAL, "no id field is given");
    if ((unsigned)o->format >= ND_FORMAT_COUNT || (unsigned)o->unit > ND_UNIT_PARAGRAPH ||
        (unsigned)o->missing_text > ND_MISSING_EMPTY || (unsigned)o->text_format > ND_TEXT_HTML)
        return nd_fail(
            err, ND_EINVAL,
            "format %d, unit %d, missing text %d, text format %d: one of these values is unknown",
            (int)o->format, (int)o->unit, (int)o->missing_text, (int)o->text_format);
    if (o->part.of > ND_INPUT_PARTS_MAX ||
        (o->part.of && (o->part.number == 0 || o->part.number > o->part.of)))
        return nd_fail(err, ND_EINVAL, "part %u of %u: there is no such part", o->part.number,
                       o->part.of);
    if ((o->n_fields && !o->fields) || (o->n_globs && !o->globs) || (o->n_filters && !o->filters))
        return nd_fail(err, ND_EINVAL, "%s is NULL, but its count is not 0",
                       o->n_fields && !o->fields ? "fields"
                       : o->n_globs && !o->globs ? "globs"
                                                 : "filters");
    if (check_filters(o, err) != ND_OK)
        return err ? err->status : ND_EINVAL;
    if (o->charset && nd_format_row(o->format)->names_charset)
        return nd_fail(err, ND_EINVAL,
                       "charset: applies to plain text, CSV, TSV and JSON Lines; HTML and mail "
                       "declare their own");
    return o->charset ? nd_charset_check(o->charset, err) : ND_OK;
}

struct nd_input *nd_input_open(const char *const *paths, size_t n_paths,
                               const struct nd_input_options *options,
                               void (*report)(void *context, const struct nd_problem *problem),
                               void *context, struct nd_error *err)
{
    struct nd_input *input;

    if (n_paths == 0 || !paths) {
        nd_fail(err, ND_EINVAL, "no input is given");
        return NULL;
    }
    if (nd_input_options_check(options, err) != ND_OK)
        return NULL;
    input = calloc(1, sizeof *input);
    if (!input || !copy_paths(input, paths, n_paths)) {
        nd_input_close(input);
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    input->options = *options;
    input->on_problem = (struct nd_problem_handler){report, context};
    input->file.fd = -1;
    input->record_max = ND_RECORD_MAX;
    return input;
}

void nd_input_answer_pauses(struct nd_input *input)
{
    input->answers_pauses = true;
}

void nd_input_limit_records(struct nd_input *input, size_t bytes)
{
    input->record_max = bytes < ND_RECORD_MAX ? bytes : ND_RECORD_MAX;
    input->gives_skipped = true;
}

void nd_input_release(struct nd_input *input)
{
    nd_input_end(input);
    nd_unpack_ahead_free(input);
    nd_sources_release(&input->sources);
    free(input->paths.file);
    free(input->given);
    nd_charset_release(&input->charset);
    nd_arena_release(&input->strings);
    free(input);
}

void nd_input_close(struct nd_input *input)
{
    if (input && nd_handle_may_free(&input->handle))
        nd_input_release(input);
}

size_t nd_input_sources(const struct nd_input *input)
{
    return input->sources.count;
}

const struct nd_source *nd_input_source(const struct nd_input *input, uint32_t number)
{
    return number < input->sources.count ? &nd_sources_get(&input->sources, number)->source : NULL;
}

size_t nd_input_files(const struct nd_input *input)
{
    return input->paths.count;
}

struct nd_input_file *nd_input_file(const struct nd_input *input, size_t number)
{
    return number < input->paths.count ? &input->paths.file[number] : NULL;
}

void nd_input_progress(const struct nd_input *input, uint64_t *done, uint64_t *total)
{
    *done = atomic_load_explicit(&input->done, memory_order_relaxed);
    *total = atomic_load_explicit(&input->total, memory_order_relaxed);
}

enum nd_status nd_input_sample(struct nd_input *input, uint64_t bytes, struct nd_error *err)
{
    enum nd_status status = nd_input_list(input, err);

    if (status != ND_OK)
        return status;
    if (!input->paths.is_size_known && input->paths.missing)
        return nd_fail(err, ND_EIO, "%s: %s", input->paths.missing,
                       strerror(input->paths.why_missing));
    if (!input->paths.is_size_known)
        return nd_fail(err, ND_EINVAL,
                       "an input is no regular file, so its size is not known: a sample is drawn "
                       "from files only");
    nd_sampling_begin(&input->sampling, input->paths.bytes, bytes);
    return ND_OK;
}

const struct nd_sampling *nd_input_sampling(const struct nd_input *input)
{
    return &input->sampling;
}
