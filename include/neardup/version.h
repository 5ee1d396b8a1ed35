/* neardup/version.h - the version of headers and library */
#ifndef NEARDUP_VERSION_H
#define NEARDUP_VERSION_H

#include <neardup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ND_VERSION "0.1.0"

/* The version of the library that is running. */
ND_API const char *nd_version(void);

#ifdef __cplusplus
}
#endif
#endif
