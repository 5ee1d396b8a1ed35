/*
 * input_files.c - opening one file after the other, and one entry of an archive after the other;
 * files that are not text are left out and counted
 */
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "input/input_state.h"
#include "input/library/libarchive_load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Files that are not read: refused where they were named, else counted ---- */

static const char *copy_place(struct nd_input *input)
{
    const struct nd_source source = {.path = input->file.path, .entry = input->file.entry};
    char place[1024];

    nd_input_place(&source, place, sizeof place);
    return nd_arena_copy(&input->strings, place, strlen(place) + 1);
}

int nd_input_refuse_binary(struct nd_input *input, const struct nd_binary_kind *kind)
{
    struct nd_path_list *left = &input->paths;
    struct nd_open_file *f = &input->file;

    if (!f->entries && !f->known->is_found) {
        nd_input_problem(input, ND_PROBLEM_FAILED, "%s, so it is not read as text: %s", kind->what,
                         kind->advice ? kind->advice
                                      : "leave it out, or read it anyway with --binary text");
        return 0;
    }
    if (!f->entries)
        f->known->state = ND_READ_SKIPPED;
    if (!left->not_text_filter)
        left->not_text_filter = nd_detect_ready_filter(kind);
    if (left->not_text++ == 0 && !(left->first_not_text = copy_place(input)))
        return ND_ENOMEM;
    return 0;
}

/* Append "3 are not text", with a comma before it unless it is the first; "1 is …". */
static void ND_PRINTF(6, 7) add_reason(char *out, size_t capacity, uint64_t n, const char *one,
                                       const char *many, const char *format, ...)
{
    size_t used = strlen(out);
    va_list args;

    if (!n)
        return;
    (void)snprintf(out + used, capacity - used, "%s%" PRIu64 " %s ", used ? ", " : "", n,
                   n == 1 ? one : many);
    used = strlen(out);
    va_start(args, format);
    (void)vsnprintf(out + used, capacity - used, format, args);
    va_end(args);
}

/* Images and the like, redirects and revisits in web archives. */
static void tell_records_left_out(struct nd_input *input)
{
    const struct nd_path_list *left = &input->paths;
    uint64_t n = left->web_not_text + left->web_no_body;
    char reasons[200] = "";

    add_reason(reasons, sizeof reasons, left->web_not_text, "is", "are",
               "neither page nor plain text");
    add_reason(reasons, sizeof reasons, left->web_no_body, "has", "have", "no body");
    if (n)
        nd_report(&input->on_problem, ND_PROBLEM_NOTE,
                  "left out %" PRIu64 " record%s of web archives: %s", n, n == 1 ? "" : "s",
                  reasons);
}

/* Say which ready-made filter reads a file that is no text: "; --filter pdf reads PDF files …". */
static void tell_filter(const char *name, char *advice, size_t capacity)
{
    struct nd_input_filter ready;

    for (size_t i = 0; name && nd_input_filter(i, &ready); i++)
        if (strcmp(ready.name, name) == 0)
            (void)snprintf(advice, capacity, "; --filter %s reads %s (Debian: %s)", ready.name,
                           ready.kind, ready.package);
}

void nd_input_tell_left_out(struct nd_input *input)
{
    struct nd_path_list *left = &input->paths;
    uint64_t n = left->not_text + left->unmatched + left->special + left->unreadable;
    char reasons[1400] = "", advice[160] = "";

    if (left->was_told)
        return;
    left->was_told = true;
    tell_records_left_out(input);
    /* Files that are not regular, or could not be read, have been reported one by one. */
    if (left->not_text + left->unmatched == 0)
        return;
    add_reason(reasons, sizeof reasons, left->not_text, "is", "are", "not text (%s%s)",
               left->not_text > 1 ? "the first is " : "",
               left->first_not_text ? left->first_not_text : "");
    add_reason(reasons, sizeof reasons, left->unmatched, "matches", "match",
               "no pattern that was given");
    add_reason(reasons, sizeof reasons, left->special, "is", "are", "no regular file%s",
               left->special == 1 ? "" : "s");
    add_reason(reasons, sizeof reasons, left->unreadable, "could", "could", "not be read");
    tell_filter(left->not_text_filter, advice, sizeof advice);
    nd_report(&input->on_problem, n == left->unmatched ? ND_PROBLEM_NOTE : ND_PROBLEM_WARNING,
              "left out %" PRIu64 " file%s: %s%s", n, n == 1 ? "" : "s", reasons, advice);
}

