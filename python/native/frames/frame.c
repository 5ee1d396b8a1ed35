/*
 * frame.c - rows of columns: read from Arrow streams, or from Python's own strings
 *
 * A value is a view.  Of strings in Arrow arrays it points into the array, and of `str` into the
 * object; both are kept.  What is no string (a number, a date), or not UTF-8, is made into a text in
 * the frame's arena.
 */
#include "native.h"

#include <neardup/text.h>

#include "base/json_out.h"
#include "base/memory.h"
#include "frames/arrow.h"
#include "frames/own_tokens.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CAPSULE "neardup.frame"

/* The memory that values point into. */
struct nd_py_chunks {
    struct ArrowArrayStream stream; /* release NULL: none */
    struct ArrowSchema schema;      /* of the stream */
    struct ArrowArray *array;
    size_t n_arrays, array_capacity;
    PyObject *objects; /* a list */
    struct nd_arena texts;
    struct nd_buffer tokens; /* the text of a row of tokens, while it is made */
};

/*
 * Whoever made the data may release it by functions of Python.  They run without the exception that is
 * on its way, if one is, and do not take its place.
 */
static void release_stream(struct ArrowArrayStream *stream)
{
    PyObject *type, *value, *traceback;

    if (!stream->release)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    stream->release(stream);
    stream->release = NULL;
    PyErr_Restore(type, value, traceback);
}

static void release_schema(struct ArrowSchema *schema)
{
    PyObject *type, *value, *traceback;

    if (!schema->release)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    schema->release(schema);
    schema->release = NULL;
    PyErr_Restore(type, value, traceback);
}

static void release_array(struct ArrowArray *array)
{
    PyObject *type, *value, *traceback;

    if (!array->release)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    array->release(array);
    array->release = NULL;
    PyErr_Restore(type, value, traceback);
}

static void release_arrays(struct nd_py_chunks *c)
{
    for (size_t i = 0; i < c->n_arrays; i++)
        release_array(&c->array[i]);
    c->n_arrays = 0;
}

static void free_frame(struct nd_py_frame *f)
{
    struct nd_py_chunks *c = f->chunks;

    for (size_t i = 0; i < f->n_columns; i++) {
        free(f->column[i].value);
        free(f->column[i].is_raw);
        free(f->column[i].repaired);
        free(f->name[i]);
    }
    free(f->column);
    free(f->name);
    if (c) {
        release_arrays(c);
        free(c->array);
        release_schema(&c->schema);
        release_stream(&c->stream);
        Py_XDECREF(c->objects);
        nd_arena_release(&c->texts);
        nd_buffer_release(&c->tokens);
        free(c);
    }
    free(f);
}

static void free_capsule(PyObject *capsule)
{
    free_frame(PyCapsule_GetPointer(capsule, CAPSULE));
}

struct nd_py_frame *nd_py_frame(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, CAPSULE);
}

PyObject *nd_py_reading_frame(PyObject *module, PyObject *args, Py_ssize_t place,
                              PyCFunction function)
{
    PyObject *capsule = place < PyTuple_Size(args) ? PyTuple_GetItem(args, place) : NULL;
    struct nd_py_frame *f;
    PyObject *result;

    if (!capsule || !PyCapsule_IsValid(capsule, CAPSULE))
        return function(module, args); /* which says what is wrong */
    f = nd_py_frame(capsule);
    if (!nd_py_begin_reading(&f->users))
        return NULL;
    result = function(module, args);
    nd_py_end_use(&f->users);
    return result;
}

