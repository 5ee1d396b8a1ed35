/*
 * texts.c - values of rows in a file without a name, to be read again
 *
 *     row       0      1      2  …
 *     offset    0   1200   1200  …      where its entry begins; it ends where the next begins
 *     entry     for each value: its length and 1 if it is raw, what was replaced; then the values
 *
 * Only the offsets are in memory, 8 bytes a row.
 */
#include "texts.h"

#include "base/spool.h"

#include <stdlib.h>
#include <string.h>

struct nd_py_texts {
    struct nd_spool *spool;
    uint64_t *offset; /* of n rows, and the end */
    size_t n, capacity, n_values;
};

struct head {
    uint64_t length, replaced; /* length: twice, and 1 if raw; UINT64_MAX: missing */
};

struct nd_py_texts *nd_py_texts_new(size_t n_values, const char *folder, struct nd_error *err)
{
    struct nd_py_texts *t = calloc(1, sizeof *t);

    if (!t || !ND_RESERVE(t->offset, &t->capacity, 1)) {
        free(t);
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    t->offset[0] = 0;
    t->n_values = n_values;
    t->spool = nd_spool_new(folder, err);
    if (t->spool)
        return t;
    nd_py_texts_free(t);
    return NULL;
}

void nd_py_texts_free(struct nd_py_texts *t)
{
    if (!t)
        return;
    nd_spool_free(t->spool);
    free(t->offset);
    free(t);
}

uint64_t nd_py_texts_bytes(const struct nd_py_texts *t)
{
    return nd_spool_bytes(t->spool);
}

/* The value of a column, and its head. */
static struct nd_view head_of(const struct nd_py_column *column, unsigned number, size_t at,
                              struct head *head)
{
    const struct nd_view value = column->value[at];
    uint64_t is_raw = number && column->is_raw[at];

    if (value.data)
        *head = (struct head){(uint64_t)value.len * 2 + is_raw, nd_py_column_replaced(column, at)};
    return value;
}

enum nd_status nd_py_texts_add(struct nd_py_texts *t, uint64_t row, const struct nd_py_frame *frame,
                               size_t at, const unsigned *columns, struct nd_error *err)
{
    static const struct nd_view missing = {NULL, 0};
    struct head head[ND_PY_VALUES_MAX];
    struct nd_view value[ND_PY_VALUES_MAX];
    enum nd_status status;

    for (size_t i = 0; i < t->n_values; i++)
        head[i] = (struct head){UINT64_MAX, 0};

    if (!ND_RESERVE(t->offset, &t->capacity, row + 2))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (; t->n < row; t->n++)
        t->offset[t->n + 1] = t->offset[t->n];
    for (size_t i = 0; i < t->n_values; i++)
        value[i] = columns[i] == ND_PY_NO_COLUMN
                       ? missing
                       : head_of(&frame->column[columns[i]], columns[i], at, &head[i]);
    status = nd_spool_append(t->spool, head, t->n_values * sizeof *head, NULL, err);
    for (size_t i = 0; status == ND_OK && i < t->n_values; i++)
        if (value[i].len)
            status = nd_spool_append(t->spool, value[i].data, value[i].len, NULL, err);
    t->offset[++t->n] = nd_spool_bytes(t->spool);
    return status;
}

enum nd_status nd_py_texts_read(const struct nd_py_texts *t, uint64_t row, struct nd_buffer *buffer,
                                struct nd_py_entry *entry, struct nd_error *err)
{
    uint64_t from = row < t->n ? t->offset[row] : 0,
             len = row < t->n ? t->offset[row + 1] - from : 0;
    size_t at = t->n_values * sizeof(struct head);
    enum nd_status status = nd_spool_read(t->spool, from, (size_t)len, buffer, err);

    for (size_t i = 0; status == ND_OK && i < t->n_values; i++) {
        struct head head = {UINT64_MAX, 0};

        if (len)
            memcpy(&head, buffer->data + i * sizeof head, sizeof head);
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
