/* against_short.c - new documents that contain a short old one as a whole */
#include "old/against_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "old/against_parts.h"
#include "recipe/recipe_struct.h"

/* ---- While the new documents are read ---- */

static void look_for_short(void *context, size_t task, unsigned worker)
{
    struct nd_against *a = context;
    const struct nd_parsed *parsed = &a->batch->parsed[task];
    struct nd_short_hit *found = &a->short_of[a->n_records + task];
    uint64_t *files = a->n_words ? &a->short_files[(a->n_records + task) * a->n_words] : NULL;

    found->number = ND_AGAINST_NONE;
    if (files)
        memset(files, 0, a->n_words * sizeof *files);
    if (!parsed->bad &&
        nd_short_texts_find(a->short_texts, worker, parsed->document.text, found, files) < 0)
        atomic_store(&a->has_failed, true);
}

enum nd_status nd_against_look_for_short(struct nd_against *a, const struct nd_reading_batch *batch,
                                         struct nd_error *err)
{
    if (!a->short_texts)
        return ND_OK;
    a->batch = batch;
    if (!ND_RESERVE(a->short_of, &a->short_capacity, a->n_records + batch->count) ||
        !ND_RESERVE(a->short_files, &a->short_files_capacity,
                    (a->n_records + batch->count) * a->n_words))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    nd_pool_run(a->part.pool, batch->count, look_for_short, a);
    return atomic_load(&a->has_failed) ? nd_fail(err, ND_ENOMEM, "out of memory") : ND_OK;
}

/* ---- Once the old documents are decided ---- */

enum nd_status nd_against_keep_old(struct nd_against *a, uint64_t document, struct nd_error *err)
{
    if (!a->short_texts ||
        nd_kept_rows_add(&a->equal, a->part.recipe, &a->item_row[document - a->loaded_from]))
        return ND_OK;
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

void nd_against_count_short(const struct nd_against *a, uint32_t record, struct nd_quoted *quoted)
{
    const uint64_t *files = a->short_texts ? &a->short_files[record * a->n_words] : NULL;

    for (size_t i = 0; files && i < a->n_seen; i++)
        if (files[i / 64] >> i % 64 & 1)
            nd_quoted_count(quoted, a->seen[i].group, record);
}

enum nd_status nd_against_find_short(struct nd_against *a, uint32_t record,
                                     struct nd_decision *decision, bool *found,
                                     struct nd_error *err)
{
    const struct nd_short_hit *hit = a->short_texts ? &a->short_of[record] : NULL;
    struct nd_sketch_row row;
    enum nd_status status;

    *found = false;
    if (!hit || hit->number == ND_AGAINST_NONE)
        return ND_OK;
    status = nd_fresh_rows_get(a->fresh, a->document_of[record], ND_SKETCH_FILE_ROWS, &a->room[0],
                               &row, err);
    if (status != ND_OK || nd_kept_rows_equal(&a->equal, a->part.recipe, &row))
        return status;
    *found = true;
    *decision = nd_short_hit_decision(hit, hit->number);
    return ND_OK;
}
