/*
 * spooled_texts.c - values of rows in a file without a name, to be read again
 *
 *     row       0      1      2  …
 *     offset    0   1200   1200  …      where its entry begins; it ends where the next begins
 *     entry     the group; for each value its length and 1 if it is raw, what was replaced; then the
 *               values
 *
 * The offsets are in memory, 8 bytes a row, or in a file of their own.
 */
#include "frames/spooled_texts.h"

#include "base/file/spool.h"

#include <stdlib.h>
#include <string.h>

struct nd_py_texts {
    struct nd_spool *spool;
    struct nd_spool *offsets; /* of n rows, and the end; NULL: */
    uint64_t *offset;         /* likewise */
    size_t n, capacity, n_values;
};

struct value_head {
    uint64_t length, replaced; /* length: twice, and 1 if raw; UINT64_MAX: missing */
};

/* The next offset, which is the end so far. */
static enum nd_status put_offset(struct nd_py_texts *t, struct nd_error *err)
{
    const uint64_t offset = nd_spool_bytes(t->spool);

    if (t->offsets)
        return nd_spool_append(t->offsets, &offset, sizeof offset, NULL, err);
    if (!ND_RESERVE(t->offset, &t->capacity, t->n + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    t->offset[t->n] = offset;
    return ND_OK;
}

struct nd_py_texts *nd_py_texts_new(size_t n_values, const char *folder, bool is_bounded,
                                    struct nd_error *err)
{
    struct nd_py_texts *t = calloc(1, sizeof *t);

    if (!t) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    t->n_values = n_values;
    t->spool = nd_spool_new(folder, err);
    if (t->spool && is_bounded)
        t->offsets = nd_spool_new(folder, err);
    if (t->spool && (t->offsets || !is_bounded) && put_offset(t, err) == ND_OK)
        return t;
    nd_py_texts_free(t);
    return NULL;
}

void nd_py_texts_free(struct nd_py_texts *t)
{
    if (!t)
        return;
    nd_spool_free(t->spool);
    nd_spool_free(t->offsets);
    free(t->offset);
    free(t);
}

uint64_t nd_py_texts_bytes(const struct nd_py_texts *t)
{
    return nd_spool_bytes(t->spool) + (t->offsets ? nd_spool_bytes(t->offsets) : 0);
}

/* The value of a column, and its head. */
static struct nd_view head_of(const struct nd_py_column *column, unsigned number, size_t at,
                              struct value_head *head)
{
    const struct nd_view value = column->value[at];
    uint64_t is_raw = number && column->is_raw[at];

    if (value.data)
        *head = (struct value_head){(uint64_t)value.len * 2 + is_raw,
                                    nd_py_column_replaced(column, at)};
    return value;
}

enum nd_status nd_py_texts_add(struct nd_py_texts *t, uint64_t row, const struct nd_py_frame *frame,
                               size_t at, const unsigned *columns, uint32_t group,
                               struct nd_error *err)
{
    static const struct nd_view missing = {NULL, 0};
    const uint64_t wide_group = group;
    struct value_head head[ND_PY_VALUES_MAX];
    struct nd_view value[ND_PY_VALUES_MAX];
    enum nd_status status = ND_OK;

    for (; status == ND_OK && t->n < row;) {
        t->n++;
        status = put_offset(t, err);
    }
    for (size_t i = 0; i < t->n_values; i++) {
        head[i] = (struct value_head){UINT64_MAX, 0};
        value[i] = columns[i] == ND_PY_NO_COLUMN
                       ? missing
                       : head_of(&frame->column[columns[i]], columns[i], at, &head[i]);
    }
    if (status == ND_OK)
        status = nd_spool_append(t->spool, &wide_group, sizeof wide_group, NULL, err);
    if (status == ND_OK)
        status = nd_spool_append(t->spool, head, t->n_values * sizeof *head, NULL, err);
    for (size_t i = 0; status == ND_OK && i < t->n_values; i++)
        if (value[i].len)
            status = nd_spool_append(t->spool, value[i].data, value[i].len, NULL, err);
    t->n++;
    return status == ND_OK ? put_offset(t, err) : status;
}

/* Find where the entry of a row begins and ends; it is empty if the row has none. */
static enum nd_status find_entry(const struct nd_py_texts *t, uint64_t row,
                                 struct nd_buffer *buffer, uint64_t offset[2], struct nd_error *err)
{
    enum nd_status status = ND_OK;

    offset[0] = offset[1] = 0;
    if (row >= t->n)
        return ND_OK;
    if (!t->offsets) {
        memcpy(offset, &t->offset[row], 2 * sizeof *offset);
        return ND_OK;
    }
    status = nd_spool_read(t->offsets, row * sizeof *offset, 2 * sizeof *offset, buffer, err);
    if (status == ND_OK)
        memcpy(offset, buffer->data, 2 * sizeof *offset);
    return status;
}

enum nd_status nd_py_texts_read(const struct nd_py_texts *t, uint64_t row, struct nd_buffer *buffer,
                                struct nd_py_entry *entry, struct nd_error *err)
{
    size_t at = sizeof(uint64_t) + t->n_values * sizeof(struct value_head);
    uint64_t offset[2] = {0}, group = 0;
    enum nd_status status = find_entry(t, row, buffer, offset, err);
    size_t len = (size_t)(offset[1] - offset[0]);

    if (status == ND_OK)
        status = nd_spool_read(t->spool, offset[0], len, buffer, err);
    if (status == ND_OK && len)
        memcpy(&group, buffer->data, sizeof group);
    entry->group = (uint32_t)group;
    for (size_t i = 0; status == ND_OK && i < t->n_values; i++) {
        struct value_head head = {UINT64_MAX, 0};

        if (len)
            memcpy(&head, buffer->data + sizeof group + i * sizeof head, sizeof head);
        entry->replaced[i] = head.replaced;
        entry->is_raw[i] = head.length & 1;
        entry->value[i] = (struct nd_view){NULL, 0};
        if (head.length == UINT64_MAX)
            continue;
        entry->value[i] = (struct nd_view){buffer->data + at, (size_t)(head.length / 2)};
        at += entry->value[i].len;
    }
    return status;
}
