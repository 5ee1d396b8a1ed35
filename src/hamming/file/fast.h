/* fast.h - index files of the layout fast: the tables that indexes in memory have, read where they are
 */
#ifndef ND_HAMMING_FILE_FAST_H
#define ND_HAMMING_FILE_FAST_H

#include "base/sort.h"
#include "hamming/file/opened.h"
#include "hamming/memory/halves.h"

/*
 * A fast file holds halves or windows (memory/halves.h draws their lines) of one segment.  Chunks
 * begin at multiples of 64 bytes:
 *
 *     | list of chunks | ids | groups | rows | table 0: main, over | table 1: … | … |
 *
 * rows are the distinct fingerprints, ascending.  A slot of table 0 has, as its id, the number of
 * the fingerprint's first entry, and the bit ND_HALVES_MANY where there are more.
 */
enum { ND_HAMMING_FAST_ALIGN = 64 };

/* The lines of one table, to be written.  Starts from zeroes. */
struct nd_hamming_fast_lines {
    struct nd_hamming_line *main, *over; /* zeroed memory; over NULL: none */
    size_t n_main, n_over;
};
/*
 * Put n entries into the lines of table t.  Of an entry `value` is the fingerprint, `number` what
 * table 0 says of it, and `unused` is 1 for ND_HALVES_MANY.  To be released in either case.
 * ND_ENOMEM; ND_EUNSUPPORTED: there are too many lines for their numbers.
 */
enum nd_status nd_hamming_fast_fill(const struct nd_halves *halves, unsigned t,
                                    const struct nd_numbered_value *entry, size_t n,
                                    struct nd_hamming_fast_lines *lines, struct nd_error *err);
void nd_hamming_fast_release(struct nd_hamming_fast_lines *lines);

/* Point segment->halves at the tables.  What they hold is not looked at.  ND_EINPUT, ND_ENOMEM. */
enum nd_status nd_hamming_fast_open(struct nd_hamming_segment *segment,
                                    const struct nd_hamming_chunk *chunk, const unsigned char *data,
                                    struct nd_error *err);

/* Whether every table has the rows, each where it is looked for, and table 0 their ids.  ND_EINPUT. */
enum nd_status nd_hamming_fast_check(const struct nd_hamming_segment *segment,
                                     struct nd_error *err);

/* nd_hamming_segment_search.  sink.is_damaged may be set. */
void nd_hamming_fast_search(const struct nd_hamming_segment *segment,
                            struct nd_hamming_search *search);

#endif
