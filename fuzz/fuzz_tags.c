/* fuzz_tags.c - accepted tag sets have one spelling, which reads back, and read any stories with it */
#include "fuzz_items.h"

#include "input/formats/feed_cut.h"
#include "input/formats/tag_sets.h"

/* The sets before an empty line; behind it the bytes of a file that they are used for. */
static size_t sets_len(const char *data, size_t size)
{
    for (size_t i = 1; i < size; i++)
        if (data[i - 1] == '\n' && data[i] == '\n')
            return i;
    return size;
}

static void check_spelling(const struct nd_tags *tags)
{
    const char *text = nd_tags_text(tags);
    struct nd_tags *again = nd_tags_parse("again", text, strlen(text), NULL);

    require(again && strcmp(nd_tags_text(again), text) == 0);
    nd_tags_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t len = sets_len((const char *)data, size);
    struct nd_input_options o = nd_input_options_default();
    struct nd_error err = {.message = ""};
    struct nd_tags *tags;

    if (size > ITEMS_BYTES_MAX)
        return 0;
    tags = nd_tags_parse("input", (const char *)data, len, &err);
    if (!tags) {
        require(err.message[0] && !strchr(err.message, '\n'));
        return 0;
    }
    check_spelling(tags);
    o.tags = tags;
    (void)read_bytes(data + len, size - len, &o);
    read_items(data + len, size - len, &nd_cut_news, ND_FORMAT_NEWS, tags);
    nd_tags_free(tags);
    return 0;
}