/* ---- Opening one file after the other, and one entry of an archive after the other ---- */

/* Note that something of the open file, and of its source if one is being read, failed. */
static void note_failure(struct nd_input *input)
{
    input->file.has_failed = true;
    input->from.has_failed = true;
}

static enum nd_read_state state_of(bool has_failed, uint64_t records)
{
    return !has_failed ? ND_READ_WHOLE : records ? ND_READ_PARTLY : ND_READ_FAILED;
}

void nd_input_problem(struct nd_input *input, enum nd_problem_kind kind, const char *format, ...)
{
    struct nd_source source = {.path = input->file.path, .entry = input->file.entry};
    char place[1024], message[800];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (kind == ND_PROBLEM_FAILED)
        note_failure(input);
    nd_report(&input->on_problem, kind, "%s: %s", nd_input_place(&source, place, sizeof place),
              message);
}

void nd_input_loss(struct nd_input *input, bool names_line, const char *format, ...)
{
    const struct nd_open_source *from = &input->from;
    char place[1024], message[1000], line[32] = "";
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (names_line)
        (void)snprintf(line, sizeof line, ":%" PRIu64, from->line);
    note_failure(input);
    nd_report(&input->on_problem, ND_PROBLEM_FAILED, "%s%s: %s",
              nd_input_place(&from->source->source, place, sizeof place), line, message);
}

static void close_entry(struct nd_open_file *f)
{
    nd_stream_close(f->recoded);
    nd_stream_close(f->entry_unpacked);
    f->recoded = f->entry_unpacked = NULL;
    f->entry = f->filter = NULL;
    f->entry_compression = ND_COMPRESSION_NONE;
}

void nd_open_file_release(struct nd_open_file *f)
{
    nd_stream_close(f->unpacked);
    nd_stream_close(f->decoder);
    if (f->stored)
        nd_stream_close(&f->stored->stream);
    if (f->fd > 0)
        (void)nd_descriptor_close(f->fd);
    *f = (struct nd_open_file){.fd = -1};
}

static void close_file(struct nd_input *input)
{
    struct nd_open_file *f = &input->file;

    nd_unpack_ahead_end(input);
    if (f->stored)
        input->finished += f->stored->consumed;
    if (f->known) {
        f->known->bytes = f->stored ? f->stored->consumed : 0;
        if (f->known->state == ND_READ_OPEN)
            f->known->state = state_of(f->has_failed, f->known->records);
    }
    close_entry(f);
    nd_archive_reader_free(f->entries);
    nd_open_file_release(f);
}

/* The hash of the stored bytes; 0 if they were not read to the end. */
static uint64_t hash_of_file(const struct nd_open_file *f)
{
    return f->stored->stream.state == ND_STREAM_ENDED ? nd_file_hash_value(f->stored->hash) : 0;
}

/*
 * Read a compressed file to its end where its records were given up before: how far it has been read
 * would depend on the threads, and so would its hash.
 */
static void read_to_end(struct nd_stream *unpacked)
{
    char bytes[1 << 14];

    while (unpacked->state == ND_STREAM_OPEN && nd_stream_read(unpacked, bytes, sizeof bytes) > 0)
        ;
}

void nd_input_end_source(struct nd_input *input)
{
    struct nd_open_source *from = &input->from;
    struct nd_open_file *f = &input->file;

    if (f->unpacked && !f->entries && !input->sampling.is_on)
        read_to_end(f->unpacked);

    if (from->source && from->sampled) /* of a compressed file, by how much it was compressed */
        input->sampling.bytes +=
            (uint64_t)((double)from->sampled / (double)from->offset * (double)f->stored->consumed);
    if (from->source) {
        from->source->source.bytes = from->offset;
        from->source->source.state = state_of(from->has_failed, from->source->source.records);
        if (!f->entries)
            from->source->source.bytes_hash = hash_of_file(f);
    }
    *from = (struct nd_open_source){0};
    if (f->entries)
        close_entry(f);
    else
        close_file(input);
}

