/* metadata_value.h - a field's value, or the values of a JSON array */
#ifndef ND_FEATURE_METADATA_VALUE_H
#define ND_FEATURE_METADATA_VALUE_H

#include "base/memory.h"

#include <neardup/types.h>

#include <stddef.h>

/* Values, one behind the other in `text`, each ended by a zero that is not of it.  Starts from
 * zeroes. */
struct nd_metadata_values {
    struct nd_buffer text;
    size_t *end; /* of each value in `text` */
    size_t count, capacity;
};
void nd_metadata_values_release(struct nd_metadata_values *v);

/*
 * The values of a field: of a JSON array of strings, numbers, true and false each element, its
 * escapes resolved; of anything else the value as it is.  Empty ones are left out.  False: out of
 * memory.
 */
bool nd_metadata_values_read(struct nd_metadata_values *v, struct nd_view value);

/*
 * Of a JSON object of numbers each key and its number, one after the other; of keys that are empty
 * and values that are null none.  Nothing, where it is no such object.  False: out of memory.
 */
bool nd_metadata_pairs_read(struct nd_metadata_values *v, struct nd_view value);

struct nd_view nd_metadata_value(const struct nd_metadata_values *v, size_t i);

#endif
