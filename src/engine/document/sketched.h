/* sketched.h - documents that come without their texts: as rows of a sketch file by the same recipe */
#ifndef ND_ENGINE_DOCUMENT_SKETCHED_H
#define ND_ENGINE_DOCUMENT_SKETCHED_H

#include <neardup/sketch_file.h>

#include "engine/document/item.h"

/* Whether the engine takes this row, items[at] of a push.  ND_EINVAL. */
enum nd_status nd_sketched_check(const struct nd_engine_plan *plan, const struct nd_sketch_row *row,
                                 size_t at, struct nd_error *err);

/* Whether a row that is known of a text says all that reading the document would. */
bool nd_sketched_takes_known(const struct nd_engine_plan *plan);

/* Return what reading the text would give: tokens, distinct shingles, identity. */
struct nd_sketch nd_sketched_counts(const struct nd_sketch_row *row);
/* Fill the row of the index with what sketching the text would add, except for the keys. */
void nd_sketched_fill_row(const struct nd_engine_plan *plan, const struct nd_sketch_row *row,
                          struct nd_index_row *out);
/* The reverse: the row of an item whose text was read, sketched and signed.  False: it was not. */
bool nd_sketched_from_item(const struct nd_engine_plan *plan, const struct nd_item *item,
                           struct nd_sketch_row *out);

#endif
