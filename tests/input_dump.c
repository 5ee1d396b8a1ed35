/* input_dump.c - what the records of a file are, in hexadecimal, for tests/oracle/{input,mail}.py;
 * of pages their elements too, each as its parent's number and its name; of html:content the text is
 * without boilerplate
 */
#include <neardup/input.h>

#include <stdio.h>
#include <string.h>

static void hex(struct nd_view v)
{
    putchar('\t');
    for (size_t i = 0; i < v.len; i++)
        printf("%02x", (unsigned char)v.data[i]);
}

static void dump(struct nd_input *input, struct nd_parser *parser, const struct nd_record *r)
{
    struct nd_document d;
    struct nd_bad_record bad;
    int status =
        nd_parser_parse(parser, nd_input_source(input, r->source), r->bytes, &d, NULL, &bad);

    printf("%d\t%s", (int)r->line, status == 1 ? "good" : "bad");
    if (status == 1) {
        printf("\t%d", (int)d.id_kind);
        hex(d.id);
        hex(d.text);
        for (size_t i = 0; i < d.n_elements; i++)
            printf("\t%d:%.*s", (int)d.elements[i].parent, (int)d.elements[i].name.len,
                   d.elements[i].name.data);
    }
    putchar('\n');
}

static void report(void *context, const struct nd_problem *problem)
{
    (void)context;
    printf("0\t%s\n", problem->kind == ND_PROBLEM_FAILED ? "failed" : "warning");
}

/* usage: input_dump FORMAT FILE… */
int main(int argc, char **argv)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_batch batch = {0};
    struct nd_parser *parser;
    struct nd_input *input;

    if (argc < 3)
        return 2;
    o.elements = 1;
    if (strcmp(argv[1], "html:content") == 0) {
        o.boilerplate = ND_BOILERPLATE_DROP;
        o.format = ND_FORMAT_HTML;
    }
    for (int i = ND_FORMAT_COUNT; i-- > 0 && o.format == ND_FORMAT_AUTO;)
        if (strcmp(argv[1], nd_format_word((enum nd_format)i)) == 0)
            o.format = (enum nd_format)i;
    input = nd_input_open((const char *const *)argv + 2, (size_t)argc - 2, &o, report, NULL, NULL);
    parser = nd_parser_new(&o, NULL);
    while (input && parser && nd_input_read(input, 5000, 100, &batch, NULL) > 0) {
        for (size_t i = 0; i < batch.count; i++)
            dump(input, parser, &batch.records[i]);
        nd_parser_reset(parser);
    }
    nd_batch_release(&batch);
    nd_parser_free(parser);
    nd_input_close(input);
    return 0;
}
