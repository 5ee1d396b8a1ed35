/*
 * neardup/dedup.h - the deduplication engine: documents pushed in, decisions out (library neardup)
 *
 *     struct nd_dedup *dedup = nd_dedup_new(recipe, NULL, &err);
 *
 *     if (dedup && nd_dedup_push(dedup, items, n, decisions, &err) == ND_OK)
 *         for (size_t i = 0; i < n; i++)
 *             if (decisions[i].kept != i)
 *                 printf("%zu duplicates %llu\n", i, (unsigned long long)decisions[i].kept);
 *     nd_dedup_free(dedup);
 */
#ifndef NEARDUP_DEDUP_H
#define NEARDUP_DEDUP_H

#include <neardup/error.h>
#include <neardup/recipe.h>
#include <neardup/sketch.h>
#include <neardup/sketch_file.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which earlier documents are candidates. */
enum nd_candidates_by {
    /* Documents that share a band of minima.  Where containment or the cosine decides and no bands
     * are given: those that share enough of a sample of shingles (nd_sample_choose). */
    ND_CANDIDATES_MINHASH,
    /* Documents whose simhash is within `simhash_bits`. */
    ND_CANDIDATES_SIMHASH,
    /* Documents with the same bytes or the same tokens. */
    ND_CANDIDATES_IDENTITY,
    /* Every one: slow and exact. */
    ND_CANDIDATES_ALL,
    /* Documents whose signatures match by the recipe's rule. */
    ND_CANDIDATES_MATCH,
};

/* Which measure of the two texts must reach the threshold: of a document of `a` shingles and an
 * earlier one of `b`, which is kept or was pushed. */
enum nd_verify {
    /* shared / union. */
    ND_VERIFY_JACCARD,
    /* shared / a: the document is contained in the earlier one. */
    ND_VERIFY_CONTAINMENT,
    /* shared / sqrt(a b). */
    ND_VERIFY_COSINE,
    /* Nothing: the candidate itself is the answer (Manku 2007). */
    ND_VERIFY_NONE,
    /* shared / b: the earlier one is contained in the document. */
    ND_VERIFY_CONTAINMENT_OF_KEPT,
    /* shared / the smaller of the two. */
    ND_VERIFY_CONTAINMENT_EITHER,
};

/* When a document of fewer than w tokens may be removed. */
enum nd_short {
    /* Only if its bytes equal a kept one's (the default). */
    ND_SHORT_IDENTICAL,
    /* Never. */
    ND_SHORT_KEEP,
    /* If its tokens equal a kept one's. */
    ND_SHORT_TOKENS,
};

/* The kind of clusters that an engine makes. */
enum nd_cluster {
    /* Every removed document is verified against the kept one. */
    ND_CLUSTER_STAR,
    /* The transitive closure of the verified pairs. */
    ND_CLUSTER_COMPONENTS,
    /* Complete link: every two documents of a cluster match.  A document joins one of the clusters
     * before it all of whose documents it matches: that whose kept one it resembles most.  It is
     * compared with max_checks kept ones and, where the distances to the kept one do not decide,
     * with max_checks members.  If more are in question it does not join, and was_cut says so. */
    ND_CLUSTER_COMPLETE,
    /* No clusters: the pairs themselves (nd_dedup_options.makes_pairs).  No recipe says it. */
    ND_CLUSTER_PAIRS,
};

/* A document that is pushed. */
struct nd_dedup_item {
    /* Valid UTF-8 (nd_utf8_repair). */
    struct nd_view text;
    /* Only documents of an equal group are compared. */
    uint32_t group;
    /*
     * The security labels of the document: how many it has, then these, ascending; NULL: none.  It
     * is removed for a document all of whose labels it has, and for no other: so everyone who may
     * see it may see the one that is kept (Seshasai 2009, §7.1.3).  They stay until the engine is
     * freed.  Pairs are those of which one may be removed for the other.  Components and complete
     * link heed no labels, and refuse them.
     */
    const uint32_t *labels;
    /* The parts that features need beside the text (fields, markup, links), and what repair
     * replaced in the text (text_replaced): documents are equal only where that is.  NULL: nothing.
     */
    const struct nd_document *document;
    /* In place of the text, for an engine that takes sketches: what a sketch file keeps of the
     * document, made by the same recipe, with its shingles unless `verify` is none.  The row and what
     * it points to stay until the push returns.  NULL: the text is here. */
    const struct nd_sketch_row *sketched;
    /* Beside the text: the row that was made of this very document by the same recipe, with shingles
     * or without.  The text is then sketched only where it is compared, and the decision is that of
     * the text alone.  Ignored by an engine that takes no sketches, or whose recipe looks up samples
     * of shingles.  NULL: there is none. */
    const struct nd_sketch_row *known;
};

