/* neardup/dedup.h - the deduplication engine: documents pushed in, decisions out */
#ifndef NEARDUP_DEDUP_H
#define NEARDUP_DEDUP_H

#include <neardup/error.h>
#include <neardup/method.h>
#include <neardup/sketch.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which earlier documents are looked at. */
enum nd_candidates_by {
    ND_CANDIDATES_MINHASH,  /* those that share a band of minima */
    ND_CANDIDATES_SIMHASH,  /* those whose simhash is within `simhash_bits` */
    ND_CANDIDATES_IDENTITY, /* those with the same bytes or the same tokens */
    ND_CANDIDATES_ALL,      /* every one: slow and exact */
    ND_CANDIDATES_MATCH,    /* those whose signatures match by the rule of `method` */
};

/* What must reach the threshold, between the two texts themselves. */
enum nd_verify {
    ND_VERIFY_JACCARD,     /* shared / union */
    ND_VERIFY_CONTAINMENT, /* shared / the smaller of the two */
    ND_VERIFY_COSINE,      /* shared / sqrt(a b) */
    ND_VERIFY_NONE,        /* nothing: the candidate itself is the answer (002) */
};

/* When a document of fewer than w tokens may be removed. */
enum nd_short {
    ND_SHORT_IDENTICAL, /* only if its bytes equal a kept one's (default) */
    ND_SHORT_KEEP,      /* never */
    ND_SHORT_TOKENS,    /* if its tokens equal a kept one's */
};

enum nd_cluster {
    ND_CLUSTER_STAR,       /* every removed document is verified against the kept one */
    ND_CLUSTER_COMPONENTS, /* the transitive closure of the verified pairs */
    /* Complete link: every two documents of a cluster match.  One joins, of the clusters before it
     * all of whose documents it matches, that whose kept one it resembles most.  It is compared
     * with max_checks kept ones and, where the distances to the kept one do not decide, with
     * max_checks members: were there more, it does not join, and was_cut says so. */
    ND_CLUSTER_COMPLETE,
};

/* Start from nd_dedup_params_default(). */
struct nd_dedup_params {
    struct nd_sketch_params sketch;
    enum nd_candidates_by candidates;
    enum nd_verify verify;
    enum nd_cluster cluster;
    enum nd_short short_policy;
    struct nd_ratio threshold; /* 0 < p <= q */
    double recall;             /* of pairs at the threshold, by the bands: 0 … 0.9999 */
    unsigned bands, rows;      /* 0: chosen for threshold and recall */
    unsigned simhash_bits;     /* for ND_CANDIDATES_SIMHASH */
    /* Exact comparisons a document, at most; and how many documents that are candidates of one
     * another one key lists. */
    unsigned max_checks;
    unsigned threads; /* at most 1024; 0: one a processor */
    /* Where the threads are as many as the processors that the process may use, keep each that is
     * started on one of its own.  For a program that has one engine and nothing else to do: 0. */
    unsigned char pin_threads;
    const struct nd_method *method; /* for ND_CANDIDATES_MATCH; copied by nd_dedup_new */
    size_t cache_bytes; /* for shingles of kept documents; bounds memory, changes no result */
};
ND_API struct nd_dedup_params nd_dedup_params_default(void);

/* One document pushed: valid UTF-8 (nd_utf8_repair); only documents of an equal group are
 * compared. */
struct nd_dedup_item {
    struct nd_view text;
    uint32_t group;
    /* What features need beside the text (fields, markup, links), or NULL. */
    const struct nd_document *document;
};

enum nd_identical { ND_IDENTICAL_NO, ND_IDENTICAL_BYTES, ND_IDENTICAL_TOKENS };

