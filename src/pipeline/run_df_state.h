/* run_df_state.h - what the runs for df tables share */
#ifndef ND_PIPELINE_RUN_DF_STATE_H
#define ND_PIPELINE_RUN_DF_STATE_H

#include "pipeline/run_state.h"

#include <neardup/run_df.h>

/* The options with a recipe that names no signatures, and so no table. */
struct nd_run_options nd_run_df_plain(const struct nd_run_options *options);

/* The signature of this name, or the first for NULL; NULL: there is none. */
const struct nd_named_signature *nd_run_df_signature(const struct nd_recipe *recipe,
                                                     const char *which);

/* Bytes of each worker's builder. */
uint64_t nd_run_df_memory(const struct nd_run_df_options *df, unsigned n_workers);

/*
 * Go through all documents: bad records are told and counted, then the batch is given to `each`,
 * then progress is told.  ND_EINPUT: there is no document at all.
 */
enum nd_status nd_run_each_batch(struct nd_run *run,
                                 enum nd_status (*each)(void *context,
                                                        struct nd_reading_batch *batch,
                                                        struct nd_error *err),
                                 void *context, struct nd_error *err);

#endif
