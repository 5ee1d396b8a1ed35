/* feature_counts.h - from terms to the distinct features of a document: form, select, count */
#ifndef ND_FEATURE_FEATURE_COUNTS_H
#define ND_FEATURE_FEATURE_COUNTS_H

#include "feature/document_terms.h"
#include "feature/tally.h"

#include <neardup/error.h>
#include <neardup/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The answer that a call wants for a document. */
enum nd_feature_request {
    ND_REQUEST_FEATURES,
    ND_REQUEST_HASHES,  /* hashes alone, where nothing else is in the features */
    ND_REQUEST_ORIGINS, /* and where each distinct feature first begins: to explain them */
    ND_REQUEST_PLACES,  /* and where each occurrence begins: to locate them */
};

/*
 * The scratch of one thread for a document's features.  A feature begins at its first term; a spot
 * at its word, a character n-gram at its code point: `from` in all of these.
 *
 *     tally       the distinct features, counted
 *     occurrence  which of them each occurrence is, from 1; only for ND_FEATURE_OCCURRENCES and
 *                 ND_REQUEST_PLACES, of which occurrence_from says where each begins
 *     origin      where each distinct feature first begins; only for ND_REQUEST_ORIGINS
 *     direct      with ND_COUNT_NONE, in place of all these, the hash of each occurrence
 */
struct nd_feature_counts {
    const struct nd_feature_plan *plan;
    struct nd_document_terms *terms;
    /* Whether pairs of terms are phrases, a cache of fixed size: the pair's hash, whose lowest bit is
     * replaced by the answer of the df table. */
    uint64_t *phrase;

    enum nd_feature_request request;
    enum nd_counting counting; /* of this document: the plan's, or by hashes for the last two
                                  requests */
    struct nd_tally tally;
    struct nd_word_counts by_word;
    struct nd_number_list occurrence, occurrence_from, origin;
    uint64_t *direct;
    size_t n_direct, direct_capacity;

    struct nd_selection {          /* how far the selection has come */
        uint64_t seen;             /* occurrences */
        size_t sentences;          /* that have begun */
        unsigned seen_in_sentence; /* occurrences in the last of them */
    } selection;
    struct nd_number_list new_number; /* of each entry of the tally, when some are left out */
};

/* `c` is zeroes; plan and terms outlive it.  False: out of memory; release it in any case. */
bool nd_feature_counts_init(struct nd_feature_counts *c, const struct nd_feature_plan *plan,
                            struct nd_document_terms *terms);
void nd_feature_counts_release(struct nd_feature_counts *c);

/* Read a document and count its features.  ND_ENOMEM. */
enum nd_status nd_feature_counts_run(struct nd_feature_counts *c,
                                     const struct nd_document *document,
                                     enum nd_feature_request request);

/* The tokens of the text that make up the feature with this hash that begins at `from`, in order;
 * of characters, elements and nothing there are none.  Slow.  False: out of memory. */
bool nd_feature_tokens(const struct nd_document_terms *t, size_t from, uint64_t hash,
                       struct nd_number_list *token);

#endif
