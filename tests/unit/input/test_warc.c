/* test_warc.c - web archives: which records are documents, their fields, wrong lengths, damage */
#include "input_fixture.h"

#include "input/formats/web_cut.h"
#include "input/formats/web_record.h"

/* ---- Archives made for a test ---- */

static struct nd_buffer made;

/* A record whose head states the length of its content, and `off` more. */
static void add(const char *type, const char *fields, const char *content, int off)
{
    put(&made, "WARC/1.0\r\nWARC-Type: %s\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n", type, fields,
        (int)strlen(content) + off, content);
}

#define URI(u) "WARC-Target-URI: " u "\r\n"
#define OK_HTML "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"

static void add_page(const char *fields, const char *body)
{
    char content[4000];

    (void)snprintf(content, sizeof content, OK_HTML "%s", body);
    add("response", fields, content, 0);
}

static void write_made(const char *path)
{
    write_file(path, made.data ? made.data : "", made.len);
    made.len = 0;
}

static struct nd_input_options with_fields(void)
{
    static const char *const fields[] = {"url",  "site",      "date",  "status",
                                         "type", "truncated", "title", "server"};
    struct nd_input_options o = nd_input_options_default();

    o.fields = fields;
    o.n_fields = sizeof fields / sizeof *fields;
    return o;
}

/* ---- Documents ---- */

static void pages_and_texts_are_documents_with_fields(void **state)
{
    struct nd_input_options o = with_fields();

    (void)state;
    add("warcinfo", "", "software: x\r\n", 0);
    add("response",
        URI("http://A.org:80/x") "WARC-Date: 2024-01-02T03:04:05Z\r\nWARC-Truncated: length\r\n",
        "HTTP/1.1 404 Not Found\r\nServer: s\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
        "<title>T</title><p>gone",
        0);
    add("resource", URI("ftp://b/c.txt") "Content-Type: text/plain\r\n", "plain <b>\n", 0);
    add("conversion", URI("http://c/") "Content-Type: text/plain\r\n", "a WET text", 0);
    write_made("a.warc");
    expect(&o, "a.warc",
           "a.warc:71['http://A.org:80/x']{T\ngone} url=http://A.org:80/x site=a.org "
           "date=2024-01-02T03:04:05Z status=404 type=text/html truncated=length title=T server=s\n"
           "a.warc:322['ftp://b/c.txt']{plain <b>\n} url=ftp://b/c.txt site=b date=- status=- "
           "type=text/plain truncated=- title=- server=-\n"
           "a.warc:447['http://c/']{a WET text} url=http://c/ site=c date=- status=- "
           "type=text/plain truncated=- title=- server=-\n",
           "");
}

static void what_is_no_text_is_left_out_and_counted(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    add("response", URI("http://a/i"), "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\nxyz", 0);
    add("response", URI("http://a/j"), "HTTP/1.1 200 OK\r\n\r\n\x89PNG\r\n\x1A\nrest", 0);
    add("response", URI("http://a/s"), "HTTP/1.1 200 OK\r\nContent-Type: text/css\r\n\r\na{}", 0);
    add("response", URI("http://a/r"), "HTTP/1.1 301 Moved\r\nLocation: /\r\n\r\n", 0);
    add("revisit", URI("http://a/v"), OK_HTML, 0);
    add("continuation", URI("http://a/v"), "more", 0);
    add("response", URI("http://a/p"), "HTTP/1.1 200 OK\r\n\r\n<html>a page", 0);
    add("response", URI("http://a/t"), "HTTP/1.1 200 OK\r\n\r\na text", 0);
    add("response", URI("http://a/n"), "no head of an answer", 0);
    write_made("l.warc");
    expect(&o, "l.warc",
           "l.warc:726['http://a/p']{a page}\nl.warc:843['http://a/t']{a text}\n"
           "l.warc:954['http://a/n']{no head of an answer}\n",
           "note: left out 6 records of web archives: 4 are neither page nor plain text, 2 have no "
           "body\n");
}

