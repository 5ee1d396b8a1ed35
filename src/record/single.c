/*
 * single.c - single documents of a sketch file, read again: packed as they are stored, or as rows
 *
 * Their blocks were read before, which gave their places.  What is read here may have changed since, so
 * all is checked again: rows and shingles have checksums of their own.
 */
#include <neardup/sketch_file.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "record/packed_document.h"
#include "record/sketch_file_layout.h"
#include "record/sketch_reader.h"

/* ---- Packed (packed_document.h) ---- */

/* How many bytes of a packed document its row takes. */
static size_t row_bytes_of(const struct nd_sketch_row *row, uint64_t len, bool has_shingles)
{
    return (size_t)(len - (has_shingles ? nd_shingle_code_bytes(row->n_shingles) : 0));
}

/* Check the row, and read the code of its shingles behind it. */
static enum nd_status read_code(const struct nd_sketch_file *f, const struct nd_sketch_place *place,
                                size_t row_bytes, char *packed, struct nd_error *err)
{
    char *code = packed + row_bytes;
    size_t left = (size_t)place->len - row_bytes;
    enum nd_status status;

    if (nd_sketch_row_check(&f->head, packed, row_bytes, place->row) != row_bytes)
        return nd_sketch_file_damaged(f, ND_SKETCH_WRONG_ROW, err);
    status = nd_sketch_file_read_at(f, code, left, place->shingles, err);
    if (status == ND_OK && left && !nd_sketch_row_has_code(packed, code))
        return nd_sketch_file_damaged(f, ND_SKETCH_WRONG_SHINGLES, err);
    return status;
}

enum nd_status nd_sketch_file_read_packed(const struct nd_sketch_file *f,
                                          const struct nd_sketch_place *place,
                                          struct nd_buffer *out, struct nd_error *err)
{
    struct nd_sketch_row_head head;
    uint64_t coded;
    enum nd_status status;

    out->len = 0;
    if (!nd_buffer_reserve(out, (size_t)place->len + 8))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    /* The shingles are behind all rows of their block, so that many bytes are there. */
    status = nd_sketch_file_read_at(f, out->data, (size_t)place->len, place->row, err);
    if (status != ND_OK || place->len < sizeof head)
        return status != ND_OK ? status : nd_sketch_file_damaged(f, ND_SKETCH_WRONG_ROW, err);
    memcpy(&head, out->data, sizeof head);
    coded = f->info.keeps.shingles ? nd_shingle_code_bytes(head.n_shingles) : 0;
    if (coded > place->len)
        return nd_sketch_file_damaged(f, ND_SKETCH_WRONG_ROW, err);
    out->len = (size_t)place->len;
    return read_code(f, place, (size_t)(place->len - coded), out->data, err);
}

enum nd_status nd_sketch_packed_row(const struct nd_sketch_file *f, struct nd_view packed,
                                    struct nd_sketch_row *row, struct nd_error *err)
{
    size_t len = nd_sketch_row_parse(&f->head, packed.data, packed.len, row);

    if (len && len == row_bytes_of(row, packed.len, f->info.keeps.shingles))
        return ND_OK;
    return nd_sketch_file_damaged(f, ND_SKETCH_WRONG_ROW, err);
}

enum nd_status nd_sketch_packed_shingles(const struct nd_sketch_file *f, struct nd_view packed,
                                         struct nd_sketch_row *row, uint64_t *shingle,
                                         struct nd_error *err)
{
    const char *code = packed.data + row_bytes_of(row, packed.len, f->info.keeps.shingles);

    if (!f->info.keeps.shingles)
        return ND_OK;
    row->shingles = shingle;
    if (row->n_shingles &&
        !nd_shingle_code_read((const uint64_t *)(const void *)code, row->n_shingles, shingle))
        return nd_sketch_file_damaged(f, ND_SKETCH_WRONG_SHINGLES, err);
    return ND_OK;
}

size_t nd_sketch_packed_row_bytes(struct nd_view packed, bool has_shingles)
{
    struct nd_sketch_row_head head;

    memcpy(&head, packed.data, sizeof head);
    return packed.len - (size_t)(has_shingles ? nd_shingle_code_bytes(head.n_shingles) : 0);
}

uint32_t nd_sketch_packed_source(const char *packed)
{
    uint32_t source;

    memcpy(&source, packed + offsetof(struct nd_sketch_row_head, source), sizeof source);
    return source;
}

void nd_sketch_packed_set_source(char *packed, uint32_t source)
{
    memcpy(packed + offsetof(struct nd_sketch_row_head, source), &source, sizeof source);
}

/* ---- As a row ---- */

void nd_sketch_room_release(struct nd_sketch_room *room)
{
    free(room->bytes);
    free(room->shingle);
    *room = (struct nd_sketch_room){0};
}

/* The shingles of one row, whose code follows the row's bytes in the room. */
static enum nd_status read_own_shingles(const struct nd_sketch_file *f,
                                        const struct nd_sketch_row_place *place,
                                        struct nd_sketch_room *room, struct nd_sketch_row *row,
                                        struct nd_error *err)
{
    char *code = room->bytes + place->row_bytes;
    enum nd_status status = nd_sketch_file_read_at(
        f, code, (size_t)nd_shingle_code_bytes(place->n_shingles), place->shingles, err);

    if (status != ND_OK)
        return status;
    if (!ND_RESERVE(room->shingle, &room->shingle_capacity, (size_t)place->n_shingles + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (!nd_sketch_row_has_code(room->bytes, code) ||
        !nd_shingle_code_read((const uint64_t *)(const void *)code, place->n_shingles,
                              room->shingle))
        return nd_sketch_file_damaged(f, ND_SKETCH_WRONG_SHINGLES, err);
    row->shingles = room->shingle;
    return ND_OK;
}

enum nd_status nd_sketch_file_read_row(const struct nd_sketch_file *f,
                                       const struct nd_sketch_row_place *place, unsigned parts,
                                       struct nd_sketch_room *room, struct nd_sketch_row *row,
                                       struct nd_error *err)
{
    bool shingles = parts == ND_SKETCH_FILE_ALL && f->info.keeps.shingles;
    size_t code = shingles ? (size_t)nd_shingle_code_bytes(place->n_shingles) : 0;
    enum nd_status status;

    if (!ND_RESERVE(room->bytes, &room->bytes_capacity,
                    place->row_bytes + code + ND_BUFFER_PADDING) ||
        !ND_RESERVE(room->shingle, &room->shingle_capacity, 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = nd_sketch_file_read_at(f, room->bytes, place->row_bytes, place->row, err);
    if (status != ND_OK)
        return status;
    if (nd_sketch_row_check(&f->head, room->bytes, place->row_bytes, place->row) !=
            place->row_bytes ||
        nd_sketch_row_parse(&f->head, room->bytes, place->row_bytes, row) != place->row_bytes ||
        row->n_shingles != place->n_shingles)
        return nd_sketch_file_damaged(f, ND_SKETCH_WRONG_ROW, err);
    row->place = *place;
    if (shingles)
        row->shingles = room->shingle;
    return code ? read_own_shingles(f, place, room, row, err) : ND_OK;
}
