/* reading.h - batches of parsed records: one after the other for all threads, or one a thread */
#ifndef ND_READING_READING_H
#define ND_READING_READING_H

#include <stdbool.h>

#include <neardup/dedup.h>
#include <neardup/error.h>
#include <neardup/input.h>
#include <neardup/types.h>

#include "base/file/publish.h"
#include "base/thread/pool.h"
#include "reading/parsed.h"
#include "sketches/sketches.h"

/* Why a record of so many bytes is a bad one: how much memory it needs. */
struct nd_bad_record nd_bad_record_too_long(uint64_t bytes, unsigned threads);

/* Parse its record, and add to *repaired.  False: out of memory. */
bool nd_parsed_make(struct nd_parsed *parsed, struct nd_parser *parser, uint64_t *repaired);

struct nd_reading_batch {
    struct nd_parsed *parsed;
    size_t count;
    size_t bytes; /* of the records */
    uint64_t repaired;
    uint64_t done, total; /* nd_input_progress after this batch */
    uint64_t unpacked;    /* bytes of all records up to its end */
};

struct nd_reading_hooks {
    bool by_worker; /* each worker has batches of its own */
    /* When a pipe pauses, give what has come. */
    bool answers_pauses;
    /* the sketch files that the paths are, which are then read by this; NULL: they are documents */
    const struct nd_sketches *sketches;
    /* A record has been parsed; called by several workers at once.  NULL: nothing. */
    void (*parsed)(void *context, struct nd_parsed *parsed, unsigned worker);
    void *context;
    /* A problem with an input, in the thread that calls nd_reading_next or nd_reading_take. */
    void (*problem)(void *reporter, const struct nd_problem *problem);
    void *reporter;
    /* limits of a budget; 0: there is none */
    size_t record_bytes, batch_bytes;
};

struct nd_reading;

struct nd_reading *nd_reading_new(struct nd_pool *pool, const char *const *paths, size_t n_paths,
                                  const struct nd_input_options *options,
                                  const struct nd_reading_hooks *hooks, struct nd_error *err);
/* Only a slice of the documents is given, about this share of them (slice.h), in batches that are as
 * much longer.  Before anything is read; borrowed. */
struct nd_slice;
void nd_reading_set_slice(struct nd_reading *r, struct nd_slice *slice, double share);
/*
 * Read about this share of the blocks of sketch files; say which share that was, once all are read.
 */
void nd_reading_sample_blocks(struct nd_reading *r, double share);
double nd_reading_blocks_read(const struct nd_reading *r);
/* Find the files that will be read, and tell of what is wrong with them.  ND_ENOMEM. */
enum nd_status nd_reading_list(struct nd_reading *r, struct nd_error *err);
/* Waits for the job.  NULL: nothing. */
void nd_reading_free(struct nd_reading *r);

/*
 * The next batch, parsed by all threads while a job beside the pool reads another; valid until the
 * next call.  1; 0: all has been read; < 0: a status.
 */
int nd_reading_next(struct nd_reading *r, struct nd_reading_batch **batch, struct nd_error *err);

/*
 * For workers that have batches of their own. Begin one: it gets the next ticket, and bytes that
 * can be read before its turn are read, at any time. Then cut it into records, in the turn of the
 * ticket; the worker's last batch is gone since the beginning. Then parse it, at any time. Then
 * take it, in the turn of the ticket: what nd_reading_next returns.
 */
unsigned long nd_reading_begin(struct nd_reading *r, unsigned worker);
void nd_reading_fill(struct nd_reading *r, unsigned worker);
void nd_reading_parse(struct nd_reading *r, unsigned worker, struct nd_reading_batch **batch);
int nd_reading_take(struct nd_reading *r, unsigned worker, struct nd_error *err);

/* The files that it reads. */
struct nd_input *nd_reading_input(struct nd_reading *r);

/* The sketch files; NULL: documents are read. */
const struct nd_sketches *nd_reading_sketches(const struct nd_reading *r);

/* Read a record again, from a source that is_rereadable, into *bytes, which grows. */
enum nd_status nd_reading_reread(struct nd_reading *r, uint32_t source, uint64_t offset, size_t len,
                                 struct nd_buffer *bytes, struct nd_error *err);

/* The mark of a file as it was when it was found; none if that is no regular file. */
static inline struct nd_file_mark nd_input_file_mark(const struct nd_input_file *file)
{
    return (struct nd_file_mark){file->device, file->inode, file->size, file->modified_seconds,
                                 file->modified_nanoseconds};
}

/* Whether nothing of a file that was read is missing. */
static inline bool nd_input_file_is_whole(const struct nd_input_file *file)
{
    return file->state != ND_READ_PARTLY && file->state != ND_READ_FAILED;
}

/* Count a record of the source that is written again. */
static inline void nd_source_count_kept(const struct nd_source *source)
{
    if (source->file)
        source->file->kept_records++;
}

/* Nanoseconds of processor time in threads that decompress files. */
uint64_t nd_reading_unpack_ns(const struct nd_reading *r);

/* The documents so far in which bytes were replaced, of formats that do not name their charset. */
uint64_t nd_reading_repaired(const struct nd_reading *r);

/* Sources met up to the last batch given; the same pointer as long as the reading lives. */
uint32_t nd_reading_sources(const struct nd_reading *r);
const struct nd_source *nd_reading_source(const struct nd_reading *r, uint32_t number);

#endif
