/*
 * neardup/input.h - from files to records to documents (library neardup-files)
 *
 *     struct nd_input *input = nd_input_open(paths, n, &options, report, NULL, &err);
 *     struct nd_parser *parser = nd_parser_new(&options, &err);
 *
 *     while (nd_input_read(input, 1 << 20, 1000, &batch, &err) == 1) {
 *         const struct nd_record *r = &batch.records[0]; // … to batch.count - 1
 *         nd_parser_parse(parser, nd_input_source(input, r->source), r->bytes, &document, NULL,
 *                         &bad);
 *     }
 */
#ifndef NEARDUP_INPUT_H
#define NEARDUP_INPUT_H

#include <neardup/error.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reading has two steps.  The first decompresses a stream and cuts it into records: a line, a CSV
 * row, a file, an archive entry.  It is serial and cheap.  The second makes a document from a
 * record.  It runs on several threads, and can be repeated later from the same bytes.
 */

enum nd_format {
    ND_FORMAT_AUTO,
    ND_FORMAT_TEXT,
    /* Read by libxml2, which is opened for the first page.  Where it is not installed, a page is
     * reported as ND_PROBLEM_FAILED. */
    ND_FORMAT_HTML,
    ND_FORMAT_JSONL,
    ND_FORMAT_CSV,
    ND_FORMAT_TSV,
    /*
     * One message in a file (RFC 5322).  Its fields are "text" (the subject and the body), "body",
     * "id" (the Message-ID), and the fields of the header by their names.
     *
     * Messages are read by GMime, which is opened for the first of them.  Where GMime or libxml2 is
     * not installed, and in a build without GMime, a message is reported as ND_PROBLEM_FAILED.
     *
     * GMime uses GLib, which ends the program when memory runs out.  Messages therefore have limits
     * (docs/format/input.md).  Before GMime reads one, the library allocates as much memory as
     * GMime can need for it and frees it again: 1 MiB, 4 bytes for each byte of the message, 600
     * for a line of a header, 4,000 for a part and 200 for a word in a header.  If that fails, the
     * record is bad.  The check is not perfect: another thread may take the memory in between, and
     * a system that overcommits memory does not refuse.  A program that cannot accept this sets
     * `no_mail`.
     */
    ND_FORMAT_MAIL,
    /* Many messages in a file (RFC 4155). */
    ND_FORMAT_MBOX,
    /* A web archive (ISO 28500): a record is a response, a resource or a conversion whose body is a
     * page or plain text, with the requests and the metadata beside it.  Its id is its address. */
    ND_FORMAT_WARC,
    /* The older form of it. */
    ND_FORMAT_ARC,
    /* A feed in XML (RSS, Atom): a record is an item, whose fields are "text" (the title and the
     * content), "title", "body", "id", "link", "date", "author" … (docs/format/feeds.md). */
    ND_FORMAT_FEED,
    /* Stories: SGML of Reuters and TREC, NITF, NewsML-G2 (docs/format/news.md). */
    ND_FORMAT_NEWS,
    /* A feed in JSON (jsonfeed.org): a record is an item, with the fields of ND_FORMAT_FEED. */
    ND_FORMAT_JSONFEED,
    /* A file of another kind, whose text a program of the user makes (nd_input_options.filters). As
     * the option `format`: all files are of this kind, whatever their names are, and there is one
     * filter. */
    ND_FORMAT_FILTERED
};
#define ND_FORMAT_COUNT (ND_FORMAT_FILTERED + 1)

/* The word that options and the manifest use, such as "jsonl". */
ND_API const char *nd_format_word(enum nd_format format);

/* The name that messages use, such as "JSON Lines". */
ND_API const char *nd_format_name(enum nd_format format);

/* The unit of plain text that is a record. */
enum nd_unit { ND_UNIT_FILE, ND_UNIT_LINE, ND_UNIT_PARAGRAPH };

/* The treatment of a record without a text: it is bad, or its text is empty. */
enum nd_missing_text { ND_MISSING_SKIP, ND_MISSING_EMPTY };

