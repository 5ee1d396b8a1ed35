/* document_row.h - documents made into rows of a sketch file: hashes, sketch, shingles, signatures */
#ifndef ND_RECORD_DOCUMENT_ROW_H
#define ND_RECORD_DOCUMENT_ROW_H

#include <stdbool.h>

#include <neardup/recipe.h>
#include <neardup/sketch_file.h>

#include "base/memory.h"
#include "record/beside.h"

/* The working memory of one thread. */
struct nd_document_rows {
    unsigned parts; /* of a sketch, enum nd_sketch_parts */
    struct nd_sketcher *sketcher;
    struct nd_document_signer *signer[ND_RECIPE_SIGNATURES]; /* NULL behind the last one */
    struct nd_arena signatures;                              /* of the row made last */
    struct nd_beside beside;
    uint64_t *scratch; /* to sort shingles */
    size_t capacity;
    const char *field[ND_SKETCH_FIELDS_MAX]; /* whose values are kept; borrowed */
    size_t n_fields;
    struct nd_buffer values; /* of the document at hand */
};
/* The recipe's df tables are borrowed.  Rows keep the values of no fields until rows->field is set.
 * False: *err, and nd_document_rows_release frees what was made. */
ND_API bool nd_document_rows_init(struct nd_document_rows *rows, const struct nd_recipe *recipe,
                                  struct nd_error *err);
ND_API void nd_document_rows_release(struct nd_document_rows *rows);

/* Fill in row->fields, the values that the document has.  ND_ENOMEM. */
ND_API enum nd_status nd_document_rows_fields(struct nd_document_rows *rows,
                                              const struct nd_document *document,
                                              struct nd_sketch_row *row);

/* Fill in what a row is known by, when it is looked for again: the hashes of the text and of what the
 * signatures read beside it. */
ND_API void nd_document_row_identify(const struct nd_beside *beside,
                                     const struct nd_document *document, struct nd_sketch_row *row);

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
