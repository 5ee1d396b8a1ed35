/* fuzz_segment_record.c - any bytes as a record of a segment: refused, or a text of the length that it
 * names
 *
 * If the last byte is odd, the length and the checksum are made right first, as a fuzzer would not
 * find them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "store/segments/segments_files.h"
#include "store/segments/segments_record.h"

enum { TEXT_MAX = 16 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void make_right(uint8_t *record, size_t len)
{
    struct nd_record_header header;

    if (len < sizeof header)
        return;
    memcpy(&header, record, sizeof header);
    header.magic = ND_RECORD_MAGIC;
    header.packed = (uint32_t)(len - sizeof header);
    memcpy(record, &header, sizeof header);
    header.checksum = nd_hash_bytes(record + sizeof header.checksum, len - sizeof header.checksum);
    memcpy(record, &header.checksum, sizeof header.checksum);
}

/* Check that what was read comes back from a record of its own. */
static void write_again(struct nd_compressor *c, const struct nd_buffer *text)
{
    struct nd_buffer record = {0}, again = {0};
    struct nd_text_place place = {.segment = 1};
    struct nd_record_header header;
    struct nd_view packed;

    require(nd_text_compress(c, (struct nd_view){text->data, text->len}, &record, NULL) == ND_OK);
    packed = (struct nd_view){record.data, record.len};
    require(nd_record_check(packed, NULL, &place, &header, NULL) == ND_OK);
    require(nd_record_unpack(c, packed, NULL, &place, &again, NULL) == ND_OK);
    require(again.len == text->len && memcmp(again.data, text->data, text->len) == 0);
    nd_buffer_release(&record);
    nd_buffer_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_text_place place = {.segment = 1};
    struct nd_record_header header;
    struct nd_buffer text = {0};
    struct nd_compressor *c;
    struct nd_view record;
    uint8_t *copy;

    if (size == 0 || !(c = nd_compressor_new()) || !(copy = malloc(size)))
        return 0;
    memcpy(copy, data, size);
    if (copy[--size] % 2)
        make_right(copy, size);
    record = (struct nd_view){(const char *)copy, size};
    if (nd_record_check(record, NULL, &place, &header, NULL) == ND_OK) {
        require(header.packed + sizeof header == size);
        if (header.bytes <= TEXT_MAX &&
            nd_record_unpack(c, record, NULL, &place, &text, NULL) == ND_OK) {
            require(text.len == header.bytes);
            write_again(c, &text);
        }
    }
    nd_buffer_release(&text);
    nd_compressor_free(c);
    free(copy);
    return 0;
}
