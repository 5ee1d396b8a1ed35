/* row_maker.c - documents made into rows of an index outside of an engine: what is looked up, how near
 */
#include "candidates/row_maker.h"

#include <stdlib.h>
#include <string.h>

/* ---- What a recipe asks for ---- */

static enum nd_status unsupported(const char **key, const char *name)
{
    *key = name;
    return ND_EUNSUPPORTED;
}

/* A rule that is one test, of the bits of one signature. */
static enum nd_status plan_fingerprint(struct nd_row_plan *rows, const char **key)
{
    const struct nd_matching *m = rows->plan.matching;
    const struct nd_signature_shape *shape = &m->shape[m->lookup[0].signature];

    if (m->n_lookups != 1 || m->rule.node[0].kind != ND_RULE_TEST ||
        m->lookup[0].way != ND_LOOKUP_BLOCKS)
        return unsupported(key, "match");
    rows->kind = ND_ROW_FINGERPRINT;
    rows->signature = m->lookup[0].signature;
    rows->words = shape->words;
    rows->plan.distance = m->lookup[0].blocks - 1;
    memcpy(rows->mask, shape->mask, sizeof rows->mask);
    return ND_OK;
}

static enum nd_status plan_rows(struct nd_row_plan *rows, const char **key)
{
    const struct nd_engine_plan *plan = &rows->plan;

    switch (plan->params.candidates) {
    case ND_CANDIDATES_MATCH: return plan_fingerprint(rows, key);
    case ND_CANDIDATES_IDENTITY: return ND_OK;
    case ND_CANDIDATES_ALL: return unsupported(key, "candidates");
    case ND_CANDIDATES_SIMHASH:
        rows->kind = ND_ROW_SIMHASH;
        rows->words = 1;
        rows->mask[0] = UINT64_MAX;
        break;
    case ND_CANDIDATES_MINHASH:
        rows->kind = ND_ROW_LOW_BYTES;
        rows->words = ND_MINHASH_COUNT / 8;
        break;
    }
    if (plan->params.verify != ND_VERIFY_JACCARD && plan->params.verify != ND_VERIFY_NONE)
        return unsupported(key, "verify");
    return ND_OK;
}

enum nd_status nd_row_plan_init(struct nd_row_plan *rows, const struct nd_recipe *recipe,
                                const char **key, struct nd_error *err)
{
    struct nd_dedup_params params;
    enum nd_status status;

    *rows = (struct nd_row_plan){.kind = ND_ROW_NOTHING};
    status = nd_recipe_params_check(recipe, err);
    if (status == ND_OK) {
        params = nd_recipe_dedup_params(recipe);
        status = nd_dedup_params_check(&params, err);
    }
    if (status == ND_OK)
        status = nd_engine_plan_init(&rows->plan, &params, err);
    return status == ND_OK ? plan_rows(rows, key) : status;
}

void nd_row_plan_release(struct nd_row_plan *rows)
{
    nd_engine_plan_release(&rows->plan);
}

/* ---- How far apart ---- */

unsigned nd_row_distance(const struct nd_row_plan *rows, const void *a, const void *b)
{
    const unsigned char *x = a, *y = b;
    unsigned distance = 0;

    if (rows->kind == ND_ROW_LOW_BYTES)
        return ND_MINHASH_COUNT - nd_low_bytes_equal(a, b);
    for (size_t i = 0; i < rows->words; i++) {
        uint64_t of_x, of_y;

        memcpy(&of_x, x + i * sizeof of_x, sizeof of_x);
        memcpy(&of_y, y + i * sizeof of_y, sizeof of_y);
        distance += nd_count_ones((of_x ^ of_y) & rows->mask[i]);
    }
    return distance;
}

/* ---- Documents ---- */

bool nd_row_maker_init(struct nd_row_maker *maker, const struct nd_row_plan *rows,
                       struct nd_error *err)
{
    *maker = (struct nd_row_maker){.rows = rows};
    maker->key = nd_alloc_array(rows->plan.n_keys, sizeof *maker->key);
    if (!maker->key) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return false;
    }
    maker->crew.pool = nd_pool_new(1, err);
    maker->crew.owns_pool = true;
    return maker->crew.pool && nd_crew_init(&maker->crew, &rows->plan, err);
}

void nd_row_maker_release(struct nd_row_maker *maker)
{
    if (maker->crew.pool)
        nd_crew_release(&maker->crew);
    free(maker->key);
}

enum nd_status nd_row_maker_run(struct nd_row_maker *maker, const struct nd_dedup_item *document,
                                bool all, struct nd_item *item, struct nd_error *err)
{
    struct nd_worker *w = maker->crew.worker;

    *item = (struct nd_item){.text = document->text,
                             .document = document->document,
                             .sketched = document->sketched,
                             .known = document->known,
                             .key = maker->key};
    if (!nd_utf8_valid(document->text.data, document->text.len))
        return nd_fail(err, ND_EINVAL, "the text is not valid UTF-8");
    nd_worker_begin(w);
    nd_arena_reset(&w->held);
    if (nd_item_read(w, item) &&
        ((all && item->read.n_tokens > 0) || nd_row_is_compared(maker->rows, item))) {
        nd_item_sketch(w, item);
        (void)nd_item_sign(w, item);
    }
    if (w->status && err)
        *err = w->error;
    return w->status;
}
