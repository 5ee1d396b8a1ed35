/* saved_texts.h - an index of texts in a file: written whole, mapped and checked (docs/format/texts.md) */
#ifndef ND_ENGINE_SAVED_TEXTS_H
#define ND_ENGINE_SAVED_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/index.h>
#include <neardup/types.h>

enum { ND_SAVED_PAGE = 4096, ND_SAVED_VERSION = 1 };
#define ND_SAVED_MAGIC "NDTEXT\r\n"

enum nd_saved_section {
    ND_SAVED_RECIPE, /* its canonical text */
    ND_SAVED_IDS,    /* of the texts that are not gone: whatever the owner wants */
    ND_SAVED_ROWS,
    ND_SAVED_TEXTS,
    ND_SAVED_INDEX, /* a snapshot; empty: the index is made of the texts */
    ND_SAVED_SECTIONS
};

/* The first page: this, then zeroes. */
struct nd_saved_header {
    char magic[8];
    uint32_t version;
    uint32_t n; /* texts */
    uint64_t next_serial;
    uint64_t bytes[ND_SAVED_SECTIONS];
    uint64_t hash[ND_SAVED_SECTIONS]; /* of the index 0: it has its own */
    uint64_t hash_of_page;            /* with 0 here */
};

/* A text, in the order in which texts were added. */
struct nd_saved_row {
    uint64_t serial;   /* rising */
    uint64_t bytes;    /* of the text */
    uint64_t replaced; /* nd_utf8_replaced of it */
    uint64_t raw;      /* with an index: the hash of its bytes, … */
    uint32_t class_of; /* … and the first text that equals it */
    uint32_t is_gone;  /* 1: it was removed */
};
_Static_assert(sizeof(struct nd_saved_row) == 40, "a row is as in the file");

/* Find where the sections begin in the file, by their lengths.  Return the length of the file;
 * 0: no file can have such sections. */
uint64_t nd_saved_lay_out(const struct nd_saved_header *header, uint64_t offset[ND_SAVED_SECTIONS]);
/* Give a header its hash. */
void nd_saved_seal(struct nd_saved_header *header);

/*
 * A text with the values of n fields behind it: text, values, and the length of each value as 16
 * hexadecimal digits, or "----------------" where its data is NULL.  All of it is UTF-8.
 */
size_t nd_saved_values_bytes(struct nd_view text, const struct nd_view *value, size_t n);
void nd_saved_put_values(char *to, struct nd_view text, const struct nd_view *value, size_t n);
/* Give the values, and return the length of the text; SIZE_MAX: the bytes are no text with n values. */
size_t nd_saved_take_values(const char *data, size_t bytes, struct nd_view *value, size_t n);

/* The content of a file that is written.  describe(context, i, row) gives the text of row i, which
 * stays where it is meanwhile. */
struct nd_saved_content {
    struct nd_view recipe, ids;
    uint64_t next_serial;
    uint32_t n;
    struct nd_view (*describe)(const void *context, uint32_t i, struct nd_saved_row *row);
    const void *context;
    const struct nd_index *index; /* NULL: none */
};
/* The file gets its name once it is whole and on the disk.  ND_EIO, ND_ENOMEM. */
enum nd_status nd_saved_write(const char *path, const struct nd_saved_content *content,
                              struct nd_error *err);

/* A file, mapped: all that points into it is valid until it is closed.  Start from zeroes. */
struct nd_saved_texts {
    void *map;
    size_t map_bytes;
    struct nd_saved_header header;
    uint64_t offset[ND_SAVED_SECTIONS];
    const struct nd_saved_row *row;
};
struct nd_view nd_saved_section(const struct nd_saved_texts *saved, enum nd_saved_section s);

/*
 * Map a file, and compare its checksums, but for those of the index; `only_recipe`: those of the
 * header and of the recipe.  Rows belong to their texts, which are valid UTF-8.  ND_EIO: it cannot
 * be read; ND_EINPUT: it is none, of another version, or damaged; ND_ENOMEM.  Nothing is open then.
 */
enum nd_status nd_saved_open(const char *path, int only_recipe, struct nd_saved_texts *saved,
                             struct nd_error *err);
void nd_saved_close(struct nd_saved_texts *saved);

/* The index of such a file, with all its checksums compared; NULL: as above. */
struct nd_index *nd_saved_open_index(const struct nd_saved_texts *saved, const char *path,
                                     struct nd_error *err);

#endif
