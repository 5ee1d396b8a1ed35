/* input_header.c - the first row of CSV and TSV */
#include "input/input_state.h"

int nd_input_take_header(struct nd_input *input, struct nd_view row)
{
    (void)input;
    (void)row;
    return 1;
}
