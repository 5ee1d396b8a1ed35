/* fuzz_items.h - what the targets of feeds and news share: items cut, and read as documents */
#ifndef FUZZ_ITEMS_H
#define FUZZ_ITEMS_H

#include "fuzz_input.h"

#include "input/formats/cut.h"

/* Byte by byte, much of a record is looked at each time. */
enum { ITEMS_BYTES_MAX = 1 << 14 };

/* Cut the bytes as they come in pieces of `piece`; return a sum of all ends of records. */
static inline uint64_t cut_in(const struct nd_cut *cut, const struct nd_tags *tags,
                              const char *data, size_t size, size_t piece)
{
    struct nd_cutter c = {.cut = cut, .tags = tags};
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

/* Items are cut alike however the bytes come, and none is longer than the bytes. */
static inline void read_items(const uint8_t *data, size_t size, const struct nd_cut *cut,
                              enum nd_format format, const struct nd_tags *tags)
{
    static const char *const fields[] = {"title",  "link", "date",     "updated",  "author",
                                         "topics", "body", "category", "_own.name"};
    struct nd_input_options o = nd_input_options_default();
    struct sum s;

    require(cut_in(cut, tags, (const char *)data, size, 1) ==
            cut_in(cut, tags, (const char *)data, size, 64));
    o.format = format;
    o.tags = tags;
    o.fields = fields;
    o.n_fields = sizeof fields / sizeof *fields;
    s = read_bytes(data, size, &o);
    require(s.packed || s.bytes <= size);
}

#endif
