/* kept.h - the kept documents by number: looked up, read again, and which of them equals a document */
#ifndef ND_ENGINE_KEPT_H
#define ND_ENGINE_KEPT_H

#include "engine/finder.h"
#include "engine/kept_texts.h"
#include "index/multimap.h"

/*
 * The kept documents, or for pairs, components and complete link every one.  Beside the index: 4 + 8
 * bytes of each in columns, its place in the table of content hashes, and the shingles of those that
 * were used lately.
 */
struct nd_kept {
    const struct nd_engine_plan *plan;
    struct nd_finder finder;
    struct nd_column document; /* uint32_t: its number as pushed */
    struct nd_column raw;      /* uint64_t: hash of its bytes */
    /* Columns for sketches, if they are taken: the upper half of the hash of the bytes; and for
     * each document as pushed, kept or not, a bit that says that it has no text. */
    struct nd_column raw_second, sketched;
    struct nd_multimap by_raw;
    uint32_t n;
    struct nd_shingle_cache *cache;
    struct nd_text_source source;
    struct nd_texts *texts; /* where the engine keeps the texts itself */
    struct nd_pool *pool;
};
/* source NULL: the engine keeps the texts.  Where it fails, nd_kept_release frees what was made. */
enum nd_status nd_kept_init(struct nd_kept *kept, const struct nd_engine_plan *plan,
                            const struct nd_text_source *source, struct nd_pool *pool,
                            struct nd_error *err);
void nd_kept_release(struct nd_kept *kept);

/* The number under which a kept document was pushed. */
uint32_t nd_kept_document(const struct nd_kept *kept, uint32_t number);

/* Add the items of the batch that are in this state, with the next numbers, which the index has
 * given them already; `first`: under which number the first item was pushed. */
enum nd_status nd_kept_add(struct nd_kept *kept, const struct nd_item *item, size_t n,
                           enum nd_item_state state, uint64_t first, struct nd_error *err);

/* Add n documents, the first ones, numbered as they were pushed; the index has them.  False: out of
 * memory. */
bool nd_kept_restore(struct nd_kept *kept, const uint64_t *raw, uint32_t n);

/* Mark the items of a batch whose bytes a kept document may have.  May run beside a push. */
void nd_kept_mark_known(const struct nd_kept *kept, unsigned worker, struct nd_item *item,
                        size_t n);

/*
 * The text of a kept document by its number in the index, valid until the worker's next call; and
 * its distinct shingles, from the cache or made again from the text.
 */
enum nd_status nd_fetch_text(const struct nd_kept *kept, struct nd_worker *w, uint32_t number,
                             struct nd_view *text);
enum nd_status nd_fetch_shingles(const struct nd_kept *kept, struct nd_worker *w, uint32_t number,
                                 const uint64_t **shingle, size_t *n);

/* Whether a document, by its number as pushed or in the index, came as a sketch. */
bool nd_kept_is_sketched(const struct nd_kept *kept, uint64_t document);
bool nd_kept_has_no_text(const struct nd_kept *kept, uint32_t number);
/* How it is verified that two documents, by their numbers as pushed, are near or equal. */
unsigned char nd_kept_verified(const struct nd_kept *kept, bool is_verified, uint64_t a,
                               uint64_t b);
/* Whether an item equals a kept document in what must agree: by the texts, or, where one is missing,
 * by hashes and sketches.  1, 0, < 0: the worker has the error. */
int nd_kept_equals(const struct nd_kept *kept, struct nd_worker *w, const struct nd_item *item,
                   enum nd_equal_by by, uint32_t number);
/* Return in what two kept documents of one group are equal, if one of them has no text, by their
 * hashes and sketches. */
enum nd_identical nd_kept_identical_sketches(const struct nd_kept *kept, enum nd_equal_by by,
                                             uint32_t a, uint32_t b);

/* Have what nd_kept_find_bytes reads first brought into the processor's caches. */
void nd_kept_prefetch(const struct nd_kept *kept, const struct nd_item *item);
/*
 * The earliest kept document that may stand for an item, by their labels, and has its very bytes or
 * its tokens, or equals it, which was read then.  1: *number is it; 0: there is none; < 0: the worker has the error.
 */
int nd_kept_find_bytes(const struct nd_kept *kept, struct nd_worker *w, const struct nd_item *item,
                       uint32_t *number);
int nd_kept_find_tokens(const struct nd_kept *kept, struct nd_worker *w, const struct nd_item *item,
                        uint32_t *number);
int nd_kept_find_equal(const struct nd_kept *kept, struct nd_worker *w, const struct nd_item *item,
                       uint32_t *number);

/* The kept documents that may equal an item that was read, one after the other, in no particular
 * order; who asks compares the texts. */
struct nd_equal_scan {
    enum nd_equal_by by;
    struct nd_identity_scan by_tokens;
    struct nd_multimap_scan by_bytes;
    uint64_t raw;
    uint32_t group;
};
struct nd_equal_scan nd_equal_scan_begin(const struct nd_kept *kept, const struct nd_item *item);
bool nd_equal_scan_next(const struct nd_kept *kept, struct nd_equal_scan *scan, uint32_t *number);

#endif
