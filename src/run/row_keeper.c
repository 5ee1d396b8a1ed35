/* row_keeper.c - rows of texts that were sketched before, and those that are made now for a checkpoint */
#include "run/row_keeper.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "record/document_row.h"
#include "record/packed_document.h"
#include "sketches/checkpoint.h"
#include "sketches/known_rows.h"

struct nd_row_keeper {
    struct nd_run *run;
    unsigned n_workers;
    struct nd_dedup_item *item;
    bool makes;                     /* rows that are not known */
    struct nd_document_rows *maker; /* one a worker, like the arenas and the errors */
    struct nd_arena *arena;
    struct nd_error *error;
    struct nd_sketch_row *made; /* by item */
    bool *is_made;
};

static bool make_parts(struct nd_row_keeper *k, struct nd_error *err)
{
    bool ok = true;

    k->maker = calloc(k->n_workers, sizeof *k->maker);
    k->arena = calloc(k->n_workers, sizeof *k->arena);
    k->error = calloc(k->n_workers, sizeof *k->error);
    k->made = nd_alloc_array(ND_BOUNDED_BATCH, sizeof *k->made);
    k->is_made = nd_alloc_array(ND_BOUNDED_BATCH, sizeof *k->is_made);
    if (!k->maker || !k->arena || !k->error || !k->made || !k->is_made) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return false;
    }
    for (unsigned i = 0; ok && i < k->n_workers; i++)
        ok = nd_document_rows_init(&k->maker[i], k->run->recipe, err);
    return ok;
}

struct nd_row_keeper *nd_row_keeper_new(struct nd_run *run, struct nd_error *err)
{
    struct nd_row_keeper *k = calloc(1, sizeof *k);

    if (!k) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    k->run = run;
    k->n_workers = nd_pool_threads(run->pool);
    if (make_parts(k, err))
        return k;
    nd_row_keeper_free(k);
    return NULL;
}

void nd_row_keeper_free(struct nd_row_keeper *k)
{
    if (!k)
        return;
    for (unsigned i = 0; i < k->n_workers; i++) {
        if (k->maker)
            nd_document_rows_release(&k->maker[i]);
        if (k->arena)
            nd_arena_release(&k->arena[i]);
    }
    free(k->maker);
    free(k->arena);
    free(k->error);
    free(k->made);
    free(k->is_made);
    free(k);
}

/* Make the row of item i; what it points to moves into the worker's arena. */
static enum nd_status make_row(struct nd_row_keeper *k, size_t i, unsigned worker,
                               struct nd_error *err)
{
    struct nd_sketch_row *row = &k->made[i];
    enum nd_status status;

    *row = (struct nd_sketch_row){0};
    status = nd_document_rows_make(&k->maker[worker], k->item[i].document, row, err);
    if (status != ND_OK)
        return status;
    if (!nd_sketch_row_hold(row, &k->arena[worker]))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    k->is_made[i] = true;
    k->item[i].known = row;
    return ND_OK;
}

static void find_task(void *context, size_t i, unsigned worker)
{
    struct nd_row_keeper *k = context;
    struct nd_error *err = &k->error[worker];

    if (!k->item[i].document || err->status != ND_OK)
        return;
    k->item[i].known = nd_known_rows_find(k->run->known, worker, k->item[i].document);
    if (!k->item[i].known && k->makes)
        (void)make_row(k, i, worker, err);
}

static void find_all(struct nd_row_keeper *k, struct nd_dedup_item *item, size_t n, bool makes)
{
    k->item = item;
    k->makes = makes;
    for (unsigned i = 0; i < k->n_workers; i++) {
        nd_known_rows_begin(k->run->known, i);
        nd_arena_reset(&k->arena[i]);
        k->error[i].status = ND_OK;
    }
    nd_pool_run(k->run->pool, n, find_task, k);
}

void nd_row_keeper_find(struct nd_row_keeper *k, struct nd_dedup_item *item, size_t n)
{
    find_all(k, item, n, false);
}

enum nd_status nd_row_keeper_make(struct nd_row_keeper *k, struct nd_dedup_item *item, size_t n,
                                  struct nd_error *err)
{
    enum nd_status status = ND_OK;

    memset(k->is_made, 0, n * sizeof *k->is_made);
    find_all(k, item, n, k->run->checkpoint != NULL);
    for (unsigned i = 0; i < k->n_workers; i++)
        if (k->error[i].status != ND_OK) {
            *err = k->error[i];
            return err->status;
        }
    for (size_t i = 0; status == ND_OK && i < n; i++)
        if (k->is_made[i])
            status = nd_checkpoint_add(k->run->checkpoint, &k->made[i], err);
    return status;
}
