/*
 * unpack_ahead.c - compressed files, decompressed by threads of their own while others are read, and
 * plain ones, hashed by those who read them ahead
 */
#include "input/input_ahead.h"
#include "input/input_state.h"

#include "base/system/descriptor.h"
#include "base/thread/thread.h"
#include "input/library/libarchive_load.h"

#include <stdlib.h>
#include <string.h>

/*
 * Files that follow the one that is read wait here, open, in the order of the list of paths.  A file
 * is opened before its turn only where nothing need be said of it: it is what its name says, and a
 * decompressor for it stands ready.  All others are opened in their turn.
 */
struct nd_unpack_ahead {
    const struct nd_pool *pool;
    size_t window_bytes;
    unsigned frame_threads; /* of each file, beside the one that reads it */
    uint64_t ns;
    uint64_t last_number;         /* number of the stream that was begun last */
    struct nd_monitor monitor;    /* guards what follows */
    struct nd_ahead_stream *read; /* stream of the file that is read, or NULL */
    uint64_t read_number;
    struct nd_file_stream *plain; /* the file that is read, if it is not compressed, or NULL */
    unsigned n_copying;           /* threads that copy from one of the two, or hash */
    size_t files, n_open;
    struct nd_open_file open[]; /* the first is that of the path `next` */
};

bool nd_input_unpack_ahead(struct nd_input *input, const struct nd_pool *pool, size_t files,
                           size_t window_bytes, unsigned frame_threads)
{
    struct nd_unpack_ahead *u = calloc(1, sizeof *u + files * sizeof *u->open);

    if (!u)
        return false;
    nd_monitor_init(&u->monitor);
    u->pool = pool;
    u->files = files;
    u->window_bytes = window_bytes;
    u->frame_threads = frame_threads;
    input->unpack_ahead = u;
    return true;
}

uint64_t nd_input_unpack_ns(const struct nd_input *input)
{
    return input->unpack_ahead ? input->unpack_ahead->ns : 0;
}

struct nd_stream *nd_unpack_ahead_frames(const struct nd_unpack_ahead *ahead,
                                         struct nd_stream *inner)
{
    return ahead->frame_threads
               ? nd_zstd_frames_stream_new(inner, ahead->frame_threads, ahead->pool)
               : NULL;
}

struct start {
    struct nd_unpack_ahead *u;
    struct nd_open_file *file;
};

static void start(void *context)
{
    const struct start *s = context;

    s->file->ahead = nd_ahead_stream_new(s->file->unpacked, s->u->window_bytes);
}

/* Let a thread decompress a file from now on.  A thread that cannot be started is not missed. */
static void begin(struct nd_unpack_ahead *u, struct nd_open_file *f)
{
    struct start s = {u, f};

    nd_pool_unbound(u->pool, start, &s);
    if (!f->ahead)
        return;
    f->decoder = f->unpacked;
    f->unpacked = nd_ahead_as_stream(f->ahead);
    f->ahead_number = ++u->last_number;
}

/* Open a file before its turn: false if that is left to its turn. */
static bool open_early(struct nd_unpack_ahead *u, struct nd_input_file *known,
                       struct nd_open_file *f)
{
    enum nd_compression named = nd_detect_compression_by_name(known->path);
    const char *head;
    size_t len, want;

    *f = (struct nd_open_file){.fd = -1};
    if (!known->inode || !known->size || named == ND_COMPRESSION_NONE)
        return false;
    f->fd = nd_descriptor_open(known->path, ND_OPEN_READ);
    if (f->fd < 0 || !nd_descriptor_about(f->fd, &f->st) || f->st.kind != ND_FILE_REGULAR)
        return false;
    f->path = known->path;
    f->known = known;
    f->is_regular = true;
    f->compression = named;
    f->stored = nd_file_stream_new(f->fd, true, f->st.bytes);
    want = f->st.bytes < ND_DETECT_BYTES ? (size_t)f->st.bytes + 1 : ND_DETECT_BYTES;
    if (!f->stored || !nd_stream_peek(&f->stored->stream, want, &head, &len) ||
        nd_detect_compression(head, len) != named ||
        nd_detect_cut_compression(head, len) != ND_COMPRESSION_NONE)
        return false;
    f->unpacked = nd_decompress(&f->stored->stream, named, u);
    if (f->unpacked)
        begin(u, f);
    return f->ahead != NULL;
}

