/* difference.h - what differs between two texts: the words that only one of them has */
#ifndef ND_EVIDENCE_DIFFERENCE_H
#define ND_EVIDENCE_DIFFERENCE_H

#include <neardup/evidence.h>

#include "base/json_out.h"

/* Append the member "differs" (docs/format/outputs.md), where `a` and `b` name the two texts. */
ND_API void nd_difference_json(struct nd_json *out, const struct nd_difference *difference,
                               const char *a, const char *b);

#endif
