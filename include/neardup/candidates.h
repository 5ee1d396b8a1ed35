/*
 * neardup/candidates.h - which documents could match, for those who look for them on several machines
 *
 *     struct nd_candidate_rows *rows = nd_candidate_rows_new(recipe, &err);
 *
 *     nd_candidate_rows_make(rows, &item, group, row, keys, &n_keys, &err);
 *     … documents that share a key are brought together …
 *     nd_candidate_rows_link(rows, all_rows, n, parent, &err);
 *
 * Library: neardup.  Documents that are not connected by links cannot influence each other's
 * decisions.  So an engine that is given the documents of a connected component, in keep order,
 * decides about them as one that is given all documents (src/engine/README.md).
 */
#ifndef NEARDUP_CANDIDATES_H
#define NEARDUP_CANDIDATES_H

#include <neardup/dedup.h>
#include <neardup/error.h>
#include <neardup/recipe.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes rows of documents: what tells whether two documents could match.  Rows are plain bytes, of
 * one length for a recipe, which any machine may read.  One thread at a time makes rows; any number
 * may compare them meanwhile.
 */
struct nd_candidate_rows;

/* The most keys of one document. */
#define ND_CANDIDATE_KEYS_MAX 160

/*
 * For a recipe, which is copied; its df tables outlive the rows.  NULL: ND_EINVAL, as nd_dedup_new;
 * ND_ENOMEM; ND_EUNSUPPORTED: candidates are not found by bands of minima, the distance of a
 * simhash, identity, or a rule on bits and coordinates; the message names the key.
 */
ND_API struct nd_candidate_rows *nd_candidate_rows_new(const struct nd_recipe *recipe,
                                                       struct nd_error *err);
/* NULL is allowed. */
ND_API void nd_candidate_rows_free(struct nd_candidate_rows *rows);

/* The bytes of a row: a multiple of 8. */
ND_API size_t nd_candidate_rows_bytes(const struct nd_candidate_rows *rows);

/* Whether all documents that share a key could match, so that no rows need be compared. */
ND_API int nd_candidate_rows_match_by_key(const struct nd_candidate_rows *rows);

/*
 * The row of a document, and the keys under which others meet it.  item->group does not count:
 * `group` does, of which documents in different groups have different values, as a rule.  Where two
 * groups have the same, they are looked up together, at a cost and without an effect.  A key whose
 * lowest bit is set is of documents that are equal as far as their hashes tell: they count as
 * linked.  ND_EINVAL: the text is no valid UTF-8; ND_ENOMEM; ND_EUNSUPPORTED: 2^32 shingles.
 */
ND_API enum nd_status nd_candidate_rows_make(struct nd_candidate_rows *rows,
                                             const struct nd_dedup_item *item, uint64_t group,
                                             void *row, uint64_t keys[ND_CANDIDATE_KEYS_MAX],
                                             size_t *n_keys, struct nd_error *err);

/*
 * Whether rows tell the keys of their documents, so that these need not be kept: those of minima and
 * of the simhash of the section [sketch] do.  If so, the second function gives the keys of a row, as
 * many as it returns, in the order in which nd_candidate_rows_make gave them.
 */
ND_API int nd_candidate_rows_tell_keys(const struct nd_candidate_rows *rows);
ND_API size_t nd_candidate_rows_keys(const struct nd_candidate_rows *rows, const void *row,
                                     uint64_t keys[ND_CANDIDATE_KEYS_MAX]);

/* Whether two documents that share a key are candidates of each other. */
ND_API int nd_candidate_rows_could_match(const struct nd_candidate_rows *rows, const void *a,
                                         const void *b);

/*
 * How many documents a key lists at most.  Who is listed under a key that more documents share depends
 * on all of them, so they belong together whether they could match or not.
 */
ND_API size_t nd_candidate_rows_key_room(const struct nd_candidate_rows *rows);

/*
 * Link all n documents that share a key: parent[i] <= i is the first document of i's tree.  Documents
 * that could match are in the same tree; and all, if they are as many as a key lists.  Time and memory are proportional to n: documents that
 * could not be told apart by some thousand comparisons each end up in the same tree too, which is
 * never wrong.  ND_ENOMEM.
 */
ND_API enum nd_status nd_candidate_rows_link(const struct nd_candidate_rows *rows,
                                             const void *const *row, size_t n, uint32_t *parent,
                                             struct nd_error *err);

/*
 * A job on Spark, whose costs the formulae of docs/spark-costs.md predict stage by stage.  Start from
 * nd_spark_job_default(), in which documents, bytes and executors are 0: set these.
 */
struct nd_spark_job {
    double documents;
    double bytes;            /* of the text of a document, on average */
    double executors, cores; /* executors, and the cores of each */
    double matching;         /* the share of the documents that could match another */
    double buckets;          /* that such a document shares with others, on average */
    double edges;            /* of such a document, on average */
    double rounds;           /* until the components are found */
    double busy;             /* the share of its time that a core works */
};
ND_API struct nd_spark_job nd_spark_job_default(void);

/* Read "executors=100,cores=8", with any members of nd_spark_job; others stay as they are.
 * ND_EINVAL: no such member, or its value is not above 0; a share is above 1. */
ND_API enum nd_status nd_spark_job_parse(const char *text, struct nd_spark_job *job,
                                         struct nd_error *err);

#define ND_SPARK_STAGES 6

/* The predicted costs of one stage of a job on Spark. */
struct nd_spark_stage {
    const char *name;
    double shuffled_bytes;             /* written to its shuffle */
    double processor_seconds, seconds; /* summed over all cores; elapsed */
    double memory_bytes;               /* of the Python process of each core */
};

/* Predict all stages, in their order.  Returns the bytes of local disk that all executors need. */
ND_API double nd_spark_predict(const struct nd_spark_job *job,
                               struct nd_spark_stage stage[ND_SPARK_STAGES]);

#ifdef __cplusplus
}
#endif
#endif
