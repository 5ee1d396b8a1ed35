/* linux_program.c - a program run on one document, within limits of time, memory and output */

/*
 * The document is an unnamed file, so that the program may read it as often and where it likes, and
 * nobody waits for it to read.  The shell sets the limits and runs the command in a process group
 * of its own, which is killed at the end whatever happened, so that nothing of it stays.  The
 * program is started by posix_spawn: copying the tables of pages of a large process by fork takes
 * longer than most of them run.
 */
#ifdef __linux__
#define _GNU_SOURCE
#include "base/system/run_program.h"
#include "base/system/threads.h"

#include <neardup/error.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- The groups that are running, for a signal handler ---- */

enum { AT_ONCE = 1024 };
enum { STARTING = -1, ENDING = -2 };   /* a place that has no group yet, or none any more */
static _Atomic pid_t running[AT_ONCE]; /* 0: the place is free */
static atomic_bool is_abandoned;

static _Atomic pid_t *take_place(void)
{
    for (size_t i = 0; i < AT_ONCE; i++) {
        pid_t nobody = 0;

        if (atomic_compare_exchange_strong(&running[i], &nobody, STARTING))
            return &running[i];
    }
    return NULL;
}

/* Wait for programs that other threads are starting at this moment, but not for ever. */
void nd_programs_abandon(void)
{
    const struct timespec moment = {.tv_nsec = 100000};
    int patience = 20000;

    atomic_store(&is_abandoned, true);
    for (size_t i = 0; i < AT_ONCE; i++) {
        pid_t group;

        while ((group = atomic_load(&running[i])) == STARTING && patience-- > 0)
            nanosleep(&moment, NULL);
        if (group > 0)
            (void)kill(-group, SIGKILL);
    }
}

/* ---- Starting it ---- */

enum { SAID_BYTES = 4096 };

struct program_run {
    const struct nd_program *program;
    uint64_t written; /* bytes so far */
    uint64_t deadline;
    pid_t group;
    int out, said; /* ends to read its output and its messages from; -1: at their end */
    char message[SAID_BYTES];
    size_t message_len;
    char *reason;
    size_t reason_bytes;
};

static int ND_PRINTF(2, 3) refuse(const struct program_run *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(r->reason, r->reason_bytes, format, args);
    va_end(args);
    return 0;
}

/* Move a descriptor away from those of the standard streams.  -1: errno. */
static int lift(int fd)
{
    int lifted = fd;

    if (fd >= 0 && fd <= STDERR_FILENO) {
        lifted = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(fd);
    }
    return lifted;
}

static bool open_pipe(int end[2])
{
    if (pipe2(end, O_CLOEXEC) != 0)
        return false;
    end[0] = lift(end[0]);
    end[1] = lift(end[1]);
    if (end[0] >= 0 && end[1] >= 0)
        return true;
    close(end[0]);
    close(end[1]);
    return false;
}

static bool write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);

        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        }
    }
    return true;
}

