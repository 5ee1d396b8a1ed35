/* document_row.c - documents made into rows of a sketch file: hashes, sketch, shingles, fingerprint */
#include "engine/document_row.h"

#include <neardup/sketch.h>

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/replaced_hash.h"

/* The signature of kind simhash, if it is the only one; otherwise files keep no fingerprint. */
static bool make_signer(struct nd_document_rows *rows, const struct nd_recipe *recipe,
                        struct nd_error *err)
{
    struct nd_recipe_simhash simhash;

    if (!nd_recipe_signatures(recipe) || nd_recipe_simhash_of(recipe, &simhash, NULL) != ND_OK ||
        simhash.signature < 0)
        return true;
    rows->signer = nd_document_signer_new(recipe, (size_t)simhash.signature, err);
    return rows->signer != NULL;
}

bool nd_document_rows_init(struct nd_document_rows *rows, const struct nd_recipe *recipe,
                           struct nd_error *err)
{
    struct nd_sketch_params params = nd_recipe_sketch_params(recipe);

    *rows = (struct nd_document_rows){.sketcher = nd_sketcher_new(&params, err)};
    return rows->sketcher && make_signer(rows, recipe, err);
}

void nd_document_rows_release(struct nd_document_rows *rows)
{
    nd_sketcher_free(rows->sketcher);
    nd_document_signer_free(rows->signer);
    free(rows->scratch);
    *rows = (struct nd_document_rows){.capacity = 0};
}

static void fill(struct nd_sketch_row *row, const struct nd_document *document,
                 const struct nd_sketch *sketch)
{
    row->identity = nd_replaced_mark(sketch->identity, document->text_replaced);
    row->simhash = sketch->simhash;
    row->tokens = sketch->n_tokens;
    row->text_bytes = document->text.len;
    row->n_shingles = (uint32_t)sketch->n_shingles;
    row->id = document->id;
    row->id_kind = document->id_kind;
    row->shingles = sketch->shingle;
    row->fingerprint = NULL;
    nd_hash_bytes_128(document->text.data, document->text.len, &row->text_hash[0],
                      &row->text_hash[1]);
    for (int i = 0; i < 2; i++)
        row->text_hash[i] = nd_replaced_mark(row->text_hash[i], document->text_replaced);
    for (unsigned i = 0; i < ND_MINHASH_COUNT; i++)
        row->low[i] = (uint8_t)sketch->minhash[i];
}

enum nd_status nd_document_rows_make(struct nd_document_rows *rows,
                                     const struct nd_document *document, struct nd_sketch_row *row,
                                     struct nd_error *err)
{
    struct nd_signature signature = {.is_rejected = 1};
    struct nd_sketch sketch;
    enum nd_status status = nd_sketcher_run(rows->sketcher, document->text.data, document->text.len,
                                            ND_SKETCH_ALL, &sketch);

    if (status == ND_EINVAL)
        return nd_fail(err, status, "the text is not valid UTF-8");
    if (status == ND_OK && sketch.n_shingles > UINT32_MAX)
        status = ND_ENOMEM;
    if (status == ND_OK && rows->signer)
        status = nd_document_signer_run(rows->signer, document, &signature, NULL);
    if (status == ND_OK &&
        !ND_RESERVE(rows->scratch, &rows->capacity, 2 * (size_t)sketch.n_shingles + 1))
        status = ND_ENOMEM;
    if (status != ND_OK)
        return nd_fail(err, status, "out of memory");
    fill(row, document, &sketch);
    if (!signature.is_rejected)
        row->fingerprint = signature.word;
    return ND_OK;
}
