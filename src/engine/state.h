/* state.h - what the files of the engine share: the engine, its workers, the items of a batch */
#ifndef ND_ENGINE_STATE_H
#define ND_ENGINE_STATE_H

#include <stdbool.h>

#include <neardup/dedup.h>
#include <neardup/index.h>
#include <neardup/text.h>

#include "base/handle.h"
#include "base/memory.h"
#include "base/pool_lending.h"
#include "engine/matching.h"
#include "engine/shingle_cache.h"
#include "index/live.h"
#include "index/multimap.h"
#include "match/measure.h"
#include "sketch/sketcher.h"

/* A batch at hand, or one that is prepared; the memory stays. */
struct nd_batch_room {
    const struct nd_dedup_item *items; /* as given */
    size_t n;
    struct nd_item *item;
    size_t item_capacity;
    uint64_t *key; /* of the items' rows, n_keys each */
    size_t key_capacity;
    unsigned char *link; /* of items that share a table key: ND_LINKED_EARLIER, ND_LINKED_LATER */
    size_t link_capacity;
    struct nd_arena held; /* shingles and signatures of prepared items */
    bool is_linked;       /* `link` holds for the prepared ones */
    bool is_made;         /* its items are there, those with equal bytes found */
};

/* The working memory of one thread. */
struct nd_worker {
    struct nd_sketcher *sketcher;      /* of the document at hand */
    struct nd_sketcher *kept_sketcher; /* of a kept document that is compared with it */
    struct nd_tokeniser *tokeniser[2];
    struct nd_shingle_set set;                  /* of a document whose sketcher has moved on */
    const struct nd_item *in_sketcher, *in_set; /* whose shingles these are; NULL: not known */
    struct nd_shingle_cache *fetched;           /* shingles of kept documents made in this batch */
    struct nd_arena held;       /* shingles and signatures of documents of the batch at hand */
    struct nd_signing *signing; /* for ND_CANDIDATES_MATCH, else NULL */
    struct nd_candidates met;
    uint64_t text_of; /* the document whose text was fetched last; UINT64_MAX: none */
    struct nd_view text;
    enum nd_status status; /* of the first failure, and why */
    struct nd_error error;
};

/*
 * What is known of every kept document, by its number in the index.  In columns: 4 + 8 bytes,
 * beside the table of content hashes and the index.
 */
struct nd_kept {
    struct nd_column document; /* uint32_t: its number as pushed */
    struct nd_column raw;      /* uint64_t: hash of its bytes */
    struct nd_multimap by_raw;
    uint32_t n;
};

/* What documents are looked up in: the index, and beside it the signatures, by the same numbers. */
struct nd_finder {
    struct nd_index *index;
    struct nd_signatures *signatures; /* for ND_CANDIDATES_MATCH, else NULL */
};

/* What an engine makes is decided by the first push. */
enum nd_pushed { ND_PUSHED_NOTHING, ND_PUSHED_STARS, ND_PUSHED_PAIRS, ND_PUSHED_COMPONENTS };

struct nd_dedup {
    struct nd_dedup_params params;
    struct nd_text_source source;
    struct nd_handle handle; /* which calls are under way */
    struct nd_pool *pool;
    bool owns_pool;
    struct nd_lending *lending;       /* of the workers, to calls of nd_dedup_ask */
    struct nd_texts *texts;           /* where the engine keeps the texts itself */
    struct nd_matching *matching;     /* for ND_CANDIDATES_MATCH, else NULL */
    struct nd_index *index;           /* of the kept documents */
    struct nd_signatures *signatures; /* theirs, or NULL */
    struct nd_index_params index_params;
    struct nd_fraction threshold;
    unsigned parts;       /* of the sketch that the candidates need */
    unsigned least_equal; /* low bytes of the minima that agree of every candidate */
    struct nd_kept kept;
    struct nd_shingle_cache *cache;
    struct nd_worker *worker;
    struct nd_worker *here;     /* who pushes: the first, or the one that leads the pool */
    struct nd_batch_room *room; /* by worker; the first is of batches that were not prepared too */
    struct nd_batch_room *at_hand; /* of the batch that is pushed */
    unsigned n_keys;
    enum nd_pushed pushed;
    struct nd_dedup_stats stats;
    struct nd_finder leaders, pending; /* of a batch: see settle.c */
    struct nd_components *components;
    struct nd_complete *complete;
};

