/* against_run.h - documents of sketch files before all new ones: found, decided upon, added to */
#ifndef ND_OLD_AGAINST_RUN_H
#define ND_OLD_AGAINST_RUN_H

#include <neardup/dedup.h>
#include <neardup/run.h>

#include "base/json_out.h"
#include "evidence/first_line.h"
#include "evidence/quoted.h"
#include "evidence/rows.h"
#include "old/against_given.h"
#include "reading/reading.h"
#include "sketches/checkpoint.h"

/*
 * The old documents are those of the sketch files that options->against names, in the order of these
 * and of their rows; the new ones are those of the inputs.  A run with several passes (ordered.c)
 * calls, in this order:
 *
 *   nd_against_new     open the files; lock the last one where survivors are added to it
 *   nd_against_take    every batch: sketch its documents into a temporary sketch file
 *   nd_against_search  find the old documents that matter to these
 *   nd_against_load    both kinds for the engine: the old ones that matter, then the new ones
 *   nd_against_keep    every survivor
 *   nd_against_append  after everything else is published
 */
struct nd_against;

/* ND_EINVAL: an option that cannot be had with old documents, a file of another recipe, or one that
 * is being added to; what nd_sketch_file_open says; ND_ENOMEM. */
struct nd_against *nd_against_new(const struct nd_against_parts *parts, struct nd_error *err);
void nd_against_free(struct nd_against *against); /* NULL: nothing */

/* Return how records of new documents are written; it borrows names. */
struct nd_sketch_writer_options nd_against_like(const struct nd_against *against);
/* Take sketches of texts that are known from there, and keep those that are made in the checkpoint
 * (NULL: nowhere), which keeps shingles as these do.  Both are borrowed. */
void nd_against_use(struct nd_against *against, struct nd_known_rows *known,
                    struct nd_checkpoint *checkpoint);

/* The files, as the manifest names them. */
const struct nd_first_line_seen *nd_against_files(const struct nd_against *against, size_t *n);

/* Sketch the documents of a batch; record numbers go on from the batch before. */
enum nd_status nd_against_take(struct nd_against *against, const struct nd_reading_batch *batch,
                               struct nd_error *err);

/* All has been read, from the sources of the reading; and, to go on, find what matters to it. */
enum nd_status nd_against_end_reading(struct nd_against *against, const struct nd_reading *reading,
                                      struct nd_error *err);
enum nd_status nd_against_search(struct nd_against *against, const struct nd_reading *reading,
                                 struct nd_error *err);

/* The old documents that matter.  To the engine they are 0 … n - 1. */
uint64_t nd_against_count(const struct nd_against *against);

/* The records of the new documents, in keep order, which to the engine are n, n + 1 …; borrowed. */
void nd_against_set_order(struct nd_against *against, const uint32_t *record, size_t n);

/* Items for the engine's documents from `from` on, at least one of them and at most so many, until the
 * next call. */
enum nd_status nd_against_load(struct nd_against *against, uint64_t from, size_t most,
                               const struct nd_dedup_item **items, size_t *n, struct nd_error *err);
/* fetch_shingles of struct nd_staged_owner: old documents are the records behind all others. */
enum nd_status nd_against_shingles(struct nd_against *against, uint32_t record, unsigned worker,
                                   const uint64_t **shingle, size_t *n, struct nd_error *err);

/* The party that the outputs name for a document of the engine. The name's bytes are in *room. */
enum nd_status nd_against_party(struct nd_against *against, uint64_t document, struct nd_json *room,
                                struct nd_party *party, struct nd_error *err);

/* An old document that the engine keeps, one of the items that were loaded last.  ND_ENOMEM. */
enum nd_status nd_against_keep_old(struct nd_against *against, uint64_t document,
                                   struct nd_error *err);
/*
 * Once all kept old documents are known: set *found to whether the document of this record contains
 * a short old document as a whole (short_texts.h), and equals no kept one.  Then it is removed for
 * the first such, by this decision.
 */
enum nd_status nd_against_find_short(struct nd_against *against, uint32_t record,
                                     struct nd_decision *decision, bool *found,
                                     struct nd_error *err);

/* With only-against: make the files the groups of the table; then count, for the document of a
 * record, those of a document that it matches, and those of short documents that it contains. */
enum nd_status nd_against_begin_quoted(struct nd_against *against, struct nd_quoted *quoted,
                                       struct nd_error *err);
void nd_against_count_quoted(const struct nd_against *against, uint64_t document, uint32_t record,
                             struct nd_quoted *quoted);
void nd_against_count_short(const struct nd_against *against, uint32_t record,
                            struct nd_quoted *quoted);

/* The longest passage of a text whose shingles an old document has, which may be the whole of a short
 * one; of length 0 where shingles are not of words. */
enum nd_status nd_against_passage(struct nd_against *against, uint64_t document,
                                  struct nd_view text, struct nd_row_passage *passage,
                                  struct nd_error *err);

/* The document of this record survives. */
void nd_against_keep(struct nd_against *against, uint32_t record);
/* The run is published.  Add the survivors to the last file, where options->append says so: all of
 * them or none. */
enum nd_status nd_against_append(struct nd_against *against, struct nd_error *err);

#endif
