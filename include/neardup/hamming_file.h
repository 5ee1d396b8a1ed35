/* neardup/hamming_file.h - an index of fingerprints as a memory-mapped file
 *
 * Library: neardup.  Write an index, open it and query it:
 *
 *     struct nd_hamming_shape shape = {.bits = 64, .distance = 3, .codec = ND_HAMMING_EF};
 *     struct nd_hamming_entries entries = {.fingerprints = fingerprints, .count = n};
 *     nd_hamming_file_build("prints.ndh", &shape, &entries, &err);
 *     nd_hamming_file_open(&file, "prints.ndh", &err);
 *     nd_hamming_file_query(file, queries, n_queries, 3, &matches, &err);
 */
#ifndef NEARDUP_HAMMING_FILE_H
#define NEARDUP_HAMMING_FILE_H

#include <neardup/hamming.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An index file holds the tables of a design, sorted and compressed (docs/format/hamming.md).  For
 * fingerprints of f <= 64 bits a table takes about f - log2(N) + 2 bits each.  Wider ones are
 * stored once, and a table takes 66 bits each for the 64 leading bits and the number behind them.
 * An id takes 32 bits if it is a number, and its length and 1.5 bytes if it is a text.
 *
 * Added entries become a segment behind the others, with tables of its own.  It is merged with the
 * segments before it that hold at most twice as many entries.  So each holds more than twice what
 * the next one does, and there are at most log2(N).
 *
 * Writers exclude one another by a lock (flock) on the file.  Readers never wait, and see what the
 * file held when they opened it.  A writer that is killed leaves the file as it was or as it should
 * be.  On file systems without unnamed files it may leave a file named .neardup- and 20 characters,
 * which the next writer removes.
 *
 * Caveats.  An open file is mapped, and must not shrink until it is closed: reading what was cut
 * off raises SIGBUS, which kills a process without a handler for it, and the library installs none.
 * Its own writers never cut off what a reader may look at.  On file systems without flock (some
 * network ones) there is no lock.
 *
 * Threads: an open file does not change, so any number of threads may call everything but _close,
 * and so may the child of a fork.  Writers are functions of a path: of several at once, in one
 * process or in many, one writes and the others fail.
 */
struct nd_hamming_file;

/* How a table keeps its sorted values. */
enum nd_hamming_codec {
    /* Elias-Fano: smaller and faster, for any fingerprints. */
    ND_HAMMING_EF = 1,
    /* XOR, Huffman, blocks of 1024 bytes (Manku 2007, §3.2): for up to 64 bits. */
    ND_HAMMING_MANKU = 2,
};
/* How a file is laid out. */
enum nd_hamming_file_layout {
    /* Sorted tables of blocks or coverings, coded: the fewest bytes. */
    ND_HAMMING_COMPACT = 1,
    /* The tables that an index in memory has, windows or halves: for 64 bits within 3.  A query is
     * nearly as fast as in memory, and the file is ready as soon as it is mapped. */
    ND_HAMMING_FAST = 2,
};
/* "compact", "fast".  NULL: there is no such layout. */
ND_API const char *nd_hamming_file_layout_name(enum nd_hamming_file_layout layout);

/* "ef", "manku".  NULL: there is no such codec. */
ND_API const char *nd_hamming_codec_name(enum nd_hamming_codec codec);

/*
 * The entries that go into a file.  The id of fingerprint i is texts[i] where there is one, else
 * ids[i], else its number in the order in which the file was filled, from 0; from 2^32 on that is a
 * text.
 */
struct nd_hamming_entries {
    const uint64_t *fingerprints;
    size_t count;
    /* NULL: numbers. */
    const uint32_t *ids;
    /* Strings without tab and newline; one that is written like a number below 2^32 is that number.
     * NULL, or one of them NULL: no text. */
    const char *const *texts;
};

/*
 * If the fingerprints are of documents: the recipe by which they were made (nd_recipe_canonical).
 * The file keeps it and gives it back as it was.
 */
struct nd_hamming_recipe {
    /* The canonical text, 1 to ND_HAMMING_RECIPE_MAX bytes, without a final zero. */
    const char *text;
    size_t len;
    uint64_t fingerprint;
};
#define ND_HAMMING_RECIPE_MAX (1u << 20)

