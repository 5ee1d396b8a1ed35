/* test_input_memory.c - every allocation made to fail once: an error, no crash, no leak */
#define _GNU_SOURCE
#include "failing_wraps.h"
#include "input_fixture.h"

static void ignore(void *context, const struct nd_problem *problem)
{
    (void)context;
    (void)problem;
}

static int parse_batch(struct nd_input *input, struct nd_parser *parser,
                       const struct nd_batch *batch)
{
    char *again = NULL;
    size_t capacity = 0;
    int status = 0;

    for (size_t i = 0; i < batch->count && status >= 0; i++) {
        const struct nd_record *r = &batch->records[i];
        const struct nd_source *s = nd_input_source(input, r->source);
        struct nd_document d;
        struct nd_bad_record bad;

        status = nd_parser_parse(parser, s, r->bytes, &d, NULL, &bad);
        if (status >= 0 && s->is_rereadable)
            status =
                nd_input_reread(input, r->source, r->offset, r->bytes.len, &again, &capacity, NULL);
    }
    free(again);
    nd_parser_reset(parser);
    return status;
}

/* All of it once, as a program would; returns 0 or the error. */
static int read_once(const char *const *paths, size_t n, const struct nd_input_options *o)
{
    struct nd_error err = {ND_OK, ""};
    struct nd_input *input = nd_input_open(paths, n, o, ignore, NULL, &err);
    struct nd_parser *parser = input ? nd_parser_new(o, &err) : NULL;
    struct nd_batch batch = {0};
    int status = parser ? 1 : (int)err.status;

    while (status > 0) {
        status = nd_input_read(input, 1 << 16, 10, &batch, &err);
        if (status > 0 && parse_batch(input, parser, &batch) < 0)
            status = ND_ENOMEM;
    }
    nd_batch_release(&batch);
    nd_parser_free(parser);
    nd_input_close(input);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    static const char *const paths[] = {"dir",       "a.jsonl.gz", "b.csv",  "c.html", "d.tar",
                                        "e.txt.zst", "f.mbox",     "g.warc", "h.rss"};
    enum { PATHS = sizeof paths / sizeof *paths };
    struct nd_input_options o = nd_input_options_default();
    long all = 0;

    (void)state;
    o.fields = (const char *const[]){"id"};
    o.n_fields = 1;
    o.markup = 1;
    run("mkdir -p dir/sub; printf '{\"text\":\"\\\\n\\377\"}\\n' | tee dir/sub/x.jsonl | gzip > "
        "a.jsonl.gz; printf 'text,id\\n\"q\"\"q\",1\\n' > b.csv; printf '<meta "
        "charset=koi8-r><title>t</title><b>u<a href=v>\\320\\0' > c.html; tar cf d.tar a.jsonl.gz "
        "b.csv; printf "
        "'\\377\\376x\\0' | zstd -q > e.txt.zst");
    run("printf 'From a Mon Jan  1 10:00:00 2024\\nMessage-ID: <x>\\nContent-Type: "
        "multipart/mixed; boundary=b\\n\\n--b\\nContent-Type: text/plain; charset=koi8-r\\n\\n"
        "\\320\\n--b\\nContent-Type: text/html\\n\\n<p>p\\0<p>q\\377\\n--b--\\n' > f.mbox");
    run("(printf 'WARC/1.0\\nWARC-Type: response\\nWARC-Target-URI: http://a/\\377\\n"
        "Content-Length: 151\\n\\nHTTP/1.1 200 OK\\nContent-Type: text/html\\n"
        "Transfer-Encoding: chunked\\nContent-Encoding: gzip\\n\\n400\\n'; echo "
        "'<title>t</title>u' | gzip -n) > g.warc");
    run("printf '<?xml version=\"1.0\" encoding=\"koi8-r\"?><rss><channel><item><title>\\320 "
        "&amp;amp; "
        "u</title><category>a</category><category>b</category><guid>g</guid><description>&lt;p&gt;x"
        "</description></item></channel></rss>' > h.rss");
    for (;; all++) {
        int status;

        has_failed = 0;
        countdown = all;
        status = read_once(paths, PATHS, &o);
        countdown = -1;
        if (!has_failed) {
            assert_int_equal(status, 0);
            break;
        }
        if (status != ND_ENOMEM)
            fail_msg("allocation %ld failed, and the reading said %d", all, status);
    }
    assert_true(all > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};

    return cmocka_run_group_tests(tests, fixture_enter, fixture_leave);
}
