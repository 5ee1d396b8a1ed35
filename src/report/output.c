/* output.c - a file on its way out: atomic where it can be, compressed as its name says */

/*
 * One output file. Bytes go through a buffer to a compressor, an archive writer, or directly to the
 * file. A regular file is written to a temporary without its final name, which the publisher
 * renames at the end; pipes, devices and the standard output are written in place. A writer may
 * lend memory for a while (nd_output_borrow) so that large records are not copied.
 */
#include "report/output.h"

#include <neardup/terminal.h>

#include "base/memory.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "input/formats/formats.h"
#include "input/streams/pack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 16 };

struct nd_output {
    char *name; /* as the user gave it, for messages */
    struct nd_publisher *publisher;
    enum nd_publish_stage stage;
    struct nd_file_mark replaced;      /* inode 0: no input */
    struct nd_temporary *temporary;    /* NULL: in place */
    int fd;                            /* the temporary's, or our own */
    const char *compression, *archive; /* "none"; NULL */
    struct nd_packer *packer;          /* made at the first write, where one of them is asked for */
    size_t held;                       /* bytes in buffer */
    char *buffer;                      /* gone once the file is finished */
    bool is_terminal;
    uint64_t at;                /* of the temporary: where what is written next goes */
    struct nd_late_write *late; /* what is borrowed, behind what is held; NULL: nothing is */
};

static enum nd_status failed(const struct nd_output *o, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: cannot be written: %s", o->name, strerror(errno));
}

/* All of the pieces, which it uses up. */
static enum nd_status write_pieces(struct nd_output *o, struct nd_piece *piece, size_t n,
                                   struct nd_error *err)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < n; i++)
        bytes += piece[i].bytes;
    o->publisher->wrote_in_place |= !o->temporary && bytes;
    if (nd_write_pieces(o->fd, piece, n, o->temporary ? &o->at : NULL) != ND_OK)
        return failed(o, err);
    o->at += bytes;
    return ND_OK;
}

static enum nd_status write_held(struct nd_output *o, struct nd_error *err)
{
    struct nd_piece held = {o->buffer, o->held};

    o->held = 0;
    return write_pieces(o, &held, 1, err);
}

static enum nd_status hold(void *context, const void *data, size_t len, struct nd_error *err)
{
    struct nd_output *o = context;
    enum nd_status status = ND_OK;

    if (len > BUFFER_BYTES - o->held)
        status = write_held(o, err);
    if (status == ND_OK && len >= BUFFER_BYTES)
        return write_pieces(o, &(struct nd_piece){data, len}, 1, err);
    if (status == ND_OK && len) {
        memcpy(o->buffer + o->held, data, len);
        o->held += len;
    }
    return status;
}

static enum nd_status open_file(struct nd_output *o, const char *path, struct nd_error *err)
{
    int descriptor = nd_output_descriptor(path);
    char *target;
    enum nd_status status = nd_output_target(path, &target, err);

    if (status != ND_OK)
        return status;
    if (target) {
        o->temporary = nd_temporary_create(target, &o->fd, err);
        free(target);
        return o->temporary ? ND_OK : ND_EIO;
    }
    o->fd =
        descriptor >= 0 ? nd_descriptor_copy(descriptor) : nd_descriptor_open(path, ND_OPEN_WRITE);
    if (o->fd < 0)
        return failed(o, err);
    return ND_OK;
}

struct nd_output *nd_output_open(struct nd_publisher *publisher, const char *path,
                                 enum nd_publish_stage stage, struct nd_error *err)
{
    struct nd_output *o = calloc(1, sizeof *o);

    path = path ? path : "-";
    if (!o) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    o->fd = -1;
    o->publisher = publisher;
    o->stage = stage;
    o->compression = nd_compression_of_name(path);
    o->name = nd_text_copy(strcmp(path, "-") == 0 ? "standard output" : path);
    o->buffer = malloc(BUFFER_BYTES);
    if (!o->name || !o->buffer) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        nd_output_discard(o);
        return NULL;
    }
    if (nd_packing_check(o->compression, publisher->level, err) == ND_OK &&
        open_file(o, path, err) == ND_OK) {
        o->is_terminal = nd_descriptor_is_terminal(o->fd);
        return o;
    }
    nd_output_discard(o);
    return NULL;
}

