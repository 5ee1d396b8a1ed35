/* fuzz_df.c - any bytes as a df table, their checksums made right: what opens answers */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "feature/df_layout.h"

static void require(int holds)
{
    if (!holds)
        abort();
}

/* A fuzzer would not find checksums; what they cannot protect from is what is looked for. */
static void make_sums_right(unsigned char *data, size_t size)
{
    struct nd_df_header h;

    memcpy(&h, data, sizeof h);
    memcpy(h.magic, ND_DF_MAGIC, sizeof h.magic);
    h.version = ND_DF_VERSION;
    h.file_bytes = size;
    for (size_t i = 0; i < ND_DF_CHUNKS; i++)
        if (h.chunk[i].offset <= size && h.chunk[i].bytes <= size - h.chunk[i].offset)
            h.chunk[i].hash = nd_hash_bytes(data + h.chunk[i].offset, h.chunk[i].bytes);
    h.hash = nd_df_header_hash(&h);
    memcpy(data, &h, sizeof h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_df_cursor cursor = {0, 0};
    struct nd_df_term term;
    unsigned char *copy;
    struct nd_df *df;
    uint64_t terms = 0;

    if (size < sizeof(struct nd_df_header) || size > 100000)
        return 0;
    copy = malloc(size);
    require(copy != NULL);
    memcpy(copy, data, size);
    make_sums_right(copy, size);
    df = nd_df_init(copy, size, NULL);
    if (df) {
        while (nd_df_next(df, &cursor, &term)) {
            require(term.count > 0 && term.count <= nd_df_documents(df));
            require(nd_df_count(df, term.hash) == term.count);
            require(nd_df_nidf(df, term.count) <= ND_NIDF_ONE);
            nd_df_count(df, term.hash + 1);
            terms++;
        }
        require(terms == nd_df_terms(df));
        require(strlen(nd_df_features(df)) < ND_DF_FEATURES_MAX);
        nd_df_close(df);
    }
    free(copy);
    return 0;
}
