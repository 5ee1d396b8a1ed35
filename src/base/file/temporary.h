/* temporary.h - files that nobody sees until they are whole */
#ifndef ND_BASE_FILE_TEMPORARY_H
#define ND_BASE_FILE_TEMPORARY_H

#include <neardup/error.h>

#include <stdbool.h>

/*
 * A file that will appear under its target's name in one step, or not at all. If the file system
 * supports it (O_TMPFILE), it has no name, so that nothing is left if the process is killed.
 * Otherwise, and in the moment before it replaces another file, it is called .neardup- and 20
 * random characters, in the folder of its target, and is locked (flock). All files of the process
 * with such a name are in one list, so that nd_temporary_abandon() can remove them in a signal
 * handler.
 */
struct nd_temporary;

/*
 * Create one beside `target` (the name of a regular file, or of none), open for reading and writing
 * as *fd, which the temporary owns. It gets the permissions of the file that it will replace.
 * ND_EIO, ND_ENOMEM.
 */
struct nd_temporary *nd_temporary_create(const char *target, int *fd, struct nd_error *err);

/* Create a link to an existing file: a hard link, or a symbolic one if that is impossible. */
struct nd_temporary *nd_temporary_create_link(const char *target, const char *existing,
                                              struct nd_error *err);

/*
 * All has been written; the descriptor must not be used any more. `sync`: the data is on disk when
 * this returns. A process that finishes many files keeps only a few of them open; the others get
 * their temporary names now. ND_EIO: *t must still be discarded.
 */
enum nd_status nd_temporary_finish(struct nd_temporary *t, bool sync, struct nd_error *err);

/* Rename it to its target; it must not be used any more. ND_EIO: it is removed. */
enum nd_status nd_temporary_publish(struct nd_temporary *t, struct nd_error *err);
/* Publish only if no file has the name: ND_ECHANGED if one has it by now. */
enum nd_status nd_temporary_publish_new(struct nd_temporary *t, struct nd_error *err);
/*
 * Publish, but under its target's name it is still a temporary file: nd_temporary_discard and
 * nd_temporary_abandon remove it, until nd_temporary_keep, after which *t must not be used any
 * more. Where it fails, neither.
 */
enum nd_status nd_temporary_publish_for_now(struct nd_temporary *t, struct nd_error *err);
void nd_temporary_keep(struct nd_temporary *t);

/*
 * Keep it beside its target, as TARGET.neardup-kept, or with a number appended if that exists.
 * *name, which the caller frees, is its name. It must not be used any more.
 */
enum nd_status nd_temporary_keep_beside(struct nd_temporary *t, char **name, struct nd_error *err);

const char *nd_temporary_target(const struct nd_temporary *t);

/* Remove it.  NULL: nothing. */
void nd_temporary_discard(struct nd_temporary *t);

/*
 * Remove what killed processes of this user left beside `target`: regular files with names as above
 * that no process has locked.
 */
void nd_temporary_remove_stale(const char *target);
void nd_temporary_remove_stale_in(const char *folder);

/*
 * Open a file without a name in this folder, for reading and writing; -1 with the reason in errno.
 */
int nd_temporary_spool(const char *folder);

/*
 * Remove all files of the list. Safe in a signal handler, after which the process must end. False:
 * outputs are being published, or have been since the last file was created; nothing is removed, and
 * the process must go on to its end.
 */
bool nd_temporary_abandon(void);
/* Outputs are published from here on, and until nd_temporary_end_publishing more may follow. */
void nd_temporary_begin_publishing(void);
void nd_temporary_end_publishing(void);

#endif
