/* signed_entries.h - the signatures of entries, by which a recipe's rule decides: packed, and found
 *
 * For recipes whose rule is no distance of one simhash of 64 bits.  The database keeps the packed
 * signatures of each entry; they are all in memory, in an index that has the entries' numbers.
 */
#ifndef ND_STORE_SEARCH_SIGNED_ENTRIES_H
#define ND_STORE_SEARCH_SIGNED_ENTRIES_H

#include "base/memory.h"
#include "engine/document/matching.h"

/* Pack the signatures of a text (docs/format/store.md), in place of what the buffer had; NULL: the
 * text has none.  ND_ENOMEM. */
enum nd_status nd_signatures_pack(const struct nd_matching *matching,
                                  const struct nd_document_signatures *x, struct nd_buffer *packed,
                                  struct nd_error *err);

/* Unpack them: *out, without keys and group, points into the packed words, which are aligned.
 * False: these bytes cannot be right. */
bool nd_signatures_unpack(const struct nd_matching *matching, struct nd_view packed,
                          struct nd_document_signatures *out);
/* As nd_signatures_unpack, of bytes at any place, which the buffer keeps.  ND_EINPUT, ND_ENOMEM. */
enum nd_status nd_signatures_unpack_row(const struct nd_matching *matching, struct nd_view row,
                                        struct nd_buffer *aligned,
                                        struct nd_document_signatures *out, struct nd_error *err);

/* The index of the signatures.  One writer and no reader, or any number of readers. */
struct nd_signed_entries {
    struct nd_signature_index *index; /* NULL: the recipe needs none */
    uint32_t next;                    /* its next number */
};
enum nd_status nd_signed_entries_init(struct nd_signed_entries *entries,
                                      const struct nd_matching *matching, struct nd_error *err);
void nd_signed_entries_release(struct nd_signed_entries *entries);

/* Add an entry of a label set under its number, which is not less than `next`; numbers between are of
 * entries that are not there.  `listed`: look-ups find it.  ND_ENOMEM: it is not found. */
enum nd_status nd_signed_entries_add(struct nd_signed_entries *entries,
                                     const struct nd_matching *matching, uint32_t number,
                                     const struct nd_document_signatures *x, uint32_t set,
                                     bool listed, struct nd_error *err);
/* No look-up finds an entry any more; one that is not there is no failure. */
void nd_signed_entries_remove(struct nd_signed_entries *entries, uint32_t number);

#endif