/*
 * Whether an overlap reaches a threshold by a measure, exactly, as the engine decides.  Two empty
 * sets do.  With ND_VERIFY_NONE: as with ND_VERIFY_JACCARD.
 */
ND_API int nd_overlap_reaches(const struct nd_overlap *overlap, enum nd_verify verify,
                              struct nd_ratio threshold);

/* Whether two documents are the same. */
enum nd_identical { ND_IDENTICAL_NO, ND_IDENTICAL_BYTES, ND_IDENTICAL_TOKENS };

/* How it is known that a document is a duplicate. */
enum nd_verified {
    /* Its sketch says so. */
    ND_VERIFIED_NO,
    /* The two texts were compared. */
    ND_VERIFIED_TEXT,
    /* One of the texts was not there: the hashes of the shingles were compared, or for equal
     * documents hashes of the whole. */
    ND_VERIFIED_SKETCH,
};

/* The decision about a document.  Documents are numbered 0, 1, 2 … as pushed. */
struct nd_decision {
    /* The document that stands for it; its own number: it is kept. */
    uint64_t kept;
    enum nd_identical identical;
    /* enum nd_verified */
    unsigned char verified;
    /* Fewer than w tokens; known unless it is identical in bytes. */
    unsigned char is_short;
    /* No tokens. */
    unsigned char is_empty;
    /* It had more to compare with than max_checks. */
    unsigned char was_cut;
    /* Hamming distance of the simhashes; UINT32_MAX where they were not made. */
    unsigned distance;
    /* How many candidates were compared: exactly, but with ND_VERIFY_NONE. */
    uint32_t checks;
    /* The overlap of a removed document, a, with the kept one, b. */
    struct nd_overlap overlap;
    /* With ND_CANDIDATES_MATCH, of near ones: what the signatures have in common; a = b = 0: one of
     * them is rejected. */
    struct nd_agreement agreement[ND_RECIPE_SIGNATURES];
};

/* Gives the texts of earlier kept documents again, so that the engine need not hold them.  What the
 * functions return, and write to *err, is what the push ends with. */
struct nd_text_source {
    void *context;
    /* Called by several workers at once (0 … threads - 1).  The text stays valid until the same
     * worker's next call or until the push returns. */
    enum nd_status (*fetch)(void *context, uint64_t document, unsigned worker, struct nd_view *text,
                            struct nd_error *err);
    /* Called in order, once for each kept document, while its text is still at hand: that of the
     * pushed items[item]. */
    enum nd_status (*keep)(void *context, uint64_t document, size_t item, struct nd_error *err);
    /* As fetch, of a document that was pushed without its text: its distinct shingles, ascending.
     * NULL: no document is, or nothing is verified. */
    enum nd_status (*fetch_shingles)(void *context, uint64_t document, unsigned worker,
                                     const uint64_t **shingle, size_t *n, struct nd_error *err);
};

/*
 * An engine.  It makes clusters of one kind, or pairs; functions that are for another kind are
 * refused: ND_EINVAL.  What may be called when:
 *
 *   - One call at a time, from any thread; but any number of nd_dedup_query may run at once, while
 *     nothing else does.  As many of them go on together as the engine has threads, the others
 *     wait.  A call that comes while another that changes the engine runs is refused: ND_EINVAL.
 *   - From inside a callback (`found`, `fetch`, `keep`) every call is refused: ND_EINVAL, and the
 *     call under way goes on as if nothing had happened.  nd_dedup_free is put off to its end.  A
 *     callback must not wait for another call of the same engine.
 *   - After a push has failed once it had begun, the engine is broken: every later call but
 *     nd_dedup_free gives ND_EINVAL and says so.  Each function below says what breaks it.
 *   - The threads that an engine starts block all signals that come from outside.
 *   - In a child process of the one that made it, an engine with more than one thread can only be
 *     freed: anything else is ND_EINVAL.
 *
 * An empty engine takes about 50 KB for each thread, and 600 KB after the first document.  It grows
 * with the documents that are pushed, and with its cache of shingles (options.cache_bytes).
 */
