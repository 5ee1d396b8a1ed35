/* fuzz_catalog_rows.c - the rows of a store: refused, or the same bytes when they are written again */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/catalog/catalog_rows.h"
#include "store/catalog/label_sets.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

/* Write again what is read. */
static size_t again(unsigned kind, struct nd_view row, uint8_t *out)
{
    struct nd_catalog_state state;
    struct nd_entry entry;
    struct nd_document_row document;
    struct nd_version_row version;
    struct nd_pair_row pair;
    struct nd_set_counts counts;
    struct nd_segment_row segment;
    struct nd_view id;
    uint32_t number;
    size_t len;

    switch (kind) {
    case 0:
        if (!nd_row_get_state(row, &state))
            return 0;
        nd_row_put_state(out, &state);
        return ND_ROW_STATE;
    case 1: return nd_row_get_entry(row, &entry) ? nd_row_put_entry(out, &entry) : 0;
    case 2:
        if (!nd_row_get_document(row, &document, &id))
            return 0;
        len = nd_row_put_document(out, &document);
        memcpy(out + len, id.data, id.len);
        return len + id.len;
    case 3:
        if (!nd_row_get_version(row, &version))
            return 0;
        nd_row_put_version(out, &version);
        return ND_ROW_VERSION;
    case 4:
        if (!nd_row_get_pair(row, &pair))
            return 0;
        nd_row_put_pair(out, &pair);
        return ND_ROW_PAIR;
    case 5:
        if (!nd_row_get_counts(row, &counts))
            return 0;
        nd_row_put_counts(out, &counts);
        return ND_ROW_COUNTS;
    case 6:
        if (!nd_row_get_segment(row, &segment))
            return 0;
        nd_row_put_segment(out, &segment);
        return ND_ROW_SEGMENT;
    default:
        if (!nd_row_get_32(row, &number))
            return 0;
        nd_row_put_32(out, number);
        return 4;
    }
}

/* Bytes that are a label set are what its labels make. */
static void check_label_set(struct nd_view bytes)
{
    struct nd_label_sets *sets = nd_label_sets_new();
    const struct nd_view *label;
    uint32_t number = 0;
    size_t n, len;
    char *made;

    require(sets && nd_label_sets_add(sets, bytes, &number) == ND_OK);
    label = nd_label_sets_labels(sets, number, &n);
    if (nd_label_set_is_canonical(bytes)) {
        require(nd_label_set_bytes(label, n, &made, &len, NULL) == ND_OK);
        require(len == bytes.len && memcmp(made, bytes.data, len) == 0);
        free(made);
    }
    nd_label_sets_free(sets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_view row;
    uint8_t *out;
    size_t len;

    if (size < 1)
        return 0;
    row = (struct nd_view){(const char *)data + 1, size - 1};
    if (data[0] % 9 == 8) {
        check_label_set(row);
        return 0;
    }
    out = malloc(ND_ROW_DOCUMENT + ND_STORE_TITLE_MAX + ND_STORE_ID_MAX + size);
    require(out != NULL);
    len = again(data[0] % 9, row, out);
    require(len == 0 || (len == row.len && memcmp(out, row.data, len) == 0));
    free(out);
    return 0;
}
