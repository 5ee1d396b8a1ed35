/* write.h - a document on its way into the store */
#ifndef ND_STORE_WRITE_WRITE_H
#define ND_STORE_WRITE_WRITE_H

#include "store/read/callers.h"
#include "store/search/sketching.h"
#include "store/store.h"

struct nd_write {
    struct nd_caller *caller; /* held */
    char *memory;             /* of the id, the label set and the text */
    struct nd_view id, set;   /* set: canonical bytes (label_sets.h) */
    struct nd_view *labels;   /* of the set */
    size_t n_labels;
    bool is_deletion, any_labels;
    struct nd_title title;
    struct nd_asked asked;
    struct nd_sketched sketched;
    uint64_t *shingle; /* of sketched */
    struct nd_buffer
        signatures; /* packed, where the recipe decides by them; sketched points into */
    struct nd_document_signatures unpacked; /* this, and this into the packed ones */
    struct nd_buffer record;                /* the compressed text */
    /* NULL: the document is posted now.  Else what it is to have, with at least one version; it stays
     * until the write is done. */
    const struct nd_import *import;

    struct nd_written result;
    struct nd_error error;
    void *kept; /* what result.verdict points to */
};

/* The result of a write that failed, with a message. */
void nd_write_fail(struct nd_write *write, enum nd_store_result result, const struct nd_error *why);
/* The bytes that a write counts in the queue. */
size_t nd_write_bytes(const struct nd_write *write);

#endif
