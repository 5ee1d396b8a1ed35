/*
 * store.h - documents, their versions and security labels, kept on disk, and the near duplicates
 *
 *     struct nd_store *store = nd_store_open("store", &options, &err);
 *     struct nd_session *session = nd_session_new(store, &err);
 *     struct nd_caller *caller = nd_caller_new(store, NULL, 0, true, &err);
 *
 *     nd_session_query(session, caller, text, NULL, NULL, &verdict, &err);
 *
 * A label is a security label, a member of the array `security` of those who use the service.  A
 * document is identified by its id and its label set.  A caller with labels C sees a document if
 * its label set is a subset of C.  Whatever a caller is given is a function of the operations on
 * the documents that they see, and of the configuration, alone (src/store/README.md).
 */
#ifndef ND_STORE_STORE_H
#define ND_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <stdatomic.h>

#include <neardup/compare.h>
#include <neardup/dedup.h>
#include <neardup/error.h>
#include <neardup/recipe.h>
#include <neardup/types.h>
#include <neardup/visits.h>

struct nd_store;

/* The limits of what is stored. */
enum {
    ND_STORE_ID_MAX = 4096,   /* bytes of an id */
    ND_STORE_LABELS_MAX = 64, /* labels of a document or a caller */
    ND_STORE_LABEL_MAX = 128, /* bytes of a label */
    ND_STORE_TITLE_MAX = 300  /* bytes of a title; a longer one is cut */
};

/* How an operation ended, for whoever called it.  Anything but ND_STORE_OK leaves a sentence in the
 * error. */
enum nd_store_result {
    ND_STORE_OK,
    ND_STORE_NOT_FOUND, /* no such document that the caller sees */
    ND_STORE_AMBIGUOUS, /* the caller sees several documents with this id: name the labels */
    ND_STORE_FORBIDDEN, /* the label set is no subset of the caller's labels */
    ND_STORE_INVALID,   /* an argument is wrong */
    ND_STORE_BUSY,      /* the write queue is full: later */
    ND_STORE_NO_SPACE,  /* the disk is full; nothing was written */
    ND_STORE_NO_MEMORY,
    ND_STORE_FAILED /* the disk or the store is broken; the message says where */
};

/* ---- Opening ---- */

/* Start from nd_store_options_default(). */
struct nd_store_options {
    /*
     * the recipe of a store that is made; NULL: an existing store's own, a new one's the default.
     * The df tables that it names are copied into a new store.  ND_EINVAL: the store has another
     * recipe, and the message names the key, or another table.  A recipe that names no table means
     * the store's.
     */
    const struct nd_recipe *recipe;
    /*
     * For a store that is made: down to this resemblance queries may ask for neighbours below the
     * recipe's threshold (nd_asked), for which the index has more bands.  0/0: they may not, or an
     * existing store's own.  ND_EINVAL: the store was made with another one.
     */
    struct nd_ratio least;
    /*
     * For a store that is made: answers name documents that have this share of the shingles of a text
     * in them, and of which the text has it.  Every shingle is kept in memory.  0/0: they do not, or
     * an existing store's own.  ND_EINVAL: the store was made with another one.
     */
    struct nd_ratio containment;
    bool create;      /* make the store if there is none */
    bool read_only;   /* beside a server that runs: no writes, no index; export, check, stats */
    bool has_answers; /* with read_only: an index too, for queries; nobody else may write then */
    unsigned threads; /* to rebuild the index; 0: one for each processor */
    /* 0: a write is acknowledged once it is on disk.  Above: it is acknowledged at once, and all
     * writes are on disk within so many milliseconds. */
    unsigned durability_interval_ms;
    size_t queue_documents; /* of writes that wait: more are ND_STORE_BUSY (10,000) */
    size_t queue_bytes;     /* the same, of their texts (256 MiB) */
    unsigned
        snapshot_every_s;     /* seconds between snapshots of the index (900); 0: at the end only */
    unsigned compact_after_s; /* a deleted text leaves the disk so many seconds later (86,400) */
    uint64_t segment_bytes;   /* a segment is closed at this size (1 GiB) */
    /* For each label set, the number of pairs of a new text that are stored with its first texts, and
     * again with the nearest of the others (8). */
    unsigned pairs_stored;
    struct nd_visit_params visits;
    /* Seconds since 1970; NULL: the system's clock. */
    uint64_t (*now)(void *context);
    void *now_context;
};
struct nd_store_options nd_store_options_default(void);

