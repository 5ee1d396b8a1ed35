/* run_program.h - somebody else's program, run on one document within limits of time, memory and output */
#ifndef ND_BASE_SYSTEM_RUN_PROGRAM_H
#define ND_BASE_SYSTEM_RUN_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nd_program {
    const char *command;  /* for the shell */
    const char *document; /* what its standard input is */
    size_t document_len;
    unsigned seconds; /* it may run so long */
    uint64_t memory_bytes, output_bytes;
    const char *if_missing; /* the reason, where the shell does not find it; NULL: its status */
    /* Take the next bytes that it wrote.  False: out of memory. */
    bool (*take)(void *context, const char *bytes, size_t n);
    void *context;
};
/*
 * 1; 0: it failed, and `reason` says why, as in "ran longer than 3 seconds"; -1: out of memory.  Safe
 * from any thread.  Linux alone runs programs; elsewhere that is the reason.
 */
int nd_program_run(const struct nd_program *program, char *reason, size_t reason_bytes);
/* Kill all that are running.  Safe in a signal handler, after which the process must end. */
void nd_programs_abandon(void);

#endif
