/* df_counter.c - documents counted into a df table: a featurer and a builder, for one thread */
#include "recipe/df_counter.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum nd_status nd_df_counter_init(struct nd_df_counter *c,
                                  const struct nd_df_builder_params *params, struct nd_error *err)
{
    const struct nd_weight_params weights = nd_weight_params_default();
    const struct nd_feature_params counted = nd_df_counted(params->features);

    *c = (struct nd_df_counter){.keep_texts = params->keep_texts};
    c->featurer = nd_featurer_new(&counted, &weights, NULL, err);
    c->builder = c->featurer ? nd_df_builder_new(params, err) : NULL;
    return c->builder ? ND_OK : err->status;
}

void nd_df_counter_release(struct nd_df_counter *c)
{
    nd_featurer_free(c->featurer);
    nd_df_builder_free(c->builder);
    free(c->hash);
    free(c->text);
    *c = (struct nd_df_counter){.featurer = NULL};
}

/* Split the texts of n features, which are in one string, separated by '\n'. */
static void split(const char *text, size_t len, size_t n, struct nd_view *view)
{
    const char *p = text, *end = text + len;

    for (size_t i = 0; i < n; i++) {
        const char *line = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;

        line = line ? line : end;
        view[i] = (struct nd_view){p, (size_t)(line - p)};
        p = line < end ? line + 1 : end;
    }
}

static enum nd_status count_features(struct nd_df_counter *c, const struct nd_features *f,
                                     const char *text, size_t len, struct nd_error *err)
{
    if (!ND_RESERVE(c->hash, &c->capacity, f->count) ||
        (text && !ND_RESERVE(c->text, &c->text_capacity, f->count)))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < f->count; i++)
        c->hash[i] = f->items[i].hash;
    c->has_counted = c->has_counted || f->count;
    if (text)
        split(text, len, f->count, c->text);
    return nd_df_builder_add(c->builder, c->hash, f->count, text ? c->text : NULL, err);
}

enum nd_status nd_df_counter_add(struct nd_df_counter *c, const struct nd_document *document,
                                 struct nd_error *err)
{
    struct nd_features features;
    enum nd_status status;
    char *text = NULL;
    size_t len = 0;

    if (c->keep_texts)
        status = nd_featurer_explain(c->featurer, document, &text, &len, &features);
    else
        status = nd_featurer_run(c->featurer, document, &features);
    if (status == ND_OK)
        status = count_features(c, &features, text, len, err);
    else
        nd_fail(err, status, "out of memory");
    free(text);
    return status;
}
