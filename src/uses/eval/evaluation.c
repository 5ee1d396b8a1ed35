/* evaluation.c - what results are held against: the ids of the documents, and the truth */
#include "uses/eval/evaluation.h"

#include <inttypes.h>

/* The ids of documents while they are read. */
struct ids_reading {
    struct nd_eval_ids *ids;
    struct nd_attributes *attributes; /* NULL: none is wanted */
    struct nd_use documents;
};

static enum nd_status take(void *context, const struct nd_parsed *parsed, struct nd_error *err)
{
    struct ids_reading *x = context;
    const struct nd_name name = nd_use_name(&x->documents, parsed);
    const size_t before = x->ids->names.count;
    struct nd_view plain;
    char shown[100];
    uint32_t id;

    if (!nd_eval_ids_plain(x->ids, name.text, &plain) ||
        !nd_groups_number(&x->ids->names, plain, &id))
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu ids", before);
    if (x->ids->names.count > before) {
        struct nd_attributes *a = x->attributes;
        const struct nd_view none = {NULL, 0};

        if (a &&
            !nd_attributes_add(
                a, a->field ? nd_run_asked(&x->documents.run, &parsed->document, 0) : none,
                a->kind == ND_ATTRIBUTE_LENGTH ? nd_use_sketch_of(&x->documents, parsed)->n_tokens
                                               : 0))
            return nd_fail(err, ND_ENOMEM, "out of memory for %zu documents", before);
        return ND_OK;
    }
    nd_name_show(name.text, shown, sizeof shown);
    return nd_fail(err, ND_EINPUT,
                   "%s:%" PRIu64 ": the id '%s' again: each document needs an id of its own",
                   parsed->source->path, parsed->record.line, shown);
}

enum nd_status nd_eval_ids_read(struct nd_eval_ids *ids, struct nd_attributes *attributes,
                                const struct nd_run_options *options,
                                const struct nd_run_events *events, struct nd_error *err)
{
    const struct nd_run_request request = {.ignores_signatures = true,
                                           .fields = {attributes ? attributes->field : NULL}};
    struct ids_reading x = {.ids = ids, .attributes = attributes};
    const bool counts = attributes && attributes->kind == ND_ATTRIBUTE_LENGTH;
    enum nd_status status = nd_use_begin(&x.documents, options, &request, events, err);

    if (status == ND_OK)
        status = nd_use_walk(&x.documents, counts ? 0 : -1, take, &x, err);
    status = nd_use_end(&x.documents, status, 0, NULL, err);
    ids->n_known = ids->names.count;
    return status;
}

static enum nd_status read_truth(struct nd_evaluation *e, struct nd_error *err)
{
    const struct nd_eval_params *p = e->params;
    const struct nd_relation_request request = {
        .form = p->truth_form,
        .is_truth = true,
        .refuses_strangers = e->has_documents,
        .labels = {p->has_at != 0, p->at, p->positive, p->n_positive}};
    enum nd_status status = nd_relation_read(&e->truth, p->truth, &request, &e->ids, err);

    if (!e->has_documents)
        e->ids.n_known = e->ids.names.count;
    if (status != ND_OK)
        return status;
    if (p->universe == ND_EVAL_SAMPLE && e->truth.form != ND_EVAL_CLUSTERS)
        return nd_fail(err, ND_EINVAL, "%s: --universe sample needs a truth of clusters", p->truth);
    e->all = p->universe == ND_EVAL_ALL || (e->truth.has_sets && p->universe == ND_EVAL_UNSAID);
    if (p->universe == ND_EVAL_UNSAID && !e->truth.has_sets)
        return nd_fail(
            err, ND_EINVAL,
            "%s: the truth is of pairs: say with --universe which pairs count: labelled, "
            "those in the file (a sample that people judged), or all, where those that "
            "are not in the file are different (the pairs of an exact search)",
            p->truth);
    return ND_OK;
}

enum nd_status nd_evaluation_read(struct nd_evaluation *e, const struct nd_run_options *options,
                                  const struct nd_eval_params *params,
                                  const struct nd_run_events *events, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    e->params = params;
    e->has_documents = options->n_paths > 0;
    if (params->by)
        nd_attributes_parse(&e->attributes, params->by);
    if (e->attributes.kind != ND_ATTRIBUTE_NONE && !e->has_documents)
        return nd_fail(err, ND_EINVAL, "--by %.60s is of documents: name them with --documents",
                       params->by);
    if (e->has_documents)
        status = nd_eval_ids_read(&e->ids, e->attributes.kind ? &e->attributes : NULL, options,
                                  events, err);
    return status == ND_OK ? read_truth(e, err) : status;
}

void nd_evaluation_release(struct nd_evaluation *e)
{
    nd_relation_release(&e->truth);
    nd_attributes_release(&e->attributes);
    nd_eval_ids_release(&e->ids);
}
