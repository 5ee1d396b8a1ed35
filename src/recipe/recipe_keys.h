/* recipe_keys.h - the keys of a recipe as rows of two tables, from which all that handles keys follows */
#ifndef ND_RECIPE_RECIPE_KEYS_H
#define ND_RECIPE_RECIPE_KEYS_H

#include "base/memory.h"
#include "recipe/recipe_struct.h"

#include <neardup/feature.h>

#include <stdbool.h>
#include <stddef.h>

/* The two sections without a name: what must agree before two sketches may be compared, and what is
 * free to change. */
enum nd_recipe_half { ND_HALF_SKETCH, ND_HALF_DECIDE };

/* How a value is written, and what holds it in the struct. */
enum nd_key_type {
    ND_KEY_FIXED,  /* one value only, words[0]: written, but stored nowhere */
    ND_KEY_INT,    /* unsigned */
    ND_KEY_REAL,   /* double, with at most 9 digits after the point */
    ND_KEY_RATIO,  /* struct nd_ratio, above 0 */
    ND_KEY_ENUM,   /* unsigned or an enum: the index of a word in words */
    ND_KEY_YES,    /* unsigned char: yes or no */
    ND_KEY_WHOLE,  /* uint64_t, in decimal digits */
    ND_KEY_HEX,    /* uint64_t, as 0x1b */
    ND_KEY_STRING, /* char[max + 1] */
    ND_KEY_PATH,   /* the same; in a file, a relative path is below the file's folder */
    ND_KEY_NAME,   /* the same, and one of words */
};

/*
 * One key.  Its name is unique in its section.  The values of a section are a struct: struct
 * nd_recipe for [sketch] and [decide], struct nd_recipe_signature for [signature NAME].
 */
struct nd_recipe_key {
    enum nd_recipe_half half; /* its section; in a section [signature NAME]: ND_HALF_SKETCH */
    const char *name;
    enum nd_key_type type;
    size_t offset;            /* of the value in the struct */
    double min, max;          /* limits of a number, or of a string's length in bytes */
    const char *const *words; /* of ND_KEY_ENUM, ND_KEY_NAME and ND_KEY_FIXED */
    size_t n_words;
    const char *(*word)(size_t i); /* in place of `words`, where a table elsewhere has them */
    /* For strings: writes what is kept of the value to out, of max + 1 bytes.  NULL: all of it. */
    enum nd_status (*tidy)(struct nd_view value, char *out, size_t size, struct nd_error *err);
    /* For paths: whether the value is a word of its own instead.  NULL: it never is. */
    bool (*is_word)(struct nd_view value);
    /* Whether anything reads the key, given the other values; NULL: always.  A key that nothing
     * reads must not be given, and the canonical text leaves it out. */
    bool (*is_read)(const void *values);
    /* The readers of the key, for messages: "where kind is minhash".  UNITS stands for the list of
     * the units of which `units` is true. */
    const char *reader;
    bool (*units)(enum nd_feature_unit unit);
    /* If nothing reads the key, a warning says so; it may be given, and is written. */
    bool is_lax;
    /* A key that came later than fingerprints were given out: whether the canonical text leaves it
     * out, as it has its default.  NULL: it never does. */
    bool (*is_unsaid)(const void *values);
    /* It says where something is, not what: the fingerprint leaves it out. */
    bool is_place;
};

/* The most keys of a section, the most words of a key, and the most bytes of nd_key_reader. */
enum { ND_KEYS_MAX = 96, ND_WORDS_MAX = 64, ND_READER_MAX = 256 };

/* Word i of a key; beyond the last NULL. */
const char *nd_key_word(const struct nd_recipe_key *key, size_t i);
/* Write who reads a key, for messages. */
void nd_key_reader(const struct nd_recipe_key *key, char out[ND_READER_MAX]);

/* The keys of [sketch] and [decide], and those of every [signature NAME]; behind the last stands a
 * row without a name. */
extern const struct nd_recipe_key nd_recipe_keys[], nd_signature_keys[];

/*
 * Read a value to its field of `values`, or append it to a text (value.c); `folder` is what a
 * relative path is below, with its slash.  `err` is not NULL.  ND_EINVAL: the message begins with the
 * name of the key; ND_ENOMEM.
 */
enum nd_status nd_key_read(const struct nd_recipe_key *key, struct nd_view value,
                           struct nd_view folder, void *values, struct nd_error *err);
enum nd_status nd_key_write(const struct nd_recipe_key *key, const void *values,
                            struct nd_buffer *out, struct nd_error *err);

#endif
