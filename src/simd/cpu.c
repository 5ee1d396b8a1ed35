/* cpu.c - which instruction set to use: the only file that asks the processor */
#include "simd/instruction_set.h"

#include <neardup/cpu.h>

#include <stdatomic.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static const char *const isa_name[] = {"scalar", "avx2", "avx512", "neon"};

static bool can_run(enum nd_isa isa)
{
    switch (isa) {
    case ND_ISA_SCALAR: return true;
#if defined(__x86_64__)
    case ND_ISA_AVX512:
        if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
            !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
            return false;
        /* fall through */
    case ND_ISA_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
               __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
#elif defined(__aarch64__)
    case ND_ISA_NEON: return true;
#endif
    default: return false;
    }
}

static enum nd_isa best(void)
{
    static const enum nd_isa order[] = {ND_ISA_NEON, ND_ISA_AVX512, ND_ISA_AVX2};

    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (can_run(order[i]))
            return order[i];
    return ND_ISA_SCALAR;
}

/* The choice + 1, so that zero means "not chosen yet"; two threads that choose at once choose the
 * same. */
static atomic_int chosen;

enum nd_isa nd_isa(void)
{
    int isa = atomic_load_explicit(&chosen, memory_order_relaxed);

    if (isa == 0) {
        isa = (int)best() + 1;
        atomic_store_explicit(&chosen, isa, memory_order_relaxed);
    }
    return (enum nd_isa)(isa - 1);
}

bool nd_isa_has_vbmi2(void)
{
#if defined(__x86_64__)
    return nd_isa() == ND_ISA_AVX512 && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2");
#else
    return false;
#endif
}

bool nd_isa_has_vpopcntdq(void)
{
#if defined(__x86_64__)
    return nd_isa() == ND_ISA_AVX512 && __builtin_cpu_supports("avx512vpopcntdq");
#else
    return false;
#endif
}

bool nd_isa_has_clmul(void)
{
#if defined(__x86_64__)
    return nd_isa() != ND_ISA_SCALAR && __builtin_cpu_supports("pclmul");
#else
    return false;
#endif
}

#if defined(__x86_64__)
/* Not every compiler knows the name: leaf 7, EBX, bit 29. */
static bool asked_for_sha(void)
{
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b >> 29 & 1;
}
#endif

bool nd_isa_has_sha(void)
{
#if defined(__x86_64__)
    static atomic_int known; /* 1: no, 2: yes; two threads that ask at once learn the same */
    int is = atomic_load_explicit(&known, memory_order_relaxed);

    if (nd_isa() == ND_ISA_SCALAR)
        return false;
    if (is == 0) { /* the question is slow in a virtual machine */
        is = asked_for_sha() ? 2 : 1;
        atomic_store_explicit(&known, is, memory_order_relaxed);
    }
    return is == 2;
#else
    return false;
#endif
}

const char *nd_cpu_name(void)
{
    return isa_name[nd_isa()];
}

enum nd_status nd_cpu_force(const char *name, struct nd_error *err)
{
    for (int isa = 0; isa < (int)(sizeof isa_name / sizeof *isa_name); isa++) {
        if (strcmp(name, isa_name[isa]) != 0)
            continue;
        if (!can_run((enum nd_isa)isa))
            return nd_fail(err, ND_EUNSUPPORTED, "this processor cannot run the %s kernels", name);
        atomic_store(&chosen, isa + 1);
        return ND_OK;
    }
    return nd_fail(err, ND_EINVAL, "no kernels named '%s': scalar, avx2, avx512 or neon", name);
}