static void bodies_that_are_not_what_they_are_called_are_bad(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    add_page(URI("http://a/1"), "%PDF-1.4 ...");
    add("response", URI("http://a/2"),
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08", 0);
    add("response", URI("http://a/3"), "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\na?b", 0);
    made.data[made.len - 6] = 0;
    add("conversion", URI("http://a/4") "Content-Type: text/plain\r\n", "a?b", 0);
    made.data[made.len - 6] = 0;
    write_made("n.warc");
    expect(&o, "n.warc",
           "n.warc:1 bad: the body of type text/html is a PDF file\n"
           "n.warc:143 bad: the body is not text\n"
           "n.warc:275 bad: the body of type text/plain has a NUL byte near its start\n"
           "n.warc:409['http://a/4']{a}\n",
           "");
}

static void requests_and_metadata_stay_with_their_response(void **state)
{
    struct reading r = {0};
    struct nd_input_options o = nd_input_options_default();
    struct nd_buffer whole = {0};

    (void)state;
    add("request", URI("http://a/"), "GET / HTTP/1.1\r\n\r\n", 0);
    add_page(URI("http://a/"), "one");
    add("metadata", URI("http://a/"), "m: 1\r\n", 0);
    add("request", URI("http://b/") "WARC-Record-ID: <q>\r\n", "GET / HTTP/1.1\r\n\r\n", 0);
    add_page(URI("http://b/x") "WARC-Record-ID: <b>\r\nWARC-Concurrent-To: <q>\r\n", "two");
    add_page(URI("http://c/") "WARC-Record-ID: <c>\r\n", "three");
    add("request", URI("http://c/") "WARC-Concurrent-To: <c>\r\n", "GET / HTTP/1.1\r\n\r\n", 0);
    assert_true(nd_buffer_append(&whole, made.data, made.len));
    /* These are about nothing that stands beside them. */
    add("request", URI("http://c/"), "GET / HTTP/1.1\r\n\r\n", 0);
    add("metadata", URI("http://d/"), "m: 1\r\n", 0);
    write_made("q.warc");
    read_all(&r, (const char *const[]){"q.warc", NULL}, &o, 1 << 20, 1000);
    assert_int_equal(r.n_records, 3);
    assert_int_equal(r.n_bad, 0);
    assert_int_equal(r.records.len, whole.len);
    assert_memory_equal(r.records.data, whole.data, whole.len);
    close_reading(&r);
    nd_buffer_release(&whole);
}

static void texts_of_WAT_are_those_of_responses(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    add("metadata", URI("http://a/") "Content-Type: application/json\r\n",
        "{\"Envelope\":{\"WARC-Type\":\"request\"}}", 0);
    add("metadata", URI("http://a/") "Content-Type: application/json\r\n",
        "{\"Envelope\":{\"WARC-Type\":\"response\"}}", 0);
    write_made("x.warc.wat");
    expect(&o, "x.warc.wat",
           "x.warc.wat:154['http://a/']{{\"Envelope\":{\"WARC-Type\":\"response\"}}}\n",
           "note: left out 1 record of web archives: 1 is neither page nor plain text\n");
}

/* ---- Bodies ---- */

static void charsets_come_from_the_head_the_page_or_a_guess(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    add("response", URI("http://a/1"),
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=\"koi8-r\"\r\n\r\n"
        "<meta charset=utf-8>\xC1",
        0);
    add_page(URI("http://a/2"), "<meta charset=koi8-r>\xC1");
    add_page(URI("http://a/3"), "\xC3\xA9");
    add_page(URI("http://a/4"), "\xE9");
    write_made("c.warc");
    expect(&o, "c.warc",
           "c.warc:1['http://a/1']{а}\nc.warc:170['http://a/2']{а}\n"
           "c.warc:322['http://a/3']{é}\nc.warc:454['http://a/4']{é}\n",
           "");
}

static void add_packed(const char *uri, const char *heads, const char *file)
{
    size_t len;
    char *body = slurp(file, &len), head[300];
    int n =
        snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n%s\r\n", heads);

    put(&made, "WARC/1.1\nWARC-Type: response\nWARC-Target-URI: %s\nContent-Length: %zu\n\n%s", uri,
        (size_t)n + len, head);
    assert_true(nd_buffer_append(&made, body, len));
    put(&made, "\n\n");
    free(body);
}

static bool has_brotli(void)
{
    struct nd_input_library row;
    bool has = false;

    for (size_t i = 0; nd_input_library(i, &row); i++)
        has |= strcmp(row.name, "libbrotlidec") == 0 && !row.missing;
    return has;
}

static void bodies_are_unpacked_if_they_are_packed(void **state)
{
    struct nd_input_options o = nd_input_options_default();
    struct reading r = {0};

    (void)state;
    run("printf 'some words' > plain; printf '5\\r\\nsome "
        "\\r\\n5;x=1\\r\\nwords\\r\\n0\\r\\n\\r\\n' "
        "> chunked; gzip -n < plain > gz; head -c 18 gz > clipped; python3 -c \"import zlib,sys; "
        "sys.stdout.buffer.write(zlib.compress(b'some words'))\" > zlib; tail -c +3 zlib | head -c "
        "-4 > raw; (printf '%x\\r\\n' $(stat -c %s gz); cat gz; printf '\\r\\n0\\r\\n\\r\\n') > "
        "both; printf '2\\r\\nis a word' > hex; zstd -q < plain > zst; printf "
        "'\\213\\004\\200some words\\003' > br");
    add_packed("a:1", "Transfer-Encoding: chunked\r\n", "chunked");
    add_packed("a:2", "Transfer-Encoding: chunked\r\n", "plain");
    add_packed("a:3", "Content-Encoding: gzip\r\n", "gz");
    add_packed("a:4", "Content-Encoding: gzip\r\n", "plain");
    add_packed("a:5", "Content-Encoding: deflate\r\n", "zlib");
    add_packed("a:6", "Content-Encoding: deflate\r\n", "raw");
    add_packed("a:7", "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", "both");
    add_packed("a:8", "Transfer-Encoding: chunked\r\nContent-Encoding: x-gzip\r\n", "gz");
    add_packed("a:9", "", "gz");
    add_packed("a:a", "Transfer-Encoding: chunked\r\n", "hex");
    add_packed("a:b", "Content-Encoding: br\r\n", "plain");
    add_packed("a:c", "Content-Encoding: gzip\r\n", "clipped");
    add_packed("a:d", "Content-Encoding: zstd\r\n", "zst");
    add_packed("a:e", "Content-Encoding: br\r\n", has_brotli() ? "br" : "plain");
    write_made("p.warc");
    read_all(&r, (const char *const[]){"p.warc", NULL}, &o, 1 << 20, 1000);
    assert_int_equal(r.n_documents, 14);
    for (const char *p = r.log.data, *end; *p; p = end + 1) {
        const char *text = strchr(p, '{');

        end = strchr(p, '\n');
        if (strstr(p, "['a:a']") && strstr(p, "['a:a']") < end)
            end = strchr(end + 1, '\n'); /* two lines */
        else if (!strstr(p, "['a:c']"))
            assert_memory_equal(text, "{some words}", 12);
    }
    assert_non_null(strstr(r.log.data, "['a:a']{2\r\nis a word}"));
    assert_non_null(strstr(r.log.data, "['a:c']{some"));
    close_reading(&r);
}

/* ---- Heads and lengths that are wrong ---- */

/* Read five records, of which the middle one states a length that is `off`: its text. */
static void with_length_off(int off, const char *text, const char *expected)
{
    struct nd_input_options o = nd_input_options_default();
    struct reading r = {0};
    char want[100];

    add("conversion", URI("http://a/1") "Content-Type: text/plain\r\n", "one", 0);
    add("conversion", URI("http://a/2") "Content-Type: text/plain\r\n", text, off);
    add("conversion", URI("http://a/3") "Content-Type: text/plain\r\n", "three", 0);
    add("conversion", URI("http://a/4") "Content-Type: text/plain\r\n", text, off);
    write_made("off.warc");
    read_all(&r, (const char *const[]){"off.warc", NULL}, &o, 1 << 20, 1000);
    assert_int_equal(r.n_documents, 4);
    assert_int_equal(r.n_bad, 0);
    (void)snprintf(want, sizeof want, "['http://a/2']{%s}\n", expected);
    assert_non_null(strstr(r.log.data, want));
    (void)snprintf(want, sizeof want, "['http://a/4']{%s}\n", expected);
    assert_non_null(strstr(r.log.data, want));
    close_reading(&r);
}

static void wrong_lengths_cost_no_record(void **state)
{
    (void)state;
    with_length_off(-1, "some text\n", "some text");
    with_length_off(-2, "some text..", "some text..");
    with_length_off(-9, "some text..", "some text..");
    with_length_off(4, "some text", "some text\r\n\r\n");
    with_length_off(20, "some text", "some text");
    with_length_off(100000, "some text", "some text");
}

static void odd_heads_are_read(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    put(&made, "\r\n\nWARC/0.18\nWARC-Type: Response\nWARC-Target-URI: <http://a/é>\n"
               "Content-Type: text/plain\nContent-Length: 3\n\nabc\n\n"
               "WARC/1.1\r\nwarc-type:resource\r\nwarc-target-uri: http://b/\r\n"
               "content-type: text/plain\r\n\r\nno length\r\n\r\n"
               "WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/plain\r\n"
               "Content-Length: 11\r\n\r\nlast record");
    write_made("o.warc");
    expect(&o, "o.warc",
           "o.warc:4['http://a/é']{abc}\no.warc:114['http://b/']{no length}\no.warc:213{last "
           "record}\n",
           "");
}

static void damage_is_reported_and_the_rest_is_read(void **state)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_buffer head = {0};

    (void)state;
    add("conversion", URI("http://a/1") "Content-Type: text/plain\r\n", "one", 0);
    made.data[0] = 'V';
    add("conversion", URI("http://a/2") "Content-Type: text/plain\r\n", "two", 0);
    put(&head, "WARC/1.0\r\nX: ");
    for (int i = 0; i < 70; i++)
        put(&head, "%01000d", 7);
    put(&head, "\r\n\r\n");
    assert_true(nd_buffer_append(&made, head.data, head.len));
    put(&made, "WARC/1.0\r\nX: y\r\n");
    add("conversion", URI("http://a/3") "Content-Type: text/plain\r\n", "three", 0);
    add("conversion", URI("http://a/4") "Content-Type: text/plain\r\n", "cut sh", 4);
    made.len -= 4;
    write_made("d.warc");
    expect(&o, "d.warc",
           "d.warc:1 bad: no record begins here: 116 bytes are passed over\n"
           "d.warc:117['http://a/2']{two}\n"
           "d.warc:233 bad: no record begins here: 70017 bytes are passed over\n"
           "d.warc:70250 bad: no record begins here: 16 bytes are passed over\n"
           "d.warc:70266['http://a/3']{three}\n"
           "d.warc:70384 bad: a record ends after 6 of its 10 bytes\n",
           "");
    nd_buffer_release(&head);
}

