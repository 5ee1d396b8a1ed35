/* sketched.c - documents that come without their texts: as rows of a sketch file by the same recipe */
#include "engine/document/sketched.h"

#include <string.h>

enum nd_status nd_sketched_check(const struct nd_engine_plan *plan, const struct nd_sketch_row *row,
                                 size_t at, struct nd_error *err)
{
    if (!plan->params.takes_sketches)
        return nd_fail(err, ND_EINVAL, "item %zu is a sketch, and the engine takes texts only", at);
    if (plan->params.verify != ND_VERIFY_NONE && row->n_shingles && !row->shingles)
        return nd_fail(
            err, ND_EINVAL,
            "item %zu: the sketch has no shingles, and they are compared unless `verify` "
            "is none",
            at);
    return ND_OK;
}

bool nd_sketched_takes_known(const struct nd_engine_plan *plan)
{
    return plan->params.takes_sketches && !plan->containers.sample;
}

struct nd_sketch nd_sketched_counts(const struct nd_sketch_row *row)
{
    return (struct nd_sketch){
        .n_tokens = row->tokens, .n_shingles = row->n_shingles, .identity = row->identity};
}

bool nd_sketched_from_item(const struct nd_engine_plan *plan, const struct nd_item *item,
                           struct nd_sketch_row *out)
{
    const struct nd_index_row *row = &item->read.row;
    const struct nd_document_signatures *x = item->read.signatures;
    const struct nd_document text_alone = {.text = item->text};

    if (nd_item_row(item) || !item->is_read || !row->key || (plan->matching && !x))
        return false;
    *out = (struct nd_sketch_row){
        .text_hash = {item->raw, item->raw_second},
        .identity = row->identity,
        .simhash = row->simhash,
        .tokens = item->read.n_tokens,
        .text_bytes = item->text.len,
        .n_shingles = row->n_shingles,
        .length = x ? x->length : 0,
    };
    memcpy(out->low, row->low, sizeof out->low);
    if (plan->matching)
        out->beside =
            nd_beside_hash(&plan->matching->beside, item->document ? item->document : &text_alone);
    if (x)
        memcpy(out->signature, x->signature, sizeof out->signature);
    return true;
}

/* A part that is not made of texts stays 0 here too, so that rows of both can be compared. */
void nd_sketched_fill_row(const struct nd_engine_plan *plan, const struct nd_sketch_row *row,
                          struct nd_index_row *out)
{
    out->simhash = row->simhash;
    if (plan->sketch_parts & ND_SKETCH_MINHASH)
        memcpy(out->low, row->low, ND_MINHASH_COUNT);
}
