/* json_walk.h - the wanted values of a JSON object, all of it checked */
#ifndef ND_INPUT_JSON_WALK_H
#define ND_INPUT_JSON_WALK_H

#include <neardup/types.h>

#include "base/memory.h"
#include "input/jsonl_simdjson.h"

enum nd_json_kind {
    ND_JSON_ABSENT,
    ND_JSON_NULL,
    ND_JSON_STRING,
    ND_JSON_NUMBER,
    ND_JSON_BOOL,
    ND_JSON_OBJECT,
    ND_JSON_ARRAY
};

/* A string without its quotes and escapes; anything else as its own bytes. */
struct nd_json_value {
    enum nd_json_kind kind;
    struct nd_view bytes;
};

enum { ND_JSON_PATHS_MAX = 64, ND_JSON_DEPTH_MAX = 1024 };

/*
 * The values at `paths` ("text", "meta.lang") of one object.  A key that is the whole path, dots
 * and all, comes before a nested one, and of equal keys the first.  Strings without escapes are
 * views into `text`, others stand in the arena; a lone surrogate is U+FFFD.
 *
 * ND_JSON_INDEXED: `values` is filled.  Otherwise what is wrong; *reason says so in words where it
 * is neither memory nor UTF-8 (ND_JSON_NOTHING stands for every other error of syntax).
 */
enum nd_json_found nd_json_walk(struct nd_json_indexer *indexer, const char *text, size_t len,
                                const struct nd_view *paths, size_t n_paths, struct nd_arena *arena,
                                struct nd_json_value *values, const char **reason);

#endif
