/* explain.h - finding two documents and holding them beside each other */
#ifndef ND_PIPELINE_EXPLAIN_H
#define ND_PIPELINE_EXPLAIN_H

#include <stdbool.h>

#include <neardup/run.h>
#include <neardup/uses.h>

#include "base/json_out.h"
#include "base/memory.h"

/* A document by itself: copies, zero-terminated. */
struct nd_held {
    bool is_found;
    struct nd_json text, id, at;
    struct nd_document document; /* in the arena */
    struct nd_arena arena;
};

/*
 * Read the inputs until `wanted[i]` (an id, or a place) is found for both; wanted NULL: the only
 * document there is, into held[0].  (explain_find.c)
 */
enum nd_status nd_explain_find(const struct nd_run_options *options, const char *const *paths,
                               size_t n_paths, const char *const *wanted, struct nd_held *held,
                               const struct nd_run_events *events, struct nd_error *err);

/*
 * Two documents: with no options->paths, names are files that hold one document each; else ids or
 * places in that corpus.
 */
enum nd_status nd_explain_find_both(const struct nd_run_options *options, const char *const *names,
                                    struct nd_held *held, const struct nd_run_events *events,
                                    struct nd_error *err);

/* The distinct terms of both.  (explain_terms.c) */
enum nd_status nd_explain_terms(struct nd_view a, struct nd_view b, struct nd_explanation *out,
                                struct nd_error *err);

/* The features of a signature in both, with their weights, the greatest difference first. */
enum nd_status nd_compare_weights(const struct nd_named_signature *signature,
                                  const struct nd_held *held, struct nd_comparison *out,
                                  struct nd_error *err);

#endif
