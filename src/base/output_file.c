/* output_file.c - a file that a program writes whole or not at all, for those outside the library
 */
#define _GNU_SOURCE
#include <neardup/output.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/publish.h"

struct nd_output_file {
    struct nd_publish publish;
    FILE *in_place; /* of a device or a pipe */
    char *name;
};

static bool look_at(const char *name, struct stat *about)
{
    return (strcmp(name, "-") == 0 ? fstat(STDIN_FILENO, about) : stat(name, about)) == 0;
}

static bool is_same(const char *name, const char *other)
{
    struct stat x, y;

    if (strcmp(name, other) == 0)
        return true;
    return look_at(name, &x) && look_at(other, &y) && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

void nd_output_file_discard(struct nd_output_file *output)
{
    if (!output)
        return;
    if (output->in_place)
        fclose(output->in_place);
    nd_publish_release(&output->publish);
    free(output->name);
    free(output);
}

static enum nd_status begin(struct nd_output_file *o, FILE **stream, struct nd_error *err)
{
    struct stat about;
    enum nd_status status = ND_OK;

    if (stat(o->name, &about) == 0 && !S_ISREG(about.st_mode)) {
        *stream = o->in_place = fopen(o->name, "we");
        if (!o->in_place)
            status = nd_fail(err, ND_EIO, "%s: %s", o->name, strerror(errno));
    } else {
        status = nd_publish_begin(&o->publish, o->name, err);
        *stream = o->publish.file;
    }
    return status;
}

enum nd_status nd_output_file_open(struct nd_output_file **output, const char *name,
                                   const char *const *others, size_t n, FILE **stream,
                                   struct nd_error *err)
{
    struct nd_output_file *o;
    enum nd_status status;

    for (size_t i = 0; i < n; i++)
        if (others[i] && is_same(name, others[i]))
            return nd_fail(err, ND_EINVAL, "'%s' is read, or is another output: write elsewhere",
                           name);
    o = calloc(1, sizeof *o);
    if (!o || !(o->name = strdup(name))) {
        free(o);
        return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    status = begin(o, stream, err);
    if (status == ND_OK)
        *output = o;
    else
        nd_output_file_discard(o);
    return status;
}

enum nd_status nd_output_file_publish(struct nd_output_file *output, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (!output->in_place) {
        status = nd_publish_end(&output->publish, err);
    } else {
        bool failed = ferror(output->in_place) != 0;

        failed |= fclose(output->in_place) != 0;
        output->in_place = NULL;
        if (failed)
            status =
                nd_fail(err, ND_EIO, "%s: cannot be written: %s", output->name, strerror(errno));
    }
    nd_output_file_discard(output);
    return status;
}