/* The format of the text in a JSON, CSV or TSV record. */
enum nd_text_format { ND_TEXT_PLAIN, ND_TEXT_HTML };

/*
 * The treatment of files that are not text: files with the magic bytes of a binary format (Parquet,
 * PDF, Office files, images, fonts, executables, databases …), and files without a byte order
 * mark of UTF-16 that have a NUL within their first 8 KiB.
 */
enum nd_binary {
    /* A file that was named, or standard input, is reported as ND_PROBLEM_FAILED, with a message
     * that says what to do instead.  A file below a directory or in an archive is left out and
     * counted. */
    ND_BINARY_SKIP,
    /* It is read like any other file. */
    ND_BINARY_TEXT
};

/*
 * One of the parts into which machines divide an input.  Part i of n has the stored bytes from
 * floor(S (i - 1) / n) on, before floor(S i / n), of all files put one behind the other, S in all.
 * To it belong the records that begin there, of a file that is not compressed and whose records are
 * lines, rows, paragraphs or messages; and other files, whole, that begin there.  So the records of
 * parts 1 … n, one after the other, are those of all.
 */
struct nd_input_part {
    /* i, from 1 */
    unsigned number;
    /* n, at most ND_INPUT_PARTS_MAX; 0: the input is not divided */
    unsigned of;
};
#define ND_INPUT_PARTS_MAX (1 << 20)

/*
 * The limits of one run of a filter: what it may take of the clock, of memory (RLIMIT_AS, of each of
 * its processes), and write.
 */
struct nd_filter_limits {
    /* From 1 to ND_FILTER_SECONDS_MAX; default: 60. */
    unsigned seconds;
    /* Default: 2 GiB. */
    uint64_t memory_bytes;
    /* From 1 to ND_FILTER_OUTPUT_MAX; default: 64 MiB. */
    uint64_t output_bytes;
};
#define ND_FILTER_SECONDS_MAX 86400
#define ND_FILTER_OUTPUT_MAX (1 << 30)

/*
 * Tag sets of a user, for stories (ND_FORMAT_NEWS): which elements are documents, and which parts of
 * them are their fields (docs/format/tags.md).  It is never changed, and any thread may use it.
 */
struct nd_tags;

/* Read a file of tag sets, or a text of this name.  NULL: ND_EINVAL ("name:line: reason"), ND_EIO,
 * ND_ENOMEM. */
ND_API struct nd_tags *nd_tags_load(const char *path, struct nd_error *err);
ND_API struct nd_tags *nd_tags_parse(const char *name, const char *text, size_t len,
                                     struct nd_error *err);
ND_API void nd_tags_free(struct nd_tags *tags);

/* The sets as nd_tags_parse reads them again, in one spelling; lives as long as they do. */
ND_API const char *nd_tags_text(const struct nd_tags *tags);

/* How to read.  Start from nd_input_options_default().  Everything that it points to is borrowed
 * for the life of the input. */
