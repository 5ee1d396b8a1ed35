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
    ND_KEY_YES,    /* unsigned char: yes or no */
    ND_KEY_WHOLE,  /* uint64_t, written in decimal digits */
    ND_KEY_HEX,    /* uint64_t, written 0x1b */
    ND_KEY_STRING, /* char[greatest + 1]; empty where least is 0 */
    ND_KEY_PATH,   /* the same; in a recipe file, a relative one is below the file's folder */
    ND_KEY_NAME,   /* the same, and one of values */
};

/* One key of a layer's parameter struct.  Names are unique in a section. */
struct nd_recipe_key {
    enum nd_recipe_half half; /* its section: [sketch] or [decide]; in a named one: [sketch] */
    const char *name;
    enum nd_key_type type;
    size_t offset;             /* of the field in the parameter struct */
    double least, greatest;    /* of a number (a ratio is above 0); a string's lengths */
    const char *const *values; /* of an enum, a name or a fixed key, */
    size_t n_values;           /* so many */
    /* Strings: what is kept of the value, in *out, of greatest + 1 bytes.  NULL: all of it. */
    enum nd_status (*tidy)(struct nd_view value, char *out, size_t size, struct nd_error *err);
    /* Paths: whether the value is a word of its own instead.  NULL: it never is. */
    bool (*is_word)(struct nd_view value);
    /* Whether anything reads the key, by what the others say; NULL: always.  Where nothing does,
     * the key may not be given, and the canonical form leaves it out. */
    bool (*is_read)(const void *values);
    const char *reader; /* "where kind is minhash": who does, for messages */
    bool is_lax;        /* where nothing reads it, it is warned of, not refused, and is written */
    bool is_place;      /* says where something is, not what: no part of the fingerprint */
};
#define ND_KEYS_MAX 96 /* keys in a table, or in those of a named section, at most */

struct nd_key_table {
    const struct nd_recipe_key *key;
    size_t n;
};

/* All keys of a recipe, and where their values stand. */
struct nd_recipe_schema {
    const struct nd_key_table *plain;        /* of the sections [sketch] and [decide] */
    const char *section;                     /* "signature": there are sections [signature NAME] */
    const struct nd_key_table *const *named; /* their keys, in so many tables: */
    size_t n_named;
    /* The values of the section of this name; NULL, *err: there is none, or no room for it. */
    void *(*add)(void *values, struct nd_view name, struct nd_error *err);
    /* Names of the sections, in alphabetical order, and their values; NULL: there are no more. */
    const char *(*nth)(const void *values, size_t i, const void **section);
    /* Whether the values of a section, and those of the whole recipe, fit together.  ND_EINVAL: the
     * message begins with the name of a key. */
    enum nd_status (*section_fits)(const void *section, struct nd_error *err);
    enum nd_status (*fits)(const void *values, struct nd_error *err);
};

/*
 * Fill *values from INI text; keys that it does not name keep what they have.  `name` is what
 * messages call the text: "name:line: reason"; relative paths are below its folder.  ND_EINVAL,
 * with some of *values already written.
 */
enum nd_status nd_keys_parse(const struct nd_recipe_schema *schema, const char *name,
                             const char *text, size_t len, void *values, struct nd_error *err);

/*
 * The same for one "key=value" or "name.key=value", as from a command line.  Whether anything reads
 * the key is left to nd_keys_check, since another assignment may follow.  ND_EINVAL.
 */
enum nd_status nd_keys_set(const struct nd_recipe_schema *schema, const char *assignment,
                           void *values, struct nd_error *err);

/*
 * ND_EINVAL: a key that nothing reads has another value than in *defaults and *named_defaults, or
 * values do not fit together.
 */
enum nd_status nd_keys_check(const struct nd_recipe_schema *schema, const void *values,
                             const void *defaults, const void *named_defaults,
                             struct nd_error *err);

/* The i-th plain key that is lax, that nothing reads, and that is not at its default: what a
 * warning says of it.  False: there are no more. */
bool nd_keys_warning(const struct nd_recipe_schema *schema, const void *values,
                     const void *defaults, size_t i, struct nd_error *warning);

/*
 * Append the canonical form of the halves named (a set of enum nd_recipe_half): each section that
 * has keys, in alphabetical order, with all its keys that are read in alphabetical order, defaults
 * written out.  Named sections are part of the sketch half.  It reads back to the same values.
 * With `is_hashed`, what says only where something is stays out.  ND_EINVAL where a value is none
 * that a recipe can say; ND_ENOMEM.
 */
enum nd_status nd_keys_canonical(const struct nd_recipe_schema *schema, unsigned halves,
                                 bool is_hashed, const void *values, struct nd_buffer *out,
                                 struct nd_error *err);

/* How much of a value from outside a message repeats: for printf's %.*s. */
static inline int nd_view_shown(struct nd_view view)
{
    return view.len < 40 ? (int)view.len : 40;
}

/* Blanks at both ends left out. */
struct nd_view nd_view_trim(const char *data, const char *end);
bool nd_view_is(struct nd_view view, const char *word);

/* The name of a section. */
const char *nd_recipe_half_name(enum nd_recipe_half half);

/* Of the tables' keys the one of this name, its number over all tables in *place; NULL: none. */
const struct nd_recipe_key *nd_key_find(const struct nd_key_table *const *table, size_t n,
                                        struct nd_view name, size_t *place);

/*
 * Read one value as its key says (key_value.c); a relative path goes below `folder`, which ends
 * with a slash or is empty.  ND_EINVAL, with a reason that names no line.
 */
enum nd_status nd_key_read(const struct nd_recipe_key *key, struct nd_view value,
                           struct nd_view folder, void *values, struct nd_error *err);

/* Append one value in its canonical spelling. */
enum nd_status nd_key_write(const struct nd_recipe_key *key, const void *values,
                            struct nd_buffer *out, struct nd_error *err);

#endif
