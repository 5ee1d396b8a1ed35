/* field_values.h - a field's value, or the values of a JSON array */
#ifndef ND_FEATURE_FIELD_VALUES_H
#define ND_FEATURE_FIELD_VALUES_H

#include "feature/text_list.h"

#include <neardup/error.h>
#include <neardup/types.h>

#include <stdbool.h>

/*
 * The values of a field: of a JSON array of strings, numbers, true and false each element, its
 * escapes resolved; of anything else the value as it is.  Empty ones are left out.  False: out of
 * memory.
 */
ND_API bool nd_field_values_read(struct nd_text_list *v, struct nd_view value);

/*
 * List each key of a JSON object of numbers and its number, one after the other; for empty keys and
 * null values nothing.  The list is empty if the value is no such object.  False: out of memory.
 */
bool nd_field_values_read_pairs(struct nd_text_list *v, struct nd_view value);

#endif
