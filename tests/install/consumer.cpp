/* consumer.cpp - a C++ program outside the tree that reads a file with the installed library */
#include <neardup.h>
#include <neardup/input.h>

#include <cstdio>

static void report(void *, const nd_problem *problem)
{
    std::fprintf(stderr, "%s\n", problem->message);
}

/* Prints the id and the text of each document of the file named. */
int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    const char *const paths[] = {argv[1]};
    const nd_input_options options = nd_input_options_default();
    nd_error err;
    nd_input *input = nd_input_open(paths, 1, &options, report, nullptr, &err);
    nd_parser *parser = nd_parser_new(&options, &err);
    nd_batch batch = {};
    int status = 1;

    while (input && parser && (status = nd_input_read(input, 1 << 20, 100, &batch, &err)) == 1)
        for (std::size_t i = 0; i < batch.count; i++) {
            const nd_record &record = batch.records[i];
            nd_document document;
            nd_bad_record bad;
            uint64_t repaired = 0;

            if (nd_parser_parse(parser, nd_input_source(input, record.source), record.bytes,
                                &document, &repaired, &bad) == 1)
                std::printf("%.*s: %.*s\n", static_cast<int>(document.id.len), document.id.data,
                            static_cast<int>(document.text.len), document.text.data);
            nd_parser_reset(parser);
        }
    nd_batch_release(&batch);
    nd_parser_free(parser);
    nd_input_close(input);
    return status == 0 ? 0 : 1;
}
