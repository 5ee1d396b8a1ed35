/* fuzz_hamming_machine.c - a machine that is accepted reads back from what is written of it */
#include <neardup/hamming.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_hamming_problem problem = {64, 3, 1000000};
    struct nd_hamming_machine machine, again;
    struct nd_hamming_plan plan;
    char text[ND_HAMMING_MACHINE_TEXT];
    size_t n;

    if (nd_hamming_machine_parse((const char *)data, size, &machine, NULL) != ND_OK)
        return 0;
    n = nd_hamming_machine_print(&machine, text);
    require(n == strlen(text));
    require(nd_hamming_machine_parse(text, n, &again, NULL) == ND_OK);
    require(memcmp(&machine, &again, sizeof machine) == 0);
    require(nd_hamming_design(&problem, &machine, ND_HAMMING_HALVES, 0, 0, &plan, NULL) == ND_OK);
    require(plan.query_seconds > 0 && plan.build_seconds > 0);
    require(nd_hamming_design(&problem, &machine, ND_HAMMING_WINDOWS, 0, 4, &plan, NULL) == ND_OK);
    require(plan.query_seconds > 0 && plan.build_seconds > 0);
    return 0;
}
