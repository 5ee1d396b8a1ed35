/* fuzz_feed.c - any bytes are items of a feed or stand around them, cut alike however they come */
#include "fuzz_items.h"

#include "input/formats/feed_cut.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_buffer end = {0};

    if (size > ITEMS_BYTES_MAX)
        return 0;
    read_items(data, size, &nd_cut_feed, ND_FORMAT_FEED, NULL);
    require(nd_feed_end((struct nd_view){(const char *)data, size}, &end));
    nd_buffer_release(&end);
    return 0;
}