/* Open the files that follow, as many as are decompressed at a time. */
static void open_following(struct nd_unpack_ahead *u, const struct nd_input *input)
{
    const struct nd_path_list *paths = &input->paths;

    while (u->n_open + 1 < u->files && input->next_path + u->n_open < paths->count) {
        struct nd_open_file *f = &u->open[u->n_open];

        if (!open_early(u, &paths->file[input->next_path + u->n_open], f)) {
            nd_open_file_release(f);
            return;
        }
        u->n_open++;
    }
}

bool nd_unpack_ahead_take(struct nd_input *input, struct nd_input_file *known)
{
    struct nd_unpack_ahead *u = input->unpack_ahead;

    if (!u || !u->n_open)
        return false;
    if (u->open[0].known != known) {
        nd_unpack_ahead_forget(input);
        return false;
    }
    input->file = u->open[0];
    memmove(u->open, u->open + 1, --u->n_open * sizeof *u->open);
    return true;
}

void nd_unpack_ahead_begin(struct nd_input *input)
{
    struct nd_unpack_ahead *u = input->unpack_ahead;
    struct nd_open_file *f = &input->file;

    if (!u || !f->is_regular || input->sampling.is_on)
        return;
    if (!f->unpacked) {
        nd_monitor_enter(&u->monitor);
        u->plain = f->stored;
        nd_monitor_leave(&u->monitor);
        return;
    }
    if (!f->ahead)
        begin(u, f);
    nd_monitor_enter(&u->monitor);
    u->read = f->ahead;
    u->read_number = f->ahead_number;
    nd_monitor_leave(&u->monitor);
    if (f->ahead && !input->options.part.of)
        open_following(u, input);
}

void nd_unpack_ahead_end(struct nd_input *input)
{
    struct nd_unpack_ahead *u = input->unpack_ahead;

    if (!u)
        return;
    if (input->file.ahead)
        nd_ahead_stop(input->file.ahead);
    nd_monitor_enter(&u->monitor);
    u->read = NULL;
    u->plain = NULL;
    u->read_number = 0;
    while (u->n_copying)
        nd_monitor_wait(&u->monitor);
    nd_monitor_leave(&u->monitor);
    if (input->file.ahead)
        u->ns += nd_ahead_ns(input->file.ahead);
}

void nd_unpack_ahead_forget(struct nd_input *input)
{
    struct nd_unpack_ahead *u = input->unpack_ahead;

    while (u && u->n_open)
        nd_open_file_release(&u->open[--u->n_open]);
}

void nd_unpack_ahead_free(struct nd_input *input)
{
    if (!input->unpack_ahead)
        return;
    nd_unpack_ahead_forget(input);
    nd_monitor_release(&input->unpack_ahead->monitor);
    free(input->unpack_ahead);
}

size_t nd_unpack_ahead_copy(struct nd_input *input, const struct nd_ahead_piece *piece, char *out)
{
    struct nd_unpack_ahead *u = input->unpack_ahead;
    struct nd_ahead_stream *stream = NULL;
    size_t n = 0;

    nd_monitor_enter(&u->monitor);
    if (u->read_number == piece->unpacked) {
        stream = u->read;
        u->n_copying++;
    }
    nd_monitor_leave(&u->monitor);
    if (!stream)
        return 0;
    n = nd_ahead_copy(stream, piece->offset, out, piece->len);
    nd_monitor_enter(&u->monitor);
    u->n_copying--;
    nd_monitor_notify(&u->monitor);
    nd_monitor_leave(&u->monitor);
    return n;
}

void nd_unpack_ahead_hash(struct nd_input *input, const struct nd_ahead_piece *piece,
                          const char *bytes, size_t len)
{
    struct nd_unpack_ahead *u = input->unpack_ahead;
    struct nd_file_stream *plain = NULL;

    if (!u)
        return;
    nd_monitor_enter(&u->monitor);
    if (u->plain && u->plain->fd == piece->fd) {
        plain = u->plain;
        u->n_copying++;
    }
    nd_monitor_leave(&u->monitor);
    if (!plain)
        return;
    nd_file_hash_offer(plain->hash, bytes, piece->offset, len);
    nd_monitor_enter(&u->monitor);
    u->n_copying--;
    nd_monitor_notify(&u->monitor);
    nd_monitor_leave(&u->monitor);
}