uint64_t nd_py_column_replaced(const struct nd_py_column *column, size_t row)
{
    size_t low = 0, high = column->n_repaired;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (column->repaired[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < column->n_repaired && column->repaired[low].row == row
               ? column->repaired[low].replaced
               : 0;
}

static char *copy_text(const char *text)
{
    size_t len = strlen(text) + 1;
    char *copy = malloc(len);

    return copy ? memcpy(copy, text, len) : NULL;
}

/* names: a tuple of str, or None for the only column of a stream of strings. */
static PyObject *frame_new(PyObject *module, PyObject *names)
{
    Py_ssize_t n = PyTuple_Check(names) ? PyTuple_Size(names) : -1;
    struct nd_py_frame *f;
    PyObject *capsule;

    (void)module;
    if (n < 0)
        return PyErr_Format(PyExc_TypeError, "the names of columns are a tuple");
    if (n == 0)
        return PyErr_Format(PyExc_ValueError, "a frame has at least one column");
    f = calloc(1, sizeof *f);
    if (!f)
        return PyErr_NoMemory();
    f->column = calloc((size_t)n, sizeof *f->column);
    f->name = calloc((size_t)n, sizeof *f->name);
    f->chunks = calloc(1, sizeof *f->chunks);
    if (!f->column || !f->name || !f->chunks) {
        f->n_columns = 0;
        free_frame(f);
        return PyErr_NoMemory();
    }
    f->n_columns = (size_t)n;
    f->chunks->objects = PyList_New(0);
    for (Py_ssize_t i = 0; f->chunks->objects && i < n; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        const char *text;

        if (name == Py_None)
            continue;
        text = PyUnicode_AsUTF8AndSize(name, NULL);
        if (text && !(f->name[i] = copy_text(text)))
            PyErr_NoMemory();
        if (!f->name[i])
            Py_CLEAR(f->chunks->objects);
    }
    capsule = f->chunks->objects ? PyCapsule_New(f, CAPSULE, free_capsule) : NULL;
    if (!capsule)
        free_frame(f);
    return capsule;
}

/* Room for n more rows in every column. */
static bool reserve_rows(struct nd_py_frame *f, size_t n)
{
    for (size_t i = 0; i < f->n_columns; i++)
        if (!ND_RESERVE(f->column[i].value, &f->column[i].capacity, f->n_rows + n) ||
            (i > 0 && !ND_RESERVE(f->column[i].is_raw, &f->column[i].raw_capacity, f->n_rows + n)))
            return false;
    return true;
}

/* The command's limit for a record. */
#define TEXT_MAX ((size_t)1 << 30)

static bool is_too_long(struct nd_py_frame *f, size_t row)
{
    if (f->column[0].value[row].len <= TEXT_MAX)
        return false;
    f->too_long = row + 1;
    return true;
}

/* Say why a value was not read, if nothing has said it. */
static void raise_unread(PyObject *module, const struct nd_py_frame *f)
{
    const struct nd_py_state *state = PyModule_GetState(module);

    if (PyErr_Occurred())
        return;
    if (f->too_long)
        PyErr_Format(state->invalid, "row %zu: the text is longer than 1 GiB", f->too_long - 1);
    else if (f->null_token)
        PyErr_Format(state->invalid, "row %zu: a token is null", f->null_token - 1);
    else
        PyErr_NoMemory();
}

/* Make the value valid UTF-8; it is remembered what was replaced. */
static bool repair(struct nd_py_frame *f, size_t column, size_t row)
{
    struct nd_py_column *c = &f->column[column];
    struct nd_view *value = &c->value[row];
    char *repaired;
    size_t len;
    int64_t n;

    if (column == 0 && is_too_long(f, row))
        return false;
    if (nd_utf8_valid(value->data, value->len))
        return true;
    n = nd_utf8_repair(value->data, value->len, &repaired, &len);
    if (n <= 0)
        return n == 0;
    if (!ND_RESERVE(c->repaired, &c->repaired_capacity, c->n_repaired + 1)) {
        free(repaired);
        return false;
    }
    c->n_sequences += (uint64_t)n;
    c->repaired[c->n_repaired++] =
        (struct nd_py_repaired){row, nd_utf8_replaced(value->data, value->len)};
    value->data = nd_arena_copy(&f->chunks->texts, repaired, len);
    value->len = len;
    free(repaired);
    return value->data != NULL;
}

/* ---- Arrow ---- */

static bool is_texts(const struct ArrowSchema *schema)
{
    enum nd_arrow_kind kind = nd_arrow_kind(schema->dictionary ? schema->dictionary : schema);

    return kind == ND_ARROW_STRINGS || kind == ND_ARROW_LARGE_STRINGS ||
           kind == ND_ARROW_STRING_VIEWS || kind == ND_ARROW_NOTHING;
}

/* Whether the values of a column are lists of tokens. */
static bool is_tokens(const struct ArrowSchema *schema)
{
    const struct ArrowSchema *item;

    if (!nd_arrow_is_list(nd_arrow_kind(schema)))
        return false;
    item = schema->children[0];
    return is_texts(item) ||
           (!item->dictionary && strchr("cCsSiIlL", item->format[0]) && !item->format[1]);
}

/* The name of a type, for messages. */
static const char *type_name(const struct ArrowSchema *schema)
{
    static const struct {
        const char *format, *name;
    } names[] = {
        {"n", "null"},    {"b", "bool"},     {"c", "int8"},     {"C", "uint8"},
        {"s", "int16"},   {"S", "uint16"},   {"i", "int32"},    {"I", "uint32"},
        {"l", "int64"},   {"L", "uint64"},   {"e", "float16"},  {"f", "float32"},
        {"g", "float64"}, {"+s", "struct"},  {"+l", "list"},    {"+L", "large_list"},
        {"+m", "map"},    {"tdD", "date32"}, {"tdm", "date64"}, {"+r", "run-end encoded values"},
    };
    const char *f = schema->format;

    if (schema->dictionary)
        return "a dictionary of values that are not texts";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(f, names[i].format))
            return names[i].name;
    return f[0] == 't' && f[1] == 's' ? "timestamp" : f[0] == 'd' ? "decimal" : f;
}

static bool is_valid_at(const struct ArrowArray *a, int64_t i)
{
    return nd_arrow_is_valid(a, i + a->offset);
}

/* A string view of Arrow: short ones hold their bytes, long ones name a buffer. */
static struct nd_view string_view(const struct ArrowArray *a, int64_t i)
{
    const char *view = (const char *)a->buffers[1] + 16 * (i + a->offset);
    int32_t len, buffer, offset;

    memcpy(&len, view, sizeof len);
    if (len <= 12)
        return (struct nd_view){view + 4, (size_t)len};
    memcpy(&buffer, view + 8, sizeof buffer);
    memcpy(&offset, view + 12, sizeof offset);
    return (struct nd_view){(const char *)a->buffers[2 + buffer] + offset, (size_t)len};
}

/* A view of an empty string is not that of a missing one. */
static struct nd_view view_of(const char *data, size_t len)
{
    return len ? (struct nd_view){data, len} : (struct nd_view){"", 0};
}

static struct nd_view string_at(const struct ArrowArray *a, enum nd_arrow_kind kind, int64_t i)
{
    const char *data = a->buffers[2];
    struct nd_view view;
    int64_t from;

    if (kind == ND_ARROW_STRING_VIEWS) {
        view = string_view(a, i);
        return view_of(view.data, view.len);
    }
    from = nd_arrow_offset(a, kind, i + a->offset);
    return view_of(data ? data + from : NULL,
                   (size_t)(nd_arrow_offset(a, kind, i + a->offset + 1) - from));
}

static int64_t integer_at(const struct ArrowArray *a, char format, int64_t i)
{
    return nd_arrow_integer(a, format, i + a->offset);
}

/* A day as "2024-02-29" (Hinnant, "chrono-compatible low-level date algorithms"). */
static size_t put_day(int64_t day, char *out, size_t size)
{
    int64_t z = day + 719468, era = (z >= 0 ? z : z - 146096) / 146097, year;
    int64_t of_era = z - era * 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted = (5 * of_year + 2) / 153, month = shifted < 10 ? shifted + 3 : shifted - 9;
    int64_t of_month = of_year - (153 * shifted + 2) / 5 + 1;

    year = year_of_era + era * 400 + (month <= 2);
    return (size_t)PyOS_snprintf(out, size, "%04lld-%02lld-%02lld", (long long)year,
                                 (long long)month, (long long)of_month);
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* A time as "2024-02-29T23:59:59.123Z", as nd_date_parse reads it. */
static size_t put_time(int64_t value, int64_t per_second, char *out, size_t size)
{
    int64_t second = floor_divide(value, per_second), day = floor_divide(second, 86400);
    int64_t fraction = value - second * per_second;
    int of_day = (int)(second - day * 86400), digits = per_second == 1000      ? 3
                                                       : per_second == 1000000 ? 6
                                                                               : 9;
    size_t len = put_day(day, out, size);

    len += (size_t)PyOS_snprintf(out + len, size - len, "T%02d:%02d:%02d", of_day / 3600,
                                 of_day / 60 % 60, of_day % 60);
    if (fraction)
        len += (size_t)PyOS_snprintf(out + len, size - len, ".%0*lld", digits, (long long)fraction);
    return len + (size_t)PyOS_snprintf(out + len, size - len, "Z");
}

/* A number, truth value, date or time as text; whether it is one of JSON's own. */
static size_t put_number(const struct ArrowSchema *schema, const struct ArrowArray *a, int64_t i,
                         char *out, size_t size, uint8_t *is_raw)
{
    const char *f = schema->format;
    const uint8_t *bits;
    double value;

    *is_raw = true;
    switch (f[0]) {
    case 'b':
        bits = a->buffers[1];
        return (size_t)PyOS_snprintf(
            out, size, bits[(i + a->offset) / 8] >> (i + a->offset) % 8 & 1 ? "true" : "false");
    case 'L': return (size_t)PyOS_snprintf(out, size, "%" PRIu64, (uint64_t)integer_at(a, 'L', i));
    case 'f':
    case 'g':
        if (f[0] == 'f') {
            float small;

            memcpy(&small, (const char *)a->buffers[1] + 4 * (i + a->offset), sizeof small);
            value = (double)small;
        } else {
            memcpy(&value, (const char *)a->buffers[1] + 8 * (i + a->offset), sizeof value);
        }
        *is_raw = value - value == 0; /* JSON has neither infinities nor "not a number" */
        if (!*is_raw)
            return (size_t)PyOS_snprintf(out, size, value > 0 ? "inf" : value < 0 ? "-inf" : "nan");
        return (size_t)nd_double_text(value, out);
    case 't':
        *is_raw = false;
        if (f[1] == 'd')
            return put_day(f[2] == 'D' ? integer_at(a, 'i', i)
                                       : floor_divide(integer_at(a, 'l', i), 86400000),
                           out, size);
        return put_time(integer_at(a, 'l', i),
                        f[2] == 's'   ? 1
                        : f[2] == 'm' ? 1000
                        : f[2] == 'u' ? 1000000
                                      : 1000000000,
                        out, size);
    default: return (size_t)PyOS_snprintf(out, size, "%" PRId64, integer_at(a, f[0], i));
    }
}

/*
 * A decimal as JSON writes it: the two's complement of `width` bytes, by 10 to the power of `scale`.
 * The number is halved in place by long division until no digit is left.
 */
static size_t put_decimal(const char *from, size_t width, int scale, char *out)
{
    uint32_t limb[8] = {0};
    size_t n = width / 4, len = 0, least = scale > 0 ? (size_t)scale + 1 : 1;
    bool is_negative = (unsigned char)from[width - 1] & 0x80, is_zero = true;
    char digits[1100], *begin = out;

    memcpy(limb, from, width);
    for (size_t i = 0, carry = 1; is_negative && i < n; i++) {
        limb[i] = ~limb[i] + (uint32_t)carry;
        carry = carry && !limb[i];
    }
    for (size_t i = 0; i < n; i++)
        is_zero = is_zero && !limb[i];
    while (!is_zero || len < least) {
        uint64_t rest = 0;

        is_zero = true;
        for (size_t i = n; i-- > 0;) {
            rest = rest << 32 | limb[i];
            limb[i] = (uint32_t)(rest / 10);
            rest %= 10;
            is_zero = is_zero && !limb[i];
        }
        digits[len++] = (char)('0' + rest);
    }
    if (is_negative)
        *out++ = '-';
    for (size_t i = len; i-- > 0;) {
        *out++ = digits[i];
        if (scale > 0 && i == (size_t)scale)
            *out++ = '.';
    }
    for (int i = 0; i < -scale && (len > 1 || digits[0] != '0'); i++)
        *out++ = '0';
    return (size_t)(out - begin);
}

/* Bytes in hexadecimal, a UUID with its hyphens. */
static size_t put_hex(const char *from, size_t width, bool is_uuid, char *out)
{
    static const char hex[] = "0123456789abcdef";
    const char *begin = out;

    for (size_t i = 0; i < width; i++) {
        if (is_uuid && (i == 4 || i == 6 || i == 8 || i == 10))
            *out++ = '-';
        *out++ = hex[(unsigned char)from[i] >> 4];
        *out++ = hex[from[i] & 15];
    }
    return (size_t)(out - begin);
}

/* The text of a value of fixed width, in the frame's arena.  False: out of memory. */
static bool read_fixed(struct nd_py_frame *f, const struct ArrowSchema *schema,
                       const struct ArrowArray *a, int64_t i, struct nd_view *value,
                       uint8_t *is_raw)
{
    int scale = 0;
    size_t width = nd_arrow_width(schema->format, &scale);
    const char *from = (const char *)a->buffers[1] + (int64_t)width * (i + a->offset);
    char number[2200], *text;

    *is_raw = schema->format[0] == 'd';
    if (*is_raw) {
        value->len = put_decimal(from, width, scale, number);
        value->data = nd_arena_copy(&f->chunks->texts, number, value->len);
        return value->data != NULL;
    }
    value->data = text = nd_arena_alloc(&f->chunks->texts, 2 * width + 4);
    if (text)
        value->len = put_hex(from, width, width == 16 && nd_arrow_is_uuid(schema), text);
    return text != NULL;
}

/* The value of a row as a view; data NULL: it is missing.  False: out of memory. */
static bool read_value(struct nd_py_frame *f, const struct ArrowSchema *schema,
                       const struct ArrowArray *a, enum nd_arrow_kind kind, int64_t i,
                       struct nd_view *value, uint8_t *is_raw)
{
    char text[96];
    size_t len;

    *value = (struct nd_view){NULL, 0};
    *is_raw = false;
    if (kind == ND_ARROW_NOTHING || !is_valid_at(a, i))
        return true;
    if (kind == ND_ARROW_DICTIONARY)
        return read_value(f, schema->dictionary, a->dictionary, nd_arrow_kind(schema->dictionary),
                          integer_at(a, schema->format[0], i), value, is_raw);
    if (kind == ND_ARROW_DECIMALS || kind == ND_ARROW_FIXED_BYTES)
        return read_fixed(f, schema, a, i, value, is_raw);
    if (kind != ND_ARROW_NUMBERS) {
        *value = string_at(a, kind, i);
        return true;
    }
    len = put_number(schema, a, i, text, sizeof text, is_raw);
    value->data = nd_arena_copy(&f->chunks->texts, text, len);
    value->len = len;
    return value->data != NULL;
}

/* Append item i of lists as a token.  0; 1: it is null; -1: out of memory. */
static int put_item(struct nd_buffer *text, const struct ArrowSchema *schema,
                    const struct ArrowArray *a, int64_t i, bool is_first)
{
    enum nd_arrow_kind kind = nd_arrow_kind(schema);
    struct nd_view token;
    char digits[96];
    uint8_t is_raw;

    if (kind == ND_ARROW_NOTHING || !is_valid_at(a, i))
        return 1;
    if (kind == ND_ARROW_DICTIONARY)
        return put_item(text, schema->dictionary, a->dictionary,
                        integer_at(a, schema->format[0], i), is_first);
    if (kind == ND_ARROW_NUMBERS)
        token = (struct nd_view){digits, put_number(schema, a, i, digits, sizeof digits, &is_raw)};
    else
        token = string_at(a, kind, i);
    return nd_py_put_token(text, token.data, token.len, is_first) ? 0 : -1;
}

/* Make the text that is in the buffer the value of a row.  False: out of memory. */
static bool keep_tokens(struct nd_py_frame *f, struct nd_view *value)
{
    struct nd_buffer *text = &f->chunks->tokens;

    *value = view_of(text->len ? nd_arena_copy(&f->chunks->texts, text->data, text->len) : NULL,
                     text->len);
    f->has_tokens = true;
    return value->data != NULL;
}

/* The text of a list of tokens; data NULL: it is missing.  False: raise_unread says why. */
static bool read_tokens(struct nd_py_frame *f, const struct ArrowSchema *schema,
                        const struct ArrowArray *a, int64_t i, size_t row)
{
    struct nd_buffer *text = &f->chunks->tokens;
    struct nd_view *value = &f->column[0].value[row];
    int64_t begin, end;

    *value = (struct nd_view){NULL, 0};
    if (!is_valid_at(a, i))
        return true;
    nd_arrow_items(schema, a, i, &begin, &end);
    text->len = 0;
    for (int64_t k = begin; k < end; k++) {
        int status = put_item(text, schema->children[0], a->children[0], k, k == begin);

        if (status != 0) {
            f->null_token = status > 0 ? row + 1 : 0;
            return false;
        }
    }
    return keep_tokens(f, value) && !is_too_long(f, row);
}

/* Read one column of an array whose rows are valid where `parent` is. */
static bool read_column(struct nd_py_frame *f, size_t column, const struct ArrowSchema *schema,
                        const struct ArrowArray *a, const struct ArrowArray *parent)
{
    struct nd_py_column *to = &f->column[column];
    int64_t n = parent ? parent->length : a->length, first = parent ? parent->offset : 0;
    enum nd_arrow_kind kind = nd_arrow_kind(schema);
    uint8_t is_raw;

    for (int64_t i = 0; i < n; i++) {
        size_t row = f->n_rows + (size_t)i;

        if (parent && !is_valid_at(parent, i)) {
            to->value[row] = (struct nd_view){NULL, 0};
            is_raw = false;
        } else if (nd_arrow_is_list(kind)) {
            is_raw = false;
            if (!read_tokens(f, schema, a, first + i, row))
                return false;
        } else if (!read_value(f, schema, a, kind, first + i, &to->value[row], &is_raw) ||
                   !repair(f, column, row)) {
            return false;
        }
        if (column > 0)
            to->is_raw[row] = is_raw;
        else
            f->bytes += to->value[row].len;
    }
    return true;
}

/* The place of a column among the children of a struct; -1: an exception is set. */
static int64_t find_column(PyObject *module, const struct ArrowSchema *schema, const char *name)
{
    const struct nd_py_state *state = PyModule_GetState(module);
    PyObject *names;

    for (int64_t i = 0; name && i < schema->n_children; i++)
        if (!strcmp(nd_arrow_name(schema->children[i]), name))
            return i;
    names = PyList_New(0);
    for (int64_t i = 0; names && i < schema->n_children; i++) {
        PyObject *one = PyUnicode_FromString(nd_arrow_name(schema->children[i]));

        if (!one || PyList_Append(names, one) < 0)
            Py_CLEAR(names);
        Py_XDECREF(one);
    }
    if (names)
        PyErr_Format(state->invalid, "there is no column '%s'; there are %R", name, names);
    Py_XDECREF(names);
    return -1;
}

/* Whether a column beside the text can be read. */
static bool is_value(const struct ArrowSchema *schema)
{
    enum nd_arrow_kind kind = nd_arrow_kind(schema->dictionary ? schema->dictionary : schema);

    return kind != ND_ARROW_UNREADABLE && !nd_arrow_is_list(kind);
}

/* Whether the columns are there, and of types that can be read. */
static bool check_schema(PyObject *module, const struct nd_py_frame *f)
{
    const struct nd_py_state *state = PyModule_GetState(module);
    const struct ArrowSchema *schema = &f->chunks->schema;
    const char *fault = schema->release ? nd_arrow_schema_fault(schema) : "it has no schema";

    if (fault) {
        PyErr_Format(state->invalid, "this is no valid Arrow data: %s", fault);
        return false;
    }
    if (!nd_arrow_is_struct(schema) && (f->n_columns > 1 || f->name[0])) {
        PyErr_Format(state->invalid, "there is no column '%s': the data has no columns",
                     f->name[0] ? f->name[0] : f->name[1]);
        return false;
    }
    if (nd_arrow_is_struct(schema) && !f->name[0]) {
        PyErr_SetString(state->invalid, "the data has columns: say which holds the text");
        return false;
    }
    for (size_t i = 0; i < f->n_columns; i++) {
        const struct ArrowSchema *column = schema;

        if (nd_arrow_is_struct(schema)) {
            int64_t place = find_column(module, schema, f->name[i]);

            if (place < 0)
                return false;
            column = schema->children[place];
        }
        if (i == 0 ? !is_texts(column) && !is_tokens(column) : !is_value(column)) {
            PyErr_Format(state->invalid,
                         i > 0 ? "column '%s' holds %s, which cannot be read"
                         : nd_arrow_is_list(nd_arrow_kind(column))
                             ? "column '%s' holds %s, whose items are neither texts nor integers"
                             : "column '%s' holds %s, not text",
                         f->name[i] ? f->name[i] : "", type_name(column));
            return false;
        }
    }
    return true;
}

static bool fail_stream(PyObject *module, struct ArrowArrayStream *stream, int code)
{
    const struct nd_py_state *state = PyModule_GetState(module);
    const char *why = stream->get_last_error ? stream->get_last_error(stream) : NULL;

    if (!PyErr_Occurred())
        PyErr_Format(state->error, "reading the data failed: %s", why ? why : strerror(code));
    return false;
}

/* frame_open(frame, stream): read the schema of an Arrow stream, which becomes the frame's. */
static PyObject *frame_open(PyObject *module, PyObject *args)
{
    PyObject *capsule, *stream_capsule;
    struct ArrowArrayStream *stream;
    struct nd_py_frame *f;
    bool is_good = false;
    int code;

    if (!PyArg_ParseTuple(args, "OO", &capsule, &stream_capsule) || !(f = nd_py_frame(capsule)) ||
        !(stream = PyCapsule_GetPointer(stream_capsule, "arrow_array_stream")))
        return NULL;
    if (!stream->release || f->chunks->stream.release)
        return PyErr_Format(PyExc_ValueError, "the stream was read already");
    if (!stream->get_schema || !stream->get_next)
        return PyErr_Format(PyExc_ValueError, "the stream has no functions to read it by");
    if (!nd_py_begin_change(&f->users))
        return NULL;
    release_schema(&f->chunks->schema);
    f->chunks->schema = (struct ArrowSchema){0};
    f->chunks->stream = *stream;
    stream->release = NULL;
    stream = &f->chunks->stream;
    code = stream->get_schema(stream, &f->chunks->schema);
    is_good = code == 0 ? check_schema(module, f) : fail_stream(module, stream, code);
    /* A stream that could not be opened is not read. */
    if (!is_good)
        release_stream(stream);
    nd_py_end_use(&f->users);
    return is_good ? Py_NewRef(Py_None) : NULL;
}

/* Take the rows of an array, which the frame keeps. */
static bool take_array(PyObject *module, struct nd_py_frame *f, struct ArrowArray *array)
{
    const struct nd_py_state *state = PyModule_GetState(module);
    const struct ArrowSchema *schema = &f->chunks->schema;
    bool has_columns = nd_arrow_is_struct(schema);
    const char *fault = has_columns ? nd_arrow_struct_fault(schema, array) : NULL;
    int64_t place[64] = {0};

    if (f->n_columns > sizeof place / sizeof *place) {
        PyErr_SetString(PyExc_ValueError, "too many columns");
        return false;
    }
    for (size_t i = 0; i < f->n_columns; i++)
        if (has_columns && (place[i] = find_column(module, schema, f->name[i])) < 0)
            return false;
    for (size_t i = 0; !fault && i < f->n_columns; i++)
        fault = has_columns
                    ? nd_arrow_array_fault(schema->children[place[i]], array->children[place[i]],
                                           array->offset, array->length)
                    : nd_arrow_array_fault(schema, array, 0, array->length);
    if (fault) {
        PyErr_Format(state->invalid, "this is no valid Arrow data: %s", fault);
        return false;
    }
    if (!ND_RESERVE(f->chunks->array, &f->chunks->array_capacity, f->chunks->n_arrays + 1) ||
        !reserve_rows(f, (size_t)array->length)) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < f->n_columns; i++) {
        bool is_read = has_columns ? read_column(f, i, schema->children[place[i]],
                                                 array->children[place[i]], array)
                                   : read_column(f, i, schema, array, NULL);

        if (!is_read) {
            raise_unread(module, f);
            return false;
        }
    }
    f->n_rows += (size_t)array->length;
    f->chunks->array[f->chunks->n_arrays++] = *array;
    array->release = NULL;
    return true;
}

/* Read arrays until the frame has so many bytes of text, or the stream ends. */
static bool read_arrays(PyObject *module, struct nd_py_frame *f, uint64_t limit)
{
    struct ArrowArrayStream *stream = &f->chunks->stream;

    while (stream->release && f->bytes < limit) {
        struct ArrowArray array = {0};
        bool is_taken;
        int code;

        Py_BEGIN_ALLOW_THREADS;
        code = stream->get_next(stream, &array);
        Py_END_ALLOW_THREADS;
        if (code != 0)
            return fail_stream(module, stream, code);
        if (!array.release) {
            release_stream(stream);
            break;
        }
        is_taken = take_array(module, f, &array);
        release_array(&array);
        if (!is_taken || PyErr_CheckSignals() < 0)
            return false;
    }
    return true;
}

/*
 * frame_read(frame, bytes): read arrays until there are `bytes` more of text, or the stream ends.
 * The number of rows that were read; 0: the stream has ended.
 */
static PyObject *frame_read(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    struct nd_py_frame *f;
    unsigned long long bytes;
    size_t before;
    bool is_good;

    if (!PyArg_ParseTuple(args, "OK", &capsule, &bytes) || !(f = nd_py_frame(capsule)) ||
        !nd_py_begin_change(&f->users))
        return NULL;
    before = f->n_rows;
    is_good = read_arrays(module, f, bytes < UINT64_MAX - f->bytes ? f->bytes + bytes : UINT64_MAX);
    nd_py_end_use(&f->users);
    return is_good ? PyLong_FromSize_t(f->n_rows - before) : NULL;
}

/* frame_take(frame, schema, array): the rows of one Arrow array, which becomes the frame's. */
static PyObject *frame_take(PyObject *module, PyObject *args)
{
    PyObject *capsule, *schema_capsule, *array_capsule;
    struct nd_py_frame *f;
    struct ArrowSchema *schema;
    struct ArrowArray *array;
    bool is_good;

    if (!PyArg_ParseTuple(args, "OOO", &capsule, &schema_capsule, &array_capsule) ||
        !(f = nd_py_frame(capsule)) ||
        !(schema = PyCapsule_GetPointer(schema_capsule, "arrow_schema")) ||
        !(array = PyCapsule_GetPointer(array_capsule, "arrow_array")))
        return NULL;
    if (!schema->release || !array->release || f->chunks->stream.release)
        return PyErr_Format(PyExc_ValueError, "the array was read already");
    if (!nd_py_begin_change(&f->users))
        return NULL;
    release_schema(&f->chunks->schema);
    f->chunks->schema = *schema;
    schema->release = NULL;
    is_good = check_schema(module, f) && take_array(module, f, array);
    nd_py_end_use(&f->users);
    return is_good ? Py_NewRef(Py_None) : NULL;
}

/* ---- Python's own values ---- */

/* A str, bytes or None, or for the text a list of tokens.  False: raise_unread says why. */
static bool take_object(struct nd_py_frame *f, size_t column, size_t row, PyObject *object)
{
    struct nd_view *value = &f->column[column].value[row];
    Py_ssize_t len;
    char *bytes;

    *value = (struct nd_view){NULL, 0};
    if (object == Py_None)
        return true;
    if (PyBytes_Check(object)) {
        if (PyBytes_AsStringAndSize(object, &bytes, &len) < 0)
            return false;
        *value = (struct nd_view){bytes, (size_t)len};
        return repair(f, column, row);
    }
    if (column == 0 && (PyList_Check(object) || PyTuple_Check(object)))
        return nd_py_put_tokens(&f->chunks->tokens, object, row) && keep_tokens(f, value) &&
               !is_too_long(f, row);
    if (!PyUnicode_Check(object)) {
        PyObject *type = PyType_GetName(Py_TYPE(object));

        if (type)
            PyErr_Format(PyExc_TypeError, "row %zu: expected a str, not %U", row, type);
        Py_XDECREF(type);
        return false;
    }
    value->data = PyUnicode_AsUTF8AndSize(object, &len);
    value->len = (size_t)len;
    return value->data && (column > 0 || !is_too_long(f, row));
}

/* The number of rows that all columns have; -1: an exception is set. */
static Py_ssize_t common_length(PyObject *columns, PyObject *raw)
{
    Py_ssize_t n = -1, n_columns = PyTuple_Size(columns);

    for (Py_ssize_t i = 0; i < n_columns; i++) {
        PyObject *values = PyTuple_GetItem(columns, i), *marks = PyTuple_GetItem(raw, i);

        if (!PyTuple_Check(values) || !(marks == Py_None || PyBytes_Check(marks))) {
            PyErr_SetString(PyExc_TypeError,
                            "a column is a tuple, and its marks are bytes or None");
            return -1;
        }
        if (i == 0)
            n = PyTuple_Size(values);
        if (PyTuple_Size(values) != n || (marks != Py_None && PyBytes_Size(marks) != n)) {
            PyErr_SetString(PyExc_ValueError, "columns differ in their length");
            return -1;
        }
    }
    return n;
}

static bool append(PyObject *module, struct nd_py_frame *f, PyObject *columns, PyObject *raw)
{
    Py_ssize_t n = common_length(columns, raw);

    if (n < 0)
        return false;
    if (!reserve_rows(f, (size_t)n)) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < f->n_columns; i++) {
        PyObject *values = PyTuple_GetItem(columns, (Py_ssize_t)i);
        PyObject *marks = PyTuple_GetItem(raw, (Py_ssize_t)i);
        const char *is_raw = marks == Py_None ? NULL : PyBytes_AsString(marks);

        for (Py_ssize_t k = 0; k < n; k++) {
            size_t row = f->n_rows + (size_t)k;

            if (!take_object(f, i, row, PyTuple_GetItem(values, k))) {
                raise_unread(module, f);
                return false;
            }
            if (i > 0)
                f->column[i].is_raw[row] = is_raw && is_raw[k];
        }
    }
    if (PyList_Append(f->chunks->objects, columns) < 0)
        return false;
    for (Py_ssize_t k = 0; k < n; k++)
        f->bytes += f->column[0].value[f->n_rows + (size_t)k].len;
    f->n_rows += (size_t)n;
    return true;
}

