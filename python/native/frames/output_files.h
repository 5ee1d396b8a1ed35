/* output_files.h - the files that Python writes to before they appear */
#ifndef ND_PYTHON_OUTPUT_FILES_H
#define ND_PYTHON_OUTPUT_FILES_H

#include "native.h"

/* The descriptor of the file of a capsule, which owns it.  < 0: an exception is set. */
int nd_py_file_descriptor(PyObject *capsule);

#endif