struct nd_dedup;

/* Options of an engine beside its recipe.  Start from nd_dedup_options_default(). */
struct nd_dedup_options {
    /* 1: make pairs, whatever the recipe's kind of cluster is, by nd_dedup_push_pairs,
     * nd_dedup_push_prototypes, nd_dedup_query and nd_dedup_withdraw.  0: make clusters. */
    unsigned char makes_pairs;
    /* At most 1024; 0: one for each processor. */
    unsigned threads;
    /* If the threads are as many as the processors that the process may use, keep each that is
     * started on one of its own.  For a program that has one engine and nothing else to do: 0. */
    unsigned char pin_threads;
    /* Memory for shingles of kept documents: 96 MB. */
    size_t cache_bytes;
    /* 1: documents may come as rows of sketch files (nd_dedup_item.sketched), mixed with texts in
     * any way.  Then documents are equal in bytes, where a text is missing, if 128-bit hashes are,
     * and equal in tokens if the rows say the same of them.  A kept document takes 8 bytes more,
     * and every one a bit. */
    unsigned char takes_sketches;
    /* NULL: the engine keeps the texts of kept documents, or their shingles, in memory itself. */
    const struct nd_text_source *source;
};
ND_API struct nd_dedup_options nd_dedup_options_default(void);

/*
 * An engine that decides by the recipe, which is copied, as `options` are; its df tables outlive the
 * engine.  `options` NULL: the default.  NULL: ND_EINVAL (the message names the key), ND_ENOMEM.
 */
ND_API struct nd_dedup *nd_dedup_new(const struct nd_recipe *recipe,
                                     const struct nd_dedup_options *options, struct nd_error *err);
/* NULL is allowed. */
ND_API void nd_dedup_free(struct nd_dedup *dedup);
/*
 * In the child of a fork, by its only thread: let the engine go on, with that thread alone.  Without
 * this call the child can only free an engine of several threads.  ND_EINVAL: the engine was in use
 * when the process forked, and can only be freed.
 */
ND_API enum nd_status nd_dedup_after_fork(struct nd_dedup *dedup, struct nd_error *err);

/*
 * Stars and complete link: push n documents, in keep order; decisions[i] is what became of items[i].
 * The decisions do not depend on how the documents are divided into pushes, nor on the number of
 * threads.
 *
 * ND_EINVAL, and nothing has changed: a text is no valid UTF-8, a row has no shingles although they
 * are compared, or the engine takes no sketches, or makes components or pairs, or complete link
 * and a document has labels.  ND_EUNSUPPORTED,
 * and nothing has changed: more than 2^32 - 2 documents.  The engine is broken after ND_ENOMEM,
 * after ND_EUNSUPPORTED for a document of more than 2^32 - 1 distinct shingles, and after what
 * `source` returned.
 */
ND_API enum nd_status nd_dedup_push(struct nd_dedup *dedup, const struct nd_dedup_item *items,
                                    size_t n, struct nd_decision *decisions, struct nd_error *err);

/* Counts so far. */
struct nd_dedup_stats {
    uint64_t documents, kept;
    /* Removed documents: with the same bytes, with the same tokens, near. */
    uint64_t identical_bytes, identical_tokens, near;
    uint64_t short_documents, empty_documents, cut_documents;
    /* How many candidates there were, and how many of them were compared. */
    uint64_t candidates, checks;
    /* Bytes of the texts that were pushed, and of the index in memory. */
    uint64_t bytes, index_bytes;
    /*
     * Documents that are indexed by a recipe with signatures, and no shorter than a shingle: those
     * that have some signature, and those of which all are rejected.
     */
    uint64_t signed_documents, unsigned_documents;
    /*
     * Documents of the index that later ones do not meet by every key, as max_checks of their
     * candidates, or as many documents as it lists, had it before; and how many keys that are. If
     * samples of shingles find candidates, keys that list as many as they can count only where so
     * many are full that others may be missed.
     */
    uint64_t crowded_documents, crowded_keys;
    /* Bands of the minima, and rows of a band (nd_bands_choose). */
    unsigned bands, rows;
    /* The values of nd_sample_choose if samples of shingles find candidates; else 0. */
    unsigned sample, sample_least;
};
ND_API void nd_dedup_get_stats(const struct nd_dedup *dedup, struct nd_dedup_stats *out);

