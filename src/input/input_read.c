/*
 * input_read.c - batches of records from one source after the other, with the header of tables; and
 * one record once more, from a file that must still be what it was
 */
#include "base/system/descriptor.h"
#include "base/system/threads.h"
#include "base/view.h"
#include "input/formats/field_list.h"
#include "input/formats/formats.h"
#include "input/formats/lines.h"
#include "input/formats/table_row.h"
#include "input/input_ahead.h"
#include "input/input_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- The first row of CSV and TSV: kept, and asked for its columns ---- */

enum { COLUMNS_MEASURED = 64, ROWS_MEASURED = 100 };

/* Decode the row to UTF-8. */
static bool decode(struct nd_input *input, struct nd_view *row)
{
    return !input->options.charset || input->from.source->source.is_unicode ||
           nd_charset_decode(&input->charset, input->options.charset, *row, &input->strings, row,
                             NULL);
}

/* 1: there is a column with that name; 0: there is none; ND_ENOMEM. */
static int find_column(struct nd_input *input, struct nd_view row, const char *name)
{
    enum nd_format format = input->from.source->source.format;
    struct nd_view rest = nd_line_without_end(row), raw, value;

    while (nd_row_next(format, &rest, &raw)) {
        if (!nd_cell_value(format, raw, &input->strings, &value))
            return ND_ENOMEM;
        if (nd_view_is(value, name))
            return 1;
    }
    return 0;
}

/* Add up the bytes in each column of the first rows of `sample`. */
static void measure_columns(enum nd_format format, struct nd_view sample,
                            uint64_t sum[COLUMNS_MEASURED])
{
    struct nd_cutter cutter = {.cut = nd_format_row(format)->cut};
    size_t at = 0, len;

    for (unsigned rows = 0; rows < ROWS_MEASURED && at < sample.len; rows++) {
        enum nd_cut_answer answer =
            nd_cut_next(&cutter, sample.data + at, sample.len - at, true, &len);
        struct nd_view rest, cell;

        if (answer == ND_CUT_UNCLOSED)
            return;
        rest = nd_line_without_end((struct nd_view){sample.data + at, len});
        for (size_t c = 0; nd_row_next(format, &rest, &cell) && c < COLUMNS_MEASURED; c++)
            sum[c] += cell.len;
        at += len;
    }
}

/* The table has no column with this name: report which it has, and which is probably meant. */
static int report_columns(struct nd_input *input, struct nd_view row, struct nd_view sample,
                          const char *name)
{
    enum nd_format format = input->from.source->source.format;
    struct nd_view rest = nd_line_without_end(row), raw, value;
    struct nd_field_list list = {.is_full = false};
    uint64_t sum[COLUMNS_MEASURED] = {0};
    char fields[300];

    measure_columns(format, sample, sum);
    for (size_t c = 0; nd_row_next(format, &rest, &raw); c++) {
        if (!nd_cell_value(format, raw, &input->strings, &value))
            return ND_ENOMEM;
        nd_field_list_add(&list, value, c < COLUMNS_MEASURED ? sum[c] : 0);
    }
    nd_field_list_show(&list, fields, sizeof fields);
    nd_input_loss(input, false, "has no column \"%s\" for the text; it has the fields %s", name,
                  fields);
    return 0;
}

/*
 * Keep the first row of CSV or TSV and check that it has the text columns; 1, 0 (reported).
 * `sample`: the bytes read after it.
 */
static int check_header(struct nd_input *input, struct nd_view row, struct nd_view sample)
{
    struct nd_open_source *from = &input->from;
    size_t mark = from->has_mark ? 3 : 0;
    char *kept = nd_arena_alloc(&input->strings, row.len + mark);

    if (!kept)
        return ND_ENOMEM;
    memcpy(kept, ND_MARK, mark);
    memcpy(kept + mark, row.data, row.len);
    from->source->source.header = (struct nd_view){kept, row.len + mark};
    if (!decode(input, &row))
        return ND_ENOMEM;
    for (size_t i = 0; i < input->options.n_text_fields; i++) {
        const char *name = input->options.text_fields[i];
        int found = find_column(input, row, name);

        if (found < 0)
            return found;
        if (!found)
            return report_columns(input, row, sample, name);
    }
    return 1;
}

/* ---- Filling batches with records ---- */

