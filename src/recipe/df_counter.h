/* df_counter.h - documents counted into a df table: a featurer and a builder, for one thread */
#ifndef ND_RECIPE_DF_COUNTER_H
#define ND_RECIPE_DF_COUNTER_H

#include <stdbool.h>

#include <neardup/df.h>
#include <neardup/feature.h>

struct nd_df_counter {
    struct nd_featurer *featurer;
    struct nd_df_builder *builder; /* of several counters: nd_df_builder_write */
    uint64_t *hash;
    struct nd_view *text;
    size_t capacity, text_capacity;
    bool keep_texts;
    bool has_counted; /* any feature */
};

/*
 * A counter of the features that params->features say, which is not NULL.  *c must be released
 * whatever the status: what nd_featurer_new and nd_df_builder_new say.
 */
ND_API enum nd_status nd_df_counter_init(struct nd_df_counter *c,
                                         const struct nd_df_builder_params *params,
                                         struct nd_error *err);
ND_API void nd_df_counter_release(struct nd_df_counter *c);

/* Count a document.  What nd_featurer_run and nd_df_builder_add return. */
ND_API enum nd_status nd_df_counter_add(struct nd_df_counter *c, const struct nd_document *document,
                                        struct nd_error *err);

#endif
