/* survivors.c - the records that stay, in the form in which they came */

/*
 * Survivors keep their form: records of a container become records of one stream (records), files
 * of an archive become an archive, files become a list of paths, and a single document is copied.
 * All records that go to one output must have the same shape and format, which the first one
 * decides. Because an archive's headers contain the size of an entry, an entry whose records are
 * filtered is collected in memory first.
 */
#include "report/survivors.h"

#include "base/file/spool.h"
#include "base/hash.h"
#include "base/hash_set.h"
#include "base/memory.h"
#include "base/system/descriptor.h"
#include "input/formats/detect.h"
#include "input/formats/formats.h"
#include "input/streams/pack.h"
#include "input/streams/sources.h"
#include "report/annotation.h"
#include "report/copies.h"
#include "report/mirror.h"
#include "report/output.h"
#include "report/sketch_output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lists of paths ---- */

/* Nothing that is written may go before it is returned: so these are no copies. */
static enum nd_status add_escaped(struct nd_output *out, const char *path, struct nd_error *err)
{
    static const char special[] = "\n\r\t\\", *const escape[] = {"\\n", "\\r", "\\t", "\\\\"};
    enum nd_status status = ND_OK;

    while (status == ND_OK && *path) {
        size_t plain = strcspn(path, special);

        status = nd_output_write(out, path, plain, err);
        path += plain;
        if (status == ND_OK && *path)
            status = nd_output_write(out, escape[strchr(special, *path) - special], 2, err);
        path += *path != 0;
    }
    return status;
}

/* One more path, which stays until what was borrowed of it is returned.  In a list of lines one
 * that has line ends itself is written with the escapes of TSV; with NULs all stand as they are. */
static enum nd_status add_path(struct nd_output *out, const char *path, bool has_nuls,
                               struct nd_error *err)
{
    enum nd_status status = has_nuls || !strpbrk(path, "\r\n")
                                ? nd_output_write(out, path, strlen(path), err)
                                : add_escaped(out, path, err);

    return status == ND_OK ? nd_output_write(out, has_nuls ? "" : "\n", 1, err) : status;
}

/* ---- Files copied as they are stored ---- */

enum { PIECE_BYTES = 1 << 16 };

/* Whether the bytes of a source's record are others than those of its file, which can be read
 * again: it was unpacked or recoded. */
static bool is_stored_otherwise(const struct nd_source *source)
{
    struct nd_file_about about;

    return !source->entry && !source->is_rereadable && nd_path_about(source->path, &about) &&
           about.kind == ND_FILE_REGULAR;
}

static enum nd_status refused(const struct nd_source *source, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: cannot be read again: %s", source->path, strerror(errno));
}

static enum nd_status copy_all(const struct nd_source *source, int fd, char *piece,
                               struct nd_hash_stream *hash, struct nd_output *out,
                               struct nd_error *err)
{
    enum nd_status status = ND_OK;
    ssize_t n = 1;

    while (status == ND_OK && n != 0) {
        n = nd_descriptor_read(fd, piece, PIECE_BYTES);
        if (n < 0)
            return refused(source, err);
        nd_hash_stream_add(hash, piece, (size_t)n);
        status = nd_output_write(out, piece, (size_t)n, err);
    }
    return status;
}

/* ND_ECHANGED: the file is not what was read; ND_EIO, ND_ENOMEM. */
static enum nd_status copy_stored(const struct nd_source *source, struct nd_output *out,
                                  struct nd_error *err)
{
    struct nd_hash_stream *hash = nd_hash_stream_new();
    char *piece = malloc(PIECE_BYTES);
    int fd = nd_descriptor_open(source->path, ND_OPEN_READ);
    enum nd_status status;

    if (!hash || !piece)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    else if (fd < 0)
        status = refused(source, err);
    else
        status = copy_all(source, fd, piece, hash, out, err);
    /* The hash is known where the source has ended. */
    if (status == ND_OK && source->bytes_hash && nd_hash_stream_value(hash) != source->bytes_hash)
        status = nd_fail(err, ND_ECHANGED, "%s: was changed after it was first read", source->path);
    if (fd >= 0)
        (void)nd_descriptor_close(fd);
    nd_hash_stream_free(hash);
    free(piece);
    return status;
}

