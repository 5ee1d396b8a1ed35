/* input_read.c - filling batches with records */
#include "input/input_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A read that stays in the second-level cache until it has been cut. */
enum { READ_BYTES = 1 << 20, READ_LEAST = 1 << 12 };

static const char UNCLOSED_AT_END[] = "a quote that is opened in this row is never closed";
static const char UNCLOSED_TOO_LONG[] =
    "a quote that is opened in this row is not closed within 64 MiB";

/* A batch in the making: memory->bytes holds the records cut, then from `pos` what is not yet. */
struct filling {
    struct nd_batch *batch;
    struct nd_batch_memory *memory;
    size_t pos;
    size_t max_bytes, max_records;
    bool is_done; /* full, or what comes next does not fit */
};

static bool is_full(const struct filling *f)
{
    return f->batch->count >= f->max_records ||
           (f->batch->count > 0 && f->batch->bytes >= f->max_bytes);
}

static bool add_record(struct filling *f, const struct nd_open_source *from, size_t len)
{
    struct nd_batch_memory *m = f->memory;
    struct nd_batch *b = f->batch;
    void *records = b->records, *start = m->start;
    bool ok = nd_array_reserve(&records, &m->record_capacity, b->count + 1, sizeof *b->records) &&
              nd_array_reserve(&start, &m->start_capacity, b->count + 1, sizeof *m->start);

    b->records = records;
    m->start = start;
    if (!ok)
        return false;
    m->start[b->count] = f->pos;
    b->records[b->count++] = (struct nd_record){
        .bytes = {NULL, len}, .offset = from->offset, .line = from->line, .source = from->number};
    b->bytes += len;
    from->source->source.records++;
    from->source->source.file->records++;
    return true;
}

