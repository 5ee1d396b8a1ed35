/* sketch_file_object.h - sketch files that are open to be read */
#ifndef ND_PYTHON_SKETCH_FILE_OBJECT_H
#define ND_PYTHON_SKETCH_FILE_OBJECT_H

#include "native.h"

#include <neardup/sketch_file.h>

/* The file of a capsule, borrowed.  NULL: an exception is set. */
const struct nd_sketch_file *nd_py_sketch_file(PyObject *capsule);
/* One that is open to be added to, of whose capsule the function above gives the file as it was. */
struct nd_sketch_appender *nd_py_sketch_appender(PyObject *capsule);

/* The descriptor of a file of a publisher, or of a number.  -1: an exception is set. */
int nd_py_output_descriptor(PyObject *file);
/* A stream of its own on such a file.  NULL: *err. */
FILE *nd_py_output_stream(int fd, struct nd_error *err);

#endif
