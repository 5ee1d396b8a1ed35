/* bounded_removals.h - removed documents as they are found, and all records written in input order */
#ifndef ND_RUN_BOUNDED_REMOVALS_H
#define ND_RUN_BOUNDED_REMOVALS_H

#include "base/file/external_sort.h"
#include "run/bounded_records.h"
#include "run/removal.h"

/* In memory are, while records are decided and written, 4 bytes a record: the sizes of clusters. */
struct nd_bounded_removals {
    struct nd_bounded_records *records;
    uint64_t n; /* removed documents */
    struct nd_external_sort *sort;
    size_t row_bytes;
    unsigned char *row; /* one, as it is made */
    struct nd_emitter emitter;
};

/* Starts from zeroes and `records`.  Release it whatever is returned.  ND_ENOMEM. */
enum nd_status nd_bounded_removals_open(struct nd_bounded_removals *r, struct nd_error *err);
void nd_bounded_removals_release(struct nd_bounded_removals *r);
/* Bytes written to files. */
static inline uint64_t nd_bounded_removals_spilled(const struct nd_bounded_removals *r)
{
    return r->sort ? nd_external_sort_spilled(r->sort) : 0;
}

/* All records have been read: make room for the sizes of clusters.  ND_ENOMEM. */
enum nd_status nd_bounded_removals_begin(struct nd_bounded_removals *r, struct nd_error *err);

/* A record is removed; agreement: one for each signature of the recipe. */
enum nd_status nd_bounded_removals_add(struct nd_bounded_removals *r, uint32_t record,
                                       const struct nd_removal *removal,
                                       const struct nd_agreement *agreement, struct nd_error *err);

/* All are known: read the records again that some output needs, and write.  Then complete the
 * summary's numbers. */
enum nd_status nd_bounded_removals_write(struct nd_bounded_removals *r, struct nd_error *err);

#endif
