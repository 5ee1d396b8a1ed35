/* read_records.c - how fast the records of inputs are read: cut alone, or made documents, too */

/*
 * usage: read_records FILE [parse|content]
 *
 * Reads the records of a file on one thread, through decompression, and prints one object of JSON:
 * records, their bytes, those that are documents, seconds.  With `parse` each record is parsed, with
 * `content` pages without boilerplate.
 */
#define _POSIX_C_SOURCE 200809L
#include <neardup/input.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_batch batch = {0};
    unsigned long long records = 0, bytes = 0, documents = 0;
    double began = now();
    struct nd_parser *parser;
    struct nd_input *input;

    if (argc > 2 && strcmp(argv[2], "content") == 0)
        o.boilerplate = ND_BOILERPLATE_DROP;
    parser = nd_parser_new(&o, NULL);
    input = argc > 1 ? nd_input_open((const char *const *)argv + 1, 1, &o, NULL, NULL, NULL) : NULL;
    if (!input || !parser)
        return 2;
    while (nd_input_read(input, 1 << 20, 4096, &batch, NULL) == 1) {
        for (size_t i = 0; i < batch.count; i++) {
            const struct nd_record *r = &batch.records[i];
            struct nd_document d;
            struct nd_bad_record bad;

            records++;
            bytes += r->bytes.len;
            documents += argc > 2 && nd_parser_parse(parser, nd_input_source(input, r->source),
                                                     r->bytes, &d, NULL, &bad) == 1;
        }
        nd_parser_reset(parser);
    }
    printf("{\"records\": %llu, \"bytes\": %llu, \"documents\": %llu, \"seconds\": %.3f}\n",
           records, bytes, documents, now() - began);
    nd_batch_release(&batch);
    nd_input_close(input);
    nd_parser_free(parser);
    return 0;
}
