/* fuzz_csv.c - CSV and TSV: accepted rows have valid text, whatever the batches */
#include "fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const fields[] = {"c", "text"};
    struct nd_input_options o = nd_input_options_default();
    struct sum s;

    o.fields = fields;
    o.n_fields = 2;
    o.format = ND_FORMAT_CSV;
    s = read_bytes(data, size, &o);
    require(s.failures <= 1);
    o.format = ND_FORMAT_TSV;
    s = read_bytes(data, size, &o);
    require(s.failures <= 1);
    o.charset = size % 2 ? "gb18030" : "cp932";
    s = read_bytes(data, size, &o);
    require(s.failures <= 1);
    return 0;
}
