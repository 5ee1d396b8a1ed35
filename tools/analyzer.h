/* analyzer.h - what the static analyser cannot see: nd_fail returns the status that it is given */
#ifndef ND_TOOLS_ANALYZER_H
#define ND_TOOLS_ANALYZER_H

#include <neardup/error.h>

#define nd_fail(err, status, ...) ((void)nd_fail(err, status, __VA_ARGS__), (status))

#endif
