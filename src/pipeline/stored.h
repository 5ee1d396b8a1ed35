/* stored.h - a file copied as it is stored */
#ifndef ND_PIPELINE_STORED_H
#define ND_PIPELINE_STORED_H

#include <stdbool.h>

#include <neardup/error.h>
#include <neardup/input.h>

#include "pipeline/output.h"

/* Whether the bytes of a source's record are others than those of its file, which can be read
 * again: it was unpacked or recoded. */
bool nd_stored_is_another(const struct nd_source *source);

/* ND_ECHANGED: the file is not what was read; ND_EIO, ND_ENOMEM. */
enum nd_status nd_stored_copy(const struct nd_source *source, struct nd_output *out,
                              struct nd_error *err);

#endif
