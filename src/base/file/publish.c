/* publish.c - the files that a run writes: checked before it, published together after it */

/*
 * Outputs become visible together, at the end of a run that succeeded. Before the run, the names of
 * all inputs and outputs are checked against each other, by inode, so that no output overwrites an
 * input. After it, complete files are renamed one by one. A rename is atomic but several are not;
 * so the order matters, and after a failure the caller learns how many were published.
 */
#include "base/file/publish.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system/c_functions.h"
#include "base/system/naming.h"
#include "base/system/process.h"

enum { IN, OUT }; /* the descriptors of the standard files */

struct nd_publisher_input {
    uint64_t device, inode;
};

struct nd_publisher_output {
    struct nd_temporary *file; /* NULL: published already, or a link */
    char *link;                /* the link's own name */
    const char *existing;      /* what it points to */
    enum nd_publish_stage stage;
    struct nd_file_mark replaced; /* the input that it replaces; inode 0: none */
};

struct nd_file_mark nd_file_mark(const struct nd_file_about *about)
{
    return (struct nd_file_mark){
        .device = about->device,
        .inode = about->inode,
        .bytes = about->bytes,
        .seconds = about->seconds,
        .nanoseconds = about->nanoseconds,
    };
}

struct nd_file_mark nd_file_mark_at(const char *path)
{
    struct nd_file_about about;

    if (!nd_path_about(path, &about) || about.kind != ND_FILE_REGULAR)
        return (struct nd_file_mark){.inode = 0};
    return nd_file_mark(&about);
}

struct nd_file_mark nd_file_mark_of(int descriptor)
{
    struct nd_file_about about;

    if (!nd_descriptor_about(descriptor, &about) || about.kind != ND_FILE_REGULAR)
        return (struct nd_file_mark){.inode = 0};
    return nd_file_mark(&about);
}

bool nd_file_mark_is_one(const struct nd_file_mark *a, const struct nd_file_mark *b)
{
    return a->inode && a->inode == b->inode && a->device == b->device;
}

bool nd_file_mark_is_unchanged(const struct nd_file_mark *a, const struct nd_file_mark *b)
{
    return nd_file_mark_is_one(a, b) && a->bytes == b->bytes && a->seconds == b->seconds &&
           a->nanoseconds == b->nanoseconds;
}

int nd_output_descriptor(const char *name)
{
    return strcmp(name, "-") == 0 ? OUT : nd_path_descriptor(name);
}

/* "dir/" of "dir/name", "." of "name"; NULL: out of memory. */
static char *folder_of(const char *name)
{
    size_t len = (size_t)(nd_path_name(name) - name);

    return nd_text_copy_n(len ? name : ".", len ? len : 1);
}

/* Describe the folder of a name; false: it does not exist. */
static bool describe_folder(const char *name, struct nd_file_about *about)
{
    char *folder = folder_of(name);
    bool ok = folder && nd_path_about(folder, about);

    free(folder);
    return ok;
}

bool nd_output_is_same(const char *a, const char *b)
{
    struct nd_file_about x, y;
    int descriptor = nd_output_descriptor(a);
    bool is_there;

    if (descriptor >= 0 || nd_output_descriptor(b) >= 0)
        return descriptor == nd_output_descriptor(b);
    is_there = nd_path_about(a, &x);
    if (is_there != nd_path_about(b, &y))
        return false;
    if (is_there)
        return nd_file_is_one(&x, &y) && x.kind != ND_FILE_CHARACTERS;
    return strcmp(nd_path_name(a), nd_path_name(b)) == 0 && describe_folder(a, &x) &&
           describe_folder(b, &y) && nd_file_is_one(&x, &y);
}

enum nd_status nd_output_target(const char *name, char **target, struct nd_error *err)
{
    struct nd_file_about about;

