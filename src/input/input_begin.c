/* input_begin.c - deciding what a stream holds, and beginning to cut records from it */
#include "input/input_state.h"

#include "base/system/descriptor.h"
#include "input/formats/formats.h"
#include "input/formats/lines.h"
#include "input/library/libxml_load.h"

#include <string.h>

enum { KEPT_OPEN_MAX = 64 }; /* containers whose descriptor is kept for reading again */

static size_t detect_bytes(const struct nd_input *input)
{
    const struct nd_open_file *f = &input->file;

    if (!f->is_regular || f->unpacked || f->entries || f->stored->size >= ND_DETECT_BYTES)
        return ND_DETECT_BYTES;
    return (size_t)f->stored->size + 1;
}

struct head_wanted {
    const struct nd_input *input;
    enum nd_head_part part;
};

/* Check that the format depends on no more than the first line. */
static bool is_format_sure(const struct nd_input *input, const char *head, size_t len)
{
    const struct nd_open_file *f = &input->file;
    enum nd_format named = nd_detect_format_by_name(f->entry ? f->entry : f->path);

    return input->options.format != ND_FORMAT_AUTO ||
           (named != ND_FORMAT_AUTO && named != ND_FORMAT_TEXT) ||
           nd_detect_has_line_format(head, len, &input->options);
}

static bool is_head_enough(const void *context, const char *head, size_t len)
{
    enum { MAGIC_BYTES = 16 };
    const struct head_wanted *w = context;

    if (!w->input->answers_pauses)
        return false;
    if (w->part == ND_HEAD_COMPRESSION && len >= MAGIC_BYTES &&
        nd_detect_compression(head, len) != ND_COMPRESSION_NONE)
        return nd_file_stream_pauses(w->input->file.stored);
    return nd_detect_has_line(head, len) &&
           (w->part != ND_HEAD_FORMAT || is_format_sure(w->input, head, len)) &&
           nd_file_stream_pauses(w->input->file.stored);
}

bool nd_input_peek_head(const struct nd_input *input, struct nd_stream *stream,
                        enum nd_head_part part, const char **head, size_t *len)
{
    const struct head_wanted wanted = {input, part};

    return nd_stream_peek_until(stream, detect_bytes(input), is_head_enough, &wanted, head, len);
}

/* Decide the format: by the option, otherwise by the name, otherwise by the first bytes. */
static enum nd_format choose_format(struct nd_input *input, const char *head, size_t len)
{
    const struct nd_open_file *f = &input->file;
    enum nd_format named = nd_detect_format_by_name(f->entry ? f->entry : f->path), found;

    if (input->options.format != ND_FORMAT_AUTO)
        return input->options.format;
    found = nd_detect_format(head, len, &input->options);
    if (input->options.no_mail && nd_format_row(found)->is_mail)
        found = ND_FORMAT_AUTO;
    if (found == ND_FORMAT_JSONFEED && nd_detect_is_named_json(f->entry ? f->entry : f->path))
        return found;
    if (named != ND_FORMAT_AUTO && found != ND_FORMAT_AUTO && named != found)
        nd_input_problem(input, ND_PROBLEM_WARNING,
                         "is named like %s but looks like %s; reading it as %s",
                         nd_format_name(named), nd_format_name(found), nd_format_name(named));
    if (named == ND_FORMAT_AUTO)
        named = found;
    if (named == ND_FORMAT_AUTO &&
        input->options.unit == ND_UNIT_FILE) /* nothing says that it is text */
        named = nd_detect_any_table(head, len, len < detect_bytes(input));
    if (named == ND_FORMAT_AUTO)
        named = ND_FORMAT_TEXT;
    if (named == ND_FORMAT_TEXT && memchr(head, 0, len) &&
        (input->options.binary == ND_BINARY_TEXT ||
         (!nd_detect_early_nul(head, len) && !nd_detect_binary(head, len))))
        nd_input_problem(input, ND_PROBLEM_WARNING, "contains NUL bytes; reading it as plain text");
    return named;
}

/* Why nothing can be read in this format; NULL: it can. */
static const char *find_mistake(const struct nd_input *input, enum nd_format format,
                                const char *head, size_t len)
{
    const struct nd_format_row *row = nd_format_row(format);
    const char *missing = NULL;

    if (input->options.no_mail && row->is_mail)
        return "is mail, which is not read with --no-mail";
    if (row->find_missing)
        missing = row->find_missing();
    if (!missing && row->has_fields && input->options.text_format == ND_TEXT_HTML)
        missing = nd_libxml_load();
    return !missing && row->find_mistake ? row->find_mistake(head, len) : missing;
}

static void describe_source(struct nd_input *input, struct nd_source_kept *kept,
                            enum nd_format format)
{
    struct nd_open_file *f = &input->file;
    struct nd_source *s = &kept->source;

