/* sketch_output.c - a sketch file that a run writes: seen once the run publishes it */
#include "report/sketch_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/temporary.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "record/packed_document.h"
#include "report/output.h"

struct nd_sketch_output {
    char *name; /* for messages */
    bool keeps_shingles;
    struct nd_temporary *file;
    FILE *stream;
    struct nd_sketch_writer *writer;
};

static enum nd_status open_stream(struct nd_sketch_output *o, struct nd_error *err)
{
    int fd = -1;
    char *target;
    enum nd_status status = nd_output_target(o->name, &target, err);

    if (status != ND_OK)
        return status;
    if (!target)
        return nd_fail(err, ND_EINVAL, "%s: a sketch file must be a regular file", o->name);
    o->file = nd_temporary_create(target, &fd, err);
    free(target);
    if (!o->file)
        return ND_EIO;
    o->stream = nd_descriptor_stream(fd, "wb+");
    return o->stream ? ND_OK
                     : nd_fail(err, ND_EIO, "%s: cannot be written: %s", o->name, strerror(errno));
}

struct nd_sketch_output *nd_sketch_output_open(const char *name, const struct nd_recipe *recipe,
                                               const struct nd_sketch_writer_options *options,
                                               struct nd_error *err)
{
    struct nd_sketch_output *o = calloc(1, sizeof *o);
    struct nd_sketch_writer_options named = *options;

    named.name = name;
    if (o)
        o->name = nd_text_copy(name);
    if (!o || !o->name)
        nd_fail(err, ND_ENOMEM, "out of memory");
    else if (open_stream(o, err) == ND_OK)
        o->writer = nd_sketch_writer_new(o->stream, recipe, &named, err);
    if (o && o->writer) {
        o->keeps_shingles = options->keeps.shingles;
        return o;
    }
    nd_sketch_output_free(o);
    return NULL;
}

struct nd_sketch_writer *nd_sketch_output_writer(struct nd_sketch_output *o)
{
    return o->writer;
}

enum nd_status nd_sketch_output_add_packed(struct nd_sketch_output *o, struct nd_view packed,
                                           struct nd_error *err)
{
    const struct nd_packed_row row = {.data = (char *)(uintptr_t)packed.data,
                                      .len = packed.len,
                                      .row_len =
                                          nd_sketch_packed_row_bytes(packed, o->keeps_shingles)};

    return nd_sketch_writer_add(o->writer, &row, err);
}

enum nd_status nd_sketch_output_finish(struct nd_sketch_output *o, struct nd_publisher *publisher,
                                       enum nd_publish_stage stage, struct nd_error *err)
{
    struct nd_temporary *file = o->file;
    enum nd_status status = nd_sketch_writer_finish(o->writer, err);

    if (status != ND_OK)
        return status;
    if (fclose(o->stream) != 0)
        status = nd_fail(err, ND_EIO, "%s: cannot be written: %s", o->name, strerror(errno));
    o->stream = NULL;
    if (status == ND_OK)
        status = nd_temporary_finish(file, true, err);
    if (status != ND_OK)
        return status;
    o->file = NULL;
    return nd_publisher_add(publisher, file, stage, NULL, err);
}

void nd_sketch_output_free(struct nd_sketch_output *o)
{
    if (!o)
        return;
    if (o->stream)
        (void)fclose(o->stream);
    nd_temporary_discard(o->file);
    nd_sketch_writer_free(o->writer);
    free(o->name);
    free(o);
}