/* A file without a name that holds the document, at its beginning.  -1: errno. */
static int document_file(const char *document, size_t len)
{
    int fd = lift(memfd_create("neardup-document", MFD_CLOEXEC));

    if (fd >= 0 && write_all(fd, document, len) && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Signals as a program expects them: none is blocked, and none that we ignore is ignored. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, standard;
    int failed = posix_spawnattr_setflags(
        attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    sigemptyset(&none);
    sigemptyset(&standard);
    sigaddset(&standard, SIGPIPE);
    sigaddset(&standard, SIGXFSZ);
    failed = failed ? failed : posix_spawnattr_setpgroup(attributes, 0);
    failed = failed ? failed : posix_spawnattr_setsigmask(attributes, &none);
    return failed ? failed : posix_spawnattr_setsigdefault(attributes, &standard);
}

static int set_streams(posix_spawn_file_actions_t *actions, int in, int out, int said)
{
    int failed = posix_spawn_file_actions_adddup2(actions, in, STDIN_FILENO);

    failed = failed ? failed : posix_spawn_file_actions_adddup2(actions, out, STDOUT_FILENO);
    return failed ? failed : posix_spawn_file_actions_adddup2(actions, said, STDERR_FILENO);
}

/*
 * The shell lowers its own limits, where the system lets it, and then runs the command.  The
 * processor time is limited as well, a second later, so that a filter ends if neardup is killed.
 */
static int spawn(struct program_run *r, int in, int out, int said)
{
    static const char script[] = "ulimit -c 0; ulimit -v \"$1\"; ulimit -t \"$2\"; } 2>/dev/null; "
                                 "eval \"$3\"";
    char whole[sizeof script + 2], kib[24], seconds[24];
    char *const argument[] = {
        "sh", "-c", whole, "neardup", kib, seconds, (char *)(uintptr_t)r->program->command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failed = posix_spawn_file_actions_init(&actions);

    if (failed)
        return failed;
    failed = posix_spawnattr_init(&attributes);
    if (failed) {
        posix_spawn_file_actions_destroy(&actions);
        return failed;
    }
    (void)snprintf(whole, sizeof whole, "{ %s", script);
    (void)snprintf(kib, sizeof kib, "%" PRIu64, r->program->memory_bytes >> 10);
    (void)snprintf(seconds, sizeof seconds, "%u", r->program->seconds + 1);
    failed = set_attributes(&attributes);
    failed = failed ? failed : set_streams(&actions, in, out, said);
    failed = failed ? failed
                    : posix_spawn(&r->group, "/bin/sh", &actions, &attributes, argument, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failed;
}

/* 1; 0: the reason is given. */
static int start(struct program_run *r)
{
    int in = document_file(r->program->document, r->program->document_len), out[2] = {-1, -1},
        said[2] = {-1, -1}, failed;

    if (in < 0)
        return refuse(r, "cannot be given its document: %s", strerror(errno));
    failed = open_pipe(out) && open_pipe(said) ? 0 : errno;
    if (!failed)
        failed = spawn(r, in, out[1], said[1]);
    close(in);
    if (out[1] >= 0)
        close(out[1]);
    if (said[1] >= 0)
        close(said[1]);
    r->out = out[0];
    r->said = said[0];
    return failed ? refuse(r, "cannot be started: %s", strerror(failed)) : 1;
}

/*
 * Start a program, and put it into its place.  Meanwhile this thread handles no signal, and a
 * handler in another thread waits.
 */
static int start_in_place(struct program_run *r, _Atomic pid_t *place)
{
    sigset_t all, before;
    int status;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    status = atomic_load(&is_abandoned) ? refuse(r, "is not started: the process ends") : start(r);
    atomic_store(place, r->group);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

/* ---- Reading what it writes ---- */

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* 1; 0: too much was written, which is the reason; -1: out of memory. */
static int take_output(struct program_run *r)
{
    char piece[1 << 16];
    ssize_t n = read(r->out, piece, sizeof piece);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 1;
    if (n <= 0) {
        close_end(&r->out);
        return 1;
    }
    r->written += (uint64_t)n;
    if (r->written > r->program->output_bytes)
        return refuse(r, "wrote more than %" PRIu64 " bytes", r->program->output_bytes);
    return r->program->take(r->program->context, piece, (size_t)n) ? 1 : -1;
}

/* The first of its messages are kept, and all are read. */
static void take_message(struct program_run *r)
{
    char more[SAID_BYTES];
    size_t room = sizeof r->message - r->message_len;
    ssize_t n = read(r->said, more, sizeof more);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        close_end(&r->said);
        return;
    }
    memcpy(r->message + r->message_len, more, (size_t)n < room ? (size_t)n : room);
    r->message_len += (size_t)n < room ? (size_t)n : room;
}

static int too_long(const struct program_run *r)
{
    return refuse(r, "ran longer than %u second%s", r->program->seconds,
                  r->program->seconds == 1 ? "" : "s");
}

static int milliseconds_left(const struct program_run *r)
{
    uint64_t now = nd_monotonic_ms();

    return now < r->deadline ? (int)(r->deadline - now) : 0;
}

/* Read until both ends are closed: 1; 0 with the reason; -1: out of memory. */
static int read_output(struct program_run *r)
{
    int status = 1;

    while (status == 1 && (r->out >= 0 || r->said >= 0)) {
        struct pollfd ends[2] = {{.fd = r->out, .events = POLLIN},
                                 {.fd = r->said, .events = POLLIN}};
        int left = milliseconds_left(r), n = left ? poll(ends, 2, left) : 0;

        if (n < 0 && errno != EINTR)
            return refuse(r, "cannot be waited for: %s", strerror(errno));
        if (n == 0 && milliseconds_left(r) == 0)
            return too_long(r);
        if (n > 0 && ends[0].revents)
            status = take_output(r);
        if (n > 0 && ends[1].revents)
            take_message(r);
    }
    return status;
}

/* ---- Its end ---- */

/* Wait until it has ended, but leave it as it is: its number is still its own.  1; 0: the reason. */
static int await_end(struct program_run *r)
{
    const struct timespec nap = {.tv_nsec = 2000000};

    for (;;) {
        siginfo_t about = {.si_pid = 0};

        if (waitid(P_PID, (id_t)r->group, &about, WEXITED | WNOWAIT | WNOHANG) != 0) {
            if (errno != EINTR)
                return 1; /* somebody else waited for it */
        } else if (about.si_pid) {
            return 1;
        }
        if (!milliseconds_left(r))
            return too_long(r);
        nanosleep(&nap, NULL);
    }
}

/* Kill what is left of the group, and take its status.  False: somebody else took it. */
static bool end_group(const struct program_run *r, _Atomic pid_t *place, int *status)
{
    pid_t got;

    (void)kill(-r->group, SIGKILL);
    atomic_store(place, ENDING); /* its number may soon be another's */
    do
        got = waitpid(r->group, status, 0);
    while (got < 0 && errno == EINTR);
    return got == r->group;
}

/* The first line that it said, as a part of a message: "", or ": …". */
static const char *first_line(struct program_run *r, char *out, size_t capacity)
{
    enum { LINE_MAX_BYTES = 120 };
    const char *at = r->message, *end = at + r->message_len;
    size_t n = 0;

    while (at < end && (unsigned char)*at <= ' ')
        at++;
    while (at + n < end && n < LINE_MAX_BYTES && (unsigned char)at[n] >= ' ')
        n++;
    while (n && ((unsigned char)at[n - 1] & 0xC0) == 0x80 && n == LINE_MAX_BYTES)
        n--;
    (void)snprintf(out, capacity, "%s%.*s", n ? ": " : "", (int)n, at);
    return out;
}

/* 1; 0: it failed, and the reason is given. */
static int judge_status(struct program_run *r, int status)
{
    enum { NOT_FOUND = 127 };
    char line[160];

    (void)first_line(r, line, sizeof line);
    if (WIFSIGNALED(status))
        return refuse(r, "was ended by signal %d%s", WTERMSIG(status), line);
    if (WEXITSTATUS(status) == NOT_FOUND && r->program->if_missing)
        return refuse(r, "%s", r->program->if_missing);
    if (WEXITSTATUS(status) != 0)
        return refuse(r, "failed with status %d%s", WEXITSTATUS(status), line);
    return 1;
}

int nd_program_run(const struct nd_program *program, char *reason, size_t reason_bytes)
{
    struct program_run r = {.program = program,
                            .deadline = nd_monotonic_ms() + 1000 * (uint64_t)program->seconds,
                            .out = -1,
                            .said = -1,
                            .reason = reason,
                            .reason_bytes = reason_bytes};
    _Atomic pid_t *place = take_place();
    int status = place ? start_in_place(&r, place)
                       : refuse(&r, "cannot run: %d run at the same time", AT_ONCE);
    int ended = 0;

    if (r.group > 0) {
        status = read_output(&r);
        if (status == 1)
            status = await_end(&r);
        if (!end_group(&r, place, &ended) && status == 1)
            status =
                refuse(&r, "has ended, but its status was taken by another part of the program");
        if (status == 1)
            status = judge_status(&r, ended);
    }
    close_end(&r.out);
    close_end(&r.said);
    if (place)
        atomic_store(place, 0);
    return status;
}
#endif
