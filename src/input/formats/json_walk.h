/* json_walk.h - JSON (RFC 8259): the wanted values of an object, all of it checked */
#ifndef ND_INPUT_FORMATS_JSON_WALK_H
#define ND_INPUT_FORMATS_JSON_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/types.h>

#include "base/memory.h"
#include "input/formats/jsonl_simdjson.h"

enum nd_json_kind {
    ND_JSON_ABSENT,
    ND_JSON_NULL,
    ND_JSON_STRING,
    ND_JSON_NUMBER,
    ND_JSON_BOOL,
    ND_JSON_OBJECT,
    ND_JSON_ARRAY
};

/* A string without its quotes, with escapes decoded; anything else as its own bytes. */
struct nd_json_value {
    enum nd_json_kind kind;
    struct nd_view bytes;
    struct nd_view raw;           /* as in the record: between the quotes, with the escapes */
    uint64_t replaced;            /* by U+FFFD in `bytes`; 0: nothing (nd_utf8_replaced) */
    unsigned char has_surrogates; /* lone ones were escaped in it, or in one of the next, and are
                                     U+FFFD in `bytes` */
    bool is_doubled;              /* its object has the key again, with a value that is ignored */
    struct nd_json_value *next;   /* next value of a path through arrays, in the arena */
};

enum { ND_JSON_PATHS_MAX = 64, ND_JSON_DEPTH_MAX = 1024 };

/*
 * The values at `paths` ("text", "meta.lang") of one object.  A key that is the whole path, dots
 * and all, comes before a nested one, and of equal keys the first.  Strings without escapes are
 * views into `text`, others stand in the arena; a lone surrogate is U+FFFD.
 *
 * In the first n_lists paths a "*" between dots, or at the end, stands for every element of an
 * array as well ("messages.*.content"): what is found below them are several values, in their
 * order.
 *
 * ND_JSON_INDEXED: `values` is filled.  Otherwise what is wrong; *reason says so in words where it
 * is neither memory nor UTF-8 (ND_JSON_NOTHING stands for every other error of syntax).
 */
enum nd_json_found nd_json_walk(struct nd_json_indexer *indexer, const char *text, size_t len,
                                const struct nd_view *paths, size_t n_paths, size_t n_lists,
                                struct nd_arena *arena, struct nd_json_value *values,
                                const char **reason);

/* Whether every escape between the quotes is valid. */
bool nd_json_escapes_valid(const char *p, size_t len);

/*
 * Decode the bytes between quotes to text. `p` must be readable and `out` writable 64 bytes beyond
 * len. Returns the length of the text; SIZE_MAX if an escape is invalid. *has_surrogates becomes 1
 * if an escape is a lone surrogate, which becomes U+FFFD.
 */
size_t nd_json_unescape(const char *p, size_t len, char *out, unsigned char *has_surrogates);

/*
 * The next place from *at on, between quotes whose escapes are valid, that is U+FFFD in the text.
 * *packed is what it was before (base/replaced_hash.h) where it is an escape, and 0 where it stands
 * as it is.  False: there is none.
 */
bool nd_json_next_replaced(const char **at, const char *end, uint32_t *packed);

bool nd_json_number_valid(const char *p, size_t len);

#endif
