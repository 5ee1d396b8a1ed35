/* sketch_packer.c - documents that were read, sketched into packed rows of a sketch file */
#include "pipeline/sketch_packer.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/replaced_hash.h"

struct worker {
    struct nd_sketcher *sketcher;
    struct nd_document_signer *signer; /* of the signature whose fingerprint is kept; or NULL */
    uint64_t *scratch;                 /* to sort shingles */
    size_t scratch_capacity;
};

struct nd_sketch_packer {
    struct nd_pool *pool;
    const struct nd_sketch_writer *writer;
    bool keeps_shingles;
    struct worker *worker;
    unsigned n_workers;
    const struct nd_reading_batch *batch;
    struct nd_packed_row *packed; /* one for each record of the batch */
    size_t capacity;
    atomic_bool has_failed, lacks_shingles;
};

static enum nd_status make_worker(struct worker *w, const struct nd_recipe *recipe,
                                  struct nd_error *err)
{
    struct nd_recipe_simhash simhash;

    w->sketcher = nd_sketcher_new(&recipe->dedup.sketch, err);
    if (!w->sketcher)
        return ND_ENOMEM;
    if (!recipe->method.n_signatures || nd_recipe_simhash_of(recipe, &simhash, NULL) != ND_OK)
        return ND_OK;
    w->signer = nd_document_signer_of(&recipe->method.signature[simhash.signature], err);
    return w->signer ? ND_OK : ND_ENOMEM;
}

struct nd_sketch_packer *nd_sketch_packer_new(struct nd_pool *pool, const struct nd_recipe *recipe,
                                              const struct nd_sketch_writer *writer,
                                              bool keeps_shingles, struct nd_error *err)
{
    struct nd_sketch_packer *p = calloc(1, sizeof *p);
    enum nd_status status = ND_OK;

    if (p)
        p->worker = calloc(nd_pool_threads(pool), sizeof *p->worker);
    if (!p || !p->worker) {
        free(p);
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    p->pool = pool;
    p->writer = writer;
    p->keeps_shingles = keeps_shingles;
    p->n_workers = nd_pool_threads(pool);
    for (unsigned i = 0; status == ND_OK && i < p->n_workers; i++)
        status = make_worker(&p->worker[i], recipe, err);
    if (status == ND_OK)
        return p;
    nd_sketch_packer_free(p);
    return NULL;
}

void nd_sketch_packer_free(struct nd_sketch_packer *p)
{
    if (!p)
        return;
    for (unsigned i = 0; i < p->n_workers; i++) {
        nd_sketcher_free(p->worker[i].sketcher);
        nd_document_signer_free(p->worker[i].signer);
        free(p->worker[i].scratch);
    }
    for (size_t i = 0; i < p->capacity; i++)
        nd_packed_row_release(&p->packed[i]);
    free(p->packed);
    free(p->worker);
    free(p);
}

static void fill_row(struct nd_sketch_row *row, const struct nd_parsed *parsed,
                     const struct nd_sketch *sketch)
{
    const struct nd_document *document = &parsed->document;

    *row = (struct nd_sketch_row){
        .identity = nd_replaced_mark(sketch->identity, document->text_replaced),
        .simhash = sketch->simhash,
        .tokens = sketch->n_tokens,
        .text_bytes = document->text.len,
        .n_shingles = (uint32_t)sketch->n_shingles,
        .source = parsed->record.source,
        .offset = parsed->record.offset,
        .line = parsed->record.line,
        .id = document->id,
        .id_kind = document->id_kind,
        .shingles = sketch->shingle,
    };
    nd_hash_bytes_128(document->text.data, document->text.len, &row->text_hash[0],
                      &row->text_hash[1]);
    for (int i = 0; i < 2; i++)
        row->text_hash[i] = nd_replaced_mark(row->text_hash[i], document->text_replaced);
    for (unsigned i = 0; i < ND_MINHASH_COUNT; i++)
        row->low[i] = (uint8_t)sketch->minhash[i];
}

static enum nd_status sign(const struct worker *w, const struct nd_document *document,
                           struct nd_sketch_row *row)
{
    struct nd_signature x;
    enum nd_status status;

    if (!w->signer)
        return ND_OK;
    status = nd_document_signer_run(w->signer, document, &x, NULL);
    if (status == ND_OK)
        row->fingerprint = x.is_rejected ? NULL : x.word;
    return status;
}

/* A document that came as a sketch, with its source as the batch numbers it. */
static enum nd_status pack_sketched(struct nd_sketch_packer *p, size_t i)
{
    struct nd_sketch_row row = *p->batch->parsed[i].sketched;

    row.source = p->batch->parsed[i].record.source;
    if (p->keeps_shingles && row.n_shingles && !row.shingles) {
        atomic_store(&p->lacks_shingles, true);
        return ND_OK;
    }
    return nd_sketch_row_pack(p->writer, &row, NULL, &p->packed[i], NULL);
}

static enum nd_status pack(struct nd_sketch_packer *p, size_t i, struct worker *w)
{
    const struct nd_parsed *parsed = &p->batch->parsed[i];
    struct nd_sketch sketch;
    struct nd_sketch_row row;
    enum nd_status status = nd_sketcher_run(w->sketcher, parsed->document.text.data,
                                            parsed->document.text.len, ND_SKETCH_ALL, &sketch);

    if (status != ND_OK)
        return status;
    if (sketch.n_shingles > UINT32_MAX)
        return ND_ENOMEM;
    fill_row(&row, parsed, &sketch);
    status = sign(w, &parsed->document, &row);
    if (status == ND_OK &&
        !ND_RESERVE(w->scratch, &w->scratch_capacity, 2 * (size_t)row.n_shingles + 1))
        status = ND_ENOMEM;
    return status == ND_OK ? nd_sketch_row_pack(p->writer, &row, w->scratch, &p->packed[i], NULL)
                           : status;
}

static void pack_one(void *context, size_t task, unsigned worker)
{
    struct nd_sketch_packer *p = context;
    const struct nd_parsed *parsed = &p->batch->parsed[task];

    if (!parsed->bad &&
        (parsed->sketched ? pack_sketched(p, task) : pack(p, task, &p->worker[worker])) != ND_OK)
        atomic_store(&p->has_failed, true);
}

static bool reserve(struct nd_sketch_packer *p, size_t n)
{
    size_t before = p->capacity;

    if (!ND_RESERVE(p->packed, &p->capacity, n))
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

const struct nd_packed_row *nd_sketch_packer_row(const struct nd_sketch_packer *p, size_t i)
{
    return &p->packed[i];
}
