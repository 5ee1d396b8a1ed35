/* answers.h - what the store gives, as the JSON of docs/http.md */
#ifndef ND_SERVER_ANSWERS_H
#define ND_SERVER_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json_out.h"
#include "store/store.h"

/* "id" and "security". */
void nd_put_document_key(struct nd_json *out, const struct nd_document_key *key);
void nd_put_labels(struct nd_json *out, const char *name, const struct nd_view *labels, size_t n);
/* A time in RFC 3339; null for 0. */
void nd_put_time(struct nd_json *out, const char *name, uint64_t seconds);
/* From "verdict" to "work".  has_simhash, here and below: the recipe makes one. */
void nd_put_verdict(struct nd_json *out, const struct nd_verdict *verdict, bool has_simhash);
void nd_put_work(struct nd_json *out, const struct nd_work *work);
/* "replaced", if there is anything to say. */
void nd_put_replaced(struct nd_json *out, uint64_t replaced);

/* The members of a fingerprint, without its braces. */
void nd_put_fingerprint(struct nd_json *out, const struct nd_fingerprint *fingerprint);

/* Append the members that tell what a write did; the braces are the caller's. */
void nd_put_written(struct nd_json *out, const struct nd_written *written, bool has_simhash);

/* The members of a document, without its braces; with_text: and its text. */
void nd_put_stored(struct nd_json *out, const struct nd_stored *document, bool with_text,
                   bool has_simhash);

/* Whole answers, each an object and a newline. */
void nd_answer_stored(struct nd_json *out, const struct nd_stored *document, bool has_simhash);
void nd_answer_versions(struct nd_json *out, const struct nd_stored *document,
                        const struct nd_version *versions, size_t n, bool has_simhash);
void nd_answer_neighbours(struct nd_json *out, const struct nd_document_key *of, bool is_cluster,
                          const struct nd_neighbours *neighbours, bool has_simhash);
void nd_answer_crawl(struct nd_json *out, const struct nd_crawl_row *rows, size_t n, uint64_t now,
                     bool has_simhash);
/* The values of "visible" and of "store" in the figures. */
void nd_put_visible(struct nd_json *out, const struct nd_visible_stats *visible);
void nd_put_store(struct nd_json *out, const struct nd_store_stats *stats);

#endif
