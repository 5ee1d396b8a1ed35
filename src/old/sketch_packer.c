/* sketch_packer.c - documents that were read, sketched into packed rows of a sketch file */
#include "old/sketch_packer.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "record/document_row.h"
#include "record/packed_document.h"

struct nd_sketch_packer {
    struct nd_pool *pool;
    const struct nd_sketch_writer *writer;
    struct nd_sketch_kept keeps;
    struct nd_document_rows *rows; /* of each worker */
    unsigned n_workers;
    const struct nd_reading_batch *batch;
    struct nd_packed_row *packed; /* one for each record of the batch */
    bool *was_made;               /* of each: of its text */
    size_t capacity, made_capacity;
    struct nd_known_rows *known; /* NULL: none */
    atomic_bool has_failed, lacks_shingles;
};

struct nd_sketch_packer *nd_sketch_packer_new(struct nd_pool *pool, const struct nd_recipe *recipe,
                                              const struct nd_sketch_writer *writer,
                                              struct nd_sketch_kept keeps, struct nd_error *err)
{
    struct nd_sketch_packer *p = calloc(1, sizeof *p);
    bool ok = true;

    if (p)
        p->rows = calloc(nd_pool_threads(pool), sizeof *p->rows);
    if (!p || !p->rows) {
        free(p);
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    p->pool = pool;
    p->writer = writer;
    p->keeps = keeps;
    p->n_workers = nd_pool_threads(pool);
    for (unsigned i = 0; ok && i < p->n_workers; i++) {
        ok = nd_document_rows_init(&p->rows[i], recipe, err);
        p->rows[i].n_fields = nd_sketch_writer_fields(writer, p->rows[i].field);
    }
    if (ok)
        return p;
    nd_sketch_packer_free(p);
    return NULL;
}

void nd_sketch_packer_free(struct nd_sketch_packer *p)
{
    if (!p)
        return;
    for (unsigned i = 0; i < p->n_workers; i++)
        nd_document_rows_release(&p->rows[i]);
    for (size_t i = 0; i < p->capacity; i++)
        nd_packed_row_release(&p->packed[i]);
    free(p->packed);
    free(p->was_made);
    free(p->rows);
    free(p);
}

/* A document that came as a sketch, with its source as the batch numbers it. */
static enum nd_status pack_sketched(struct nd_sketch_packer *p, size_t i, unsigned worker)
{
    struct nd_sketch_row row = *p->batch->parsed[i].sketched;

    if (nd_document_rows_fields(&p->rows[worker], &p->batch->parsed[i].document, &row) != ND_OK)
        return ND_ENOMEM;

    row.source = p->batch->parsed[i].record.source;
    if (p->keeps.shingles && row.n_shingles && !row.shingles) {
        atomic_store(&p->lacks_shingles, true);
        return ND_OK;
    }
    return nd_sketch_row_pack(p->writer, &row, NULL, &p->packed[i], NULL);
}

/* Pack a known row for the text; id and place are the document's own. */
static enum nd_status pack_known(struct nd_sketch_packer *p, size_t i, unsigned worker,
                                 const struct nd_sketch_row *known)
{
    const struct nd_parsed *parsed = &p->batch->parsed[i];
    struct nd_sketch_row row = *known;

    if (nd_document_rows_fields(&p->rows[worker], &parsed->document, &row) != ND_OK)
        return ND_ENOMEM;

    row.source = parsed->record.source;
    row.offset = parsed->record.offset;
    row.line = parsed->record.line;
    row.id = parsed->document.id;
    row.id_kind = parsed->document.id_kind;
    return nd_sketch_row_pack(p->writer, &row, NULL, &p->packed[i], NULL);
}

static enum nd_status pack(struct nd_sketch_packer *p, size_t i, unsigned worker)
{
    const struct nd_parsed *parsed = &p->batch->parsed[i];
    struct nd_document_rows *rows = &p->rows[worker];
    struct nd_sketch_row row = {.source = parsed->record.source,
                                .offset = parsed->record.offset,
                                .line = parsed->record.line};
    const struct nd_sketch_row *known =
        p->known ? nd_known_rows_find_whole(p->known, worker, &parsed->document) : NULL;
    enum nd_status status;

    p->was_made[i] = !known;
    if (known)
        return pack_known(p, i, worker, known);
    status = nd_document_rows_make(rows, &parsed->document, &row, NULL);
    return status == ND_OK ? nd_sketch_row_pack(p->writer, &row, rows->scratch, &p->packed[i], NULL)
                           : status;
}

static void pack_one(void *context, size_t task, unsigned worker)
{
    struct nd_sketch_packer *p = context;
    const struct nd_parsed *parsed = &p->batch->parsed[task];

    if (!parsed->bad &&
        (parsed->sketched ? pack_sketched(p, task, worker) : pack(p, task, worker)) != ND_OK)
        atomic_store(&p->has_failed, true);
}

static bool reserve(struct nd_sketch_packer *p, size_t n)
{
    size_t before = p->capacity;

    if (!ND_RESERVE(p->packed, &p->capacity, n) || !ND_RESERVE(p->was_made, &p->made_capacity, n))
        return false;
    if (p->capacity > before)
        memset(&p->packed[before], 0, (p->capacity - before) * sizeof *p->packed);
    return true;
}

enum nd_status nd_sketch_packer_run(struct nd_sketch_packer *p,
                                    const struct nd_reading_batch *batch, struct nd_error *err)
{
    p->batch = batch;
    if (!reserve(p, batch->count))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    nd_pool_run(p->pool, batch->count, pack_one, p);
    if (atomic_load(&p->lacks_shingles))
        return nd_fail(err, ND_EINVAL,
                       "the sketches that are read have no shingles, and the file that they are "
                       "added to keeps them");
    return atomic_load(&p->has_failed) ? nd_fail(err, ND_ENOMEM, "out of memory") : ND_OK;
}

void nd_sketch_packer_use(struct nd_sketch_packer *p, struct nd_known_rows *known)
{
    p->known = known;
}

bool nd_sketch_packer_made(const struct nd_sketch_packer *p, size_t i)
{
    return p->was_made[i] && !p->batch->parsed[i].sketched;
}

const struct nd_packed_row *nd_sketch_packer_row(const struct nd_sketch_packer *p, size_t i)
{
    return &p->packed[i];
}
