/* stored.c - the rows of a block as they are stored: read, checked and found */
#define _GNU_SOURCE
#include "sketch_file/stored.h"

#include <fcntl.h>
#include <stdlib.h>

#include "sketch_file/reader.h"

void nd_stored_rows_release(struct nd_stored_rows *rows)
{
    nd_buffer_release(&rows->bytes);
    free(rows->place);
    *rows = (struct nd_stored_rows){.n = 0};
}

/* Where each row is; false: one cannot be right. */
static bool find_rows(const struct nd_sketch_block_entry *e, struct nd_stored_rows *rows)
{
    const struct nd_sketch_file *f = rows->file;
    uint64_t at = 0, shingles = e->offset + e->row_bytes;

    for (size_t i = 0; i < rows->n; i++) {
        const struct nd_sketch_row_head *head = (const void *)(rows->bytes.data + at);
        size_t len =
            nd_sketch_row_measure(&f->head, rows->bytes.data + at, (size_t)(e->row_bytes - at));
        uint64_t coded;

        if (len == 0 || len > UINT32_MAX || head->source >= f->head.sources)
            return false;
        coded = f->info.has_shingles ? nd_shingle_code_bytes(head->n_shingles) : 0;
        rows->place[i] = (struct nd_sketch_place){e->offset + at, shingles, len + coded};
        shingles += coded;
        at += len;
    }
    return at == e->row_bytes &&
           (!f->info.has_shingles || shingles == e->offset + e->row_bytes + e->shingle_bytes);
}

enum nd_status nd_stored_rows_read(const struct nd_sketch_file *f, size_t number,
                                   struct nd_stored_rows *rows, struct nd_error *err)
{
    const struct nd_sketch_block_entry *e = nd_sketch_file_entry(f, number);
    enum nd_status status;

    rows->n = 0;
    if (!ND_RESERVE(rows->place, &rows->capacity, (size_t)e->documents))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = nd_sketch_file_load(f, e, false, &rows->bytes, err);
    if (status != ND_OK)
        return status;
    rows->file = f;
    rows->offset = e->offset;
    rows->first = f->first[number];
    rows->n = e->documents;
    if (find_rows(e, rows))
        return ND_OK;
    rows->n = 0;
    return nd_sketch_file_damaged(f, "a row of a block cannot be right", err);
}

void nd_stored_rows_announce(const struct nd_sketch_file *f, size_t number)
{
    const struct nd_sketch_block_entry *e = nd_sketch_file_entry(f, number);

    (void)posix_fadvise(f->fd, (off_t)e->offset, (off_t)e->row_bytes, POSIX_FADV_WILLNEED);
}

void nd_stored_row_get(const struct nd_stored_rows *rows, size_t i, struct nd_sketch_row *row)
{
    const struct nd_sketch_place *place = &rows->place[i];
    size_t len = nd_sketch_row_parse(&rows->file->head, (const char *)nd_stored_row_head(rows, i),
                                     (size_t)place->len, row);

    row->place = (struct nd_sketch_row_place){.row = place->row,
                                              .shingles = place->len > len ? place->shingles : 0,
                                              .row_bytes = (uint32_t)len,
                                              .n_shingles = row->n_shingles};
}