/*
 * Open the store in a folder, or make it: under a temporary name, synced, then renamed.  One process
 * at a time may write (a lock file).  NULL: ND_EINVAL (locked, another recipe, a recipe that is not
 * served, which the message names by key), ND_EINPUT (damaged, another version), ND_EIO, ND_ENOMEM.
 */
struct nd_store *nd_store_open(const char *folder, const struct nd_store_options *options,
                               struct nd_error *err);
/* Commit what waits, write a snapshot of the index, and close.  No session or caller is left.  The
 * first failure is returned; everything that was acknowledged as durable is on disk. */
enum nd_status nd_store_close(struct nd_store *store, struct nd_error *err);

const struct nd_recipe *nd_store_recipe(const struct nd_store *store);
/* Down to where neighbours are found; 0/0: down to the threshold. */
struct nd_ratio nd_store_least(const struct nd_store *store);
/* The share from which on answers tell of containment; 0/0: they do not. */
struct nd_ratio nd_store_containment(const struct nd_store *store);
/* Check that a query may ask for neighbours down to `at`.  ND_EINVAL: the message says from where to
 * where, or how a store is made that has them. */
enum nd_status nd_store_check_at(const struct nd_store *store, struct nd_ratio at,
                                 struct nd_error *err);

/*
 * The parts of documents that the store's recipe reads beside their texts.  Whatever is called a text
 * below, by whoever gives it, is what nd_session_content makes of a document; where nothing is read
 * beside the text, it is the text.
 */
struct nd_store_reads {
    bool markup; /* and links */
    bool elements;
    enum nd_boilerplate boilerplate; /* the part of pages that is their text */
    const char *const *field;        /* by name, each once */
    size_t n_fields;
};
const struct nd_store_reads *nd_store_reads(const struct nd_store *store);
/* ND_EUNSUPPORTED: a recipe that is decided neither by resemblance nor by signatures, or verifies
 * what these find; the message names the key. */
enum nd_status nd_store_recipe_check(const struct nd_recipe *recipe, struct nd_error *err);

/* ---- Who calls ---- */

/*
 * A caller with these labels, in any order; an administrator sees everything.  It may be used by any
 * number of threads at once.  NULL: ND_EINVAL (limits above, a label that is empty, not valid UTF-8
 * or has a comma or control characters), ND_ENOMEM.
 */
struct nd_caller;
struct nd_caller *nd_caller_new(struct nd_store *store, const struct nd_view *labels, size_t n,
                                bool is_administrator, struct nd_error *err);
void nd_caller_free(struct nd_caller *caller);

/* The identity of a document. Labels are in order, each once. */
struct nd_document_key {
    struct nd_view id;
    const struct nd_view *labels;
    size_t n_labels;
};

/* ---- Verdicts ---- */

enum nd_verdict_kind {
    ND_VERDICT_NEW,
    ND_VERDICT_DUPLICATE,     /* equal bytes or tokens */
    ND_VERDICT_NEAR_DUPLICATE /* within the recipe's threshold */
};

/* The work done for the caller, in label sets that they see only. */
struct nd_work {
    uint64_t label_sets; /* that were searched */
    uint64_t candidates; /* documents that the index proposed */
    uint64_t comparisons;
    uint64_t pairs; /* stored pairs that were read to find out who leads */
};

/* How two documents compare; a: the one in question, b: the other. */
struct nd_likeness {
    enum nd_identical identical;
    struct nd_overlap overlap; /* of their shingles; all 0 where the recipe decides by distance */
    unsigned distance;         /* of the simhashes; UINT32_MAX: they were not made */
};

/* A document that a text duplicates. */
struct nd_nearest {
    struct nd_document_key key;
    struct nd_view title; /* empty: it has none */
    uint64_t visited;     /* when it was last posted, in seconds since 1970 */
    struct nd_likeness likeness;
    const struct nd_difference *differs; /* the text is the first of the two; NULL: not asked for */
};

