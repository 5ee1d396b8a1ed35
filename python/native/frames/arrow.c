/*
 * arrow.c - what of Arrow data can be read, and whether it is as the specification wants it
 *
 * Data comes from any producer, and a wrong one must not crash the interpreter: what a row leads to is
 * checked before it is read.
 */
#include "frames/arrow.h"

#include <stddef.h>
#include <stdlib.h>

/* Items of each list of one length; -1: the format is another. */
static int64_t list_width(const char *format)
{
    char *end = NULL;
    long width;

    if (strncmp(format, "+w:", 3) != 0)
        return -1;
    width = strtol(format + 3, &end, 10);
    return end > format + 3 && !*end && width >= 0 && width <= 1 << 30 ? width : -1;
}

enum nd_arrow_kind nd_arrow_kind(const struct ArrowSchema *schema)
{
    const char *f = schema->format;

    if (schema->dictionary)
        return ND_ARROW_DICTIONARY;
    if (!strcmp(f, "u") || !strcmp(f, "z"))
        return ND_ARROW_STRINGS;
    if (!strcmp(f, "U") || !strcmp(f, "Z"))
        return ND_ARROW_LARGE_STRINGS;
    if (!strcmp(f, "vu") || !strcmp(f, "vz"))
        return ND_ARROW_STRING_VIEWS;
    if (!strcmp(f, "n"))
        return ND_ARROW_NOTHING;
    if (!strcmp(f, "+l"))
        return ND_ARROW_LISTS;
    if (!strcmp(f, "+L"))
        return ND_ARROW_LARGE_LISTS;
    if (list_width(f) >= 0)
        return ND_ARROW_FIXED_LISTS;
    if ((f[0] && strchr("cCsSiIlLfgb", f[0]) && !f[1]) || !strcmp(f, "tdD") || !strcmp(f, "tdm") ||
        !strncmp(f, "tss:", 4) || !strncmp(f, "tsm:", 4) || !strncmp(f, "tsu:", 4) ||
        !strncmp(f, "tsn:", 4))
        return ND_ARROW_NUMBERS;
    if (nd_arrow_width(f, NULL))
        return f[0] == 'd' ? ND_ARROW_DECIMALS : ND_ARROW_FIXED_BYTES;
    return ND_ARROW_UNREADABLE;
}

bool nd_arrow_is_list(enum nd_arrow_kind kind)
{
    return kind == ND_ARROW_LISTS || kind == ND_ARROW_LARGE_LISTS || kind == ND_ARROW_FIXED_LISTS;
}

void nd_arrow_items(const struct ArrowSchema *schema, const struct ArrowArray *a, int64_t i,
                    int64_t *begin, int64_t *end)
{
    enum nd_arrow_kind kind = nd_arrow_kind(schema);

    i += a->offset;
    if (kind == ND_ARROW_FIXED_LISTS) {
        *begin = i * list_width(schema->format);
        *end = *begin + list_width(schema->format);
    } else {
        *begin = nd_arrow_offset(a, kind, i);
        *end = nd_arrow_offset(a, kind, i + 1);
    }
}

size_t nd_arrow_width(const char *format, int *scale)
{
    long width = 0, digits = 0;
    char *end = NULL;

    if (!strncmp(format, "w:", 2)) {
        width = strtol(format + 2, &end, 10);
        return end > format + 2 && !*end && width > 0 && width <= 1 << 16 ? (size_t)width : 0;
    }
    if (strncmp(format, "d:", 2) != 0)
        return 0;
    (void)strtol(format + 2, &end, 10);
    if (*end == ',')
        digits = strtol(end + 1, &end, 10);
    width = *end == ',' ? strtol(end + 1, &end, 10) : 128;
    if (scale)
        *scale = (int)digits;
    return !*end && digits >= -999 && digits <= 999 && width >= 32 && width <= 256 &&
                   width % 32 == 0
               ? (size_t)width / 8
               : 0;
}

/* The next 32-bit number of metadata. */
static int32_t take_int32(const char **at)
{
    int32_t value = nd_arrow_int32(*at);

    *at += sizeof value;
    return value;
}

bool nd_arrow_is_uuid(const struct ArrowSchema *schema)
{
    static const char key[] = "ARROW:extension:name", uuid[] = "arrow.uuid";
    const char *at = schema->metadata;

    for (int32_t n = at ? take_int32(&at) : 0; n > 0; n--) {
        int32_t len = take_int32(&at);
        bool is_name = len == sizeof key - 1 && !memcmp(at, key, sizeof key - 1);

        at += len;
        len = take_int32(&at);
        if (is_name)
            return len == sizeof uuid - 1 && !memcmp(at, uuid, sizeof uuid - 1);
        at += len;
    }
    return false;
}