struct nd_input_options {
    enum nd_format format;
    enum nd_unit unit;
    enum nd_missing_text missing_text;
    enum nd_text_format text_format;
    enum nd_binary binary;
    /* Dotted paths, which may go through arrays ("messages.*.content").  Several texts are joined
     * by line ends.  Default: {"text"}. */
    const char *const *text_fields;
    size_t n_text_fields;
    /* A dotted path.  Default: "id". */
    const char *id_field;
    /* More fields to extract for the caller, in this order. */
    const char *const *fields;
    size_t n_fields;
    /* The character encoding of plain text, CSV, TSV and JSON Lines without a byte order mark.
     * NULL: UTF-8.  A name that the system's iconv knows, of an encoding that contains ASCII.  As
     * in browsers, ISO-8859-1 means windows-1252.  Pages and mail name their own encoding. */
    const char *charset;
    /* 1: do not recognise mail, and refuse files whose name says that they are mail. */
    unsigned char no_mail;
    /* 1: of pages, fill document->markup and document->links as well. */
    unsigned char markup;
    /* 1: of pages, fill document->elements as well. */
    unsigned char elements;
    /* 1: the text of a page is its source, in UTF-8, for who hands it on to be read elsewhere; id and
     * fields are those of the page. */
    unsigned char page_source;
    /* The part of a page that is its text; pages in mails and feeds are read whole. */
    enum nd_boilerplate boilerplate;
    /* In directories and archives, read only files that match one of the globs (no globs: all) and
     * none of the excludes.  A pattern without '/' is matched against the name of the file, a
     * pattern with '/' against the path below the directory or within the archive.  If an archive
     * below a directory matches a glob itself, its files need not match. */
    const char *const *globs;
    size_t n_globs;
    const char *const *excludes;
    size_t n_excludes;
    /*
     * Programs that make text of kinds of files which are not read otherwise (docs/format/input.md):
     * "pdf,ps:COMMAND", the endings of names, and a line for /bin/sh, which gets the file on its
     * standard input and writes its text, in UTF-8, on its standard output; or the name of a
     * ready-made filter (nd_input_filter).  Of several for one ending the last counts.  A program
     * that fails, or exceeds a limit, makes its file a bad record.  Programs run in the threads
     * that parse.
     */
    const char *const *filters;
    size_t n_filters;
    struct nd_filter_limits filter_limits;
    /* Tag sets that count before those that are built in; files that begin with a tag and have one
     * of their documents within the first 64 KiB are ND_FORMAT_NEWS.  NULL: there are none. */
    const struct nd_tags *tags;
    /* Files of other parts are not opened, and stay ND_READ_OPEN.  A file that is divided is read
     * to its end: `records` of its source counts all of them, and that of the file those of the
     * part. */
    struct nd_input_part part;
};
ND_API struct nd_input_options nd_input_options_default(void);

/* How the reading of a file, or of a source, went. */
enum nd_read_state {
    /* Its end has not been reached. */
    ND_READ_OPEN,
    /* All of it was read. */
    ND_READ_WHOLE,
    /* Some records were read and others are lost: it is damaged or ends too early. */
    ND_READ_PARTLY,
    /* No record could be read. */
    ND_READ_FAILED,
    /* It is below a directory and is not text: it was left out and counted. */
    ND_READ_SKIPPED
};

/*
 * A file to read, as given or as found below a directory; an archive is one file.  `path` is set
 * from the start, the other members once nd_input_read has returned 0.  Each file that is
 * ND_READ_PARTLY or ND_READ_FAILED was reported as ND_PROBLEM_FAILED.
 */
struct nd_input_file {
    const char *path;
    /* The size of a regular file when it was found, otherwise 0. */
    uint64_t size;
    /* Which file it was when it was found; standard input has them too.  inode 0: it is not a
     * regular file. */
    uint64_t device, inode;
    /* When it was last modified, since 1970. */
    int64_t modified_seconds, modified_nanoseconds;
    /* How many stored bytes were read. */
    uint64_t bytes;
    /* How many records were cut from all its sources. */
    uint64_t records;
    /* How many of these were not documents.  Whoever parses them counts. */
    uint64_t bad_records;
    /* How many of these are written again, where the file is to be replaced.  Whoever writes counts.
     */
    uint64_t kept_records;
    enum nd_read_state state;
    /* 1: it was found below a directory; 0: it was given. */
    int is_found;
    /* The part that a file rewritten from its records would lack, mostly an archive: "files that
     * are not read".  NULL: nothing. */
    const char *lacks_rewritten;
};

