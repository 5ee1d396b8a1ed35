/* sketches.h - the sketch files that a run reads in place of documents */
#ifndef ND_SKETCHES_SKETCHES_H
#define ND_SKETCHES_SKETCHES_H

#include <stdbool.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/input.h>
#include <neardup/sketch_file.h>

#include "base/memory.h"
#include "recipe/recipe_struct.h"
#include "sketches/sketched_fields.h"

/*
 * The files are read one after the other, their blocks by numbers 0, 1, 2 …; so are their sources,
 * the files that documents came from: those of the second file follow those of the first.  Any
 * number of threads may read at once.
 *
 * A record (struct nd_record) is a document packed, with its source by this number.  Its offset says
 * where it is to be read again: of the 8-byte words of all files, one behind the other, that where
 * its row begins in the upper 40 bits, and in the lower 24 how many words later its shingles do.
 */
struct nd_sketches;

/* Whether these paths are sketch files.  1; 0: none is; < 0: ND_EINVAL: some are, and some are not,
 * some have shingles, and some have none, or one of the parts of an input is missing or there twice;
 * ND_EIO, ND_EINPUT (a file is damaged), ND_ENOMEM, ND_EUNSUPPORTED (more than 8 TB). */
int nd_sketches_open(const char *const *paths, size_t n_paths, struct nd_sketches **sketches,
                     struct nd_error *err);
void nd_sketches_free(struct nd_sketches *s);

/*
 * Take the sketch half of the recipe from the first file, if it is the default; or all of it, if
 * all is the default, and `whole`. ND_ENOMEM; what nd_recipe_parse says.
 */
enum nd_status nd_sketches_take_recipe(const struct nd_sketches *s, struct nd_recipe *recipe,
                                       bool whole, struct nd_error *err);
/* Give the recipe the versions of df tables that the first file has, unless it names its own.
 * ND_ENOMEM; the errors of nd_recipe_parse. */
enum nd_status nd_sketches_take_df_versions(const struct nd_sketches *s, struct nd_recipe *recipe,
                                            struct nd_error *err);
/* Check that their sketches are of the recipe, and where documents are compared, have what is compared.
 * ND_EINVAL: the message names the file, and the key that differs. */
enum nd_status nd_sketches_fit(const struct nd_sketches *s, const struct nd_recipe *recipe,
                               bool compares, struct nd_error *err);
/* Return what their records keep. */
struct nd_sketch_kept nd_sketches_keep(const struct nd_sketches *s);
/* Return how a file is written whose records are copied from these; it borrows names. */
struct nd_sketch_writer_options nd_sketches_like(const struct nd_sketches *s);

size_t nd_sketches_files(const struct nd_sketches *s);
const char *nd_sketches_path(const struct nd_sketches *s, size_t file);
uint32_t nd_sketches_sources(const struct nd_sketches *s);
/* The source; it has no `file` and no `header`, and nothing is known of its bytes. */
const struct nd_source *nd_sketches_source(const struct nd_sketches *s, uint32_t number);

size_t nd_sketches_blocks(const struct nd_sketches *s);
/* Bytes up to the end of a block, and of all files. */
uint64_t nd_sketches_bytes(const struct nd_sketches *s, size_t block);

/* Return the file of a block, with the number that the block has there, and that of the file's first
 * source. */
const struct nd_sketch_file *nd_sketches_file_of(const struct nd_sketches *s, size_t block,
                                                 size_t *number, uint32_t *first_source);

/* The documents of one block; starts from zeroes. */
struct nd_sketched_batch {
    struct nd_sketch_block block; /* rows with their sources by the numbers of the run */
    struct nd_buffer packed;
    struct nd_record *record;
    size_t capacity;
    struct nd_field *field; /* of each document those of the run */
    uint64_t *replaced;
    size_t field_capacity, replaced_capacity;
};
enum nd_status nd_sketches_read(const struct nd_sketches *s, size_t block,
                                struct nd_sketched_batch *batch, struct nd_error *err);
void nd_sketched_batch_release(struct nd_sketched_batch *batch);

/* The record of this offset and length once more, packed, into *out. */
enum nd_status nd_sketches_reread(const struct nd_sketches *s, uint64_t offset, size_t len,
                                  uint32_t source, struct nd_buffer *out, struct nd_error *err);
/* A record that was read again: its row, with shingles in memory of the arena.  The bytes stay, with
 * 8 readable ones behind them. */
enum nd_status nd_sketches_parse(const struct nd_sketches *s, struct nd_view packed,
                                 struct nd_arena *arena, struct nd_sketch_row *row,
                                 struct nd_error *err);

/* Give documents the fields of a run, of which all files keep the first n_needed.  ND_EINVAL: one does
 * not, or the files keep different fields. */
enum nd_status nd_sketches_want(struct nd_sketches *s, const char *const *name, size_t n,
                                size_t n_needed, struct nd_error *err);
/* The fields of a run that the rows have. */
const struct nd_sketched_fields *nd_sketches_fields(const struct nd_sketches *s);

/*
 * The document of a row: an id, no text, and with nd_sketches_fields, for each of which `field` and
 * `replaced` have room, their values; NULL: without.
 */
struct nd_document nd_sketched_document(const struct nd_sketch_row *row,
                                        const struct nd_sketched_fields *fields,
                                        struct nd_field *field, uint64_t *replaced);

#endif