/* ---- Survivors ---- */

/* The contents of one output file. With a folder of outputs each has its own shape. */
enum shape { SHAPE_UNKNOWN, SHAPE_RECORDS, SHAPE_PATHS, SHAPE_DOCUMENT, SHAPE_ARCHIVE, SHAPE_FILE };

struct nd_survivors {
    const struct nd_method *annotates; /* not NULL: the records come with annotations */
    const char *copies_field;          /* not NULL: they come with a field of this name */
    const struct nd_run_options *options;
    const char *name;         /* of -o */
    struct nd_output *single; /* NULL: a mirror, or it is finished */
    struct nd_mirror *mirror;
    struct nd_sketch_output *sketches; /* not NULL: all that is added goes there */
    struct nd_publisher *publisher;    /* of these */
    enum nd_publish_stage stage;
    bool by_link, takes_documents, replaces; /* replaces: -o takes the place of the input */

    const struct nd_source *annotated; /* the first one of which records were */
    const struct nd_source *source;    /* the last one given */
    struct nd_output *out;             /* where its records go; NULL: none is open */
    enum shape shape;                  /* of `out`, or of -o */
    const struct nd_source *first;     /* that decided the shape */
    struct nd_json header;             /* of CSV and TSV, with columns that are added */
    struct nd_separator separator;
    const struct nd_source *framed;    /* the last one of which a record stands in the frame */
    struct nd_buffer frame_end;        /* what the end of the frame is; empty: none has begun */
    bool owes_divide;                  /* what is written next is compressed by itself */
    const struct nd_source_info *info; /* the last one of the source that was written */
    bool keeps_others;                 /* folders and links of archives */
    bool has_survived;                 /* the source, a file of an archive */
    bool is_ended;                     /* it, and what stands behind it is written */
    struct nd_hash_set gone;           /* names of such files that have not */
    bool in_entry; /* an archive's entry is collected in `entry`, its size being unknown */
    struct nd_spool *entry;
};

static struct nd_sketch_output *
open_sketches(const char *name, const struct nd_survivors_params *params, struct nd_error *err)
{
    return nd_sketch_output_open(name, params->sketches, &params->like, err);
}

struct nd_survivors *nd_survivors_new(const struct nd_survivors_params *params,
                                      struct nd_error *err)
{
    struct nd_survivors *s = calloc(1, sizeof *s);

    if (!s) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    s->options = params->options;
    s->name = params->output ? params->output : "-";
    s->by_link = params->by_link;
    s->annotates = params->annotates;
    s->copies_field = params->copies_field;
    s->takes_documents = s->annotates != NULL;
    s->replaces = params->replaced.inode != 0;
    s->keeps_others = params->stage == ND_PUBLISH_RESULT;
    s->gone.bytes_max = SIZE_MAX;
    s->publisher = params->publisher;
    s->stage = params->stage;
    if (params->sketches)
        s->sketches = open_sketches(s->name, params, err);
    else if (params->folder)
        s->mirror = nd_mirror_new(params->publisher, params->folder, params->may_replace, err);
    else
        s->single = nd_output_open(params->publisher, s->name, params->stage, err);
    if (s->single && s->replaces)
        nd_output_replace(s->single, &params->replaced);
    if (s->mirror || s->single || s->sketches)
        return s;
    free(s);
    return NULL;
}

void nd_survivors_take_documents(struct nd_survivors *s)
{
    s->takes_documents = true;
}

static enum shape shape_of(const struct nd_survivors *s, const struct nd_source *source)
{
    if (source->archive && !(s->single && source->is_container && nd_name_is_of_records(s->name)))
        return SHAPE_ARCHIVE;
    if (source->is_container)
        return SHAPE_RECORDS;
    if (!s->single)
        return SHAPE_FILE;
    return s->takes_documents ? SHAPE_DOCUMENT : SHAPE_PATHS;
}