/* The source of a record: a file, standard input, or a file in an archive. */
struct nd_source {
    /* As given; below a directory, joined to it; "-": standard input. */
    const char *path;
    /* The name within the archive, or NULL. */
    const char *entry;
    enum nd_format format;
    /* "gzip", "zstd", "xz", "bzip2", "lz4" or "none". */
    const char *compression;
    /* "tar", "zip" or NULL. */
    const char *archive;
    /* 1: its records are lines, rows, messages or those of a web archive; 0: it is one record. */
    int is_container;
    /* 1: it has a byte order mark of Unicode, so that options.charset does not apply. */
    int is_unicode;
    /* 1: it is a regular, uncompressed file, so that offsets of records are offsets in the file. */
    int is_rereadable;
    /* 1: its documents are read from a sketch file, and it is not read itself. */
    int is_sketched;
    /* CSV and TSV: the header row with its byte order mark, if it has one, and its line end.  Web
     * archives: the record that says how the archive was made, if it is the first.  Feeds and news:
     * what stands before the first item; of no bytes, but not NULL: more than 1 MiB. */
    struct nd_view header;
    /* How many uncompressed bytes were read so far. */
    uint64_t bytes;
    /* How many records were cut so far. */
    uint64_t records;
    /* Known at its end. */
    enum nd_read_state state;
    /* The file that it is or is in.  The caller counts `bad_records` there. */
    struct nd_input_file *file;
    /* ND_FORMAT_FILTERED: the command that makes text of it, as long as the options live.  Otherwise
     * NULL. */
    const char *filter;
    /* XXH3 of the file as stored; of a file in an archive, of the archive.  Known at its end; 0 if
     * it could not be read to its end. */
    uint64_t bytes_hash;
};

/* A record.  Its bytes are borrowed from its batch. */
struct nd_record {
    /* The whole record with its line end; 64 more bytes are readable. */
    struct nd_view bytes;
    /* Its offset in the uncompressed source. */
    uint64_t offset;
    /* The number of its first line, from 1; of its first byte in a web archive; 0 if the document is
     * a whole file. */
    uint64_t line;
    /* The number of its source. */
    uint32_t source;
    /* If a sample is read (nd_run_plan): the block of it that the record is from.  Otherwise 0. */
    uint32_t block;
    /* 0; of a record that was too long for a run with little memory, its length: `bytes` is empty. */
    uint64_t skipped_bytes;
};

enum nd_problem_kind {
    /* Something is odd, but nothing was lost. */
    ND_PROBLEM_WARNING,
    /* A file is absent, cannot be read, is damaged or ends too early. */
    ND_PROBLEM_FAILED,
    /* Nothing is wrong: how many files below directories were left out, and why. */
    ND_PROBLEM_NOTE
};

/* Something to tell the user.  The strings live during the call. */
struct nd_problem {
    enum nd_problem_kind kind;
    /* Begins with the name of the file, and the line where there is one. */
    const char *message;
};

/*
 * An input.  Any thread may read, but only one at a time.  Meanwhile other threads may call the
 * functions that are said to be safe from any thread.  From inside `report`, nd_input_read and
 * nd_input_list are refused (ND_EINVAL), and nd_input_close takes effect at the end of the call.
 *
 * An input has no threads.  It can be used in a child process, which shares the position in the
 * open file with its parent: only one of the two may read.
 */
struct nd_input;

/*
 * Open a list of files, directories and "-".  Nothing is read yet.  The paths are copied.
 * nd_input_read calls `report`, unless it is NULL, in the thread that calls nd_input_read.  NULL:
 * ND_EINVAL (no path, no text field), ND_ENOMEM.
 */
ND_API struct nd_input *
nd_input_open(const char *const *paths, size_t n_paths, const struct nd_input_options *options,
              void (*report)(void *context, const struct nd_problem *problem), void *context,
              struct nd_error *err);
ND_API void nd_input_close(struct nd_input *input);

/* A batch of records and their memory, which nd_input_read uses again.  Start from zeroes. */
struct nd_batch {
    struct nd_record *records;
    size_t count;
    /* The sum of the lengths of the records. */
    size_t bytes;
    struct nd_batch_memory *memory;
};
ND_API void nd_batch_release(struct nd_batch *batch);

/*
 * Read the next records: at most about max_bytes, but at least one record, and at most max_records.
 *
 * 1: the batch holds some.  0: all inputs are at their end.  ND_ENOMEM: the input can only be closed
 * from now on.  ND_EINVAL: the input failed before, or the call came from inside `report`.  A file
 * that cannot be read is not a failure: `report` is told, and the next file is read.
 */
