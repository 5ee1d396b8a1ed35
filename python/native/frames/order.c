/* order.c - in which order rows are offered to the engine, and which are compared */
#define _GNU_SOURCE /* qsort_r */
#include "frames/order.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The views of a str.  False: an exception is set. */
static bool view_of(PyObject *text, struct nd_view *view)
{
    Py_ssize_t len;

    view->data = PyUnicode_AsUTF8AndSize(text, &len);
    view->len = (size_t)len;
    return view->data != NULL;
}

static struct nd_py_value value_at(const struct nd_py_column *column, size_t row)
{
    return (struct nd_py_value){column->value[row], nd_py_column_replaced(column, row)};
}

/* The number of a value among those that were listed; 0: it is none of them. */
static uint32_t listed(const struct nd_groups *values, struct nd_py_value value)
{
    uint32_t number = nd_groups_find(values, value.value);

    return number && !value.replaced ? number : 0;
}

/* ---- Which are compared ---- */

/* The values of a column; a new one where it is not there yet.  NULL: out of memory. */
static struct nd_groups *values_of(struct nd_py_comparable *c, unsigned column)
{
    for (size_t i = 0; i < c->n_never; i++)
        if (c->never_column[i] == column)
            return &c->never[i];
    c->never_column[c->n_never] = column;
    return &c->never[c->n_never++];
}

bool nd_py_comparable_init(struct nd_py_comparable *c, unsigned within, PyObject *never)
{
    Py_ssize_t n = PyTuple_Size(never);
    struct nd_view value;
    unsigned column;
    PyObject *text;
    uint32_t number;

    *c = (struct nd_py_comparable){.within = within};
    if (n < 0)
        return false;
    c->never_column = calloc((size_t)n + 1, sizeof *c->never_column);
    c->never = calloc((size_t)n + 1, sizeof *c->never);
    if (!c->never_column || !c->never) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!nd_py_parse_item(never, i, "IU", &column, &text) || !view_of(text, &value))
            return false;
        if (!nd_groups_number(values_of(c, column), value, &number)) {
            PyErr_NoMemory();
            return false;
        }
    }
    return true;
}

void nd_py_comparable_release(struct nd_py_comparable *c)
{
    for (size_t i = 0; i < c->n_never; i++)
        nd_groups_release(&c->never[i]);
    free(c->never);
    free(c->never_column);
    nd_groups_release(&c->values);
}

/* Whether it is one of `never`, and so alone in its group. */
static bool take_alone(struct nd_py_comparable *c, size_t i, struct nd_py_value value,
                       uint32_t *group)
{
    if (!listed(&c->never[i], value))
        return false;
    *group = UINT32_MAX - c->n_alone++;
    return true;
}

static bool group_within(struct nd_py_comparable *c, struct nd_py_value value, uint32_t *group)
{
    *group = 0;
    return !c->within || nd_groups_number_repaired(&c->values, value.value, value.replaced, group);
}

bool nd_py_comparable_group_of(struct nd_py_comparable *c, struct nd_py_value within,
                               const struct nd_py_value *never, uint32_t *group)
{
    for (size_t i = 0; i < c->n_never; i++)
        if (take_alone(c, i, never[i], group))
            return true;
    return group_within(c, within, group);
}

bool nd_py_comparable_group(struct nd_py_comparable *c, const struct nd_py_frame *frame, size_t row,
                            uint32_t *group)
{
    for (size_t i = 0; i < c->n_never; i++)
        if (take_alone(c, i, value_at(&frame->column[c->never_column[i]], row), group))
            return true;
    return group_within(c, value_at(&frame->column[c->within], row), group);
}

/* ---- The order ---- */

bool nd_py_order_init(PyObject *module, struct nd_py_order *o, const char *keep,
                      const struct nd_py_roles *roles, PyObject *preferred, PyObject *never)
{
    Py_ssize_t n = PyTuple_Size(preferred);
    struct nd_view value;
    struct nd_error err;
    uint32_t number;

    *o = (struct nd_py_order){.roles = *roles};
    if (n < 0 || !nd_py_comparable_init(&o->comparable, roles->within, never))
        return false;
    if (nd_keep_parse(keep, &o->keep, &err) != ND_OK) {
        nd_py_raise(module, &err);
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!view_of(PyTuple_GetItem(preferred, i), &value))
            return false;
        if (!nd_groups_number(&o->preferred, value, &number)) {
            PyErr_NoMemory();
            return false;
        }
    }
    return true;
}

void nd_py_order_release(struct nd_py_order *o)
{
    nd_py_comparable_release(&o->comparable);
    nd_groups_release(&o->preferred);
    free(o->key);
    free(o->preference);
    free(o->group);
    free(o->row);
    nd_rough_keys_release(&o->rough);
}

static bool has_keys(const struct nd_py_order *o)
{
    return o->keep.by != ND_KEEP_FIRST && o->keep.by != ND_KEEP_LAST;
}

static bool has_groups(const struct nd_py_order *o)
{
    return o->comparable.within || o->comparable.n_never;
}

static bool resize(void *array, size_t capacity, size_t size)
{
    size_t none = 0;

    return nd_array_reserve(array, &none, capacity, size);
}

