/* input_state.h - what an open input knows; shared by input*.c */
#ifndef ND_INPUT_STATE_H
#define ND_INPUT_STATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <neardup/input.h>

#include "base/memory.h"
#include "base/system/descriptor.h"
#include "base/thread/handle.h"
#include "input/formats/charset.h"
#include "input/formats/cut.h"
#include "input/formats/detect.h"
#include "input/streams/ahead_stream.h"
#include "input/streams/archive_stream.h"
#include "input/streams/byte_stream.h"
#include "input/streams/file_piece.h"
#include "input/streams/part.h"
#include "input/streams/sampling.h"
#include "input/streams/sources.h"
#include "input/streams/walk_paths.h"

/* The file being read, from the disk up to the stream from which records are cut. */
struct nd_open_file {
    struct nd_input_file *known; /* what the caller sees of it */
    const char *path;            /* NULL: none is open */
    uint64_t start;              /* where among the bytes of all files it begins */
    bool has_failed;             /* it, or a source in it, failed and was reported */
    int fd;                      /* -1: none, or owned by a kept source */
    struct nd_file_about st;
    bool is_regular;
    enum nd_compression compression;
    enum nd_archive archive;
    struct nd_file_stream *stored;
    struct nd_stream *unpacked; /* decompressed, or NULL */
    struct nd_stream *recoded;  /* UTF-16 made UTF-8, or NULL */

    /* If a thread decompresses it, `unpacked` is this stream, which reads from the decoder. */
    struct nd_ahead_stream *ahead;
    uint64_t ahead_number; /* of the stream, from 1 */
    struct nd_stream *decoder;

    /*
     * For an archive: its reader, the number of its first source, and the streams of its current
     * file.
     */
    struct nd_archive_reader *entries;
    size_t first_source;
    uint64_t n_entries;
    const char *entry;
    const char *filter; /* the command that makes text of the file or entry; NULL: none */
    enum nd_compression entry_compression;
    struct nd_stream *entry_unpacked;
};

/* The source that records are being cut from. */
struct nd_open_source {
    struct nd_stream *stream; /* NULL: none; borrowed from the file */
    struct nd_source_kept *source;
    uint32_t number;
    struct nd_cutter cutter;
    uint64_t offset; /* offset of the next record in the uncompressed source */
    uint64_t line;
    bool has_mark;                         /* it began with U+FEFF */
    bool needs_header;                     /* CSV, TSV: the first row has not been read */
    bool is_skipping;                      /* skipping the rest of a record that was too long */
    uint64_t skipped_offset, skipped_line; /* where it begins, if it is given as a record */
    bool has_failed;                       /* something was lost, which was reported */
    /* in a sample: the block; whether it has been looked for; bytes of its records */
    uint32_t block;
    bool is_entered;
    uint64_t sampled;
};

struct nd_input {
    struct nd_handle handle; /* whether it is being read */
    struct nd_input_options options;
    struct nd_problem_handler on_problem;
    const char **given;
    size_t n_given;
    struct nd_arena strings;
    struct nd_path_list paths;
    bool is_expanded;
    size_t next_path;
    struct nd_part_bytes part; /* once the files are listed */
    uint64_t listed;           /* stored bytes of the files before next_path, as they were listed */
    struct nd_sources sources;
    struct nd_open_file file;
    struct nd_open_source from;
    size_t record_max;            /* longer records are skipped and reported */
    bool answers_pauses;          /* a batch ends where a pipe gives nothing more for a moment */
    bool gives_skipped;           /* they are given as records without bytes */
    uint64_t finished;            /* stored bytes of finished files */
    _Atomic uint64_t done, total; /* for nd_input_progress, from any thread */
    struct nd_charset charset;    /* of the header rows */
    struct nd_sampling sampling;
    struct nd_unpack_ahead *unpack_ahead; /* NULL: files are decompressed as they are read */
};

enum { ND_RECORD_MAX = 1 << 30, ND_HEADER_MAX = 1 << 20 };

/*
 * The memory of a batch, and of its making: `bytes` holds the records cut, then from `pos` what is
 * not yet.
 */