/* What became of a document.  Documents are numbered 0, 1, 2 … as pushed. */
struct nd_decision {
    uint64_t kept; /* the document that stands for it; its own number: it is kept */
    enum nd_identical identical;
    unsigned char verified;    /* the two texts themselves were compared */
    unsigned char is_short;    /* fewer than w tokens (known unless identical in bytes) */
    unsigned char is_empty;    /* no tokens */
    unsigned char was_cut;     /* had more to compare with than max_checks */
    unsigned distance;         /* Hamming, of the simhashes; UINT32_MAX where not made */
    uint32_t checks;           /* exact comparisons made */
    struct nd_overlap overlap; /* a: this one, b: the kept one; of removed documents */
    /* By ND_CANDIDATES_MATCH, of near ones: what the signatures have in common; a = b = 0: one of
     * them is rejected. */
    struct nd_agreement agreement[ND_METHOD_SIGNATURES];
};

/*
 * Gives the texts of earlier kept documents again, so that the engine need not hold them.  `fetch`
 * is called by several workers at once (0 … threads - 1); the text stays valid until the same
 * worker's next call or `push` returns.  `keep` is called in order, once a kept document, while its
 * text is still in hand.  What they return, and write to *err, is what the push ends with.
 */
struct nd_text_source {
    void *context;
    enum nd_status (*fetch)(void *context, uint64_t document, unsigned worker, struct nd_view *text,
                            struct nd_error *err);
    enum nd_status (*keep)(void *context, uint64_t document, size_t item, struct nd_error *err);
};

/*
 * An engine.  What may be called when:
 *
 *   - One call at a time, from any thread; but any number of nd_dedup_ask may run at once, while
 *     nothing else does.  As many of them go on together as the engine has threads, the others
 *     wait.  A call that comes while another that changes the engine runs is refused: ND_EINVAL.
 *   - From inside a callback (`found`, `fetch`, `keep`) every call is refused: ND_EINVAL, and the
 *     call under way goes on as if nothing had been asked.  nd_dedup_free is put off to its end.
 *     A callback must not wait for another call of the same engine.
 *   - After a push has failed once it had begun, the engine is broken: every later call but
 *     nd_dedup_free gives ND_EINVAL and says so.  Each function below says what breaks it.
 *   - The threads that an engine starts block all signals that come from outside.
 *   - In a child process of the one that made it, an engine with more than one thread can only be
 *     freed: anything else is ND_EINVAL.
 *
 * An empty engine takes about 50 KB for each thread, and 600 KB after the first document.  It grows
 * with the documents that are pushed, and with its cache of shingles (params.cache_bytes).
 */
struct nd_dedup;

/*
 * `params` and `source` are copied; `source` NULL: the engine keeps the texts of kept documents in
 * memory itself.  NULL: ND_EINVAL (the message names the parameter), ND_ENOMEM.
 */
ND_API struct nd_dedup *nd_dedup_new(const struct nd_dedup_params *params,
                                     const struct nd_text_source *source, struct nd_error *err);
/* NULL is allowed. */
ND_API void nd_dedup_free(struct nd_dedup *dedup);

/*
 * Push n documents, in keep order; decisions[i] is what became of items[i].  The decisions do not
 * depend on how the documents are divided into pushes, nor on the number of threads.
 *
 * ND_EINVAL, and nothing has changed: a text is no valid UTF-8, or pairs or components were pushed
 * before, as one engine makes one of the three.  ND_EUNSUPPORTED, and nothing has changed: more
 * than 2^32 - 2 documents.  The engine is broken after ND_ENOMEM, after ND_EUNSUPPORTED for a
 * document of more than 2^32 - 1 distinct shingles, and after what `source` returned.
 */
ND_API enum nd_status nd_dedup_push(struct nd_dedup *dedup, const struct nd_dedup_item *items,
                                    size_t n, struct nd_decision *decisions, struct nd_error *err);