/*
 * frame_append(frame, columns, raw): rows from tuples of str, bytes or None, one tuple a column and
 * all of one length; raw: for each column NULL or bytes with 1 where a value is a number.
 */
static PyObject *frame_append(PyObject *module, PyObject *args)
{
    PyObject *capsule, *columns, *raw;
    struct nd_py_frame *f;
    bool is_good;

    if (!PyArg_ParseTuple(args, "OO!O!", &capsule, &PyTuple_Type, &columns, &PyTuple_Type, &raw) ||
        !(f = nd_py_frame(capsule)))
        return NULL;
    if ((size_t)PyTuple_Size(columns) != f->n_columns || (size_t)PyTuple_Size(raw) != f->n_columns)
        return PyErr_Format(PyExc_ValueError, "%zu columns are expected", f->n_columns);
    if (!nd_py_begin_change(&f->users))
        return NULL;
    is_good = append(module, f, columns, raw);
    nd_py_end_use(&f->users);
    return is_good ? Py_NewRef(Py_None) : NULL;
}

static PyObject *frame_rows(PyObject *module, PyObject *capsule)
{
    const struct nd_py_frame *f = nd_py_frame(capsule);

    (void)module;
    return f ? PyLong_FromSize_t(f->n_rows) : NULL;
}

/* The first row without a text; None: all have one. */
static PyObject *frame_null(PyObject *module, PyObject *capsule)
{
    const struct nd_py_frame *f = nd_py_frame(capsule);

    (void)module;
    if (!f)
        return NULL;
    for (size_t i = 0; i < f->n_rows; i++)
        if (!f->column[0].value[i].data)
            return PyLong_FromSize_t(i);
    Py_RETURN_NONE;
}

