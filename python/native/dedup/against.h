/* against.h - rows decided after the documents of sketch files */
#ifndef ND_PYTHON_AGAINST_H
#define ND_PYTHON_AGAINST_H

#include "native.h"

#include <neardup/run.h>

#include "base/json_out.h"
#include "evidence/rows.h"

#define ND_PY_AGAINST "neardup.against"

struct nd_py_against;
/* Return what a capsule holds, borrowed.  NULL: an exception is set. */
struct nd_py_against *nd_py_against(PyObject *capsule);

/* The id of a row, where it has one, and whether it has a text; where rows came as sketches, also the
 * place that these name.  The id stands in the room of this number, 0 to 2, until that is used again. */
enum nd_status nd_py_against_row(struct nd_py_against *a, uint64_t row, unsigned room,
                                 struct nd_name *id, struct nd_at *at, bool *has_text,
                                 struct nd_error *err);
/* Find what outputs call a document of the files; a name that is its place is written to
 * *scratch. */
enum nd_status nd_py_against_party(struct nd_py_against *a, uint64_t document, unsigned room,
                                   struct nd_json *scratch, struct nd_party *party,
                                   struct nd_error *err);
/* Find the passage of the text of a row that was copied of a document of the files
 * (evidence/copied_passage.h). */
enum nd_status nd_py_against_passage(struct nd_py_against *a, uint64_t document,
                                     struct nd_view text, struct nd_row_passage *passage,
                                     struct nd_error *err);
/* Whether there are files of old documents. */
bool nd_py_against_has_old(const struct nd_py_against *a);
/* Say in the summary how many documents the files have, and how many of them mattered. */
void nd_py_against_count(const struct nd_py_against *a, struct nd_run_summary *summary);

#endif
