/* containers.h - documents found by the shingles that they contain, or that contain theirs */
#ifndef ND_INDEX_CONTAINERS_H
#define ND_INDEX_CONTAINERS_H

#include <stdbool.h>

#include <neardup/index.h>

#include "index/candidate_list.h"
#include "index/index_row.h"
#include "index/postings.h"
#include "index/value_set.h"

/*
 * A shingle is known here by 32 bits of its hash, and a document by the distinct ones, ascending.
 * Its sample are the least of them, at most so many as nd_sample_choose says: a small document is
 * its own sample.  The candidates of a document are found by samples in one of these ways:
 *
 *   - in kept: the sample of the document, in the listed one;
 *   - of kept: the sample of the listed one, in the document;
 *   - by the smaller: the first where the document has no more shingles, else the second.
 *
 * A listed document is a candidate where at least `least` values of the sample are in the other
 * (of a sample that is the whole document: as many as the threshold asks).  This is exact:
 *
 *   - Of k values of which c must be shared, any k - c + 1 have one of them.  So the document looks
 *     up those of its sample that stand in the fewest documents, and a listed one stands under
 *     those of its sample under which the fewest stood (prefix filtering: Chaudhuri 2006); three
 *     values more are looked up, and who shares four is looked at (Wang
 *     2012).
 *   - Then the values themselves, which are stored, are counted.
 *
 * Full keys.  A document with many candidates may be listed under some of its values only: the
 * owner says which are full.  Such a document is a candidate of those that have one of these
 * values, whatever it is, and share enough.
 *
 * Full lists.  Each table lists the first `room` documents under a value, near or not, if that is
 * bounded (nd_containers_bound).  A later one is not listed there, and is a candidate only where one
 * of the values of the sample that are shared lists it.  That is so for all if fewer values of the
 * sample are full than must be shared.
 */
/* The sample where all of it must be shared. */
enum { ND_SAMPLE_OF_ALL = 32 };
enum nd_container_way { ND_CONTAINERS_IN_KEPT, ND_CONTAINERS_OF_KEPT, ND_CONTAINERS_BY_SMALLER };

struct nd_container_params {
    enum nd_container_way way;
    bool is_cosine;              /* near is what has a great cosine, not a great containment */
    struct nd_ratio threshold;   /* of the containment that is looked for */
    unsigned sample, min_shared; /* nd_sample_choose */
};

/* All values of a document, which may contain others; the rarest of its sample, which others may
 * contain; those of a document that is left out of full values. */
enum nd_container_table {
    ND_CONTAINERS_WHOLE,
    ND_CONTAINERS_SAMPLE,
    ND_CONTAINERS_OVERFLOW,
    ND_CONTAINER_TABLES
};

/* A document: its values, and of which it is left out. */
struct nd_container_row {
    const uint32_t *value; /* nd_container_values of its shingles */
    uint32_t n_values;
    uint32_t n_shingles;
    uint32_t group;
    const uint64_t *left_out; /* a bit a value; NULL: of none */
};

/*
 * The values of n distinct shingles of a document of a group, ascending and each once, for which
 * `value` has room; returns how many.  scratch: room for 2 n words.  `expected`, where not NULL: only
 * those that are in the set.
 */
size_t nd_container_values(const uint64_t *shingle, size_t n, uint32_t group,
                           const struct nd_value_set *expected, uint32_t *value, uint64_t *scratch);

/*
 * Expected values.  Where samples are looked for in kept documents, and each value of a sample must
 * be there (a threshold of 1), nothing asks for a value that is in no sample. If all documents are
 * known beforehand, so are the values of all samples, and all others can be left out: of the values
 * of a document the least ones, which are its sample, stay, and nothing else changes.
 */
static inline bool nd_containers_expect(const struct nd_container_params *p)
{
    return p->sample && p->way == ND_CONTAINERS_IN_KEPT && !p->is_cosine &&
           p->min_shared == p->sample && p->threshold.p == p->threshold.q;
}
/* Add the sample of a document of no group.  False: out of memory. */
bool nd_container_expect(const struct nd_container_params *p, const uint64_t *shingle, size_t n,
                         struct nd_value_set *expected);

