/* result_file.c - a file that appears whole under its name, or not at all */
#include <neardup/result_file.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/publish.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"

struct nd_result_file {
    char *name;
    struct nd_publisher publisher;
    struct nd_temporary *temporary; /* NULL: written in place */
    FILE *stream;
};

static enum nd_status failed(const struct nd_result_file *f, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: cannot be written: %s", f->name, strerror(errno));
}

/* A descriptor of its own, so that closing the stream closes nothing else. */
static enum nd_status open_stream(struct nd_result_file *f, int fd, const char *mode,
                                  struct nd_error *err)
{
    f->stream = nd_descriptor_stream(fd, mode);
    return f->stream ? ND_OK : failed(f, err);
}

static enum nd_status open_in_place(struct nd_result_file *f, struct nd_error *err)
{
    int descriptor = nd_output_descriptor(f->name);

    if (descriptor >= 0)
        return open_stream(f, descriptor, "w", err);
    f->stream = nd_stream_open(f->name, "w");
    return f->stream ? ND_OK : failed(f, err);
}

static enum nd_status open_target(struct nd_result_file *f, struct nd_error *err)
{
    char *target;
    int fd;
    enum nd_status status = nd_output_target(f->name, &target, err);

    if (status != ND_OK)
        return status;
    if (!target)
        return open_in_place(f, err);
    f->temporary = nd_temporary_create(target, &fd, err);
    free(target);
    return f->temporary ? open_stream(f, fd, "wb+", err) : ND_EIO;
}

static enum nd_status claim(struct nd_publisher *p, const char *name, const char *const *reads,
                            size_t n_reads, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < n_reads; i++) {
        if (!reads[i])
            continue;
        if (strcmp(reads[i], "-") != 0 && nd_output_is_same(name, reads[i]))
            return nd_fail(err, ND_EINVAL,
                           "'%s' is also an input or another output: choose another name", name);
        status = nd_publisher_read_path(p, reads[i], err);
    }
    return status == ND_OK ? nd_publisher_claim(p, name, NULL, err) : status;
}

enum nd_status nd_result_file_check(const char *name, const char *const *reads, size_t n_reads,
                                    struct nd_error *err)
{
    struct nd_publisher publisher = {0};
    enum nd_status status = claim(&publisher, name, reads, n_reads, err);

    nd_publisher_release(&publisher);
    return status;
}

enum nd_status nd_result_file_open(struct nd_result_file **file, const char *name,
                                   const char *const *reads, size_t n_reads, struct nd_error *err)
{
    struct nd_result_file *f = calloc(1, sizeof *f);
    enum nd_status status;
    struct nd_error capacity;

    *file = NULL;
    err = err ? err : &capacity;
    if (!f || !(f->name = nd_text_copy(name))) {
        free(f);
        return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    status = claim(&f->publisher, f->name, reads, n_reads, err);
    f->publisher.syncs = true;
    if (status == ND_OK && open_target(f, err) != ND_OK)
        status = err->status;
    if (status == ND_OK)
        *file = f;
    else
        nd_result_file_discard(f);
    return status;
}

FILE *nd_result_file_stream(struct nd_result_file *file)
{
    return file->stream;
}

enum nd_status nd_result_file_publish(struct nd_result_file *f, struct nd_error *err)
{
    bool is_bad = ferror(f->stream) != 0;
    enum nd_status status = ND_OK;
    size_t n_published = 0;

    if (fclose(f->stream) != 0 || is_bad)
        status = failed(f, err);
    f->stream = NULL;
    if (status == ND_OK && f->temporary)
        status = nd_temporary_finish(f->temporary, true, err);
    if (status == ND_OK && f->temporary) {
        status = nd_publisher_add(&f->publisher, f->temporary, ND_PUBLISH_RESULT, NULL, err);
        f->temporary = NULL;
    }
    if (status == ND_OK)
        status = nd_publisher_publish(&f->publisher, &n_published, err);
    nd_result_file_discard(f);
    return status;
}

void nd_result_file_discard(struct nd_result_file *f)
{
    if (!f)
        return;
    if (f->stream)
        (void)fclose(f->stream);
    nd_temporary_discard(f->temporary);
    nd_publisher_release(&f->publisher);
    free(f->name);
    free(f);
}
