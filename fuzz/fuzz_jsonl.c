/* fuzz_jsonl.c - JSON Lines: accepted records have valid text, whatever the batches */
#include "fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const text[] = {"text", "a.b", "a.*.b.*"};
    static const char *const fields[] = {"c", "a", "a.b.c"};
    struct nd_input_options o = nd_input_options_default();
    struct sum s, lenient;

    o.format = ND_FORMAT_JSONL;
    o.text_fields = text;
    o.n_text_fields = 3;
    o.fields = fields;
    o.n_fields = 3;
    s = read_bytes(data, size, &o);
    require(s.bytes <= size || s.problems > 0); /* UTF-16 grows, and is told */
    o.missing_text = ND_MISSING_EMPTY;
    lenient = read_bytes(data, size, &o);
    require(lenient.documents >= s.documents);
    o.text_format = ND_TEXT_HTML;
    o.markup = o.elements = 1;
    require(read_bytes(data, size, &o).documents <= lenient.documents); /* some are too deep */
    o.charset = size % 2 ? "gb18030" : "cp932";
    s = read_bytes(data, size, &o);
    require(s.documents <= s.records);
    return 0;
}
