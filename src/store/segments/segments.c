/* segments.c - the texts: records appended to files, synced before they are named, read by place */

/*
 * One thread appends.  What it has not yet written is in `pending`, which other threads read under
 * the monitor; everything before it is read from the file, without one:
 *
 *      file  │ header │ record │ record │ …            pending  │ record │ record │
 *            └────────────── written ──┘                         └── pending.len ──┘
 *
 * A failed write changes nothing here: what it left in the file lies behind `written`.  After a
 * failed sync nobody knows what is on the disk, since the kernel may forget that pages were not
 * written: nothing is appended until the store is opened again (docs/decisions/durability.md).
 */
#define _POSIX_C_SOURCE 200809L
#include "store/segments/segments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/thread/thread.h"
#include "store/segments/segments_files.h"
#include "store/segments/segments_record.h"

enum { PENDING_BYTES = 1 << 20, LONG_RECORD = 1 << 20 };

struct nd_segments {
    struct nd_segment_files *files;
    uint64_t segment_bytes;
    bool read_only;
    /* Only the thread that appends changes these, within the monitor where others read them. */
    struct nd_monitor monitor;
    uint32_t number;                 /* of the segment that is appended to */
    uint64_t written;                /* bytes of it in the file; 0: it is not begun */
    struct nd_buffer pending;        /* what follows them */
    struct nd_segment_file *current; /* NULL: not begun, or not opened since a rewind */
    bool is_dirty;                   /* the file was written to since it was synced */
    bool has_new_files;              /* since the folder was synced */
    bool turns;                      /* the next record begins another segment */
    bool is_broken;                  /* a sync failed */
};

static enum nd_status out_of_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

static enum nd_status failed(const struct nd_segments *s, const char *what, bool *no_space,
                             struct nd_error *err)
{
    int reason = errno;
    struct nd_segment_path path;

    *no_space = reason == ENOSPC || reason == EDQUOT;
    return nd_fail(err, ND_EIO, "%s: %s: %s", nd_segment_files_path(s->files, s->number, &path),
                   what, strerror(reason));
}

/* ---- Opening ---- */

/* Segments behind the end, and bytes behind it in its segment, are of writes that nobody has been
 * told of. */
static enum nd_status remove_tail(struct nd_segments *s, struct nd_error *err)
{
    uint32_t *numbers;
    size_t n;
    bool no_space;
    enum nd_status status = nd_segment_files_list(s->files, &numbers, &n, err);

    if (status != ND_OK)
        return status;
    for (size_t i = 0; i < n && status == ND_OK; i++)
        if (numbers[i] > s->number || (numbers[i] == s->number && !s->written))
            status = nd_segment_files_remove(s->files, numbers[i], err);
    free(numbers);
    if (status == ND_OK && s->written &&
        ftruncate(nd_segment_file_descriptor(s->current), (off_t)s->written) != 0)
        status = failed(s, "cannot be cut", &no_space, err);
    return status;
}

/* The segment of the end is there, and as long as the database says. */
static enum nd_status open_end(struct nd_segments *s, struct nd_error *err)
{
    struct nd_segment_path path;
    uint64_t bytes;
    enum nd_status status;

    if (s->written) {
        status = nd_segment_files_hold(s->files, s->number, &s->current, err);
        if (status != ND_OK)
            return status;
        bytes = nd_segment_files_bytes(s->files, s->number);
        if (bytes < s->written)
            return nd_fail(err, ND_EINPUT,
                           "%s: ends at byte %" PRIu64 ", where the database knows %" PRIu64
                           " bytes: restore a backup",
                           nd_segment_files_path(s->files, s->number, &path), bytes, s->written);
    }
    return s->read_only ? ND_OK : remove_tail(s, err);
}

static void set_end(struct nd_segments *s, struct nd_segments_end end)
{
    s->number = end.segment ? end.segment : 1;
    s->written = end.offset;
    s->pending.len = 0;
    s->turns = false;
}

struct nd_segments *nd_segments_open(const char *folder, struct nd_segments_end end,
                                     uint64_t segment_bytes, bool read_only, struct nd_error *err)
{
    struct nd_segments *s = calloc(1, sizeof *s);

    if (!s) {
        out_of_memory(err);
        return NULL;
    }
    nd_monitor_init(&s->monitor);
    s->segment_bytes = segment_bytes;
    s->read_only = read_only;
    set_end(s, end);
    s->files = nd_segment_files_new(folder, read_only, err);
    if (s->files && open_end(s, err) == ND_OK)
        return s;
    nd_segments_close(s);
    return NULL;
}