/* Small enough to stay in the second-level cache until it has been cut. */
enum { READ_BYTES = 1 << 20, READ_LEAST = 1 << 12 };

static const char UNCLOSED_AT_END[] = "a quote that is opened in this row is never closed";
static const char UNCLOSED_TOO_LONG[] =
    "a quote that is opened in this row is not closed within 64 MiB";

static bool is_full(const struct nd_batch *b)
{
    return b->count >= b->memory->max_records || (b->count > 0 && b->bytes >= b->memory->max_bytes);
}

/* Whether the next record belongs to the part that is read. */
static bool is_of_part(const struct nd_input *input)
{
    const struct nd_open_file *f = &input->file;
    const struct nd_source *s = &input->from.source->source;
    uint64_t at = f->start;

    if (s->is_container && s->is_rereadable && f->known->size)
        at += input->from.offset < f->known->size ? input->from.offset : f->known->size - 1;
    return nd_part_has(input->part, at);
}

static bool add_record(struct nd_batch *b, const struct nd_open_source *from, size_t len)
{
    struct nd_batch_memory *m = b->memory;

    if (!ND_RESERVE(b->records, &m->record_capacity, b->count + 1) ||
        !ND_RESERVE(m->start, &m->start_capacity, b->count + 1))
        return false;
    m->start[b->count] = m->pos;
    b->records[b->count++] = (struct nd_record){.bytes = {NULL, len},
                                                .offset = from->offset,
                                                .line = from->line,
                                                .source = from->number,
                                                .block = from->block};
    b->bytes += len;
    from->source->source.file->records++;
    return true;
}

/* A record that was too long has ended: give its place and its length. */
static int add_skipped(struct nd_input *input, struct nd_batch *b, size_t rest)
{
    const struct nd_open_source *from = &input->from;
    struct nd_record *record;

    if (!add_record(b, from, 0))
        return ND_ENOMEM;
    record = &b->records[b->count - 1];
    record->offset = from->skipped_offset;
    record->line = from->skipped_line;
    record->skipped_bytes = from->offset + rest - from->skipped_offset;
    return 0;
}

/* Advance past a record or blank stretch of `len` bytes. */
static void advance(struct nd_batch *b, struct nd_open_source *from, size_t len)
{
    b->memory->pos += len;
    from->offset += len;
    if (from->line)
        from->line += from->cutter.lines;
}

static void report_loss(struct nd_input *input, const char *why)
{
    const struct nd_source *s = &input->from.source->source;

    if (s->is_container)
        nd_input_loss(input, true,
                      "%s; the %" PRIu64 " records before it were read, the rest is lost", why,
                      s->records);
    else
        nd_input_loss(input, false, "%s; the document is not read", why);
}

/* Leave the source; drop its bytes that are not cut yet. */
static void end_source(struct nd_input *input, struct nd_batch *b)
{
    b->memory->bytes.len = b->memory->pos;
    nd_input_end_source(input);
}

/* Read the first row of a table; without the columns that it needs, the source is left. */
static int take_header(struct nd_input *input, struct nd_batch *b, size_t len)
{
    const char *row = b->memory->bytes.data + b->memory->pos;
    struct nd_view sample = {row + len, b->memory->bytes.len - b->memory->pos - len};
    int found = check_header(input, (struct nd_view){row, len}, sample);

    input->from.needs_header = false;
    advance(b, &input->from, len);
    if (found == 0)
        end_source(input, b);
    return found < 0 ? found : 0;
}

/*
 * How much to read next: the bytes that the batch can still take, also in records, by a guess of
 * 512 bytes each, so that small batches do not read a megabyte and put most of it back. For a long
 * record that has begun, the amount doubles.
 */
static size_t read_size(const struct nd_batch *b)
{
    size_t len = b->memory->bytes.len, begun = len - b->memory->pos;
    size_t records = b->memory->max_records - b->count;
    size_t want = b->memory->max_bytes > len ? b->memory->max_bytes - len : 0;

    if (want > READ_BYTES)
        want = READ_BYTES;
    if (records < want / 512)
        want = records * 512;
    if (want < begun)
        want = begun < READ_BYTES ? begun : READ_BYTES;
    return want < READ_LEAST ? READ_LEAST : want;
}

