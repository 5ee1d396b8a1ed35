/* sketch_packer.h - documents that were read, sketched into packed rows of a sketch file */
#ifndef ND_OLD_SKETCH_PACKER_H
#define ND_OLD_SKETCH_PACKER_H

#include <stdbool.h>

#include <neardup/sketch_file.h>

#include "base/thread/pool.h"
#include "reading/reading.h"
#include "recipe/recipe_struct.h"
#include "sketches/known_rows.h"

struct nd_sketch_packer;

/* Everything is borrowed; the writer's file gets the rows, with shingles or
 * not.  NULL: ND_ENOMEM, or what a signature of
 * the recipe says. */
struct nd_sketch_packer *nd_sketch_packer_new(struct nd_pool *pool, const struct nd_recipe *recipe,
                                              const struct nd_sketch_writer *writer,
                                              struct nd_sketch_kept keeps, struct nd_error *err);
/* NULL: nothing. */
void nd_sketch_packer_free(struct nd_sketch_packer *packer);

/* Take the rows of texts that are known from there, with their shingles; borrowed. */
void nd_sketch_packer_use(struct nd_sketch_packer *packer, struct nd_known_rows *known);

/* Pack all documents of a batch, on all threads.  ND_ENOMEM. */
enum nd_status nd_sketch_packer_run(struct nd_sketch_packer *packer,
                                    const struct nd_reading_batch *batch, struct nd_error *err);
/* The packed row of batch->parsed[i], until the next batch; of a bad record there is none. */
const struct nd_packed_row *nd_sketch_packer_row(const struct nd_sketch_packer *packer, size_t i);
/* Whether it was made of a text, and not known before. */
bool nd_sketch_packer_made(const struct nd_sketch_packer *packer, size_t i);

#endif
