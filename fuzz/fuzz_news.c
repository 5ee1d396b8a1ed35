/* fuzz_news.c - any bytes are stories or stand around them */
#include "fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_input_options o = nd_input_options_default();
    struct sum s;

    if (size > 1 << 14)
        return 0;
    o.format = ND_FORMAT_NEWS;
    o.fields = (const char *const[]){"title", "date", "author", "topics", "body"};
    o.n_fields = 5;
    s = read_bytes(data, size, &o);
    require(s.packed || s.bytes <= size);
    return 0;
}