/* Forget the bytes of a batch that are cut and are no record's. */
static void forget_cut(struct nd_batch *b)
{
    struct nd_buffer *bytes = &b->memory->bytes;

    if (b->count || !b->memory->pos)
        return;
    bytes->len -= b->memory->pos;
    memmove(bytes->data, bytes->data + b->memory->pos, bytes->len);
    b->memory->pos = 0;
}

/* Whether a position in the source is one in the stored file. */
static bool is_stored(const struct nd_open_file *f)
{
    return f->is_regular && !f->unpacked && !f->entries && !f->recoded;
}

enum { USUAL_RATIO = 3 };

/*
 * The place that is read, in the stored bytes of all files. In a compressed file that is known only
 * in the pieces in which it is read, so it counts as if it were a third of its contents: then its
 * blocks are of some other length, but as large a share of it.
 */
static uint64_t position_at(const struct nd_input *input, uint64_t offset)
{
    const struct nd_open_file *f = &input->file;

    return input->sampling.start + (is_stored(f) ? offset
                                    : f->entries ? f->stored->consumed
                                                 : offset / USUAL_RATIO);
}

static uint64_t position(const struct nd_input *input)
{
    return position_at(input, input->from.offset);
}

/* Read no further than a block, but for the rest of its last record: more would be read in vain. */
static size_t within_block(const struct nd_input *input, const struct nd_batch *b, size_t want)
{
    size_t begun = b->memory->bytes.len - b->memory->pos;
    uint64_t at = position_at(input, input->from.offset + begun);
    uint64_t left = nd_sampling_left(&input->sampling, at);

    if (!is_stored(&input->file))
        left *= USUAL_RATIO;
    if (input->file.entries || want <= left)
        return want;
    return left > READ_LEAST ? (size_t)left : begun > READ_LEAST ? begun : READ_LEAST;
}

/*
 * Read more bytes after those not cut yet: 1, 0 at the end, < 0: ND_ENOMEM. A failure counts as the
 * end.
 */
static int read_more(struct nd_input *input, struct nd_batch *b)
{
    struct nd_buffer *bytes = &b->memory->bytes;
    struct nd_stream *stream = input->from.stream;
    size_t want;
    ssize_t n;

    forget_cut(b);
    want = read_size(b);
    if (input->sampling.is_on)
        want = within_block(input, b, want);
    if (!nd_buffer_reserve(bytes, bytes->len + want))
        return ND_ENOMEM;
    n = nd_stream_read(stream, bytes->data + bytes->len, want);
    if (n >= 0) {
        bytes->len += (size_t)n;
        return n > 0;
    }
    if (stream->status == ND_ENOMEM)
        return ND_ENOMEM;
    report_loss(input, stream->failure);
    end_source(input, b);
    return 1;
}

/* Hand back what was read but not cut, for the next batch. */
static int put_back(struct nd_input *input, struct nd_batch *b)
{
    struct nd_buffer *bytes = &b->memory->bytes;
    size_t n = bytes->len - b->memory->pos;

    b->memory->is_done = true;
    if (n > 0 && !nd_stream_unread(input->from.stream, bytes->data + b->memory->pos, n))
        return ND_ENOMEM;
    bytes->len = b->memory->pos;
    nd_cut_restart(&input->from.cutter);
    return 0;
}

/*
 * Drop what was read of a record that is too long, but for the last byte that its cutter has looked
 * at, or all of a line that it has not: the cutter goes on as if nothing had happened.
 */
static void drop_begun(struct nd_input *input, struct nd_batch *b)
{
    struct nd_open_source *from = &input->from;
    struct nd_cutter *cutter = &from->cutter;
    char *bytes = b->memory->bytes.data + b->memory->pos;
    size_t len = b->memory->bytes.len - b->memory->pos;
    size_t kept = cutter->seen > 1 && cutter->seen < len ? len - cutter->seen + 1 : 1;
    size_t dropped = len - kept;

    if (cutter->seen <= 1 || cutter->seen == len) { /* all of it, or the middle of a long line */
        cutter->has_text = false;
        cutter->seen = cutter->seen ? 1 : 0;
        cutter->scanned = cutter->scanned ? 1 : 0;
    } else {
        cutter->scanned -= cutter->seen - 1;
        cutter->seen = 1;
    }
    if (from->line && cutter->cut->next != nd_cut_groups)
        for (const char *p = bytes; (p = memchr(p, '\n', (size_t)(bytes + dropped - p))); p++)
            from->line++;
    memmove(bytes, bytes + dropped, kept);
    b->memory->bytes.len -= dropped;
    from->offset += dropped;
}

