/*
 * neardup/version.h - the version of headers and library (library neardup)
 *
 *     if (strcmp(nd_version(), ND_VERSION) != 0)
 *         fprintf(stderr, "built with neardup %s, runs with %s\n", ND_VERSION, nd_version());
 */
#ifndef NEARDUP_VERSION_H
#define NEARDUP_VERSION_H

#include <neardup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers. */
#define ND_VERSION "0.2.0"

/* The version of the library that is running.  Never NULL; static storage. */
ND_API const char *nd_version(void);

#ifdef __cplusplus
}
#endif
#endif