/* How many of them, and which, are asked for. */
struct nd_asked {
    size_t limit;       /* at most so many; 0: ND_STORE_NEAREST */
    uint64_t max_age_s; /* not those that were visited longer ago; 0: all */
    bool differs;       /* each with the words that only one of the two texts has */
    /* Neighbours below the threshold, too, down to this resemblance: what nd_store_check_at takes; 0/0:
     * none. They change neither the verdict nor the cluster. */
    struct nd_ratio at;
};
enum { ND_STORE_NEAREST = 3, ND_STORE_NEAREST_MAX = 100 };

struct nd_verdict {
    enum nd_verdict_kind kind; /* of the nearest document */
    /* The nearest first: equal bytes, equal tokens, then by what the recipe measures; of those that
     * are as near, the earlier. */
    const struct nd_nearest *nearest; /* of a text that is new: those that `at` asks for */
    size_t n_nearest;
    /* The leader of the cluster that it joins, however old: the nearest document that leads. */
    bool has_cluster;
    struct nd_nearest cluster;
    /* In a store with containment, the documents that have the share of the text's shingles in them,
     * and those of which the text has it; the greatest share first, then the earlier. */
    bool has_containment;
    const struct nd_nearest *contained_in, *contains;
    size_t n_contained_in, n_contains;
    uint64_t tokens, shingles;
    uint64_t simhash; /* 0 where the recipe makes none */
    bool is_short;    /* too short for the recipe's shingles: only equal ones are found */
    bool is_empty;
    /* In some label set there was more to compare than max_checks; or the cluster depends on pairs
     * that are not stored. */
    bool was_cut;
    struct nd_work work;
};

/* ---- Reading ---- */

/* The working memory of one thread that reads.  What its functions give stays until its next call. */
struct nd_session;
struct nd_session *nd_session_new(struct nd_store *store, struct nd_error *err);
void nd_session_free(struct nd_session *session);

/* A document as the functions below take it: *text stays until the next call of this function.
 * ND_STORE_NO_MEMORY. */
enum nd_store_result nd_session_content(struct nd_session *session,
                                        const struct nd_document *document, struct nd_view *text,
                                        struct nd_error *err);
/* The reverse, of a text of which `content` is said below. */
enum nd_store_result nd_session_document(struct nd_session *session, struct nd_view content,
                                         struct nd_document *document, struct nd_error *err);

/*
 * "Have we this already, or nearly?"  Among all documents that the caller sees, except `own` (NULL:
 * none), the document that is to have the text: the verdict is the one that storing it would give.
 * asked NULL: the defaults.
 */
enum nd_store_result nd_session_query(struct nd_session *session, const struct nd_caller *caller,
                                      struct nd_view text, const struct nd_document_key *own,
                                      const struct nd_asked *asked, struct nd_verdict *out,
                                      struct nd_error *err);

/* The sketch of a text by the store's recipe, as hexadecimal digits would show it. */
struct nd_fingerprint {
    uint64_t simhash, identity;
    uint64_t tokens, shingles;
    bool has_simhash, has_minima;
    uint32_t minhash[ND_MINHASH_COUNT];
};
enum nd_store_result nd_session_fingerprint(struct nd_session *session, struct nd_view text,
                                            struct nd_fingerprint *out, struct nd_error *err);

/* A stored document. */
struct nd_stored {
    struct nd_document_key key;
    struct nd_view title;      /* of its last post; empty: it has none */
    uint64_t created, updated; /* seconds since 1970: its first, and its present version */
    uint64_t visited;          /* when it was last posted, changed or not */
    uint32_t version;          /* 1, 2, … of the present text */
    uint64_t tokens, shingles, simhash;
    uint64_t text_bytes;
    struct nd_view text;    /* valid UTF-8; only from nd_session_get and _each */
    struct nd_view content; /* with what the recipe reads beside it (nd_session_content) */
    struct nd_visits visits;
    uint64_t due; /* when to visit it next */
};

/* labels NULL: whatever its labels are, if the caller sees only one document with that id. */
struct nd_document_query {
    struct nd_view id;
    const struct nd_view *labels;
    size_t n_labels;
    bool any_labels;
};
enum nd_store_result nd_session_get(struct nd_session *session, const struct nd_caller *caller,
                                    const struct nd_document_query *query, struct nd_stored *out,
                                    struct nd_error *err);

