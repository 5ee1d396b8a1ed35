/* df_layout.h - the bytes of a df table: docs/format/df.md */
#ifndef ND_FEATURE_DF_LAYOUT_H
#define ND_FEATURE_DF_LAYOUT_H

#include <neardup/df.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ND_DF_MAGIC "NDDFTB\r\n"
#define ND_DF_VERSION 1
#define ND_DF_SLOT 12           /* bytes: key, count */
#define ND_DF_FEATURES_MAX 4096 /* bytes of the text that says what is counted */

enum { ND_DF_CHUNK_SLOTS, ND_DF_CHUNK_FEATURES, ND_DF_CHUNK_TEXTS, ND_DF_CHUNKS };

struct nd_df_chunk {
    uint64_t offset, bytes, hash;
};

struct nd_df_header {
    char magic[8];
    uint32_t version;
    uint32_t has_texts; /* 0 or 1 */
    uint64_t documents;
    uint64_t terms;
    uint64_t homes; /* slots that a key can be at home in */
    uint64_t slots; /* and those behind them, where the last ones overflow to */
    uint64_t file_bytes;
    uint64_t hash; /* of this header with this field 0 */
    struct nd_df_chunk chunk[ND_DF_CHUNKS];
};

/* The slot where the search for a key begins. */
static inline uint64_t nd_df_home(uint64_t key, uint64_t homes)
{
    return (uint64_t)(((unsigned __int128)key * homes) >> 64);
}

static inline uint64_t nd_df_slot_key(const unsigned char *slot)
{
    uint64_t key;

    memcpy(&key, slot, sizeof key);
    return key;
}

static inline uint32_t nd_df_slot_count(const unsigned char *slot)
{
    uint32_t count;

    memcpy(&count, slot + 8, sizeof count);
    return count;
}

/* Prefetch the slot that nd_df_count will read first: tables are larger than caches. */
void nd_df_prefetch(const struct nd_df *df, uint64_t hash);

uint64_t nd_df_header_hash(const struct nd_df_header *h);

/* The hash of which nd_mix64 makes this key. */
uint64_t nd_df_unmix(uint64_t key);

/* As nd_df_open, of bytes that stay the caller's. */
struct nd_df *nd_df_init(const void *data, size_t len, struct nd_error *err);

/* Write the text by which nd_df_features describes the counted `features`; NULL: "". */
void nd_df_counted_text(const struct nd_feature_params *features, char text[ND_DF_FEATURES_MAX]);
/* Whether two such texts are equal.  ND_EINVAL: the message has the first lines that differ. */
enum nd_status nd_df_same_features(const char *a, const char *b, struct nd_error *err);

#endif