/* ---- ARC ---- */

#define ARC_BEGIN                                                                                  \
    "filedesc://x.arc 0.0.0.0 20080619093439 text/plain 73\n1 0 CommonCrawl\n"                     \
    "URL IP-address Archive-date Content-type Archive-length\n\n"

static void both_versions_of_ARC_are_read(void **state)
{
    struct nd_input_options o = with_fields();

    (void)state;
    put(&made,
        ARC_BEGIN "http://a/ 1.2.3.4 20080509190241 text/html 63\n" OK_HTML "<title>T</title>x\n\n"
                  "http://a/a b 1.2.3.4 20080509190242 text/plain 7\nwrong length\n\n"
                  "http://a/i 1.2.3.4 20080509190242 image/gif 3\nabc\n"
                  "http://b/ 1.2.3.4 20080509190243 no-type 200 - - 5 x.arc 6\nclippe");
    write_made("x.arc");
    expect(&o, "x.arc",
           "x.arc:128['http://a/']{T\nx} url=http://a/ site=a date=2008-05-09T19:02:41Z status=200 "
           "type=text/html truncated=- title=T server=-\n"
           "x.arc:237['http://a/a b']{wrong length\n} url=http://a/a b site=a "
           "date=2008-05-09T19:02:42Z status=- type=text/plain truncated=- title=- server=-\n"
           "x.arc:350['http://b/']{clippe} url=http://b/ site=b date=2008-05-09T19:02:43Z status=- "
           "type=no-type truncated=- title=- server=-\n",
           "note: left out 1 record of web archives: 1 is neither page nor plain text\n");
}

