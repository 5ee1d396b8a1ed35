/* input_files.c - opening one file after the other and finding out what each of them is */
#define _GNU_SOURCE
#include "input/input_state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { KEPT_OPEN_MAX = 64 }; /* containers whose descriptor stays for reading again */

static void problem(const struct nd_input *input, enum nd_problem_kind kind, const char *what)
{
    const char *path = input->file.path;

    nd_report(&input->reporter, kind, "%s: %s", strcmp(path, "-") == 0 ? "(standard input)" : path,
              what);
}

static void close_file(struct nd_input *input)
{
    struct nd_open_file *f = &input->file;

    if (f->stored)
        input->finished += f->stored->consumed;
    nd_stream_close(f->unpacked);
    if (f->stored)
        nd_stream_close(&f->stored->stream);
    if (f->fd > 0)
        (void)close(f->fd);
    *f = (struct nd_open_file){.fd = -1};
}

void nd_input_end_source(struct nd_input *input)
{
    struct nd_open_source *from = &input->from;

    if (from->source) {
        from->source->source.bytes = from->offset;
        if (input->file.stored)
            from->source->source.bytes_hash = nd_hash_stream_value(input->file.stored->hash);
    }
    *from = (struct nd_open_source){0};
    close_file(input);
}

/* Open the file itself: 1, 0 (reported), ND_ENOMEM. */
static int open_stored(struct nd_input *input, const char *path)
{
    struct nd_open_file *f = &input->file;
    bool is_stdin = strcmp(path, "-") == 0;

    *f = (struct nd_open_file){.path = path, .fd = is_stdin ? STDIN_FILENO : -1};
    if (!is_stdin)
        f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (f->fd < 0 || fstat(f->fd, &f->st) != 0) {
        problem(input, ND_PROBLEM_FAILED, strerror(errno));
        return 0;
    }
    f->is_regular = S_ISREG(f->st.st_mode) && !is_stdin;
    if (f->is_regular)
        (void)posix_fadvise(f->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    f->stored = nd_file_stream_new(f->fd, f->is_regular, (uint64_t)f->st.st_size);
    return f->stored ? 1 : ND_ENOMEM;
}

/* Put the decompressor on top that the first bytes ask for. */
static int open_unpacked(struct nd_input *input)
{
    struct nd_open_file *f = &input->file;
    enum nd_compression named = nd_detect_compression_by_name(f->path);
    const char *head;
    size_t len;

    if (!nd_stream_peek(&f->stored->stream, ND_DETECT_BYTES, &head, &len))
        return ND_ENOMEM;
    f->compression = nd_detect_compression(head, len);
    if (named != ND_COMPRESSION_NONE && len == 0) {
        problem(input, ND_PROBLEM_FAILED, "is empty: no compressed data");
        return 0;
    }
    if (named != ND_COMPRESSION_NONE && named != f->compression)
        nd_report(&input->reporter, ND_PROBLEM_WARNING,
                  "%s: is named as %s but its compression is %s", f->path,
                  nd_compression_name(named), nd_compression_name(f->compression));
    if (f->compression == ND_COMPRESSION_NONE)
        return 1;
    f->unpacked = nd_gzip_stream_new(&f->stored->stream);
    return f->unpacked ? 1 : ND_ENOMEM;
}

/* What the file is: by the option, else by its name, else by its first bytes. */
static enum nd_format choose_format(struct nd_input *input, const char *name, const char *head,
                                    size_t len)
{
    enum nd_format named = nd_detect_format_by_name(name), found;

    if (input->options.format != ND_FORMAT_AUTO)
        return input->options.format;
    found = nd_detect_format(head, len, &input->options);
    if (named == ND_FORMAT_AUTO)
        return found == ND_FORMAT_AUTO ? ND_FORMAT_TEXT : found;
    return named;
}

static enum nd_cut_mode cut_mode(enum nd_format format, enum nd_unit unit)
{
    switch (format) {
    case ND_FORMAT_JSONL:
    case ND_FORMAT_TSV: return ND_CUT_LINES;
    case ND_FORMAT_CSV: return ND_CUT_CSV;
    case ND_FORMAT_TEXT:
        return unit == ND_UNIT_LINE        ? ND_CUT_ALL_LINES
               : unit == ND_UNIT_PARAGRAPH ? ND_CUT_PARAGRAPHS
                                           : ND_CUT_WHOLE;
    default: return ND_CUT_WHOLE;
    }
}

static void describe_source(struct nd_input *input, struct nd_source_kept *kept,
                            enum nd_format format)
{
    struct nd_open_file *f = &input->file;
    struct nd_source *s = &kept->source;

    s->path = f->path;
    s->format = format;
    s->compression = nd_compression_name(f->compression);
    s->archive = nd_archive_name(f->archive);
    s->is_container = cut_mode(format, input->options.unit) != ND_CUT_WHOLE;
    s->is_rereadable = f->is_regular && !f->unpacked;
    kept->size = (uint64_t)f->st.st_size;
    kept->time = f->st.st_mtim;
    if (s->is_container && s->is_rereadable && input->sources.kept_open < KEPT_OPEN_MAX) {
        input->sources.kept_open++;
        kept->fd = f->fd;
        f->fd = -1; /* the stream still reads from it; it is closed with the input */
    }
}

/* Begin to cut records from `stream`: 1, ND_ENOMEM. */
static int begin_source(struct nd_input *input, struct nd_stream *stream, const char *name)
{
    struct nd_open_source *from = &input->from;
    enum nd_format format;
    const char *head;
    size_t len;

    if (!nd_stream_peek(stream, ND_DETECT_BYTES, &head, &len))
        return ND_ENOMEM;
    format = choose_format(input, name, head, len);
    *from = (struct nd_open_source){.stream = stream};
    from->source = nd_sources_add(&input->sources);
    if (!from->source)
        return ND_ENOMEM;
    from->number = (uint32_t)(input->sources.count - 1);
    from->cutter.mode = cut_mode(format, input->options.unit);
    from->line = from->cutter.mode == ND_CUT_WHOLE ? 0 : 1;
    from->needs_header = format == ND_FORMAT_CSV || format == ND_FORMAT_TSV;
    describe_source(input, from->source, format);
    if (from->cutter.mode != ND_CUT_WHOLE && len >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0) {
        nd_stream_skip(stream, 3);
        from->offset = 3;
        from->has_mark = true;
    }
    return 1;
}

static int open_next_file(struct nd_input *input)
{
    struct nd_open_file *f = &input->file;
    int status = open_stored(input, input->paths.path[input->next_path++].path);

    if (status == 1)
        status = open_unpacked(input);
    if (status == 1)
        status = begin_source(input, f->unpacked ? f->unpacked : &f->stored->stream, f->path);
    if (status != 1)
        close_file(input);
    return status;
}

int nd_input_next_source(struct nd_input *input)
{
    while (input->next_path < input->paths.count) {
        int status = open_next_file(input);

        if (status != 0)
            return status;
    }
    return 0;
}