/* The shape of an index that is made.  Members that are 0 are left to the library. */
struct nd_hamming_shape {
    unsigned bits;
    unsigned distance;
    /* The longest keys that at most so many tables can have.  Only one of this and key_bits may be
     * given. */
    unsigned tables;
    /* Never 0. */
    enum nd_hamming_codec codec;
    /* The fewest tables whose keys have at least so many bits. */
    unsigned key_bits;
    /* For the layout compact ND_HAMMING_BLOCKS, _POPCOUNT, or _COVERING, which is also 0; for the layout fast
     * ND_HAMMING_WINDOWS, _HALVES, or 0: the faster of the two. */
    enum nd_hamming_family family;
    /* The most bytes of the file: no more tables are made than fit. */
    uint64_t max_bytes;
    /* Read by _build; NULL: of no recipe. */
    const struct nd_hamming_recipe *recipe;
    /* The most fingerprints of a part: where there are more, the file has several parts.  0:
     * ND_HAMMING_FILE_MAX. */
    uint32_t part_fingerprints;
    /* 0: compact. */
    enum nd_hamming_file_layout layout;
};

/* Whether files hold designs of a family: those of a layout (0: of any). */
ND_API int nd_hamming_file_holds(enum nd_hamming_family family, enum nd_hamming_file_layout layout);

/*
 * The most pairs of fingerprint and id that a part of a file holds, and the most parts.  A query
 * looks into all parts.  Each is built by itself, so that memory is needed for one at a time.
 */
#define ND_HAMMING_FILE_MAX UINT32_MAX
#define ND_HAMMING_FILE_PARTS_MAX 64

/*
 * The design that _build makes for so many fingerprints.  Where the shape requests none, compact
 * files have as few tables as leave few fingerprints of equal key in a part, and so have fast ones,
 * which are windows unless that is too large.  ND_EINVAL: the shape is out of range, no design does
 * it, none fits in max_bytes, or they take more than ND_HAMMING_FILE_PARTS_MAX parts.
 * ND_EUNSUPPORTED: the codec is for fewer bits, or the layout for 64 within 3.  ND_ENOMEM.
 */
ND_API enum nd_status nd_hamming_file_plan(const struct nd_hamming_shape *shape, uint64_t count,
                                           struct nd_hamming_plan *plan, struct nd_error *err);

/*
 * The bytes of a file after a plan, for plan->problem.count fingerprints that all differ, with
 * numbers as ids.  Exact for blocks and coverings as Elias-Fano; for the block code and for the
 * layout fast, about the most that uniform fingerprints take.  Not a number: no file holds such a
 * plan.
 */
ND_API double nd_hamming_file_plan_bytes(const struct nd_hamming_plan *plan,
                                         enum nd_hamming_codec codec);

/*
 * Write an index.  It appears at `path` when it is complete and synced, or not at all; what was
 * there is replaced.  Needs 36 bytes of memory for each fingerprint of a part, its own bytes once
 * more, and 8 where ids are texts.  ND_EINVAL: the shape or an entry is wrong, there are too many
 * parts, or the file would be larger than shape->max_bytes.  ND_EUNSUPPORTED: the codec is for fewer bits.
 * ND_ENOMEM.  ND_EIO, also where another process is writing the file.  ND_ECHANGED: another file
 * took its name meanwhile.
 */
ND_API enum nd_status nd_hamming_file_build(const char *path, const struct nd_hamming_shape *shape,
                                            const struct nd_hamming_entries *entries,
                                            struct nd_error *err);

/*
 * An index file of fingerprints that come one after the other, in bounded memory.  They wait in
 * temporary files in the folder `tmp` until all are there, and are then sorted table by table.  The
 * file has the bytes that nd_hamming_file_build gives it.
 *
 *     nd_hamming_builder_new(&builder, 64, "/tmp", 256 << 20, &err);
 *     nd_hamming_builder_add(builder, fingerprint, "an id", &err);    for each
 *     nd_hamming_builder_finish(builder, "prints.ndh", &shape, &err);
 *     nd_hamming_builder_free(builder);
 *
 * memory_bytes bounds anonymous memory and buffers, and counts as at least 8 MB.  One thread at a
 * time may use a builder.
 */