void nd_input_end(struct nd_input *input)
{
    input->from = (struct nd_open_source){0};
    input->file.known = NULL; /* its end was not reached */
    close_file(input);
}

/* Open the file itself: 1, 0 (reported), ND_ENOMEM. */
/*
 * The program that copies the file of an address to its standard output; NULL: the path is no
 * address.
 */
static const char *fetcher_of(const char *path)
{
    static const struct {
        const char *scheme, *command;
    } fetchers[] = {
        {"https://", "curl -sL"}, {"http://", "curl -sL"},         {"ftp://", "curl -s"},
        {"s3://", "aws s3 cp"},   {"gs://", "gcloud storage cat"},
    };

    for (size_t i = 0; i < sizeof fetchers / sizeof *fetchers; i++)
        if (nd_compare_caseless_n(path, fetchers[i].scheme, strlen(fetchers[i].scheme)) == 0)
            return fetchers[i].command;
    return NULL;
}

/* Tell the pipe that reads a file of a data set: hf://datasets/OWNER/NAME/PATH, its main version. */
static bool tell_hub(struct nd_input *input, const char *path)
{
    static const char scheme[] = "hf://";
    const char *rest = path + sizeof scheme - 1, *name, *file = NULL;

    if (nd_compare_caseless_n(path, scheme, sizeof scheme - 1) != 0)
        return false;
    name = strncmp(rest, "datasets/", 9) == 0 ? strchr(rest + 9, '/') : NULL;
    file = name ? strchr(name + 1, '/') : NULL;
    nd_input_problem(input, ND_PROBLEM_FAILED,
                     "is an address, not a file; read it through a pipe: curl -sL "
                     "'https://huggingface.co/%.*s/resolve/main%s' | neardup dedup --format %s",
                     file ? (int)(file - rest) : 19, file ? rest : "datasets/OWNER/NAME",
                     file ? file : "/FILE", nd_format_word(nd_detect_format_by_name(path)));
    return true;
}

/* Say why a path cannot be opened; of an address, what pipe reads it. */
static void tell_unopened(struct nd_input *input, const char *path)
{
    const char *fetcher = fetcher_of(path);
    enum nd_format format = nd_detect_format_by_name(path);
    const char *after = fetcher && strcmp(fetcher, "aws s3 cp") == 0 ? " -" : "";

    if (tell_hub(input, path))
        return;
    if (!fetcher)
        nd_input_problem(input, ND_PROBLEM_FAILED, "cannot be opened: %s", strerror(errno));
    else
        nd_input_problem(input, ND_PROBLEM_FAILED,
                         "is an address, not a file; read it through a pipe: %s '%s'%s | neardup "
                         "dedup --format %s",
                         fetcher, path, after, nd_format_word(format));
}

static int open_stored(struct nd_input *input, struct nd_input_file *known)
{
    struct nd_open_file *f = &input->file;
    const char *path = known->path;
    bool is_stdin = strcmp(path, "-") == 0;

    *f = (struct nd_open_file){
        .known = known, .path = path, .start = input->listed, .fd = is_stdin ? 0 : -1};
    if (!is_stdin)
        f->fd = nd_descriptor_open(path, ND_OPEN_READ);
    if (f->fd < 0 || !nd_descriptor_about(f->fd, &f->st)) {
        tell_unopened(input, path);
        input->paths.unreadable += known->is_found != 0;
        return 0;
    }
    f->is_regular = f->st.kind == ND_FILE_REGULAR && !is_stdin;
    if (f->is_regular)
        nd_descriptor_hint_whole(f->fd);
    f->stored = nd_file_stream_new(f->fd, f->is_regular, f->st.bytes);
    return f->stored ? 1 : ND_ENOMEM;
}

/* Whether libarchive, which reads this, is available; if not, it is reported. */
static bool has_libarchive(struct nd_input *input, const char *kind)
{
    const char *missing = nd_libarchive_load();

    if (missing)
        nd_input_problem(input, ND_PROBLEM_FAILED, "%s data cannot be read %s", kind, missing);
    return !missing;
}

