/* result.h - what became of rows: of a frame (frame_dedup.c), or of one batch of a stream (stream.c) */
#ifndef ND_PYTHON_RESULT_H
#define ND_PYTHON_RESULT_H

#include "native.h"

#include <neardup/run.h>

#include "evidence/counts.h"
#include "recipe/recipe_struct.h"

#define ND_PY_RESULT "neardup.result"

/* In place of a row: the number, in the lower bits, of a document of sketch files. */
#define ND_PY_SEEN (UINT64_C(1) << 63)
/* In place of a row: none, as the row itself stood for its cluster, which is removed (keep = none). */
#define ND_PY_NOBODY UINT64_MAX

/* Why a row was removed. */
struct nd_py_removal {
    uint64_t row, kept,
        via;         /* rows, or ND_PY_SEEN and ND_PY_NOBODY; via: of components, the neighbour */
    uint64_t number; /* in the order in which removals were added */
    struct nd_overlap overlap;
    double via_resemblance;
    uint32_t distance;
    uint8_t identical, verified, was_cut;
    uint8_t has_via, via_verified;
};

struct nd_py_result {
    size_t n_rows;
    uint64_t first_row; /* of the stream */
    uint64_t n_all;     /* rows that may stand for these: those up to the last of these, or more */
    uint64_t n_pushed;  /* rows with a text */
    uint8_t *is_removed;
    struct nd_py_removal *removal; /* by row */
    size_t n_removals, capacity;
    size_t n_signatures;            /* of the recipe */
    struct nd_agreement *agreement; /* by number of removal, then by signature */
    size_t agreement_capacity;
    uint64_t measured[ND_MEASURED]; /* nd_measured_count */
    uint64_t n_never;               /* rows that are alone */
    bool has_seen;                  /* some were removed for documents of sketch files */
    bool has_leaders;               /* some stood for clusters that are removed */
    struct nd_dedup_stats stats;    /* of all that was pushed */
};

/* A result for n rows, all of them kept.  NULL: out of memory. */
struct nd_py_result *nd_py_result_new(size_t n_rows, uint64_t first_row,
                                      const struct nd_recipe *recipe);
void nd_py_result_free(struct nd_py_result *result);
/* The result of a capsule, borrowed.  NULL: an exception is set. */
struct nd_py_result *nd_py_result(PyObject *capsule);

/* A row that was removed for another.  via: of components, why they are connected. */
struct nd_py_removed {
    uint64_t row, kept, via;
    const struct nd_decision *decision;
    const struct nd_component_via *component;
};
/* As a result has it; `number` is 0. */
struct nd_py_removal nd_py_removal_of(const struct nd_py_removed *removed);
/* Count how near it is. */
void nd_py_removed_count(uint64_t measured[ND_MEASURED], const struct nd_recipe *recipe,
                         const struct nd_py_removed *removed);
/* False: out of memory. */
bool nd_py_result_add(struct nd_py_result *result, const struct nd_recipe *recipe,
                      const struct nd_py_removed *removed);
/* Add a removal that was made before, with what the signatures have in common.  False: likewise. */
bool nd_py_result_put(struct nd_py_result *result, const struct nd_py_removal *removal,
                      const struct nd_agreement *agreement);
/* Whether it was removed for a document of sketch files; for nobody. */
static inline bool nd_py_is_for_seen(const struct nd_py_removal *removal)
{
    return removal->kept != ND_PY_NOBODY && (removal->kept & ND_PY_SEEN);
}
static inline bool nd_py_is_leader(const struct nd_py_removal *removal)
{
    return removal->kept == ND_PY_NOBODY;
}
/* The removal of a row that stood for its cluster. */
struct nd_py_removal nd_py_removal_of_leader(uint64_t row);
/* Remove the rows for which others were removed, too.  The result has all rows.  False: out of memory. */
bool nd_py_result_remove_leaders(struct nd_py_result *result);

/* Sort the removals by row, and hand the result over to a capsule; NULL: an exception is set. */
PyObject *nd_py_result_capsule(struct nd_py_result *result);

/* The removal of a row; NULL: it is kept. */
const struct nd_py_removal *nd_py_result_find(const struct nd_py_result *result, uint64_t row);
/* As the engine gave it. */
struct nd_decision nd_py_result_decision(const struct nd_py_result *result,
                                         const struct nd_py_removal *removal);

#endif