/* Go on behind a record or blank stretch of `len` bytes. */
static void advance(struct filling *f, struct nd_open_source *from, size_t len)
{
    f->pos += len;
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

/* Leave the source; what is not yet cut of it is dropped. */
static void end_source(struct nd_input *input, struct filling *f)
{
    f->memory->bytes.len = f->pos;
    nd_input_end_source(input);
}

/* The first row of a table: without what it must have, the source is left. */
static int take_header(struct nd_input *input, struct filling *f, size_t len)
{
    const char *row = f->memory->bytes.data + f->pos;
    struct nd_view sample = {row + len, f->memory->bytes.len - f->pos - len};
    int found = nd_input_take_header(input, (struct nd_view){row, len}, sample);

    input->from.needs_header = false;
    advance(f, &input->from, len);
    if (found == 0)
        end_source(input, f);
    return found < 0 ? found : 0;
}

/*
 * How much to read next: what the batch still takes in bytes, and in records by a guess of 512
 * bytes each, so that small batches do not read, and put back, a megabyte each; but a record that
 * has begun and is long doubles.
 */
static size_t read_size(const struct filling *f)
{
    size_t len = f->memory->bytes.len, begun = len - f->pos;
    size_t records = f->max_records - f->batch->count;
    size_t want = f->max_bytes > len ? f->max_bytes - len : 0;

    if (want > READ_BYTES)
        want = READ_BYTES;
    if (records < want / 512)
        want = records * 512;
    if (want < begun)
        want = begun < READ_BYTES ? begun : READ_BYTES;
    return want < READ_LEAST ? READ_LEAST : want;
}

/* More bytes behind those not yet cut: 1, 0 at the end, < 0: ND_ENOMEM; a failure is the end. */
static int read_more(struct nd_input *input, struct filling *f)
{
    struct nd_buffer *bytes = &f->memory->bytes;
    struct nd_stream *stream = input->from.stream;
    size_t want = read_size(f);
    ssize_t n;

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
    end_source(input, f);
    return 1;
}

/* Hand back what was read but not cut, for the next batch. */
static int put_back(struct nd_input *input, struct filling *f)
{
    struct nd_buffer *bytes = &f->memory->bytes;
    size_t n = bytes->len - f->pos;

    f->is_done = true;
    if (n > 0 && !nd_stream_unread(input->from.stream, bytes->data + f->pos, n))
        return ND_ENOMEM;
    bytes->len = f->pos;
    nd_cut_restart(&input->from.cutter);
    return 0;
}

/* A record grows beyond what can be: name it, and go on with the next line where there are lines.
 */
static void give_up_record(struct nd_input *input, struct filling *f)
{
    struct nd_open_source *from = &input->from;

    if (!from->is_skipping)
        nd_input_loss(input, true, "a record of more than %zu bytes is not read",
                      input->record_max);
    if (from->cutter.mode == ND_CUT_WHOLE || from->cutter.mode == ND_CUT_CSV) {
        end_source(input, f);
        return;
    }
    from->is_skipping = true;
    from->offset += f->memory->bytes.len - f->pos;
    f->memory->bytes.len = f->pos;
    nd_cut_restart(&from->cutter);
}

/* Act on a record, or a blank stretch, of `len` bytes. */
static int take(struct nd_input *input, struct filling *f, enum nd_cut_answer answer, size_t len)
{
    struct nd_open_source *from = &input->from;
    bool is_record = answer == ND_CUT_RECORD && !from->is_skipping;

    from->is_skipping = false;
    if (is_record && from->needs_header)
        return take_header(input, f, len);
    if (is_record && !add_record(f, from, len))
        return ND_ENOMEM;
    advance(f, from, len);
    if (from->cutter.mode == ND_CUT_WHOLE)
        end_source(input, f);
    return 0;
}

/* Cut from the current source until it is at its end or the batch is full: 0, ND_ENOMEM. */
static int cut_source(struct nd_input *input, struct filling *f)
{
    struct nd_open_source *from = &input->from;
    bool at_end = false;
    int status = 0;

    while (from->stream && status == 0) {
        struct nd_buffer *bytes = &f->memory->bytes;
        size_t len = bytes->len - f->pos, record_len;
        enum nd_cut_answer answer = ND_CUT_MORE;

        if (is_full(f))
            return put_back(input, f);
        if (len > 0 || (at_end && from->cutter.mode == ND_CUT_WHOLE))
            answer = nd_cut_next(&from->cutter, bytes->data + f->pos, len, at_end, &record_len);
        else if (at_end) {
            end_source(input, f);
            return 0;
        }
        if (answer == ND_CUT_RECORD || answer == ND_CUT_BLANK) {
            status = take(input, f, answer, record_len);
        } else if (answer == ND_CUT_UNCLOSED) {
            report_loss(input, at_end ? UNCLOSED_AT_END : UNCLOSED_TOO_LONG);
            end_source(input, f);
        } else if (len > input->record_max) {
            give_up_record(input, f);
        } else if (f->batch->count > 0 && bytes->len >= f->max_bytes) {
            return put_back(input, f);
        } else {
            int more = read_more(input, f);

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
    status = nd_paths_expand(input->given, input->n_given, &input->options, &input->reporter,
                             &input->strings, &input->paths, &input->left_out);
    input->is_expanded = true;
    if (input->paths.is_size_known)
        atomic_store_explicit(&input->total, input->paths.bytes, memory_order_relaxed);
    return status == ND_OK ? ND_OK : nd_fail(err, status, "out of memory");
}

static bool begin_batch(struct nd_batch *batch)
{
    batch->count = 0;
    batch->bytes = 0;
    if (!batch->memory)
        batch->memory = calloc(1, sizeof *batch->memory);
    if (!batch->memory)
        return false;
    batch->memory->bytes.len = 0;
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
    struct filling f = {.batch = batch, .max_bytes = max_bytes, .max_records = max_records};
    int status = list_files(input, err);

    if (status == 0 && !begin_batch(batch))
        status = ND_ENOMEM;
    f.memory = batch->memory;
    if (f.max_records == 0)
        f.max_records = 1;
    while (status == 0 && !f.is_done && !is_full(&f)) {
        if (!input->from.stream) {
            int next = nd_input_next_source(input);

            if (next <= 0) {
                status = next;
                break;
            }
        }
        status = cut_source(input, &f);
    }
    if (status < 0)
        return nd_fail(err, ND_ENOMEM, "out of memory while reading %s",
                       input->file.path ? input->file.path : "the input");
    publish(input, batch);
    return batch->count > 0;
}

/* What memory ended in the midst of is lost, and what comes after it would be taken for all. */
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
