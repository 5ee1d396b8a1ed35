/* hamming_target.h - index files: the file that is to be changed or made, locked where it exists */
#ifndef ND_INDEX_HAMMING_TARGET_H
#define ND_INDEX_HAMMING_TARGET_H

#include <stdbool.h>

#include <neardup/error.h>

struct nd_hamming_target {
    const char *path; /* as messages call it */
    char *name;       /* the file behind links */
    int fd;           /* -1: it does not exist */
};

/* What a killed writer left beside it goes.  Where this fails there is nothing to release.  ND_EIO,
 * also where another process is writing it; ND_ENOMEM. */
enum nd_status nd_hamming_target_open(struct nd_hamming_target *t, const char *path,
                                      bool must_exist, struct nd_error *err);
void nd_hamming_target_release(struct nd_hamming_target *t);

/* ND_ECHANGED: the name is that of another file by now. */
enum nd_status nd_hamming_target_check(const struct nd_hamming_target *t, struct nd_error *err);

/* The folder of it: its name is durable when that is synced.  ND_EIO, ND_ENOMEM. */
enum nd_status nd_hamming_target_folder(const struct nd_hamming_target *t, int *fd,
                                        struct nd_error *err);

/* ND_EIO with what errno says. */
enum nd_status nd_hamming_target_failed(const struct nd_hamming_target *t, struct nd_error *err);

#endif
