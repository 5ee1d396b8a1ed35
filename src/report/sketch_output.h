/* sketch_output.h - a sketch file that a run writes: seen once the run publishes it */
#ifndef ND_REPORT_SKETCH_OUTPUT_H
#define ND_REPORT_SKETCH_OUTPUT_H

#include <neardup/sketch_file.h>

#include "base/file/publish.h"

struct nd_sketch_output;

/* name: of a regular file, to be.  NULL: ND_EINVAL (it is a pipe or a device), ND_EIO, ND_ENOMEM. */
struct nd_sketch_output *nd_sketch_output_open(const char *name, const struct nd_recipe *recipe,
                                               const struct nd_sketch_writer_options *options,
                                               struct nd_error *err);
/* The writer that packs rows for it, and takes rows and sources. */
struct nd_sketch_writer *nd_sketch_output_writer(struct nd_sketch_output *o);
/* A document that is packed already (record/packed_document.h). */
enum nd_status nd_sketch_output_add_packed(struct nd_sketch_output *o, struct nd_view packed,
                                           struct nd_error *err);
/* Everything was added: complete the file, and hand it to the publisher. */
enum nd_status nd_sketch_output_finish(struct nd_sketch_output *o, struct nd_publisher *publisher,
                                       enum nd_publish_stage stage, struct nd_error *err);
/* NULL: nothing. */
void nd_sketch_output_free(struct nd_sketch_output *o);

#endif
