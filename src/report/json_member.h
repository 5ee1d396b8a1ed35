/* json_member.h - a JSON object with one member more, everything else byte for byte */
#ifndef ND_REPORT_JSON_MEMBER_H
#define ND_REPORT_JSON_MEMBER_H

#include <stdbool.h>

#include <neardup/types.h>

#include "base/json_out.h"

/* Bytes of a key, at most. */
enum { ND_MEMBER_KEY_MAX = 200 };

/* Check whether a well-formed object has a member of this name at its top, whatever its value. */
bool nd_json_has_member(struct nd_view object, struct nd_view key);
/*
 * Append a well-formed object with a member at its end, whose value `put_value` appends. Members that
 * have this name already are left out.
 */
void nd_json_put_member(struct nd_json *out, struct nd_view object, struct nd_view key,
                        void (*put_value)(struct nd_json *out, const void *context),
                        const void *context);

#endif
