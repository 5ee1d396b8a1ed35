/* test_text_memory.c - every allocation of the text layer fails once: no crash, no leak, ND_ENOMEM
 */
#include "text/mail_quotes.h"
#include "text/places.h"
#include "text/text_stream.h"

#include <neardup/text.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_wraps.h"

enum { LEN = 70000 };
static char text[LEN];

/* A token longer than a window, then a starter with many marks out of order, then words. */
static void fill(void)
{
    memset(text, 'w', LEN);
    for (size_t i = 40000; i < 60000; i += 2)
        memcpy(text + i, i % 4 ? "\xCC\xA3" : "\xCC\x81", 2);
    for (size_t i = 60001; i < LEN; i += 5)
        text[i] = ' ';
}

static int repair(void)
{
    char *out;
    size_t len;
    int64_t n = nd_utf8_repair("a\xFF", 2, &out, &len);

    if (n > 0)
        free(out);
    return n < 0 ? (int)n : 0;
}

static int normalise(void)
{
    char *out;
    size_t len;
    int status = nd_text_normalise(text, LEN, &out, &len, NULL);

    if (status == ND_OK)
        free(out);
    return status;
}

static int list_tokens(void)
{
    struct nd_token *token;
    size_t n;
    int status = nd_text_tokens(text, LEN, &token, &n, NULL);

    if (status == ND_OK)
        free(token);
    return status;
}

static int list_places(void)
{
    struct nd_token *token;
    size_t n;
    int status = nd_token_places(text, LEN, &token, &n);

    if (status == ND_OK)
        free(token);
    return status;
}

static int list_tokens_in_place(void)
{
    struct nd_token *token;
    size_t n;
    int status = nd_tokens_in_place(text, LEN, &token, &n, NULL);

    if (status == ND_OK)
        free(token);
    return status;
}

static int list_code_places(void)
{
    struct nd_token *code;
    size_t n;
    int status = nd_code_places(text, LEN, &code, &n);

    if (status == ND_OK)
        free(code);
    return status;
}

static int measure(void)
{
    int64_t n = nd_text_length(text, LEN);

    return n < 0 ? (int)n : 0;
}

/* After a failure the same tokeniser takes the next text. */
static int tokenise(void)
{
    struct nd_tokeniser *t = nd_tokeniser_new();
    const uint64_t *hash;
    size_t n;
    int status;

    if (!t)
        return ND_ENOMEM;
    nd_tokeniser_start(t, text, LEN);
    while ((status = nd_tokeniser_next(t, &hash, &n)) == 1)
        ;
    nd_tokeniser_start(t, "again", 5);
    assert_int_equal(nd_tokeniser_next(t, &hash, &n), 1);
    assert_true(n == 1 && hash[0] == nd_token_hash("again", 5));
    nd_tokeniser_free(t);
    return status;
}

static int leave_quotes_out(void)
{
    static const char mail[] =
        "Re: x\none two three four five six seven eight nine ten\nAda wrote:\n> x\n";
    struct nd_mail_quotes quotes = {0};
    struct nd_view view = {mail, sizeof mail - 1};
    bool good = nd_mail_quotes_drop(&quotes, &view);

    assert_true(!good || view.len < sizeof mail - 1);
    nd_mail_quotes_release(&quotes);
    return good ? ND_OK : ND_ENOMEM;
}

static void every_allocation_may_fail(void **unused)
{
    static int (*const run[])(void) = {
        repair,           normalise, list_tokens, list_places,     list_tokens_in_place,
        list_code_places, measure,   tokenise,    leave_quotes_out};

    (void)unused;
    fill();
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        long n = 0;

        do {
            int status;

            has_failed = 0;
            countdown = n++;
            status = run[i]();
            countdown = -1;
            assert_int_equal(status, has_failed ? ND_ENOMEM : ND_OK);
        } while (has_failed);
        assert_true(n > 1); /* it does allocate */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
