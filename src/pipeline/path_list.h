/* path_list.h - a list of paths: a line each, or each ended by a NUL */
#ifndef ND_PIPELINE_PATH_LIST_H
#define ND_PIPELINE_PATH_LIST_H

#include <stdbool.h>

#include <neardup/error.h>

#include "pipeline/output.h"

/* One more path, which stays until what was borrowed of it is returned.  In a list of lines one
 * that has line ends itself is written with the escapes of TSV; with NULs all stand as they are. */
enum nd_status nd_path_list_add(struct nd_output *out, const char *path, bool has_nuls,
                                struct nd_error *err);

#endif
