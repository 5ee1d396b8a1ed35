/*
 * neardup/error.h - status codes, and the error that the caller owns (library neardup)
 *
 *     struct nd_error err;
 *
 *     if (nd_recipe_load(recipe, "mine.ini", &err) != ND_OK)
 *         fprintf(stderr, "%s: %s\n", nd_status_name(err.status), err.message);
 */
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
 * The result of functions that can fail: 0 on success, a negative value on failure.  A function
 * that fails has not written to its outputs and leaves nothing to free, unless its comment says
 * otherwise.
 */
enum nd_status {
    ND_OK = 0,
    /* An allocation failed, or a size does not fit into its type. */
    ND_ENOMEM = -1,
    /* An argument, an option or a recipe key is wrong. */
    ND_EINVAL = -2,
    /* Data from outside is malformed. */
    ND_EINPUT = -3,
    /* The operating system refused to read or write. */
    ND_EIO = -4,
    /* An input has changed since it was first read. */
    ND_ECHANGED = -5,
    /* The caller asked to stop. */
    ND_ECANCELLED = -6,
    /* The request is well formed, but this build or version cannot carry it out. */
    ND_EUNSUPPORTED = -7,
};

/* Why a call failed.  The caller owns it, and may pass NULL wherever a function takes one. */
struct nd_error {
    enum nd_status status;
    /* One sentence that a person can act on, without a newline and without the program's name.  It
     * names the file, line, key or option where there is one. */
    char message[1024];
};

/* The name of a status, such as "ND_EINPUT".  Never NULL; static storage. */
ND_API const char *nd_status_name(enum nd_status status);

/* Fill *err, unless it is NULL, and return `status`: a function that fails can return the call. */
ND_API enum nd_status nd_fail(struct nd_error *err, enum nd_status status, const char *format, ...)
    ND_PRINTF(3, 4);

/*
 * The one of n names that a mistyped name most likely means, for messages: the shortest name that
 * begins with it, otherwise the first of the names that take the fewest edits.  NULL: none is
 * similar.
 */
ND_API const char *nd_name_nearest(const char *name, size_t len, const char *const *names,
                                   size_t n);

#ifdef __cplusplus
}
#endif
#endif
