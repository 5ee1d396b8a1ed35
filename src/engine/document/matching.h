/* matching.h - recipes with signatures: documents signed, looked up by them, matched by the rule */
#ifndef ND_ENGINE_DOCUMENT_MATCHING_H
#define ND_ENGINE_DOCUMENT_MATCHING_H

#include <stdbool.h>

#include <neardup/dedup.h>

#include "index/candidate_list.h"
#include "index/signature_index.h"
#include "match/rule.h"
#include "record/beside.h"

/* Whether no signature reads the text: then equal texts say nothing, nor does how long they are. */
ND_API bool nd_method_ignores_text(const struct nd_method *method);

/* The part of matching that all threads share. */
struct nd_matching {
    struct nd_method method;
    struct nd_rule rule;
    struct nd_signature_shape shape[ND_RECIPE_SIGNATURES];
    uint64_t reserved[ND_RECIPE_SIGNATURES][8]; /* bits above those that count */
    struct nd_signature_lookup lookup[ND_RULE_LOOKUPS];
    unsigned n_lookups;
    bool ignores_text;
    struct nd_beside
        beside;    /* where anything is read of it, equal texts may differ in signatures */
    bool can_hope; /* lengths and counts alone may show that the rule does not hold */
};

/* NULL and *err: what nd_rule_parse says; ND_ENOMEM. */
struct nd_matching *nd_matching_new(const struct nd_method *method, struct nd_error *err);
void nd_matching_free(struct nd_matching *m);
/* An empty index for its signatures.  NULL: out of memory. */
struct nd_signature_index *nd_matching_index(const struct nd_matching *m);

/* One thread's: a signer for each signature, and lists for look-ups. */
struct nd_matching_worker {
    const struct nd_matching *matching;
    struct nd_document_signer *signer[ND_RECIPE_SIGNATURES];
    struct nd_key_list keys, scratch;
    struct nd_numbers met;
};
/* Without `signs` it has no signers, and takes signatures of rows only. */
struct nd_matching_worker *nd_matching_worker_new(const struct nd_matching *m, bool signs,
                                                  struct nd_error *err);
void nd_matching_worker_free(struct nd_matching_worker *s);

/* A document's signatures, in memory of the arena's owner. */
struct nd_document_signatures {
    struct nd_signature signature[ND_RECIPE_SIGNATURES];
    struct nd_value_bloom bloom[ND_RECIPE_SIGNATURES]; /* of values */
    struct nd_key_list keys;                           /* of the table */
    uint32_t group;
    uint64_t length; /* tokens */
};

struct nd_arena;
/* ND_ENOMEM. */
enum nd_status nd_matching_sign(struct nd_matching_worker *s, const struct nd_document *document,
                                uint32_t group, struct nd_arena *arena,
                                struct nd_document_signatures *out);

/* Take the signatures of a row of a sketch file, whose words they share.  ND_ENOMEM. */
enum nd_status nd_matching_sign_sketched(struct nd_matching_worker *s,
                                         const struct nd_sketch_row *row, uint32_t group,
                                         struct nd_arena *arena,
                                         struct nd_document_signatures *out);

/* The score of what is no candidate, and may have the same tokens; all others have a greater one.
 */
#define ND_SCORE_NONE 0

/* The result of comparing two documents; `distance` is that of the first signature that has
 * bits. */
struct nd_match {
    struct nd_rule_evidence evidence;
    unsigned score, distance;
};
bool nd_matching_compare(const struct nd_matching *m, const struct nd_document_signatures *a,
                         const struct nd_document_signatures *b, struct nd_match *out);
/* Compare a document with a stored one. */
bool nd_matching_compare_stored(const struct nd_matching *m, const struct nd_document_signatures *a,
                                const struct nd_signature_index *index, uint32_t number,
                                struct nd_match *out);

/* Find what two stored documents have in common, whether they match or not: their agreements,
 * and the distance of the first signature that has bits. */
void nd_matching_agree_stored(const struct nd_matching *m, const struct nd_signature_index *index,
                              uint32_t a, uint32_t b, struct nd_match *out);

/* The stored documents that match, the best first, then by number.  ND_ENOMEM. */
enum nd_status nd_matching_query(struct nd_matching_worker *s,
                                 const struct nd_signature_index *index,
                                 const struct nd_document_signatures *a, struct nd_candidates *out);
/* Whether any number less than `below` does. */
bool nd_matching_meets_any(struct nd_matching_worker *s, const struct nd_signature_index *index,
                           const struct nd_document_signatures *a, uint32_t below);

#endif
