/* count_df.h - what the runs for df tables share */
#ifndef ND_RUN_COUNT_DF_H
#define ND_RUN_COUNT_DF_H

#include "run/run_parts.h"

#include <neardup/run_df.h>

#include "recipe/df_counter.h"

/* nd_run_each_batch and nd_run_judge.  ND_EINPUT also where there is no document at all. */
enum nd_status nd_run_df_read(struct nd_run *run, nd_run_batch *each, void *context,
                              struct nd_error *err);

#endif
