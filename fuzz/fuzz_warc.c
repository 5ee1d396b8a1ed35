/* fuzz_warc.c - any bytes are records of a web archive or damage, cut alike however they come */
#include "fuzz_items.h"

#include "input/formats/formats.h"

static void read_as(enum nd_format format, const uint8_t *data, size_t size)
{
    const struct nd_cut *way = nd_format_cut(format, ND_UNIT_FILE);
    struct nd_input_options o = nd_input_options_default();
    struct sum s;

    require(cut_in(way, NULL, (const char *)data, size, 1) ==
            cut_in(way, NULL, (const char *)data, size, 64));
    o.format = format;
    o.fields = (const char *const[]){"url", "date", "title", "language"};
    o.n_fields = 4;
    s = read_bytes(data, size, &o);
    require(s.packed || s.bytes <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > ITEMS_BYTES_MAX)
        return 0;
    read_as(ND_FORMAT_WARC, data, size);
    read_as(ND_FORMAT_ARC, data, size);
    return 0;
}
