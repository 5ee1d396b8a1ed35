/* input_ahead.c - bytes of a file that are read before the call that cuts them into records */
#include "input/input_ahead.h"

#include "input/input_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Room before the piece for the beginning of its first record, which an earlier batch has read. */
enum { BEGUN_BYTES = 1 << 16 };

bool nd_input_ahead_place(const struct nd_input *input, struct nd_ahead_place *place)
{
    const struct nd_open_source *from = &input->from;
    const struct nd_open_file *f = &input->file;

    if (from->stream && from->stream == nd_ahead_as_stream(f->ahead) && !input->gives_skipped) {
        *place = (struct nd_ahead_place){.source = from->number,
                                         .fd = -1,
                                         .unpacked = f->ahead_number,
                                         .read_to = nd_ahead_position(f->ahead),
                                         .cut_to = from->offset,
                                         .size = UINT64_MAX};
        return true;
    }
    /* The descriptor of a container that can be read again stays open as long as the input. */
    if (!from->stream || from->source->fd < 0 || input->sampling.is_on || input->gives_skipped)
        return false;
    *place = (struct nd_ahead_place){.source = from->number,
                                     .fd = from->source->fd,
                                     .read_to = input->file.stored->consumed,
                                     .cut_to = from->offset,
                                     .size = input->file.stored->size};
    return true;
}

/* As many of the bytes as there are. */
static size_t read_piece(const struct nd_ahead_piece *piece, char *out)
{
    ssize_t n = nd_descriptor_read_at(piece->fd, out, piece->len, piece->offset);

    return n < 0 ? 0 : (size_t)n;
}

void nd_batch_read_ahead(struct nd_input *input, struct nd_batch *batch,
                         const struct nd_ahead_piece *piece)
{
    struct nd_batch_memory *m;

    batch->count = 0;
    if (!batch->memory)
        batch->memory = calloc(1, sizeof *batch->memory);
    m = batch->memory;
    if (!m || !nd_buffer_reserve(&m->bytes, BEGUN_BYTES + piece->len))
        return;
    m->ahead = *piece;
    m->ahead.len = piece->unpacked ? nd_unpack_ahead_copy(input, piece, m->bytes.data + BEGUN_BYTES)
                                   : read_piece(piece, m->bytes.data + BEGUN_BYTES);
    m->ahead_at = BEGUN_BYTES;
    if (!piece->unpacked)
        nd_unpack_ahead_hash(input, piece, m->bytes.data + m->ahead_at, m->ahead.len);
}

/* Put the bytes that wait in the stream in front of the piece.  False: out of memory. */
static bool put_in_front(struct nd_batch_memory *m, struct nd_stream *stream)
{
    size_t waiting = stream->ahead.len - stream->taken, missing;

    m->bytes.len = m->ahead_at + m->ahead.len; /* what stays where memory is added */
    if (waiting > m->ahead_at) {
        missing = waiting - m->ahead_at;
        if (!nd_buffer_reserve(&m->bytes, waiting + m->ahead.len))
            return false;
        memmove(m->bytes.data + m->ahead_at + missing, m->bytes.data + m->ahead_at, m->ahead.len);
        m->ahead_at += missing;
    }
    m->pos = m->ahead_at - waiting;
    if (waiting)
        memcpy(m->bytes.data + m->pos, stream->ahead.data + stream->taken, waiting);
    stream->ahead.len = stream->taken = 0;
    return true;
}

bool nd_input_take_ahead(struct nd_input *input, struct nd_batch *batch)
{
    struct nd_batch_memory *m = batch->memory;
    struct nd_ahead_place place;
    uint64_t known;
    bool ok;

    if (!m->ahead.len || !nd_input_ahead_place(input, &place) || place.source != m->ahead.source ||
        place.unpacked != m->ahead.unpacked || place.read_to < m->ahead.offset ||
        place.read_to >= m->ahead.offset + m->ahead.len) {
        m->ahead.len = 0;
        return true;
    }
    known = place.read_to - m->ahead.offset; /* a record before was so long that it went on here */
    m->ahead_at += (size_t)known;
    m->ahead.len -= (size_t)known;
    ok = put_in_front(m, input->from.stream);
    if (ok) {
        if (m->ahead.unpacked)
            nd_ahead_take(input->file.ahead, m->ahead.len);
        else
            nd_file_stream_take(input->file.stored, m->bytes.data + m->ahead_at, m->ahead.len);
        m->bytes.len = m->ahead_at + m->ahead.len;
        m->max_bytes = m->bytes.len - m->pos;
    }
    m->ahead.len = 0;
    return ok;
}