    *target = NULL;
    if (nd_output_descriptor(name) >= 0)
        return ND_OK;
    if (nd_path_about(name, &about)) {
        if (about.kind == ND_FILE_FOLDER)
            return nd_fail(err, ND_EIO, "%s: is a directory", name);
        if (about.kind != ND_FILE_REGULAR)
            return ND_OK;
        if (!nd_path_is_writable(name))
            return nd_fail(err, ND_EIO, "%s: cannot be written: %s", name, strerror(errno));
        *target = nd_path_whole(name);
    } else {
        *target = nd_text_copy(name);
    }
    return *target ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

/*
 * Why evidence comes before results: the result (the survivors) is what the next program waits for.
 * When it appears under its name, the manifest and the clusters that explain it are there already,
 * even if the run is killed between two renames.  The opposite order could leave a result that
 * nothing accounts for.
 */

/* ---- What is read, and what is to be written ---- */

enum nd_status nd_publisher_read(struct nd_publisher *p, const struct nd_file_mark *file,
                                 struct nd_error *err)
{
    if (!file->inode)
        return ND_OK;
    if (!ND_RESERVE(p->input, &p->inputs_capacity, p->n_inputs + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    p->input[p->n_inputs++] = (struct nd_publisher_input){file->device, file->inode};
    p->is_sorted = false;
    return ND_OK;
}

enum nd_status nd_publisher_read_path(struct nd_publisher *p, const char *path,
                                      struct nd_error *err)
{
    const struct nd_file_mark file =
        strcmp(path, "-") == 0 ? nd_file_mark_of(IN) : nd_file_mark_at(path);

    return nd_publisher_read(p, &file, err);
}

static int by_file(const void *a, const void *b)
{
    const struct nd_publisher_input *x = a, *y = b;

    if (x->inode != y->inode)
        return x->inode < y->inode ? -1 : 1;
    return (x->device > y->device) - (x->device < y->device);
}

bool nd_publisher_is_read(struct nd_publisher *p, const struct nd_file_mark *file)
{
    const struct nd_publisher_input wanted = {file->device, file->inode};

    if (!file->inode || !p->n_inputs)
        return false;
    if (!p->is_sorted)
        qsort(p->input, p->n_inputs, sizeof *p->input, by_file);
    p->is_sorted = true;
    return bsearch(&wanted, p->input, p->n_inputs, sizeof *p->input, by_file) != NULL;
}

enum nd_status nd_publisher_claim(struct nd_publisher *p, const char *name,
                                  struct nd_file_mark *replaced, struct nd_error *err)
{
    int descriptor = name ? nd_output_descriptor(name) : -1;
    struct nd_file_mark there;
    bool is_read;

    if (replaced)
        *replaced = (struct nd_file_mark){.inode = 0};
    if (!name)
        return ND_OK;
    if (nd_publisher_is_claimed(p, name))
        return nd_fail(err, ND_EINVAL, "two outputs cannot both go to '%s'", name);
    there = descriptor >= 0 ? nd_file_mark_of(descriptor) : nd_file_mark_at(name);
    is_read = nd_publisher_is_read(p, &there);
    if (is_read && descriptor >= 0)
        return nd_fail(err, ND_EINVAL,
                       "%s is also read and would be overwritten: choose another output",
                       strcmp(name, "-") == 0 ? "the standard output" : name);
    if (is_read && !replaced)
        return nd_fail(err, ND_EINVAL,
                       "'%s' is an input and would be overwritten: choose another output", name);
    if (is_read) {
        *replaced = there;
        p->syncs = true;
    }
    if (descriptor < 0)
        nd_temporary_remove_stale(name);
    if (!ND_RESERVE(p->claimed, &p->claimed_capacity, p->n_claimed + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    p->claimed[p->n_claimed++] = name;
    return ND_OK;
}

bool nd_publisher_is_claimed(const struct nd_publisher *p, const char *name)
{
    for (size_t i = 0; i < p->n_claimed; i++)
        if (nd_output_is_same(p->claimed[i], name))
            return true;
    return false;
}

/* ---- What is whole ---- */

static struct nd_publisher_output *add(struct nd_publisher *p, struct nd_error *err)
{
    if (!ND_RESERVE(p->output, &p->outputs_capacity, p->n_outputs + 1)) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    p->output[p->n_outputs] = (struct nd_publisher_output){.stage = ND_PUBLISH_RESULT};
    return &p->output[p->n_outputs++];
}

enum nd_status nd_publisher_add(struct nd_publisher *p, struct nd_temporary *file,
                                enum nd_publish_stage stage, const struct nd_file_mark *replaced,
                                struct nd_error *err)
{
    struct nd_publisher_output *o = add(p, err);

    if (!o) {
        nd_temporary_discard(file);
        return ND_ENOMEM;
    }
    o->file = file;
    o->stage = stage;
    if (replaced)
        o->replaced = *replaced;
    return ND_OK;
}

enum nd_status nd_publisher_add_link(struct nd_publisher *p, const char *target,
                                     const char *existing, struct nd_error *err)
{
    struct nd_publisher_output *o = add(p, err);

    if (!o)
        return ND_ENOMEM;
    o->existing = existing;
    o->link = nd_text_copy(target);
    return o->link ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

/* ---- Names are given ---- */

static bool is_changed(const struct nd_publisher_output *o)
{
    const struct nd_file_mark now =
        o->file && o->replaced.inode ? nd_file_mark_at(nd_temporary_target(o->file)) : o->replaced;

    return o->replaced.inode && !nd_file_mark_is_unchanged(&now, &o->replaced);
}

static enum nd_status keep_beside(struct nd_publisher_output *o, struct nd_error *err)
{
    char *target = nd_text_copy(nd_temporary_target(o->file)), *name;
    enum nd_status status = nd_temporary_keep_beside(o->file, &name, err);

    o->file = NULL;
    if (status == ND_OK)
        status = nd_fail(
            err, ND_ECHANGED,
            "%s: was changed after it was read, so it is left as it is; its replacement is in %s",
            target ? target : "an input", name);
    free(name);
    free(target);
    return status;
}

static enum nd_status check_inputs(struct nd_publisher *p, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; i < p->n_outputs; i++)
        if (is_changed(&p->output[i]))
            status = keep_beside(&p->output[i], err);
    return status;
}

/* A new name is durable only when its folder has been synced. */
static enum nd_status sync_folder(const char *path, struct nd_error *err)
{
    char *folder = folder_of(path);
    enum nd_status status = ND_OK;

    if (!folder || !nd_folder_make_durable(folder))
        status =
            nd_fail(err, ND_EIO,
                    "%s: is written and in its place, but its folder cannot be synced, so that "
                    "a power cut may bring back what was there: %s",
                    path, strerror(errno));
    free(folder);
    return status;
}

static bool is_one_folder(const char *a, const char *b)
{
    size_t n = (size_t)(nd_path_name(a) - a);

    return n == (size_t)(nd_path_name(b) - b) && memcmp(a, b, n) == 0;
}

static enum nd_status publish_link(struct nd_publisher_output *o, struct nd_error *err)
{
    struct nd_temporary *link = nd_temporary_create_link(o->link, o->existing, err);

    return link ? nd_temporary_publish(link, err) : err && err->status ? err->status : ND_EIO;
}

/*
 * Publish one output. `last` is the name of the one before, or NULL, whose folder has still to be
 * synced.
 */
static enum nd_status publish_one(struct nd_publisher *p, struct nd_publisher_output *o,
                                  char **last, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    char *name;

    if (o->link)
        return publish_link(o, err);
    if (is_changed(o))
        return keep_beside(o, err);
    name = p->syncs ? nd_text_copy(nd_temporary_target(o->file)) : NULL;
    if (p->syncs && !name)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (name && *last && !is_one_folder(name, *last))
        status = sync_folder(*last, err);
    if (status == ND_OK) {
        status = nd_temporary_publish(o->file, err);
        o->file = NULL;
    }
    free(*last);
    *last = name;
    return status;
}

static enum nd_status publish_stage(struct nd_publisher *p, enum nd_publish_stage stage,
                                    size_t *n_published, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    char *last = NULL;

    for (size_t i = 0; status == ND_OK && i < p->n_outputs; i++) {
        if (p->output[i].stage != stage)
            continue;
        status = publish_one(p, &p->output[i], &last, err);
        *n_published += status == ND_OK;
    }
    if (status == ND_OK && last)
        status = sync_folder(last, err);
    free(last);
    return status;
}

enum nd_status nd_publisher_publish(struct nd_publisher *p, size_t *n_published,
                                    struct nd_error *err)
{
    enum nd_status status = check_inputs(p, err);
    struct nd_held_signals before;

    nd_signals_hold(&before);
    if (status == ND_OK && !p->is_publishing)
        nd_temporary_begin_publishing();
    p->is_publishing = p->is_publishing || status == ND_OK;
    if (status == ND_OK)
        status = publish_stage(p, ND_PUBLISH_EVIDENCE, n_published, err);
    if (status == ND_OK)
        status = publish_stage(p, ND_PUBLISH_RESULT, n_published, err);
    nd_signals_release(&before);
    return status;
}

void nd_publisher_release(struct nd_publisher *p)
{
    for (size_t i = 0; i < p->n_outputs; i++) {
        nd_temporary_discard(p->output[i].file);
        free(p->output[i].link);
    }
    if (p->is_publishing)
        nd_temporary_end_publishing();
    free(p->output);
    free(p->claimed);
    free(p->input);
    *p = (struct nd_publisher){0};
}