bool nd_arrow_is_struct(const struct ArrowSchema *schema)
{
    return !schema->dictionary && !strcmp(schema->format, "+s");
}

int64_t nd_arrow_integer(const struct ArrowArray *a, char format, int64_t i)
{
    const char *values = a->buffers[1];
    int16_t s;
    int64_t l;

    switch (format) {
    case 'c': return ((const int8_t *)values)[i];
    case 'C': return ((const uint8_t *)values)[i];
    case 's': memcpy(&s, values + 2 * i, sizeof s); return s;
    case 'S': memcpy(&s, values + 2 * i, sizeof s); return (uint16_t)s;
    case 'i': return nd_arrow_int32(values + 4 * i);
    case 'I': return (uint32_t)nd_arrow_int32(values + 4 * i);
    default: memcpy(&l, values + 8 * i, sizeof l); return l;
    }
}

/* ---- Faults ---- */

static const char *type_fault(const struct ArrowSchema *schema);

/* Check that lists have a type of their items.  Lists of lists are not read, nor looked into. */
static const char *items_fault(const struct ArrowSchema *schema)
{
    const struct ArrowSchema *item;

    if (schema->n_children != 1 || !schema->children || !schema->children[0])
        return "a list does not have one type of items";
    item = schema->children[0];
    return item->format && nd_arrow_is_list(nd_arrow_kind(item)) ? NULL : type_fault(item);
}

static const char *type_fault(const struct ArrowSchema *schema)
{
    const char *f = schema->format;

    if (!f)
        return "a type has no format";
    if (!schema->dictionary)
        return nd_arrow_is_list(nd_arrow_kind(schema)) ? items_fault(schema) : NULL;
    if (!f[0] || !strchr("cCsSiIlL", f[0]) || f[1])
        return "the indices of a dictionary are not integers";
    if (!schema->dictionary->format)
        return "a type has no format";
    return schema->dictionary->dictionary ? "a dictionary holds a dictionary" : NULL;
}

const char *nd_arrow_schema_fault(const struct ArrowSchema *schema)
{
    const char *fault = type_fault(schema);

    if (fault || !nd_arrow_is_struct(schema))
        return fault;
    if (schema->n_children < 0 || (schema->n_children > 0 && !schema->children))
        return "the children of a schema are missing";
    for (int64_t i = 0; !fault && i < schema->n_children; i++)
        fault = schema->children[i] ? type_fault(schema->children[i])
                                    : "the children of a schema are missing";
    return fault;
}

/* Check the numbers of an array, and that it has its buffers.  NULL: nothing is wrong. */
static const char *shape_fault(const struct ArrowArray *a, int64_t n_buffers)
{
    if (!a)
        return "an array is missing";
    if (a->length < 0 || a->offset < 0 || a->offset > INT64_MAX / 16 - a->length)
        return "an array has a negative or too great length or offset";
    if (a->n_buffers < n_buffers || (n_buffers > 0 && !a->buffers))
        return "an array lacks buffers";
    return NULL;
}

/* Check the offsets of n values; *begin and *end are where all of them begin and end. */
static const char *offsets_fault(const struct ArrowArray *a, enum nd_arrow_kind kind, int64_t first,
                                 int64_t n, int64_t *begin, int64_t *end)
{
    int64_t before;

    if (!a->buffers[1])
        return "an array lacks offsets";
    *begin = before = nd_arrow_offset(a, kind, first);
    if (*begin < 0)
        return "an array has a negative offset";
    for (int64_t i = first + 1; i <= first + n; i++) {
        *end = nd_arrow_offset(a, kind, i);
        if (*end < before)
            return "the offsets of an array go backwards";
        before = *end;
    }
    return NULL;
}

static const char *texts_fault(const struct ArrowArray *a, enum nd_arrow_kind kind, int64_t first,
                               int64_t n)
{
    int64_t begin = 0, end = 0;
    const char *fault = offsets_fault(a, kind, first, n, &begin, &end);

    return !fault && end > begin && !a->buffers[2] ? "an array lacks its texts" : fault;
}

