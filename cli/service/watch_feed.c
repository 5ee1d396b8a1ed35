/* watch_feed.c - the records of a file that grows, or of a pipe, one a line */
#define _GNU_SOURCE
#include "service/client_watch.h"

#include "base/hash.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIECE_BYTES = 1 << 18,  /* read at once */
    BUFFER_BYTES = 4 << 20, /* posted before more is read, if it has a line */
    LINE_MAX_BYTES = 64 << 20,
    HASHED_BYTES = 1024, /* by which a file is known again */
    WAIT_MS = 200        /* for a file to grow */
};

/* A place between two lines: how many bytes and lines are before it. */
struct place {
    uint64_t offset, line;
};

struct feed {
    struct watch *watch;
    const char *path;
    struct nd_source source;
    int fd; /* -1: the file is not there */
    bool is_pipe, is_regular, at_end;
    struct stat st;

    struct nd_buffer bytes; /* read and not yet taken, from `taken` on */
    size_t taken;
    struct place here;  /* the end of what was taken */
    struct place *ends; /* of the records that were given since the buffer was filled */
    size_t n_ends, ends_capacity;
    bool skips; /* within a line that is too long */
};

static enum nd_status out_of_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

static void warn(const struct feed *f, const char *what)
{
    const struct nd_run_events *events = post_events(f->watch->post);
    struct nd_error message;
    struct nd_problem problem = {ND_PROBLEM_WARNING, message.message};

    nd_fail(&message, ND_EINPUT, "%s: %s", f->path, what);
    events->problem(events->context, &problem);
}

/* ---- The file -------------------------------------------------------------------------------- */

/* The hash of the first bytes of the file.  False: it is shorter. */
static bool hash_beginning(const struct feed *f, uint64_t n, uint64_t *hash)
{
    char beginning[HASHED_BYTES];

    if (n > HASHED_BYTES || pread(f->fd, beginning, (size_t)n, 0) != (ssize_t)n)
        return false;
    *hash = nd_hash_bytes(beginning, (size_t)n);
    return true;
}

static void begin_at(struct feed *f, uint64_t offset, uint64_t line)
{
    f->here = (struct place){offset, line};
    f->bytes.len = f->taken = 0;
    f->skips = false;
}

/* Go on where the watch before ended, if this is the file that it read. */
static void resume(struct feed *f)
{
    const struct watch_entry *e = watch_state_find(&f->watch->state, f->path);
    uint64_t hash;

    if (!e || !e->hashed || !f->is_regular)
        return;
    if ((uint64_t)f->st.st_size >= e->mark.bytes && hash_beginning(f, e->hashed, &hash) &&
        hash == e->hash && lseek(f->fd, (off_t)e->mark.bytes, SEEK_SET) >= 0)
        begin_at(f, e->mark.bytes, e->line);
    else
        warn(f, "is another file than the one that was read before; it is read from its beginning");
}

