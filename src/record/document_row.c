/* document_row.c - documents made into rows of a sketch file: hashes, sketch, shingles, signatures */
#include "record/document_row.h"

#include <neardup/sketch.h>
#include <neardup/text.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/replaced_hash.h"
#include "recipe/recipe_struct.h"
#include "record/sketch_file_layout.h"
#include "sketch/signer.h"

static bool make_signers(struct nd_document_rows *rows, const struct nd_recipe *recipe,
                         struct nd_error *err)
{
    for (size_t i = 0; i < nd_recipe_signatures(recipe); i++) {
        rows->signer[i] = nd_document_signer_new(recipe, i, err);
        if (!rows->signer[i])
            return false;
    }
    return true;
}

bool nd_document_rows_init(struct nd_document_rows *rows, const struct nd_recipe *recipe,
                           struct nd_error *err)
{
    struct nd_sketch_params params = nd_recipe_sketch_params(recipe);
    bool minima = nd_sketch_kept_of(recipe).minima;

    *rows = (struct nd_document_rows){.parts = minima ? ND_SKETCH_ALL : ND_SKETCH_SIMHASH,
                                      .sketcher = nd_sketcher_new(&params, err)};
    return rows->sketcher && make_signers(rows, recipe, err) &&
           nd_beside_init(&rows->beside, &recipe->method, err) == ND_OK;
}

void nd_document_rows_release(struct nd_document_rows *rows)
{
    nd_sketcher_free(rows->sketcher);
    for (size_t i = 0; i < ND_RECIPE_SIGNATURES; i++)
        nd_document_signer_free(rows->signer[i]);
    nd_arena_release(&rows->signatures);
    nd_beside_release(&rows->beside);
    nd_buffer_release(&rows->values);
    free(rows->scratch);
    *rows = (struct nd_document_rows){.capacity = 0};
}

/* ---- A row ---- */

static enum nd_status sketch(struct nd_document_rows *rows, const struct nd_document *document,
                             struct nd_sketch_row *row)
{
    struct nd_sketch sketch;
    enum nd_status status = nd_sketcher_run(rows->sketcher, document->text.data, document->text.len,
                                            rows->parts, &sketch);

    if (status != ND_OK)
        return status;
    if (sketch.n_shingles > UINT32_MAX ||
        !ND_RESERVE(rows->scratch, &rows->capacity, 2 * (size_t)sketch.n_shingles + 1))
        return ND_ENOMEM;
    row->identity = nd_replaced_mark(sketch.identity, document->text_replaced);
    row->simhash = sketch.simhash;
    row->tokens = sketch.n_tokens;
    row->n_shingles = (uint32_t)sketch.n_shingles;
    row->shingles = sketch.shingle;
    for (unsigned i = 0; rows->parts & ND_SKETCH_MINHASH && i < ND_MINHASH_COUNT; i++)
        row->low[i] = (uint8_t)sketch.minhash[i];
    return ND_OK;
}

static enum nd_status sign(struct nd_document_rows *rows, const struct nd_document *document,
                           struct nd_sketch_row *row)
{
    enum nd_status status = ND_OK;

    nd_arena_reset(&rows->signatures);
    row->length = 0;
    for (size_t i = 0; status == ND_OK && i < ND_RECIPE_SIGNATURES && rows->signer[i]; i++) {
        uint64_t n_tokens = 0;

        status = nd_document_signer_run(rows->signer[i], document, &row->signature[i], &n_tokens);
        if (status == ND_OK && !nd_signature_hold(&row->signature[i], &rows->signatures))
            status = ND_ENOMEM;
        if (n_tokens > row->length)
            row->length = n_tokens;
    }
    return status;
}

/* Return the value of a field, or the length of the text in `digits`. */
static struct nd_view value_of(const struct nd_document *document, const char *name,
                               char digits[24], uint64_t *replaced)
{
    size_t len = strlen(name);

    *replaced = 0;
    for (size_t i = 0; i < document->n_fields; i++) {
        const struct nd_field *field = &document->fields[i];

        if (field->name.len != len || (len && memcmp(field->name.data, name, len) != 0))
            continue;
        if (document->fields_replaced)
            *replaced = document->fields_replaced[i];
        return field->value;
    }
    if (len)
        return (struct nd_view){NULL, 0};
    len = (size_t)snprintf(digits, 24, "%lld",
                           (long long)nd_text_length(document->text.data, document->text.len));
    return (struct nd_view){digits, len};
}

enum nd_status nd_document_rows_fields(struct nd_document_rows *rows,
                                       const struct nd_document *document,
                                       struct nd_sketch_row *row)
{
    static const char zeroes[8];
    struct nd_view value[ND_SKETCH_FIELDS_MAX] = {0};
    char digits[24];
    bool ok = true;

    rows->values.len = 0;
    for (size_t i = 0; ok && i < rows->n_fields; i++) {
        struct nd_sketch_value_head head = {.bytes = ND_SKETCH_NO_VALUE};

        value[i] = value_of(document, rows->field[i], digits, &head.replaced);
        if (value[i].data && value[i].len < ND_SKETCH_NO_VALUE)
            head.bytes = (uint32_t)value[i].len;
        ok = nd_buffer_append(&rows->values, &head, sizeof head);
    }
    for (size_t i = 0; ok && i < rows->n_fields; i++)
        ok = !value[i].len || nd_buffer_append(&rows->values, value[i].data, value[i].len);
    ok = ok && nd_buffer_append(&rows->values, zeroes, -rows->values.len % 8);
    row->fields = (struct nd_view){rows->values.data, rows->values.len};
    row->n_fields = (unsigned)rows->n_fields;
    return ok ? ND_OK : ND_ENOMEM;
}

void nd_document_row_identify(const struct nd_beside *beside, const struct nd_document *document,
                              struct nd_sketch_row *row)
{
    row->beside = nd_beside_hash(beside, document);
    nd_hash_bytes_128(document->text.data, document->text.len, &row->text_hash[0],
                      &row->text_hash[1]);
    for (int i = 0; i < 2; i++)
        row->text_hash[i] = nd_replaced_mark(row->text_hash[i], document->text_replaced);
}

enum nd_status nd_document_rows_make(struct nd_document_rows *rows,
                                     const struct nd_document *document, struct nd_sketch_row *row,
                                     struct nd_error *err)
{
    enum nd_status status = sketch(rows, document, row);

    if (status == ND_EINVAL)
        return nd_fail(err, status, "the text is not valid UTF-8");
    if (status == ND_OK)
        status = sign(rows, document, row);
    if (status == ND_OK)
        status = nd_document_rows_fields(rows, document, row);
    if (status != ND_OK)
        return nd_fail(err, status, "out of memory");
    row->text_bytes = document->text.len;
    row->id = document->id;
    row->id_kind = document->id_kind;
    nd_document_row_identify(&rows->beside, document, row);
    return ND_OK;
}
