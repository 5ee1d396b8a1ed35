/*
 * neardup/index.h - the live index of sketches: insert, query, delete (library neardup)
 *
 *     struct nd_index_params params = nd_index_params_default();
 *     struct nd_index *index = nd_index_new(&params, &err);
 *     struct nd_candidates found = {0};
 *
 *     nd_index_insert(index, &sketch, group, &number, &err);
 *     nd_index_query(index, &other_sketch, group, &found);
 */
#ifndef NEARDUP_INDEX_H
#define NEARDUP_INDEX_H

#include <neardup/error.h>
#include <neardup/sketch.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * By what the index looks documents up.  Bands: r rows are the low bytes of r consecutive minima;
 * two documents meet where all r bytes of a band are equal (locality-sensitive hashing: Seshasai
 * 2009, §2.4.1).  Start from nd_index_params_default().
 */
struct nd_index_params {
    /* 0: no look-up by minima. */
    unsigned bands;
    /* bands * rows <= ND_MINHASH_COUNT. */
    unsigned rows;
    /* Documents meet whose simhashes differ in at most so many bits, up to ND_SIMHASH_BITS_MAX;
     * ND_NO_SIMHASH: no look-up by simhashes. */
    unsigned simhash_bits;
};
#define ND_NO_SIMHASH 65u
#define ND_SIMHASH_BITS_MAX 15u

/* A document that was found. */
struct nd_candidate {
    uint32_t number;
    /* How many of its ND_MINHASH_COUNT minima agree in their low bytes. */
    uint16_t equal;
    /* In how many bits the simhashes differ. */
    uint16_t distance;
};

/* 21 bands of 6 rows, for pairs of resemblance 4/5 and more, and no lookup by simhashes: what
 * nd_dedup_new takes by default.  (All members 0: documents of equal simhashes meet.) */
ND_API struct nd_index_params nd_index_params_default(void);

/*
 * The index: about 340 bytes a document at 21 bands, 6 KB while it is empty.  Its tables grow a
 * little with each insertion: all at once, with memory twice, until they are 192 MB together, and
 * later one after the other, which takes about 10 bytes a document more.  One writer and no reader, or
 * any number of readers: the functions with a const index may run in parallel with one another.  No
 * function breaks it: where one fails, it is as it was.  It has no threads, and can be used in a child
 * process.
 */
struct nd_index;

ND_API struct nd_index *nd_index_new(const struct nd_index_params *params, struct nd_error *err);
ND_API void nd_index_free(struct nd_index *index);

/* Documents in it now (deleted ones do not count), and its memory in bytes. */
ND_API size_t nd_index_count(const struct nd_index *index);
ND_API size_t nd_index_bytes(const struct nd_index *index);

/*
 * Add a document; *number is its number: 0, 1, 2 … in order of insertion, not used again until
 * nd_index_compact.  Only documents of an equal group ever meet.  ND_ENOMEM: nothing changed.
 * ND_EUNSUPPORTED, and nothing changed: 2^32 - 2 numbers were given; nd_index_compact makes those
 * of deleted documents free.
 */
ND_API enum nd_status nd_index_insert(struct nd_index *index, const struct nd_sketch *sketch,
                                      uint32_t group, uint32_t *number, struct nd_error *err);

/* Remove a document by its number.  ND_EINVAL: there is none (any more). */
ND_API enum nd_status nd_index_delete(struct nd_index *index, uint32_t number,
                                      struct nd_error *err);

/*
 * Give back the memory of deleted documents, 164 bytes each, and their numbers: the documents that
 * are left become 0, 1, 2 … in the order that they have.  *new_numbers (the caller's, to free();
 * either may be NULL) has for each number given so far, *n_numbers of them, the one that the
 * document has from now on, or ND_INDEX_GONE.  It takes as long as adding all documents again, and
 * meanwhile memory for their tables twice.  ND_ENOMEM: nothing changed.
 */
#define ND_INDEX_GONE UINT32_MAX
ND_API enum nd_status nd_index_compact(struct nd_index *index, uint32_t **new_numbers,
                                       size_t *n_numbers, struct nd_error *err);