static const char *shape_name(enum shape shape)
{
    switch (shape) {
    case SHAPE_RECORDS: return "holds records";
    case SHAPE_ARCHIVE: return "is an archive";
    default: return "is a document";
    }
}

static bool same_header(struct nd_view a, struct nd_view b)
{
    while (a.len && strchr("\r\n", a.data[a.len - 1]))
        a.len--;
    while (b.len && strchr("\r\n", b.data[b.len - 1]))
        b.len--;
    return a.len == b.len && (!a.len || memcmp(a.data, b.data, a.len) == 0);
}

/* Whether a source can go where the first one went. */
static enum nd_status check_mix(const struct nd_survivors *s, const struct nd_source *source,
                                enum shape shape, struct nd_error *err)
{
    const struct nd_source *first = s->first;

    if (shape != s->shape)
        return nd_fail(err, ND_EINPUT,
                       "%s %s, %s %s: they cannot go to one output; use --output-dir", first->path,
                       shape_name(s->shape), source->path, shape_name(shape));
    if (shape == SHAPE_DOCUMENT)
        return nd_fail(err, ND_EINPUT,
                       "%s and %s are separate documents: they cannot go to one output; use "
                       "--output-dir",
                       first->path, source->path);
    if (shape != SHAPE_RECORDS)
        return ND_OK;
    if (first->format != source->format)
        return nd_fail(err, ND_EINPUT,
                       "%s is %s, %s is %s: they cannot go to one output; use --output-dir",
                       first->path, nd_format_name(first->format), source->path,
                       nd_format_name(source->format));
    if (nd_format_row(source->format)->has_header && !same_header(first->header, source->header))
        return nd_fail(err, ND_EINPUT,
                       "%s and %s have different headers: they cannot go to one output; use "
                       "--output-dir",
                       first->path, source->path);
    return ND_OK;
}

/* Bytes to the output, or to the entry that is being collected. */
static enum nd_status put(struct nd_survivors *s, struct nd_view bytes, struct nd_error *err)
{
    if (s->in_entry)
        return nd_spool_append(s->entry, bytes.data, bytes.len, NULL, err);
    return nd_output_write(s->out, bytes.data, bytes.len, err);
}

/* Put a record, each of its parts as a member of its own where it is compressed. */
static enum nd_status put_parts(struct nd_survivors *s, struct nd_view record, struct nd_error *err)
{
    const struct nd_cut *cut = nd_format_cut(s->source->format, s->options->input.unit);
    enum nd_status status = ND_OK;

    if (!cut->part || s->in_entry)
        return put(s, record, err);
    while (record.len && status == ND_OK) {
        size_t len = cut->part(record);

        if (s->owes_divide)
            status = nd_output_divide(s->out, err);
        if (status == ND_OK)
            status = put(s, (struct nd_view){record.data, len}, err);
        s->owes_divide = true;
        record.data += len;
        record.len -= len;
    }
    return status;
}

/* Begin the frame of a feed with its first record, or have the record of another feed fit in. */
static enum nd_status begin_frame(struct nd_survivors *s, struct nd_error *err)
{
    const struct nd_format_row *row = nd_format_row(s->source->format);
    const struct nd_source *before = s->framed;

    s->framed = s->source;
    if (s->frame_end.len) {
        if (row->is_like_frame(before->header, s->source->header))
            return ND_OK;
        return nd_fail(err, ND_EINPUT,
                       "%s and %s have different root elements: they cannot go to one output; use "
                       "--output-dir",
                       before->path, s->source->path);
    }
    if (s->source->header.data && !s->source->header.len)
        return nd_fail(err, ND_EINPUT,
                       "%s: what stands before its first item is longer than 1 MiB, which is not "
                       "kept; use --removed or --manifest",
                       s->source->path);
    if (!row->frame_end(s->source->header, &s->frame_end))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return s->source->header.len ? put(s, s->source->header, err) : ND_OK;
}