enum nd_item_state {
    ND_ITEM_OPEN,    /* not decided */
    ND_ITEM_KEPT,    /* a leader */
    ND_ITEM_FOLLOWS, /* will be removed; for which kept one is not yet certain */
    ND_ITEM_REMOVED,
};

/* A kept document: of an earlier batch by its number, or of this one by its place. */
struct nd_kept_ref {
    uint32_t at;
    bool in_batch;
};

/* A kept document that an item reaches the threshold with. */
struct nd_hit {
    struct nd_kept_ref kept;
    struct nd_overlap overlap;
    uint16_t equal, distance;
};

struct nd_hits {
    struct nd_hit *at;
    size_t count, capacity;
};

/* A document of the batch. */
struct nd_item {
    struct nd_view text;
    const struct nd_document *document; /* for features, or NULL */
    uint32_t group;
    uint64_t raw;      /* hash of its bytes */
    size_t first_same; /* the first item of the batch with these bytes; its own place where it is
                          the first */
    enum nd_item_state state;
    enum nd_identical identical;
    struct nd_kept_ref kept; /* once removed */
    bool is_known;           /* perhaps: a kept document had its bytes' hash before its turn */
    bool is_prepared;        /* before its turn: read, sketched and signed, its shingles held */
    bool is_in_links;        /* its row took part where the links of a prepared batch were made */
    bool is_read;            /* its tokens were read: what follows is known */
    bool is_short;
    bool is_listed; /* takes part in the comparison by shingles, or by signatures */
    uint64_t n_tokens, n_shingles;
    struct nd_index_row row;
    uint64_t *key;                          /* room for those of the row */
    const struct nd_signed *own_signatures; /* a worker's, for ND_CANDIDATES_MATCH */
    const uint64_t *shingle;                /* a worker's copy, where it was needed */
    struct nd_candidates near; /* of earlier batches, first the nearest: no more than max_checks */
    size_t n_near;             /* how many there were */
    struct nd_candidates near_in_batch; /* kept ones of this batch; number: their places */
    struct nd_hits hits;
    bool may_prune;         /* the candidates cannot exceed max_checks: only the best hit counts */
    size_t n_checked;       /* of near_in_batch */
    size_t n_member_checks; /* comparisons with members of clusters (complete.c) */
    bool was_cut;           /* there, or elsewhere than by its candidates */
};

/* Whether documents are compared by something else than their texts: none is a copy of another. */
static inline bool nd_dedup_ignores_text(const struct nd_dedup *d)
{
    return d->matching && d->matching->ignores_text;
}

/* The columns of kept documents (kept.c). */
uint32_t nd_kept_document(const struct nd_dedup *d, uint32_t number);
/* Have what nd_kept_find_bytes reads first brought into the processor's caches. */
void nd_kept_expect(const struct nd_dedup *d, const struct nd_item *item);
/* Mark the items of a batch whose bytes a kept document may have: at any time. */
void nd_kept_mark_known(struct nd_dedup *d, struct nd_item *item, size_t n);
/* The kept document with these very bytes.  1: *number is it; 0: none; < 0: worker->error says why.
 */
int nd_kept_find_bytes(struct nd_dedup *d, struct nd_worker *w, const struct nd_item *item,
                       uint32_t *number);
/* The kept document with the same tokens, in the same way. */
int nd_kept_find_tokens(struct nd_dedup *d, struct nd_worker *w, const struct nd_item *item,
                        uint32_t *number);