struct nd_batch_memory {
    struct nd_buffer bytes;
    size_t *start; /* start of each record in `bytes`, until the buffer stops moving */
    size_t start_capacity, record_capacity;
    size_t pos;
    size_t max_bytes, max_records;
    bool is_done;                /* full, or what comes next does not fit */
    struct nd_ahead_piece ahead; /* read ahead, and still to be taken: len bytes … */
    size_t ahead_at;             /* … from here on in `bytes` */
};

/*
 * Go to the next source with records: 1 (input->from is it), 0: there is none, ND_ENOMEM. Files
 * that cannot be opened are reported on the way.
 */
int nd_input_next_source(struct nd_input *input);

/* Close what is open of a file. */
void nd_open_file_release(struct nd_open_file *f);

/*
 * The decompressor of a stream.  With `ahead`, which may be NULL, frames are decompressed beside one
 * another.  NULL: out of memory, or no library that can be opened has one.
 */
struct nd_stream *nd_decompress(struct nd_stream *inner, enum nd_compression compression,
                                const struct nd_unpack_ahead *ahead);

/*
 * unpack_ahead.c; for an input without unpack_ahead, none of these does anything.  Take a file that
 * was opened before its turn, as the open file.
 */
bool nd_unpack_ahead_take(struct nd_input *input, struct nd_input_file *known);
/* A stream of zstd in frames; NULL: they are not decompressed beside one another. */
struct nd_stream *nd_unpack_ahead_frames(const struct nd_unpack_ahead *ahead,
                                         struct nd_stream *inner);
/* Let a thread decompress the open file, if it is a compressed one, and open those that follow. */
void nd_unpack_ahead_begin(struct nd_input *input);
/* Nobody copies from the stream of the open file any more, and nobody will. */
void nd_unpack_ahead_end(struct nd_input *input);
/* Close the files that were opened before their turn. */
void nd_unpack_ahead_forget(struct nd_input *input);
void nd_unpack_ahead_free(struct nd_input *input);
/* Copy a piece of the decompressed file that is read: as many bytes as there are. */
size_t nd_unpack_ahead_copy(struct nd_input *input, const struct nd_ahead_piece *piece, char *out);
/* Offer a piece of a plain file to its hash, if the file is the one that is read. */
void nd_unpack_ahead_hash(struct nd_input *input, const struct nd_ahead_piece *piece,
                          const char *bytes, size_t len);

/* All of it, once no call is in it. */
void nd_input_release(struct nd_input *input);

/*
 * The first bytes, for detection: as many as that looks at, or all of a small plain file.  Where a
 * pause is answered, they may be fewer, but have the first line of a text with all that decides
 * what is asked for.  False: out of memory.
 */
enum nd_head_part { ND_HEAD_COMPRESSION, ND_HEAD_ARCHIVE, ND_HEAD_FORMAT };
bool nd_input_peek_head(const struct nd_input *input, struct nd_stream *stream,
                        enum nd_head_part part, const char **head, size_t *len);

/*
 * Begin to cut records from `stream`: 1, 0 (reported: it cannot be read in its format), ND_ENOMEM.
 */
int nd_input_begin_source(struct nd_input *input, struct nd_stream *stream);

/* Report a problem with the open file, or the archive's current entry. */
void nd_input_problem(struct nd_input *input, enum nd_problem_kind kind, const char *format, ...)
    ND_PRINTF(3, 4);

/* Report that something of the current source is lost; `line`: with the line, if it has lines. */
void nd_input_loss(struct nd_input *input, bool names_line, const char *format, ...)
    ND_PRINTF(3, 4);

/*
 * The open file is not text: a failure if it was named explicitly; below a directory and in an
 * archive it is left out. 0, ND_ENOMEM.
 */
int nd_input_refuse_binary(struct nd_input *input, const struct nd_binary_kind *kind);

/* All has been read: report, once, how many files were left out, and why. */
void nd_input_tell_left_out(struct nd_input *input);

/* Leave the current source, and its file if it has no other source. */
void nd_input_end_source(struct nd_input *input);

/* Leave source and file, even if they have not been read to the end. */
void nd_input_end(struct nd_input *input);

/* "path", or "path!entry" in an archive: for messages. */
const char *nd_input_place(const struct nd_source *source, char *out, size_t capacity);

#endif