/*
 * Whether the file ends within the first bytes of compressed data. Magic bytes that are only
 * letters, as those of bzip2, need the name as well.
 */
static bool is_cut_at_start(const struct nd_stream *s, const char *all, size_t len,
                            enum nd_compression named)
{
    enum nd_compression cut = nd_detect_cut_compression(all, len);

    return s->state == ND_STREAM_ENDED && cut != ND_COMPRESSION_NONE &&
           (named == cut || cut != ND_COMPRESSION_BZIP2 || len > 4);
}

/* Report a file with the name of an archive that is not one: 0. Otherwise, or if it is empty: 1. */
static int check_archive_name(struct nd_input *input, size_t len)
{
    const struct nd_open_file *f = &input->file;
    enum nd_archive named = nd_detect_archive_by_name(f->path);

    if (named == ND_ARCHIVE_NONE || f->archive != ND_ARCHIVE_NONE || len == 0)
        return 1;
    nd_input_problem(input, ND_PROBLEM_FAILED,
                     "is named like a %s archive but does not begin like one: was it cut short?",
                     nd_archive_name(named));
    return 0;
}

struct nd_stream *nd_decompress(struct nd_stream *inner, enum nd_compression compression,
                                const struct nd_unpack_ahead *ahead)
{
    struct nd_stream *frames = NULL;

    if (compression == ND_COMPRESSION_GZIP)
        return nd_gzip_stream_new(inner);
    if (!nd_can_decode(compression))
        return nd_libarchive_load() ? NULL : nd_unpack_stream_new(inner, compression);
    if (compression == ND_COMPRESSION_ZSTD && ahead)
        frames = nd_unpack_ahead_frames(ahead, inner);
    return frames ? frames : nd_decode_stream_new(inner, compression);
}

/* A thread may decompress the open file before it is read. */
static const struct nd_unpack_ahead *ahead_of(const struct nd_input *input,
                                              const struct nd_stream *inner)
{
    const struct nd_open_file *f = &input->file;

    return f->is_regular && inner == &f->stored->stream && !input->sampling.is_on
               ? input->unpack_ahead
               : NULL;
}

/*
 * Add the decompressor that the first bytes call for; *on_top is NULL if none is needed. `name` is
 * the stream's name.
 */
static int unpack(struct nd_input *input, struct nd_stream *inner, const char *name,
                  enum nd_compression *compression, struct nd_stream **on_top)
{
    enum nd_compression named = nd_detect_compression_by_name(name);
    const char *head;
    size_t len;

    *on_top = NULL;
    if (!nd_input_peek_head(input, inner, ND_HEAD_COMPRESSION, &head, &len))
        return ND_ENOMEM;
    *compression = nd_detect_compression(head, len);
    if (named != ND_COMPRESSION_NONE && len == 0 && inner->state == ND_STREAM_ENDED) {
        nd_input_problem(input, ND_PROBLEM_FAILED, "is empty: %s data was expected",
                         nd_compression_name(named));
        return 0;
    }
    if (is_cut_at_start(inner, head, len, named)) {
        nd_input_problem(input, ND_PROBLEM_FAILED,
                         "ends within the first bytes of %s data: it was cut short",
                         nd_compression_name(nd_detect_cut_compression(head, len)));
        return 0;
    }
    if (named != ND_COMPRESSION_NONE && named != *compression)
        nd_input_problem(input, ND_PROBLEM_WARNING, "is named like %s but its compression is %s",
                         nd_compression_name(named), nd_compression_name(*compression));
    if (*compression == ND_COMPRESSION_NONE)
        return 1;
    if (*compression != ND_COMPRESSION_GZIP && !nd_can_decode(*compression) &&
        !has_libarchive(input, nd_compression_name(*compression)))
        return 0;
    *on_top = nd_decompress(inner, *compression, ahead_of(input, inner));
    return *on_top ? 1 : ND_ENOMEM;
}

/* 1, 0 (reported), ND_ENOMEM. */
static int open_archive(struct nd_input *input, struct nd_stream *stream)
{
    struct nd_open_file *f = &input->file;
    int fd = f->is_regular && !f->unpacked ? f->fd : -1;

    if (!has_libarchive(input, nd_archive_name(f->archive)))
        return 0;
    f->entries = nd_archive_reader_new(stream, f->archive, fd, &input->strings);
    f->first_source = input->sources.count;
    return f->entries ? 1 : ND_ENOMEM;
}