void nd_output_be_archive(struct nd_output *o, const char *archive)
{
    o->archive = archive;
    if (strcmp(archive, "zip") == 0) /* compresses each entry itself */
        o->compression = "none";
}

void nd_output_replace(struct nd_output *o, const struct nd_file_mark *input)
{
    o->replaced = *input;
    o->publisher->syncs |= input->inode != 0;
}

void nd_output_be_compressed(struct nd_output *o, const char *compression)
{
    o->compression = compression;
}

void nd_output_be_plain(struct nd_output *o)
{
    o->compression = "none";
}

/* To a terminal: what could steer it is shown as "\xNN". */
static enum nd_status show(struct nd_output *o, const char *data, size_t len, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t shown = 0, i = 0, n;

    while (status == ND_OK && i < len) {
        int is_control;

        n = nd_terminal_character(data + i, len - i, &is_control);
        if (is_control && data[i] != '\n' && data[i] != '\t') {
            status = hold(o, data + shown, i - shown, err);
            for (size_t k = 0; status == ND_OK && k < n; k++) {
                char escape[8];
                int made = snprintf(escape, sizeof escape, "\\x%02X", (unsigned char)data[i + k]);

                status = hold(o, escape, (size_t)made, err);
            }
            shown = i + n;
        }
        i += n;
    }
    return status == ND_OK ? hold(o, data + shown, len - shown, err) : status;
}

static bool is_packed(const struct nd_output *o)
{
    return o->archive || strcmp(o->compression, "none") != 0;
}

static enum nd_status make_packer(struct nd_output *o, struct nd_error *err)
{
    if (o->is_terminal) {
        return nd_fail(err, ND_EUNSUPPORTED, "an archive is not written to a terminal: use -o");
    }
    if (!o->packer) {
        const struct nd_packing packing = {o->compression, o->archive, o->publisher->level,
                                           o->publisher->pool};

        o->packer = nd_packer_new(&packing, hold, o, err);
    }
    return o->packer ? ND_OK : ND_EUNSUPPORTED;
}

enum nd_status nd_output_entry(struct nd_output *o, const char *name,
                               const struct nd_entry_header *header, uint64_t bytes,
                               struct nd_error *err)
{
    enum nd_status status = make_packer(o, err);

    return status == ND_OK ? nd_packer_entry(o->packer, name, header, bytes, err) : status;
}

enum nd_status nd_output_write(struct nd_output *o, const void *data, size_t len,
                               struct nd_error *err)
{
    enum nd_status status;

    if (!is_packed(o) && o->is_terminal)
        return show(o, data, len, err);
    if (!is_packed(o))
        return o->late ? nd_late_write_add(o->late, data, len, err) : hold(o, data, len, err);
    status = make_packer(o, err);
    return status == ND_OK ? nd_packer_write(o->packer, data, len, err) : status;
}

enum nd_status nd_output_divide(struct nd_output *o, struct nd_error *err)
{
    return o->packer ? nd_packer_divide(o->packer, err) : ND_OK;
}

void nd_output_borrow(struct nd_output *o, struct nd_late_write *late)
{
    late->n_pieces = 0;
    late->bytes = 0;
    o->late = late;
}

/* Reserve a place behind what is held. */
static enum nd_status reserve(struct nd_output *o, struct nd_late_write *late, struct nd_error *err)
{
    enum nd_status status = o->held ? write_held(o, err) : ND_OK;

    late->fd = o->fd;
    late->offset = o->at;
    o->at += late->bytes;
    return status;
}

/* Copy what is little after all, until there is more of it. */
enum nd_status nd_output_return(struct nd_output *o, struct nd_error *err)
{
    struct nd_late_write *late = o->late;
    enum nd_status status = ND_OK;
    size_t n = late->n_pieces;

