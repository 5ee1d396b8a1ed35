/* sources.h - the sources met so far: they stay where they are until the input is closed */
#ifndef ND_INPUT_STREAMS_SOURCES_H
#define ND_INPUT_STREAMS_SOURCES_H

#include <stdatomic.h>

#include <neardup/input.h>

/* A record that says how a web archive was made, in the midst of the file. */
struct nd_source_info {
    uint64_t at; /* number of its first byte, from 1, as records are named */
    struct nd_view bytes;
    _Atomic(struct nd_source_info *) next;
};

/* A source and what reading it again needs; written before its first record is given out. */
struct nd_entry_header;
struct nd_source_kept {
    struct nd_source source;
    int64_t seconds, nanoseconds; /* of modification, when first read */
    uint64_t size;                /* of the file, when first read */
    int fd;                       /* kept open for reading again, or -1 */
    /* In an archive: its header, and entries that are no files before it, and behind the last. */
    const struct nd_entry_header *header, *before, *after;
    /* The archive's info records that are not its header; added while other threads go through them. */
    _Atomic(struct nd_source_info *) first_info;
    struct nd_source_info *last_info; /* for whoever reads */
};

/* Block b holds FIRST << b of them, so that none ever moves while other threads read. */
enum { ND_SOURCES_FIRST = 64, ND_SOURCES_BLOCKS = 26 };
struct nd_sources {
    struct nd_source_kept *block[ND_SOURCES_BLOCKS];
    atomic_size_t count; /* grows while other threads look up what they have */
    unsigned kept_open;
};

/* A new one, all zeroes but for fd = -1; NULL: out of memory.  Its number is count - 1. */
struct nd_source_kept *nd_sources_add(struct nd_sources *s);
struct nd_source_kept *nd_sources_get(const struct nd_sources *s, size_t number);
void nd_sources_release(struct nd_sources *s);

/* Add to a source what stands at `at`; `info` is kept.  For the thread that reads. */
void nd_source_add_info(struct nd_source_kept *source, struct nd_source_info *info);
/* The next one behind `last` (NULL: the first) that stands before `line`; NULL: there is none.  Safe
 * from any thread that has a record of that line. */
const struct nd_source_info *nd_source_next_info(const struct nd_source *source,
                                                 const struct nd_source_info *last, uint64_t line);

#endif
