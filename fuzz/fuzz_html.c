/* fuzz_html.c - any bytes are a page: its text is valid, and its title is the first line */
#include "fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const fields[] = {"title"};
    struct nd_input_options o = nd_input_options_default();
    struct nd_source source = {.path = "page", .format = ND_FORMAT_HTML};
    struct nd_parser *parser;
    struct nd_bad_record bad;
    struct nd_document d;
    char *copy = calloc(1, size + 64);

    o.fields = fields;
    o.n_fields = 1;
    parser = nd_parser_new(&o, NULL);
    require(parser && copy);
    memcpy(copy, data, size);
    if (nd_parser_parse(parser, &source, (struct nd_view){copy, size}, &d, NULL, &bad) == 1) {
        struct nd_view title = d.fields[0].value;
        struct sum s = {0};

        sum_document(&s, &d);
        require(!memchr(d.text.data, 0, d.text.len));
        require(!title.data ||
                (title.len <= d.text.len && memcmp(title.data, d.text.data, title.len) == 0));
    }
    nd_parser_free(parser);
    free(copy);
    return 0;
}
