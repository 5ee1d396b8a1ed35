/* neardup/error.h - status codes and the caller-owned error */
#ifndef NEARDUP_ERROR_H
#define NEARDUP_ERROR_H

#include <stddef.h>

#if defined(__GNUC__)
#define ND_API __attribute__((visibility("default")))
#define ND_PRINTF(string, first) __attribute__((format(printf, string, first)))
#else
#define ND_API
#define ND_PRINTF(string, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Every function that can fail returns one of these: 0 on success, negative on failure.  On failure
 * nothing has been written to the outputs and there is nothing to free.
 */
enum nd_status {
    ND_OK = 0,
    ND_ENOMEM = -1,       /* an allocation failed, or a size does not fit */
    ND_EINVAL = -2,       /* an argument, option or recipe key is wrong */
    ND_EINPUT = -3,       /* bytes from outside are not what they should be */
    ND_EIO = -4,          /* the operating system refused to read or write */
    ND_ECHANGED = -5,     /* an input is no longer what it was when first read */
    ND_ECANCELLED = -6,   /* the caller asked to stop */
    ND_EUNSUPPORTED = -7, /* well formed, but not in this build or version */
};

/*
 * Owned by the caller, who may pass NULL wherever one is asked for.  `message` is one sentence that
 * a person can act on, without a newline and without the program's name; it names file, line, key
 * or option where there is one.
 */
struct nd_error {
    enum nd_status status;
    char message[1024];
};

/* The name of a status, such as "ND_EINPUT"; never NULL, static storage. */
ND_API const char *nd_status_name(enum nd_status status);

/* Fill *err (if not NULL) and return `status`, so that a failing function can end with it. */
ND_API enum nd_status nd_fail(struct nd_error *err, enum nd_status status, const char *format, ...)
    ND_PRINTF(3, 4);

/*
 * Of n names the one that a mistyped name most likely means, for messages: the shortest that begins
 * with it, else the first of those with the fewest edits.  NULL: none is near.
 */
ND_API const char *nd_name_nearest(const char *name, size_t len, const char *const *names,
                                   size_t n);

#ifdef __cplusplus
}
#endif
#endif
