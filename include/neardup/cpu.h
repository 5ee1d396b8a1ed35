/* neardup/cpu.h - which kernels the library runs on
 *
 * Library: neardup.
 *
 *     struct nd_error err;
 *
 *     printf("%s\n", nd_cpu_name());
 *     if (nd_cpu_force("scalar", &err) != ND_OK)
 *         fprintf(stderr, "%s\n", err.message);
 */
#ifndef NEARDUP_CPU_H
#define NEARDUP_CPU_H

#include <neardup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The kernels in use: "scalar", "avx2", "avx512" or "neon".  They are chosen once, at the first
 * call, as the best that the processor and the operating system support.  All give the same bits.
 */
ND_API const char *nd_cpu_name(void);

/*
 * Use the named kernels from now on.  For tests and measurements; call it before other threads use
 * the library.  ND_EINVAL if there is no such name, ND_EUNSUPPORTED if this processor cannot run
 * them.
 */
ND_API enum nd_status nd_cpu_force(const char *name, struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
