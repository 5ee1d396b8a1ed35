/* equal.h - which documents are equal: one rule for every command, kind of cluster and recipe */
#ifndef ND_ENGINE_DOCUMENT_EQUAL_H
#define ND_ENGINE_DOCUMENT_EQUAL_H

#include <stdbool.h>

#include <neardup/text.h>

#include "engine/document/engine_plan.h"

/*
 * The property that makes two documents of a group equal: none, their bytes, or their tokens.
 * Equality by tokens includes equality by bytes, as equal bytes have equal tokens.  A short
 * document never has the tokens of one that is not short.
 */
enum nd_equal_by {
    ND_EQUAL_NEVER,
    ND_EQUAL_BY_BYTES,
    ND_EQUAL_BY_TOKENS,
};

/* By what a document equals others.  `is_empty`: it has no tokens. */
enum nd_equal_by nd_equal_by(const struct nd_engine_plan *plan, bool is_short, bool is_empty);

/* Whether the bytes of two documents are equal. */
bool nd_equal_bytes(struct nd_view a, struct nd_view b);

/*
 * Find out whether two texts are identical, whatever a recipe makes of it, without an engine; with
 * shingles of characters the normalised texts stand for the tokens.  Texts in which repair replaced
 * different bytes are not the same.  ND_ENOMEM.
 */
ND_API enum nd_status nd_texts_identical(const struct nd_sketch_params *params,
                                         const struct nd_document *a, const struct nd_document *b,
                                         enum nd_identical *identical, struct nd_error *err);

#endif
