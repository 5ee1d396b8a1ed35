/* fuzz_archive.c - any bytes as a file whose kind is found out: compressed, archive, text */
#include "fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_input_options o = nd_input_options_default();

    (void)read_bytes(data, size, &o);
    return 0;
}
