/* fuzz_warc.c - any bytes are records of a web archive or damage, cut alike however they come */
#include "fuzz_input.h"

#include "input/formats/cut.h"
#include "input/formats/formats.h"

/* Cut the bytes as they come in pieces of `piece`; return a sum of all ends of records. */
static uint64_t cut(const struct nd_cut *way, const char *data, size_t size, size_t piece)
{
    struct nd_cutter c = {.cut = way};
    uint64_t hash = 0;

    for (size_t from = 0, len = 0; from < size; from += len) {
        enum nd_cut_answer answer = ND_CUT_MORE;

        for (size_t n = piece; answer == ND_CUT_MORE; n += piece) {
            size_t held = n < size - from ? n : size - from;

            answer = nd_cut_next(&c, data + from, held, held == size - from, &len);
            require(answer != ND_CUT_MORE || held < size - from);
        }
        require(answer == ND_CUT_RECORD || answer == ND_CUT_BLANK);
        require(len > 0 && len <= size - from);
        if (answer == ND_CUT_RECORD)
            hash = nd_mix64(hash ^ (from << 32 ^ len)) + 1;
    }
    return hash;
}

static void read_as(enum nd_format format, const uint8_t *data, size_t size)
{
    const struct nd_cut *way = nd_format_cut(format, ND_UNIT_FILE);
    struct nd_input_options o = nd_input_options_default();
    struct sum s;

    require(cut(way, (const char *)data, size, 1) == cut(way, (const char *)data, size, 64));
    o.format = format;
    o.fields = (const char *const[]){"url", "date", "title", "language"};
    o.n_fields = 4;
    s = read_bytes(data, size, &o);
    require(s.packed || s.bytes <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1 << 14) /* byte by byte, all of a record is looked at each time */
        return 0;
    read_as(ND_FORMAT_WARC, data, size);
    read_as(ND_FORMAT_ARC, data, size);
    return 0;
}
