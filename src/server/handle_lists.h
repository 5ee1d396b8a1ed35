/* handle_lists.h - lists with an end that another request goes on from: documents, clusters */
#ifndef ND_SERVER_HANDLE_LISTS_H
#define ND_SERVER_HANDLE_LISTS_H

#include <stdbool.h>

#include "server/state.h"
#include "server/workspace.h"

/* Whether a list of documents takes long: many are wanted, or many must be looked at. */
bool nd_handler_lists_long(const struct nd_exchange *x);

/* GET /v1/documents: the newest that the caller sees, perhaps of a site or with a word in the title. */
enum nd_refusal nd_handle_recent(struct nd_exchange *x, struct nd_workspace *w,
                                 struct nd_error *err);
/* GET /v1/clusters: the largest, the newest or those that grow, among the newest documents. */
enum nd_refusal nd_handle_clusters(struct nd_exchange *x, struct nd_workspace *w,
                                   struct nd_error *err);

#endif