struct nd_hamming_builder;
/* For fingerprints of so many bits.  ND_EINVAL, ND_EIO, ND_ENOMEM. */
ND_API enum nd_status nd_hamming_builder_new(struct nd_hamming_builder **builder, unsigned bits,
                                             const char *tmp, uint64_t memory_bytes,
                                             struct nd_error *err);
/* NULL is allowed. */
ND_API void nd_hamming_builder_free(struct nd_hamming_builder *builder);
/* text: the id, as in struct nd_hamming_entries; NULL: the number of the fingerprint, from 0.
 * ND_EINVAL; ND_EIO and ND_ENOMEM, after which only freeing may follow. */
ND_API enum nd_status nd_hamming_builder_add(struct nd_hamming_builder *builder,
                                             const uint64_t *fingerprint, const char *text,
                                             struct nd_error *err);
/*
 * Write the index, once.  Statuses as of nd_hamming_file_build.  ND_ENOMEM also where the layout
 * fast, or the codec ND_HAMMING_MANKU, needs more than the memory: these are built in memory; the
 * message says how much they need.
 */
ND_API enum nd_status nd_hamming_builder_finish(struct nd_hamming_builder *builder,
                                                const char *path,
                                                const struct nd_hamming_shape *shape,
                                                struct nd_error *err);

/* nd_hamming_file_build after a plan of blocks, coverings or popcount, as Elias-Fano, with numbers as ids; ids
 * NULL: 0 … n - 1. */
ND_API enum nd_status nd_hamming_file_write(const char *path, const struct nd_hamming_plan *plan,
                                            const uint64_t *fingerprints, const uint32_t *ids,
                                            size_t n, struct nd_error *err);

/*
 * Add to an index, all or nothing: with ND_OK all entries are there and synced, else none is.
 * Statuses as of _build, and ND_EINPUT: not an index file, or it is damaged.
 */
ND_API enum nd_status nd_hamming_file_add(const char *path,
                                          const struct nd_hamming_entries *entries,
                                          struct nd_error *err);

/*
 * Merge what n indexes hold to one segment for each part, written to `output`, which may be one of
 * them.  Their fingerprints are of the same width, and of one recipe or of none; else ND_EINVAL.
 * If shape is NULL, the merged index has the shape of the first one; shape->recipe is not read.  The
 * tables are planned anew for all fingerprints.  Statuses as of _add.
 */
ND_API enum nd_status nd_hamming_file_merge(const char *const *paths, size_t n, const char *output,
                                            const struct nd_hamming_shape *shape,
                                            struct nd_error *err);

/*
 * Open a file.  Only what tells where everything is is checked at once, ids that are texts, and
 * values in the block code: so it takes little time, however large the file is.  A unit of 4096
 * bytes is compared with its checksum when it is first read, so damage is never answered from:
 * whoever reads it gets ND_EINPUT.  Queries never read outside of the file, whatever is in it.
 * ND_EIO, ND_ENOMEM.  ND_EINPUT: not an index file, or it is damaged.  ND_EUNSUPPORTED: of another
 * version.
 */
ND_API enum nd_status nd_hamming_file_open(struct nd_hamming_file **file, const char *path,
                                           struct nd_error *err);
ND_API void nd_hamming_file_close(struct nd_hamming_file *file);

/* Check all of an open file that _open did not, also what is never read.  ND_EINPUT: it is damaged. */
ND_API enum nd_status nd_hamming_file_check(const struct nd_hamming_file *file,
                                            struct nd_error *err);

/*
 * Read the shape of an index from its header, without its recipe; nothing else is checked.  recipe
 * not NULL: gets the recipe, whose text is the caller's to free(); len 0: there is none.  Statuses as
 * of _open.
 */
ND_API enum nd_status nd_hamming_file_peek(const char *path, struct nd_hamming_shape *shape,
                                           struct nd_hamming_recipe *recipe, struct nd_error *err);

/* The design of the file, with problem.count = pairs of fingerprint and id; valid until _close. */
ND_API const struct nd_hamming_plan *nd_hamming_file_design(const struct nd_hamming_file *file);
/* Its shape, as it was requested. */
ND_API struct nd_hamming_shape nd_hamming_file_shape(const struct nd_hamming_file *file);
/* The recipe that it was built with, also in its shape; valid until _close.  NULL: there is none. */
ND_API const struct nd_hamming_recipe *nd_hamming_file_recipe(const struct nd_hamming_file *file);
/* Distinct fingerprints of each segment, added up. */
ND_API uint64_t nd_hamming_file_distinct(const struct nd_hamming_file *file);
/* The bytes of the file. */
ND_API uint64_t nd_hamming_file_bytes(const struct nd_hamming_file *file);