/*
 * Read what the archive's reader left over, so that checksums are verified and the hash is
 * complete.
 */
static int drain(struct nd_input *input, bool was_told)
{
    struct nd_open_file *f = &input->file;
    struct nd_stream *top = f->unpacked ? f->unpacked : &f->stored->stream;
    char bytes[1 << 14];
    ssize_t n;

    do
        n = nd_stream_read(top, bytes, sizeof bytes);
    while (n > 0);
    if (n < 0 && top->status == ND_ENOMEM)
        return ND_ENOMEM;
    if (n < 0 && !was_told)
        nd_input_problem(input, ND_PROBLEM_FAILED, "%s; all files in it were read", top->failure);
    return 0;
}

/* Entries after the last file are kept with it; what our archives cannot represent is noted. */
static void keep_entries_after(struct nd_input *input)
{
    struct nd_open_file *f = &input->file;
    const struct nd_entry_header *after = NULL;

    (void)nd_archive_reader_headers(f->entries, &after);
    if (input->sources.count > f->first_source)
        nd_sources_get(&input->sources, input->sources.count - 1)->after = after;
    else if (after)
        f->known->lacks_rewritten = "all of its contents";
    if (!f->known->lacks_rewritten)
        f->known->lacks_rewritten = nd_archive_reader_lacks(f->entries);
    if (!f->known->lacks_rewritten && f->archive == ND_ARCHIVE_ZIP)
        f->known->lacks_rewritten = f->is_regular && !f->unpacked
                                        ? nd_zip_comments(f->fd, f->st.bytes)
                                        : "the comments in a zip";
}

static int end_archive(struct nd_input *input, const char *failure)
{
    struct nd_open_file *f = &input->file;
    int status;

    close_entry(f);
    if (failure)
        nd_input_problem(input, ND_PROBLEM_FAILED,
                         "%s; %" PRIu64 " files in it were found before that, the rest is lost",
                         failure, f->n_entries);
    else if (f->n_entries == 0)
        nd_input_problem(input, ND_PROBLEM_WARNING, "is an archive without files");
    keep_entries_after(input);
    status = drain(input, failure != NULL);
    for (size_t i = f->first_source; i < input->sources.count; i++)
        nd_sources_get(&input->sources, i)->source.bytes_hash = hash_of_file(f);
    close_file(input);
    return status;
}

/* An archive below a directory has already matched a glob, so all files in it match. */
static bool is_entry_wanted(const struct nd_input *input, const char *name)
{
    struct nd_input_options patterns = input->options;

    while (strncmp(name, "./", 2) == 0) /* tar c . */
        name += 2;
    if (input->file.known->is_found)
        patterns.n_globs = 0;
    return nd_path_is_wanted(&patterns, name);
}

static const struct nd_binary_kind *office_zip(const struct nd_input *input, const char *head,
                                               size_t len)
{
    return input->options.binary == ND_BINARY_TEXT ? NULL : nd_detect_office_zip(head, len);
}

/* Begin the next file of the archive: 1; 0: it was reported, or the archive has ended. */
static int next_entry(struct nd_input *input)
{
    struct nd_open_file *f = &input->file;
    struct nd_stream *stream;
    const struct nd_binary_kind *office;
    const char *name, *failure = NULL, *head;
    size_t len;
    int status = nd_archive_reader_next(f->entries, &stream, &name, &failure);

    if (status == ND_ENOMEM)
        return ND_ENOMEM;
    if (status <= 0)
        return end_archive(input, failure);
    f->n_entries++;
    if (!is_entry_wanted(input, name)) {
        f->known->lacks_rewritten = "files that are not read";
        input->paths.unmatched++;
        return 0;
    }
    f->entry = nd_arena_copy(&input->strings, name, strlen(name) + 1);
    if (!f->entry)
        return ND_ENOMEM;
    status = unpack(input, stream, f->entry, &f->entry_compression, &f->entry_unpacked);
    if (f->entry_unpacked)
        stream = f->entry_unpacked;
    if (status == 1 && !nd_input_peek_head(input, stream, ND_HEAD_ARCHIVE, &head, &len))
        status = ND_ENOMEM;
    f->filter = nd_detect_filter(f->entry, &input->options);
    if (status != 1 || f->filter) {
        /* it is read whatever its first bytes are, or not at all */
    } else if ((office = office_zip(input, head, len))) {
        status = nd_input_refuse_binary(input, office);
    } else if (nd_detect_archive(head, len) != ND_ARCHIVE_NONE) {
        nd_input_problem(input, ND_PROBLEM_FAILED, "is an archive within an archive: not read");
        status = 0;
    }
    if (status == 1)
        status = nd_input_begin_source(input, stream);
    if (status == 0) {
        f->known->lacks_rewritten = "files that are not read";
        close_entry(f);
    }
    return status;
}

