/* test_cpu.c - the kernels are those that the processor has, as the system lists it */
#include "simd/instruction_set.h"

#include <neardup/cpu.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char flags[1 << 14]; /* words of /proc/cpuinfo, each between spaces; empty: not known */

/* Linux leaves out what it does not save for each thread, as cpu.c must.  Wine shows the same file. */
static int read_flags(void **unused)
{
    FILE *file = fopen("/proc/cpuinfo", "r");

    (void)unused;
    while (file && fgets(flags, sizeof flags, file) && strncmp(flags, "flags", 5) != 0)
        *flags = '\0';
    if (file)
        fclose(file);
    flags[strcspn(flags, "\n")] = ' ';
    return 0;
}

static bool has_flag(const char *name)
{
    char word[32];

    snprintf(word, sizeof word, " %s ", name);
    return strstr(flags, word);
}

static bool has_avx2(void)
{
    return has_flag("avx") && has_flag("avx2") && has_flag("bmi1") && has_flag("bmi2") &&
           has_flag("popcnt");
}

static bool has_avx512(void)
{
    return has_avx2() && has_flag("avx512f") && has_flag("avx512dq") && has_flag("avx512bw") &&
           has_flag("avx512vl");
}

/* Whether the processor can run the kernels of this name, by what the system says of it. */
static bool is_listed(const char *name)
{
#if defined(__x86_64__)
    return strcmp(name, "scalar") == 0 || (strcmp(name, "avx2") == 0 && has_avx2()) ||
           (strcmp(name, "avx512") == 0 && has_avx512());
#elif defined(__aarch64__)
    return strcmp(name, "scalar") == 0 || strcmp(name, "neon") == 0;
#else
    return strcmp(name, "scalar") == 0;
#endif
}

static void skip_without_flags(void)
{
#if defined(__x86_64__)
    if (!has_flag("fpu")) {
        print_message(
            "skipped: /proc/cpuinfo, which lists what the processor has, cannot be read\n");
        skip();
    }
#endif
}

static const char *const names[] = {"scalar", "avx2", "avx512", "neon"};
enum { NAMES = sizeof names / sizeof *names };

/* Remember how the program began, since the tests force other kernels. */
static char at_first[16];

static int remember(void **state)
{
    snprintf(at_first, sizeof at_first, "%s", nd_cpu_name());
    return read_flags(state);
}

static void restore(void)
{
    assert_int_equal(nd_cpu_force(at_first, NULL), ND_OK);
}

static void best_kernels_are_chosen_unless_others_are_named(void **unused)
{
    static const char *const best_first[] = {"neon", "avx512", "avx2", "scalar"};
    const char *named = getenv("NEARDUP_CPU");
    int i = 0;

    (void)unused;
    if (named) {
        assert_string_equal(at_first, named);
        return;
    }
    skip_without_flags();
    while (!is_listed(best_first[i]))
        i++;
    assert_string_equal(at_first, best_first[i]);
}

static void just_the_kernels_that_the_processor_has_can_be_forced(void **unused)
{
    (void)unused;
    skip_without_flags();
    for (int i = 0; i < NAMES; i++) {
        struct nd_error err = {0};
        enum nd_status status = nd_cpu_force(names[i], &err);

        assert_int_equal(status, is_listed(names[i]) ? ND_OK : ND_EUNSUPPORTED);
        if (status == ND_OK) {
            assert_string_equal(nd_cpu_name(), names[i]);
            assert_int_equal((int)nd_isa(), i);
        } else {
            assert_non_null(strstr(err.message, names[i]));
        }
    }
    restore();
}

static void kernels_that_are_refused_change_nothing(void **unused)
{
    static const char *const no_names[] = {"", "avx", "AVX2", "avx2 ", "avx5122", "sse2"};
    struct nd_error err = {0};

    (void)unused;
    for (size_t i = 0; i < sizeof no_names / sizeof *no_names; i++) {
        assert_int_equal(nd_cpu_force(no_names[i], &err), ND_EINVAL);
        assert_string_equal(nd_cpu_name(), at_first);
    }
    for (int i = 0; i < NAMES; i++)
        if (nd_cpu_force(names[i], &err) == ND_OK)
            restore();
        else
            assert_string_equal(nd_cpu_name(), at_first);
}

static void scalar_kernels_use_no_feature(void **unused)
{
    (void)unused;
    assert_int_equal(nd_cpu_force("scalar", NULL), ND_OK);
    assert_false(nd_isa_has_vbmi2() || nd_isa_has_vpopcntdq() || nd_isa_has_sha() ||
                 nd_isa_has_clmul());
    restore();
}

static void features_beside_a_set_are_those_that_the_system_lists(void **unused)
{
    (void)unused;
    skip_without_flags();
    for (int i = ND_ISA_AVX2; i <= ND_ISA_AVX512; i++) {
        bool is_512 = i == ND_ISA_AVX512;

        if (nd_cpu_force(names[i], NULL) != ND_OK)
            continue;
        assert_int_equal(nd_isa_has_sha(), has_flag("sha_ni"));
        assert_int_equal(nd_isa_has_clmul(), has_flag("pclmulqdq"));
        assert_int_equal(nd_isa_has_vbmi2(),
                         is_512 && has_flag("avx512vbmi") && has_flag("avx512_vbmi2"));
        assert_int_equal(nd_isa_has_vpopcntdq(), is_512 && has_flag("avx512_vpopcntdq"));
    }
    restore();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_kernels_are_chosen_unless_others_are_named),
        cmocka_unit_test(just_the_kernels_that_the_processor_has_can_be_forced),
        cmocka_unit_test(kernels_that_are_refused_change_nothing),
        cmocka_unit_test(scalar_kernels_use_no_feature),
        cmocka_unit_test(features_beside_a_set_are_those_that_the_system_lists),
    };

    return cmocka_run_group_tests(tests, remember, NULL);
}