/* ---- Any division into pieces ---- */

/* Some of all that can be wrong, in one file. */
static void make_all_kinds(void)
{
    add("warcinfo", "", "software: x\r\n", 0);
    add("request", URI("http://a/"), "GET / HTTP/1.1\r\n\r\n", 0);
    add_page(URI("http://a/"), "<title>one</title>two");
    add("metadata", URI("http://a/"), "m: 1\r\n", 0);
    add_page(URI("http://b/"), "b\r\nWARC/1.0\r\nin a page\r\n\r\n");
    made.len -= 2;
    put(&made, "damage\nWARC/1\nWARC/\n");
    add_page(URI("http://c/"), "c");
    add("response", URI("http://a/i"), "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\nxyz", -2);
    add("conversion", URI("http://d/") "Content-Type: text/plain\r\n", "stale", 90);
    add("conversion", URI("http://e/") "Content-Type: text/plain\r\n", "end", 0);
    made.len -= 3;
}

static void any_pieces_give_the_same_records(void **state)
{
    static const size_t max_bytes[] = {1, 100, 300, 1 << 16};
    struct nd_input_options o = nd_input_options_default();
    struct reading whole = {0};

    (void)state;
    make_all_kinds();
    write_made("k.warc");
    read_all(&whole, (const char *const[]){"k.warc", NULL}, &o, 1 << 20, 1000);
    assert_int_equal(whole.n_documents, 4);
    assert_int_equal(whole.n_bad, 2);
    for (size_t i = 0; i < sizeof max_bytes / sizeof *max_bytes; i++) {
        struct reading r = {0};

        read_all(&r, (const char *const[]){"k.warc", NULL}, &o, max_bytes[i], i ? 1000 : 1);
        assert_log(&r, whole.log.data);
        assert_problems(&r, whole.problems.data);
        close_reading(&r);
    }
    close_reading(&whole);
}

