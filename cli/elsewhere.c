/* elsewhere.c - the commands of the service, which another program runs: neardup-server */
#define _GNU_SOURCE
#include "settings.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * The service needs libmicrohttpd, LMDB and libcurl, which no other command should wait for
 * (docs/decisions/opened.md). They are linked into a second program, made of the same sources with
 * cli/service/ in place of this file. It lies beside this one in a build, and in a folder of its own
 * when installed: SERVER_FROM_BIN says where that is, seen from the folder of this program.
 */
static void run_in(const char *folder, size_t len, const char *below, char **argument)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%.*s%s/neardup-server", (int)len, folder, below);

    if (n > 0 && (size_t)n < sizeof path)
        execv(path, argument);
    if (errno != ENOENT && errno != ENOTDIR)
        say("%s: cannot be run: %s", path, strerror(errno));
}

void run_elsewhere(char **argument)
{
    char self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self);
    const char *name;

    if (len <= 0 || (size_t)len >= sizeof self)
        return;
    name = memrchr(self, '/', (size_t)len);
    if (!name)
        return;
    run_in(self, (size_t)(name - self), "", argument);
    run_in(self, (size_t)(name - self), "/" SERVER_FROM_BIN, argument);
}

/* Say that there is no such program. */
static int is_missing(const char *command)
{
    say("neardup %s needs the package neardup-server", command);
    return 2;
}

int cmd_client(struct settings *s)
{
    (void)s;
    return is_missing("client");
}

int cmd_serve(struct settings *s)
{
    (void)s;
    return is_missing("serve");
}

int cmd_store(struct settings *s)
{
    (void)s;
    return is_missing("store");
}