/* A version: of those before the present one only this is kept (Seshasai 2009, §2.6.1). */
struct nd_version {
    uint32_t number;
    uint64_t time;    /* when it was first posted */
    uint64_t visited; /* when it was last posted */
    uint64_t simhash, identity, tokens, shingles, text_bytes;
    uint32_t distance; /* of the simhashes, to the version before; 64 for the first */
};
enum nd_store_result nd_session_versions(struct nd_session *session, const struct nd_caller *caller,
                                         const struct nd_document_query *query, size_t limit,
                                         struct nd_stored *document, const struct nd_version **out,
                                         size_t *n, struct nd_error *err);

/* A document near another, or of its cluster. */
struct nd_neighbour {
    struct nd_stored document; /* without its text */
    struct nd_likeness likeness;
    bool leads; /* for this caller */
};

/* How many pairs an answer reads: of a text with the texts of a label set (or as many as `limit` is),
 * and at all. */
enum { ND_STORE_PAIRS_OF_SET = 1000, ND_STORE_PAIRS = 200000 };

/* The documents that nd_session_near and nd_session_cluster find. */
struct nd_neighbours {
    const struct nd_neighbour *document;
    size_t n;
    size_t total; /* how many were found, of which up to `limit` are given */
    /* Some may be missing, or in the wrong cluster, since not all pairs of a crowd are stored, and not
     * all of those are read. */
    bool was_cut;
    struct nd_work work;
};

/*
 * The documents within the threshold of a document, the nearest first, then the earlier, each with
 * its likeness to that document; or the documents of its cluster: the leader first, then in order of
 * commits, each with its likeness to the leader, which is a.
 */
enum nd_store_result nd_session_near(struct nd_session *session, const struct nd_caller *caller,
                                     const struct nd_document_query *query, size_t limit,
                                     struct nd_neighbours *out, struct nd_error *err);
enum nd_store_result nd_session_cluster(struct nd_session *session, const struct nd_caller *caller,
                                        const struct nd_document_query *query, size_t limit,
                                        struct nd_neighbours *out, struct nd_error *err);

/*
 * A document to visit next. They come by when they are due, then by priority, then by id and
 * labels.
 */
struct nd_crawl_row {
    struct nd_stored document;
    bool is_due;
    uint64_t gap; /* nd_visits_gap; 0: not known */
};
/* `expect`: the change that gaps are for; 0: that of the store's options. */
enum nd_store_result nd_session_crawl(struct nd_session *session, const struct nd_caller *caller,
                                      uint32_t expect, size_t limit,
                                      const struct nd_crawl_row **out, size_t *n,
                                      struct nd_error *err);

/*
 * The documents that a caller sees, the newest first: by when their first version was posted, then by
 * id (docs/http.md).  A place says where a list ended, so that another one goes on behind it; it is
 * made of what the caller sees.
 */
enum { ND_STORE_PLACE_MAX = 176, ND_STORE_SCANNED = 10000 };
struct nd_place {
    size_t len;
    uint8_t bytes[ND_STORE_PLACE_MAX];
};
struct nd_recent_query {
    size_t limit;
    const struct nd_place *after; /* NULL: begin with the newest */
    uint64_t since;               /* seconds since 1970: not those that came before */
    /* Whether a document is to be in the list; NULL: each is. */
    bool (*takes)(void *context, struct nd_view id, struct nd_view title);
    void *context;
};
struct nd_recent {
    const struct nd_stored *document; /* without texts */
    size_t n;
    bool has_more; /* there are more behind `next`; of the ND_STORE_SCANNED that were looked at
                    * there may be fewer than the limit */
    struct nd_place next;
};
/* ND_STORE_INVALID: `after` is no place. */
enum nd_store_result nd_session_recent(struct nd_session *session, const struct nd_caller *caller,
                                       const struct nd_recent_query *query, struct nd_recent *out,
                                       struct nd_error *err);

