/* stored.c - the rows of a block as they are stored: read, checked and found */
#include "record/stored.h"

#include <stdlib.h>

#include "base/system/descriptor.h"
#include "record/sketch_reader.h"

void nd_stored_rows_release(struct nd_stored_rows *rows)
{
    nd_buffer_release(&rows->bytes);
    free(rows->place);
    *rows = (struct nd_stored_rows){.n = 0};
}

/* The bytes of a block are read, checked and divided into rows a piece at a time, while the piece is in
 * the processor's cache. */
enum { PIECE_BYTES = 1 << 18 };

struct block_walk {
    const struct nd_sketch_block_entry *block;
    struct nd_stored_rows *rows;
    uint64_t at, shingles; /* where the next row begins, and where its shingles do in the file */
    size_t n;              /* rows found */
};

/*
 * Find the rows that end before `end`, which is where the bytes end that were read; false: one
 * cannot be right.
 */
static bool find_rows(struct block_walk *w, uint64_t end)
{
    const struct nd_sketch_file *f = w->rows->file;

    while (w->n < w->rows->n && w->at < end) {
        const char *at = w->rows->bytes.data + w->at;
        const struct nd_sketch_row_head *head = (const void *)at;
        size_t len = nd_sketch_row_measure(&f->head, at, (size_t)(end - w->at));
        uint64_t coded;

        if (len == 0)
            return end < w->block->row_bytes; /* it may end in the next piece */
        if (len > UINT32_MAX ||
            nd_sketch_row_check(&f->head, at, len, w->block->offset + w->at) != len)
            return false;
        coded = f->info.keeps.shingles ? nd_shingle_code_bytes(head->n_shingles) : 0;
        w->rows->place[w->n++] =
            (struct nd_sketch_place){w->block->offset + w->at, w->shingles, len + coded};
        w->shingles += coded;
        w->at += len;
    }
    return true;
}

static bool is_whole(const struct block_walk *w)
{
    const struct nd_sketch_block_entry *e = w->block;

    return w->n == w->rows->n && w->at == e->row_bytes &&
           (!w->rows->file->info.keeps.shingles ||
            w->shingles == e->offset + e->row_bytes + e->shingle_bytes);
}

static enum nd_status read_rows(struct block_walk *w, struct nd_error *err)
{
    const struct nd_sketch_file *f = w->rows->file;
    const struct nd_sketch_block_entry *e = w->block;
    bool is_right = true;

    for (uint64_t from = 0, n; from < e->row_bytes; from += n) {
        enum nd_status status;

        n = e->row_bytes - from < PIECE_BYTES ? e->row_bytes - from : PIECE_BYTES;
        status =
            nd_sketch_file_read_at(f, w->rows->bytes.data + from, (size_t)n, e->offset + from, err);
        if (status != ND_OK)
            return status;
        is_right = is_right && find_rows(w, from + n);
    }
    return is_right && is_whole(w) ? ND_OK : nd_sketch_file_damaged(f, ND_SKETCH_WRONG_ROW, err);
}

enum nd_status nd_stored_rows_read(const struct nd_sketch_file *f, size_t number,
                                   struct nd_stored_rows *rows, struct nd_error *err)
{
    const struct nd_sketch_block_entry *e = nd_sketch_file_entry(f, number);
    struct block_walk walk = {.block = e, .rows = rows, .shingles = e->offset + e->row_bytes};
    enum nd_status status = ND_OK;

    rows->n = 0;
    if (!ND_RESERVE(rows->place, &rows->capacity, (size_t)e->documents) ||
        !nd_buffer_reserve(&rows->bytes, (size_t)e->row_bytes))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK) {
        rows->bytes.len = (size_t)e->row_bytes;
        rows->file = f;
        rows->offset = e->offset;
        rows->first = f->first[number];
        rows->n = e->documents;
        status = read_rows(&walk, err);
    }
    if (status != ND_OK)
        rows->n = 0;
    return status;
}

void nd_stored_rows_announce(const struct nd_sketch_file *f, size_t number)
{
    const struct nd_sketch_block_entry *e = nd_sketch_file_entry(f, number);

    nd_descriptor_hint_part(f->fd, e->offset, e->row_bytes);
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