/* The arrays share one capacity, and grow by a quarter: they are large. */
static bool reserve(struct nd_py_order *o, size_t n)
{
    size_t capacity = o->capacity + o->capacity / 4;

    if (n <= o->capacity)
        return true;
    if (capacity < n)
        capacity = n;
    if (!resize(&o->row, capacity, sizeof *o->row) ||
        (has_keys(o) && !resize(&o->key, capacity, sizeof *o->key)) ||
        (o->roles.prefer && !resize(&o->preference, capacity, sizeof *o->preference)) ||
        (has_groups(o) && !resize(&o->group, capacity, sizeof *o->group)))
        return false;
    o->capacity = capacity;
    return true;
}

/* Return the key of a length that the records of sketch files have in digits. */
static uint64_t key_of_length(const struct nd_keep *keep, struct nd_view digits)
{
    uint64_t length = 0;

    for (size_t i = 0; i < digits.len; i++)
        length = length * 10 + (uint64_t)(digits.data[i] - '0');
    return nd_keep_key_of_length(keep, length);
}

bool nd_py_order_rank(struct nd_py_order *o, const struct nd_py_frame *f, size_t at, uint32_t row,
                      struct nd_offer *offer, uint32_t *group)
{
    struct nd_view text = f->column[0].value[at], value = {NULL, 0};

    *offer = (struct nd_offer){.record = row};
    if (o->roles.keep)
        value = f->column[o->roles.keep].value[at];
    if (o->roles.keep && nd_keep_is_by_length(&o->keep))
        offer->key = key_of_length(&o->keep, value);
    else if (has_keys(o) && (!nd_keep_key(&o->keep, text, value, &offer->key) ||
                             !nd_rough_keys_note(&o->rough, &o->keep, offer->key, row, value)))
        return false;
    if (o->roles.prefer) {
        uint32_t number = listed(&o->preferred, value_at(&f->column[o->roles.prefer], at));

        offer->prefer = number ? number : UINT32_MAX;
    }
    return nd_py_comparable_group(&o->comparable, f, at, group);
}

static bool add_row(struct nd_py_order *o, const struct nd_py_frame *f, size_t at, uint32_t row)
{
    struct nd_offer offer;
    uint32_t group;

    if (!nd_py_order_rank(o, f, at, row, &offer, &group))
        return false;
    o->row[o->n++] = row;
    if (o->key)
        o->key[row] = offer.key;
    if (o->preference)
        o->preference[row] = offer.prefer;
    if (o->group)
        o->group[row] = group;
    return true;
}

bool nd_py_comparable_fits(const struct nd_py_comparable *c, const struct nd_py_frame *frame)
{
    for (size_t i = 0; i < c->n_never; i++)
        if (c->never_column[i] >= frame->n_columns)
            return false;
    return c->within < frame->n_columns;
}

bool nd_py_order_fits(const struct nd_py_order *o, const struct nd_py_frame *frame)
{
    return nd_py_comparable_fits(&o->comparable, frame) && o->roles.keep < frame->n_columns &&
           o->roles.prefer < frame->n_columns;
}

enum nd_status nd_py_order_add(struct nd_py_order *o, const struct nd_py_frame *frame,
                               struct nd_error *err)
{
    if (!nd_py_order_fits(o, frame))
        return nd_fail(err, ND_EINVAL, "the frame has not all columns");
    if (o->n_rows + frame->n_rows >= UINT32_MAX)
        return nd_fail(err, ND_EUNSUPPORTED, "more than %u rows", UINT32_MAX - 1);
    if (!reserve(o, o->n_rows + frame->n_rows))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < frame->n_rows; i++)
        if (frame->column[0].value[i].data && !add_row(o, frame, i, (uint32_t)(o->n_rows + i)))
            return nd_fail(err, ND_ENOMEM, "out of memory");
    o->n_rows += frame->n_rows;
    return ND_OK;
}

static struct nd_offer offer_of(const struct nd_py_order *o, uint32_t row)
{
    return (struct nd_offer){.key = o->key ? o->key[row] : 0,
                             .prefer = o->preference ? o->preference[row] : 0,
                             .record = row};
}

bool nd_py_order_is_tied(const struct nd_py_order *o, uint32_t x, uint32_t y)
{
    const struct nd_offer a = offer_of(o, x), b = offer_of(o, y);

    return nd_offers_are_tied(&o->keep, &o->rough, &a, &b);
}

static int by_keep_order(const void *a, const void *b, void *context)
{
    const struct nd_py_order *o = context;
    const struct nd_offer x = offer_of(o, *(const uint32_t *)a),
                          y = offer_of(o, *(const uint32_t *)b);

    return nd_offer_compare(&o->keep, &o->rough, &x, &y);
}

void nd_py_order_sort(struct nd_py_order *o)
{
    if (o->key || o->preference || o->keep.by == ND_KEEP_LAST)
        qsort_r(o->row, o->n, sizeof *o->row, by_keep_order, o);
}

bool nd_py_order_settle(struct nd_py_order *o)
{
    uint32_t *group = o->group ? nd_alloc_array(o->n + 1, sizeof *group) : NULL;

    if (o->group && !group)
        return false;
    nd_py_order_sort(o);
    for (size_t i = 0; group && i < o->n; i++)
        group[i] = o->group[o->row[i]];
    free(o->group);
    free(o->key);
    free(o->preference);
    nd_rough_keys_release(&o->rough);
    o->group = group;
    o->key = NULL;
    o->preference = NULL;
    return true;
}