/*
 * The clusters of at least two documents among the newest documents that a caller sees: among the
 * first ND_STORE_SCANNED, or as many as ND_STORE_PAIRS pairs lead to (was_cut; also where pairs that
 * are not stored might matter).
 */
struct nd_cluster_row {
    struct nd_stored leader; /* without its text; it may be older than all that were looked at */
    uint64_t size;           /* documents that were looked at */
    uint64_t newest;         /* when the newest of them came */
    uint64_t last_hour, last_day; /* how many came since then */
};
enum nd_cluster_order {
    ND_CLUSTERS_SIZE,   /* the largest first */
    ND_CLUSTERS_NEWEST, /* those with the newest document first */
    ND_CLUSTERS_GROWTH  /* those that grew most in the last hour first, then in the last day */
};
struct nd_cluster_query {
    size_t limit;
    enum nd_cluster_order order;
    const struct nd_place *after; /* NULL: begin with the first */
};
struct nd_clusters {
    const struct nd_cluster_row *cluster;
    size_t n;
    uint64_t total, documents; /* of clusters; that were looked at */
    bool was_cut, has_more;
    struct nd_place next;
    struct nd_work work;
};
enum nd_store_result nd_session_clusters(struct nd_session *session, const struct nd_caller *caller,
                                         const struct nd_cluster_query *query,
                                         struct nd_clusters *out, struct nd_error *err);

/* Figures of what a caller sees; `due`: documents to be visited by now, up to ND_STORE_DUE_COUNTED of
 * them are counted. */
#define ND_STORE_DUE_COUNTED 100000
struct nd_visible_stats {
    uint64_t documents, versions, contents, text_bytes, label_sets, due;
};
enum nd_store_result nd_session_visible_stats(struct nd_session *session,
                                              const struct nd_caller *caller,
                                              struct nd_visible_stats *out, struct nd_error *err);

/* ---- Writing ---- */

/*
 * A document to store, or to delete.  The thread that makes it sketches and compresses the text; the
 * store's own thread decides and commits, in the order in which writes were submitted.
 */
struct nd_write;

struct nd_write_request {
    struct nd_view id; /* empty: the hash of the text, in hexadecimal digits */
    const struct nd_view *labels;
    size_t n_labels;
    struct nd_view text;  /* valid UTF-8; copied */
    struct nd_view title; /* valid UTF-8, or empty: it is made one line and cut */
    struct nd_asked asked;
    bool is_deletion; /* of the document with this id and these labels */
    bool any_labels;  /* of a deletion: whatever its labels are, as in nd_document_query */
};
/* ND_STORE_FORBIDDEN, ND_STORE_INVALID, ND_STORE_NO_MEMORY. */
enum nd_store_result nd_write_new(struct nd_session *session, const struct nd_caller *caller,
                                  const struct nd_write_request *request, struct nd_write **out,
                                  struct nd_error *err);
void nd_write_free(struct nd_write *write);

/*
 * Hand over n writes, which stay the caller's.  Once all are decided and on disk, or not,
 * `done(context)` is called, by the store's thread, which it must not hold up.  ND_STORE_BUSY: the
 * queue is full, nothing was handed over and `done` is not called.  Writes of one call are committed
 * in their order, perhaps with others in between.
 */
enum nd_store_result nd_store_submit(struct nd_store *store, struct nd_write *const *writes,
                                     size_t n, void (*done)(void *context), void *context,
                                     struct nd_error *err);

/* Whether a write would be taken now, if the store takes any.  ND_STORE_BUSY; ND_STORE_NO_SPACE: the last write found none, and
 * no more is free than then; ND_STORE_FAILED: not until the store is opened again. */
enum nd_store_result nd_store_ready(struct nd_store *store, struct nd_error *err);

/* The outcome of a write that is done; points into it. */
struct nd_written {
    enum nd_store_result result;
    const char *message; /* where that is not ND_STORE_OK */
    struct nd_document_key key;
    struct nd_verdict verdict; /* of a document that was stored */
    uint32_t version;
    uint32_t distance;   /* to the version before; 64 for the first */
    bool is_new_version; /* false: the same text as before, visited again */
    bool is_durable;
};
const struct nd_written *nd_write_result(const struct nd_write *write);

/* ---- What keeps a store in order (neardup store) ---- */

