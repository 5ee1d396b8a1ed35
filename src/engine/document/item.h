/* item.h - a document of the batch at hand: as pushed, as read, what it met, what was decided */
#ifndef ND_ENGINE_DOCUMENT_ITEM_H
#define ND_ENGINE_DOCUMENT_ITEM_H

#include "engine/document/equal.h"
#include "engine/document/matching.h"
#include "index/containers.h"
#include "index/index_row.h"

/* The result of reading and sketching a document.  Copies of one text share it. */
struct nd_item_read {
    bool is_short;
    bool is_listed; /* takes part in the comparison by shingles, or by signatures */
    uint64_t n_tokens, n_shingles;
    struct nd_index_row row;
    struct nd_container_row content;                 /* where samples of shingles are looked up */
    const struct nd_document_signatures *signatures; /* for ND_CANDIDATES_MATCH */
};

/* A kept document: of an earlier batch by its number in the index, or of this one by its place. */
struct nd_kept_ref {
    uint32_t number;
    bool in_batch;
};

/* A kept document that an item equals, or with which it reaches the threshold. */
struct nd_hit {
    struct nd_kept_ref kept;
    struct nd_overlap overlap;
    uint16_t equal, distance;
    bool is_equal; /* the documents are equal; set for pairs only */
};

/* Which documents may be near an item, and which of them are. */
struct nd_item_search {
    struct nd_candidates near; /* of earlier batches, the nearest first: no more than max_checks */
    size_t n_near;             /* how many there were */
    uint32_t crowd; /* none of its keys lists more documents of earlier batches, near or not; where
                     * samples are looked up: nd_container_scratch.n_common */
    struct nd_candidates near_in_batch; /* kept ones of this batch; their numbers are places */
    size_t n_checked;                   /* so many of near_in_batch are compared */
    struct nd_hit *hits;
    size_t n_hits, hits_capacity;
    bool may_prune;         /* the candidates cannot exceed max_checks: only the best hit counts */
    uint32_t last_checked;  /* of earlier batches, by its number: for components */
    bool was_cut;           /* more than its candidates were too many to compare */
    size_t n_member_checks; /* comparisons with members of clusters (complete.c) */
};

enum nd_item_state {
    ND_ITEM_OPEN,    /* not decided */
    ND_ITEM_KEPT,    /* a leader */
    ND_ITEM_FOLLOWS, /* will be removed; which kept one it follows is not yet certain */
    ND_ITEM_REMOVED,
};

struct nd_item {
    /* The document as it was pushed, and who has the same bytes. */
    struct nd_view text;
    const struct nd_document *document;   /* for features, or NULL */
    const struct nd_sketch_row *sketched; /* in place of the text, or NULL */
    const struct nd_sketch_row *known; /* beside the text: what sketching it would give, or NULL */
    uint32_t group;
    const uint32_t *labels; /* its security labels (nd_dedup_item) */
    uint64_t raw;           /* hash of its bytes */
    uint64_t raw_second;    /* where sketches are taken: the upper half of 128 bits */
    size_t
        first_same; /* the place of the first item with these bytes and labels: its own, or earlier */
    size_t same_before; /* 1 + the place of the last item before it that has its bytes and is the
                          * first with its own labels; 0: there is none */

    /* The decision on the item. */
    enum nd_item_state state;
    enum nd_identical identical;
    struct nd_kept_ref kept; /* once removed */

    /* How far it is. */
    bool is_known;     /* a kept document may have its bytes: found before the push */
    bool is_prepared;  /* before the push: read, sketched and signed, and its shingles are held */
    bool is_matched;   /* before the push: compared with the kept documents below `seen` */
    bool may_meet;     /* of these it may equal or be near one that came since */
    bool is_uncertain; /* it, or one of the batch that it may meet, may meet one that came since */
    bool is_in_links;  /* its row took part when the links of a prepared batch were made */
    bool is_read;      /* `read` holds */

    uint32_t seen;           /* how many kept documents there were when it was matched */
    uint64_t *key;           /* scratch for the keys of its row */
    const uint64_t *shingle; /* a copy that a worker holds, where one was needed */
    struct nd_item_read read;
    struct nd_item_search search;
};

static inline bool nd_item_is_empty(const struct nd_item *item)
{
    return item->is_read ? item->read.n_tokens == 0
                         : item->read.is_short && item->read.n_shingles == 0;
}

/* The row that makes it unnecessary to read the text, or NULL. */
static inline const struct nd_sketch_row *nd_item_row(const struct nd_item *item)
{
    return item->sketched ? item->sketched : item->known;
}

/* How many candidates it has, compared or not. */
static inline size_t nd_item_candidates(const struct nd_item *item)
{
    return item->search.n_near + item->search.near_in_batch.count;
}

/* Whether two items, of whatever labels, have the same bytes: by their texts, or where one has none by the hashes. */
bool nd_items_same_bytes(const struct nd_item *a, const struct nd_item *b);

/* By what an item that was read equals others. */
static inline enum nd_equal_by nd_item_equal_by(const struct nd_engine_plan *plan,
                                                const struct nd_item *item)
{
    return nd_equal_by(plan, item->read.is_short, item->read.n_tokens == 0);
}

#endif