    s->path = f->path;
    s->file = f->known;
    if (f->entries)
        kept->header = nd_archive_reader_headers(f->entries, &kept->before);
    s->entry = f->entry;
    s->format = format;
    s->compression =
        nd_compression_name(f->entry_compression ? f->entry_compression : f->compression);
    s->archive = nd_archive_name(f->archive);
    s->is_container = nd_format_cut(format, input->options.unit) != &nd_cut_whole;
    if (f->recoded && s->is_container)
        f->known->lacks_rewritten = "its encoding, UTF-16,";
    if (f->entry_compression)
        f->known->lacks_rewritten = "the compression of files in it";
    s->filter = format == ND_FORMAT_FILTERED ? f->filter : NULL;
    s->is_rereadable = f->is_regular && !f->unpacked && !f->entries && !f->recoded;
    kept->size = (uint64_t)f->st.bytes;
    kept->seconds = f->st.seconds;
    kept->nanoseconds = f->st.nanoseconds;
    if (s->is_container && s->is_rereadable && input->sources.kept_open < KEPT_OPEN_MAX) {
        input->sources.kept_open++;
        kept->fd = f->fd;
        f->fd = -1; /* the stream still reads from it; it is closed with the input */
    }
}

/* UTF-16 with a byte order mark is converted to UTF-8 before anything else is examined. */
static bool recode(struct nd_input *input, struct nd_stream **stream)
{
    const char *head;
    size_t len;

    if (!nd_stream_peek(*stream, 2, &head, &len))
        return false;
    if (len < 2 || (memcmp(head, "\xFF\xFE", 2) != 0 && memcmp(head, "\xFE\xFF", 2) != 0))
        return true;
    nd_input_problem(input, ND_PROBLEM_WARNING, "is UTF-16; converting its records to UTF-8");
    *stream = input->file.recoded = nd_utf16_stream_new(*stream);
    return *stream != NULL;
}

/* By its byte order mark, which begins like that of UTF-16. */
static bool is_utf32(const char *head, size_t len)
{
    return len >= 4 &&
           (memcmp(head, "\xFF\xFE\0\0", 4) == 0 || memcmp(head, "\0\0\xFE\xFF", 4) == 0);
}

/* Why this is not read as text; NULL: it is. */
static const struct nd_binary_kind *find_binary(const struct nd_input *input, enum nd_format format,
                                                const char *head, size_t len)
{
    const struct nd_binary_kind *kind;

    if (input->options.binary == ND_BINARY_TEXT || input->file.recoded)
        return NULL;
    kind = nd_detect_binary(head, len);
    if (input->answers_pauses && !input->file.is_regular && input->options.format == ND_FORMAT_TEXT)
        return kind; /* when a NUL comes must not matter */
    return !kind && format == ND_FORMAT_TEXT ? nd_detect_early_nul(head, len) : kind;
}

static int refuse(struct nd_input *input, const char *mistake)
{
    nd_input_problem(input, ND_PROBLEM_FAILED, "%s", mistake);
    return 0;
}

/* Begin a source whose format is known, and whose byte order mark has `mark` bytes. */
static int begin_source(struct nd_input *input, struct nd_stream *stream, enum nd_format format,
                        size_t mark)
{
    struct nd_open_source *from = &input->from;

    *from = (struct nd_open_source){.stream = stream};
    from->source = nd_sources_add(&input->sources);
    if (!from->source)
        return ND_ENOMEM;
    from->number = (uint32_t)(input->sources.count - 1);
    from->cutter.cut = nd_format_cut(format, input->options.unit);
    from->cutter.tags = input->options.tags;
    from->line = from->cutter.cut == &nd_cut_whole ? 0 : 1;
    from->needs_header = nd_format_row(format)->has_header;
    describe_source(input, from->source, format);
    from->source->source.is_unicode =
        mark > 0 || input->file.recoded != NULL || format == ND_FORMAT_FILTERED;
    if (from->cutter.cut != &nd_cut_whole && mark) {
        nd_stream_skip(stream, mark);
        from->offset = mark;
        from->has_mark = true;
    }
    return 1;
}

int nd_input_begin_source(struct nd_input *input, struct nd_stream *stream)
{
    const char *head, *mistake;
    const struct nd_binary_kind *binary;
    enum nd_format format;
    size_t len, mark;

    if (input->file.filter)
        return begin_source(input, stream, ND_FORMAT_FILTERED, 0);
    if (!nd_stream_peek(stream, 4, &head, &len))
        return ND_ENOMEM;
    if (is_utf32(head, len))
        return refuse(input,
                      "is UTF-32, which is not supported: convert it (iconv -f UTF-32 -t UTF-8)");
    if (!recode(input, &stream) || !nd_input_peek_head(input, stream, ND_HEAD_FORMAT, &head, &len))
        return ND_ENOMEM;
    mark = nd_mark_len(head, len);
    format = choose_format(input, head, len);
    binary = find_binary(input, format, head, len);
    if (binary)
        return nd_input_refuse_binary(input, binary);
    mistake = find_mistake(input, format, head + mark, len - mark);
    if (mistake)
        return refuse(input, mistake);
    return begin_source(input, stream, format, mark);
}
