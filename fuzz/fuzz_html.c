/* fuzz_html.c - any bytes are a page: its text is valid, its title is the first line, its elements
 * are a tree
 */
#include "fuzz_input.h"

#include <neardup/feature.h>

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

/* The text without boilerplate is no longer than the whole text, and its marks fit, too. */
static void check_content(struct nd_input_options o, const char *page, size_t size, size_t whole)
{
    struct nd_source source = {.path = "page", .format = ND_FORMAT_HTML};
    struct nd_parser *parser;
    struct nd_bad_record bad;
    struct nd_document d;
    struct sum s = {0};

    o.boilerplate = ND_BOILERPLATE_DROP;
    parser = nd_parser_new(&o, NULL);
    require(parser != NULL);
    require(nd_parser_parse(parser, &source, (struct nd_view){page, size}, &d, NULL, &bad) == 1);
    require(d.text.len <= whole);
    sum_document(&s, &d);
    check_marks(&d);
    nd_parser_free(parser);
}

/* Every element comes after its parent, and has a path. */
static void check_elements(const struct nd_document *d)
{
    struct nd_feature_params p = nd_feature_params_default();
    struct nd_weight_params w = nd_weight_params_default();
    struct nd_features made;
    struct nd_featurer *f;
    char *text = NULL;
    size_t len;

    for (size_t i = 0; i < d->n_elements; i++) {
        const struct nd_element *e = &d->elements[i];

        require(e->parent == ND_ELEMENT_NONE || e->parent < i);
        require(e->name.len > 0 && nd_utf8_valid(e->name.data, e->name.len));
        require(!memchr(e->name.data, '/', e->name.len) &&
                !memchr(e->name.data, '\n', e->name.len));
    }
    p.unit = ND_FEATURE_PATHS;
    f = nd_featurer_new(&p, &w, NULL, NULL);
    require(f && nd_featurer_explain(f, d, &text, &len, &made) == ND_OK);
    require(made.n_tokens == d->n_elements && made.count <= d->n_elements);
    require((made.count > 0) == (d->n_elements > 0));
    free(text);
    nd_featurer_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const fields[] = {"title", "canonical", "date", "language", "og:type"};
    struct nd_input_options o = nd_input_options_default();
    struct nd_source source = {.path = "page", .format = ND_FORMAT_HTML};
    struct nd_parser *parser;
    struct nd_bad_record bad;
    struct nd_document d;
    char *copy = calloc(1, size + 64);

    o.fields = fields;
    o.n_fields = 5;
    o.markup = o.elements = 1;
    parser = nd_parser_new(&o, NULL);
    require(parser && copy);
    memcpy(copy, data, size);
    if (nd_parser_parse(parser, &source, (struct nd_view){copy, size}, &d, NULL, &bad) == 1) {
        struct nd_view title = d.fields[0].value;
        struct sum s = {0};

        sum_document(&s, &d);
        check_marks(&d);
        check_elements(&d);
        check_content(o, copy, size, d.text.len);
        require(!memchr(d.text.data, 0, d.text.len));
        require(!title.data ||
                (title.len <= d.text.len && memcmp(title.data, d.text.data, title.len) == 0));
    }
    nd_parser_free(parser);
    free(copy);
    return 0;
}
