/* neardup/hamming_file.h - an index of fingerprints as a memory-mapped file */
#ifndef NEARDUP_HAMMING_FILE_H
#define NEARDUP_HAMMING_FILE_H

#include <neardup/hamming.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The tables of a design, sorted and compressed (docs/format/hamming.md), for fingerprints of up to
 * 64 bits.  About 64 - log2(N) + 2 bits a fingerprint and table, and 4 bytes for an id.
 *
 * Caveat: an open file is mapped.  Whoever cuts it short meanwhile kills the process at its next
 * query; writing replaces the file by renaming, which harms nobody.
 */
struct nd_hamming_file;

/*
 * The design of blocks or coverings with the fewest tables, or of at most `tables` tables where
 * that is not 0, for a file of problem->count fingerprints.  ND_EINVAL, ND_ENOMEM.
 */
ND_API enum nd_status nd_hamming_file_plan(const struct nd_hamming_problem *problem,
                                           unsigned tables, struct nd_hamming_plan *plan,
                                           struct nd_error *err);

/*
 * Write n fingerprints under the ids given; ids NULL: 0 … n - 1.  The file appears at `path` when
 * it is complete and synced, or not at all; what stood there is replaced.  Needs 40 bytes of memory
 * a fingerprint.  ND_EINVAL: no plan for such a file; ND_ENOMEM, ND_EIO.
 */
ND_API enum nd_status nd_hamming_file_write(const char *path, const struct nd_hamming_plan *plan,
                                            const uint64_t *fingerprints, const uint32_t *ids,
                                            size_t n, struct nd_error *err);

/*
 * Open a file and check all of it: checksums, and that the tables are what they should be.  ND_EIO,
 * ND_ENOMEM; ND_EINPUT: damaged, or no such file of ours; ND_EUNSUPPORTED: another version.
 */
ND_API enum nd_status nd_hamming_file_open(struct nd_hamming_file **file, const char *path,
                                           struct nd_error *err);
ND_API void nd_hamming_file_close(struct nd_hamming_file *file);

/* What it was made for, with problem.count = pairs of fingerprint and id; as long as it is open. */
ND_API const struct nd_hamming_plan *nd_hamming_file_design(const struct nd_hamming_file *file);
ND_API uint64_t nd_hamming_file_distinct(const struct nd_hamming_file *file);
ND_API uint64_t nd_hamming_file_bytes(const struct nd_hamming_file *file);

/* As nd_hamming_query; any number of threads at once. */
ND_API enum nd_status nd_hamming_file_query(const struct nd_hamming_file *file,
                                            const uint64_t *queries, size_t n, unsigned distance,
                                            struct nd_hamming_matches *out, struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
