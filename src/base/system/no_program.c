/* no_program.c - in place of linux_program.c where no program is run on a document */
#ifndef __linux__
#include "base/system/run_program.h"

#include <stdio.h>

int nd_program_run(const struct nd_program *program, char *reason, size_t reason_bytes)
{
    (void)program;
    (void)snprintf(reason, reason_bytes, "cannot be run: filters run on Linux alone");
    return 0;
}

void nd_programs_abandon(void)
{
}
#endif
