/* keys.h - tables of recipe keys, and the INI text that fills what they describe */
#ifndef ND_RECIPE_KEYS_H
#define ND_RECIPE_KEYS_H

#include <neardup/error.h>
#include <neardup/types.h>

#include "base/memory.h"

/* What must agree before two sketches may be compared, and what is free to change. */
enum nd_recipe_half { ND_HALF_SKETCH = 1, ND_HALF_DECIDE = 2 };

enum nd_key_type {
    ND_KEY_FIXED,  /* one value only, values[0]: recorded, stored nowhere */
    ND_KEY_INT,    /* unsigned */
    ND_KEY_REAL,   /* double, at most 9 digits after the point */
    ND_KEY_RATIO,  /* struct nd_ratio */
    ND_KEY_ENUM,   /* unsigned or an enum: the place of the word in values */
    ND_KEY_STRING, /* char[greatest + 1] */
};

/* One key of a layer's parameter struct.  Names are unique in a table of all halves. */
struct nd_recipe_key {
    enum nd_recipe_half half; /* its section: [sketch] or [decide] */
    const char *name;
    enum nd_key_type type;
    size_t offset;             /* of the field in the parameter struct */
    double least, greatest;    /* of a number (a ratio is above 0); a string's greatest length */
    const char *const *values; /* of an enum or a fixed key, */
    size_t n_values;           /* so many */
};
#define ND_KEYS_MAX 64 /* keys in a table, at most */

/*
 * Fill *values from INI text; keys that it does not name keep what they have.  `name` is what
 * messages call the text: "name:line: reason".  ND_EINVAL, with some of *values already written.
 */
enum nd_status nd_keys_parse(const struct nd_recipe_key *keys, size_t n_keys, const char *name,
                             const char *text, size_t len, void *values, struct nd_error *err);

/* The same for one "key=value", as from a command line.  ND_EINVAL. */
enum nd_status nd_keys_set(const struct nd_recipe_key *keys, size_t n_keys, const char *assignment,
                           void *values, struct nd_error *err);

/*
 * Append the canonical form of the halves named (a set of enum nd_recipe_half): each section that
 * has keys, in alphabetical order, with all its keys in alphabetical order, defaults written out.
 * It reads back to the same values.  ND_EINVAL where a value is none that a recipe can say;
 * ND_ENOMEM.
 */
enum nd_status nd_keys_canonical(const struct nd_recipe_key *keys, size_t n_keys, unsigned halves,
                                 const void *values, struct nd_buffer *out, struct nd_error *err);

/* How much of a value from outside a message repeats: for printf's %.*s. */
static inline int nd_view_shown(struct nd_view view)
{
    return view.len < 40 ? (int)view.len : 40;
}

/* The name of a section. */
const char *nd_recipe_half_name(enum nd_recipe_half half);

/* Read one value as its key says (key_value.c).  ND_EINVAL, with a reason that names no line. */
enum nd_status nd_key_read(const struct nd_recipe_key *key, struct nd_view value, void *values,
                           struct nd_error *err);

/* Append one value in its canonical spelling. */
enum nd_status nd_key_write(const struct nd_recipe_key *key, const void *values,
                            struct nd_buffer *out, struct nd_error *err);

#endif
