/* budget.h - the memory of a run, divided among those who need it */
#ifndef ND_LOADS_BUDGET_H
#define ND_LOADS_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>

/*
 * Option `memory` bounds anonymous memory and buffers, without code and libraries.  Its shares:
 *
 *     1/4    records   batches that are read, parsed and compared, and the threads' working memory
 *     1/16   cache     shingles of kept documents, at most 96 MB
 *     1/16   ids       hashes of ids, at most 72 MB, and where the places of known rows begin; before
 *                      anything is read, these are sorted
 *     1/16   sorts     decisions and the order of documents, on their way to a file
 *     1/16   keys      numbers of a keep policy that 64 bits do not tell apart; values of `within`
 *     1/2    in turn:  linking    1/8 keys of documents; 3/8 the filter of all keys,
 *                                 and then 1/8 rows of documents, 1/4 the union-find
 *                      deciding   the sizes of clusters, the index of a load, and the list of its
 *                                 documents
 *                      writing    1/4 the sizes of clusters
 *
 * The memory that a record needs is a multiple of its length: it is read, parsed, cut into tokens and sketched,
 * and each thread may have such a record.
 */
struct nd_budget {
    /* 0: there is none, and so is no other member. */
    uint64_t total;
    size_t cache_bytes, id_bytes, known_bytes, sort_bytes, key_bytes;
    size_t link_sort_bytes, link_filter_bytes, link_rows_bytes;
    size_t engine_bytes;
    /* bytes a record that arrays may take: union-find, sizes of clusters */
    size_t array_bytes;
    /* memory of the process before the run */
    uint64_t in_use_before;
    /* The longest record, and the length of a batch of short ones. */
    size_t record_bytes, batch_bytes;
};

/* The least total: below it, fixed buffers are most of it. */
#define ND_BUDGET_LEAST (UINT64_C(64) << 20)

struct nd_budget nd_budget_divide(uint64_t total, unsigned threads);

/* The total that a record of this length needs, so many bytes for the index, or such arrays. */
uint64_t nd_budget_for_record(uint64_t bytes, unsigned threads);
uint64_t nd_budget_for_engine(uint64_t bytes);
uint64_t nd_budget_for_arrays(uint64_t bytes);

/* The anonymous memory of the process; 0: the system does not tell. */
uint64_t nd_memory_in_use(void);

/*
 * Check what is held so far by a run that is `done` of `all` through its input (all 0: not known).
 * Arrays that it grows by half may take half more for a moment, so two thirds of the total are for
 * what is held. ND_ENOMEM: it is more, and the message names the total that the whole may need.
 */
enum nd_status nd_budget_check(const struct nd_budget *budget, uint64_t documents, uint64_t done,
                               uint64_t all, struct nd_error *err);

/* A total as the option takes it, rounded up: "700M". */
enum { ND_BUDGET_TEXT = 32 };
const char *nd_budget_text(uint64_t total, char text[ND_BUDGET_TEXT]);
/* The opposite: "2G", "1.5G", "300000000".  ND_EINVAL. */
enum nd_status nd_budget_parse(const char *text, uint64_t *total, struct nd_error *err);

#endif
