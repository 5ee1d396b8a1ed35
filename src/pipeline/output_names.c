/* output_names.c - what the name of an output stands for */
#define _GNU_SOURCE
#include "pipeline/output_names.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int nd_output_descriptor(const char *name)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

    if (strcmp(name, "-") == 0 || strcmp(name, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(name, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t len = strlen(folders[i]);
        const char *digits = name + len;
        size_t n_digits;

        if (strncmp(name, folders[i], len) != 0)
            continue;
        n_digits = strspn(digits, "0123456789");
        if (n_digits && n_digits < 6 && !digits[n_digits])
            return atoi(digits);
    }
    return -1;
}

static bool is_one_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The folder that a name stands in; false: there is none. */
static bool stat_folder(const char *name, struct stat *about)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(name, '/');
    size_t len = slash ? (size_t)(slash - name) + 1 : 0;

    if (len >= sizeof folder)
        return false;
    memcpy(folder, slash ? name : ".", slash ? len : 1);
    folder[slash ? len : 1] = '\0';
    return stat(folder, about) == 0;
}

bool nd_output_is_same(const char *a, const char *b)
{
    struct stat x, y;
    int descriptor = nd_output_descriptor(a);
    bool is_there;

    if (descriptor >= 0 || nd_output_descriptor(b) >= 0)
        return descriptor == nd_output_descriptor(b);
    is_there = stat(a, &x) == 0;
    if (is_there != (stat(b, &y) == 0))
        return false;
    if (is_there)
        return is_one_inode(&x, &y) && !S_ISCHR(x.st_mode);
    return strcmp(basename(a), basename(b)) == 0 && stat_folder(a, &x) && stat_folder(b, &y) &&
           is_one_inode(&x, &y);
}

enum nd_status nd_output_check_inputs(const char *output, const char *const *paths, size_t n_paths,
                                      struct nd_error *err)
{
    struct stat x, y;

    if (!output || nd_output_descriptor(output) >= 0 || stat(output, &x) != 0 ||
        !S_ISREG(x.st_mode))
        return ND_OK;
    for (size_t i = 0; i < n_paths; i++)
        if (strcmp(paths[i], "-") != 0 && stat(paths[i], &y) == 0 && is_one_inode(&x, &y))
            return nd_fail(err, ND_EINVAL, "'%s' is an input, and would be lost: write elsewhere",
                           output);
    return ND_OK;
}
