/* mirror.h - one file a source, under its relative path in a folder */
#ifndef ND_PIPELINE_MIRROR_H
#define ND_PIPELINE_MIRROR_H

#include <neardup/error.h>
#include <neardup/input.h>

#include "pipeline/output.h"

/* The files are written one after another; none has its name before all are published. */
struct nd_mirror;

/* `folder` is borrowed; none of its files may be one of the run's `others` (NULL: not one).
 * ND_ENOMEM. */
enum { ND_MIRROR_OTHERS = 3 };
struct nd_mirror *nd_mirror_new(const char *folder, const char *const others[ND_MIRROR_OTHERS],
                                struct nd_error *err);

/*
 * Open the file of a path, made relative: a leading '/', "." and ".." are left out.  `entry` is
 * added where not NULL.  The mirror owns it.  ND_EINPUT: two sources would get the same file, or
 * one that is another output's.
 */
enum nd_status nd_mirror_open(struct nd_mirror *m, const char *path, const char *entry,
                              struct nd_output **file, struct nd_error *err);
/* The file last opened is complete. */
enum nd_status nd_mirror_close(struct nd_mirror *m, struct nd_error *err);

/* When published: a hard link to the file at `path` (borrowed), a symbolic one where that cannot
 * be. */
enum nd_status nd_mirror_link(struct nd_mirror *m, const char *path, struct nd_error *err);

/* *n_published is increased by the files that have their names. */
enum nd_status nd_mirror_publish(struct nd_mirror *m, size_t *n_published, struct nd_error *err);
/* Folders that were made for what was not published go too. */
void nd_mirror_free(struct nd_mirror *m);

#endif
