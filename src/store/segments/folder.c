/* folder.c - folders that get their names once they are whole and on disk */
#define _GNU_SOURCE
#include "store/segments/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *nd_folder_path(const char *folder, const char *name, struct nd_error *err)
{
    size_t bytes = strlen(folder) + strlen(name) + 2;
    char *path = malloc(bytes);

    if (path)
        (void)snprintf(path, bytes, "%s/%s", folder, name);
    else
        nd_fail(err, ND_ENOMEM, "%s: out of memory", folder);
    return path;
}

enum nd_status nd_folder_sync(const char *path, struct nd_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_synced = fd >= 0 && fsync(fd) == 0;
    int reason = errno;

    if (fd >= 0)
        (void)close(fd);
    return is_synced ? ND_OK : nd_fail(err, ND_EIO, "%s: %s", path, strerror(reason));
}

/* The name of a user, or the number of one that has none. */
struct user_name {
    char text[64];
};
static const char *name_of(uid_t user, struct user_name *name)
{
    struct passwd row, *found = NULL;
    char bytes[4096];

    if (getpwuid_r(user, &row, bytes, sizeof bytes, &found) == 0 && found)
        (void)snprintf(name->text, sizeof name->text, "%s", row.pw_name);
    else
        (void)snprintf(name->text, sizeof name->text, "user %lu", (unsigned long)user);
    return name->text;
}

enum nd_status nd_folder_fail(const char *folder, const char *path, int reason,
                              struct nd_error *err)
{
    struct user_name owner, self;
    struct stat about;

    if ((reason != EACCES && reason != EPERM) ||
        (stat(path, &about) != 0 && stat(folder, &about) != 0))
        return nd_fail(err, ND_EIO, "%s: %s", path, strerror(reason));
    return nd_fail(err, ND_EIO, "%s: permission denied: it is owned by %s, and this runs as %s",
                   path, name_of(about.st_uid, &owner), name_of(geteuid(), &self));
}

bool nd_folder_is_empty(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    bool is_empty = true;

    if (!dir)
        return errno == ENOENT;
    while (is_empty && (entry = readdir(dir)) != NULL)
        is_empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    (void)closedir(dir);
    return is_empty;
}

/* The length of a name without slashes at its end. */
static size_t trimmed(const char *name)
{
    size_t len = strlen(name);

    while (len > 1 && name[len - 1] == '/')
        len--;
    return len;
}

enum nd_status nd_folder_make_beside(const char *name, char **made, struct nd_error *err)
{
    size_t len = trimmed(name), bytes = len + sizeof ".new-XXXXXX";
    char *template = malloc(bytes);

    if (!template)
        return nd_fail(err, ND_ENOMEM, "%s: out of memory", name);
    (void)snprintf(template, bytes, "%.*s.new-XXXXXX", (int)len, name);
    if (!mkdtemp(template)) {
        nd_fail(err, ND_EIO, "%s: a folder cannot be made beside it: %s", name, strerror(errno));
        free(template);
        return ND_EIO;
    }
    *made = template;
    return ND_OK;
}

/* The folder that a name is in; the caller frees it. */
static char *parent_of(const char *name)
{
    size_t len = trimmed(name);

    while (len > 0 && name[len - 1] != '/')
        len--;
    if (len == 0)
        return strdup(".");
    return strndup(name, len > 1 ? len - 1 : 1);
}

enum nd_status nd_folder_publish(const char *made, const char *name, struct nd_error *err)
{
    char *parent = parent_of(name);
    enum nd_status status;

    if (!parent)
        return nd_fail(err, ND_ENOMEM, "%s: out of memory", name);
    status = nd_folder_sync(made, err);
    if (status == ND_OK && rename(made, name) != 0)
        status = nd_fail(err, ND_EIO, "%s: %s", name, strerror(errno));
    if (status == ND_OK)
        status = nd_folder_sync(parent, err);
    free(parent);
    return status;
}
