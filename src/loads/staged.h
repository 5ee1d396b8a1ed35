/* staged.h - decide about documents that have all been read: linked, loaded, pushed in keep order */
#ifndef ND_LOADS_STAGED_H
#define ND_LOADS_STAGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/dedup.h>
#include <neardup/recipe.h>

#include "base/file/spool.h"
#include "base/thread/pool.h"
#include "loads/budget.h"
#include "loads/linking.h"
#include "loads/loads.h"
#include "loads/streamed.h"

/*
 * If a document's fate is known only when all have been read, whoever has the documents (the files
 * of a run, the rows of frames) collects them: records 0 … n_records - 1, some of which are
 * documents. This is what is done with them then:
 *
 *   link      only where the memory is limited and an index of all would not fit: load all, and find
 *             which could influence each other's decisions (linking.h)
 *   decide    load after load: as many components of linked documents as an engine has room for, in
 *             keep order (loads.h).  A document that is alone in its component is kept, and in no
 *             load.  Where all fit, there is one load
 *
 * A document's decision depends only on its component (src/engine/README.md), so it is that of one
 * engine which is given everything.  Where the memory has no limit, the caller has sorted the
 * documents, which are one load.  Old documents may stand before this one: records from n_records on,
 * which are never removed.
 */

/* The passes that a caller is told of; in the last one, components are asked for. */
enum nd_staged_pass { ND_STAGED_LINK, ND_STAGED_DECIDE, ND_STAGED_ASK };

/* A document that was removed, by record numbers. */
struct nd_staged_removed {
    uint32_t record, kept;
    uint32_t via; /* of components, the neighbour; else `kept` */
    const struct nd_decision *decision;
    const struct nd_component_via *component; /* NULL: clusters are no components */
};

/* The owner of the documents.  A function that does not return ND_OK ends the run with its status. */
struct nd_staged_owner {
    /* Make an engine with room for so many documents (0: for some), and use it up: count what it has
     * done, and free it. */
    enum nd_status (*make)(void *context, size_t n, const struct nd_text_source *source,
                           struct nd_dedup **dedup, struct nd_error *err);
    void (*retire)(void *context, struct nd_dedup *dedup);
    /* The places in keep order of the n records from this one on; of a record that is no document,
     * is_document[i] is false. */
    enum nd_status (*offer)(void *context, uint32_t from, size_t n, struct nd_offer *offer,
                            bool *is_document, struct nd_error *err);
    /* Items of the first of these records, at least one, valid until the next call.  To be linked,
     * all records are asked for, and the item of one that is no document has no `document`; every
     * other item has one.  To be decided, they are old documents or others; `first` is the number of
     * the first one as it will be pushed. */
    enum nd_status (*load)(void *context, enum nd_staged_pass pass, uint64_t first,
                           const uint32_t *record, size_t n, const struct nd_dedup_item **items,
                           size_t *n_items, struct nd_error *err);
    /* As in struct nd_text_source; fetch_shingles may be NULL. */
    enum nd_status (*fetch)(void *context, uint32_t record, unsigned worker, struct nd_view *text,
                            struct nd_error *err);
    enum nd_status (*fetch_shingles)(void *context, uint32_t record, unsigned worker,
                                     const uint64_t **shingle, size_t *n, struct nd_error *err);
    /* Clusters: a document was removed.  Pairs: one was found; its numbers are places in the load
     * (nd_staged_record). */
    enum nd_status (*removed)(void *context, const struct nd_staged_removed *removed,
                              struct nd_error *err);
    enum nd_status (*found)(void *context, const struct nd_found_pair *pair);
    /* The fate of an old document, in stars and complete link; and then, all old ones have been
     * pushed, and `order` has lost those that `find_short` removes.  NULL: nothing is done then. */
    enum nd_status (*old_decided)(void *context, uint64_t document,
                                  const struct nd_decision *decision, struct nd_error *err);
    void (*old_pushed)(void *context);
    /* Set *found to whether a document contains a short old one as a whole (candidates/short_texts.h)
     * and equals no kept one: then it is removed for that one, decision->kept.  NULL: none does. */
    enum nd_status (*find_short)(void *context, uint32_t record, struct nd_decision *decision,
                                 bool *found, struct nd_error *err);
    /* With only_old: the old documents that a document matches.  NULL: nothing is removed, and
     * `found` is told of each, by the place of the document in its batch. */
    void (*matched)(void *context, uint32_t record, const uint64_t *old, size_t n);
    /* A load begins.  NULL: nothing is done then. */
    enum nd_status (*begin_load)(void *context, struct nd_error *err);
    /* A batch of n documents will be loaded, or was pushed; `done` of `total` of the pass, old
     * documents among them, were before it.  NULL: nothing is done then. */
    enum nd_status (*tell)(void *context, enum nd_staged_pass pass, uint64_t done, uint64_t total,
                           struct nd_error *err);
    enum nd_status (*pushed)(void *context, uint64_t done, size_t n, struct nd_error *err);
};

/* Starts from zeroes and the first members, up to `index_bytes`; all are borrowed. */
struct nd_staged {
    const struct nd_staged_owner *owner;
    void *context;
    const struct nd_recipe *recipe;
    enum nd_cluster cluster; /* what the engines make */
    uint64_t n_records;

    /* The documents come in this order, as one load; otherwise they are divided. */
    bool is_ordered;
    uint32_t *order;
    size_t n_order;
    uint64_t n_old;
    bool only_old; /* new documents are compared only with old ones; the engine lists pairs */

    /* To divide them: */
    uint64_t n_documents;
    struct nd_dedup_stats *alone; /* where documents in no load are counted */
    const struct nd_keep *keep;
    const struct nd_rough_keys *rough;
    const struct nd_budget *budget;
    const char *tmp;
    struct nd_pool *pool; /* that links; NULL: one of so many threads: */
    unsigned threads;
    uint64_t index_bytes; /* nd_loads.index_bytes */

    struct nd_loads loads;
    uint64_t n_loads; /* that have begun */
    uint64_t n_load;  /* documents of the load at hand, without old ones */
    const uint32_t *load;
    struct nd_spool *flags; /* a byte a record: nd_candidate_flags */
    bool is_linked;
    uint64_t linking_spilled;
    struct nd_streamed streamed; /* its engine is NULL: there is none at the moment */
    uint64_t *match, *match_of;  /* with only_old: old documents, and places in the batch */
    size_t n_matches, matches, matches_of; /* and capacities */
};

/* Make the first engine, which says before anything is read whether the parameters are fine. */
enum nd_status nd_staged_open(struct nd_staged *s, struct nd_error *err);
/* All documents have been collected: decide.  ND_ENOMEM: too many could match one another, and their
 * index has outgrown its share; the message says how much they need. */
enum nd_status nd_staged_run(struct nd_staged *s, struct nd_error *err);
void nd_staged_release(struct nd_staged *s);

/* The record number of a document of the load at hand, by its number as pushed. */
static inline uint32_t nd_staged_record(const struct nd_staged *s, uint64_t document)
{
    return document < s->n_old ? (uint32_t)(s->n_records + document) : s->load[document - s->n_old];
}

/* Bytes written to files. */
uint64_t nd_staged_spilled(const struct nd_staged *s);

#endif
