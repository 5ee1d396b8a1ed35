/* checkpoint.c - sketches kept in a folder as they are made, for the same run after a kill */
#include "sketches/checkpoint.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/temporary.h"
#include "base/memory.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "base/system/naming.h"
#include "record/packed_document.h"

enum { CHUNK_ROWS_MIN = 4096, CHUNK_PART = 32, CHUNKS_MAX = 1000000 };

struct nd_checkpoint {
    char *folder;
    int lock; /* the folder, open */
    const struct nd_recipe *recipe;
    struct nd_sketch_writer_options like;
    unsigned next;   /* the number of the next chunk */
    uint64_t n_rows; /* of all chunks, this one included */

    /* The chunk at hand. */
    struct nd_temporary *file;
    FILE *stream;
    struct nd_sketch_writer *writer;
    struct nd_packed_row packed;
    uint64_t n_chunk, chunk_rows; /* rows so far, and when it is complete */
};

/* ---- The chunks that are there ---- */

/* The number in a chunk's name; -1: it is no chunk's. */
static long number_of(const char *name)
{
    if (strlen(name) != 6 + sizeof ".sketch" - 1 || strspn(name, "0123456789") != 6 ||
        strcmp(name + 6, ".sketch") != 0)
        return -1;
    return strtol(name, NULL, 10);
}

static char *path_of(const struct nd_checkpoint *c, unsigned number)
{
    char *path;

    return nd_print_new(&path, "%s/%06u.sketch", c->folder, number) < 0 ? NULL : path;
}

/* The rows have what this recipe asks of them, so all of it must be the same. */
static enum nd_status check_recipe(const struct nd_checkpoint *c, const char *path,
                                   const struct nd_sketch_file *file, struct nd_error *err)
{
    const struct nd_view text = nd_sketch_file_info(file)->recipe;
    struct nd_recipe *own = nd_recipe_new(err);
    char *key = NULL;
    enum nd_status status = own ? ND_OK : ND_ENOMEM;

    if (status == ND_OK)
        status = nd_recipe_parse(own, path, text.data, text.len, err);
    if (status == ND_OK)
        status = nd_recipe_difference(own, c->recipe, 0, &key, err);
    if (status == ND_OK && key)
        status = nd_fail(err, ND_EINVAL,
                         "%s was made by another recipe: %s differs; use another folder for this "
                         "run",
                         path, key);
    free(key);
    nd_recipe_free(own);
    return status;
}

static enum nd_status add_chunk(struct nd_checkpoint *c, unsigned number,
                                struct nd_known_rows *known, struct nd_error *err)
{
    char *path = path_of(c, number);
    struct nd_sketch_file *file;
    enum nd_status status = ND_OK;

    if (!path)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    file = nd_sketch_file_open(path, err);
    if (!file)
        status = err->status;
    else if ((status = check_recipe(c, path, file, err)) != ND_OK)
        nd_sketch_file_close(file);
    else
        status = nd_known_rows_add(known, file, err);
    /*
     * A file that is no whole sketch file may be anybody's: it stays, and a later chunk has other
     * numbers.
     */
    free(path);
    return status == ND_EINPUT || status == ND_EUNSUPPORTED ? ND_OK : status;
}

static int by_number(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;

    return x < y ? -1 : x > y;
}

/* The numbers of all chunks, in order. */
static enum nd_status list_chunks(const struct nd_checkpoint *c, long **number, size_t *n,
                                  struct nd_error *err)
{
    struct nd_folder_list *list = nd_folder_list_open(c->folder);
    const char *name;
    size_t capacity = 0;
    bool ok = true;

    if (!list)
        return nd_fail(err, ND_EIO, "%s: %s", c->folder, strerror(errno));
    while (ok && (name = nd_folder_list_next(list))) {
        if (number_of(name) < 0)
            continue;
        ok = ND_RESERVE(*number, &capacity, *n + 1);
        if (ok)
            (*number)[(*n)++] = number_of(name);
    }
    nd_folder_list_close(list);
    if (!ok)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (*n)
        qsort(*number, *n, sizeof **number, by_number);
    return ND_OK;
}

static enum nd_status add_chunks(struct nd_checkpoint *c, struct nd_known_rows *known,
                                 struct nd_error *err)
{
    uint64_t before = nd_known_rows_count(known);
    long *number = NULL;
    size_t n = 0;
    enum nd_status status = list_chunks(c, &number, &n, err);

    for (size_t i = 0; status == ND_OK && i < n; i++)
        status = add_chunk(c, (unsigned)number[i], known, err);
    if (n)
        c->next = (unsigned)number[n - 1] + 1;
    c->n_rows = nd_known_rows_count(known) - before;
    free(number);
    return status;
}

/* ---- Opening ---- */

static enum nd_status lock_folder(struct nd_checkpoint *c, struct nd_error *err)
{
    if (nd_folder_make(c->folder) != 0 && errno != EEXIST)
        return nd_fail(err, ND_EIO, "%s: cannot be made: %s", c->folder, strerror(errno));
    c->lock = nd_folder_lock(c->folder);
    if (c->lock >= 0)
        return ND_OK;
    return errno == EWOULDBLOCK ? nd_fail(err, ND_EINVAL, "%s: another run uses it", c->folder)
                                : nd_fail(err, ND_EIO, "%s: %s", c->folder, strerror(errno));
}

