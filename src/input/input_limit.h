/* input_limit.h - the longest record that is read */
#ifndef ND_INPUT_LIMIT_H
#define ND_INPUT_LIMIT_H

#include <neardup/input.h>

/*
 * Give records of more than `bytes` without their bytes, but with their skipped_bytes, so that no
 * more memory is taken for them than for one of that length.  Before anything is read.  Otherwise
 * a record of more than 1 GB counts as lost.
 */
void nd_input_limit_records(struct nd_input *input, size_t bytes);

#endif
