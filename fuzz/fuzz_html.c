/* fuzz_html.c - any bytes are a page: its text is valid, and its title is the first line */
#include "fuzz_input.h"

/* Stretches are in order and disjoint, anchors in order, all within the text. */
static void check_marks(const struct nd_document *d)
{
    uint64_t end = 0;

    for (size_t i = 0; i < d->n_markup; i++) {
        require(d->markup[i].len > 0 && d->markup[i].offset >= end);
        end = d->markup[i].offset + d->markup[i].len;
    }
    require(end <= d->text.len);
    end = 0;
    for (size_t i = 0; i < d->n_links; i++) {
        require(d->links[i].offset >= end);
        end = d->links[i].offset + d->links[i].len;
    }
    require(end <= d->text.len);
}

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
    o.markup = 1;
    parser = nd_parser_new(&o, NULL);
    require(parser && copy);
    memcpy(copy, data, size);
    if (nd_parser_parse(parser, &source, (struct nd_view){copy, size}, &d, NULL, &bad) == 1) {
        struct nd_view title = d.fields[0].value;
        struct sum s = {0};

        sum_document(&s, &d);
        check_marks(&d);
        require(!memchr(d.text.data, 0, d.text.len));
        require(!title.data ||
                (title.len <= d.text.len && memcmp(title.data, d.text.data, title.len) == 0));
    }
    nd_parser_free(parser);
    free(copy);
    return 0;
}
