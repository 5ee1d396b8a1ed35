/* catalog_rows.h - the bytes of keys and rows (docs/format/store.md); knows no database */
#ifndef ND_STORE_CATALOG_CATALOG_ROWS_H
#define ND_STORE_CATALOG_CATALOG_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/catalog/catalog.h"

/*
 * A key: numbers, the highest byte first, so that the order of bytes is that of numbers; and at the
 * end perhaps an id.
 */
enum {
    ND_KEY_ID_WHOLE =
        128, /* an id of up to so many bytes is in the key as it is; of a longer one */
    ND_KEY_ID_BEGINS = 112, /* there are so many bytes and the hash of all (16), with a 0 behind */
    ND_KEY_MAX = 4 + 8 + ND_KEY_ID_WHOLE + 1
};
struct nd_key {
    size_t len;
    uint8_t bytes[ND_KEY_MAX];
};

static inline void nd_key_add_32(struct nd_key *key, uint32_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        key->bytes[key->len++] = (uint8_t)(number >> shift);
}

static inline void nd_key_add_64(struct nd_key *key, uint64_t number)
{
    nd_key_add_32(key, (uint32_t)(number >> 32));
    nd_key_add_32(key, (uint32_t)number);
}

static inline uint32_t nd_key_get_32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static inline uint64_t nd_key_get_64(const uint8_t *bytes)
{
    return (uint64_t)nd_key_get_32(bytes) << 32 | nd_key_get_32(bytes + 4);
}

void nd_key_add_id(struct nd_key *key, struct nd_view id);

/* The key of a document in the table `recent`; ids stand there as in that of documents. */
enum { ND_KEY_RECENT_ID = 4 + 8 }; /* where the id begins */
struct nd_key nd_key_recent(uint32_t label_set, uint64_t created, struct nd_view id);

/* The checksum behind each row: of the number of its table, its key and its bytes. */
enum { ND_ROW_CHECKSUM = 4 };
uint32_t nd_row_checksum(unsigned table, const struct nd_key *key, struct nd_view row);

/* The greatest row that is not text: of a document, with its id behind it. */
enum {
    ND_ROW_STATE = 88,
    ND_ROW_ENTRY = 73 + ND_MINHASH_COUNT, /* and so many more if tables left it out: */
    ND_ROW_LEFT_OUT = 8 * ND_TABLE_SET_WORDS,
    ND_ROW_DOCUMENT = 118, /* and the title, and the id where it is longer than ND_KEY_ID_WHOLE */
    ND_ROW_VERSION = 76,
    ND_ROW_PAIR = 7,
    ND_ROW_COUNTS = 32,
    ND_ROW_SEGMENT = 24
};

/* Write a row; those that return a length have more than one.  Read one: false if its length or a
 * value in it is impossible. */
void nd_row_put_state(uint8_t *row, const struct nd_catalog_state *state);
bool nd_row_get_state(struct nd_view row, struct nd_catalog_state *state);
size_t nd_row_put_entry(uint8_t *row, const struct nd_entry *entry);
bool nd_row_get_entry(struct nd_view row, struct nd_entry *entry);
/* Without the label set, which is in the key, and without the id.  Return the length. */
size_t nd_row_put_document(uint8_t *row, const struct nd_document_row *document);
/* *id: of a long one, otherwise empty. */
bool nd_row_get_document(struct nd_view row, struct nd_document_row *document, struct nd_view *id);
void nd_row_put_version(uint8_t *row, const struct nd_version_row *version);
bool nd_row_get_version(struct nd_view row, struct nd_version_row *version);
void nd_row_put_pair(uint8_t *row, const struct nd_pair_row *pair);
bool nd_row_get_pair(struct nd_view row, struct nd_pair_row *pair);
void nd_row_put_counts(uint8_t *row, const struct nd_set_counts *counts);
bool nd_row_get_counts(struct nd_view row, struct nd_set_counts *counts);
void nd_row_put_segment(uint8_t *row, const struct nd_segment_row *segment);
bool nd_row_get_segment(struct nd_view row, struct nd_segment_row *segment);
/* One number. */
void nd_row_put_32(uint8_t *row, uint32_t number);
bool nd_row_get_32(struct nd_view row, uint32_t *number);

#endif
