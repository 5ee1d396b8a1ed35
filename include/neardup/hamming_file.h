/* neardup/hamming_file.h - an index of fingerprints as a memory-mapped file */
#ifndef NEARDUP_HAMMING_FILE_H
#define NEARDUP_HAMMING_FILE_H

#include <neardup/hamming.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One file with the tables of a design, sorted and compressed (docs/format/hamming.md).  Of
 * fingerprints of f <= 64 bits a table takes about f - log2(N) + 2 bits each; wider ones stand
 * there once, and a table takes 66 bits each for the 64 bits that lead and the number behind them.
 * An id takes 32 bits where it is a number, and its length and 1.5 bytes where it is a text.
 *
 * What is added becomes a segment of its own behind the others, with tables of its own.  A segment
 * is merged with those before it that hold at most twice as many, so that each holds more than
 * twice what the next one does, and there are at most log2(N).
 *
 * Writers exclude one another by a lock (flock) on the file; readers never wait, and see what the
 * file held when they opened it.  A writer that is killed leaves the file as it was or as it should
 * be; where the file system knows no files without a name, it may leave .neardup- and 20 characters
 * beside it, which the next writer removes.
 *
 * Caveats: an open file is mapped, and must not shrink until it is closed: reading what was cut off
 * raises SIGBUS, which kills a process without a handler for it; the library installs none.  Its
 * own writers never cut off what a reader may look at.
 *
 * Threads: an open file does not change; any number of threads may call everything but _close, and
 * so may the child of a fork.  Writers are functions of a path: of several at once, in one process
 * or in many, one writes and the others fail.  On file systems without flock (some network
 * ones) there is no lock.
 */
struct nd_hamming_file;

/* How a table keeps its sorted values. */
enum nd_hamming_codec {
    ND_HAMMING_EF = 1,    /* Elias-Fano: smaller and faster, for any fingerprints */
    ND_HAMMING_MANKU = 2, /* 002, section 3.2: XOR, Huffman, blocks of 1024 bytes; up to 64 bits */
};
/* "ef", "manku"; NULL: no such codec. */
ND_API const char *nd_hamming_codec_name(enum nd_hamming_codec codec);

/*
 * The design of blocks or coverings with the fewest tables, or of at most `tables` tables where
 * that is not 0, for a file of problem->count fingerprints.  ND_EINVAL, ND_ENOMEM.
 */
ND_API enum nd_status nd_hamming_file_plan(const struct nd_hamming_problem *problem,
                                           unsigned tables, struct nd_hamming_plan *plan,
                                           struct nd_error *err);

/*
 * What goes into a file.  The id of fingerprint i is texts[i] where there is one, else ids[i], else
 * its number in the order in which the file was filled, from 0.  A text is any string without tab
 * and newline; one that is written like a number below 2^32 is that number.
 */
struct nd_hamming_entries {
    const uint64_t *fingerprints;
    size_t count;
    const uint32_t *ids;      /* NULL: numbers */
    const char *const *texts; /* NULL, or one of them: no text */
};

/* What an index is to be. */
struct nd_hamming_shape {
    unsigned bits, distance;
    unsigned tables; /* at most so many; 0: as few as the number of fingerprints allows */
    enum nd_hamming_codec codec;
};

/*
 * Write an index.  It appears at `path` when it is complete and synced, or not at all; what stood
 * there is replaced.  Needs 36 bytes of memory a fingerprint, its own bytes once more, and 8 where
 * ids are texts.  ND_EINVAL: the shape or an entry is wrong, or there are more than 2^32 - 1;
 * ND_EUNSUPPORTED: a codec for fewer bits; ND_ENOMEM; ND_EIO, also where another process is writing
 * it; ND_ECHANGED: another file has got its name meanwhile.
 */
ND_API enum nd_status nd_hamming_file_build(const char *path, const struct nd_hamming_shape *shape,
                                            const struct nd_hamming_entries *entries,
                                            struct nd_error *err);

/* The same after a plan, as Elias-Fano, with numbers as ids; ids NULL: 0 … n - 1. */
ND_API enum nd_status nd_hamming_file_write(const char *path, const struct nd_hamming_plan *plan,
                                            const uint64_t *fingerprints, const uint32_t *ids,
                                            size_t n, struct nd_error *err);

