/* against_state.h - the parts of rows after the documents of sketch files, for the files that decide */
#ifndef ND_PYTHON_AGAINST_STATE_H
#define ND_PYTHON_AGAINST_STATE_H

#include "dedup/frame_dedup.h"
#include "dedup/sketched_inputs.h"
#include "frames/frame_documents.h"
#include "frames/order.h"
#include "frames/result.h"

#include "base/thread/handle.h"
#include "base/thread/pool.h"
#include "candidates/seen_rows.h"
#include "candidates/short_texts.h"
#include "evidence/quoted.h"
#include "loads/staged.h"

#include <stdatomic.h>

enum { ND_PY_PUSHED_MAX = 1024, ND_PY_NAMES = 3 };
/* No document. */
#define ND_PY_NONE UINT32_MAX

/* A file, and the number of its first document among all old ones. */
struct nd_py_old_file {
    const struct nd_sketch_file *file;
    uint64_t first;
    /* Which of the fields that it keeps is `within`, and which are those of `never`. */
    unsigned within, never[ND_SKETCH_FIELDS_MAX];
    uint32_t group; /* in `quoted` */
};

/* A sketch file of new documents: the number of its first source among those of all, and of its first
 * document. */
struct nd_py_fresh_file {
    const struct nd_sketch_file *file;
    uint32_t first_source, first;
};

struct nd_py_against {
    struct nd_recipe *recipe;
    struct nd_budget budget; /* total 0: none */
    PyObject *held;          /* the recipe, the files and the temporary one */
    struct nd_handle use;
    bool is_broken, is_decided;
    struct nd_py_order order;
    struct nd_py_old_file *old;
    size_t n_old;
    struct nd_py_sketched *sketched; /* the new documents come as these; NULL: as rows of frames */
    struct nd_py_fresh_file *fresh;
    size_t n_fresh, fresh_capacity;
    struct nd_sketch_row_place *place; /* of the new documents, in their files */
    size_t n_places, place_capacity;
    uint64_t n_seen;                    /* documents of the old files */
    bool is_alone;                      /* new documents are compared with old ones alone */
    struct nd_short_texts *short_texts; /* NULL: no old document is found as a whole */
    struct nd_pool *pool;               /* which looks for them */
    struct nd_short_hit
        *short_of;         /* for each new document, the first that it contains, or ND_PY_NONE */
    uint64_t *short_files; /* where is_alone, for each: the bits of the files that have one */
    size_t short_capacity, short_files_capacity, n_words; /* words of bits for a document */
    atomic_bool has_no_memory;
    struct nd_staged staged;
    struct nd_py_outside outside;
    unsigned threads;
    struct nd_dedup_stats counted_old; /* what is counted of the old documents */
    struct nd_hash_set equal;          /* where short_texts: the old documents that are kept */
    struct nd_quoted quoted; /* where is_alone: how many documents match something of each file */
    struct nd_seen_rows met; /* those that matter, which are pushed as 0, 1, 2 … */
    uint32_t *document_of;   /* of a row, among the new ones; ND_PY_NONE: it has no text */
    struct nd_dedup *dedup;
    struct nd_py_result *result;
    struct nd_sketch_room *room; /* of each worker */
    struct nd_sketch_room name_room[ND_PY_NAMES];
    /* The batch that is pushed, from this document on. */
    uint64_t first;
    struct nd_dedup_item item[ND_PY_PUSHED_MAX];
    struct nd_sketch_row row[ND_PY_PUSHED_MAX];
    struct nd_sketch_room row_room[ND_PY_PUSHED_MAX];
};

/* Enter as whoever may use it now, alone, before it has decided or after.  NULL: an exception is set. */
struct nd_py_against *nd_py_against_enter(PyObject *capsule, bool is_decided);
void nd_py_against_leave(struct nd_py_against *a);
/* Read one of the new documents, in the order of their files; its source is one of those of all. */
enum nd_status nd_py_against_fresh(const struct nd_py_against *a, uint32_t document, unsigned parts,
                                   struct nd_sketch_room *room, struct nd_sketch_row *row,
                                   struct nd_error *err);
/* Return a source of the new documents. */
struct nd_sketch_source nd_py_against_source(const struct nd_py_against *a, uint32_t number);

#endif
