/* keep.h - who stands for a cluster: the order in which documents are offered */
#ifndef ND_PIPELINE_KEEP_H
#define ND_PIPELINE_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "engine/keep_policy.h"

/* The key of a document whose field has no such value. */
#define ND_KEEP_WITHOUT UINT64_MAX

/*
 * The key of a document: the least is offered first; equal ones in input order (the caller reverses
 * it for ND_KEEP_LAST).  `value` is the field's, data NULL where it is absent; absent and
 * unreadable values come last.  False: out of memory.
 */
bool nd_keep_key(const struct nd_keep *keep, struct nd_view text, struct nd_view value,
                 uint64_t *key);

/*
 * A date as microseconds since 1970: RFC 3339 (a date alone is its midnight, no zone is UTC), RFC
 * 2822, or a number of seconds.  False: none of these.
 */
bool nd_date_parse(struct nd_view text, int64_t *microseconds);

#endif
