/* neardup/input.h - from files to records to documents */
#ifndef NEARDUP_INPUT_H
#define NEARDUP_INPUT_H

#include <neardup/error.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reading is in two steps.  The first, serial and cheap, decompresses and cuts a stream into
 * records: a line, a CSV row, a file, an archive entry.  The second, in parallel, makes a document
 * of a record, and can be done again later from the same bytes.
 */

enum nd_format {
    ND_FORMAT_AUTO,
    ND_FORMAT_TEXT,
    ND_FORMAT_HTML, /* by libxml2, opened at the first page; without it ND_PROBLEM_FAILED */
    ND_FORMAT_JSONL,
    ND_FORMAT_CSV,
    ND_FORMAT_TSV,
    /* A message a file, and a file of them (RFC 5322; RFC 4155).  Fields are "text" (the subject
     * and the body), "body", "id" (the Message-ID) and those of the header, by their names.  They
     * are read by GMime, which is opened at the first of them.  GLib, which it stands on, ends the
     * program where memory ends.  So a message has limits (docs/format/input.md), and before GMime
     * sees it as much is asked of the system, and given back, as GMime takes for it at most: 1 MiB,
     * 4 bytes for each of the message's, 600 for a line of a header, 4,000 for a part and 200 for a
     * word in a header; where that is refused, the record is bad.  What remains: other threads may
     * take the memory in between, and where the system promises more than it has, nobody is asked.
     * A program that cannot have that sets `no_mail`.  Where GMime or libxml2 is not installed, and
     * in a build without GMime, such a file is reported as ND_PROBLEM_FAILED. */
    ND_FORMAT_MAIL,
    ND_FORMAT_MBOX
};
enum nd_unit { ND_UNIT_FILE, ND_UNIT_LINE, ND_UNIT_PARAGRAPH }; /* what a record of plain text is */
enum nd_missing_text { ND_MISSING_SKIP, ND_MISSING_EMPTY };
enum nd_text_format { ND_TEXT_PLAIN, ND_TEXT_HTML }; /* what the text of a record with fields is */

/*
 * What becomes of files that are not text: those known by magic bytes (Parquet, WARC, PDF, Office
 * files, images, fonts, executables, databases …), and what would be plain text but has a NUL
 * within its first 8 KiB and no mark of UTF-16.  SKIP: given by name (and on standard input) such a
 * file is ND_PROBLEM_FAILED, with a message that says what to do instead; below directories and in
 * archives it is left out, and counted.  TEXT: it is read like any other.
 */
enum nd_binary { ND_BINARY_SKIP, ND_BINARY_TEXT };

/* Start from nd_input_options_default(); everything pointed to is borrowed for the life of the
 * input. */
struct nd_input_options {
    enum nd_format format;
    enum nd_unit unit;
    enum nd_missing_text missing_text;
    enum nd_text_format text_format; /* of JSON Lines, CSV and TSV */
    enum nd_binary binary;
    const char *const
        *text_fields; /* dotted paths; several are joined by a newline; default {"text"} */
    size_t n_text_fields;
    const char *id_field;      /* dotted path; default "id" */
    const char *const *fields; /* more fields to extract, in this order, for the caller */
    size_t n_fields;
    unsigned char no_mail;  /* mail is not looked for, and what is named as mail is refused */
    unsigned char markup;   /* of pages, fill document->markup and document->links as well */
    unsigned char elements; /* of pages, fill document->elements */
    /* In directories and archives only files that match one of the globs (none: all), and none of
     * the excludes.  A pattern without '/' is matched with the file's name, one with it with the
     * path below the directory, or within the archive.  Of an archive below a directory, which has
     * matched a glob itself, the files need match none. */
    const char *const *globs;
    size_t n_globs;
    const char *const *excludes;
    size_t n_excludes;
};
ND_API struct nd_input_options nd_input_options_default(void);

