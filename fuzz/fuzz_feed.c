/* fuzz_feed.c - any bytes are items of a feed or stand around them, cut alike however they come */
#include "fuzz_input.h"

#include "input/formats/feed_cut.h"
#include "input/formats/formats.h"

/* Cut the bytes as they come in pieces of `piece`; return a sum of all ends of records. */
static uint64_t cut_in(const char *data, size_t size, size_t piece)
{
    struct nd_cutter c = {.cut = &nd_cut_feed};
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_buffer end = {0};
    struct sum s;

    if (size > 1 << 14) /* byte by byte, much of a record is looked at each time */
        return 0;
    require(cut_in((const char *)data, size, 1) == cut_in((const char *)data, size, 64));
    require(nd_feed_end((struct nd_view){(const char *)data, size}, &end));
    nd_buffer_release(&end);
    o.format = ND_FORMAT_FEED;
    o.fields = (const char *const[]){"title", "link", "date", "author", "category", "body"};
    o.n_fields = 6;
    s = read_bytes(data, size, &o);
    require(s.packed || s.bytes <= size);
    return 0;
}
