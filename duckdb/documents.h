/* documents.h - the documents of a group of rows, and which of them are near duplicates */
#ifndef DUCKDB_DOCUMENTS_H
#define DUCKDB_DOCUMENTS_H

#include <neardup/dedup.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An id is a number, or a text. */
struct document_id {
    int64_t number;
    struct nd_view text;
};

/* A document that is a near duplicate, and the one that is kept for it. */
struct removed_document {
    struct document_id id, kept;
    double resemblance; /* of the two; 1 if they are equal and too short for shingles */
};

/* Documents with copies of their ids and texts, and the recipe that compares them. */
struct documents;

/* NULL: ND_ENOMEM. */
struct documents *documents_new(struct nd_error *err);
/* NULL is allowed. */
void documents_free(struct documents *documents);

/* ND_EINVAL: it is not above 0 and at most 1. */
enum nd_status documents_set_threshold(struct documents *documents, double threshold,
                                       struct nd_error *err);
/* The name of a shipped recipe, or "key = value". ND_EINVAL: there is none. */
enum nd_status documents_set_recipe(struct documents *documents, struct nd_view recipe,
                                    struct nd_error *err);
enum nd_status documents_add(struct documents *documents, const struct document_id *id,
                             struct nd_view text, struct nd_error *err);
/* Add the documents of another group, which may be freed then. */
enum nd_status documents_append(struct documents *documents, const struct documents *other,
                                struct nd_error *err);

/*
 * Decide about the documents in the order of their ids, so that the order of rows and the number
 * of threads do not matter. *removed is to be freed; its ids stay as long as the documents.
 */
enum nd_status documents_decide(struct documents *documents, bool by_text,
                                struct removed_document **removed, size_t *n_removed,
                                struct nd_error *err);

/* shared / union; 1 if both are empty. */
double overlap_resemblance(const struct nd_overlap *overlap);

#endif