void nd_segments_close(struct nd_segments *s)
{
    if (!s)
        return;
    nd_segment_files_let_go(s->files, s->current);
    nd_segment_files_free(s->files);
    nd_buffer_release(&s->pending);
    nd_monitor_release(&s->monitor);
    free(s);
}

/* ---- Writing and syncing ---- */

static enum nd_status write_at_end(struct nd_segments *s, const char *data, size_t len,
                                   bool *no_space, struct nd_error *err)
{
    size_t done = 0;

    s->is_dirty = true;
    while (done < len) {
        ssize_t n = pwrite(nd_segment_file_descriptor(s->current), data + done, len - done,
                           (off_t)(s->written + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC;
        if (n <= 0)
            return failed(s, "cannot be written", no_space, err);
        done += (size_t)n;
    }
    return ND_OK;
}

static void advance(struct nd_segments *s, size_t len)
{
    nd_monitor_enter(&s->monitor);
    s->written += len;
    s->pending.len = 0;
    nd_monitor_leave(&s->monitor);
}

static enum nd_status write_pending(struct nd_segments *s, bool *no_space, struct nd_error *err)
{
    enum nd_status status;

    if (!s->pending.len)
        return ND_OK;
    status = write_at_end(s, s->pending.data, s->pending.len, no_space, err);
    if (status == ND_OK)
        advance(s, s->pending.len);
    return status;
}

static enum nd_status sync_data(struct nd_segments *s, bool *no_space, struct nd_error *err)
{
    int result;

    if (!s->is_dirty || !s->current)
        return ND_OK;
    do
        result = fdatasync(nd_segment_file_descriptor(s->current));
    while (result != 0 && errno == EINTR);
    if (result != 0) {
        s->is_broken = true;
        (void)failed(s, "cannot be synced", no_space, err);
        *no_space = false;
        return ND_EIO;
    }
    s->is_dirty = false;
    return ND_OK;
}

/* Leave the segment that is appended to: it is on the disk. */
static enum nd_status leave_current(struct nd_segments *s, bool *no_space, struct nd_error *err)
{
    enum nd_status status = write_pending(s, no_space, err);

    if (status == ND_OK)
        status = sync_data(s, no_space, err);
    if (status != ND_OK)
        return status;
    nd_segment_files_let_go(s->files, s->current);
    s->current = NULL;
    nd_monitor_enter(&s->monitor);
    set_end(s, (struct nd_segments_end){s->number + 1, 0});
    nd_monitor_leave(&s->monitor);
    return ND_OK;
}

static enum nd_status refuse_broken(const struct nd_segments *s, bool *no_space,
                                    struct nd_error *err)
{
    struct nd_segment_path path;

    *no_space = false;
    if (s->read_only)
        return nd_fail(err, ND_EINVAL, "the store was opened for reading only");
    return nd_fail(err, ND_EIO,
                   "%s: nothing is written since it could not be synced: open the store again",
                   nd_segment_files_path(s->files, s->number, &path));
}

enum nd_status nd_segments_sync(struct nd_segments *s, bool *no_space, struct nd_error *err)
{
    enum nd_status status;

    *no_space = false;
    if (s->is_broken || s->read_only)
        return refuse_broken(s, no_space, err);
    if (s->turns)
        status = leave_current(s, no_space, err);
    else {
        status = write_pending(s, no_space, err);
        if (status == ND_OK)
            status = sync_data(s, no_space, err);
    }
    if (status == ND_OK && s->has_new_files) {
        status = nd_segment_files_sync(s->files, err);
        s->is_broken = status != ND_OK;
        s->has_new_files = status != ND_OK;
    }
    return status;
}

/* ---- Appending ---- */

static enum nd_status begin_segment(struct nd_segments *s, bool *no_space, struct nd_error *err)
{
    struct nd_segment_header header;
    enum nd_status status;
    bool has_memory;

    if (s->written)
        return nd_segment_files_hold(s->files, s->number, &s->current, err);
    status = s->current ? ND_OK
                        : nd_segment_files_create(s->files, s->number, &s->current, no_space, err);
    if (status != ND_OK)
        return status;
    s->has_new_files = true;
    nd_segment_header_make(&header, s->number);
    nd_monitor_enter(&s->monitor);
    s->pending.len = 0;
    has_memory = nd_buffer_append(&s->pending, &header, sizeof header);
    nd_monitor_leave(&s->monitor);
    return has_memory ? ND_OK : out_of_memory(err);
}

/* There is a segment with room for a record. */
static enum nd_status make_room(struct nd_segments *s, size_t len, bool *no_space,
                                struct nd_error *err)
{
    uint64_t end = s->written + s->pending.len;
    enum nd_status status = ND_OK;

    if (s->turns || (end > ND_SEGMENT_HEADER && end + len > s->segment_bytes))
        status = leave_current(s, no_space, err);
    if (status == ND_OK && (!s->current || (!s->written && !s->pending.len)))
        status = begin_segment(s, no_space, err);
    if (status == ND_OK && s->pending.len + len > PENDING_BYTES)
        status = write_pending(s, no_space, err);
    return status;
}

static enum nd_status append_short(struct nd_segments *s, struct nd_view record,
                                   struct nd_error *err)
{
    bool has_memory;

    nd_monitor_enter(&s->monitor);
    has_memory = nd_buffer_append(&s->pending, record.data, record.len);
    nd_monitor_leave(&s->monitor);
    return has_memory ? ND_OK : out_of_memory(err);
}

/* A record that would only be copied once more. */
static enum nd_status append_long(struct nd_segments *s, struct nd_view record, bool *no_space,
                                  struct nd_error *err)
{
    enum nd_status status = write_pending(s, no_space, err);

    if (status == ND_OK)
        status = write_at_end(s, record.data, record.len, no_space, err);
    if (status == ND_OK)
        advance(s, record.len);
    return status;
}

enum nd_status nd_segments_append(struct nd_segments *s, struct nd_view record,
                                  struct nd_text_place *place, bool *no_space, struct nd_error *err)
{
    struct nd_record_header header;
    struct nd_text_place at;
    enum nd_status status;

    *no_space = false;
    if (s->is_broken || s->read_only)
        return refuse_broken(s, no_space, err);
    if (record.len < sizeof header || record.len > UINT32_MAX)
        return nd_fail(err, ND_EINVAL, "a record of %zu bytes cannot be one", record.len);
    status = make_room(s, record.len, no_space, err);
    if (status != ND_OK)
        return status;
    memcpy(&header, record.data, sizeof header);
    at = (struct nd_text_place){.segment = s->number,
                                .stored = (uint32_t)record.len,
                                .offset = s->written + s->pending.len,
                                .bytes = header.bytes};
    status = record.len < LONG_RECORD ? append_short(s, record, err)
                                      : append_long(s, record, no_space, err);
    if (status == ND_OK)
        *place = at;
    return status;
}

struct nd_segments_end nd_segments_end(const struct nd_segments *s)
{
    if (s->turns)
        return (struct nd_segments_end){s->number + 1, 0};
    return (struct nd_segments_end){s->number, s->written + s->pending.len};
}

void nd_segments_turn(struct nd_segments *s)
{
    nd_monitor_enter(&s->monitor);
    s->turns = s->written + s->pending.len > 0;
    nd_monitor_leave(&s->monitor);
}

/* Give up the segments that were begun behind the end; where one cannot be removed, the next open
 * does it.  What stays of the segment of the end was synced when it was left. */
static void go_back(struct nd_segments *s, struct nd_segments_end end)
{
    for (uint32_t number = s->number;
         number > end.segment || (number == end.segment && !end.offset); number--)
        (void)nd_segment_files_remove(s->files, number, NULL);
    nd_segment_files_let_go(s->files, s->current);
    s->current = NULL;
    s->is_dirty = false;
    set_end(s, end);
}

void nd_segments_rewind(struct nd_segments *s, struct nd_segments_end end)
{
    end.segment = end.segment ? end.segment : 1;
    if (s->turns && end.segment == s->number + 1)
        return;
    nd_monitor_enter(&s->monitor);
    s->turns = false;
    if (end.segment != s->number || !end.offset)
        go_back(s, end);
    else if (end.offset >= s->written)
        s->pending.len = (size_t)(end.offset - s->written);
    else
        set_end(s, end);
    nd_monitor_leave(&s->monitor);
}

/* ---- Reading ---- */

static enum nd_status refuse_place(const struct nd_segments *s, const struct nd_text_place *place,
                                   struct nd_error *err)
{
    struct nd_segment_path path;

    return nd_fail(err, ND_EINPUT,
                   "%s: has no text of %" PRIu32 " bytes at byte %" PRIu64 ": restore a backup",
                   nd_segment_files_path(s->files, place->segment, &path), place->stored,
                   place->offset);
}

/* 1: it was not written yet, and is copied; 0: it is in the file. */
static int read_pending(struct nd_segments *s, const struct nd_text_place *place,
                        struct nd_buffer *record, struct nd_error *err)
{
    int result = 0;

    nd_monitor_enter(&s->monitor);
    if (place->segment == s->number && place->offset >= s->written && s->pending.len &&
        place->stored <= s->pending.len &&
        place->offset - s->written <= s->pending.len - place->stored)
        result =
            nd_buffer_append(record, s->pending.data + (place->offset - s->written), place->stored)
                ? 1
                : -1;
    nd_monitor_leave(&s->monitor);
    return result < 0 ? (int)out_of_memory(err) : result;
}

static enum nd_status read_bytes(struct nd_segments *s, int fd, const struct nd_text_place *place,
                                 struct nd_buffer *record, struct nd_error *err)
{
    struct nd_segment_path path;

    while (record->len < place->stored) {
        ssize_t n = pread(fd, record->data + record->len, place->stored - record->len,
                          (off_t)(place->offset + record->len));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return nd_fail(err, ND_EIO, "%s: cannot be read: %s",
                           nd_segment_files_path(s->files, place->segment, &path), strerror(errno));
        if (n == 0)
            return refuse_place(s, place, err);
        record->len += (size_t)n;
    }
    return ND_OK;
}

/* A length that no file has is refused before there is memory for it. */
static enum nd_status read_file(struct nd_segments *s, const struct nd_text_place *place,
                                struct nd_buffer *record, struct nd_error *err)
{
    struct nd_segment_file *file;
    struct stat st;
    enum nd_status status = nd_segment_files_hold(s->files, place->segment, &file, err);
    int fd;

    if (status != ND_OK)
        return status;
    fd = nd_segment_file_descriptor(file);
    if (place->stored >= LONG_RECORD && fstat(fd, &st) == 0 &&
        (uint64_t)st.st_size < place->offset + place->stored)
        status = refuse_place(s, place, err);
    else if (!nd_buffer_reserve(record, place->stored))
        status = out_of_memory(err);
    else
        status = read_bytes(s, fd, place, record, err);
    nd_segment_files_let_go(s->files, file);
    return status;
}

enum nd_status nd_segments_read_record(struct nd_segments *s, const struct nd_text_place *place,
                                       struct nd_buffer *record, struct nd_error *err)
{
    struct nd_record_header header;
    enum nd_status status;
    int found;

    record->len = 0;
    if (place->stored < sizeof header || place->offset < ND_SEGMENT_HEADER ||
        place->offset > INT64_MAX - UINT32_MAX || !place->segment)
        return refuse_place(s, place, err);
    found = read_pending(s, place, record, err);
    if (found < 0)
        return (enum nd_status)found;
    status = found ? ND_OK : read_file(s, place, record, err);
    if (status == ND_OK)
        status = nd_record_check((struct nd_view){record->data, record->len}, s->files, place,
                                 &header, err);
    if (status == ND_OK && header.bytes != place->bytes)
        status = refuse_place(s, place, err);
    if (status != ND_OK)
        record->len = 0;
    return status;
}

enum nd_status nd_segments_read(struct nd_segments *s, struct nd_compressor *compressor,
                                const struct nd_text_place *place, struct nd_buffer *text,
                                struct nd_error *err)
{
    struct nd_buffer *record = nd_compressor_record(compressor);
    enum nd_status status = nd_segments_read_record(s, place, record, err);

    if (status != ND_OK)
        return status;
    return nd_record_unpack(compressor, (struct nd_view){record->data, record->len}, s->files,
                            place, text, err);
}

/* ---- Which segments there are ---- */

enum nd_status nd_segments_remove(struct nd_segments *s, uint32_t segment, struct nd_error *err)
{
    struct nd_segment_path path;
    enum nd_status status;
    bool is_in_use;

    nd_monitor_enter(&s->monitor);
    is_in_use = segment >= s->number && !(s->turns && segment == s->number);
    nd_monitor_leave(&s->monitor);
    if (is_in_use)
        return nd_fail(err, ND_EINVAL, "%s: is being appended to",
                       nd_segment_files_path(s->files, segment, &path));
    status = nd_segment_files_remove(s->files, segment, err);
    return status == ND_OK ? nd_segment_files_sync(s->files, err) : status;
}

enum nd_status nd_segments_list(struct nd_segments *s, uint32_t **numbers, size_t *n,
                                struct nd_error *err)
{
    return nd_segment_files_list(s->files, numbers, n, err);
}

uint64_t nd_segments_bytes(const struct nd_segments *s, uint32_t segment)
{
    struct nd_segments *open = (struct nd_segments *)s;
    uint64_t bytes = 0;

    nd_monitor_enter(&open->monitor);
    if (segment == s->number)
        bytes = s->written + s->pending.len;
    nd_monitor_leave(&open->monitor);
    return bytes ? bytes : nd_segment_files_bytes(s->files, segment);
}

const char *nd_segments_path(const struct nd_segments *s, uint32_t segment,
                             struct nd_segment_path *path)
{
    return nd_segment_files_path(s->files, segment, path);
}
