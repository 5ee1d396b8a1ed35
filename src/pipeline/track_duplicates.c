/* track_duplicates.c - which documents are near duplicates of others, by their last versions */
#include "pipeline/track_duplicates.h"

#include <stdlib.h>
#include <string.h>

bool nd_last_versions_hold(struct nd_last_versions *l, size_t number,
                           const struct nd_use_item *item, int64_t time)
{
    const struct nd_view record = item->parsed->record.bytes;
    void *array = l->at;
    struct nd_last_version *v;

    if (!nd_array_reserve(&array, &l->capacity, number + 1, sizeof *l->at))
        return false;
    l->at = array;
    if (number >= l->n) {
        memset(&l->at[l->n], 0, (number + 1 - l->n) * sizeof *l->at);
        l->n = number + 1;
    }
    v = &l->at[number];
    if (v->source && time < v->time)
        return true;
    v->record.len = 0;
    v->source = item->source;
    v->time = time;
    return nd_buffer_append(&v->record, record.data, record.len) &&
           nd_buffer_reserve(&v->record, v->record.len); /* and what is read beyond */
}

void nd_last_versions_release(struct nd_last_versions *l)
{
    for (size_t i = 0; i < l->n; i++)
        nd_buffer_release(&l->at[i].record);
    free(l->at);
    *l = (struct nd_last_versions){0};
}

struct comparing {
    struct nd_parser *parser;
    struct nd_document *document;
    struct nd_dedup_item *item;
    struct nd_decision *decision;
    uint32_t *number; /* of each item */
    size_t n;
};

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory for the last versions");
}

/* What was good when it was first read is good again. */
static enum nd_status parse_all(const struct nd_last_versions *l, struct comparing *c,
                                struct nd_error *err)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct nd_last_version *v = &l->at[i];
        struct nd_document *document = &c->document[c->n];
        struct nd_bad_record bad;

        if (!v->source)
            continue;
        if (nd_parser_parse(c->parser, v->source, (struct nd_view){v->record.data, v->record.len},
                            document, NULL, &bad) != 1)
            return no_memory(err);
        c->number[c->n] = (uint32_t)i;
        c->item[c->n++] = (struct nd_dedup_item){.text = document->text, .document = document};
    }
    return ND_OK;
}

static enum nd_status push_all(struct comparing *c, const struct nd_use *use, uint32_t *like,
                               struct nd_error *err)
{
    struct nd_dedup_params params = nd_run_dedup_params(&use->run.recipe);
    struct nd_dedup *dedup;
    enum nd_status status;

    params.cluster = ND_CLUSTER_STAR;
    dedup = nd_dedup_new_on(use->run.pool, &params, NULL, err);
    status = dedup ? nd_dedup_push(dedup, c->item, c->n, c->decision, err) : err->status;
    for (size_t i = 0; status == ND_OK && i < c->n; i++)
        like[c->number[i]] = c->number[c->decision[i].kept];
    nd_dedup_free(dedup);
    return status;
}

enum nd_status nd_last_versions_compare(const struct nd_last_versions *l, const struct nd_use *use,
                                        uint32_t *like, struct nd_error *err)
{
    struct comparing c = {.parser = nd_parser_new(&use->run.input, err),
                          .document = nd_alloc_array(l->n, sizeof *c.document),
                          .item = nd_alloc_array(l->n, sizeof *c.item),
                          .decision = nd_alloc_array(l->n, sizeof *c.decision),
                          .number = nd_alloc_array(l->n, sizeof *c.number)};
    enum nd_status status = ND_OK;

    if (!c.parser || !c.document || !c.item || !c.decision || !c.number)
        status = no_memory(err);
    if (status == ND_OK)
        status = parse_all(l, &c, err);
    if (status == ND_OK)
        status = push_all(&c, use, like, err);
    nd_parser_free(c.parser);
    free(c.document);
    free(c.item);
    free(c.decision);
    free(c.number);
    return status;
}
