/* stream.h - the texts that a stream keeps in a file */
#ifndef ND_PYTHON_STREAM_H
#define ND_PYTHON_STREAM_H

#include "frames/spooled_texts.h"

/* Return the texts of kept rows, each with its id; NULL: they are in memory, or an exception is set. */
const struct nd_py_texts *nd_py_stream_texts(PyObject *stream);

#endif
