/* test_http_framing.c - where requests begin and end, however their bytes arrive */
#include "server/wire/framing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define CHUNKED "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

enum { HEAD_BYTES = 200 };

/* The bytes that pass of those that arrive `step` at a time, and are taken `taken` at a time. */
struct passed {
    struct nd_framing framing;
    char text[1024];
    size_t len;
};

static void put(struct passed *p, const char *data, size_t len, size_t step, size_t taken)
{
    size_t n;

    p->len = 0;
    nd_framing_init(&p->framing, HEAD_BYTES);
    for (size_t at = 0; at < len; at += step) {
        assert_true(nd_framing_put(&p->framing, data + at, step < len - at ? step : len - at));
        while ((n = nd_framing_take(&p->framing, p->text + p->len, taken)) > 0)
            p->len += n;
    }
    nd_framing_release(&p->framing);
}

/* `passes` is what passes, and `refused` which request is refused, for every step. */
static void check(const char *data, size_t len, const char *passes, uint64_t refused,
                  enum nd_refusal refusal)
{
    for (size_t step = 1; step <= len; step++) {
        struct passed p;

        put(&p, data, len, step, step % 7 + 1);
        assert_int_equal(p.len, strlen(passes));
        assert_memory_equal(p.text, passes, p.len);
        assert_int_equal(p.framing.refused, refused);
        assert_int_equal(p.framing.refusal, refusal);
        assert_int_equal(p.framing.detail[0] != 0, refused > 0);
    }
}

static void check_text(const char *text, const char *passes, uint64_t refused)
{
    check(text, strlen(text), passes, refused, refused ? ND_REFUSAL_MALFORMED : ND_REFUSAL_NONE);
}

static void well_formed_requests_pass_as_they_are(void **state)
{
    static const char *const good[] = {
        GET GET GET,
        "\r\n\r\n" GET "\r\n" GET,
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\na\nb\r\n" GET,
        "GET / HTTP/1.0\r\n\r\n" GET,
        CHUNKED "5\r\na\r\nbc\r\n00Ab;x\r\n" /* 171 bytes follow */,
        CHUNKED "1;a=\"b\"\r\nx\r\n0;c\r\nX: y\r\nY:\r\n\r\n" GET,
        CHUNKED "0\r\n\r\n" CHUNKED "2\r\nab\r\n0\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        check_text(good[i], good[i], 0);
}

static void a_part_of_a_head_waits(void **state)
{
    struct passed p;

    (void)state;
    for (size_t cut = 1; cut < sizeof GET - 1; cut++) {
        put(&p, GET GET, sizeof GET - 1 + cut, 5, 9);
        assert_int_equal(p.len, sizeof GET - 1);
        assert_int_equal(p.framing.heads, 1);
    }
}

static void a_malformed_head_becomes_another_and_nothing_follows(void **state)
{
    static const char *const bad[] = {
        "GET / HTTP/1.1\nHost: a\r\n\r\n" GET,
        "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\n" GET,
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1,1\r\n\r\n" GET,
        "GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n" GET,
        "GET / HTTP/1.1\r\n\r\n" GET,
        "GET  / HTTP/1.1\r\nHost: a\r\n\r\n" GET,
        " / HTTP/1.1\r\nHost: a\r\n\r\n" GET};
    static const char with_zero[] = GET "GET / HTTP/1.1\r\nX: \0\r\nHost: a\r\n\r\n";
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        strcpy(text, GET);
        strcat(text, bad[i]);
        check_text(text, GET "GET / HTTP/1.0\r\n\r\n", 2);
    }
    check(with_zero, sizeof with_zero - 1, GET "GET / HTTP/1.0\r\n\r\n", 2, ND_REFUSAL_MALFORMED);
}

static void a_malformed_chunk_ends_the_body(void **state)
{
    (void)state;
    check_text(CHUNKED "1\nx\r\n0\r\n\r\n" GET, CHUNKED "0\r\n\r\n", 1);
    check_text(CHUNKED "1\r\nx\n0\r\n\r\n" GET, CHUNKED "1\r\nx\r\n0\r\n\r\n", 1);
    check_text(CHUNKED "1\r\nx\r\n1\nx", CHUNKED "1\r\nx\r\n0\r\n\r\n", 1);
    check_text(CHUNKED "1\r\nx\r\n0\n\r\n", CHUNKED "1\r\nx\r\n0\r\n\r\n", 1);
    check_text(CHUNKED "1\r\nx\r\n0\r\nX: y\n\r\n", CHUNKED "1\r\nx\r\n0\r\n\r\n", 1);
    check_text(CHUNKED "1\r\nx\r\n0\r\nX : y\r\n\r\n", CHUNKED "1\r\nx\r\n0\r\n\r\n", 1);
}

static void heads_have_a_length_and_lines_too(void **state)
{
    char text[600] = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
    size_t len = strlen(text);

    (void)state;
    memset(text + len, 'x', HEAD_BYTES - len - 4);
    strcpy(text + HEAD_BYTES - 4, "\r\n\r\n");
    check_text(text, text, 0);
    strcpy(text + HEAD_BYTES - 4, "x\r\n\r\n");
    check(text, HEAD_BYTES + 1, "GET / HTTP/1.0\r\n\r\n", 1, ND_REFUSAL_LONG_HEAD);
    memset(text, 'x', HEAD_BYTES + 1);
    check(text, HEAD_BYTES + 1, "GET / HTTP/1.0\r\n\r\n", 1, ND_REFUSAL_LONG_ADDRESS);
    check(text, HEAD_BYTES, "", 0, ND_REFUSAL_NONE);
}

static void cookies_get_another_name(void **state)
{
    (void)state;
    check_text("GET / HTTP/1.1\r\nCookie: a\r\ncookie:\r\nHost: cookie: b\r\n\r\n",
               "GET / HTTP/1.0\r\n\r\n", 1); /* the Host is none */
    check_text("GET / HTTP/1.1\r\nCookie: a\r\ncookie:\r\nHost: a\r\n\r\n",
               "GET / HTTP/1.1\r\nXookie: a\r\nXookie:\r\nHost: a\r\n\r\n", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_requests_pass_as_they_are),
        cmocka_unit_test(a_part_of_a_head_waits),
        cmocka_unit_test(a_malformed_head_becomes_another_and_nothing_follows),
        cmocka_unit_test(a_malformed_chunk_ends_the_body),
        cmocka_unit_test(heads_have_a_length_and_lines_too),
        cmocka_unit_test(cookies_get_another_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
