/* fuzz_news.c - any bytes are stories or stand around them */
#include "fuzz_items.h"

#include "input/formats/feed_cut.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size <= ITEMS_BYTES_MAX)
        read_items(data, size, &nd_cut_news, ND_FORMAT_NEWS, NULL);
    return 0;
}
