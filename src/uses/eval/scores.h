/* scores.h - a result held against the truth: what is right, component by component */
#ifndef ND_USES_EVAL_SCORES_H
#define ND_USES_EVAL_SCORES_H

#include <stdbool.h>

#include "uses/eval/relation.h"

/* Counts of pairs.  A listed pair is in the result and has a label. */
struct nd_pair_counts {
    uint64_t right, listed, same; /* same: pairs that the truth calls so */
};

/*
 * The counts of a component: documents that are joined by pairs of the truth or of the result. All
 * figures but the adjusted Rand index are quotients of sums of these over components.
 */
struct nd_component {
    struct nd_pair_counts pairs;   /* of the result as it is: of a manifest its rows */
    struct nd_pair_counts in_sets; /* of all pairs within its sets */
    uint64_t documents;            /* and the sums of their B-cubed shares: */
    double shares_of_set, shares_of_true;
    uint64_t queries;    /* documents that have others that are the same, … */
    double shares_found; /* … and the sum of the shares of these that the result has */
    uint64_t answered;   /* documents that have others in the result, … */
    double shares_right; /* … and the sum of the shares of these that are the same */
};

static inline void nd_component_add(struct nd_component *sum, const struct nd_component *x)
{
    sum->pairs.right += x->pairs.right;
    sum->pairs.listed += x->pairs.listed;
    sum->pairs.same += x->pairs.same;
    sum->in_sets.right += x->in_sets.right;
    sum->in_sets.listed += x->in_sets.listed;
    sum->in_sets.same += x->in_sets.same;
    sum->documents += x->documents;
    sum->shares_of_set += x->shares_of_set;
    sum->shares_of_true += x->shares_of_true;
    sum->queries += x->queries;
    sum->shares_found += x->shares_found;
    sum->answered += x->answered;
    sum->shares_right += x->shares_right;
}

/* Starts from zeroes. */
struct nd_scores {
    struct nd_component *component; /* those with pairs first */
    size_t n_components, n_paired;
    struct nd_component sum;
    uint64_t unsure, unlabelled; /* pairs of the result that were left out */
    uint64_t n_documents;
    bool has_sets;      /* the result has sets, and in_sets is counted */
    bool has_true_sets; /* the truth has too: B-cubed, the Rand index and exact sets are known */
    bool has_negatives; /* the truth can call a pair different */
    bool knows_removed; /* the result removes documents, and the truth says what each is like */
    uint64_t n_sets, n_true_sets, exact_sets; /* of two documents or more */
    uint64_t largest_set;
    uint64_t removed, unmatched; /* unmatched: the truth calls no kept document the same */
    uint64_t kept_twice;         /* kept, and the truth calls an earlier kept document the same */
    /* Counts for clusters against classes. */
    uint64_t members, mixed_sets, mixed_members;
};

/* Pairs that the truth calls the same: so many, in the component of a document. */
struct nd_same_pairs {
    uint32_t id;
    uint64_t count;
};

/* A part of the pairs that the truth calls the same; NULL: which belong to it is not known, and all
 * of those that are right count, and no other. */
struct nd_same_part {
    const struct nd_same_pairs *same;
    size_t n;
};

/*
 * Count. n: the documents that there are, by their numbers; `all` pairs of them count, or only
 * those that the truth labels. `part` NULL: all that the truth calls the same; otherwise the result
 * is a part of the pairs of another, and only components that have pairs of it are kept. ND_ENOMEM.
 * Undo with nd_scores_release, whatever it returns.
 */
enum nd_status nd_scores_count(struct nd_scores *t, const struct nd_relation *truth,
                               const struct nd_relation *result, size_t n, bool all,
                               const struct nd_same_part *part, struct nd_error *err);
void nd_scores_release(struct nd_scores *t);

/* Find what the truth says of a pair. False: nothing, so that the pair is left out. */
bool nd_scores_judge(const struct nd_relation *truth, size_t n, bool all, uint64_t ids,
                     enum nd_label *label);

/* The adjusted Rand index (Hubert and Arabie 1985) of the sets. */
double nd_scores_rand(const struct nd_scores *t);

#endif
