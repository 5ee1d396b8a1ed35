/* output_names.h - what the name of an output stands for */
#ifndef ND_PIPELINE_OUTPUT_NAMES_H
#define ND_PIPELINE_OUTPUT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include <neardup/error.h>

/*
 * The file descriptor that a name stands for: "-" and "/dev/stdout" are 1, "/dev/fd/5" is 5; -1:
 * none.  To open such a name anew would empty the file behind it, or put another in its place.
 */
int nd_output_descriptor(const char *name);

/*
 * Whether two names are those of one file, which may not exist yet.  Devices are none: whoever
 * sends two outputs to /dev/null means it.
 */
bool nd_output_is_same(const char *a, const char *b);

/* ND_EINVAL where an output (NULL: none) is one of the inputs that would be lost. */
enum nd_status nd_output_check_inputs(const char *output, const char *const *paths, size_t n_paths,
                                      struct nd_error *err);

#endif