/*
 * Add to an index, all or nothing: when this returns ND_OK all are there, synced; else none is.
 * Statuses as of _build, and ND_EINPUT: no such file of ours, or a damaged one.
 */
ND_API enum nd_status nd_hamming_file_add(const char *path,
                                          const struct nd_hamming_entries *entries,
                                          struct nd_error *err);

/*
 * Make one segment of all that n indexes of fingerprints of the same width hold, written to
 * `output` (which may be one of them).  shape NULL: that of the first one.  The tables are planned
 * anew for their number.  Statuses as of _add.
 */
ND_API enum nd_status nd_hamming_file_merge(const char *const *paths, size_t n, const char *output,
                                            const struct nd_hamming_shape *shape,
                                            struct nd_error *err);

/*
 * Open a file and check all of it: checksums, and that the tables are what they should be.  ND_EIO,
 * ND_ENOMEM; ND_EINPUT: damaged, or no such file of ours; ND_EUNSUPPORTED: another version.
 */
ND_API enum nd_status nd_hamming_file_open(struct nd_hamming_file **file, const char *path,
                                           struct nd_error *err);
ND_API void nd_hamming_file_close(struct nd_hamming_file *file);

/* The shape of an index from its header; nothing else is checked.  Statuses as of _open. */
ND_API enum nd_status nd_hamming_file_peek(const char *path, struct nd_hamming_shape *shape,
                                           struct nd_error *err);

/* What it was made for, with problem.count = pairs of fingerprint and id; as long as it is open. */
ND_API const struct nd_hamming_plan *nd_hamming_file_design(const struct nd_hamming_file *file);
ND_API struct nd_hamming_shape nd_hamming_file_shape(const struct nd_hamming_file *file);
/* Distinct fingerprints of each segment, added up. */
ND_API uint64_t nd_hamming_file_distinct(const struct nd_hamming_file *file);
ND_API uint64_t nd_hamming_file_bytes(const struct nd_hamming_file *file);

/* Where the bytes of a file are. */
struct nd_hamming_file_sizes {
    unsigned segments;
    unsigned sound_headers; /* 2; 1: a writer was killed, or one is damaged, and the other serves */
    uint64_t values;        /* in all tables */
    uint64_t tables;        /* bytes of them */
    uint64_t fingerprints;  /* bytes of the wide ones as they are */
    uint64_t ids;           /* bytes of ids, and of what says which are of the same fingerprint */
    uint64_t unused;        /* bytes of segments that were merged, until the file is written anew */
    uint64_t other;         /* headers and padding */
};
ND_API struct nd_hamming_file_sizes nd_hamming_file_sizes(const struct nd_hamming_file *file);

/* As nd_hamming_query.  Ids: see nd_hamming_file_has_texts. */
ND_API enum nd_status nd_hamming_file_query(const struct nd_hamming_file *file,
                                            const uint64_t *queries, size_t n, unsigned distance,
                                            struct nd_hamming_matches *out, struct nd_error *err);

/*
 * 1: some ids are texts.  Every id that this file gives is then the number of an entry, and
 * nd_hamming_file_text says what its id is.
 */
ND_API int nd_hamming_file_has_texts(const struct nd_hamming_file *file);

/*
 * The id of an entry of a file with texts, *len bytes; not terminated; as long as the file is open,
 * or `number` (ND_HAMMING_NUMBER_MAX bytes), where it may stand.  NULL: there is no such entry.
 */
#define ND_HAMMING_NUMBER_MAX 10
ND_API const char *nd_hamming_file_text(const struct nd_hamming_file *file, uint32_t entry,
                                        char *number, size_t *len);

/*
 * The fingerprints and ids of the n entries from number `first` on, or as many of them as there are
 * before problem.count.  Segment by segment, in each sorted; with merged segments every order of
 * adding gives the same.
 */
ND_API void nd_hamming_file_entries(const struct nd_hamming_file *file, uint64_t first, size_t n,
                                    uint64_t *fingerprints, uint32_t *ids);

/*
 * Remove the temporary files of all writers in this process.  Safe in a signal handler, after which
 * the process must end (_exit or raise).
 */
ND_API void nd_hamming_file_abandon(void);

#ifdef __cplusplus
}
#endif
#endif