/* Go on behind a record that is too long, as far as its head says: 0, ND_ENOMEM. */
static int pass_record(struct nd_input *input, struct nd_batch *b)
{
    struct nd_open_source *from = &input->from;
    size_t len = b->memory->bytes.len - b->memory->pos;
    uint64_t ends = from->cutter.ends;

    from->skipped_offset = from->offset;
    from->skipped_line = from->line;
    b->memory->bytes.len = b->memory->pos;
    nd_cut_restart(&from->cutter);
    from->cutter.pass = ends > len ? ends - len : 0;
    from->offset += len;
    from->line += len;
    return input->gives_skipped ? add_skipped(input, b, (size_t)from->cutter.pass) : 0;
}

static void skip_record(struct nd_input *input, struct nd_batch *b)
{
    struct nd_open_source *from = &input->from;

    if (!from->is_skipping) {
        from->skipped_offset = from->offset;
        from->skipped_line = from->line;
    }
    from->is_skipping = true;
    drop_begun(input, b);
}

/*
 * A record exceeds the maximum: report it, and continue with the next line if the format has lines.
 */
static void give_up_record(struct nd_input *input, struct nd_batch *b)
{
    struct nd_open_source *from = &input->from;

    if (!from->is_skipping)
        nd_input_loss(input, true, "a record of more than %zu bytes is not read",
                      input->record_max);
    if (!from->cutter.cut->can_skip) {
        end_source(input, b);
        return;
    }
    if (from->cutter.cut->counts_bytes) {
        (void)pass_record(input, b);
        return;
    }
    from->is_skipping = true;
    from->offset += b->memory->bytes.len - b->memory->pos;
    b->memory->bytes.len = b->memory->pos;
    nd_cut_restart(&from->cutter);
}

/* ---- From block to block of a sample ---- */

/* Count the stored bytes since the last call as those of a record, or of none; those of a compressed
 * file are counted at its end (nd_input_end_source). */
static void count_sampled(struct nd_input *input, size_t record_len)
{
    struct nd_sampling *s = &input->sampling;
    uint64_t at = position(input);

    if (record_len && (is_stored(&input->file) || input->file.entries))
        s->bytes += at - s->at;
    else
        input->from.sampled += record_len;
    s->unpacked += record_len;
    s->at = at;
}

/* Read on at a position in the stored file: its next bytes are not those after the last ones. */
static int seek_to(struct nd_input *input, uint64_t to)
{
    struct nd_file_stream *stored = input->file.stored;
    uint64_t offset = to - input->sampling.start;

    if (!nd_descriptor_seek(stored->fd, offset)) {
        report_loss(input, "a part of the file cannot be found");
        return 0;
    }
    stored->stream.ahead.len = stored->stream.taken = 0;
    stored->stream.state = ND_STREAM_OPEN;
    stored->consumed = input->from.offset = offset;
    return 1;
}

static double thread_seconds(void)
{
    return (double)nd_thread_ns() * 1e-9;
}

/* Decompress up to a position in the stored file: 1; 0: the source ends before it. */
static int discard_to(struct nd_input *input, uint64_t to)
{
    char bytes[1 << 14];
    double began = thread_seconds();
    int found = 1;

    while (found == 1 && position(input) < to) {
        uint64_t left = (to - position(input)) * USUAL_RATIO;
        ssize_t n = nd_stream_read(input->from.stream, bytes,
                                   left < sizeof bytes ? (size_t)left : sizeof bytes);

        if (n > 0)
            input->from.offset += (uint64_t)n;
        else
            found = n < 0 && input->from.stream->status == ND_ENOMEM ? ND_ENOMEM : 0;
    }
    input->sampling.skipped_seconds += thread_seconds() - began;
    return found;
}

/* Go on to a block that begins further on in the source; the record that is being read there began
 * before the block. */
static int enter_block(struct nd_input *input, struct nd_batch *b, uint64_t to)
{
    struct nd_open_source *from = &input->from;
    size_t begun = b->memory->bytes.len - b->memory->pos;
    int found;

    if (is_stored(&input->file)) {
        found = seek_to(input, to - 1);
    } else {
        from->offset += begun;
        found = discard_to(input, to);
    }
    b->memory->bytes.len = b->memory->pos;
    nd_cut_restart(&from->cutter);
    from->is_skipping = true;
    return found;
}

