/* traced_texts.h - the texts whose sources are sought, and which of them a value is of */
#ifndef ND_USES_SOURCES_TRACED_TEXTS_H
#define ND_USES_SOURCES_TRACED_TEXTS_H

#include <neardup/compare.h>
#include <neardup/text.h>
#include <neardup/uses.h>

#include "base/hash_set.h"
#include "reading/names.h"
#include "uses/use.h"

/* The tokens of a text, and their places, where these are asked for. */
struct nd_placed_tokens {
    uint64_t *hash;
    size_t n, capacity;
    struct nd_token *place; /* malloc'ed */
};

/* Replace the tokens by those of a text.  False: out of memory. */
bool nd_hash_tokens(struct nd_tokeniser *tokeniser, struct nd_view text,
                    struct nd_placed_tokens *out);

struct nd_traced_text {
    struct nd_document_name name;
    struct nd_placed_tokens tokens; /* unless sketches are searched */
    size_t n_tokens;
    size_t n; /* tokens, too; where sketches are searched, distinct shingles */
};

/* A value that texts are found by: a shingle that winnowing keeps, or any one. */
struct nd_text_key {
    uint64_t value;
    uint32_t text, at; /* the number of the text, and of the shingle in it, where all are keys */
};

/* Starts from zeroes. */
struct nd_traced_texts {
    struct nd_traced_text *text;
    size_t n, capacity;
    struct nd_text_key *key; /* by value, text and place */
    size_t n_keys, key_capacity;
    struct nd_hash_set values; /* of the keys */
};

/*
 * Read the texts of the parameters as the run reads documents, and make their keys: with `sketch`, by
 * the run's recipe, otherwise by winnowing.  ND_EINPUT: there is none, or the only one is shorter
 * than a passage; ND_EINVAL, ND_ENOMEM.
 */
enum nd_status nd_traced_texts_read(struct nd_traced_texts *texts, struct nd_run *run,
                                    const struct nd_sources_params *params,
                                    const struct nd_passage_params *passages, bool sketch,
                                    struct nd_error *err);
void nd_traced_texts_release(struct nd_traced_texts *texts);

/* Append, for each text that has this value, its number in the upper half and the shingle's in the
 * lower.  False: out of memory. */
bool nd_traced_texts_meet(const struct nd_traced_texts *texts, uint64_t value,
                          struct nd_hashes *met);

#endif
