/* known_rows.h - rows that were made of texts before, found again by the hashes of the texts */
#ifndef ND_SKETCHES_KNOWN_ROWS_H
#define ND_SKETCHES_KNOWN_ROWS_H

#include <stddef.h>

#include <neardup/sketch_file.h>
#include <neardup/types.h>

/*
 * Rows of sketch files, by the 128-bit hashes of the texts that they were made of, and of what the
 * signatures read beside the text.  A text with these hashes has the same sketch and signatures by the
 * same recipe, whatever file it is in and wherever.  The rows
 * stay in the files.  Memory is 32 bytes a row; or, where it is bounded, what is given, and a file
 * has the places of the rows.  Rows that do not fit in these, such as those of ids of
 * 32 KB, are not found.
 */
struct nd_known_rows;

/* None so far, by this recipe, for so many workers.  memory_bytes: to sort places and to
 * find them, where a file in the folder `tmp` has them; 0: memory has them.  NULL: ND_ENOMEM. */
struct nd_known_rows *nd_known_rows_new(const struct nd_recipe *recipe, unsigned n_workers,
                                        const char *tmp, size_t memory_bytes, struct nd_error *err);
/* NULL: nothing. */
void nd_known_rows_free(struct nd_known_rows *known);

/* Add all rows of a file, after its checksums were compared.  The file is owned from here on,
 * whatever is returned.  ND_EINPUT: it is damaged, and nothing was added; ND_EUNSUPPORTED: there are
 * 4096 files already; ND_EIO, ND_ENOMEM. */
enum nd_status nd_known_rows_add(struct nd_known_rows *known, struct nd_sketch_file *file,
                                 struct nd_error *err);
uint64_t nd_known_rows_count(const struct nd_known_rows *known);
/* All files have been added.  Before any row is found.  ND_EIO, ND_ENOMEM. */
enum nd_status nd_known_rows_end(struct nd_known_rows *known, struct nd_error *err);
/* Bytes written to files. */
uint64_t nd_known_rows_spilled(const struct nd_known_rows *known);

/* Forget the rows that were found for this worker's last batch. */
void nd_known_rows_begin(struct nd_known_rows *known, unsigned worker);
/* The row of a document's text, without shingles, until the worker's next batch.  NULL: none is
 * known, or it cannot be read any more. */
const struct nd_sketch_row *nd_known_rows_find(struct nd_known_rows *known, unsigned worker,
                                               const struct nd_document *document);
/* The row with its shingles, until the worker's next call. NULL also: the file has none. */
const struct nd_sketch_row *nd_known_rows_find_whole(struct nd_known_rows *known, unsigned worker,
                                                     const struct nd_document *document);

#endif
