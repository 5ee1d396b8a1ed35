/* temporary.h - files under a temporary name, until they are whole */
#ifndef ND_BASE_TEMPORARY_H
#define ND_BASE_TEMPORARY_H

#include <neardup/error.h>

/*
 * A file that will appear under its target's name in one step, or not at all.  All that exist in
 * the process are in one list, so that nd_temporary_abandon() can remove them from a signal
 * handler.
 */
struct nd_temporary;

/*
 * Create one beside `target` (a regular file's name, or one that does not exist), open for writing
 * in *fd, with the permissions of the file that it will replace.  ND_EIO, ND_ENOMEM.
 */
struct nd_temporary *nd_temporary_create(const char *target, int *fd, struct nd_error *err);

/* The same as a link to an existing file: hard, or symbolic where that cannot be. */
struct nd_temporary *nd_temporary_create_link(const char *target, const char *existing,
                                              struct nd_error *err);

/*
 * The same as TARGET.neardup-new, locked (flock) while it is open, so that nobody else writes it at
 * the same time: ND_EIO says so.  What a killed process left under that name is written over. NULL:
 * see *status.
 */
struct nd_temporary *nd_temporary_create_locked(const char *target, int *fd, enum nd_status *status,
                                                struct nd_error *err);

/* Remove what a killed process left under that name; not what another one is writing. */
void nd_temporary_remove_stale(const char *target);

/* Give it its target's name; it is then no more to be touched.  ND_EIO, and it is removed. */
enum nd_status nd_temporary_publish(struct nd_temporary *t, struct nd_error *err);

/* Remove it.  NULL: nothing. */
void nd_temporary_discard(struct nd_temporary *t);

/* Remove all.  Safe in a signal handler, after which the process must end. */
void nd_temporary_abandon(void);

#endif
