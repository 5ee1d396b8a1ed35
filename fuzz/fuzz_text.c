/* fuzz_text.c - plain text: any bytes are documents, and no byte is lost on the way */
#include "fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_input_options o = nd_input_options_default();
    int is_utf16 =
        size >= 2 && (memcmp(data, "\xFF\xFE", 2) == 0 || memcmp(data, "\xFE\xFF", 2) == 0);
    size_t mark = size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;

    o.format = ND_FORMAT_TEXT;
    for (int unit = ND_UNIT_FILE; unit <= ND_UNIT_PARAGRAPH; unit++) {
        struct sum s;

        o.unit = (enum nd_unit)unit;
        s = read_bytes(data, size, &o);
        require(s.documents == s.records);
        require(unit != ND_UNIT_FILE || s.failures > 0 || s.records >= 1);
        if (unit == ND_UNIT_FILE && s.problems == 0 && s.records == 1 && !is_utf16 && !s.packed)
            require(s.bytes == size);
        if (unit == ND_UNIT_LINE && s.problems == 0 && !is_utf16 && size > 0 && data[0] == '.')
            require(s.bytes == size - mark); /* what begins with a dot is no archive */
    }
    o.charset = size % 2 ? "gb18030" : "windows-1252";
    require(read_bytes(data, size, &o).failures <= 1);
    return 0;
}