/* How the reading of a file, or of a source, went. */
enum nd_read_state {
    ND_READ_OPEN,   /* its end was not reached so far */
    ND_READ_WHOLE,  /* all of it was read */
    ND_READ_PARTLY, /* records were cut from it, others are lost: it is damaged or was cut short */
    ND_READ_FAILED, /* no record could be cut from it */
    ND_READ_SKIPPED /* it stands below a directory and is not text: left out, and counted */
};

/*
 * A file to read, as given or as found below a directory; an archive is one file.  `path` is set
 * from the start, the other members once nd_input_read has returned 0.  Each file that is
 * ND_READ_PARTLY or ND_READ_FAILED was reported as ND_PROBLEM_FAILED.
 */
struct nd_input_file {
    const char *path;
    uint64_t size;          /* of a regular file when it was found; else 0 */
    uint64_t device, inode; /* likewise, of the standard input too; inode 0: no regular file */
    int64_t modified_seconds, modified_nanoseconds; /* likewise: since 1970 */
    uint64_t bytes;                                 /* stored bytes that were read */
    uint64_t records;                               /* cut from it, of all its sources */
    uint64_t bad_records; /* of them, those that were no documents: left to whoever parses them */
    enum nd_read_state state;
    int is_found; /* below a directory; it was not given itself */
    /* What a file that is made of its records would lack, mostly of an archive: "files that are not
     * read"; NULL: nothing. */
    const char *lacks_rewritten;
};

/* A file, standard input, or a file in an archive: what a record is from. */
struct nd_source {
    const char *path;  /* as given; below a directory, joined to it; "-": standard input */
    const char *entry; /* name within the archive, or NULL */
    enum nd_format format;
    const char *compression;  /* "gzip", "zstd", "xz", "bzip2", "lz4", "none" */
    const char *archive;      /* "tar", "zip" or NULL */
    int is_container;         /* records in it are lines, rows or messages: all but whole files */
    int is_rereadable;        /* regular and uncompressed: offsets are those of the file */
    struct nd_view header;    /* CSV and TSV: the header row with its mark, if any, and line end */
    uint64_t bytes;           /* uncompressed bytes read so far */
    uint64_t records;         /* cut so far */
    enum nd_read_state state; /* known at its end */
    struct nd_input_file *file; /* that it is, or is in; `bad_records` is the caller's to count */
    uint64_t bytes_hash; /* XXH3 of the file as stored (of a file in an archive: the archive), known
                            at its end; 0 where it could not be read to its end */
};

/* A record as cut: bytes borrowed from its batch. */
struct nd_record {
    struct nd_view bytes; /* the whole record with its line end, readable 64 bytes beyond */
    uint64_t offset;      /* in the uncompressed source */
    uint64_t line;        /* first line, from 1; documents that are whole files: 0 */
    uint32_t source;      /* number of its nd_source */
};

/* Something to tell the user; the strings live during the call. */
enum nd_problem_kind {
    ND_PROBLEM_WARNING, /* something odd; nothing was lost */
    ND_PROBLEM_FAILED,  /* a file is absent, cannot be read, is damaged or ends too early: status 2
                           at the end */
    ND_PROBLEM_NOTE     /* nothing odd: how many files below directories were left out, and why */
};
struct nd_problem {
    enum nd_problem_kind kind;
    const char *message; /* begins with the file's name, and line where there is one */
};

/*
 * An input.  One thread at a time reads, any one; meanwhile others may do what is said to be safe
 * from any thread.  From inside `report` nd_input_read and nd_input_list are refused (ND_EINVAL),
 * and nd_input_close is put off to the end of the call.  It has no threads, and goes on in a child
 * process, which shares the place in its open file with the parent: only one of them may read.
 */
struct nd_input;

/*
 * Open a list of files, directories and "-".  Nothing is read yet.  The paths are copied.  `report`
 * (NULL: nobody is told) is called from nd_input_read, in the thread that calls it.  NULL:
 * ND_EINVAL (no path, no text field), ND_ENOMEM.
 */
ND_API struct nd_input *
nd_input_open(const char *const *paths, size_t n_paths, const struct nd_input_options *options,
              void (*report)(void *context, const struct nd_problem *problem), void *context,
              struct nd_error *err);
