/* options_check.h - whether the options of reading are in their ranges */
#ifndef ND_INPUT_OPTIONS_CHECK_H
#define ND_INPUT_OPTIONS_CHECK_H

#include <neardup/input.h>

/* ND_EINVAL: the message names the option.  Every call that takes options asks first. */
enum nd_status nd_input_options_check(const struct nd_input_options *o, struct nd_error *err);

#endif
