/* force_cpu.c - lets a test program run on the kernels that NEARDUP_CPU names, as the command does
 */
#include <neardup/cpu.h>

#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void force_cpu(void)
{
    const char *name = getenv("NEARDUP_CPU");
    struct nd_error err;

    if (name && nd_cpu_force(name, &err) != ND_OK) {
        fprintf(stderr, "NEARDUP_CPU: %s\n", err.message);
        exit(2);
    }
}