/* End the frame, also that of a feed of which nothing survives. */
static enum nd_status end_frame(struct nd_survivors *s, struct nd_error *err)
{
    struct nd_view end;
    enum nd_status status = ND_OK;

    if (!s->source || !nd_format_row(s->source->format)->frame_end)
        return ND_OK;
    if (!s->frame_end.len && s->source->header.len)
        status = begin_frame(s, err);
    end = (struct nd_view){s->frame_end.data, s->frame_end.len};
    s->frame_end.len = 0; /* the bytes stay until the next frame */
    s->framed = NULL;
    return status == ND_OK && end.len ? put(s, end, err) : status;
}

static enum nd_status put_record(struct nd_survivors *s, struct nd_view record,
                                 struct nd_error *err)
{
    struct nd_view between =
        nd_separator_before(&s->separator, record, s->options->input.unit, s->source->format);
    enum nd_status status = ND_OK;

    if (s->framed != s->source && nd_format_row(s->source->format)->frame_end)
        status = begin_frame(s, err);
    if (status == ND_OK && between.len)
        status = put(s, between, err);
    return status == ND_OK ? put_parts(s, record, err) : status;
}

/* Put what the archive says of the records from there on, before the first of them. */
static enum nd_status put_infos(struct nd_survivors *s, uint64_t line, struct nd_error *err)
{
    const struct nd_source_info *info;
    enum nd_status status = ND_OK;

    if (!nd_format_cut(s->source->format, s->options->input.unit)->part)
        return ND_OK;
    while (status == ND_OK && (info = nd_source_next_info(s->source, s->info, line))) {
        status = put_record(s, info->bytes, err);
        s->info = info;
    }
    return status;
}

static const struct nd_entry_header *header_of(const struct nd_source *source)
{
    const struct nd_entry_header *before;

    return nd_source_entry(source, &before);
}

/* Folders and links of an archive; but no link to a file that has been removed. */
static enum nd_status put_others(struct nd_survivors *s, const struct nd_entry_header *h,
                                 struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (; h && status == ND_OK; h = h->next)
        if (h->kind != ND_ENTRY_LINK || !h->target ||
            !nd_hash_set_has(&s->gone, nd_hash_bytes(h->target, strlen(h->target))))
            status = nd_output_entry(s->out, h->name, h, 0, err);
    return status;
}

/* The last file of the archive has been given. */
static enum nd_status end_file(struct nd_survivors *s, struct nd_error *err)
{
    const struct nd_source *last = s->shape == SHAPE_ARCHIVE && s->out ? s->source : NULL;

    if (!last || !s->keeps_others || s->is_ended)
        return ND_OK;
    s->is_ended = true;
    if (last->entry && !last->is_container && !s->has_survived)
        (void)nd_hash_set_add(&s->gone, nd_hash_bytes(last->entry, strlen(last->entry)));
    if (s->gone.has_no_memory)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return put_others(s, nd_source_entries_after(last), err);
}

/* The entry's size is known now: its header, then what was collected. */
static enum nd_status end_entry(struct nd_survivors *s, struct nd_error *err)
{
    struct nd_buffer piece = {0};
    uint64_t bytes, at = 0;
    enum nd_status status;

    if (!s->in_entry)
        return ND_OK;
    status = end_frame(s, err);
    s->in_entry = false;
    bytes = nd_spool_bytes(s->entry);
    if (status == ND_OK)
        status = nd_output_entry(s->out, s->source->entry, header_of(s->source), bytes, err);
    while (status == ND_OK && at < bytes) {
        size_t len = bytes - at < (1 << 20) ? (size_t)(bytes - at) : (size_t)1 << 20;

        status = nd_spool_read(s->entry, at, len, &piece, err);
        if (status == ND_OK)
            status = nd_output_write(s->out, piece.data, len, err);
        at += len;
    }
    nd_buffer_release(&piece);
    return status == ND_OK ? nd_spool_clear(s->entry, err) : status;
}

