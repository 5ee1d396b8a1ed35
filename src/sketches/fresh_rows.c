/* fresh_rows.c - the new documents of a run with old ones: packed once, and read from there */
#include "sketches/fresh_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/file/spool.h"
#include "record/packed_document.h"
#include "record/sketch_file_layout.h"

/* Memory comes in chunks.  A document that has no room in one is in the file. */
enum { CHUNK_BYTES = 4 << 20, CHUNKS_MAX = 64 };
#define IN_FILE (UINT64_C(1) << 63)

/* The place of a document: in the chunks, one after the other, or, marked, in the file. */
struct fresh_place {
    uint64_t at;
    uint32_t row_bytes, n_shingles;
};

struct nd_fresh_rows {
    struct nd_sketch_writer *writer;
    struct nd_sketch_kept keeps;
    const char *tmp;
    char *chunk[CHUNKS_MAX];
    size_t n_chunks, chunks_max;
    size_t used;            /* of the last chunk */
    struct nd_spool *spool; /* NULL: all are in memory */
    struct fresh_place *place;
    size_t capacity;
    uint32_t n;
};

struct nd_fresh_rows *nd_fresh_rows_new(const struct nd_fresh_rows_options *o, struct nd_error *err)
{
    const struct nd_sketch_writer_options options = {
        .keeps = o->keeps, .fields = o->fields, .n_fields = o->n_fields};
    struct nd_fresh_rows *f = calloc(1, sizeof *f);

    if (!f) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    f->keeps = o->keeps;
    f->tmp = o->tmp;
    f->chunks_max = o->memory_bytes ? o->memory_bytes / CHUNK_BYTES : CHUNKS_MAX;
    if (f->chunks_max > CHUNKS_MAX)
        f->chunks_max = CHUNKS_MAX;
    f->writer = nd_sketch_writer_of_rows(o->recipe, &options, err);
    if (f->writer)
        return f;
    nd_fresh_rows_free(f);
    return NULL;
}

void nd_fresh_rows_free(struct nd_fresh_rows *f)
{
    if (!f)
        return;
    nd_sketch_writer_free(f->writer);
    nd_spool_free(f->spool);
    for (size_t i = 0; i < f->n_chunks; i++)
        free(f->chunk[i]);
    free(f->place);
    free(f);
}

const struct nd_sketch_writer *nd_fresh_rows_writer(const struct nd_fresh_rows *f)
{
    return f->writer;
}

uint32_t nd_fresh_rows_count(const struct nd_fresh_rows *f)
{
    return f->n;
}

uint32_t nd_fresh_rows_shingles(const struct nd_fresh_rows *f, uint32_t document)
{
    return f->place[document].n_shingles;
}

uint64_t nd_fresh_rows_spilled(const struct nd_fresh_rows *f)
{
    return f->spool ? nd_spool_bytes(f->spool) : 0;
}

struct nd_sketch_kept nd_fresh_rows_keep(const struct nd_fresh_rows *f)
{
    return f->keeps;
}

/* ---- Adding ---- */

/* Room in the last chunk or in a new one; NULL: there is none, or too little memory for it. */
static char *find_room(struct nd_fresh_rows *f, size_t len)
{
    if (f->n_chunks == 0 || len > CHUNK_BYTES - f->used) {
        char *chunk = len <= CHUNK_BYTES && f->n_chunks < f->chunks_max
                          ? malloc(CHUNK_BYTES + ND_BUFFER_PADDING)
                          : NULL;

        if (!chunk)
            return NULL;
        memset(chunk + CHUNK_BYTES, 0, ND_BUFFER_PADDING);
        f->chunk[f->n_chunks++] = chunk;
        f->used = 0;
    }
    f->used += len;
    return f->chunk[f->n_chunks - 1] + (f->used - len);
}