/* A document and another that are equal or near. */
struct nd_found_pair {
    /* Document numbers, b < a; of a query, a is the place among the items. */
    uint64_t a, b;
    /* With ND_VERIFY_NONE `shared` is 0, unless the two are equal. */
    struct nd_overlap overlap;
    /* Hamming distance of the simhashes. */
    unsigned distance;
    /* As in nd_decision. */
    struct nd_agreement agreement[ND_RECIPE_SIGNATURES];
    /* The documents are equal, which is verified whatever `verify` says. */
    unsigned char is_equal;
    /* Set for the one of the pairs of a whose b a would join as a star. */
    unsigned char is_nearest;
};

/*
 * Pairs: every pushed document is indexed, and `found` is called, in order, for every pair of a
 * document and an earlier one that are equal or near: by a, then by b.  max_checks does not count.
 *
 * A non-zero return of `found` stops with that status, and breaks the engine, as pairs were not
 * reported; otherwise as nd_dedup_push.
 */
ND_API enum nd_status
nd_dedup_push_pairs(struct nd_dedup *dedup, const struct nd_dedup_item *items, size_t n,
                    enum nd_status (*found)(void *context, const struct nd_found_pair *pair),
                    void *context, struct nd_error *err);

/*
 * Documents for queries: as nd_dedup_push_pairs, but they are compared with nothing.  Of more than
 * max_checks that share a key some are found by others of their keys only, so that a query takes a
 * bounded time.
 */
ND_API enum nd_status nd_dedup_push_prototypes(struct nd_dedup *dedup,
                                               const struct nd_dedup_item *items, size_t n,
                                               struct nd_error *err);

/*
 * Withdraw a document that was pushed by one of these two functions: no later pair has it.  Results
 * are those of an engine to which it was never pushed, but that keys which max_checks documents
 * filled stay full.  Numbers, counts and memory stay as they are, and `source` must still give its
 * text, as equal ones are compared with it: a program that withdraws many documents makes a new
 * engine from time to time.  ND_EINVAL: there is no such document (any more).  ND_ENOMEM.  Neither
 * changes anything.
 */
ND_API enum nd_status nd_dedup_withdraw(struct nd_dedup *dedup, uint64_t document,
                                        struct nd_error *err);

/*
 * Compare without pushing: `found` is called, in order, for every pair of items[i] and a document
 * that was pushed by one of these two functions, if they are equal or near; a is i.  max_checks
 * documents are compared: those that equal the item, then its nearest candidates.  The items are
 * not compared among themselves, and nothing of them is kept or counted.  A non-zero return of
 * `found` stops with that status.  Whatever it returns, the engine is as it was; several threads may
 * query at once.
 */
ND_API enum nd_status
nd_dedup_query(struct nd_dedup *dedup, const struct nd_dedup_item *items, size_t n,
               enum nd_status (*found)(void *context, const struct nd_found_pair *pair),
               void *context, struct nd_error *err);

/*
 * Components: push everything, then call nd_dedup_components.  Documents are verified in order
 * against their earlier candidates, the nearest first, but not again within one component; the
 * components are the transitive closure of what was verified, and the first document of each is
 * kept.  A key finds at most 8 documents of one component that are candidates of one another, and
 * max_checks of several.  What it returns, and what breaks the engine: as nd_dedup_push.
 */
ND_API enum nd_status nd_dedup_push_components(struct nd_dedup *dedup,
                                               const struct nd_dedup_item *items, size_t n,
                                               struct nd_error *err);

/* Why a document belongs to its component. */
struct nd_component_via {
    /* A neighbour that it was verified against. */
    uint64_t document;
    /* a: this one, b: the neighbour. */
    struct nd_overlap overlap;
    /* enum nd_verified; `shared` is 0 where it is ND_VERIFIED_NO. */
    unsigned char verified;
};

/*
 * Decide about documents first … first + n - 1, after the last push.  The overlap of a decision
 * is that with the kept one, which may lie below the threshold; via[i] is that with the neighbour,
 * for removed documents.  ND_EINVAL: there are not so many documents.  After that, after ND_ENOMEM
 * and after what `source` returned, it can be called again.
 */
ND_API enum nd_status nd_dedup_components(struct nd_dedup *dedup, uint64_t first, size_t n,
                                          struct nd_decision *decisions,
                                          struct nd_component_via *via, struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
