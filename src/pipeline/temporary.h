/* temporary.h - files under a temporary name, until they are whole */
#ifndef ND_PIPELINE_TEMPORARY_H
#define ND_PIPELINE_TEMPORARY_H

#include <neardup/error.h>

/*
 * A file that will appear under its target's name in one step, or not at all.  All that exist in
 * the process are in one list, so that nd_run_abandon() can remove them from a signal handler.
 */
struct nd_temporary;

/*
 * Create one beside `target` (a regular file's name, or one that does not exist), open for writing
 * in *fd.  ND_EIO, ND_ENOMEM.
 */
struct nd_temporary *nd_temporary_create(const char *target, int *fd, struct nd_error *err);

/* Give it its target's name; it is then no more to be touched.  ND_EIO, and it is removed. */
enum nd_status nd_temporary_publish(struct nd_temporary *t, struct nd_error *err);

/* Remove it.  NULL: nothing. */
void nd_temporary_discard(struct nd_temporary *t);

#endif