static enum nd_status begin_entry(struct nd_survivors *s, struct nd_error *err)
{
    if (!s->entry && !(s->entry = nd_spool_new(s->options->tmp, err)))
        return ND_EIO;
    s->in_entry = true;
    s->separator = (struct nd_separator){0};
    s->owes_divide = false;
    return ND_OK;
}

/* Put the header with the columns that records come with. */
static enum nd_status put_more_columns(struct nd_survivors *s, struct nd_error *err)
{
    const struct nd_source *source = s->source;
    struct nd_json *header = &s->header; /* what is written may stay where it is for a while */

    header->text.len = 0;
    if (s->copies_field)
        nd_copies_header(header, source->format, source->header, s->copies_field);
    else if (!nd_annotation_header(header, source->format, source->header, s->annotates))
        return nd_fail(err, ND_EINPUT,
                       "%s has columns neardup.… of an earlier annotation: remove them first",
                       source->path);
    if (header->failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return put_record(s, (struct nd_view){header->text.data, header->text.len}, err);
}

/* The header of CSV and TSV, once an output or entry; that of each web archive. */
static enum nd_status put_header(struct nd_survivors *s, struct nd_error *err)
{
    if (!s->source->is_container || !s->source->header.len ||
        nd_format_row(s->source->format)->frame_end)
        return ND_OK;
    if (!nd_format_row(s->source->format)->has_header)
        return put_record(s, s->source->header, err);
    if (s->separator.has_record)
        return ND_OK;
    if (s->annotates || s->copies_field)
        return put_more_columns(s, err);
    return put_record(s, s->source->header, err);
}

/* An input is replaced by what survives of it, in its own format, and by nothing else. */
static enum nd_status check_replaced(const struct nd_survivors *s, const struct nd_source *source,
                                     enum shape shape, struct nd_error *err)
{
    const char *archive = nd_archive_of_name(s->name);

    if (shape == SHAPE_PATHS || shape == SHAPE_DOCUMENT)
        return nd_fail(err, ND_EINVAL,
                       "'%s' is a document and would be replaced by %s: choose another output",
                       s->name, shape == SHAPE_PATHS ? "a list of paths" : "another");
    if (source->archive && shape != SHAPE_ARCHIVE)
        return nd_fail(err, ND_EINVAL,
                       "'%s' is an archive and would be replaced by records: choose another output",
                       s->name);
    if (shape == SHAPE_ARCHIVE && archive && strcmp(archive, source->archive) != 0)
        return nd_fail(err, ND_EINVAL, "'%s' is named like %s but is %s: choose another output",
                       s->name, archive, source->archive);
    return ND_OK;
}

static enum nd_status choose_single(struct nd_survivors *s, const struct nd_source *source,
                                    struct nd_error *err)
{
    const char *name = s->name, *archive;
    enum shape shape = shape_of(s, source);
    enum nd_status status = s->replaces ? check_replaced(s, source, shape, err) : ND_OK;

    if (status != ND_OK || s->shape != SHAPE_UNKNOWN)
        return status == ND_OK ? check_mix(s, source, shape, err) : status;
    s->shape = shape;
    s->first = source;
    s->out = s->single;
    archive = nd_archive_of_name(name);
    if (s->replaces && shape == SHAPE_RECORDS)
        nd_output_be_compressed(s->single, source->compression);
    if (shape == SHAPE_ARCHIVE && nd_name_is_of_records(name))
        return nd_fail(err, ND_EINVAL,
                       "%s: is named like a file of records, but %s holds documents, so the output "
                       "is a %s: name it like one, or use --copy-to",
                       name, source->path, source->archive);
    if (shape == SHAPE_ARCHIVE)
        nd_output_be_archive(s->single, archive ? archive : source->archive);
    else if (archive)
        return nd_fail(err, ND_EINPUT, "%s: %s is not an archive, so the output cannot be one",
                       name, source->path);
    return ND_OK;
}

static enum nd_status close_file(struct nd_survivors *s, struct nd_error *err)
{
    enum nd_status status = end_entry(s, err);