/*
 * Numbers are given in order, 0, 1, 2 …  One writer and no reader, or any number of readers.  A
 * shingle takes 4 bytes, and where its document is looked for as the larger one 8 to 12 in the
 * table.
 */
struct nd_containers;

/* params are copied.  NULL: out of memory. */
struct nd_containers *nd_containers_new(const struct nd_container_params *params);
void nd_containers_free(struct nd_containers *c);
size_t nd_containers_bytes(const struct nd_containers *c);

/* Give a document the next number.  False: out of memory, or there are 2^31 - 1 of them. */
bool nd_containers_append(struct nd_containers *c, const struct nd_container_row *row);
/* Let look-ups find it, but not by the values of row->left_out; row is what was appended.  False:
 * out of memory; some of its values may be listed. */
bool nd_containers_list(struct nd_containers *c, uint32_t number,
                        const struct nd_container_row *row);
/* No look-up finds it any more. */
void nd_containers_remove(struct nd_containers *c, uint32_t number);
/* Forget all, the bound as well, and keep the memory. */
void nd_containers_clear(struct nd_containers *c);

/*
 * From now on, each table lists `room` documents under a value at most, those in the base among
 * them (NULL: none): the documents listed from now on come after the base's.  UINT32_MAX: no bound.
 */
void nd_containers_bound(struct nd_containers *c, uint32_t room, const struct nd_containers *base);
/* How many documents the longest list of a table has. */
uint32_t nd_containers_longest(const struct nd_containers *c, enum nd_container_table table);
/* How many values of a document are its sample, and how many of these must be shared. */
uint32_t nd_container_sample(const struct nd_container_params *params,
                             const struct nd_container_row *row, uint32_t *need);

/* Documents that are left out of values by their owner, or because so many lists are full that
 * another with the same sample may not be found; and of how many values altogether. */
uint64_t nd_containers_crowded(const struct nd_containers *c, uint64_t *n_values);

/* The working memory of one thread for look-ups, in any index. */
struct nd_container_scratch {
    struct nd_numbers met;
    struct nd_posting *posting;
    uint64_t *order;
    size_t capacity;
    uint64_t n_met;    /* documents that all look-ups met, in all */
    uint32_t n_common; /* values of the row's sample under which half a list's room is taken */
};
void nd_container_scratch_release(struct nd_container_scratch *s);

/*
 * The candidates among the listed ones, each once, the nearest first (`equal`: 65000 times the
 * estimate of what is looked for), then by number; of the reach only the counts of shingles matter.
 * Replaces what the list held.  ND_ENOMEM.
 */
enum nd_status nd_containers_query(const struct nd_containers *c, struct nd_container_scratch *s,
                                   const struct nd_container_row *row, struct nd_reach reach,
                                   struct nd_candidates *out);

/* Whether some number below `below` is a candidate; true where memory is out. */
bool nd_containers_meets_any(const struct nd_containers *c, struct nd_container_scratch *s,
                             const struct nd_container_row *row, struct nd_reach reach,
                             uint32_t below);

/*
 * Add to full[i] one for each value i of the row that a listed document, or a row that will be
 * listed, stands under; row->n_values of them.
 */
void nd_containers_count(const struct nd_containers *c, const struct nd_container_row *row,
                         uint32_t number, uint32_t *full);
void nd_container_row_count(const struct nd_container_params *params,
                            const struct nd_container_row *row,
                            const struct nd_container_row *listed, uint32_t *full);

/* Mark the rows of a batch that may be candidates of one another, as nd_index_link_rows does:
 * row[i] NULL takes no part.  False: out of memory. */
bool nd_containers_link(const struct nd_container_params *params,
                        const struct nd_container_row *const *row, size_t n, unsigned char *linked);

#endif
