/* short_texts.h - old documents of fewer than w tokens, as a whole in new ones */
#ifndef ND_CANDIDATES_SHORT_TEXTS_H
#define ND_CANDIDATES_SHORT_TEXTS_H

#include <stdbool.h>

#include <neardup/dedup.h>
#include <neardup/recipe.h>
#include <neardup/sketch_file.h>

#include "base/hash_set.h"

/*
 * A document of fewer than w tokens has no shingle of w tokens, so that no other can share one with
 * it.  Its only shingle is made of all its tokens (nd_shingle_within).  A document contains it if it
 * has that shingle, once it is divided into shingles of so many tokens.
 */
struct nd_short_texts;

/* Whether a run by this recipe looks for them: documents that contain an old one are removed, pairs
 * are found by their shingles, and short documents can be duplicates. */
ND_API bool nd_short_texts_count(const struct nd_recipe *recipe);

/* Collect the short documents of the files, whose documents are numbered from 0 through all files;
 * `workers` may ask at a time.  NULL without a failure: no document is short.  Otherwise *err says
 * what failed. */
ND_API struct nd_short_texts *nd_short_texts_new(const struct nd_sketch_file *const *file,
                                                 size_t n_files, const struct nd_recipe *recipe,
                                                 unsigned workers, struct nd_error *err);
ND_API void nd_short_texts_free(struct nd_short_texts *texts); /* NULL: nothing */

/* A short document that a text contains. */
struct nd_short_hit {
    uint32_t number;
    uint32_t n_shingles; /* distinct shingles of the text, if they are as long as that document */
};

/* The first short document that the text contains: 1; 0: none; ND_ENOMEM.  `files` not NULL: set the
 * bit of each file that has such a document. */
ND_API int nd_short_texts_find(struct nd_short_texts *texts, unsigned worker, struct nd_view text,
                               struct nd_short_hit *found, uint64_t *files);

/* Old documents that an engine keeps, by what makes others equal to them.  A new document that equals
 * one is left to the engine, which removes it as a copy.  Starts from zeroes and bytes_max. */
ND_API bool nd_kept_rows_add(struct nd_hash_set *kept, const struct nd_recipe *recipe,
                             const struct nd_sketch_row *row); /* false: out of memory */
ND_API bool nd_kept_rows_equal(const struct nd_hash_set *kept, const struct nd_recipe *recipe,
                               const struct nd_sketch_row *row);
/* The decision about a document that contains this short one and equals no kept one. */
ND_API struct nd_decision nd_short_hit_decision(const struct nd_short_hit *hit, uint64_t kept);

#endif
