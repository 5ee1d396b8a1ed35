/* open_index.h - the index of an open store: from its snapshot, or from the rows of the database */
#ifndef ND_STORE_OPEN_INDEX_H
#define ND_STORE_OPEN_INDEX_H

#include "store/store_state.h"

/* Make store->index what the database says.  ND_EIO, ND_EINPUT, ND_ENOMEM. */
enum nd_status nd_store_open_index(struct nd_store *store, struct nd_txn *txn,
                                   const struct nd_catalog_state *state, struct nd_error *err);

#endif
