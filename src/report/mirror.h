/* mirror.h - one file a source, under its relative path in a folder */
#ifndef ND_REPORT_MIRROR_H
#define ND_REPORT_MIRROR_H

#include <neardup/error.h>
#include <neardup/input.h>

#include "report/output.h"

/* The files are written one at a time; those that are complete belong to the publisher. */
struct nd_mirror;

/*
 * `folder` is borrowed. `may_replace`: a source may be replaced if the file to write is the source
 * itself. ND_ENOMEM.
 */
struct nd_mirror *nd_mirror_new(struct nd_publisher *publisher, const char *folder,
                                bool may_replace, struct nd_error *err);

/*
 * Open the file for a source, under the source's path made relative: a leading '/', "." and ".."
 * are left out. `entry` is appended if not NULL. The mirror owns the output. If the file is the
 * source itself, the source will be replaced, if that is allowed. ND_EINPUT: two sources would get
 * the same file; ND_EINVAL: it is another output, or another input.
 */
enum nd_status nd_mirror_open(struct nd_mirror *m, const struct nd_source *source,
                              const char *entry, struct nd_output **file, struct nd_error *err);
/*
 * The open file is complete. If it would replace a source that could not be read to its end, it is
 * dropped.
 */
enum nd_status nd_mirror_close(struct nd_mirror *m, struct nd_error *err);
/* Whether the file that stands for an input in this folder is the input itself.  ND_ENOMEM. */
enum nd_status nd_mirror_would_replace(const char *folder, const struct nd_input_file *file,
                                       bool *would, struct nd_error *err);

/* The i-th input that will be replaced; NULL: there are no more. */
const struct nd_input_file *nd_mirror_replaced(const struct nd_mirror *m, size_t i);

/* On publishing, make a hard link to the source's file, or a symbolic one if that is impossible. */
enum nd_status nd_mirror_link(struct nd_mirror *m, const struct nd_source *source,
                              struct nd_error *err);

/* The folders stay. */
void nd_mirror_is_published(struct nd_mirror *m);
/* Created folders that are still empty are removed; so release the publisher before. */
void nd_mirror_free(struct nd_mirror *m);

#endif
