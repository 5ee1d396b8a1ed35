/* elsewhere.c - the commands of the service, which another program runs: neardup-server */
#include "base/system/naming.h"
#include "base/system/process.h"
#include "program.h"
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * The service needs libmicrohttpd, LMDB and libcurl, which no other command should wait for
 * (docs/decisions/opened.md). They are linked into a second program, made of the same sources with
 * cli/service/ in place of this file. It lies beside this one in a build, and in a folder of its own
 * when installed: SERVER_FROM_BIN says where that is, seen from the folder of this program.
 */
static const char *const below[] = {"", "/" SERVER_FROM_BIN};
enum { PLACES = sizeof below / sizeof *below };

/* Fill in the path of the other program in one of the places. False: it is too long. */
static bool path_in(size_t place, char path[PROGRAM_PATH])
{
    char self[PROGRAM_PATH];
    int n = program_folder(self)
                ? snprintf(path, PROGRAM_PATH, "%s%s/neardup-server", self, below[place])
                : 0;

    return n > 0 && n < PROGRAM_PATH;
}

bool find_server(void)
{
    char path[PROGRAM_PATH];

    for (size_t i = 0; i < PLACES; i++)
        if (path_in(i, path) && nd_path_is_program(path))
            return true;
    return false;
}

void run_elsewhere(char **argument)
{
    char path[PROGRAM_PATH];

    for (size_t i = 0; i < PLACES; i++) {
        if (!path_in(i, path))
            continue;
        nd_process_become(path, argument);
        if (errno != ENOENT && errno != ENOTDIR)
            say("%s: cannot be run: %s", path, strerror(errno));
    }
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

#ifdef ND_WITHOUT_PROGRAMS
int cmd_reproduce(struct settings *s) /* main refuses it, and the others */
{
    (void)s;
    return 2;
}
#endif
