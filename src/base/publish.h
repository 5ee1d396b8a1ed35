/* publish.h - a file that appears whole or not at all: a temporary name, a sync, a rename */
#ifndef ND_BASE_PUBLISH_H
#define ND_BASE_PUBLISH_H

#include <neardup/error.h>

#include "base/temporary.h"

#include <stdio.h>

/* A file under a temporary name beside `path`.  Starts from zeroes. */
struct nd_publish {
    const char *path; /* the caller's */
    struct nd_temporary *temporary;
    FILE *file;
};

/* ND_EIO, ND_ENOMEM. */
enum nd_status nd_publish_begin(struct nd_publish *p, const char *path, struct nd_error *err);

/* Sync it and give it its name.  ND_EIO: there is no such file, or what was there before. */
enum nd_status nd_publish_end(struct nd_publish *p, struct nd_error *err);

/* Remove what has not been given its name; after nd_publish_end nothing. */
void nd_publish_release(struct nd_publish *p);

/* ND_EIO with the reason in errno. */
enum nd_status nd_publish_failed(const struct nd_publish *p, struct nd_error *err);

#endif
