/* arrow.h - the structs of the Arrow C data and stream interfaces, as their specification gives them,
 * and what of them is read */
#ifndef ND_PYTHON_ARROW_H
#define ND_PYTHON_ARROW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ARROW_FLAG_NULLABLE 2

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* How the values of an Arrow type are read. */
enum nd_arrow_kind {
    ND_ARROW_STRINGS,
    ND_ARROW_LARGE_STRINGS,
    ND_ARROW_STRING_VIEWS,
    ND_ARROW_NUMBERS,
    ND_ARROW_DECIMALS,
    ND_ARROW_FIXED_BYTES,
    ND_ARROW_DICTIONARY,
    ND_ARROW_LISTS,
    ND_ARROW_LARGE_LISTS,
    ND_ARROW_FIXED_LISTS,
    ND_ARROW_NOTHING,
    ND_ARROW_UNREADABLE
};
enum nd_arrow_kind nd_arrow_kind(const struct ArrowSchema *schema);

/* Bytes of a value of decimals or of fixed bytes; 0: it is of another kind, or the format is none.
 * scale (NULL allowed): digits behind a decimal's point. */
size_t nd_arrow_width(const char *format, int *scale);

/* Whether a type is one of lists, whose items are its only child. */
bool nd_arrow_is_list(enum nd_arrow_kind kind);

/* Find where the items of list i begin and end among those of its child, both offsets of arrays left
 * out. */
void nd_arrow_items(const struct ArrowSchema *schema, const struct ArrowArray *a, int64_t i,
                    int64_t *begin, int64_t *end);

/* Whether values of 16 bytes are UUIDs, as the extension type of Arrow says. */
bool nd_arrow_is_uuid(const struct ArrowSchema *schema);

/* Whether a schema has columns. */
bool nd_arrow_is_struct(const struct ArrowSchema *schema);

/*
 * Return what is wrong with a schema, or with rows first to first + n of an array of a kind that
 * can be read; NULL: nothing.  Whoever passes this may read each row.  The lengths of buffers are
 * not in the interface: except of string views, they are taken to be what the offsets say.
 */
const char *nd_arrow_schema_fault(const struct ArrowSchema *schema);
const char *nd_arrow_array_fault(const struct ArrowSchema *schema, const struct ArrowArray *a,
                                 int64_t first, int64_t n);

/* Return what is wrong with an array of columns itself, not with its children; NULL: nothing. */
const char *nd_arrow_struct_fault(const struct ArrowSchema *schema, const struct ArrowArray *a);

/* The name of a column; it may have none. */
static inline const char *nd_arrow_name(const struct ArrowSchema *schema)
{
    return schema->name ? schema->name : "";
}

/* Values of buffers that need not be aligned: i counts from the first, the array's offset included. */
static inline bool nd_arrow_is_valid(const struct ArrowArray *a, int64_t i)
{
    const uint8_t *bits = a->n_buffers > 0 ? a->buffers[0] : NULL;

    return !bits || bits[i / 8] >> i % 8 & 1;
}

static inline int64_t nd_arrow_offset(const struct ArrowArray *a, enum nd_arrow_kind kind,
                                      int64_t i)
{
    int32_t small;
    int64_t large;

    if (kind == ND_ARROW_STRINGS || kind == ND_ARROW_LISTS) {
        memcpy(&small, (const char *)a->buffers[1] + 4 * i, sizeof small);
        return small;
    }
    memcpy(&large, (const char *)a->buffers[1] + 8 * i, sizeof large);
    return large;
}

static inline int32_t nd_arrow_int32(const void *at)
{
    int32_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

int64_t nd_arrow_integer(const struct ArrowArray *a, char format, int64_t i);

#endif
