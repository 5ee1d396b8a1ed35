/* fuzz_json_feed.c - any bytes are items of a JSON Feed or stand around them */
#include "fuzz_items.h"

#include "input/formats/json_feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_view head = {(const char *)data, size}, version;
    struct nd_buffer end = {0};

    if (size > ITEMS_BYTES_MAX)
        return 0;
    read_items(data, size, &nd_cut_json_feed, ND_FORMAT_JSONFEED, NULL);
    version = nd_json_feed_version(head);
    require(!version.len || (version.data > head.data && version.len < size));
    require(nd_json_feed_end(head, &end));
    nd_buffer_release(&end);
    return 0;
}
