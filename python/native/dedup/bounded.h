/* bounded.h - rows decided in bounded memory */
#ifndef ND_PYTHON_BOUNDED_H
#define ND_PYTHON_BOUNDED_H

#include "frames/spooled_texts.h"

/* The texts and ids of the rows of a capsule, borrowed.  NULL: an exception is set. */
const struct nd_py_texts *nd_py_bounded_texts(PyObject *capsule);

#endif
