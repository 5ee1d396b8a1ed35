/* web_cut.h - web archives cut into groups of records, one for each body */
#ifndef ND_INPUT_FORMATS_WEB_CUT_H
#define ND_INPUT_FORMATS_WEB_CUT_H

#include "input/formats/cut.h"

extern const struct nd_cut nd_cut_warc, nd_cut_arc;

#endif
