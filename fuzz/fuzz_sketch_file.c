/* fuzz_sketch_file.c - any bytes: a sketch file that is read whole, or an error; no crash */
#define _GNU_SOURCE
#include <neardup/sketch_file.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "record/packed_document.h"
#include "record/sketch_file_layout.h"
#include "record/stored.h"

/* The rows of a block, and the shingles behind them, as far as they are there. */
static void seal_block(const struct nd_sketch_head *h, const struct nd_sketch_block_entry *e,
                       char *data)
{
    size_t end = e->offset + e->row_bytes, code = end, code_end = end + e->shingle_bytes;

    if (h->n_signatures > ND_RECIPE_SIGNATURES)
        return;
    for (size_t at = e->offset, len; at < end; at += len) {
        struct nd_sketch_row_head *row = (void *)(data + at);
        uint64_t bytes;

        len = nd_sketch_row_measure(h, data + at, end - at);
        if (!len)
            return;
        bytes = nd_shingle_code_bytes(row->n_shingles);
        if (e->shingle_bytes && bytes <= code_end - code) {
            row->shingle_check = nd_shingle_code_check(data + code, row->n_shingles);
            code += bytes;
        }
        nd_sketch_row_seal(data + at, len, at);
    }
}

/* Rows with right checksums are what a fuzzer would hardly find: the checksums are made to fit. */
static void seal(unsigned char *data, size_t size)
{
    union nd_sketch_head_page *page = (union nd_sketch_head_page *)(void *)data;
    struct nd_sketch_head *h = &page->head;

    if (size < sizeof *page)
        return;
    if (h->recipe_bytes <= size && size - h->recipe_bytes >= ND_SKETCH_FILE_RECIPE_AT)
        h->recipe_hash = nd_hash_bytes(data + ND_SKETCH_FILE_RECIPE_AT, h->recipe_bytes);
    if (h->directory <= size && h->directory_bytes <= size - h->directory) {
        struct nd_sketch_block_entry *e = (void *)(data + h->directory);

        for (size_t i = 0; h->directory % 8 == 0 && i < h->directory_bytes / sizeof *e; i++) {
            if (e[i].offset % 8 || e[i].offset > size || e[i].row_bytes > size - e[i].offset ||
                e[i].shingle_bytes > size - e[i].offset - e[i].row_bytes)
                continue;
            seal_block(h, &e[i], (char *)data);
        }
        h->directory_hash = nd_hash_bytes(data + h->directory, h->directory_bytes);
    }
    nd_sketch_head_seal(page);
}

static void check_row(const struct nd_sketch_file *file, const struct nd_sketch_row *row)
{
    if (!nd_sketch_file_source(file, row->source))
        abort();
    for (uint32_t i = 1; row->shingles && i < row->n_shingles; i++)
        if (row->shingles[i - 1] >= row->shingles[i])
            abort();
}

static void check_same(const struct nd_sketch_row *row, const struct nd_sketch_row *again)
{
    if (again->n_shingles != row->n_shingles || again->id.len != row->id.len ||
        again->text_hash[0] != row->text_hash[0] || again->source != row->source)
        abort();
    for (uint32_t i = 0; row->shingles && i < row->n_shingles; i++)
        if (row->shingles[i] != again->shingles[i])
            abort();
}

/* Read again by its place, a row is the same. */
static void check_again(const struct nd_sketch_file *file, const struct nd_sketch_row *row,
                        struct nd_sketch_room *room)
{
    struct nd_sketch_row again;

    if (nd_sketch_file_read_row(file, &row->place, ND_SKETCH_FILE_ALL, room, &again, NULL) != ND_OK)
        abort();
    check_same(row, &again);
}

/* A document packed is what is read again by its place, and makes the row. */
static void check_packed(const struct nd_sketch_file *file, const struct nd_sketch_block *block,
                         size_t i)
{
    const struct nd_sketch_place place = nd_sketch_block_place(block, i);
    bool has_shingles = nd_sketch_file_info(file)->keeps.shingles;
    uint64_t *shingle =
        calloc(has_shingles ? (size_t)block->rows[i].n_shingles + 1 : 1, sizeof *shingle);
    struct nd_buffer packed = {0}, again = {0};
    struct nd_sketch_row row;

    if (!shingle || !nd_sketch_block_pack(block, i, &packed) ||
        nd_sketch_file_read_packed(file, &place, &again, NULL) != ND_OK ||
        packed.len != again.len || memcmp(packed.data, again.data, packed.len) != 0)
        abort();
    if (nd_sketch_packed_row(file, (struct nd_view){again.data, again.len}, &row, NULL) != ND_OK ||
        nd_sketch_packed_shingles(file, (struct nd_view){again.data, again.len}, &row, shingle,
                                  NULL) != ND_OK)
        abort();
    check_same(&block->rows[i], &row);
    nd_buffer_release(&packed);
    nd_buffer_release(&again);
    free(shingle);
}

/* The rows of a block as they are stored are those that were made of it. */
static void check_stored(const struct nd_sketch_file *file, size_t number,
                         const struct nd_sketch_block *block)
{
    struct nd_stored_rows rows = {.n = 0};
    struct nd_error err;

    nd_stored_rows_announce(file, number);
    if (nd_stored_rows_read(file, number, &rows, &err) == ND_OK) {
        for (size_t i = 0; i < rows.n; i++) {
            struct nd_sketch_row row;

            nd_stored_row_get(&rows, i, &row);
            if (block->n && (i >= block->n || row.place.row != block->rows[i].place.row ||
                             row.place.shingles != block->rows[i].place.shingles ||
                             row.identity != nd_stored_row_head(&rows, i)->identity ||
                             row.source != block->rows[i].source))
                abort();
        }
    } else if (block->n) {
        abort();
    }
    nd_stored_rows_release(&rows);
}

static void read_all(const char *path)
{
    struct nd_error err;
    struct nd_sketch_file *file = nd_sketch_file_open(path, &err);
    struct nd_sketch_block block = {0};
    struct nd_sketch_room room = {0};

    for (uint32_t i = 0; file && i < nd_sketch_file_info(file)->blocks; i++) {
        if (nd_sketch_file_read(file, i, ND_SKETCH_FILE_ALL, &block, &err) == ND_OK)
            for (size_t j = 0; j < block.n; j++) {
                check_row(file, &block.rows[j]);
                check_again(file, &block.rows[j], &room);
                check_packed(file, &block, j);
            }
        check_stored(file, i, &block);
    }
    nd_sketch_room_release(&room);
    nd_sketch_block_release(&block);
    nd_sketch_file_close(file);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    unsigned char *copy = aligned_alloc(16, (size + 16) / 16 * 16);
    int fd = memfd_create("sketch", MFD_CLOEXEC);
    char path[40];

    if (!copy || fd < 0)
        abort();
    for (size_t i = 0; i < size; i++)
        copy[i] = data[i];
    if (size > 0 && data[size - 1] % 4) /* else as it is */
        seal(copy, size);
    if (write(fd, copy, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read_all(path);
    close(fd);
    free(copy);
    return 0;
}
