/* loader.h - batches of records read again, in any order */
#ifndef ND_PIPELINE_LOADER_H
#define ND_PIPELINE_LOADER_H

#include <neardup/input.h>
#include <neardup/types.h>

#include "base/pool.h"
#include "pipeline/lookup.h"

struct nd_loaded {
    struct nd_view bytes; /* 64 more are readable */
    struct nd_document document;
    struct nd_bad_record *bad; /* NULL: a document, or not parsed */
    struct nd_place place;
    enum nd_status status;
};

struct nd_loader;

/* Everything is borrowed. */
struct nd_loader *nd_loader_new(struct nd_pool *pool, struct nd_reading *reading,
                                struct nd_lookup *lookup, const struct nd_places *places,
                                const struct nd_input_options *options, struct nd_error *err);
void nd_loader_free(struct nd_loader *l);

/*
 * How many of the next records make a batch of about 2 MB, at least one.  `number` lists records;
 * NULL: they are `from`, from + 1 …
 */
size_t nd_loader_batch(const struct nd_loader *l, const uint32_t *number, size_t from, size_t to);

/* Read n of them; `parse`: make documents of them too.  *loaded is valid until the next call. */
enum nd_status nd_loader_load(struct nd_loader *l, const uint32_t *number, size_t from, size_t n,
                              bool parse, struct nd_loaded **loaded, struct nd_error *err);

#endif
