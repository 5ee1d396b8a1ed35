/* mirror.h - one file a source, under its relative path in a folder */
#ifndef ND_PIPELINE_MIRROR_H
#define ND_PIPELINE_MIRROR_H

#include <neardup/error.h>
#include <neardup/input.h>

#include "pipeline/output.h"

/* The files are written one after another; the publisher has those that are complete. */
struct nd_mirror;

/* `folder` is borrowed.  `may_replace`: a source whose file has the name that is written.
 * ND_ENOMEM. */
struct nd_mirror *nd_mirror_new(struct nd_publisher *publisher, const char *folder,
                                bool may_replace, struct nd_error *err);

/*
 * Open the file of a source's path, made relative: a leading '/', "." and ".." are left out.
 * `entry` is added where not NULL.  The mirror owns it.  Where the source itself has that name, it
 * will be replaced, if it may.  ND_EINPUT: two sources would get the same file; ND_EINVAL: it is
 * another output, or another input.
 */
enum nd_status nd_mirror_open(struct nd_mirror *m, const struct nd_source *source,
                              const char *entry, struct nd_output **file, struct nd_error *err);
/* The file last opened is complete.  Where it would replace a source that could not be read to its
 * end it is dropped. */
enum nd_status nd_mirror_close(struct nd_mirror *m, struct nd_error *err);
/* The i-th input that will be replaced; NULL: there are fewer. */
const struct nd_input_file *nd_mirror_replaced(const struct nd_mirror *m, size_t i);

/* When published: a hard link to the source's file, a symbolic one where that cannot be. */
enum nd_status nd_mirror_link(struct nd_mirror *m, const struct nd_source *source,
                              struct nd_error *err);

/* The folders stay. */
void nd_mirror_is_published(struct nd_mirror *m);
/* Folders that were made for what was not published go, where nothing else is in them: so the
 * publisher is released before. */
void nd_mirror_free(struct nd_mirror *m);

#endif
