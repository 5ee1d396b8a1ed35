/* worker.h - the threads of an engine: the working memory of each, and what it makes of a document */
#ifndef ND_ENGINE_DOCUMENT_WORKER_H
#define ND_ENGINE_DOCUMENT_WORKER_H

#include "base/memory.h"
#include "base/thread/pool.h"
#include "engine/document/item.h"
#include "engine/document/shingle_cache.h"
#include "sketch/sketcher.h"

/* The working memory of one thread. */
struct nd_worker {
    const struct nd_engine_plan *plan;
    unsigned number;

    /* Reading: the document at hand, and a kept document that is compared with it. */
    struct nd_sketcher *sketcher, *kept_sketcher;
    struct nd_tokeniser *tokeniser[2];
    struct nd_shingle_set set;                  /* of a document whose sketcher has moved on */
    const struct nd_item *in_sketcher, *in_set; /* whose shingles these are; NULL: not known */
    uint64_t *scratch;                          /* in which the values of a document are made */
    size_t scratch_capacity;
    struct nd_value_set expected; /* of the documents that it announced */
    struct nd_arena held;         /* shingles and signatures of documents of the batch at hand */

    /* Looking up. */
    struct nd_matching_worker *matching; /* for ND_CANDIDATES_MATCH, else NULL */
    struct nd_container_scratch containers;
    struct nd_candidates found; /* the candidates of the last look-up */
    uint32_t crowd; /* in that look-up no key listed more documents, near or not; or n_common */

    /* Shingles and text that were fetched of kept documents. */
    struct nd_shingle_cache *fetched; /* shingles made in this batch */
    uint64_t text_of; /* the document whose text was fetched last; UINT64_MAX: none */
    struct nd_view text;

    /* The first failure, and why. */
    enum nd_status status;
    struct nd_error error;
};

/* Record a worker's failure; the first one stays.  Returns what the worker has. */
enum nd_status nd_worker_fail(struct nd_worker *w, enum nd_status status, const char *what);
/* Before a batch: forget which text was fetched, and the failure of a call that changed nothing. */
void nd_worker_begin(struct nd_worker *w);

/*
 * The steps of making a sketch.  Each returns false where it failed, and the worker has the error.
 * read: tokens, distinct shingles, identity.  sketch: minima and simhash of the text just read, and
 * the table keys.  sign: signatures, where the recipe has some, and the values by which containers
 * are looked up.  hold: keep a copy of the shingles of the text just read.
 */
bool nd_item_read(struct nd_worker *w, struct nd_item *item);
void nd_item_sketch(struct nd_worker *w, struct nd_item *item);
bool nd_item_sign(struct nd_worker *w, struct nd_item *item);
bool nd_item_hold_shingles(struct nd_worker *w, struct nd_item *item);
/* All of them, in memory of `held`.  What fails here is left to be done at the push, which reports
 * the error. */
void nd_item_prepare(struct nd_worker *w, struct nd_arena *held, struct nd_item *item);

/* Have the item's shingles in w->set.  False: the worker has the error. */
bool nd_item_begin_compare(struct nd_worker *w, const struct nd_item *item);
/* The distinct shingles of an item: those that are held, or where its text was not read so far those
 * of the text, until w->kept_sketcher reads another; none of a sketch that came without them.  False:
 * the worker has the error. */
bool nd_item_shingles(struct nd_worker *w, const struct nd_item *item, const uint64_t **shingle,
                      size_t *n);
/* Whether two texts agree in what must agree.  1, 0, < 0: the worker has the error. */
int nd_worker_equal(struct nd_worker *w, enum nd_equal_by by, struct nd_view a, struct nd_view b);

/* The workers of an engine, one a thread of its pool. */
struct nd_crew {
    struct nd_pool *pool;
    bool owns_pool;
    struct nd_lending *lending; /* of the workers, to calls of nd_dedup_query */
    struct nd_worker *worker;
    struct nd_worker *matcher; /* of each thread, once it has matched documents ahead (ahead.c) */
    struct nd_worker *pusher;  /* of the thread that pushes: the first, or who leads the pool */
};

/*
 * Return the worker with which a thread matches documents ahead, while its own does tasks for the
 * thread that pushes.  Of n threads, that of worker i has the number n + i.  NULL: out of memory.
 */
struct nd_worker *nd_crew_matcher(struct nd_crew *crew, unsigned i,
                                  const struct nd_engine_plan *plan);
/* The crew has its pool.  False: nd_crew_release frees what was made. */
bool nd_crew_init(struct nd_crew *crew, const struct nd_engine_plan *plan, struct nd_error *err);
void nd_crew_release(struct nd_crew *crew);

/* The failure of the first worker that has one. */
enum nd_status nd_crew_status(const struct nd_crew *crew, struct nd_error *err);
/* nd_worker_begin, of all. */
void nd_crew_begin(struct nd_crew *crew);
/* Give back what was held of documents; and forget whose shingles are in the sets. */
void nd_crew_forget(struct nd_crew *crew);
void nd_crew_forget_sets(struct nd_crew *crew);
/* After a batch: the shingles that workers made of kept documents go to the cache of all. */
void nd_crew_end(struct nd_crew *crew, struct nd_shingle_cache *cache);

#endif
