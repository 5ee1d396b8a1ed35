/* signals.c - a process that is told to stop leaves no half file */
#define _GNU_SOURCE
#include "signals.h"

#include <neardup/hamming_file.h>
#include <neardup/run.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

/*
 * Remove temporary files, then die of the signal, so that a shell sees the reason: status 130 after
 * Ctrl-C, 143 after SIGTERM.  Once outputs are being published, the first signal is of no effect.
 */
static void abandon(int signal_number)
{
    int run = nd_run_abandon(), index = nd_hamming_file_abandon();

    if (!run || !index) /* outputs have begun to appear: all of them shall */
        return;
    raise(signal_number); /* SA_RESETHAND: the default action, once the handler returns */
}

/*
 * Index files and df tables are mapped into memory. If one is truncated while it is read, or its
 * device fails, the thread that reads gets this signal instead of an error from a call.
 */
static void stop_at_lost_page(int signal_number)
{
    static const char message[] =
        "neardup: an index or df table was cut short while it was read, or its device failed\n"
        "neardup: stopped\n";
    static atomic_flag is_stopping = ATOMIC_FLAG_INIT;

    (void)signal_number;
    while (atomic_flag_test_and_set(&is_stopping)) /* another thread will end the process */
        pause();
    nd_run_abandon();
    nd_hamming_file_abandon();
    (void)!write(STDERR_FILENO, message, sizeof message - 1);
    _exit(2);
}

static void handle_lost_pages(void)
{
    struct sigaction action = {.sa_handler = stop_at_lost_page};

    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

void handle_signals(void)
{
    /* All signals that end a process, except those that mean a fault of the program itself. */
    static const int numbers[] = {SIGINT,  SIGTERM,   SIGHUP,  SIGQUIT, SIGXCPU, SIGALRM, SIGUSR1,
                                  SIGUSR2, SIGVTALRM, SIGPROF, SIGPOLL, SIGABRT, SIGTRAP, SIGSYS};
    struct sigaction action = {.sa_handler = abandon, .sa_flags = (int)SA_RESETHAND | SA_RESTART},
                     before;

    sigemptyset(&action.sa_mask);
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    handle_lost_pages();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of write(), */
    signal(SIGXFSZ, SIG_IGN); /* as is a file that may not grow */
}

/* The reader of the standard output has gone: the other end of the pipe is closed. */
static bool is_output_closed(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return poll(&out, 1, 0) == 1 && out.revents & POLLERR;
}

void die_where_output_is_closed(void)
{
    if (!is_output_closed())
        return;
    nd_run_abandon();
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}

void open_standard_files(void)
{
    /*
     * Open them the wrong way round: then using a closed stream fails, and no file of ours gets its
     * number.
     */
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}
