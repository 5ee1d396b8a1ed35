/* row_documents.h - the documents of the rows of a manifest, found again */
#ifndef ND_USES_ROW_DOCUMENTS_H
#define ND_USES_ROW_DOCUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "run/run_parts.h"
#include "uses/read_manifest.h"
#include "uses/two_documents.h"

/* Starts from zeroes. */
struct nd_row_documents {
    struct nd_held *held; /* of row i: held[2 i] was kept, held[2 i + 1] removed */
    size_t n;
    /* Inputs of the manifest that were left out, and the first of them, which the manifest owns. */
    size_t n_missing;
    const char *first_missing;
};

/*
 * Find both documents of each of manifest->row: in the inputs that the manifest names, by their places
 * (paths of the manifest in which bytes are escaped are restored), or in the paths of the run's options,
 * by place or by id.  The run reads as run->input says.  They are held in memory; one that is not there
 * is none of them.  leaves_out: an input of the manifest that cannot be opened is no error.  ND_EINPUT:
 * the inputs were the standard input; the statuses of nd_each_record.  Undo with
 * nd_row_documents_release, whatever the status.
 */
enum nd_status nd_row_documents_find(struct nd_row_documents *found, const struct nd_run *run,
                                     const struct nd_manifest *manifest, bool leaves_out,
                                     struct nd_error *err);
void nd_row_documents_release(struct nd_row_documents *found);

#endif
