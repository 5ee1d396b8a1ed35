/* fuzz_mail.c - any bytes are messages or bad records, and an mbox is cut without losing a byte */
#include "fuzz_input.h"

/* As one message: its subject begins the text, and no field is more than the message had. */
static void parse_one(const uint8_t *data, size_t size)
{
    static const char *const fields[] = {"subject", "from"};
    struct nd_input_options o = nd_input_options_default();
    struct nd_source source = {.path = "message", .format = ND_FORMAT_MAIL};
    struct nd_parser *parser;
    struct nd_bad_record bad;
    struct nd_document d;
    char *copy = calloc(1, size + 64);

    o.fields = fields;
    o.n_fields = 2;
    parser = nd_parser_new(&o, NULL);
    require(parser && copy);
    if (size)
        memcpy(copy, data, size);
    if (nd_parser_parse(parser, &source, (struct nd_view){copy, size}, &d, NULL, &bad) == 1) {
        struct nd_view subject = d.fields[0].value, from = d.fields[1].value;
        struct sum s = {0};

        sum_document(&s, &d);
        require(!subject.data ||
                (subject.len <= d.text.len && memcmp(subject.data, d.text.data, subject.len) == 0));
        require(!from.data || nd_utf8_valid(from.data, from.len));
    }
    nd_parser_free(parser);
    free(copy);
}

/* As an mbox: behind a line end, so that nothing at its start is a mark or a magic number. */
static void cut(const uint8_t *data, size_t size)
{
    struct nd_input_options o = nd_input_options_default();
    uint8_t *copy = malloc(size + 1);
    struct sum s;

    require(copy != NULL);
    copy[0] = '\n';
    if (size)
        memcpy(copy + 1, data, size);
    o.binary = ND_BINARY_TEXT;
    o.format = ND_FORMAT_MBOX;
    s = read_bytes(copy, size + 1, &o);
    require(s.failures == 0 && (s.records == 0 || s.bytes == size + 1));
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse_one(data, size);
    cut(data, size);
    return 0;
}
