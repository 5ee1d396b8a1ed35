/* row_keeper.h - rows of texts that were sketched before, and those that are made now for a checkpoint */
#ifndef ND_RUN_ROW_KEEPER_H
#define ND_RUN_ROW_KEEPER_H

#include "run/bounded_records.h"

/* For batches of documents that are loaded, on all threads of a run that has known rows. */
struct nd_row_keeper;

/* The run is borrowed.  NULL: ND_ENOMEM, or what a signature of the recipe says. */
struct nd_row_keeper *nd_row_keeper_new(struct nd_run *run, struct nd_error *err);
/* NULL is allowed. */
void nd_row_keeper_free(struct nd_row_keeper *keeper);

/* Put the known row of each document into its item, until the next call; items without `document` are
 * of bad records. */
void nd_row_keeper_find(struct nd_row_keeper *keeper, struct nd_dedup_item *item, size_t n);
/* Put the known rows into the items of ND_BOUNDED_BATCH documents at most; where the run has a
 * checkpoint, rows that are not known are made and kept in it.  ND_ENOMEM, ND_EIO. */
enum nd_status nd_row_keeper_make(struct nd_row_keeper *keeper, struct nd_dedup_item *item,
                                  size_t n, struct nd_error *err);

#endif
