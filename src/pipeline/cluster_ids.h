/* cluster_ids.h - the documents of one cluster, by the file that a run wrote */
#ifndef ND_PIPELINE_CLUSTER_IDS_H
#define ND_PIPELINE_CLUSTER_IDS_H

#include <stdbool.h>

#include "pipeline/names.h"
#include <neardup/error.h>

/* Ids as they stand in the file; found by their hashes.  Starts from zeroes. */
struct nd_cluster_ids {
    uint64_t *hash; /* sorted */
    size_t n, capacity;
};
void nd_cluster_ids_release(struct nd_cluster_ids *ids);

/*
 * Those of the cluster of document `cluster`, which need not be the kept one, in a file of lines
 * "id TAB id of the kept one", compressed or not.  ND_EINPUT: not such a file, or the id is not in
 * it; ND_EIO, ND_ENOMEM.
 */
enum nd_status nd_cluster_ids_read(struct nd_cluster_ids *ids, const char *path,
                                   const char *cluster, struct nd_error *err);

/* Whether a document is one of them; `room` is scratch. */
bool nd_cluster_ids_has(const struct nd_cluster_ids *ids, const struct nd_name *name,
                        struct nd_json *room);

#endif
