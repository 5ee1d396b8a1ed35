/* cpu.c - which instruction set to use: the only file that asks the processor */
#include "simd/instruction_set.h"

#include <neardup/cpu.h>

#include <stdatomic.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static const char *const isa_name[] = {"scalar", "avx2", "avx512", "neon"};

/* Instruction sets of the processor whose registers the system saves for each thread, as bits. */
enum { ASKED = 1, AVX2 = 2, AVX512 = 4, VBMI2 = 8, VPOPCNTDQ = 16, SHA = 32, CLMUL = 64 };

#if defined(__x86_64__)
static unsigned ask_processor(void)
{
    enum { KEEPS_YMM = 0x6, KEEPS_ZMM = 0xE6 };
    const unsigned popcnt_osxsave_avx = 1u << 23 | 1u << 27 | 1u << 28;
    const unsigned bmi_avx2_bmi2 = 1u << 3 | 1u << 5 | 1u << 8;
    const unsigned f_dq_bw_vl = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31,
                   vbmi_vbmi2 = 1u << 1 | 1u << 6;
    unsigned a, b, c1, b7, c7, d, kept, has = ASKED;

    if (!__get_cpuid(1, &a, &b, &c1, &d) || !__get_cpuid_count(7, 0, &a, &b7, &c7, &d) ||
        (c1 & popcnt_osxsave_avx) != popcnt_osxsave_avx)
        return has;
    __asm__ volatile("xgetbv" : "=a"(kept), "=d"(d) : "c"(0));
    if ((kept & KEEPS_YMM) != KEEPS_YMM || (b7 & bmi_avx2_bmi2) != bmi_avx2_bmi2)
        return has;
    has |= AVX2 | (b7 >> 29 & 1 ? SHA : 0) | (c1 >> 1 & 1 ? CLMUL : 0);
    if ((kept & KEEPS_ZMM) != KEEPS_ZMM || (b7 & f_dq_bw_vl) != f_dq_bw_vl)
        return has;
    return has | AVX512 | ((c7 & vbmi_vbmi2) == vbmi_vbmi2 ? VBMI2 : 0) |
           (c7 >> 14 & 1 ? VPOPCNTDQ : 0);
}
#else
static unsigned ask_processor(void)
{
    return ASKED;
}
#endif

/*
 * The processor itself is asked: __builtin_cpu_supports needs a part of the compiler's library that
 * zig's has not, where it says no to everything.  It is asked once, which is slow in a virtual
 * machine; two threads that ask at once learn the same.
 */
static bool has(unsigned what)
{
    static atomic_uint known;
    unsigned all = atomic_load_explicit(&known, memory_order_relaxed);

    if (!all) {
        all = ask_processor();
        atomic_store_explicit(&known, all, memory_order_relaxed);
    }
    return all & what;
}

static bool can_run(enum nd_isa isa)
{
    switch (isa) {
    case ND_ISA_SCALAR: return true;
    case ND_ISA_AVX512: return has(AVX512);
    case ND_ISA_AVX2: return has(AVX2);
#if defined(__aarch64__)
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
    return nd_isa() == ND_ISA_AVX512 && has(VBMI2);
}

bool nd_isa_has_vpopcntdq(void)
{
    return nd_isa() == ND_ISA_AVX512 && has(VPOPCNTDQ);
}

bool nd_isa_has_clmul(void)
{
    return nd_isa() != ND_ISA_SCALAR && has(CLMUL);
}

bool nd_isa_has_sha(void)
{
    return nd_isa() != ND_ISA_SCALAR && has(SHA);
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
