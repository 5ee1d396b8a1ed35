/* sketch_file.h - sketch files that are open to be read */
#ifndef ND_PYTHON_SKETCH_FILE_H
#define ND_PYTHON_SKETCH_FILE_H

#include "native.h"

#include <neardup/sketch_file.h>

/* The file of a capsule, borrowed.  NULL: an exception is set. */
const struct nd_sketch_file *nd_py_sketch_file(PyObject *capsule);

#endif