/* Figures of the whole store: for its administrator. */
struct nd_store_stats {
    uint64_t documents, versions, contents, pairs, label_sets;
    uint64_t text_bytes, segment_bytes, garbage_bytes, segments;
    uint64_t database_bytes, index_bytes, index_documents;
    uint64_t commits, writes, syncs; /* since it was opened */
    uint64_t queue_documents, queue_bytes;
    uint64_t last_snapshot, oldest_garbage; /* seconds since 1970; 0: none */
    double open_seconds;
    bool opened_from_snapshot;
};
void nd_store_stats(struct nd_store *store, struct nd_store_stats *out);

/*
 * Read each row of the database of a store once, before it is opened: an open store trusts the pages
 * that lead to them.  Damaged ones can end the process; so call it in one of its own, as long as no
 * other thread runs.  alone: as for nd_store_options.has_answers.  A folder that has no database is
 * fine.  Each finding is reported; ND_EINPUT: there were some.
 */
enum nd_status nd_store_check_rows(const char *folder, bool alone,
                                   void (*report)(void *context, const char *finding),
                                   void *context, struct nd_error *err);
/* Read everything, compare every checksum, every row with its text and every index with its rows.
 * Each finding is reported; ND_EINPUT: there were some. */
enum nd_status nd_store_check(struct nd_store *store,
                              void (*report)(void *context, const char *finding), void *context,
                              struct nd_error *err);
/* Rewrite segments that have texts of deleted documents (all: those that have any; else those that
 * are due).  The store goes on answering. */
enum nd_status nd_store_compact(struct nd_store *store, bool all, uint64_t *bytes_freed,
                                struct nd_error *err);
/* A copy of the store as it is at one moment, in a new folder; the store goes on answering. */
enum nd_status nd_store_backup(struct nd_store *store, const char *folder, struct nd_error *err);

/*
 * Make a store in a new folder with the documents of this one as they are at one moment, by another
 * recipe, or with another df table, and with the option `least`; this one goes on answering.  The
 * folder gets its name once all of it is on disk.  *documents: how many were taken.  ND_EINVAL: the folder is not empty; the recipe is
 * not served, or reads what this store has not kept; what nd_store_open says.
 */
enum nd_status nd_store_resketch(struct nd_store *store, const char *folder,
                                 const struct nd_recipe *recipe, struct nd_ratio least,
                                 struct nd_ratio containment, uint64_t *documents,
                                 struct nd_error *err);

/* All documents that the caller sees, in order of their commits, as they are at one moment: for
 * export.  What `each` is given stays until it returns; other than 0 ends it, with ND_STORE_OK.  It
 * must not call the session. */
enum nd_store_result nd_session_each(struct nd_session *session, const struct nd_caller *caller,
                                     int (*each)(void *context, const struct nd_stored *document,
                                                 const struct nd_version *versions, size_t n),
                                     void *context, struct nd_error *err);

/*
 * The sketches of the same documents, in the same order, as a sketch file: into a stream that can be
 * sought in and stays the caller's.  Ids are those of the documents; one that several label sets have
 * is there for each.  Once *stops (NULL allowed) is true it ends with ND_STORE_FAILED.
 */
enum nd_store_result nd_session_write_sketches(struct nd_session *session,
                                               const struct nd_caller *caller, FILE *stream,
                                               bool keeps_shingles, const atomic_bool *stops,
                                               uint64_t *documents, struct nd_error *err);

/* A document as an export has it: its versions, times and visits. */
struct nd_import {
    struct nd_document_key key;
    struct nd_view text, title;
    uint64_t created, updated, visited, due;
    struct nd_visits visits;
    const struct nd_version *versions; /* by ascending numbers; the last one is of the text */
    size_t n_versions;
};
/*
 * Put documents back, in their order, and wait until they are on disk.  ND_STORE_INVALID: one of them
 * cannot be, or the store has it already, and the error names it: those that can be checked without
 * the store are, before any is stored, and of the others the store keeps all that it can.  Other
 * results are those of nd_store_submit and of writes.
 */
enum nd_store_result nd_store_import(struct nd_session *session, const struct nd_import *documents,
                                     size_t n, struct nd_error *err);

#endif