/* Whether two texts are the same tokens (characters, for character shingles): 1, 0, < 0:
 * worker->error. */
int nd_same_text(const struct nd_dedup *d, struct nd_worker *w, struct nd_view a, struct nd_view b);
/* The items of the batch that are in this state, with the next numbers, which the index has given
 * them. */
enum nd_status nd_kept_add(struct nd_dedup *d, const struct nd_item *item, size_t n,
                           enum nd_item_state state, struct nd_error *err);
void nd_kept_release(struct nd_kept *kept);

/* The text of a kept document, valid until the worker's next call (fetch.c). */
enum nd_status nd_fetch_text(struct nd_dedup *d, struct nd_worker *w, uint32_t number,
                             struct nd_view *text);
/* Its distinct shingles, from the cache or made again; valid until the worker's next call. */
enum nd_status nd_fetch_shingles(struct nd_dedup *d, struct nd_worker *w, uint32_t number,
                                 const uint64_t **shingle, size_t *n);
unsigned nd_worker_number(const struct nd_dedup *d, const struct nd_worker *w);

/* Record a worker's failure, and pick the first worker's (workers.c). */
enum nd_status nd_worker_fail(struct nd_worker *w, enum nd_status status, const char *what);
enum nd_status nd_workers_status(struct nd_dedup *d, struct nd_error *err);
bool nd_workers_new(struct nd_dedup *d, struct nd_error *err);
void nd_workers_free(struct nd_dedup *d);
/* Before a batch: the texts fetched are no longer there, nor what failed in a call that left
 * everything as it was. */
void nd_worker_begin(struct nd_worker *w);
void nd_workers_begin(struct nd_dedup *d);
/* Forget what was held of documents. */
void nd_workers_forget(struct nd_dedup *d);
void nd_workers_end(struct nd_dedup *d);

/* Items of a batch (item.c). */
/* The items of a batch; NULL: no memory. */
struct nd_item *nd_items_begin(const struct nd_dedup *d, struct nd_batch_room *room,
                               const struct nd_dedup_item *items, size_t n, struct nd_error *err);
void nd_items_end(struct nd_item *item, size_t n);
/* Hash the bytes of all, in so many tasks … */
size_t nd_items_hash_tasks(size_t n);
void nd_items_hash(struct nd_item *item, size_t n, size_t task);
/* … and find the first of equal ones; false: no memory. */
bool nd_items_group(struct nd_item *item, size_t n);
/* Tokens, distinct shingles, identity: the first half of sketching; false: worker->error. */
bool nd_item_read(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item);
/* Minima and simhash of the text just read. */
void nd_item_sketch(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item);
/* Its signatures, where the recipe has some; false: worker->error. */
bool nd_item_sign(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item);
/* Keep the shingles of the text just read. */
bool nd_item_hold_shingles(struct nd_worker *w, struct nd_item *item);
/* All that can be made of it without looking at another: the same as when it is looked at. */
void nd_item_prepare(struct nd_dedup *d, struct nd_worker *w, struct nd_arena *held,
                     struct nd_item *item);

/* Comparison (compare.c). */
/* What candidates of a document of n_shingles have in common: counts of shingles that allow the
 * threshold, and enough equal low bytes. */
struct nd_index_filter nd_candidates_allowed(const struct nd_dedup *d, uint64_t n_shingles);
/*
 * How many shingles the item must share with a kept document of n for a hit that counts: one that
 * reaches the threshold and, if the item may prune, is better than the best so far.  UINT64_MAX:
 * more than either has.
 */
uint64_t nd_item_need(const struct nd_dedup *d, const struct nd_item *item, struct nd_kept_ref kept,
                      size_t n);
/*
 * Compare the item, whose shingles are `set`, with a kept document's shingles, and note a hit where
 * it reaches the threshold and, if the item may prune, is better than the best so far.
 */