/* frame_repaired(frame): how many texts were repaired, and how many sequences in them. */
static PyObject *frame_repaired(PyObject *module, PyObject *capsule)
{
    const struct nd_py_frame *f = nd_py_frame(capsule);

    (void)module;
    return f ? Py_BuildValue("nK", (Py_ssize_t)f->column[0].n_repaired,
                             (unsigned long long)f->column[0].n_sequences)
             : NULL;
}

/* frame_mask(frame, mask): the mask, with 0 for rows without a text. */
static PyObject *frame_mask(PyObject *module, PyObject *args)
{
    const struct nd_py_frame *f;
    PyObject *capsule, *mask;
    const char *from;
    char *to;
    Py_ssize_t n;

    (void)module;
    if (!PyArg_ParseTuple(args, "Oy#", &capsule, &from, &n) || !(f = nd_py_frame(capsule)))
        return NULL;
    if ((size_t)n != f->n_rows)
        return PyErr_Format(PyExc_ValueError, "the mask is not of this frame");
    mask = PyBytes_FromStringAndSize(NULL, n);
    if (!mask)
        return NULL;
    to = PyBytes_AsString(mask);
    memcpy(to, from, (size_t)n);
    for (size_t i = 0; i < f->n_rows; i++)
        if (!f->column[0].value[i].data)
            to[i] = 0;
    return mask;
}

