/* sketch_file_layout.h - the bytes of a sketch file (docs/format/sketch-file.md) */
#ifndef ND_RECORD_SKETCH_FILE_LAYOUT_H
#define ND_RECORD_SKETCH_FILE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include <neardup/sketch_file.h>

#define ND_SKETCH_FILE_MAGIC "NDSKTCH\n"
#define ND_SKETCH_NO_ENTRY UINT32_MAX

enum {
    ND_SKETCH_FILE_VERSION = 2,
    ND_SKETCH_HEAD_BYTES = 4096,
    ND_SKETCH_FILE_RECIPE_AT = 2 * ND_SKETCH_HEAD_BYTES,
    ND_SKETCH_RECIPE_MAX = 1 << 20,
    ND_SKETCH_BLOCK_BYTES = 4 << 20, /* a block is complete from here on */
    ND_SKETCH_HAS_SHINGLES = 1,      /* flags of a file */
    ND_SKETCH_HAS_MINIMA = 2,
    ND_SKETCH_FLAGS = 3,
    ND_SKETCH_FIELD_NAME_MAX = 200
};
#define ND_SKETCH_NO_VALUE UINT32_MAX

/* A signature of the recipe (struct nd_sketch_signature). */
struct nd_sketch_stored_signature {
    uint8_t kind, form;
    uint16_t words; /* 0: their number varies */
    uint32_t bits;
};

/* The first bytes of a head; zeroes follow. */
struct nd_sketch_head {
    char magic[8];
    uint32_t version, flags;
    uint64_t generation;
    uint64_t recipe_fingerprint, recipe_hash;
    uint32_t recipe_bytes, n_signatures;
    uint64_t documents;
    uint64_t directory, directory_bytes, directory_hash;
    uint64_t end;
    uint32_t blocks, sources;
    uint64_t hash;
    uint32_t part, parts; /* 0, 0: it is no part */
    struct nd_sketch_stored_signature signature[ND_RECIPE_SIGNATURES];
    uint32_t n_fields, names_bytes; /* the names of the fields follow, each with a zero behind it */
};
_Static_assert(sizeof(struct nd_sketch_head) == 152, "a head has no padding");

/* As it is in the file. */
union nd_sketch_head_page {
    struct nd_sketch_head head;
    unsigned char bytes[ND_SKETCH_HEAD_BYTES];
};

struct nd_sketch_block_entry {
    uint64_t offset, row_bytes, shingle_bytes;
    uint32_t documents, zero;
};
_Static_assert(sizeof(struct nd_sketch_block_entry) == 32, "an entry has no padding");

struct nd_sketch_source_head {
    uint64_t bytes_hash, records;
    uint32_t path_bytes, entry_bytes;
};

/* The beginning of a row.  The low bytes follow where the file keeps minima, then the signatures where
 * the recipe has some (struct nd_sketch_signatures_head), the values of fields where the file keeps
 * some (struct nd_sketch_value_head), and the id. */
struct nd_sketch_row_head {
    uint32_t check;         /* of the rest of the row and its place (nd_sketch_row_seal) */
    uint32_t shingle_check; /* of the coded shingles (nd_shingle_code_check) */
    uint64_t text_hash[2];
    uint64_t identity, simhash, tokens, text_bytes;
    uint32_t n_shingles, source;
    uint64_t offset, line;
    uint32_t id_bytes;
    uint8_t id_kind;
    uint8_t signed_by; /* bit i: signature i is not rejected */
    uint8_t zero[2];
};
_Static_assert(sizeof(struct nd_sketch_row_head) == 88, "a row has no padding");

/* The words of the signatures follow, in the order of the recipe: as many as the head of the file says,
 * or where their number varies a word that counts them, and they. */
struct nd_sketch_signatures_head {
    uint64_t length, beside;
};

/* The value of a field; the bytes of all values follow, one behind the other, padded to 8. */
struct nd_sketch_value_head {
    uint64_t replaced;
    uint32_t bytes; /* ND_SKETCH_NO_VALUE: there is none */
    uint32_t zero;
};
_Static_assert(sizeof(struct nd_sketch_value_head) == 16, "a value has no padding");