/*
 * Write the index to a file (docs/format/snapshot.md), which gets its name once it is whole and on
 * the disk (neardup/result_file.h).  `note`: up to ND_INDEX_NOTE_MAX bytes that the owner keeps
 * beside it, such as the number of the last change that it has; NULL where note_len is 0.  A child
 * process can write while the parent goes on.  ND_EINVAL: the note is too long; ND_EIO, ND_ENOMEM.
 */
#define ND_INDEX_NOTE_MAX 1024
ND_API enum nd_status nd_index_save(const struct nd_index *index, const char *path,
                                    const void *note, size_t note_len, struct nd_error *err);

/*
 * Open a snapshot, and compare all of it with its checksums.  The tables are read, the rest (145
 * bytes a document) is mapped.  The file may be replaced or removed meanwhile, but not written to or
 * cut: then a query may be wrong, or the process get SIGBUS.  note (NULL, or with room for
 * ND_INDEX_NOTE_MAX bytes) gets the owner's note, *note_len its length.  NULL: ND_EIO: the file
 * cannot be read; ND_EINPUT: it is no snapshot, one of another version, or a damaged one; ND_ENOMEM.
 */
ND_API struct nd_index *nd_index_open(const char *path, void *note, size_t *note_len,
                                      struct nd_error *err);
/*
 * As nd_index_open, but what is mapped is not checked, so that it answers sooner.  Until
 * nd_index_check has found all of it right, an answer from a damaged file may be wrong.
 */
ND_API struct nd_index *nd_index_open_unchecked(const char *path, void *note, size_t *note_len,
                                                struct nd_error *err);

/*
 * In an index that was opened unchecked, compare up to `chunks` more chunks of 4 MiB with their
 * checksums.  *n_left (NULL allowed): how many are left; 0: all were right, or the index was not
 * opened.  One thread at a time, but beside any other function than nd_index_free.  ND_EINPUT: the
 * file is damaged, and what the index answers may be wrong; ND_EIO, ND_ENOMEM.
 */
ND_API enum nd_status nd_index_check(struct nd_index *index, size_t chunks, size_t *n_left,
                                     struct nd_error *err);

/* A list of candidates that grows; the caller's. Start from zeroes, release with _release. */
struct nd_candidates {
    struct nd_candidate *items;
    size_t count, capacity;
};
ND_API void nd_candidates_release(struct nd_candidates *list);

/*
 * All documents that share a band with the sketch or whose simhash is near, each once, those that
 * agree most first, then by number.  Replaces what the list held.  ND_ENOMEM: the list is empty.
 */
ND_API enum nd_status nd_index_query(const struct nd_index *index, const struct nd_sketch *sketch,
                                     uint32_t group, struct nd_candidates *out);

/*
 * Bands for a threshold: as many as the minima allow for the most rows that still find a pair at
 * the threshold with probability `recall`, judged by the committed simulation with the shipped hash
 * (tools/simulate_bands.c; docs/decisions/bands.md).  ND_EINVAL: threshold or recall out of range
 * (above 0 to 1; 0 to ND_RECALL_MAX), or not reachable with ND_MINHASH_COUNT minima.
 */
#define ND_RECALL_MAX 0.9999
ND_API enum nd_status nd_bands_choose(struct nd_ratio threshold, double recall, unsigned *bands,
                                      unsigned *rows, struct nd_error *err);

/* The S-curve: the chance that a pair of resemblance j shares a band, 1 - (1 - j^rows)^bands. */
ND_API double nd_bands_recall(double j, unsigned bands, unsigned rows);

/*
 * How many of a document's shingles to look up, and how many of them must be in another document,
 * so that one of which the fraction `threshold` is in the other is found with probability
 * `recall`: the sample is 128, or up to 1024 for low thresholds.  A document of no more shingles
 * than that is looked up whole, and found for certain.  ND_EINVAL: as nd_bands_choose.
 */
ND_API enum nd_status nd_sample_choose(struct nd_ratio threshold, double recall, unsigned *sample,
                                       unsigned *min_shared, struct nd_error *err);

/* The S-curve: the chance that at least `min_shared` of `sample` shingles are in a document that has
 * this fraction of all of them. */
ND_API double nd_sample_recall(double fraction, unsigned sample, unsigned min_shared);

#ifdef __cplusplus
}
#endif
#endif
