/* document_row.h - documents made into rows of a sketch file: hashes, sketch, shingles, fingerprint */
#ifndef ND_ENGINE_DOCUMENT_ROW_H
#define ND_ENGINE_DOCUMENT_ROW_H

#include <stdbool.h>

#include <neardup/recipe.h>
#include <neardup/sketch_file.h>

/* The working memory of one thread. */
struct nd_document_rows {
    struct nd_sketcher *sketcher;
    struct nd_document_signer *signer; /* NULL: the recipe has no fingerprint */
    uint64_t *scratch;                 /* to sort shingles */
    size_t capacity;
};
/* The recipe's df tables are borrowed.  False: *err, and nd_document_rows_release frees what was made. */
ND_API bool nd_document_rows_init(struct nd_document_rows *rows, const struct nd_recipe *recipe,
                                  struct nd_error *err);
ND_API void nd_document_rows_release(struct nd_document_rows *rows);

/*
 * The row of a document: all but its source, offset and line, which are left as they are.  What it
 * points to is valid until the next call.  Its shingles are not in order: rows->scratch has room to
 * sort them (nd_sketch_row_pack).  ND_EINVAL: the text is not valid UTF-8; ND_ENOMEM: no memory, or
 * 2^32 shingles.
 */
ND_API enum nd_status nd_document_rows_make(struct nd_document_rows *rows,
                                            const struct nd_document *document,
                                            struct nd_sketch_row *row, struct nd_error *err);

#endif