ND_API void nd_input_close(struct nd_input *input);

/* A batch of records and the memory they stand in.  Start from zeroes; used again and again. */
struct nd_batch {
    struct nd_record *records;
    size_t count;
    size_t bytes; /* sum of the records' lengths */
    struct nd_batch_memory *memory;
};
ND_API void nd_batch_release(struct nd_batch *batch);

/*
 * The next records: at most about max_bytes (one record at least, whatever its size) and
 * max_records. 1: batch holds some; 0: the end of all inputs; ND_ENOMEM, after which the input can
 * only be closed and this is ND_EINVAL, as it is from inside `report`.  What is wrong with a file
 * is no failure: it goes to `report`, and the next one is read.
 */
ND_API int nd_input_read(struct nd_input *input, size_t max_bytes, size_t max_records,
                         struct nd_batch *batch, struct nd_error *err);

/*
 * What is known of the sources met so far.  A source stays where it is until nd_input_close;
 * `bytes`, `records`, `state` and `bytes_hash` change in nd_input_read, the rest stands before the
 * first record of the source is given out.  So other threads may use the sources of records that
 * they have.  NULL: there is no such source.
 */
ND_API size_t nd_input_sources(const struct nd_input *input);
ND_API const struct nd_source *nd_input_source(const struct nd_input *input, uint32_t number);

/* Find the files that will be read now, and not in the first nd_input_read.  ND_ENOMEM, after which
 * the input can only be closed. */
ND_API enum nd_status nd_input_list(struct nd_input *input, struct nd_error *err);

/* The files that are read, in their order; none before the first nd_input_read or nd_input_list.  A
 * file stays where it is until nd_input_close.  NULL: there is no such file. */
ND_API size_t nd_input_files(const struct nd_input *input);
ND_API struct nd_input_file *nd_input_file(const struct nd_input *input, size_t number);

/*
 * Bytes of stored input consumed, and in total where it is known (else 0): for a progress bar. Safe
 * from any thread.
 */
ND_API void nd_input_progress(const struct nd_input *input, uint64_t *done, uint64_t *total);

/*
 * Read a record again, from a source that is_rereadable, into *bytes, a buffer that grows (caller
 * frees; 64 bytes readable beyond).  Safe from any thread.  ND_ECHANGED: the file is shorter, or
 * its size or time is not what it was; ND_EIO, ND_ENOMEM.
 */
ND_API enum nd_status nd_input_reread(const struct nd_input *input, uint32_t source,
                                      uint64_t offset, size_t len, char **bytes, size_t *capacity,
                                      struct nd_error *err);

/* Makes documents of records: the working memory of one thread. */
struct nd_parser;

/* At most 64 fields in all, id and text among them: else ND_EINVAL; or ND_ENOMEM. */
ND_API struct nd_parser *nd_parser_new(const struct nd_input_options *options,
                                       struct nd_error *err);
ND_API void nd_parser_free(struct nd_parser *parser);

/* Why a record is none: "text is null", "line is no JSON record: …"; where a record of JSON Lines
 * has no text, also which fields it has, and which one probably holds it. */
struct nd_bad_record {
    char reason[320];
};

/*
 * Parse one record: all of its bytes, with 64 readable beyond.  1: *document is filled; its views
 * lie in the record's bytes or in the parser, valid until the former go or nd_parser_reset; 0: the
 * record is bad and *bad says why; < 0: ND_ENOMEM.  *repaired (NULL allowed) is increased by the
 * invalid UTF-8 sequences that were replaced in a good record.  Fields asked for stand in
 * document->fields in the order of the options, with value.data NULL where absent or null; numbers,
 * true, false, arrays and objects are their own JSON.
 */
ND_API int nd_parser_parse(struct nd_parser *parser, const struct nd_source *source,
                           struct nd_view record, struct nd_document *document, uint64_t *repaired,
                           struct nd_bad_record *bad);

/* Forget all documents parsed since the last reset; keeps the memory. */
ND_API void nd_parser_reset(struct nd_parser *parser);

#ifdef __cplusplus
}
#endif
#endif