/* Open the file if it is there.  False: it cannot be opened, and err says why. */
static bool open_file(struct feed *f, struct nd_error *err)
{
    f->fd = f->is_pipe ? STDIN_FILENO : open(f->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (f->fd < 0 && errno == ENOENT)
        return true;
    if (f->fd < 0 || fstat(f->fd, &f->st) != 0) {
        nd_fail(err, ND_EINPUT, "%s: %s", f->path, strerror(errno));
        return false;
    }
    f->is_regular = S_ISREG(f->st.st_mode) && !f->is_pipe;
    begin_at(f, 0, 0);
    return true;
}

static void close_file(struct feed *f)
{
    if (f->fd >= 0 && !f->is_pipe)
        close(f->fd);
    f->fd = -1;
}

/* Whether another file has the name, or this one was cut; it has been read to its end. */
static bool is_replaced(struct feed *f)
{
    struct stat now;
    off_t here = lseek(f->fd, 0, SEEK_CUR);

    if (!f->is_regular || stat(f->path, &now) != 0)
        return false;
    if (now.st_ino != f->st.st_ino || now.st_dev != f->st.st_dev)
        return true;
    if (now.st_size >= here)
        return false;
    warn(f, "has become shorter; it is read from its beginning");
    return true;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Read what is there, without waiting for more: *n bytes.  False: it cannot be read. */
static bool read_piece(struct feed *f, ssize_t *n, struct nd_error *err)
{
    struct pollfd fd = {.fd = f->fd, .events = POLLIN};

    *n = 0;
    if (!f->is_regular && poll(&fd, 1, 0) <= 0)
        return true;
    if (!nd_buffer_reserve(&f->bytes, f->bytes.len + PIECE_BYTES)) {
        out_of_memory(err);
        return false;
    }
    *n = read(f->fd, f->bytes.data + f->bytes.len, PIECE_BYTES);
    if (*n > 0)
        f->bytes.len += (size_t)*n;
    f->at_end = *n == 0 && !f->is_regular;
    if (*n >= 0 || errno == EINTR || errno == EAGAIN) {
        *n = *n < 0 ? 0 : *n;
        return true;
    }
    nd_fail(err, ND_EINPUT, "%s: %s", f->path, strerror(errno));
    return false;
}

/* Whether there is a whole line. */
static bool has_line(const struct feed *f)
{
    return f->bytes.len > f->taken &&
           memchr(f->bytes.data + f->taken, '\n', f->bytes.len - f->taken);
}

/* Forget what was taken, and a line that is too long. */
static void shift(struct feed *f)
{
    if (f->taken)
        memmove(f->bytes.data, f->bytes.data + f->taken, f->bytes.len - f->taken);
    f->bytes.len -= f->taken;
    f->taken = 0;
    if (f->bytes.len <= LINE_MAX_BYTES || has_line(f))
        return;
    if (!f->skips)
        warn(f, "has a line of more than 64 MiB, which is left out");
    f->skips = true;
    f->here.offset += f->bytes.len;
    f->bytes.len = 0;
}

/* Fill the buffer with lines that are there.  False: there are none for now. */
static bool fill(struct feed *f, struct nd_error *err)
{
    ssize_t n = 1;

    shift(f);
    while (n > 0 && (f->bytes.len < BUFFER_BYTES || !has_line(f))) {
        if (!read_piece(f, &n, err))
            return false;
        if (f->bytes.len > LINE_MAX_BYTES)
            shift(f);
    }
    return has_line(f);
}

/* ---- Records --------------------------------------------------------------------------------- */

static bool is_blank(struct nd_view line)
{
    for (size_t i = 0; i < line.len; i++)
        if (!strchr(" \t\r\n", line.data[i]) || !line.data[i])
            return false;
    return true;
}

static int next_record(void *context, struct nd_record *record, const struct nd_source **source,
                       struct nd_error *err)
{
    struct feed *f = context;

    while (has_line(f) && !watch_is_stopping()) {
        const char *start = f->bytes.data + f->taken;
        size_t len = (size_t)((char *)memchr(start, '\n', f->bytes.len - f->taken) + 1 - start);
        const struct nd_view line = {start, len};
        bool skips = f->skips;

        f->taken += len;
        f->here.offset += len;
        f->here.line++;
        f->skips = false;
        if (skips || is_blank(line))
            continue;
        if (!ND_RESERVE(f->ends, &f->ends_capacity, f->n_ends + 1))
            return out_of_memory(err);
        f->ends[f->n_ends++] = f->here;
        *record = (struct nd_record){.bytes = line, .line = f->here.line};
        *source = &f->source;
        return 1;
    }
    return 0;
}

/* Note that the file has been posted up to there. */
static enum nd_status note(struct feed *f, struct place place, struct nd_error *err)
{
    struct watch_entry e = {.path = (char *)(uintptr_t)f->path,
                            .mark = {.bytes = place.offset},
                            .line = place.line,
                            .hashed = place.offset < HASHED_BYTES ? place.offset : HASHED_BYTES};

    if (!f->is_regular || !e.hashed || !hash_beginning(f, e.hashed, &e.hash))
        return ND_OK;
    return watch_state_note(&f->watch->state, &e, err);
}

static enum nd_status note_written(void *context, uint64_t records, const char *at,
                                   struct nd_error *err)
{
    struct feed *f = context;

    (void)at;
    return note(f, f->ends[records - 1], err);
}

/* Post the lines of the buffer. */
static enum nd_status post_lines(struct feed *f, struct nd_error *err)
{
    const struct post_source source = {f, next_record, note_written};

    f->n_ends = 0;
    return post_run(f->watch->post, &source, err);
}

/* A file that nobody goes on with ends with its last byte, not with a line end. */
static enum nd_status post_rest(struct feed *f, struct nd_error *err)
{
    if (f->bytes.len == f->taken)
        return ND_OK;
    return nd_buffer_append(&f->bytes, "\n", 1) ? post_lines(f, err) : out_of_memory(err);
}

/* ---- Watching -------------------------------------------------------------------------------- */

static void wait_for_more(const struct feed *f)
{
    struct pollfd fd = {.fd = f->is_regular || f->at_end ? -1 : f->fd, .events = POLLIN};

    (void)poll(&fd, 1, WAIT_MS);
}

/* Read to the end what is left of a file that was replaced, and open the one that replaces it. */
static enum nd_status open_next(struct feed *f, struct nd_error *err)
{
    enum nd_status status = post_rest(f, err);

    if (status != ND_OK || watch_is_stopping())
        return status;
    close_file(f);
    return open_file(f, err) ? ND_OK : err->status;
}

static enum nd_status look(struct feed *f, struct nd_error *err)
{
    err->status = ND_OK;
    if (f->fd < 0) {
        wait_for_more(f);
        return open_file(f, err) ? ND_OK : err->status;
    }
    if (fill(f, err))
        return post_lines(f, err);
    if (err->status != ND_OK)
        return err->status;
    if (is_replaced(f))
        return open_next(f, err);
    if (!f->at_end || !f->is_pipe)
        wait_for_more(f);
    return ND_OK;
}

enum nd_status watch_feed(struct watch *watch, const char *path, struct nd_error *err)
{
    struct feed f = {.watch = watch, .path = path, .is_pipe = strcmp(path, "-") == 0, .fd = -1};
    enum nd_status status;

    f.source = (struct nd_source){
        .path = path, .format = ND_FORMAT_JSONL, .compression = "none", .is_container = 1};
    status = open_file(&f, err) ? ND_OK : err->status;
    if (status == ND_OK && f.fd >= 0)
        resume(&f);
    while (status == ND_OK && !watch_is_stopping() && !(f.is_pipe && f.at_end))
        status = look(&f, err);
    if (status == ND_OK && f.is_pipe && f.at_end)
        status = post_rest(&f, err);
    close_file(&f);
    nd_buffer_release(&f.bytes);
    free(f.ends);
    return status;
}
