/* keep.h - who stands for a cluster: the order in which documents are offered */
#ifndef ND_RECIPE_KEEP_H
#define ND_RECIPE_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "recipe/keep_policy.h"

/* The key of a document whose field has no value of the right kind. */
#define ND_KEEP_WITHOUT UINT64_MAX

/*
 * The key of a document. Documents are offered by increasing key, and those with equal keys in
 * input order (for ND_KEEP_LAST the caller reverses this). `value` is the field's, with data NULL
 * if it is absent; absent and unreadable values come last. False: out of memory.
 */
ND_API bool nd_keep_key(const struct nd_keep *keep, struct nd_view text, struct nd_view value,
                        uint64_t *key);

/* Whether the lengths of the texts decide, and the key of a document with a text of so many code points
 * (nd_text_length). */
ND_API bool nd_keep_is_by_length(const struct nd_keep *keep);
ND_API uint64_t nd_keep_key_of_length(const struct nd_keep *keep, uint64_t length);

/*
 * Whether the key does not determine the number, so that documents with equal keys must be compared
 * by nd_keep_compare. It returns a negative number if a is offered first, 0 if they are equal.
 */
ND_API bool nd_keep_is_rough(const struct nd_keep *keep, uint64_t key);
ND_API int nd_keep_compare(const struct nd_keep *keep, struct nd_view a, struct nd_view b);

/*
 * A date as microseconds since 1970: RFC 3339 (a date alone is its midnight, no zone is UTC), RFC
 * 2822, or a number of seconds.  False: none of these.
 */
ND_API bool nd_date_parse(struct nd_view text, int64_t *microseconds);
/* The inverse: RFC 3339 in UTC, to the second. Returns the length of the text. */
enum { ND_DATE_TEXT = 64 };
ND_API size_t nd_date_text(int64_t microseconds, char text[ND_DATE_TEXT]);

#endif