/* Check n lists, and the items that they have. */
static const char *lists_fault(const struct ArrowSchema *schema, const struct ArrowArray *a,
                               int64_t first, int64_t n)
{
    enum nd_arrow_kind kind = nd_arrow_kind(schema);
    int64_t width = list_width(schema->format), begin = 0, end = 0;
    const char *fault = NULL;

    if (a->n_children != 1 || !a->children || !a->children[0])
        return "an array of lists does not have the array of their items";
    if (kind != ND_ARROW_FIXED_LISTS) {
        fault = offsets_fault(a, kind, first, n, &begin, &end);
    } else if (width > 0 && first > INT64_MAX / width - n) {
        fault = "an array has a negative or too great length or offset";
    } else {
        begin = first * width;
        end = begin + n * width;
    }
    if (!fault && end > a->children[0]->length)
        fault = "a list goes beyond the items that there are";
    return fault ? fault
                 : nd_arrow_array_fault(schema->children[0], a->children[0], begin, end - begin);
}

static const char *views_fault(const struct ArrowArray *a, int64_t first, int64_t n)
{
    int64_t n_data = a->n_buffers - 3, size;
    const char *views = a->buffers[1], *sizes = a->buffers[a->n_buffers - 1];

    if (!views)
        return "an array lacks its views";
    for (int64_t i = first; i < first + n; i++) {
        const char *view = views + 16 * i;
        int32_t len = nd_arrow_int32(view), buffer, offset;

        if (!nd_arrow_is_valid(a, i))
            continue;
        if (len < 0)
            return "a view has a negative length";
        if (len <= 12)
            continue;
        buffer = nd_arrow_int32(view + 8);
        offset = nd_arrow_int32(view + 12);
        if (buffer < 0 || buffer >= n_data || !sizes || !a->buffers[2 + buffer])
            return "a view names a buffer that is not there";
        memcpy(&size, sizes + 8 * (int64_t)buffer, sizeof size);
        if (offset < 0 || size < (int64_t)offset + len)
            return "a view goes beyond its buffer";
    }
    return NULL;
}

static const char *indices_fault(const struct ArrowSchema *schema, const struct ArrowArray *a,
                                 int64_t first, int64_t n)
{
    const char *fault;

    if (!a->buffers[1] || !a->dictionary)
        return "an array lacks its dictionary";
    fault = nd_arrow_array_fault(schema->dictionary, a->dictionary, 0, a->dictionary->length);
    for (int64_t i = first; !fault && i < first + n; i++) {
        int64_t index;

        if (!nd_arrow_is_valid(a, i))
            continue;
        index = nd_arrow_integer(a, schema->format[0], i);
        if (index < 0 || index >= a->dictionary->length)
            fault = "an index lies outside its dictionary";
    }
    return fault;
}

const char *nd_arrow_array_fault(const struct ArrowSchema *schema, const struct ArrowArray *a,
                                 int64_t first, int64_t n)
{
    enum nd_arrow_kind kind = nd_arrow_kind(schema);
    bool is_fixed = kind == ND_ARROW_NUMBERS || kind == ND_ARROW_DECIMALS ||
                    kind == ND_ARROW_FIXED_BYTES || kind == ND_ARROW_DICTIONARY;
    bool has_two = is_fixed || kind == ND_ARROW_LISTS || kind == ND_ARROW_LARGE_LISTS;
    const char *fault = shape_fault(a, kind == ND_ARROW_NOTHING       ? 0
                                       : kind == ND_ARROW_FIXED_LISTS ? 1
                                       : has_two                      ? 2
                                                                      : 3);

    if (fault)
        return fault;
    if (n < 0 || first < 0 || first > a->length || n > a->length - first)
        return "a column has fewer rows than its table";
    if (n == 0)
        return NULL;
    first += a->offset;
    switch (kind) {
    case ND_ARROW_STRINGS:
    case ND_ARROW_LARGE_STRINGS: return texts_fault(a, kind, first, n);
    case ND_ARROW_LISTS:
    case ND_ARROW_LARGE_LISTS:
    case ND_ARROW_FIXED_LISTS: return lists_fault(schema, a, first, n);
    case ND_ARROW_STRING_VIEWS: return views_fault(a, first, n);
    case ND_ARROW_DICTIONARY: return indices_fault(schema, a, first, n);
    case ND_ARROW_DECIMALS:
    case ND_ARROW_FIXED_BYTES:
    case ND_ARROW_NUMBERS: return a->buffers[1] ? NULL : "an array lacks its values";
    default: return NULL;
    }
}

const char *nd_arrow_struct_fault(const struct ArrowSchema *schema, const struct ArrowArray *a)
{
    const char *fault = shape_fault(a, a && a->n_buffers > 0 ? 1 : 0);

    if (fault)
        return fault;
    return a->n_children != schema->n_children || (a->n_children > 0 && !a->children)
               ? "an array does not have the columns of its schema"
               : NULL;
}
