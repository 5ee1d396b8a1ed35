/* frame_batch.c - some documents for the engine, a few megabytes at a time */
#include "frames/frame_batch.h"

#include <stdlib.h>
#include <string.h>

bool nd_py_fields_init(struct nd_py_fields *f, PyObject *columns)
{
    Py_ssize_t n = PyTuple_Size(columns);

    *f = (struct nd_py_fields){.n = 0};
    if (n > ND_PY_FIELDS_MAX) {
        PyErr_SetString(PyExc_ValueError, "there are too many fields");
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        const char *name;

        if (!nd_py_parse_item(columns, i, "Is", &f->column[f->n], &name)) {
            nd_py_fields_release(f);
            return false;
        }
        f->name[f->n] = strdup(name);
        if (!f->name[f->n]) {
            nd_py_fields_release(f);
            PyErr_NoMemory();
            return false;
        }
        f->n++;
    }
    return n >= 0;
}

void nd_py_fields_release(struct nd_py_fields *f)
{
    for (size_t i = 0; i < f->n; i++)
        free(f->name[i]);
    f->n = 0;
}

bool nd_py_fields_fit(const struct nd_py_fields *f, const struct nd_py_frame *frame)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->column[i] >= frame->n_columns) {
            PyErr_SetString(PyExc_ValueError, "the frame has not all columns");
            return false;
        }
    return true;
}

bool nd_py_slice_init(struct nd_py_slice *s, const struct nd_py_fields *fields)
{
    *s = (struct nd_py_slice){.fields = fields, .bytes_max = ND_PY_SLICE_BYTES};
    s->item = nd_alloc_array(ND_PY_SLICE_ROWS, sizeof *s->item);
    s->document = nd_alloc_array(ND_PY_SLICE_ROWS, sizeof *s->document);

    if (fields->n) {
        s->field = nd_alloc_array(ND_PY_SLICE_ROWS * fields->n, sizeof *s->field);
        s->field_replaced = nd_alloc_array(ND_PY_SLICE_ROWS * fields->n, sizeof(uint64_t));
    }
    return s->item && s->document && (!fields->n || (s->field && s->field_replaced));
}

void nd_py_slice_release(struct nd_py_slice *s)
{
    free(s->item);
    free(s->document);
    free(s->field);
    free(s->field_replaced);
}

void nd_py_slice_clear(struct nd_py_slice *s)
{
    s->n = s->bytes = 0;
}

bool nd_py_slice_is_full(const struct nd_py_slice *s)
{
    return s->n == ND_PY_SLICE_ROWS || s->bytes >= s->bytes_max;
}

/* A document is made where it tells more than the text: fields, or what was repaired. */
struct nd_field *nd_py_slice_add(struct nd_py_slice *s, struct nd_view text, uint64_t replaced,
                                 uint32_t group, uint64_t **field_replaced)
{
    size_t n = s->fields->n;
    struct nd_field *field = n ? &s->field[s->n * n] : NULL;

    *field_replaced = n ? &s->field_replaced[s->n * n] : NULL;
    for (size_t i = 0; i < n; i++)
        field[i] = (struct nd_field){.name = {s->fields->name[i], strlen(s->fields->name[i])}};
    s->item[s->n] = (struct nd_dedup_item){.text = text, .group = group};
    if (replaced || n) {
        s->document[s->n] = (struct nd_document){.text = text,
                                                 .fields = field,
                                                 .n_fields = n,
                                                 .text_replaced = replaced,
                                                 .fields_replaced = *field_replaced};
        s->item[s->n].document = &s->document[s->n];
    }
    s->bytes += text.len;
    s->n++;
    return field;
}

void nd_py_slice_add_row(struct nd_py_slice *s, const struct nd_py_frame *frame, size_t row,
                         uint32_t group)
{
    const struct nd_py_column *text = &frame->column[0];
    uint64_t *replaced;
    struct nd_field *field =
        nd_py_slice_add(s, text->value[row], nd_py_column_replaced(text, row), group, &replaced);

    for (size_t i = 0; i < s->fields->n; i++) {
        const struct nd_py_column *column = &frame->column[s->fields->column[i]];

        field[i].value = column->value[row];
        replaced[i] = nd_py_column_replaced(column, row);
    }
}

static bool copy_value(struct nd_arena *values, struct nd_view *to, struct nd_view value)
{
    *to = value;
    if (!value.data)
        return true;
    to->data = nd_arena_copy(values, value.data, value.len);
    return to->data != NULL;
}

enum nd_status nd_py_slice_load(struct nd_py_slice *s, struct nd_arena *values,
                                const struct nd_py_texts *texts, uint64_t row,
                                struct nd_buffer *buffer, struct nd_error *err)
{
    struct nd_py_entry entry;
    enum nd_status status = nd_py_texts_read(texts, row, buffer, &entry, err);
    struct nd_view text;
    struct nd_field *field;
    uint64_t *replaced;

    if (status != ND_OK)
        return status;
    if (!copy_value(values, &text, entry.value[0]))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    field = nd_py_slice_add(s, text, entry.replaced[0], entry.group, &replaced);
    for (size_t i = 0; i < s->fields->n; i++) {
        replaced[i] = entry.replaced[ND_PY_FIRST_FIELD + i];
        if (!copy_value(values, &field[i].value, entry.value[ND_PY_FIRST_FIELD + i]))
            return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    return ND_OK;
}
