/* process.h - the process: its arguments, signals, standard files, memory, other programs */
#ifndef ND_BASE_SYSTEM_PROCESS_H
#define ND_BASE_SYSTEM_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- For a program's main ---- */

/*
 * Call this first.  Closed standard files are opened so that using them fails and no file of ours gets
 * their numbers.  Windows: the arguments become UTF-8, the standard files carry bytes, and the
 * terminal shows UTF-8.
 */
void nd_process_begin(int *n_arguments, char ***argument);
/* Whether the first thread may use a stack of so many bytes. */
bool nd_process_has_stack(size_t bytes);
/*
 * From here on a signal that would end the process calls abandon() first; if that returns false, the
 * signal is of no effect, else the process dies of it, so that a shell sees the reason.  A closed pipe
 * is an error of writing, no signal.  Windows: Ctrl-C, Ctrl-Break and a closed window, in a thread of
 * their own; the status is 130.
 */
void nd_signals_on_stop(bool (*abandon)(void));
/*
 * Call lost() when memory is read that a mapped file no longer has: it was truncated, or its device
 * failed.  It must end the process and may only call what is safe in a signal handler.
 */
void nd_signals_on_lost_page(void (*lost)(void));
/* Write to the standard error, and end the process at once: safe in a signal handler. */
_Noreturn void nd_process_die(const char *message, int status);
/* End the process as if the closed pipe of its standard output had ended it. */
void nd_process_die_of_pipe(void);
/* Run another program in place of this one, one of PATH if no folder is given; it returns only if
 * that fails: errno says why.  Windows: as
 * a child, with whose status this process ends. */
void nd_process_become(const char *path, char **argument);
/* The path of the running program.  False: it is unknown or too long. */
bool nd_process_path(char *path, size_t capacity);

/* ---- For all ---- */

/* Hold back signals from outside in this thread, and let them through again.  Windows: a stop waits as
 * long as any thread holds it back. */
struct nd_held_signals {
    uint64_t before[16];
};
void nd_signals_hold(struct nd_held_signals *held);
void nd_signals_release(const struct nd_held_signals *held);

/* Open a library by its name; NULL: nd_library_why says why.  Find a function of it by its name. */
void *nd_library_load(const char *file);
const char *nd_library_why(void);
void *nd_library_function(void *library, const char *name);

/* The number of this process; another in a child. */
uint64_t nd_process_number(void);
/* Bytes that nobody can foresee.  False: the system has none. */
bool nd_random_bytes(void *to, size_t bytes);
/* The most memory that the process has held; what it holds now, mapped files left out; 0: unknown. */
uint64_t nd_process_peak_bytes(void);
uint64_t nd_process_bytes(void);

#endif