/* frame_clear(frame): forget the rows; what is read next is row 0 again. */
static PyObject *frame_clear(PyObject *module, PyObject *capsule)
{
    struct nd_py_frame *f = nd_py_frame(capsule);
    PyObject *objects, *before;

    (void)module;
    if (!f || !nd_py_begin_change(&f->users))
        return NULL;
    if (!(objects = PyList_New(0))) {
        nd_py_end_use(&f->users);
        return NULL;
    }
    before = f->chunks->objects;
    f->chunks->objects = objects;
    Py_DECREF(before);
    release_arrays(f->chunks);
    nd_arena_reset(&f->chunks->texts);
    for (size_t i = 0; i < f->n_columns; i++)
        f->column[i].n_repaired = f->column[i].n_sequences = 0;
    f->n_rows = 0;
    f->bytes = 0;
    nd_py_end_use(&f->users);
    Py_RETURN_NONE;
}

/* Whether any text was given as tokens. */
static PyObject *frame_has_tokens(PyObject *module, PyObject *capsule)
{
    const struct nd_py_frame *f = nd_py_frame(capsule);

    (void)module;
    return f ? PyBool_FromLong(f->has_tokens) : NULL;
}

/* text_of_tokens(tokens): the text that stands for a list or tuple of tokens. */
static PyObject *text_of_tokens(PyObject *module, PyObject *tokens)
{
    struct nd_buffer text = {0};
    PyObject *made = NULL;

    (void)module;
    if (!PyList_Check(tokens) && !PyTuple_Check(tokens))
        return PyErr_Format(PyExc_TypeError, "tokens are a list or a tuple");
    if (nd_py_put_tokens(&text, tokens, 0))
        made = PyUnicode_FromStringAndSize(text.data ? text.data : "", (Py_ssize_t)text.len);
    nd_buffer_release(&text);
    return made;
}

PyMethodDef nd_py_frame_functions[] = {
    {"frame_new", frame_new, METH_O, "An empty frame of these columns; the first is the text."},
    {"frame_open", frame_open, METH_VARARGS, "Read the schema of an Arrow stream."},
    {"frame_read", frame_read, METH_VARARGS, "Read rows of the stream."},
    {"frame_take", frame_take, METH_VARARGS, "Read rows of one Arrow array."},
    {"frame_append", frame_append, METH_VARARGS, "Add rows of Python strings."},
    {"frame_rows", frame_rows, METH_O, "The number of rows."},
    {"frame_null", frame_null, METH_O, "The first row without a text."},
    {"frame_repaired", frame_repaired, METH_O, "How many texts were repaired."},
    {"frame_mask", frame_mask, METH_VARARGS, "A mask without rows that have no text."},
    {"frame_has_tokens", frame_has_tokens, METH_O, "Whether any text was given as tokens."},
    {"text_of_tokens", text_of_tokens, METH_O, "The text that stands for tokens."},
    {"frame_clear", frame_clear, METH_O, "Forget the rows."},
    {NULL, NULL, 0, NULL},
};
