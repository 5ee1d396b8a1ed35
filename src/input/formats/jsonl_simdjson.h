/* jsonl_simdjson.h - the part of simdjson that is used, for C */
#ifndef ND_INPUT_FORMATS_JSONL_SIMDJSON_H
#define ND_INPUT_FORMATS_JSONL_SIMDJSON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum nd_json_found {
    ND_JSON_INDEXED,
    ND_JSON_NO_MEMORY,
    ND_JSON_BAD_UTF8,
    ND_JSON_OPEN_STRING, /* a string is not closed */
    ND_JSON_RAW_CONTROL, /* a control character within a string */
    ND_JSON_NOTHING,     /* white space only */
    ND_JSON_TOO_LONG     /* 4 GB and more */
};

/* The working memory: 4 bytes for each byte of the longest text met. */
struct nd_json_indexer;
struct nd_json_indexer *nd_json_indexer_new(void);
void nd_json_indexer_free(struct nd_json_indexer *indexer);

/*
 * Find the beginnings of the tokens of a JSON text: every { } [ ] : , and the first byte of every
 * string, number and word, in order. Between two of them lie only the rest of the first and white
 * space. The text is valid UTF-8 where this succeeds, and no string holds a raw control character.
 * `text` is readable 64 bytes beyond `len`; *at is valid until the next call.
 */
enum nd_json_found nd_json_index(struct nd_json_indexer *indexer, const char *text, size_t len,
                                 const uint32_t **at, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