/*
 * Between two records of a sample: leave out what is in no block.  The source ends where there is
 * none further on.
 */
static int go_to_block(struct nd_input *input, struct nd_batch *b)
{
    struct nd_open_source *from = &input->from;
    struct nd_sampling *s = &input->sampling;
    bool is_whole = from->cutter.cut == &nd_cut_whole;
    uint64_t at = position(input), next;
    int found = 1;

    if (!s->is_on || from->needs_header)
        return 0;
    if ((!is_whole && !from->cutter.cut->can_skip) ||
        (!s->decompresses && (input->file.unpacked || input->file.entries)))
        nd_sampling_take_beginning(s);
    if (!from->is_entered)
        s->at = at;
    from->is_entered = true;
    next = nd_sampling_next(s, at, &from->block);
    if (next == at)
        return 0;
    if (is_whole || next == UINT64_MAX || (is_stored(&input->file) && next >= s->start + s->size))
        found = 0;
    else
        found = enter_block(input, b, next);
    if (found == 0)
        end_source(input, b);
    else
        s->at = position(input);
    return found < 0 ? found : 0;
}

/* Keep the record that says how a web archive was made: as a header, if no record was before it,
 * otherwise with its place. */
static int take_info(struct nd_input *input, const char *bytes, size_t len)
{
    struct nd_open_source *from = &input->from;
    struct nd_source *s = &from->source->source;
    struct nd_source_info *info;
    char *kept;

    if (len > ND_HEADER_MAX) {
        s->header = s->header.data || s->records ? s->header : (struct nd_view){"", 0};
        return 0;
    }
    kept = nd_arena_copy(&input->strings, bytes, len);
    if (kept && !s->records && !s->header.len) {
        s->header = (struct nd_view){kept, len};
        return 0;
    }
    info = kept ? nd_arena_alloc(&input->strings, sizeof *info) : NULL;
    if (!info)
        return ND_ENOMEM;
    *info = (struct nd_source_info){.at = from->line, .bytes = {kept, len}};
    nd_source_add_info(from->source, info);
    return 0;
}

/* Act on what is between records: nothing is lost that is not counted. */
static int take_blank(struct nd_input *input, struct nd_batch *b, size_t len)
{
    const struct nd_cutter *cutter = &input->from.cutter;

    if (cutter->not_text || cutter->no_body)
        input->file.known->lacks_rewritten = "records that are neither page nor plain text";
    if (is_of_part(input)) {
        input->paths.web_not_text += cutter->not_text;
        input->paths.web_no_body += cutter->no_body;
    }
    return cutter->is_info ? take_info(input, b->memory->bytes.data + b->memory->pos, len) : 0;
}

/* Whether a stretch is no more than line ends, behind which a sample may still stand within a record
 * of a web archive. */
static bool is_within_record(const struct nd_open_source *from, const struct nd_batch *b,
                             enum nd_cut_answer answer)
{
    const char *bytes = b->memory->bytes.data + b->memory->pos;

    return from->is_skipping && from->cutter.cut->counts_bytes && answer == ND_CUT_BLANK &&
           (*bytes == '\n' || *bytes == '\r');
}

/* Act on a record, or a blank stretch, of `len` bytes. */
static int take(struct nd_input *input, struct nd_batch *b, enum nd_cut_answer answer, size_t len)
{
    struct nd_open_source *from = &input->from;
    bool is_record = answer == ND_CUT_RECORD && !from->is_skipping;

    if (from->is_skipping && input->gives_skipped && add_skipped(input, b, len))
        return ND_ENOMEM;
    from->is_skipping = is_within_record(from, b, answer);
    if (is_record && from->needs_header)
        return take_header(input, b, len);
    if (is_record && is_of_part(input) && !add_record(b, from, len))
        return ND_ENOMEM;
    if (is_record)
        from->source->source.records++;
    else if (take_blank(input, b, len))
        return ND_ENOMEM;
    advance(b, from, len);
    count_sampled(input, is_record ? len : 0);
    if (from->cutter.cut == &nd_cut_whole) {
        b->memory->is_done |= from->source->source.filter != NULL; /* a thread for each filter */
        end_source(input, b);
        return 0;
    }
    return go_to_block(input, b);
}

