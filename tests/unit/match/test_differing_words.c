/* test_differing_words.c - what differs between two texts: tests/cli/differs_model.py has the random ones */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include <neardup/compare.h>

static struct nd_view view_of(const char *text)
{
    return (struct nd_view){text, strlen(text)};
}

/* Join the words of one side by spaces. */
static const char *words_of(const struct nd_difference *d, unsigned side, char out[static 400])
{
    size_t at = 0;

    out[0] = '\0';
    for (size_t i = 0; i < d->only[side] && i < ND_DIFFERENCE_WORDS_MAX; i++)
        at += (size_t)snprintf(out + at, 400 - at, "%s%.*s", i ? " " : "",
                               (int)d->word[side][i].len, d->word[side][i].data);
    return out;
}

static void every_class_of_words_has_its_name(void **state)
{
    static const struct {
        const char *a, *b, *in, *only_a, *only_b;
    } rows[] = {
        {"", "", "nothing", "", ""},
        {"One two, three.", "one TWO three", "nothing", "", ""},
        {"one two three", "three two one", "order", "", ""},
        {"one two two", "one two", "order", "", ""},
        {"room 12", "room 13", "numbers", "12", "13"},
        {"version v2 of it", "version v3 of it", "numbers", "v2", "v3"},
        {"chapter ٣", "chapter ٤", "numbers", "٣", "٤"},
        {"on 3 March at noon", "on 4 April at noon", "dates", "3 March", "4 April"},
        {"of 2026-11-24 or so", "of 2026-11-25 or so", "dates", "24", "25"},
        {"of 1.12.2026 or so", "of 2.12.2026 or so", "dates", "1", "2"},
        {"of 1.12.202 or so", "of 2.12.202 or so", "numbers", "1", "2"},
        {"at 9:15 or so", "at 9:45 or so", "dates", "15", "45"},
        {"at 9 am sharp", "at 9 pm sharp", "dates", "am", "pm"},
        {"so am sharp", "so pm sharp", "words", "am", "pm"},
        {"on Monday, 5 pens", "on Friday, 50 pens", "dates", "Monday 5", "Friday 50"},
        {"on Monday there are 5 pens", "on Friday there are 50 pens", "numbers", "Monday 5",
         "Friday 50"},
        {"said Smith of 12", "said Jones of 13", "names", "Smith 12", "Jones 13"},
        {"dort ist Äpfel da", "dort ist Öpfel da", "names", "Äpfel", "Öpfel"},
        {"he went. Then it rained", "he went. Later it rained", "words", "Then", "Later"},
        {"he went. Smith said Smith", "he went. Jones said Jones", "names", "Smith", "Jones"},
        {"said Smith the smith", "said Jones", "words", "Smith the", "Jones"},
        {"ALL SHIPS SAIL today", "ALL SHIPS STAY today", "words", "SAIL", "STAY"},
        {"the IBM shares", "the NEC shares", "names", "IBM", "NEC"},
        {"a b c d e f g h i j k l m n o p q r", "z", "words", "a b c d e f g h i j k l m n o p",
         "z"},
        {"日本語", "日本人", "words", "本語", "本人"},
    };
    char only[2][400];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned swapped = 0; swapped < 2; swapped++) {
            struct nd_difference d;

            assert_int_equal(nd_difference_of(view_of(swapped ? rows[i].b : rows[i].a),
                                              view_of(swapped ? rows[i].a : rows[i].b), &d, NULL),
                             ND_OK);
            assert_string_equal(nd_differs_name(d.by), rows[i].in);
            assert_string_equal(words_of(&d, swapped, only[0]), rows[i].only_a);
            assert_string_equal(words_of(&d, !swapped, only[1]), rows[i].only_b);
        }
}

static void all_words_are_counted_and_the_first_are_listed(void **state)
{
    char text[2000] = "";
    struct nd_difference d;

    (void)state;
    for (unsigned i = 0; i < 100; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "w%u ", (i * 37) % 100);
    assert_int_equal(nd_difference_of(view_of(text), view_of("x y"), &d, NULL), ND_OK);
    assert_int_equal(d.only[0], 100);
    assert_int_equal(d.only[1], 2);
    for (unsigned i = 0; i < ND_DIFFERENCE_WORDS_MAX; i++) {
        char expected[8];

        snprintf(expected, sizeof expected, "w%u", (i * 37) % 100);
        assert_int_equal(d.word[0][i].len, strlen(expected));
        assert_memory_equal(d.word[0][i].data, expected, strlen(expected));
    }
}

static void a_long_word_is_cut_between_two_characters(void **state)
{
    char text[3 * ND_DIFFERENCE_WORD_BYTES];
    struct nd_difference d;

    (void)state;
    /* A letter of one byte, and letters of two. */
    for (size_t len = ND_DIFFERENCE_WORD_BYTES - 3; len <= 2 * ND_DIFFERENCE_WORD_BYTES; len += 2) {
        text[0] = 'a';
        for (size_t i = 1; i < len; i += 2)
            memcpy(text + i, "\xC3\xA9", 2);
        assert_int_equal(nd_difference_of((struct nd_view){text, len}, view_of("x"), &d, NULL),
                         ND_OK);
        assert_int_equal(d.only[0], 1);
        assert_ptr_equal(d.word[0][0].data, text);
        assert_int_equal(d.word[0][0].len,
                         len < ND_DIFFERENCE_WORD_BYTES ? len : ND_DIFFERENCE_WORD_BYTES - 1);
    }
}

static void a_text_that_is_not_utf8_is_refused(void **state)
{
    struct nd_difference d;
    struct nd_error err;

    (void)state;
    assert_int_equal(nd_difference_of(view_of("a \xff"), view_of("b"), &d, &err), ND_EINVAL);
    assert_int_equal(nd_difference_of(view_of("b"), view_of("a \xff"), &d, &err), ND_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_class_of_words_has_its_name),
        cmocka_unit_test(all_words_are_counted_and_the_first_are_listed),
        cmocka_unit_test(a_long_word_is_cut_between_two_characters),
        cmocka_unit_test(a_text_that_is_not_utf8_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