/* Counts so far, for the summary. */
struct nd_dedup_stats {
    uint64_t documents, kept, identical_bytes, identical_tokens, near, short_documents,
        empty_documents, cut_documents, checks, candidates, bytes, index_bytes;
    /* Of recipes with signatures, of the documents that are indexed and no shorter than a shingle:
     * those that have some signature, and those of which all are rejected. */
    uint64_t signed_documents, unsigned_documents;
    /* Of the documents that are indexed: those that later ones do not meet by every key, as
     * max_checks of their candidates had it before, and how many keys that are. */
    uint64_t crowded_documents, crowded_keys;
    unsigned bands, rows;
};
ND_API void nd_dedup_get_stats(const struct nd_dedup *dedup, struct nd_dedup_stats *out);

/*
 * Pairs instead of stars: every pushed document is indexed, and `found` is called, in order, for
 * every verified pair of a document and an earlier one: by a, then by b.  max_checks does not
 * count.  With ND_VERIFY_NONE the overlap's `shared` is 0.
 *
 * `found` NULL: the documents are compared with nothing, and are there for nd_dedup_ask; of more
 * than max_checks that are candidates of one another some are found by some of their keys only.
 *
 * A non-zero return of `found` stops with that status, and breaks the engine, as pairs were not
 * told; otherwise as nd_dedup_push.
 */
struct nd_found_pair {
    uint64_t a, b;                                       /* document numbers, b < a */
    struct nd_overlap overlap;                           /* of a and b */
    unsigned distance;                                   /* Hamming, of the simhashes */
    struct nd_agreement agreement[ND_METHOD_SIGNATURES]; /* as of decisions */
};
ND_API enum nd_status
nd_dedup_push_pairs(struct nd_dedup *dedup, const struct nd_dedup_item *items, size_t n,
                    enum nd_status (*found)(void *context, const struct nd_found_pair *pair),
                    void *context, struct nd_error *err);

/*
 * Documents to ask about: as nd_dedup_push_pairs, but they are compared with nothing, and of more
 * than max_checks that are candidates of one another some are found by some of their keys only, so
 * that to ask takes a bounded time.
 */
ND_API enum nd_status nd_dedup_push_prototypes(struct nd_dedup *dedup,
                                               const struct nd_dedup_item *items, size_t n,
                                               struct nd_error *err);

/*
 * Ask without pushing: `found` is called, in order, for every verified pair of items[i] and one of
 * its nearest max_checks candidates among what was pushed by one of these two; a is i.  The items
 * are not compared among themselves, and nothing of them is kept or counted.  A non-zero return of
 * `found` stops with that status.  Whatever it returns, the engine is as it was; threads may ask at
 * once.
 */
ND_API enum nd_status
nd_dedup_ask(struct nd_dedup *dedup, const struct nd_dedup_item *items, size_t n,
             enum nd_status (*found)(void *context, const struct nd_found_pair *pair),
             void *context, struct nd_error *err);

/*
 * Components instead of stars, for ND_CLUSTER_COMPONENTS: push everything, then ask.  Documents are
 * verified in order against their earlier candidates, the nearest first, but not again within one
 * component; the components are the transitive closure of what was verified, the first document of
 * each is kept.  A key finds 8 documents of one component at most that are candidates of one
 * another, and max_checks of several.  What it returns, and what breaks the engine: as
 * nd_dedup_push.
 */
ND_API enum nd_status nd_dedup_push_components(struct nd_dedup *dedup,
                                               const struct nd_dedup_item *items, size_t n,
                                               struct nd_error *err);

/* Why a document belongs to its component. */
struct nd_component_via {
    uint64_t document;         /* a neighbour that it was verified against */
    struct nd_overlap overlap; /* a: this one, b: the neighbour */
};

/*
 * What became of documents first … first + n - 1, after the last push.  The overlap of a decision
 * is that with the kept one, which may lie below the threshold; via[i] that with the neighbour, for
 * removed documents.  ND_EINVAL: there are not so many documents.  After that, ND_ENOMEM or what
 * `source` returned, it can be called again.
 */
ND_API enum nd_status nd_dedup_components(struct nd_dedup *dedup, uint64_t first, size_t n,
                                          struct nd_decision *decisions,
                                          struct nd_component_via *via, struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
