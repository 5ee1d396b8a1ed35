/* lookup.h - documents read again by their place */
#ifndef ND_PIPELINE_LOOKUP_H
#define ND_PIPELINE_LOOKUP_H

#include <neardup/error.h>
#include <neardup/types.h>

#include "base/memory.h"
#include "pipeline/names.h"
#include "pipeline/places.h"
#include "pipeline/reading.h"
#include "pipeline/spool.h"

/* Reads records from their source where that is possible, else from the spool. */
struct nd_lookup;

/* n_workers may look up at once.  Everything is borrowed; the spool is made in `tmp` when first
 * needed. */
struct nd_lookup *nd_lookup_new(struct nd_reading *reading, const struct nd_input_options *options,
                                unsigned n_workers, const char *tmp, struct nd_error *err);
void nd_lookup_free(struct nd_lookup *l);

/* The place under which a record just read can be looked up: into the spool if need be. */
enum nd_status nd_lookup_keep(struct nd_lookup *l, const struct nd_record *record,
                              struct nd_place *place, struct nd_error *err);

/* The bytes of a record, valid until the same worker's next call. */
enum nd_status nd_lookup_record(struct nd_lookup *l, const struct nd_place *place, unsigned worker,
                                struct nd_view *bytes, struct nd_error *err);

/* The document that it holds.  ND_ECHANGED where it holds none any more. */
enum nd_status nd_lookup_document(struct nd_lookup *l, const struct nd_place *place,
                                  unsigned worker, struct nd_document *document,
                                  struct nd_error *err);

/* Note the name of a document in hand, so that it need not be looked up; old ones are forgotten. */
void nd_lookup_remember(struct nd_lookup *l, uint64_t number, const struct nd_document *document,
                        const struct nd_source *source, uint64_t line);

/*
 * The name of a document by its number, remembered or by looking it up as worker 0; valid
 * until the next call.
 */
enum nd_status nd_lookup_name(struct nd_lookup *l, uint64_t number, const struct nd_place *place,
                              struct nd_name *name, struct nd_error *err);

uint64_t nd_lookup_spooled(const struct nd_lookup *l);

#endif
