/* two_documents.h - two documents: finding them, and what compare and explain say of both */
#ifndef ND_USES_TWO_DOCUMENTS_H
#define ND_USES_TWO_DOCUMENTS_H

#include <stdbool.h>

#include <neardup/explain.h>
#include <neardup/uses.h>

#include "base/memory.h"
#include "evidence/pair_evidence.h"
#include "reading/names.h"
#include "reading/run_options.h"

struct nd_run;

/* A copy of a document with everything that features are made of. Starts from zeroes. */
struct nd_held {
    bool is_found, is_exact; /* exact: found by its exact name, not by one with escapes */
    struct nd_document_name name;
    struct nd_document document; /* all pointers point into the arena */
    struct nd_arena arena;
};

void nd_held_release(struct nd_held *held);
/* Copy a document. False: out of memory; the copy must still be released. */
bool nd_held_take(struct nd_held *held, const struct nd_document *document,
                  const struct nd_name *name, struct nd_view at);

/*
 * A run that reads one or two documents. It makes the df table that the options ask for and, if
 * `opens_recipe`, opens the recipe. nd_finding_end publishes the table if `status` is ND_OK, frees
 * what the run holds, and returns the status; it must be called in either case.
 */
enum nd_status nd_finding_begin(struct nd_run *run, const struct nd_run_options *options,
                                const struct nd_run_events *events, bool opens_recipe,
                                struct nd_error *err);
enum nd_status nd_finding_end(struct nd_run *run, enum nd_status status, struct nd_error *err);

/*
 * Read the records of some inputs one after the other, in one thread, as the run reads documents,
 * until `take` says that it is enough: 1, go on; 0; < 0, a status.
 */
typedef int nd_take_record(void *context, const struct nd_source *source,
                           const struct nd_record *record, struct nd_error *err);
enum nd_status nd_each_record(const struct nd_run *run, const char *const *paths, size_t n_paths,
                              nd_take_record *take, void *context, struct nd_error *err);

/*
 * Read the inputs until all n_wanted ids or places are found, and copy those documents into `held`.
 * wanted NULL: the inputs contain exactly one document, which goes into held[0].
 */
enum nd_status nd_find_documents(const struct nd_run *run, const char *const *paths, size_t n_paths,
                                 const char *const *wanted, size_t n_wanted, struct nd_held *held,
                                 struct nd_error *err);

/*
 * Find two documents. Without options->paths the names are files with one document each; otherwise
 * they are ids or places in that corpus.
 */
enum nd_status nd_find_both(const struct nd_run *run, const char *const *names,
                            struct nd_held *held, struct nd_error *err);

/* Both documents. */
#define ND_BOTH(held)                                                                              \
    ((const struct nd_document *const[2]){&(held)[0].document, &(held)[1].document})

/*
 * The verdict of a recipe whose tables are open on two documents. *out must be released
 * whatever the status.
 */
enum nd_status nd_explain_both(const struct nd_recipe *recipe, const struct nd_held *held,
                               struct nd_explanation *out, struct nd_error *err);

#endif
