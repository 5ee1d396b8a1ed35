/* json_out.h - writing JSON and TSV into a buffer that grows */
#ifndef ND_BASE_JSON_OUT_H
#define ND_BASE_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include <neardup/types.h>

#include "base/memory.h"

/*
 * Text under construction.  Starts from zeroes; commas between values are set by themselves.  An
 * allocation that fails is remembered in `failed`, so that only the end need be checked.
 */
struct nd_json {
    struct nd_buffer text;
    bool failed;
    bool after_value; /* the next value or key wants a comma before it */
};
void nd_json_release(struct nd_json *j);

/* '{', '[' and their ends. */
void nd_json_open(struct nd_json *j, char bracket);
void nd_json_close(struct nd_json *j, char bracket);
/* The key of the value that follows; plain ASCII without characters to escape. */
void nd_json_key(struct nd_json *j, const char *key);
/* The same of any key. */
void nd_json_name(struct nd_json *j, struct nd_view key);
/* The end of one JSON Lines row. */
void nd_json_line(struct nd_json *j);

/* Values.  A byte that is no UTF-8 becomes the four characters \xNN, as in a path. */
void nd_json_string(struct nd_json *j, struct nd_view value);
void nd_json_text(struct nd_json *j, const char *value);
void nd_json_uint(struct nd_json *j, uint64_t value);
/* The shortest decimal that reads back as the same double; not finite: null. */
void nd_json_double(struct nd_json *j, double value);
void nd_json_bool(struct nd_json *j, bool value);
void nd_json_null(struct nd_json *j);
/* Bytes that are JSON already. */
void nd_json_raw(struct nd_json *j, struct nd_view value);
/* 16 hexadecimal digits in quotes. */
void nd_json_hex(struct nd_json *j, uint64_t value);

/* Bytes as they are, no comma: for TSV and lines. */
void nd_json_bytes(struct nd_json *j, const void *data, size_t len);
/* A field of TSV: tab, newline, carriage return and backslash escaped, other bytes no UTF-8 as
 * \xNN. */
void nd_tsv_field(struct nd_json *j, struct nd_view value);

/* The digits, without an end; how many. */
enum { ND_UINT_TEXT = 20 };
size_t nd_uint_text(uint64_t value, char out[ND_UINT_TEXT]);
/* The shortest decimal into out[32]; returns its length.  Independent of the locale. */
int nd_double_text(double value, char out[32]);

#endif