/* Check whether there are records, and nothing more comes for now. */
static bool is_to_be_answered(const struct nd_input *input, const struct nd_batch *b)
{
    return input->answers_pauses && b->count > 0 && !input->from.is_skipping &&
           nd_file_stream_pauses(input->file.stored);
}

/* Check whether the records are answered first because the next file may have to be waited for. */
static bool is_answered_first(const struct nd_input *input, const struct nd_batch *b)
{
    return input->answers_pauses && b->count > 0 && !input->file.entries &&
           input->next_path < input->paths.count && !input->paths.file[input->next_path].inode;
}

/* Cut from the current source until it is at its end or the batch is full: 0, ND_ENOMEM. */
static int cut_source(struct nd_input *input, struct nd_batch *b)
{
    struct nd_open_source *from = &input->from;
    bool at_end = false;
    int status = go_to_block(input, b);

    while (from->stream && status == 0) {
        struct nd_buffer *bytes = &b->memory->bytes;
        size_t len = bytes->len - b->memory->pos, record_len;
        enum nd_cut_answer answer = ND_CUT_MORE;

        if (is_full(b))
            return put_back(input, b);
        if (len > 0 || (at_end && from->cutter.cut == &nd_cut_whole))
            answer =
                nd_cut_next(&from->cutter, bytes->data + b->memory->pos, len, at_end, &record_len);
        else if (at_end) {
            if (from->cutter.pass)
                report_loss(input, "its last record is cut short");
            end_source(input, b);
            return 0;
        }
        if (answer == ND_CUT_RECORD || answer == ND_CUT_BLANK) {
            status = take(input, b, answer, record_len);
            at_end = at_end && !input->sampling.is_on; /* it may have been put elsewhere */
        } else if (answer == ND_CUT_UNCLOSED) {
            report_loss(input, at_end ? UNCLOSED_AT_END : UNCLOSED_TOO_LONG);
            end_source(input, b);
        } else if (len > input->record_max && input->gives_skipped && !from->needs_header) {
            if (from->cutter.cut->counts_bytes)
                status = pass_record(input, b);
            else
                skip_record(input, b);
        } else if (len > input->record_max) {
            give_up_record(input, b);
        } else if (b->count > 0 && bytes->len >= b->memory->max_bytes && !from->is_skipping) {
            return put_back(input, b);
        } else if (is_to_be_answered(input, b)) {
            return put_back(input, b);
        } else {
            int more = read_more(input, b);

            at_end = more == 0;
            status = more < 0 ? more : 0;
        }
    }
    return status;
}

static enum nd_status list_files(struct nd_input *input, struct nd_error *err)
{
    enum nd_status status;

    if (input->is_expanded)
        return ND_OK;
    status = nd_paths_expand(input->given, input->n_given, &input->options, &input->on_problem,
                             &input->strings, &input->paths);
    input->is_expanded = true;
    input->part = nd_part_bytes(input->options.part, input->paths.bytes);
    if (input->paths.is_size_known)
        atomic_store_explicit(&input->total, input->paths.bytes, memory_order_relaxed);
    return status == ND_OK ? ND_OK : nd_fail(err, status, "out of memory");
}

static bool begin_batch(struct nd_batch *batch, size_t max_bytes, size_t max_records)
{
    batch->count = 0;
    batch->bytes = 0;
    if (!batch->memory)
        batch->memory = calloc(1, sizeof *batch->memory);
    if (!batch->memory)
        return false;
    batch->memory->bytes.len = batch->memory->pos = 0;
    batch->memory->max_bytes = max_bytes;
    batch->memory->max_records = max_records ? max_records : 1;
    batch->memory->is_done = false;
    return true;
}

static void publish(struct nd_input *input, struct nd_batch *batch)
{
    uint64_t done = input->finished;

    for (size_t i = 0; i < batch->count; i++)
        batch->records[i].bytes.data = batch->memory->bytes.data + batch->memory->start[i];
    if (input->file.stored)
        done += input->file.stored->consumed;
    if (input->from.source)
        input->from.source->source.bytes = input->from.offset;
    atomic_store_explicit(&input->done, done, memory_order_relaxed);
}

static int read_batch(struct nd_input *input, size_t max_bytes, size_t max_records,
                      struct nd_batch *batch, struct nd_error *err)
{
    int status = list_files(input, err);