    if (status == ND_OK && s->shape == SHAPE_RECORDS && s->out)
        status = end_frame(s, err);
    if (status == ND_OK && s->mirror && s->out) {
        status = nd_mirror_close(s->mirror, err);
        s->out = NULL;
    }
    return status;
}

/* Open the mirror's file of a container or an archive; a document's is opened when it survives. */
static enum nd_status choose_mirrored(struct nd_survivors *s, const struct nd_source *source,
                                      struct nd_error *err)
{
    bool same = s->out && s->shape == SHAPE_ARCHIVE && source->archive &&
                strcmp(s->first->path, source->path) == 0;
    enum nd_status status;

    if (strcmp(source->path, "-") == 0)
        return nd_fail(err, ND_EINPUT, "standard input has no name for a file in a folder; use -o");
    if (!s->options->output_dir && source->is_container)
        return nd_fail(err, ND_EINPUT,
                       "%s holds records, which cannot be copied or linked as files; use -o or "
                       "--output-dir",
                       source->path);
    if (same)
        return ND_OK;
    status = close_file(s, err);
    s->shape = s->options->output_dir ? shape_of(s, source) : SHAPE_FILE;
    s->first = source;
    s->separator = (struct nd_separator){0};
    s->owes_divide = false;
    if (status != ND_OK || s->shape == SHAPE_FILE)
        return status;
    status = nd_mirror_open(s->mirror, source, NULL, &s->out, err);
    if (status == ND_OK && s->shape == SHAPE_ARCHIVE)
        nd_output_be_archive(s->out, source->archive);
    return status;
}

/*
 * A source that has no records to come: a file that could not be made out, or an archive as a whole
 * where its entries go somewhere by themselves.
 */
static bool is_passed_over(const struct nd_survivors *s, const struct nd_source *source)
{
    if (source->format != ND_FORMAT_AUTO)
        return false;
    if (!source->archive || source->entry)
        return true;
    return s->single ? nd_name_is_of_records(s->name) : !s->options->output_dir;
}

static enum nd_status add_sketch_source(struct nd_survivors *s, const struct nd_source *source,
                                        struct nd_error *err)
{
    const struct nd_sketch_source row = {source->path, source->entry, source->bytes_hash,
                                         source->records};

    return nd_sketch_writer_add_source(nd_sketch_output_writer(s->sketches), &row, err);
}

enum nd_status nd_survivors_source(struct nd_survivors *s, const struct nd_source *source,
                                   struct nd_error *err)
{
    const struct nd_entry_header *before = NULL;
    enum nd_status status;

    if (s->sketches)
        return add_sketch_source(s, source, err);
    status = end_entry(s, err);
    if (status == ND_OK)
        status = end_file(s, err);
    if (status != ND_OK || is_passed_over(s, source))
        return status;
    if (s->annotates)
        status = nd_annotation_check(source, &s->annotated, err);
    if (status == ND_OK)
        status = s->single ? choose_single(s, source, err) : choose_mirrored(s, source, err);
    s->source = source;
    s->info = NULL;
    s->has_survived = s->is_ended = false;
    if (s->shape == SHAPE_ARCHIVE && s->keeps_others)
        (void)nd_source_entry(source, &before);
    if (status == ND_OK && before)
        status = put_others(s, before, err);
    if (status == ND_OK && s->shape == SHAPE_ARCHIVE && source->entry && source->is_container)
        status = begin_entry(s, err);
    if (status == ND_OK && s->shape != SHAPE_PATHS && s->shape != SHAPE_FILE)
        status = put_header(s, err);
    return status;
}

/* A file as it is stored, unless it comes with an annotation; an archive's entry, or what came from
 * a pipe, as its name says. */
static enum nd_status put_file(struct nd_survivors *s, struct nd_view record, struct nd_error *err)
{
    const struct nd_source *source = s->source;
    bool is_another = !s->takes_documents && is_stored_otherwise(source);