bool nd_item_compare(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item,
                     const struct nd_shingle_set *set, struct nd_candidate candidate, bool in_batch,
                     const uint64_t *shingle, size_t n);
/* The same of a candidate in the index, whose shingles are fetched; where `verify = none` it is a
 * hit as it is. */
bool nd_item_compare_stored(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item,
                            const struct nd_shingle_set *set, struct nd_candidate candidate);
/* Have the item's shingles in w->set; false: out of memory. */
bool nd_item_begin_compare(struct nd_worker *w, const struct nd_item *item);
/* Where `verify = none`: the candidate itself is a hit. */
bool nd_item_accept(struct nd_worker *w, struct nd_item *item, struct nd_candidate candidate,
                    bool in_batch, uint64_t n_shingles);
/* Whether hit x is to be preferred: greater measure, then the earlier. */
bool nd_hit_is_better(const struct nd_dedup *d, const struct nd_hit *x, const struct nd_hit *y);

/* Whether some hit is among the first max_checks candidates even if `more` others should come
 * before it. */
bool nd_item_has_hit(const struct nd_dedup *d, const struct nd_item *item, size_t more);
/* The best of the hits that are among the first max_checks candidates, or NULL. */
const struct nd_hit *nd_item_best_hit(const struct nd_dedup *d, const struct nd_item *item);

/*
 * Full keys (crowd.c).  A document is not listed under a key under which max_checks of its
 * candidates stand already: note of an item, before it is listed, which keys these are.  Those of
 * the batch that are not yet in the index are its near_in_batch, all of them kept and noted before.
 */
void nd_item_leave_out(const struct nd_dedup *d, const struct nd_item *batch, struct nd_item *item);

/* The same where every document is listed at once, one after the other. */
void nd_item_leave_out_next(const struct nd_dedup *d, struct nd_item *item);
/*
 * The same for components: a key is also full where so many candidates stand that are of the item's
 * component.  `met` are all its candidates, is_joined[i] says which are.
 */
enum { ND_JOINED_A_KEY = 8 };
void nd_item_leave_out_joined(const struct nd_dedup *d, struct nd_item *item,
                              const struct nd_candidates *met, const bool *is_joined);

/* One item against the kept documents of earlier batches (look.c). */
void nd_item_look(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item);
/* Have what that reads first brought into the processor's caches. */
void nd_item_expect(const struct nd_dedup *d, const struct nd_item *item);
/*
 * For one thread alone, before it looks at another item: do what can be done without the index, so
 * that the lines of the index come while the other is looked at.
 */
void nd_item_look_ahead(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item);
/* Its comparisons with them once more. */
bool nd_item_look_again(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item);

/* The texts of kept documents in the engine's own memory (texts.c). */
struct nd_texts *nd_texts_new(void);
void nd_texts_free(struct nd_texts *texts);
struct nd_text_source nd_texts_source(struct nd_texts *texts);
/* The batch that `keep` will speak of. */
void nd_texts_begin(struct nd_texts *texts, const struct nd_dedup_item *items);

/* What stands around every kind of batch (batch.c): items made and grouped by their bytes … */
struct nd_batch_job {
    struct nd_dedup *d;
    struct nd_item *item;
    size_t n;
};
enum nd_status nd_batch_begin(struct nd_dedup *d, enum nd_pushed kind,
                              const struct nd_dedup_item *items, size_t n, struct nd_item **out,
                              struct nd_error *err);
/* What a caller can get wrong; nothing has changed yet. */
enum nd_status nd_batch_check(const struct nd_dedup *d, enum nd_pushed kind,
                              const struct nd_dedup_item *items, size_t n, struct nd_error *err);
