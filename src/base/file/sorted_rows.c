/* sorted_rows.c - texts of any length that are added in one order and read in another, from a file */
#include "base/file/sorted_rows.h"

#include "base/file/external_sort.h"
#include "base/file/spool.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Texts that lie one behind the other are read at once, up to this length; longer ones alone. */
enum { PIECE_BYTES = 1 << 18 };

struct row_place {
    uint64_t key, offset, len;
};

struct nd_sorted_rows {
    struct nd_spool *texts;
    struct nd_external_sort *places;
    struct row_place
        last; /* of the texts that were added last, or that are read next; len 0: none */
    bool is_sorted;
    struct nd_buffer piece;
};

struct nd_sorted_rows *nd_sorted_rows_new(const char *tmp, size_t memory_bytes,
                                          struct nd_error *err)
{
    const struct nd_external_sort_options options = {
        .tmp = tmp, .record_bytes = sizeof(struct row_place), .memory_bytes = memory_bytes};
    struct nd_sorted_rows *r = calloc(1, sizeof *r);

    if (!r) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    r->places = nd_external_sort_new(&options, err);
    r->texts = r->places ? nd_spool_new(tmp, err) : NULL;
    if (r->texts)
        return r;
    nd_sorted_rows_free(r);
    return NULL;
}

void nd_sorted_rows_free(struct nd_sorted_rows *r)
{
    if (!r)
        return;
    nd_external_sort_free(r->places);
    nd_spool_free(r->texts);
    nd_buffer_release(&r->piece);
    free(r);
}

uint64_t nd_sorted_rows_spilled(const struct nd_sorted_rows *r)
{
    return nd_spool_bytes(r->texts) + nd_external_sort_spilled(r->places);
}

/* Hand the last texts to the sort. */
static enum nd_status end_last(struct nd_sorted_rows *r, struct nd_error *err)
{
    enum nd_status status = r->last.len ? nd_external_sort_add(r->places, &r->last, err) : ND_OK;

    r->last.len = 0;
    return status;
}

enum nd_status nd_sorted_rows_add(struct nd_sorted_rows *r, uint64_t key, const char *text,
                                  size_t len, struct nd_error *err)
{
    bool joins = r->last.len && r->last.key == key && r->last.len + len <= PIECE_BYTES;
    uint64_t offset = 0;
    enum nd_status status = joins ? ND_OK : end_last(r, err);

    if (status == ND_OK)
        status = nd_spool_append(r->texts, text, len, &offset, err);
    if (status != ND_OK)
        return status;
    if (!joins)
        r->last = (struct row_place){.key = key, .offset = offset};
    r->last.len += len;
    return ND_OK;
}

/* Have the next texts in r->last, or none. */
static enum nd_status advance(struct nd_sorted_rows *r, struct nd_error *err)
{
    const void *place;
    int got = nd_external_sort_next(r->places, &place, err);

    r->last.len = 0;
    if (got > 0)
        memcpy(&r->last, place, sizeof r->last);
    return got < 0 ? (enum nd_status)got : ND_OK;
}

int nd_sorted_rows_next(struct nd_sorted_rows *r, struct nd_view *texts, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    uint64_t offset, len = 0;

    if (!r->is_sorted) {
        r->is_sorted = true;
        status = end_last(r, err);
        if (status == ND_OK)
            status = advance(r, err);
    }
    offset = r->last.offset;
    while (status == ND_OK && r->last.len && r->last.offset == offset + len &&
           (len == 0 || len + r->last.len <= PIECE_BYTES)) {
        len += r->last.len;
        status = advance(r, err);
    }
    if (status != ND_OK || !len)
        return (int)status;
    status = nd_spool_read(r->texts, offset, (size_t)len, &r->piece, err);
    *texts = (struct nd_view){r->piece.data, (size_t)len};
    return status == ND_OK ? 1 : (int)status;
}
