/* corpus.h - rows whose texts wait in a file until all have come */
#ifndef ND_PYTHON_CORPUS_H
#define ND_PYTHON_CORPUS_H

#include "frames/spooled_texts.h"

/* The texts, ids and fields of all rows.  NULL: an exception is set. */
const struct nd_py_texts *nd_py_corpus_texts(PyObject *corpus);

#endif
