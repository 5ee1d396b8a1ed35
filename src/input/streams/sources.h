/* sources.h - the sources met so far: they stay where they are until the input is closed */
#ifndef ND_INPUT_STREAMS_SOURCES_H
#define ND_INPUT_STREAMS_SOURCES_H

#include <stdatomic.h>
#include <time.h>

#include <neardup/input.h>

/* A source and what reading it again needs; written before its first record is given out. */
struct nd_entry_header;
struct nd_source_kept {
    struct nd_source source;
    struct timespec time; /* of modification, when first read */
    uint64_t size;        /* of the file, when first read */
    int fd;               /* kept open for reading again, or -1 */
    /* In an archive: its header, and entries that are no files before it, and behind the last. */
    const struct nd_entry_header *header, *before, *after;
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

#endif
