/* temporary.h - files that nobody sees until they are whole */
#ifndef ND_BASE_TEMPORARY_H
#define ND_BASE_TEMPORARY_H

#include <neardup/error.h>

#include <stdbool.h>

/*
 * A file that will appear under its target's name in one step, or not at all.  It has no name where
 * the file system can do that (O_TMPFILE): whatever kills the process, nothing is left.  Elsewhere,
 * and in the moment before it takes the place of another, it is called .neardup- and 20 random
 * characters, beside its target, and is locked (flock).  All files of the process that have such a
 * name are in one list, so that nd_temporary_abandon() can remove them from a signal handler.
 */
struct nd_temporary;

/*
 * Create one beside `target` (the name of a regular file, or of none), open for reading and writing
 * in *fd, which the temporary owns.  It has the permissions of the file that it will replace.
 * ND_EIO, ND_ENOMEM.
 */
struct nd_temporary *nd_temporary_create(const char *target, int *fd, struct nd_error *err);

/* The same as a link to an existing file: hard, or symbolic where that cannot be. */
struct nd_temporary *nd_temporary_create_link(const char *target, const char *existing,
                                              struct nd_error *err);

/*
 * All has been written; the descriptor must no more be used.  `sync`: it is on the disk when this
 * returns.  A process that finishes many files keeps few of them open: the others get their
 * temporary names now.  ND_EIO: *t is still to be discarded.
 */
enum nd_status nd_temporary_finish(struct nd_temporary *t, bool sync, struct nd_error *err);

/* Give it its target's name; it is then no more to be touched.  ND_EIO, and it is removed. */
enum nd_status nd_temporary_publish(struct nd_temporary *t, struct nd_error *err);
/* The same where nothing has the name: ND_ECHANGED where something has it by now. */
enum nd_status nd_temporary_publish_new(struct nd_temporary *t, struct nd_error *err);

/*
 * Keep it beside its target, as TARGET.neardup-kept, or with a number behind that where there is
 * one; *name (the caller frees it) is what it is called.  It is then no more to be touched.
 */
enum nd_status nd_temporary_keep_beside(struct nd_temporary *t, char **name, struct nd_error *err);

const char *nd_temporary_target(const struct nd_temporary *t);

/* Remove it.  NULL: nothing. */
void nd_temporary_discard(struct nd_temporary *t);

/*
 * Remove what killed processes of this user left beside `target`: regular files that are named as
 * above, and that no process has locked.
 */
void nd_temporary_remove_stale(const char *target);
void nd_temporary_remove_stale_in(const char *folder);

/* A file without a name in this folder, to write and read: -1 with the reason in errno. */
int nd_temporary_spool(const char *folder);

/* Remove all.  Safe in a signal handler, after which the process must end. */
void nd_temporary_abandon(void);

#endif