    o->late = NULL;
    if (n && o->temporary)
        return reserve(o, late, err);
    late->n_pieces = 0;
    if (late->bytes > BUFFER_BYTES - o->held) {
        if (o->held)
            status = write_held(o, err);
        return status == ND_OK ? write_pieces(o, late->piece, n, err) : status;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(o->buffer + o->held, late->piece[i].data, late->piece[i].bytes);
        o->held += late->piece[i].bytes;
    }
    return ND_OK;
}

enum nd_status nd_output_write_late(const struct nd_output *o, struct nd_late_write *late,
                                    struct nd_error *err)
{
    return nd_late_write_do(late) == ND_OK ? ND_OK : failed(o, err);
}

enum nd_status nd_output_flush(struct nd_output *o, struct nd_error *err)
{
    return o->temporary ? ND_OK : write_held(o, err);
}

/* Give a whole file to the publisher; close what was written in place. */
static enum nd_status hand_over(struct nd_output *o, struct nd_error *err)
{
    struct nd_temporary *file = o->temporary;
    enum nd_status status = ND_OK;
    int fd = o->fd;

    if (file)
        status = nd_temporary_finish(file, o->publisher->syncs, err);
    if (status != ND_OK)
        return status;
    o->fd = -1;
    o->temporary = NULL;
    if (file)
        return nd_publisher_add(o->publisher, file, o->stage, &o->replaced, err);
    if (nd_descriptor_close(fd) != 0) /* some file systems report a full disk only here */
        status = failed(o, err);
    return status;
}

enum nd_status nd_output_finish(struct nd_output *o, struct nd_error *err)
{
    enum nd_status status = is_packed(o) ? make_packer(o, err) : ND_OK;

    if (status == ND_OK && o->packer)
        status = nd_packer_finish(o->packer, err);
    if (status == ND_OK)
        status = write_held(o, err);
    if (status == ND_OK)
        status = hand_over(o, err);
    nd_output_discard(o);
    return status;
}

void nd_output_discard(struct nd_output *o)
{
    if (!o)
        return;
    nd_packer_free(o->packer);
    if (o->fd >= 0 && !o->temporary)
        (void)nd_descriptor_close(o->fd);
    nd_temporary_discard(o->temporary);
    free(o->buffer);
    free(o->name);
    free(o);
}

/* ---- Records of several files behind one another ---- */

/* The line ends at the end of a record that is not empty. */
static void note_end(struct nd_separator *separator, struct nd_view record)
{
    size_t at = record.len;

    separator->has_record = 1;
    separator->newlines = 0;
    while (separator->newlines < 2 && at && record.data[at - 1] == '\n') {
        separator->newlines++;
        at--;
        if (at && record.data[at - 1] == '\r') {
            separator->has_return = 1;
            at--;
        }
    }
}

static bool lacks_first_line(const struct nd_cut *cut, struct nd_view record)
{
    const char *end = memchr(record.data, '\n', record.len);
    size_t len = end ? (size_t)(end - record.data) : record.len;

    return cut->first_line[0] && !cut->begins(record.data, len, true);
}

struct nd_view nd_separator_before(struct nd_separator *separator, struct nd_view record,
                                   enum nd_unit unit, enum nd_format format)
{
    static const char *const blank_line[] = {"\n\n", "\r\n\r\n"};
    const struct nd_cut *cut = nd_format_cut(format, unit);
    const struct nd_separator was = *separator;
    const char *const *text = lacks_first_line(cut, record) ? cut->first_line : blank_line;
    const char *between = text[was.has_return || cut->is_crlf];
    unsigned missing = was.newlines < cut->line_ends ? cut->line_ends - was.newlines : 0;

    note_end(separator, record);
    if (!was.has_record)
        return (struct nd_view){between, 0};
    if (cut->between)
        return (struct nd_view){cut->between, strlen(cut->between)};
    between += (size_t)(2 - missing) * (was.has_return || cut->is_crlf ? 2 : 1);
    return (struct nd_view){between, strlen(between)};
}