/* Cut the bytes as they come one by one, and as they come at once: the same. */
static void byte_by_byte(const struct nd_cut *cut)
{
    struct nd_cutter slow = {.cut = cut}, fast = {.cut = cut};
    size_t from = 0, at = 0;

    while (from < made.len) {
        enum nd_cut_answer a = ND_CUT_MORE, b;
        size_t len = 0, fast_len = 0;

        for (at = from + 1; a == ND_CUT_MORE; at++)
            a = nd_cut_next(&slow, made.data + from, at - from, at == made.len, &len);
        b = nd_cut_next(&fast, made.data + from, made.len - from, true, &fast_len);
        if (a == ND_CUT_BLANK && len < fast_len) { /* blank lines */
            fast = (struct nd_cutter){.cut = cut};
        } else {
            assert_int_equal(a, b);
            assert_int_equal(len, fast_len);
            assert_int_equal(slow.not_text, fast.not_text);
            assert_int_equal(slow.no_body, fast.no_body);
        }
        from += len;
    }
    assert_int_equal(from, made.len);
    made.len = 0;
}

static void single_bytes_give_the_same_records(void **state)
{
    (void)state;
    make_all_kinds();
    byte_by_byte(&nd_cut_warc);
    put(&made, ARC_BEGIN "http://a/ 1.2.3.4 20080509190241 text/html 3\nabc\n\n\n"
                         "http://b/ 1.2.3.4 20080509190241 text/plain 3\nwrong\nhttp://\n"
                         "http://c/ 1.2.3.4 20080509190241 text/plain 30\nwrong\n"
                         "http://d/ 1.2.3.4 20080509190241 image/png 3\nabc\nhttp:");
    byte_by_byte(&nd_cut_arc);
}