/* The bytes of a file by their use. */
struct nd_hamming_file_sizes {
    unsigned segments;
    /* 0: there are no entries. */
    unsigned parts;
    /* 2.  1: a writer was killed or one header is damaged, and the other serves. */
    unsigned sound_headers;
    /* Values in all tables, and the bytes of these tables. */
    uint64_t values;
    uint64_t tables;
    /* Wide fingerprints as they are. */
    uint64_t fingerprints;
    /* Ids, and which of them are of the same fingerprint. */
    uint64_t ids;
    /* Segments that were merged, until the file is written anew. */
    uint64_t unused;
    /* Headers and padding. */
    uint64_t other;
};
ND_API struct nd_hamming_file_sizes nd_hamming_file_sizes(const struct nd_hamming_file *file);

/* Query the file, as nd_hamming_query an index.  What the ids are: nd_hamming_file_has_texts.
 * ND_EUNSUPPORTED: they are numbers of entries, of which there are more than 2^32 - 1
 * (nd_hamming_file_find).  ND_EINPUT: what is read of a file of the layout fast is damaged. */
ND_API enum nd_status nd_hamming_file_query(const struct nd_hamming_file *file,
                                            const uint64_t *queries, size_t n, unsigned distance,
                                            struct nd_hamming_matches *out, struct nd_error *err);

/* The number of an entry that is near to query number `query` of a batch. */
struct nd_hamming_file_match {
    uint64_t entry;
    uint32_t query, distance;
};
/* A list of them that grows; the caller's.  It starts from zeroes; `items` is to be freed. */
struct nd_hamming_file_matches {
    struct nd_hamming_file_match *items;
    size_t count, capacity;
};
/* Query for the numbers of entries, whatever their ids are and however many there are.
 * Matches are appended, in no particular order.  Statuses as of nd_hamming_query. */
ND_API enum nd_status nd_hamming_file_find(const struct nd_hamming_file *file,
                                           const uint64_t *queries, size_t n, unsigned distance,
                                           struct nd_hamming_file_matches *out,
                                           struct nd_error *err);

/*
 * 1: some ids are texts.  Then every id that the other functions give is the number of an entry, and
 * nd_hamming_file_text tells what its id is.
 */
ND_API int nd_hamming_file_has_texts(const struct nd_hamming_file *file);

/*
 * The id of an entry, *len bytes, not terminated: in the file, until _close, or in `number`, which
 * has ND_HAMMING_NUMBER_MAX bytes.  NULL: there is no such entry, or the file is damaged there.
 */
#define ND_HAMMING_NUMBER_MAX 10
ND_API const char *nd_hamming_file_text(const struct nd_hamming_file *file, uint64_t entry,
                                        char *number, size_t *len);

/*
 * Read the fingerprints and ids of the n entries from number `first` on, or as many of them as
 * there are.  ids may be NULL; where they are numbers of entries, they are the lower 32 bits.
 * Entries are sorted segment by segment, so with merged segments every order of adding gives the
 * same.  ND_EINPUT: the file is damaged there.
 */
ND_API enum nd_status nd_hamming_file_entries(const struct nd_hamming_file *file, uint64_t first,
                                              size_t n, uint64_t *fingerprints, uint32_t *ids,
                                              struct nd_error *err);

/*
 * Remove all entries of some ids, as after a takedown: all of them or none.  An id is given as text,
 * numbers in decimal.  The file is written anew, without anything of the entries.  *n_removed (NULL
 * allowed): how many entries there were.  ND_EINVAL: the file does not have one of the ids, which
 * the message names; else as nd_hamming_file_add.
 */
ND_API enum nd_status nd_hamming_file_remove(const char *path, const char *const *ids, size_t n,
                                             uint64_t *n_removed, struct nd_error *err);

/*
 * Remove the temporary files of all writers in this process.  Safe in a signal handler, after which
 * the process must end (_exit or raise).  0: as of nd_run_abandon.
 */
ND_API int nd_hamming_file_abandon(void);

#ifdef __cplusplus
}
#endif
#endif
