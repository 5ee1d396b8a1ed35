/* backing.c - columns of the live index that lie in files, and the index as it is at one moment */

/*
 * Four columns have 152 of the 153 bytes that a document takes in columns, and two more have the sets
 * of tables that documents are left out of.  They are only appended to.  In a file, mapped and
 * shared, they are page cache: the system can write them out and forget them.  And who maps the files
 * once more sees what they had at one moment, for as long as it needs to, while the index goes on.
 * The flags do change, and stay in memory: freezing an index copies them.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/file/temporary.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "index/live.h"
#include "index/live_state.h"

enum backed { LOW, SIMHASH, IDENTITY, GATE, LEFT_OUT_AT, LEFT_OUT };
static const size_t value_bytes[ND_LIVE_BACKED] = {
    [LOW] = ND_MINHASH_COUNT,         [SIMHASH] = sizeof(uint64_t),
    [IDENTITY] = sizeof(uint64_t),    [GATE] = sizeof(struct nd_live_gate),
    [LEFT_OUT_AT] = sizeof(uint32_t), [LEFT_OUT] = sizeof(struct nd_table_set)};

static void backed_columns(struct nd_index *index, struct nd_column *column[ND_LIVE_BACKED])
{
    column[LOW] = &index->low;
    column[SIMHASH] = &index->simhash;
    column[IDENTITY] = &index->identity;
    column[GATE] = &index->gate;
    column[LEFT_OUT_AT] = &index->left_out_at;
    column[LEFT_OUT] = &index->left_out;
}

/* The bytes of a column of n documents, and of the padding that the first one has. */
static size_t bytes_of(const struct nd_index *index, unsigned c, size_t n)
{
    if (c == LEFT_OUT)
        return index->n_left_out * value_bytes[c];
    if (n == 0 || (c == LEFT_OUT_AT && !index->n_left_out))
        return 0;
    return (n + (c == LOW)) * value_bytes[c];
}

static enum nd_status failed(const char *folder, struct nd_error *err)
{
    return errno == ENOMEM ? nd_fail(err, ND_ENOMEM, "out of memory for the columns of an index")
                           : nd_fail(err, ND_EIO, "%s: no file for the columns of an index: %s",
                                     folder, strerror(errno));
}

/* Let a new file have a column's first `len` bytes. */
static enum nd_status back(struct nd_column *column, size_t len, const char *folder,
                           struct nd_error *err)
{
    int fd = nd_temporary_spool(folder), because;

    if (fd >= 0 && nd_column_back(column, fd, len))
        return ND_OK;
    because = errno;
    if (fd >= 0)
        (void)nd_descriptor_close(fd);
    errno = because;
    return failed(folder, err);
}

enum nd_status nd_index_back_columns(struct nd_index *index, const char *folder,
                                     struct nd_error *err)
{
    struct nd_column *column[ND_LIVE_BACKED];
    enum nd_status status = ND_OK;
    char *copy;

    if (index->folder)
        return nd_fail(err, ND_EINVAL, "the columns of the index lie in files already");
    copy = nd_text_copy(folder);
    if (!copy)
        return nd_fail(err, ND_ENOMEM, "out of memory for the columns of an index");
    backed_columns(index, column);
    for (unsigned c = 0; status == ND_OK && c < ND_LIVE_BACKED; c++)
        if (!column[c]->file) /* by a call that failed half-way */
            status = back(column[c], bytes_of(index, c, index->n), folder, err);
    if (status == ND_OK)
        index->folder = copy;
    else
        free(copy);
    return status;
}

void nd_live_restart_columns(struct nd_index *index)
{
    struct nd_column *column[ND_LIVE_BACKED];

    backed_columns(index, column);
    for (unsigned c = 0; c < ND_LIVE_BACKED; c++)
        nd_column_restart(column[c]);
}

static enum nd_status copy_column(const struct nd_index *index, unsigned c,
                                  const struct nd_column *from, const uint32_t *to, size_t n_left,
                                  struct nd_column *copy, struct nd_error *err)
{
    const size_t size = value_bytes[c];
    enum nd_status status = back(copy, 0, index->folder, err);

    if (status != ND_OK)
        return status;
    if (!nd_column_reserve(copy, bytes_of(index, c, n_left), 1))
        return failed(index->folder, err);
    if (c == LEFT_OUT && index->n_left_out)
        memcpy(copy->data, from->data, bytes_of(index, c, n_left));
    for (uint32_t i = 0; i < index->n && c != LEFT_OUT && bytes_of(index, c, n_left); i++)
        if (to[i] != ND_INDEX_GONE)
            memcpy((char *)copy->data + to[i] * size, (char *)from->data + i * size, size);
    return ND_OK;
}

enum nd_status nd_live_copy_columns(struct nd_index *index, const uint32_t *to, size_t n_left,
                                    struct nd_error *err)
{
    struct nd_column *column[ND_LIVE_BACKED], copy[ND_LIVE_BACKED] = {{0}};
    enum nd_status status = ND_OK;

    backed_columns(index, column);
    for (unsigned c = 0; status == ND_OK && c < ND_LIVE_BACKED; c++)
        status = copy_column(index, c, column[c], to, n_left, &copy[c], err);
    for (unsigned c = 0; c < ND_LIVE_BACKED; c++) {
        struct nd_column *gone = status == ND_OK ? column[c] : &copy[c];

        nd_column_release(gone);
        if (status == ND_OK)
            *column[c] = copy[c];
    }
    return status;
}

/* ---- The index as it is at one moment ---- */

static bool view_columns(struct nd_index *frozen, const struct nd_index *index)
{
    const struct nd_column *column[ND_LIVE_BACKED] = {
        [LOW] = &index->low,   [SIMHASH] = &index->simhash,         [IDENTITY] = &index->identity,
        [GATE] = &index->gate, [LEFT_OUT_AT] = &index->left_out_at, [LEFT_OUT] = &index->left_out};
    struct nd_column *view[ND_LIVE_BACKED];
    uint64_t offset[ND_LIVE_BACKED] = {0};
    int fd = index->file ? nd_live_file_columns(index->file, offset) : -1;

    backed_columns(frozen, view);
    for (unsigned c = 0; c < ND_LIVE_BACKED; c++)
        if (!nd_column_view(view[c], column[c], fd, offset[c], bytes_of(index, c, index->n)))
            return false;
    return true;
}

static bool copy_flags(struct nd_index *frozen, const struct nd_index *index)
{
    if (index->n == 0)
        return true;
    if (!nd_column_reserve(&frozen->flags, index->n, 1))
        return false;
    memcpy(frozen->flags.data, index->flags.data, index->n);
    return true;
}

struct nd_index *nd_index_freeze(const struct nd_index *index, struct nd_error *err)
{
    struct nd_index *frozen;

    if (!index->folder) {
        nd_fail(err, ND_EINVAL, "only an index whose columns lie in files can be frozen");
        return NULL;
    }
    frozen = nd_index_new(&index->params, err);
    if (!frozen)
        return NULL;
    frozen->is_frozen = true;
    frozen->n = index->n;
    frozen->n_deleted = index->n_deleted;
    frozen->n_left_out = index->n_left_out;
    frozen->n_keys_left_out = index->n_keys_left_out;
    if (view_columns(frozen, index) && copy_flags(frozen, index))
        return frozen;
    nd_index_free(frozen);
    nd_fail(err, ND_ENOMEM, "out of memory for a copy of an index");
    return NULL;
}