/* … and counted, the shingles made handed to the cache, freed. */
void nd_batch_end(struct nd_dedup *d, struct nd_item *item, size_t n, enum nd_status status);
/* Give a document the next number, without listing it. */
enum nd_status nd_document_keep(struct nd_dedup *d, struct nd_item *item, uint64_t document,
                                size_t place, uint32_t *number, struct nd_error *err);
bool nd_item_is_empty(const struct nd_item *item);
/* How many candidates it has, compared or not. */
size_t nd_item_candidates(const struct nd_item *item);
/* Add what is known of an item to the statistics. */
void nd_stats_count(struct nd_dedup *d, const struct nd_item *item, size_t checks, bool was_cut);
/* Look-ups, by what the recipe says (finder.c). */
bool nd_finder_new(const struct nd_dedup *d, struct nd_finder *finder, struct nd_error *err);
void nd_finder_free(struct nd_finder *finder);
struct nd_finder nd_finder_kept(const struct nd_dedup *d); /* of all kept documents */
/* An item's candidates. */
enum nd_status nd_finder_candidates(const struct nd_dedup *d, struct nd_worker *w,
                                    struct nd_finder finder, const struct nd_item *item,
                                    struct nd_candidates *out);
bool nd_finder_meets_any(struct nd_worker *w, struct nd_finder finder, const struct nd_item *item,
                         uint32_t below);
/* Those of a batch. */
enum nd_status nd_finder_add(struct nd_finder finder, const struct nd_item *item, uint32_t *number,
                             struct nd_error *err);
void nd_finder_remove(struct nd_finder finder, const struct nd_item *item, uint32_t number);
void nd_finder_clear(struct nd_finder finder);
/* Let look-ups find kept documents that were given numbers. */
enum nd_status nd_finder_list(struct nd_dedup *d, const uint32_t *number,
                              const struct nd_index_row *const *row, size_t n,
                              struct nd_error *err);
/* A single one, by the caller alone. */
enum nd_status nd_finder_list_alone(struct nd_dedup *d, uint32_t number,
                                    const struct nd_index_row *row, struct nd_error *err);
/* Mark the items of a batch that share a table key, as nd_index_link_rows does. */
enum nd_status nd_finder_link(const struct nd_dedup *d, const struct nd_item *item,
                              const struct nd_index_row *const *row, size_t n,
                              unsigned char *linked, struct nd_pool *pool, struct nd_error *err);
/* Those of earlier batches: worker->met. */
bool nd_look_query(struct nd_dedup *d, struct nd_worker *w, const struct nd_item *item);
void nd_components_free(struct nd_components *components);

/*
 * The calls of dedup.h, once they are let in and their arguments are checked (calls.c).  Those that
 * push leave the engine half changed where they fail.
 */
typedef enum nd_status nd_found(void *context, const struct nd_found_pair *pair);
enum nd_status nd_push_stars(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                             struct nd_decision *decisions, struct nd_error *err);
enum nd_status nd_push_pairs(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                             nd_found *found, void *context, struct nd_error *err);
enum nd_status nd_push_components(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                                  struct nd_error *err);
enum nd_status nd_ask(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                      nd_found *found, void *context, struct nd_error *err);
enum nd_status nd_decide_components(struct nd_dedup *d, uint64_t first, size_t n,
                                    struct nd_decision *decisions, struct nd_component_via *via,
                                    struct nd_error *err);
enum nd_status nd_push_prepared_stars(struct nd_dedup *d, unsigned worker,
                                      struct nd_decision *decisions, struct nd_error *err);
void nd_dedup_release(struct nd_dedup *d);
/* nd_push_stars for ND_CLUSTER_COMPLETE (complete.c). */
enum nd_status nd_push_complete(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                                struct nd_decision *decisions, struct nd_error *err);
void nd_complete_free(struct nd_complete *c);

/* The items of a batch among themselves, in order (settle.c). */
enum nd_status nd_items_settle(struct nd_dedup *d, struct nd_item *item, size_t n,
                               struct nd_error *err);

#endif