struct nd_checkpoint *nd_checkpoint_open(const char *folder, const struct nd_recipe *recipe,
                                         const struct nd_sketch_writer_options *like,
                                         struct nd_known_rows *known, struct nd_error *err)
{
    struct nd_checkpoint *c = calloc(1, sizeof *c);

    if (c) {
        c->lock = -1;
        c->recipe = recipe;
        c->like = *like;
        c->folder = nd_text_copy(folder);
    }
    if (!c || !c->folder)
        nd_fail(err, ND_ENOMEM, "out of memory");
    else if (lock_folder(c, err) == ND_OK && add_chunks(c, known, err) == ND_OK)
        return c;
    nd_checkpoint_close(c);
    return NULL;
}

void nd_checkpoint_close(struct nd_checkpoint *c)
{
    if (!c)
        return;
    nd_sketch_writer_free(c->writer);
    if (c->stream)
        fclose(c->stream);
    nd_temporary_discard(c->file);
    nd_packed_row_release(&c->packed);
    if (c->lock >= 0)
        (void)nd_descriptor_close(c->lock);
    free(c->folder);
    free(c);
}

/* ---- Writing ---- */

static enum nd_status cannot_write(const struct nd_checkpoint *c, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: a chunk cannot be written: %s", c->folder, strerror(errno));
}

static enum nd_status begin_chunk(struct nd_checkpoint *c, struct nd_error *err)
{
    int fd = -1;
    char *path;

    if (c->next == CHUNKS_MAX)
        return nd_fail(err, ND_EUNSUPPORTED, "%s has %d chunks: remove it", c->folder, CHUNKS_MAX);
    path = path_of(c, c->next);
    if (!path)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    c->file = nd_temporary_create(path, &fd, err);
    free(path);
    if (!c->file)
        return ND_EIO;
    c->stream = nd_descriptor_stream(fd, "wb+");
    if (!c->stream)
        return cannot_write(c, err);
    c->writer = nd_sketch_writer_new(c->stream, c->recipe, &c->like, err);
    c->n_chunk = 0;
    c->chunk_rows = c->n_rows / CHUNK_PART;
    if (c->chunk_rows < CHUNK_ROWS_MIN)
        c->chunk_rows = CHUNK_ROWS_MIN;
    return c->writer ? ND_OK : ND_ENOMEM;
}

/* The rows are those of texts, wherever these were. */
static enum nd_status complete(struct nd_checkpoint *c, struct nd_error *err)
{
    const struct nd_sketch_source anywhere = {.path = "", .records = c->n_chunk};
    enum nd_status status = nd_sketch_writer_add_source(c->writer, &anywhere, err);

    if (status == ND_OK)
        status = nd_sketch_writer_finish(c->writer, err);
    if (status != ND_OK)
        return status;
    if (fclose(c->stream) != 0)
        status = cannot_write(c, err);
    c->stream = NULL;
    if (status == ND_OK)
        status = nd_temporary_finish(c->file, false, err);
    return status;
}

enum nd_status nd_checkpoint_finish(struct nd_checkpoint *c, struct nd_error *err)
{
    enum nd_status status;

    if (!c->writer || !c->n_chunk)
        return ND_OK;
    status = complete(c, err);
    nd_sketch_writer_free(c->writer);
    c->writer = NULL;
    if (status != ND_OK)
        return status;
    status = nd_temporary_publish_new(c->file, err);
    c->file = NULL;
    c->next++;
    return status;
}

static enum nd_status add(struct nd_checkpoint *c, struct nd_error *err)
{
    enum nd_status status = nd_sketch_writer_add(c->writer, &c->packed, err);

    if (status != ND_OK)
        return status;
    c->n_chunk++;
    c->n_rows++;
    return c->n_chunk < c->chunk_rows ? ND_OK : nd_checkpoint_finish(c, err);
}

enum nd_status nd_checkpoint_add(struct nd_checkpoint *c, const struct nd_sketch_row *row,
                                 struct nd_error *err)
{
    enum nd_status status = c->writer ? ND_OK : begin_chunk(c, err);

    if (status == ND_OK)
        status = nd_sketch_row_pack(c->writer, row, NULL, &c->packed, err);
    return status == ND_OK ? add(c, err) : status;
}

/* All rows of a chunk are of its only source. */
enum nd_status nd_checkpoint_add_packed(struct nd_checkpoint *c, const struct nd_packed_row *packed,
                                        struct nd_error *err)
{
    enum nd_status status = c->writer ? ND_OK : begin_chunk(c, err);

    if (status != ND_OK)
        return status;
    if (!ND_RESERVE(c->packed.data, &c->packed.capacity, packed->len))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    memcpy(c->packed.data, packed->data, packed->len);
    c->packed.len = packed->len;
    c->packed.row_len = packed->row_len;
    nd_sketch_packed_set_source(c->packed.data, 0);
    return add(c, err);
}