    if (is_another || source->is_rereadable)
        nd_output_be_plain(s->out);
    if (is_another)
        return copy_stored(source, s->out, err);
    return nd_output_write(s->out, record.data, record.len, err);
}

static enum nd_status add_file(struct nd_survivors *s, struct nd_view record, struct nd_error *err)
{
    const struct nd_source *source = s->source;
    enum nd_status status;

    if (s->by_link && source->archive)
        return nd_fail(err, ND_EINPUT,
                       "%s is an archive: its entries cannot be linked to; use "
                       "--copy-to",
                       source->path);
    if (s->by_link)
        return nd_mirror_link(s->mirror, source, err);
    status = nd_mirror_open(s->mirror, source, source->entry, &s->out, err);
    if (status == ND_OK)
        status = put_file(s, record, err);
    return status == ND_OK ? close_file(s, err) : status;
}

enum nd_status nd_survivors_add(struct nd_survivors *s, uint64_t line, struct nd_view record,
                                struct nd_error *err)
{
    const struct nd_source *source = s->source;
    enum nd_status status;

    if (s->sketches)
        return nd_sketch_output_add_packed(s->sketches, record, err);
    switch (s->shape) {
    case SHAPE_PATHS: return add_path(s->out, source->path, s->options->null_paths, err);
    case SHAPE_FILE: return add_file(s, record, err);
    case SHAPE_ARCHIVE:
        if (s->in_entry)
            break;
        status = nd_output_entry(s->out, source->entry, header_of(source), record.len, err);
        s->has_survived = true;
        return status == ND_OK ? nd_output_write(s->out, record.data, record.len, err) : status;
    default: break;
    }
    status = put_infos(s, line, err);
    return status == ND_OK ? put_record(s, record, err) : status;
}

void nd_survivors_borrow(struct nd_survivors *s, struct nd_late_write *late)
{
    if (s->single)
        nd_output_borrow(s->single, late);
}

enum nd_status nd_survivors_return(struct nd_survivors *s, struct nd_error *err)
{
    return s->single ? nd_output_return(s->single, err) : ND_OK;
}

enum nd_status nd_survivors_write_late(const struct nd_survivors *s, struct nd_late_write *late,
                                       struct nd_error *err)
{
    return s->single ? nd_output_write_late(s->single, late, err) : ND_OK;
}

enum nd_status nd_survivors_flush(struct nd_survivors *s, struct nd_error *err)
{
    return s->single ? nd_output_flush(s->single, err) : ND_OK;
}

enum nd_status nd_survivors_finish(struct nd_survivors *s, struct nd_error *err)
{
    enum nd_status status = end_entry(s, err);
    struct nd_output *single = s->single;
    const char *archive = nd_archive_of_name(s->name);

    if (status == ND_OK)
        status = end_file(s, err);
    if (status == ND_OK)
        status = close_file(s, err);
    if (status == ND_OK && s->sketches)
        return nd_sketch_output_finish(s->sketches, s->publisher, s->stage, err);
    if (status != ND_OK || !single)
        return status;
    if (s->shape == SHAPE_UNKNOWN && archive) /* no input at all: an archive without entries */
        nd_output_be_archive(single, archive);
    s->single = s->out = NULL;
    return nd_output_finish(single, err);
}

void nd_survivors_are_published(struct nd_survivors *s)
{
    if (s->mirror)
        nd_mirror_is_published(s->mirror);
}

const struct nd_input_file *nd_survivors_replaced(const struct nd_survivors *s, size_t i)
{
    return s->mirror ? nd_mirror_replaced(s->mirror, i) : NULL;
}

void nd_survivors_free(struct nd_survivors *s)
{
    if (!s)
        return;
    nd_output_discard(s->single);
    nd_sketch_output_free(s->sketches);
    nd_mirror_free(s->mirror);
    nd_spool_free(s->entry);
    nd_json_release(&s->header);
    nd_buffer_release(&s->frame_end);
    nd_hash_set_release(&s->gone);
    free(s);
}
