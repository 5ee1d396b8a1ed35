/* apart.c - reading a database in a process of its own, which damaged pages may end */
#define _GNU_SOURCE
#include "service/apart.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child: no file of its memory is left behind, and it does not outlive who asked. */
static int run_as_child(int (*run)(struct settings *s), struct settings *s, pid_t parent)
{
    const struct rlimit none = {0, 0};

    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == parent ? run(s) : 2;
}

static int ended(int status, const char *what, const char *store)
{
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    if (number != SIGSEGV && number != SIGBUS && number != SIGABRT && number != SIGFPE &&
        number != SIGILL) {
        say("%s: %s was ended: %s", store, what, strsignal(number));
        return 2;
    }
    say("%s: pages of the database are damaged: reading them ended the process that checks it "
        "(%s)",
        store, strsignal(number));
    return 1;
}

int run_apart(int (*run)(struct settings *s), struct settings *s, const char *what,
              const char *store)
{
    pid_t parent = getpid(), child;
    int status;

    (void)fflush(NULL);
    child = fork();
    if (child == 0)
        _exit(run_as_child(run, s, parent));
    if (child < 0) {
        say("%s: a process to check it cannot be started: %s", store, strerror(errno));
        return 2;
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) {
            say("%s: %s cannot be waited for: %s", store, what, strerror(errno));
            return 2;
        }
    return ended(status, what, store);
}
