/* input_state.h - what an open input knows; shared by input*.c */
#ifndef ND_INPUT_STATE_H
#define ND_INPUT_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#include <neardup/input.h>

#include "base/handle.h"
#include "base/memory.h"
#include "input/archive_stream.h"
#include "input/byte_stream.h"
#include "input/cut.h"
#include "input/detect.h"
#include "input/detect_binary.h"
#include "input/sources.h"
#include "input/walk_paths.h"

/* The file that is being read, from the disk up to where records are cut. */
struct nd_open_file {
    struct nd_input_file *known; /* what the caller sees of it */
    const char *path;            /* NULL: none is open */
    bool has_failed;             /* it, or a source in it: reported */
    int fd;                      /* -1: none, or a kept source has it */
    struct stat st;
    bool is_regular;
    enum nd_compression compression;
    enum nd_archive archive;
    struct nd_file_stream *stored;
    struct nd_stream *unpacked; /* decompressed, or NULL */
    struct nd_stream *recoded;  /* UTF-16 made UTF-8, or NULL */

    /* An archive: its reader, where its sources begin, and its current file the same once more. */
    struct nd_archive_reader *entries;
    size_t first_source;
    uint64_t n_entries;
    const char *entry;
    enum nd_compression entry_compression;
    struct nd_stream *entry_unpacked;
};

/* The source that records are being cut from. */
struct nd_open_source {
    struct nd_stream *stream; /* NULL: none; borrowed from the file */
    struct nd_source_kept *source;
    uint32_t number;
    struct nd_cutter cutter;
    uint64_t offset; /* of the next record, in the uncompressed source */
    uint64_t line;
    bool has_mark;     /* U+FEFF stood at the start */
    bool needs_header; /* CSV, TSV: the first row has not been met */
    bool is_skipping;  /* the rest of a record that was too long */
    bool has_failed;   /* something of it was lost: reported */
};

struct nd_input {
    struct nd_handle handle; /* whether it is being read */
    struct nd_input_options options;
    struct nd_reporter reporter;
    const char **given;
    size_t n_given;
    struct nd_arena strings;
    struct nd_path_list paths;
    bool is_expanded;
    size_t next_path;
    struct nd_sources sources;
    struct nd_open_file file;
    struct nd_open_source from;
    size_t record_max;            /* longer records are passed over and reported */
    uint64_t finished;            /* stored bytes of the files that are done */
    _Atomic uint64_t done, total; /* for nd_input_progress, from any thread */
    struct nd_left_out left_out;
};

enum { ND_RECORD_MAX = 1 << 30 };

struct nd_batch_memory {
    struct nd_buffer bytes;
    size_t *start; /* of each record in `bytes`, until its place is final */
    size_t start_capacity, record_capacity;
};

/*
 * Go to the next source with records: 1 (input->from is it), 0: there is none, ND_ENOMEM.  What
 * cannot be opened is reported on the way.
 */
int nd_input_next_source(struct nd_input *input);

/* All of it, once no call is in it. */
void nd_input_release(struct nd_input *input);

/* How much to look at of what comes next: no more than a small plain file has. */
size_t nd_input_detect_bytes(const struct nd_input *input);

/* Begin to cut records from `stream`: 1, 0 (reported: it cannot be read as what it is), ND_ENOMEM.
 */
int nd_input_begin_source(struct nd_input *input, struct nd_stream *stream);

/* Tell of the file that is open, or the archive's current entry. */
void nd_input_problem(struct nd_input *input, enum nd_problem_kind kind, const char *format, ...)
    ND_PRINTF(3, 4);

/* Tell that something of the current source is lost; `line` is named where it has lines. */
void nd_input_loss(struct nd_input *input, bool names_line, const char *format, ...)
    ND_PRINTF(3, 4);

/* What is open is not text: a failure where the file was given by name; below a directory and in an
 * archive it is left out.  0, ND_ENOMEM. */
int nd_input_refuse_binary(struct nd_input *input, const struct nd_binary_kind *kind);

/* All has been read: tell, once, how many files were left out, and why. */
void nd_input_tell_left_out(struct nd_input *input);

/* Leave the current source, and its file where it has no other. */
void nd_input_end_source(struct nd_input *input);

/* Leave source and file, whatever is left of them. */
void nd_input_end(struct nd_input *input);

/* "path", or "path!entry" in an archive: for messages. */
const char *nd_input_place(const struct nd_source *source, char *out, size_t room);

/* The first row of CSV or TSV: keep it, check that the text columns are there; 1, 0 (reported).
 * `sample`: what has been read behind it. */
int nd_input_take_header(struct nd_input *input, struct nd_view row, struct nd_view sample);

#endif