    if (status == 0 && !begin_batch(batch, max_bytes, max_records))
        status = ND_ENOMEM;
    if (status == 0 && !nd_input_take_ahead(input, batch))
        status = ND_ENOMEM;
    while (status == 0 && !batch->memory->is_done && !is_full(batch)) {
        if (!input->from.stream && is_answered_first(input, batch))
            break;
        if (!input->from.stream) {
            int next = nd_input_next_source(input);

            if (next <= 0) {
                status = next;
                break;
            }
        }
        status = cut_source(input, batch);
    }
    if (status < 0)
        return nd_fail(err, ND_ENOMEM, "out of memory while reading %s",
                       input->file.path ? input->file.path : "the input");
    publish(input, batch);
    return batch->count > 0;
}

/*
 * When memory runs out in the middle of a record, the record is lost, and what follows would be
 * mistaken for a whole one.
 */
static int leave(struct nd_input *input, int got)
{
    if (got < 0)
        nd_handle_break(&input->handle, (enum nd_status)got);
    if (nd_handle_leave(&input->handle, ND_CALL_CHANGES))
        nd_input_release(input);
    return got;
}

enum nd_status nd_input_list(struct nd_input *input, struct nd_error *err)
{
    enum nd_status status = nd_handle_enter(&input->handle, ND_CALL_CHANGES, err);

    return status == ND_OK ? (enum nd_status)leave(input, (int)list_files(input, err)) : status;
}

int nd_input_read(struct nd_input *input, size_t max_bytes, size_t max_records,
                  struct nd_batch *batch, struct nd_error *err)
{
    int got = nd_handle_enter(&input->handle, ND_CALL_CHANGES, err);

    return got == ND_OK ? leave(input, read_batch(input, max_bytes, max_records, batch, err)) : got;
}

void nd_batch_release(struct nd_batch *batch)
{
    if (batch->memory) {
        nd_buffer_release(&batch->memory->bytes);
        free(batch->memory->start);
    }
    free(batch->memory);
    free(batch->records);
    *batch = (struct nd_batch){0};
}

/* ---- A record once more, from a file that must still be what it was ---- */

static enum nd_status changed(const struct nd_source *s, struct nd_error *err)
{
    return nd_fail(err, ND_ECHANGED, "%s: was changed after it was first read", s->path);
}

static enum nd_status refused(const struct nd_source *s, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: cannot be read again: %s", s->path, strerror(errno));
}

static enum nd_status check_unchanged(const struct nd_source_kept *kept, int fd,
                                      struct nd_error *err)
{
    struct nd_file_about st;

    if (!nd_descriptor_about(fd, &st))
        return refused(&kept->source, err);
    if (st.bytes != kept->size || st.seconds != kept->seconds ||
        st.nanoseconds != kept->nanoseconds)
        return changed(&kept->source, err);
    return ND_OK;
}

static enum nd_status read_all(const struct nd_source *s, int fd, uint64_t offset, char *out,
                               size_t len, struct nd_error *err)
{
    ssize_t n = nd_descriptor_read_at(fd, out, len, offset);

    if (n < 0)
        return refused(s, err);
    return (size_t)n == len ? ND_OK : changed(s, err);
}

enum nd_status nd_input_reread(const struct nd_input *input, uint32_t source, uint64_t offset,
                               size_t len, char **bytes, size_t *capacity, struct nd_error *err)
{
    const struct nd_source_kept *kept = nd_sources_get(&input->sources, source);
    enum nd_status status;
    int fd = kept->fd;

    if (!kept->source.is_rereadable)
        return nd_fail(err, ND_EINVAL, "%s: cannot be read again", kept->source.path);
    if (len > SIZE_MAX - ND_BUFFER_PADDING ||
        !ND_RESERVE(*bytes, capacity, len + ND_BUFFER_PADDING))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (fd < 0)
        fd = nd_descriptor_open(kept->source.path, ND_OPEN_READ);
    if (fd < 0)
        return refused(&kept->source, err);
    status = read_all(&kept->source, fd, offset, *bytes, len, err);
    if (status == ND_OK)
        status = check_unchanged(kept, fd, err);
    if (fd != kept->fd)
        (void)nd_descriptor_close(fd);
    if (status == ND_OK)
        memset(*bytes + len, 0, ND_BUFFER_PADDING);
    return status;
}
