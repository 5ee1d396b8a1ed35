/* open_index.h - the index of a store that is opened: from its snapshot, or from the database */
#ifndef ND_STORE_UPKEEP_OPEN_INDEX_H
#define ND_STORE_UPKEEP_OPEN_INDEX_H

#include "store/read/store_state.h"

/* Make store->index what the database says; *next: its next number.  ND_EIO, ND_EINPUT, ND_ENOMEM. */
enum nd_status nd_store_open_index(struct nd_store *store, struct nd_txn *txn,
                                   const struct nd_catalog_state *state, uint32_t *next,
                                   struct nd_error *err);

/* For nd_store_run: make the index anew, as its snapshot is damaged. */
enum nd_status nd_store_renew_index(struct nd_store *store, void *context, struct nd_error *err);

#endif
