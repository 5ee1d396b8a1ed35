/* slice.h - a sample of documents in which near duplicates stay together */
#ifndef ND_READING_SLICE_H
#define ND_READING_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>

#include "reading/parsed.h"

/*
 * If documents are sampled one by one, a pair of duplicates has seldom both in the sample.  So all
 * documents are read, each gets a key that equal documents share, and near ones mostly do, and the
 * sample has those whose key falls into a slice of the space of keys.  The key of a text is the
 * least hash of its pieces of 24 bytes that begin with a word (a minimum as those of Broder 1997, but
 * of bytes and of the first 8 KB, which takes a small part of the time); letters count in lower case.
 * The key of a document of a sketch file is its least shingle.
 *
 * Three hashes of each document, in the slice or not, are kept (struct nd_slice_mark): which texts
 * are equal is then known of all, and which are likely to be near, since they share a second minimum
 * too.  The slice tells how many of those are.
 */
struct nd_slice;

/* share: of the keys, above 0; from 1 on all documents are in the sample.  NULL: out of memory. */
struct nd_slice *nd_slice_new(double share, unsigned workers);
void nd_slice_free(struct nd_slice *slice); /* NULL: nothing */

/* Give the parsed record a key; any thread may, for records of its own.  Bad records have none. */
void nd_slice_note(struct nd_parsed *parsed);

/* Leave of the *n records of a batch the documents of the slice, and bad records.  Batches of
 * several workers may be cut at once, each by a worker of its own.  False: out of memory. */
bool nd_slice_cut(struct nd_slice *slice, struct nd_parsed *parsed, size_t *n, unsigned worker);

/* Processor time of a worker, in nanoseconds: of parsing, and of what is done for the slice alone.
 * With the number of workers in place of a worker's: of reading for all of them. */
void nd_slice_spent(struct nd_slice *slice, unsigned worker, uint64_t parsing, uint64_t slicing);

/* Shares of documents: those whose text an earlier one has, or both of whose minima. */
struct nd_slice_repeated {
    double text, near;
};

/* The counts of all that was read, once nothing is any more. */
struct nd_slice_totals {
    uint64_t documents; /* in the slice or not */
    struct nd_slice_repeated all, sampled;
    double parsing_seconds,
        slice_seconds; /* of a processor; parsing with reading for all workers */
    uint64_t bytes;    /* of memory, that a run without a slice does not take */
};
enum nd_status nd_slice_total(const struct nd_slice *slice, struct nd_slice_totals *totals,
                              struct nd_error *err);

#endif
