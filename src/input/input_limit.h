/* input_limit.h - the longest record that is read, and how long the reader waits for more */
#ifndef ND_INPUT_LIMIT_H
#define ND_INPUT_LIMIT_H

#include <neardup/input.h>

/*
 * Give records of more than `bytes` without their bytes, but with their skipped_bytes, so that no
 * more memory is taken for them than for one of that length.  Before anything is read.  Otherwise
 * a record of more than 1 GB counts as lost.
 */
void nd_input_limit_records(struct nd_input *input, size_t bytes);

/*
 * If the input is a pipe, a terminal or the like, and nothing more comes for a moment, give the
 * records that have come, instead of waiting until a batch is full. Before anything is read. The
 * records are the same; only how many a batch has depends on when they came.
 */
void nd_input_answer_pauses(struct nd_input *input);

#endif
