/* reader.h - what a thread needs to read entries within a transaction */
#ifndef ND_STORE_READ_READER_H
#define ND_STORE_READ_READER_H

#include "store/catalog/catalog.h"
#include "store/search/search.h"
#include "store/segments/segments.h"

struct nd_reader {
    struct nd_segments *segments;
    struct nd_compressor *compressor;
    struct nd_txn *txn;
    struct nd_buffer text; /* that was fetched last */
    uint32_t absent;       /* an entry that searches do not find; UINT32_MAX: none */
};
/* False: out of memory, nd_reader_release frees what was made. */
bool nd_reader_init(struct nd_reader *reader, struct nd_segments *segments);
void nd_reader_release(struct nd_reader *reader);

/* The text of an entry, until the next call.  What the catalog and the segments return. */
enum nd_status nd_reader_text(struct nd_reader *reader, const struct nd_entry *entry,
                              struct nd_view *text, struct nd_error *err);
/* An entry that must be there: ND_EINPUT if it is not. */
enum nd_status nd_reader_entry(struct nd_reader *reader, uint32_t number, struct nd_entry *entry,
                               struct nd_error *err);
/* The entry of a label set with the very bytes of a text.  1: found; 0: not; ND_EUNSUPPORTED: there
 * is one with other bytes and the same hash. */
int nd_reader_find(struct nd_reader *reader, uint32_t set, const struct nd_sketched *text,
                   uint32_t *number, struct nd_error *err);

/* Have searches not find an entry if only one document has its text. */
enum nd_status nd_reader_leave_out(struct nd_reader *reader, uint32_t number, struct nd_error *err);

/* For searches in the transaction. */
struct nd_search_source nd_reader_source(struct nd_reader *reader);
/* As nd_reader_source, for an index that may have entries that the transaction no longer has. */
struct nd_search_source nd_reader_source_checked(struct nd_reader *reader);

#endif
