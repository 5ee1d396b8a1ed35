/* test_text.c - UTF-8 repair, normalised text, tokens with their places */
#include <neardup/text.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_repairs(const char *text, size_t len, const char *want, int64_t count)
{
    char *out = NULL;
    size_t out_len = 0;

    assert_int_equal(nd_utf8_repair(text, len, &out, &out_len), count);
    assert_int_equal(nd_utf8_valid(text, len), count == 0);
    if (count == 0)
        return;
    assert_int_equal(out_len, strlen(want));
    assert_memory_equal(out, want, out_len);
    assert_true(nd_utf8_valid(out, out_len));
    free(out);
}

#define R "\xEF\xBF\xBD"

/* The examples of Unicode 15.0, tables 3-8 to 3-11, and more. */
static void maximal_subparts_become_one_replacement_each(void **unused)
{
    (void)unused;
    assert_repairs("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", 9, R R R R R R R R "A", 8);
    assert_repairs("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", 9, R R R R R R R R "A", 8);
    assert_repairs("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", 9, R R R R R "A" R R "B", 7);
    assert_repairs("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", 9, R R R R "A", 4);
    assert_repairs("abcdefgh\xFFijklmnop", 17, "abcdefgh" R "ijklmnop", 1);
    assert_repairs("\xE2\x82", 2, R, 1);
    assert_repairs("\xF0\x9F\x98", 3, R, 1);
    assert_repairs("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 9, NULL, 0);
    assert_repairs("", 0, NULL, 0);
    assert_repairs("a\0b", 3, NULL, 0);
}

/* Every string of up to 4 bytes out of those that matter, inside ASCII, against a plain decoder. */
static int valid_by_definition(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint32_t c;
        size_t len = p[i] < 0x80       ? 1
                     : p[i] >> 5 == 6  ? 2
                     : p[i] >> 4 == 14 ? 3
                     : p[i] >> 3 == 30 ? 4
                                       : 0;
        static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

        if (len == 0 || i + len > n)
            return 0;
        c = len == 1 ? p[i] : p[i] & (0x7Fu >> len);
        for (size_t k = 1; k < len; k++) {
            if (p[i + k] >> 6 != 2)
                return 0;
            c = c << 6 | (p[i + k] & 63);
        }
        if (c < least[len] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
            return 0;
        i += len;
    }
    return 1;
}

static void validity_is_that_of_the_definition(void **unused)
{
    static const uint8_t bytes[] = {'a',  0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
                                    0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED,
                                    0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
    enum { N = sizeof bytes };
    uint8_t text[200];

    (void)unused;
    for (size_t i = 0; i < (size_t)N * N * N * N; i++) {
        size_t at = i % 131;
        int want;

        memset(text, 'x', sizeof text);
        for (size_t k = 0, x = i; k < 4; k++, x /= N)
            text[at + k] = bytes[x % N];
        want = valid_by_definition(text + at, 4);
        assert_int_equal(nd_utf8_valid((char *)text + at, 4), want);
        assert_int_equal(nd_utf8_valid((char *)text, sizeof text), want);
        assert_int_equal(nd_utf8_valid((char *)text, at + 4), want);
    }
}

static void assert_normal(const char *text, const char *want)
{
    char *out;
    size_t len;
    int64_t codes = 0;

    assert_int_equal(nd_text_normalise(text, strlen(text), &out, &len, NULL), ND_OK);
    assert_int_equal(len, strlen(want));
    assert_memory_equal(out, want, len);
    for (size_t i = 0; i < len; i++)
        codes += ((uint8_t)out[i] & 0xC0) != 0x80;
    free(out);
    assert_int_equal(nd_text_length(text, strlen(text)), codes);
}

static void texts_normalise_as_defined(void **unused)
{
    (void)unused;
    assert_normal("", "");
    assert_normal("Hello, World", "hello, world");
    assert_normal("STRASSE Straße ﬁn ½ …", "strasse strasse fin 1⁄2 ...");
    assert_normal("e\xCC\x81 E\xCC\x81 É", "é é é"); /* U+0301 composes */
    assert_normal("co\xC2\xADoperate", "cooperate"); /* soft hyphen goes */
    assert_normal("e\xC2\xAD\xCC\x81", "e\xCC\x81"); /* but only at the end */
    assert_normal("Ἀθῆναι ᾼ", "ἀθῆναι αι");
    assert_normal("\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", "한"); /* conjoining jamo */
    assert_normal("ｶﾞ ① Ⅷ ㎏", "ガ 1 viii kg");
    assert_normal("q\xCC\x87\xCC\xA3", "q\xCC\xA3\xCC\x87"); /* canonical order */
    assert_normal("İ", "i\xCC\x87");
    assert_normal("ᾀ\xCC\xA3", "ἀι\xCC\xA3"); /* NFKC first: not NFKC_Casefold's order */
    assert_normal("\xF3\xA0\x80\xA0x", "x");  /* U+E0020 */
}

/* `want`: the tokens' pieces of the original, separated by '|'. */
static void assert_tokens(const char *text, const char *want)
{
    struct nd_token *token;
    size_t n;

    assert_int_equal(nd_text_tokens(text, strlen(text), &token, &n, NULL), ND_OK);
    for (size_t i = 0; i < n; i++) {
        size_t len = strcspn(want, "|");
        char *normal;
        size_t normal_len;

        assert_int_equal(token[i].len, len);
        assert_memory_equal(text + token[i].offset, want, len);
        assert_int_equal(nd_text_normalise(want, len, &normal, &normal_len, NULL), ND_OK);
        assert_true(token[i].hash == nd_token_hash(normal, normal_len));
        free(normal);
        want += len + (want[len] == '|');
    }
    assert_string_equal(want, "");
    free(token);
}

static void tokens_are_runs_of_letters_marks_and_numbers(void **unused)
{
    (void)unused;
    assert_tokens("", "");
    assert_tokens(" .,! ", "");
    assert_tokens("The quick_brown fox's 3.14", "The|quick|brown|fox|s|3|14");
    assert_tokens("x", "x");
    assert_tokens("Straße, co\xC2\xADop.", "Straße|co\xC2\xADop");
    assert_tokens("नमस्ते दुनिया", "नमस्ते|दुनिया");
    assert_tokens("السَّلَامُ عليكم", "السَّلَامُ|عليكم");
    assert_tokens("대한민국 만세", "대한민국|만세");
}

static void scripts_without_spaces_become_bigrams(void **unused)
{
    (void)unused;
    assert_tokens("日本語", "日本|本語");
    assert_tokens("日", "日");
    assert_tokens("日。本", "日|本");
    assert_tokens("abc日本語def", "abc|日本|本語|def");
    assert_tokens("日a本", "日|a|本");
    assert_tokens("สวัสดี", "สว|วั|ัส|สด|ดี");
    assert_tokens("東京タワー2", "東京|京タ|タワ|ワー|2");
    assert_tokens("ｶﾞｽ", "ｶﾞｽ"); /* half-width: が and ス, one bigram of the folded forms */
    assert_tokens("한글日本", "한글|日本");
    assert_tokens("日\xE2\x80\x8B本", "日\xE2\x80\x8B本"); /* a zero-width space is ignorable */
}

/* A text of some pieces, of which most are not valid UTF-8 or become so side by side. */
static size_t some_text(char *out, unsigned n, unsigned seed)
{
    static const char *const piece[] = {"a", "\xEA", "\xE8", "\xE1\x80", "\x80", "\xC3", "\xA9", R};
    size_t len = 0;

    for (unsigned i = 0; i < n; i++, seed /= 8) {
        size_t more = strlen(piece[seed % 8]);

        memcpy(out + len, piece[seed % 8], more);
        len += more;
    }
    return len;
}

static void repaired_texts_are_told_apart_as_they_were_before(void **state)
{
    enum { PIECES = 3, TEXTS = 8 * 8 * 8 };

    (void)state;
    for (unsigned i = 0; i < TEXTS; i++)
        for (unsigned j = 0; j < TEXTS; j++) {
            char a[16], b[16], *x = a, *y = b;
            size_t n_a = some_text(a, PIECES, i), n_b = some_text(b, PIECES, j);
            size_t n_x = n_a, n_y = n_b;
            int64_t in_a = nd_utf8_repair(a, n_a, &x, &n_x),
                    in_b = nd_utf8_repair(b, n_b, &y, &n_y);
            bool same = n_a == n_b && memcmp(a, b, n_a) == 0;
            bool same_repaired = n_x == n_y && memcmp(x, y, n_x) == 0;

            assert_int_equal(nd_utf8_replaced(a, n_a) != 0, in_a > 0);
            if (same_repaired)
                assert_int_equal(nd_utf8_replaced(a, n_a) == nd_utf8_replaced(b, n_b), same);
            if (in_a > 0)
                free(x);
            if (in_b > 0)
                free(y);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repaired_texts_are_told_apart_as_they_were_before),
        cmocka_unit_test(maximal_subparts_become_one_replacement_each),
        cmocka_unit_test(validity_is_that_of_the_definition),
        cmocka_unit_test(texts_normalise_as_defined),
        cmocka_unit_test(tokens_are_runs_of_letters_marks_and_numbers),
        cmocka_unit_test(scripts_without_spaces_become_bigrams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