ND_API int nd_input_read(struct nd_input *input, size_t max_bytes, size_t max_records,
                         struct nd_batch *batch, struct nd_error *err);

/*
 * The sources met so far, and how many they are.  A source stays where it is until nd_input_close.
 * nd_input_read changes its `bytes`, `records`, `state` and `bytes_hash`; the other members are set
 * before the first record of the source is given out, so that other threads may use the source of
 * a record that they have.  NULL: there is no such source.
 */
ND_API size_t nd_input_sources(const struct nd_input *input);
ND_API const struct nd_source *nd_input_source(const struct nd_input *input, uint32_t number);

/* Find the files to read now, instead of in the first nd_input_read.  ND_ENOMEM: the input can only
 * be closed from now on. */
ND_API enum nd_status nd_input_list(struct nd_input *input, struct nd_error *err);

/* The files to read, in order, and how many they are: 0 before the first nd_input_read or
 * nd_input_list.  A file stays where it is until nd_input_close.  NULL: there is no such file. */
ND_API size_t nd_input_files(const struct nd_input *input);
ND_API struct nd_input_file *nd_input_file(const struct nd_input *input, size_t number);

/*
 * How many bytes of the stored input were read, and how many there are in all (0: not known), for a
 * progress bar.  Safe from any thread.
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

/* Makes documents from records: the working memory of one thread. */
struct nd_parser;

/* A parser for these options.  NULL: ND_EINVAL (more than 64 fields in all, the id and the texts
 * included), ND_ENOMEM. */
ND_API struct nd_parser *nd_parser_new(const struct nd_input_options *options,
                                       struct nd_error *err);
ND_API void nd_parser_free(struct nd_parser *parser);

/* Why a record is not a document: "text is null", "not a JSON object: …".  If a record of JSON Lines
 * has no text, the reason lists its fields and the one that probably holds the text. */
struct nd_bad_record {
    char reason[320];
};

/*
 * Parse one record: all of its bytes, behind which 64 more are readable.
 *
 * 1: *document is filled.  It points into the bytes of the record and into the parser, and is valid
 * until the former go or nd_parser_reset is called.  0: the record is bad, and *bad says why.
 * ND_ENOMEM.  In a good record, *repaired (NULL allowed) is increased by the number of invalid
 * UTF-8 sequences that were replaced.
 *
 * document->fields has the fields that the options name, in their order.  value.data is NULL where
 * a field is absent or null; numbers, true, false, arrays and objects are given as JSON.
 */
ND_API int nd_parser_parse(struct nd_parser *parser, const struct nd_source *source,
                           struct nd_view record, struct nd_document *document, uint64_t *repaired,
                           struct nd_bad_record *bad);

/* Forget all documents parsed since the last reset, and keep the memory for the next ones. */
ND_API void nd_parser_reset(struct nd_parser *parser);

/* A library that is opened when an input or output first needs it. */
struct nd_input_library {
    /*
     * Its name; and the packages that bring it, such as "Debian: libxml2, Fedora: libxml2"; NULL:
     * this build never opens the library.
     */
    const char *name, *package;
    /* Inputs and outputs that need it. */
    const char *serves;
    /* The reason why it cannot be opened, and the packages that bring it; NULL: it was opened. It
       is never freed. */
    const char *missing;
};

/*
 * Open the library of this number, from 0 on, and fill the row: 1. Safe from any thread. 0: there is
 * none of this number.
 */
ND_API int nd_input_library(size_t i, struct nd_input_library *row);

/* A ready-made filter. */
struct nd_input_filter {
    /* The ending of names, which also selects it; and the kind of file, for messages. */
    const char *name, *kind;
    /* The command, the program in it, and Debian 12's package with that. */
    const char *command, *program, *package;
    /* 1: the program is in PATH. */
    int is_installed;
};

/* Fill the row with the ready-made filter of this number, from 0 on: 1.  0: there is none. */
ND_API int nd_input_filter(size_t i, struct nd_input_filter *row);

#ifdef __cplusplus
}
#endif
#endif