static enum nd_status add_to_file(struct nd_fresh_rows *f, const struct nd_packed_row *packed,
                                  uint64_t *at, struct nd_error *err)
{
    enum nd_status status;

    if (!f->spool && !(f->spool = nd_spool_new(f->tmp, err)))
        return ND_EIO;
    status = nd_spool_append(f->spool, packed->data, packed->len, at, err);
    *at |= IN_FILE;
    return status;
}

enum nd_status nd_fresh_rows_add(struct nd_fresh_rows *f, const struct nd_packed_row *packed,
                                 struct nd_error *err)
{
    const struct nd_sketch_row_head *head = (const void *)packed->data;
    struct fresh_place place = {.row_bytes = (uint32_t)packed->row_len,
                                .n_shingles = head->n_shingles};
    enum nd_status status = ND_OK;
    char *room;

    if (packed->row_len > UINT32_MAX)
        return nd_fail(err, ND_EUNSUPPORTED, "an id is too long for a sketch file");
    if (!ND_RESERVE(f->place, &f->capacity, (size_t)f->n + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    room = find_room(f, packed->len);
    if (room) {
        memcpy(room, packed->data, packed->len);
        place.at = (uint64_t)(f->n_chunks - 1) * CHUNK_BYTES + (f->used - packed->len);
    } else {
        status = add_to_file(f, packed, &place.at, err);
    }
    f->place[f->n++] = place;
    return status;
}

/* ---- Reading ---- */

static size_t code_bytes(const struct nd_fresh_rows *f, uint32_t document)
{
    return f->keeps.shingles ? (size_t)nd_shingle_code_bytes(f->place[document].n_shingles) : 0;
}

/* The first `len` bytes of a document; NULL: see *err. */
static char *bytes_of(const struct nd_fresh_rows *f, uint32_t document, size_t len,
                      struct nd_sketch_room *room, struct nd_error *err)
{
    uint64_t at = f->place[document].at;
    struct nd_buffer bytes = {.data = room->bytes, .capacity = room->bytes_capacity};
    enum nd_status status;

    if (!(at & IN_FILE))
        return f->chunk[at / CHUNK_BYTES] + at % CHUNK_BYTES;
    status = nd_spool_read(f->spool, at & ~IN_FILE, len, &bytes, err);
    room->bytes = bytes.data;
    room->bytes_capacity = bytes.capacity;
    return status == ND_OK ? bytes.data : NULL;
}

enum nd_status nd_fresh_rows_get(const struct nd_fresh_rows *f, uint32_t document, unsigned parts,
                                 struct nd_sketch_room *room, struct nd_sketch_row *row,
                                 struct nd_error *err)
{
    const struct fresh_place *place = &f->place[document];
    size_t code = parts == ND_SKETCH_FILE_ALL ? code_bytes(f, document) : 0;
    const char *bytes = bytes_of(f, document, place->row_bytes + code, room, err);

    if (!bytes)
        return ND_EIO;
    if (!ND_RESERVE(room->shingle, &room->shingle_capacity, (size_t)place->n_shingles + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (nd_sketch_row_unpack(f->writer, bytes, place->row_bytes, row) != place->row_bytes ||
        (code && !nd_shingle_code_read((const uint64_t *)(const void *)(bytes + place->row_bytes),
                                       place->n_shingles, room->shingle)))
        return nd_fail(err, ND_EIO, "the temporary file has changed since it was written");
    if (parts == ND_SKETCH_FILE_ALL && f->keeps.shingles)
        row->shingles = room->shingle;
    return ND_OK;
}

enum nd_status nd_fresh_rows_packed(struct nd_fresh_rows *f, uint32_t document,
                                    struct nd_sketch_room *room, struct nd_packed_row *packed,
                                    struct nd_error *err)
{
    size_t row_len = f->place[document].row_bytes, len = row_len + code_bytes(f, document);
    char *bytes = bytes_of(f, document, len, room, err);

    *packed = (struct nd_packed_row){.data = bytes, .len = len, .row_len = row_len};
    return bytes ? ND_OK : ND_EIO;
}