/* ---- Rows (row.c) ---- */

/* Return the bytes that a row of such a file has at least. */
size_t nd_sketch_row_least(const struct nd_sketch_head *file);
/* Return the bytes of this row in such a file, without its shingles. */
size_t nd_sketch_row_bytes(const struct nd_sketch_head *file, const struct nd_sketch_row *row);
/* Write the row, of so many bytes of zeroes, in the layout of such a file, and without a checksum. */
void nd_sketch_row_write(const struct nd_sketch_head *file, const struct nd_sketch_row *row,
                         uint32_t shingle_check, char *at);
/* Return the bytes of the row at `at`, a multiple of 8 in memory, in a file with such a head; 0: it
 * is longer than `left` or cannot be right. */
size_t nd_sketch_row_measure(const struct nd_sketch_head *file, const char *at, size_t left);
/* Fill in *row, which points into the bytes, and return their number as nd_sketch_row_measure does.
 */
size_t nd_sketch_row_parse(const struct nd_sketch_head *file, const char *at, size_t left,
                           struct nd_sketch_row *row);
/* Give a row of so many bytes, which begins at `offset` of its file, its checksum. */
void nd_sketch_row_seal(char *at, size_t len, uint64_t offset);
/* Return the bytes of the row that begins at `offset` of its file, as nd_sketch_row_measure does; 0
 * also where its checksum is wrong or its source is none of the file. */
size_t nd_sketch_row_check(const struct nd_sketch_head *file, const char *at, size_t left,
                           uint64_t offset);
/* Check that the coded shingles are those of the row. */
bool nd_sketch_row_has_code(const char *row, const char *code);

static inline uint64_t nd_padded(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

/* ---- The code of the shingles (shingle_code.c) ---- */

/* The bytes of n shingles in this code: a multiple of 8. */
ND_API uint64_t nd_shingle_code_bytes(uint64_t n);
/* The checksum of the code of n shingles; 0 for none. */
uint32_t nd_shingle_code_check(const void *code, uint64_t n);
/* n ascending shingles, n > 0, into so many bytes of zeroes. */
void nd_shingle_code_write(const uint64_t *shingle, size_t n, uint64_t *out);
/* The reverse; 8 more bytes are readable.  False: these are not n ascending shingles. */
ND_API bool nd_shingle_code_read(const uint64_t *code, size_t n, uint64_t *shingle);

/* ---- What an addition needs of a reader and of a writer ---- */

/* The head that holds, which of the two it is, and the directory. */
const union nd_sketch_head_page *nd_sketch_file_head(const struct nd_sketch_file *file,
                                                     unsigned *which, struct nd_view *directory);

/* Write exactly so many bytes there.  ND_EIO (of `name`). */
enum nd_status nd_sketch_write_at(int fd, const char *name, const void *data, size_t len,
                                  uint64_t at, struct nd_error *err);
/* A writer that goes on behind the end of a file, whose descriptor stays the caller's.  NULL:
 * ND_ENOMEM. */
struct nd_sketch_writer *nd_sketch_writer_resume(int fd, const char *name,
                                                 const union nd_sketch_head_page *page,
                                                 struct nd_view directory, struct nd_error *err);
/* Write the last block and the directory.  *page is the head of the file with all of it, of the
 * generation before and without its checksum. */
enum nd_status nd_sketch_writer_end(struct nd_sketch_writer *writer,
                                    union nd_sketch_head_page *page, struct nd_error *err);

/* ---- Heads (sketch_file_head.c) ---- */

/* Give a head its checksum. */
void nd_sketch_head_seal(union nd_sketch_head_page *page);
/* Whether it is a head of this version, unaltered; where it is not, why. */
enum nd_status nd_sketch_head_check(const union nd_sketch_head_page *page, const char *path,
                                    struct nd_error *err);

#endif