/* A file that is compressed, or an archive, belongs to one part as a whole. */
static bool is_of_another_part(const struct nd_input *input)
{
    const struct nd_open_file *f = &input->file;

    return (f->compression != ND_COMPRESSION_NONE || f->archive != ND_ARCHIVE_NONE) &&
           !nd_part_has(input->part, f->start);
}

/* Leave a file as one that was never opened. */
static int leave_to_another_part(struct nd_input *input)
{
    input->file.known = NULL;
    close_file(input);
    return 0;
}

/* Whether a sample has something of the rest of the archive. */
static bool is_sampled(struct nd_input *input)
{
    const struct nd_sampling *s = &input->sampling;
    uint32_t block;

    return !s->is_on || nd_sampling_next(s, s->start + input->file.stored->consumed, &block) <=
                            s->start + s->size;
}

/* A sample has nothing of the rest. */
static int leave_archive(struct nd_input *input)
{
    close_entry(&input->file);
    close_file(input);
    return 0;
}

static int open_file(struct nd_input *input, struct nd_input_file *known)
{
    struct nd_open_file *f = &input->file;
    bool is_open = nd_unpack_ahead_take(input, known);
    int status = is_open ? 1 : open_stored(input, known);
    const struct nd_binary_kind *office;
    struct nd_stream *stream;
    const char *head;
    size_t len;

    if (is_open)
        f->start = input->listed;
    else if (status == 1)
        status = unpack(input, &f->stored->stream, f->path, &f->compression, &f->unpacked);
    if (status == 1 && !is_of_another_part(input))
        nd_unpack_ahead_begin(input);
    if (status == 1) {
        stream = f->unpacked ? f->unpacked : &f->stored->stream;
        if (!nd_input_peek_head(input, stream, ND_HEAD_ARCHIVE, &head, &len))
            return ND_ENOMEM;
        f->filter = nd_detect_filter(f->path, &input->options);
        f->archive = f->filter ? ND_ARCHIVE_NONE : nd_detect_archive(head, len);
        if (is_of_another_part(input))
            return leave_to_another_part(input);
        if (!f->filter && !check_archive_name(input, len)) {
            close_file(input);
            return 0;
        }
        office = f->filter ? NULL : office_zip(input, head, len);
        status = office       ? nd_input_refuse_binary(input, office)
                 : f->archive ? open_archive(input, stream)
                              : nd_input_begin_source(input, stream);
    }
    if (status == 0)
        close_file(input);
    return status;
}

static int open_next_file(struct nd_input *input)
{
    struct nd_input_file *known = &input->paths.file[input->next_path++];
    int status = 0;

    if (!nd_sampling_enter(&input->sampling, known->size))
        known->state = ND_READ_SKIPPED;
    else if (nd_part_touches(input->part, input->listed, known->size))
        status = open_file(input, known);
    input->listed += known->size;
    return status;
}

int nd_input_next_source(struct nd_input *input)
{
    for (;;) {
        int status;

        if (input->file.entries)
            status = is_sampled(input) ? next_entry(input) : leave_archive(input);
        else if (input->next_path < input->paths.count)
            status = open_next_file(input);
        else {
            nd_input_tell_left_out(input);
            return 0;
        }
        if (status < 0 || input->from.stream)
            return status;
    }
}
