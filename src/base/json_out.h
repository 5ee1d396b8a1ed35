/* json_out.h - writing JSON and TSV into a buffer that grows */
#ifndef ND_BASE_JSON_OUT_H
#define ND_BASE_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "base/memory.h"
#include "base/number/number.h"

/*
 * Text under construction. Starts from zeroes. Commas between values are added automatically. A
 * failed allocation is remembered in `failed`, so it is enough to check that at the end.
 */
struct nd_json {
    struct nd_buffer text;
    bool failed;
    bool after_value; /* the next value or key needs a comma before it */
};
void nd_json_release(struct nd_json *j);

/* Open or close an object or array: '{', '[' and their ends. */
void nd_json_open(struct nd_json *j, char bracket);
void nd_json_close(struct nd_json *j, char bracket);
/* Write the key of the next value: ASCII without characters to escape. */
void nd_json_key(struct nd_json *j, const char *key);
/* Write a key that may need escapes. */
void nd_json_name(struct nd_json *j, struct nd_view key);
/* End a row of JSON Lines. */
void nd_json_line(struct nd_json *j);

/* Write a value. A byte that is not valid UTF-8 becomes the four characters \xNN, as in a path. */
void nd_json_string(struct nd_json *j, struct nd_view value);
void nd_json_text(struct nd_json *j, const char *value);
void nd_json_uint(struct nd_json *j, uint64_t value);
/* Write the shortest decimal that reads back as the same double; null if it is not finite. */
void nd_json_double(struct nd_json *j, double value);
void nd_json_bool(struct nd_json *j, bool value);
void nd_json_null(struct nd_json *j);
/* Write bytes that are JSON already. */
void nd_json_raw(struct nd_json *j, struct nd_view value);
/* Write 16 hexadecimal digits in quotes. */
void nd_json_hex(struct nd_json *j, uint64_t value);

/* Write a key and its value. */
void nd_json_put_uint(struct nd_json *j, const char *key, uint64_t value);
void nd_json_put_double(struct nd_json *j, const char *key, double value);
void nd_json_put_bool(struct nd_json *j, const char *key, bool value);
void nd_json_put_text(struct nd_json *j, const char *key, const char *value);
void nd_json_put_string(struct nd_json *j, const char *key, struct nd_view value);
void nd_json_put_hex(struct nd_json *j, const char *key, uint64_t value);

/* Hand over the text, which the caller then frees with free(). ND_ENOMEM: it is incomplete. */
enum nd_status nd_json_take(struct nd_json *j, char **text, size_t *len, struct nd_error *err);

/* Append bytes unchanged, without a comma: for TSV and lines. */
void nd_json_bytes(struct nd_json *j, const void *data, size_t len);
/*
 * Append a field of TSV: tab, newline, carriage return and backslash are escaped, bytes that are
 * not valid UTF-8 become \xNN.
 */
void nd_tsv_field(struct nd_json *j, struct nd_view value);
/*
 * Append a cell of CSV (RFC 4180), in quotes if needed; bytes that are not valid UTF-8 become \xNN.
 */
void nd_csv_cell(struct nd_json *j, struct nd_view value);

#endif
