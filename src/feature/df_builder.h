/* df_builder.h - counted terms in memory, and the runs that were too many */
#ifndef ND_FEATURE_DF_BUILDER_H
#define ND_FEATURE_DF_BUILDER_H

#include "base/handle.h"
#include "base/memory.h"
#include "feature/df_layout.h"
#include "feature/df_runs.h"

/*
 * The table has linear probing from nd_df_home on, so its entries stand nearly in order of their
 * keys, and no key goes round from the end to the beginning: behind the last home are
 * ND_DF_BEYOND slots more.  count 0: free.
 */
struct nd_df_builder {
    struct nd_handle handle;
    bool is_used_up; /* it was written */
    uint64_t memory;
    char *tmp;
    bool keep_texts;
    char features[ND_DF_FEATURES_MAX];

    struct nd_df_entry *entry;
    uint64_t *text; /* of each entry, the place in `texts`; NULL where none are kept */
    size_t homes, used;
    struct nd_buffer texts;
    uint64_t documents;
    uint32_t stamp; /* of this document, in this table */

    struct nd_df_spill spill;
    uint64_t *run_end; /* of each run in the file */
    size_t n_runs, runs_capacity;
};
#define ND_DF_BEYOND 4096

/* Begin and end a call that changes it: ND_EINVAL, an earlier one failed, or it was written. */
enum nd_status nd_df_builder_enter(struct nd_df_builder *b, struct nd_error *err);
enum nd_status nd_df_builder_leave(struct nd_df_builder *b, enum nd_status status);

/* Put the entries to the front of the table, in order; nothing can be added then. */
void nd_df_builder_sort(struct nd_df_builder *b);

#endif