static void long_images_are_passed_over(void **state)
{
    enum { LONG = 5 << 20 };
    struct nd_input_options o = nd_input_options_default();
    char *body = calloc(1, LONG);

    (void)state;
    assert_non_null(body);
    put(&made,
        "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n"
        "HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n",
        LONG + 44);
    assert_true(nd_buffer_append(&made, body, LONG));
    put(&made, "\r\n\r\n");
    add("conversion", URI("http://a/") "Content-Type: text/plain\r\n", "behind", 0);
    write_file("cut.warc", made.data, 3 << 20);
    write_made("v.warc");
    expect(&o, "v.warc", "v.warc:5242987['http://a/']{behind}\n",
           "note: left out 1 record of web archives: 1 is neither page nor plain text\n");
    expect(&o, "cut.warc", "",
           "failed: cut.warc:3145729: its last record is cut short; the 0 records before it were "
           "read, the rest is lost\n"
           "note: left out 1 record of web archives: 1 is neither page nor plain text\n");
    free(body);
}

static void archives_are_known_by_their_first_bytes(void **state)
{
    (void)state;
#define LOOKS(dialect, text) nd_web_looks_like(dialect, text, sizeof(text) - 1)
    assert_true(LOOKS(ND_WEB_WARC, "WARC/1.0\r\n"));
    assert_true(LOOKS(ND_WEB_WARC, "WARC/0.18\n"));
    assert_false(LOOKS(ND_WEB_WARC, "WARC/1.0"));
    assert_false(LOOKS(ND_WEB_WARC, "WARC/1.0 is the version that crawlers write.\n"));
    assert_false(LOOKS(ND_WEB_WARC, "WARC/\n"));
    assert_true(LOOKS(ND_WEB_ARC, "filedesc://x.arc 0.0.0.0 20080619093439 text/plain 73\n"));
    assert_false(LOOKS(ND_WEB_ARC, "http://x 0.0.0.0 20080619093439 text/plain 73\n"));
    assert_false(LOOKS(ND_WEB_ARC, "filedesc://x.arc is a file\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_and_texts_are_documents_with_fields),
        cmocka_unit_test(what_is_no_text_is_left_out_and_counted),
        cmocka_unit_test(bodies_that_are_not_what_they_are_called_are_bad),
        cmocka_unit_test(requests_and_metadata_stay_with_their_response),
        cmocka_unit_test(texts_of_WAT_are_those_of_responses),
        cmocka_unit_test(charsets_come_from_the_head_the_page_or_a_guess),
        cmocka_unit_test(bodies_are_unpacked_if_they_are_packed),
        cmocka_unit_test(wrong_lengths_cost_no_record),
        cmocka_unit_test(odd_heads_are_read),
        cmocka_unit_test(damage_is_reported_and_the_rest_is_read),
        cmocka_unit_test(both_versions_of_ARC_are_read),
        cmocka_unit_test(any_pieces_give_the_same_records),
        cmocka_unit_test(single_bytes_give_the_same_records),
        cmocka_unit_test(long_images_are_passed_over),
        cmocka_unit_test(archives_are_known_by_their_first_bytes),
    };
    int failed = cmocka_run_group_tests(tests, fixture_enter, fixture_leave);

    nd_buffer_release(&made);
    return failed;
}
