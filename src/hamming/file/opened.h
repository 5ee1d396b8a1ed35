/* opened.h - index files: one segment as it is opened, and what is searched for in it */
#ifndef ND_HAMMING_FILE_OPENED_H
#define ND_HAMMING_FILE_OPENED_H

#include "base/file/checked.h"
#include "hamming/file/id_groups.h"
#include "hamming/file/layout.h"
#include "hamming/file/values.h"
#include "hamming/memory/sink.h"

struct nd_halves;

struct nd_hamming_segment {
    const struct nd_hamming_scheme *scheme;
    uint64_t count, distinct;
    bool has_texts;
    const uint32_t *id;            /* NULL with texts */
    struct nd_hamming_texts texts; /* with them */
    struct nd_hamming_groups groups;
    const uint64_t *row; /* wide: the distinct fingerprints in the order of table 0; layout fast:
                            ascending; else NULL */
    struct nd_hamming_table {
        struct nd_hamming_values values;
        const uint64_t *number; /* wide, all tables but 0: number_bits each, of a row */
    } * table;                  /* layout fast: NULL */
    struct nd_halves *halves;   /* layout fast (fast.h), else NULL */
    struct nd_checked *checked; /* rows, ids, lines and tables are checked as they are read */
    unsigned number_bits;
};

/* Check `len` bytes of a segment, unless they were checked before.  len > 0. */
static inline bool nd_hamming_is_sound(const struct nd_hamming_segment *s, const void *at,
                                       size_t len)
{
    return nd_checked_is_sound(s->checked, at, len);
}

/* Queries, and where their answers go.  Where entries are reported in place of ids, those of the
 * segment are numbered from `base` on. */
struct nd_hamming_search {
    const uint64_t *queries;
    size_t n;
    uint32_t base;
    bool entries; /* report the numbers of entries, not ids */
    unsigned distance;
    struct nd_hamming_sink sink;
};
#endif
