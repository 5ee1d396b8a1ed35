/* test_jsonl.c - JSON Lines: what is a record, what is none, and what stands in it */
#include "input_fixture.h"

#include "input/formats/json_walk.h"

/* One line parsed: "[id]{text} field=value", or "bad: reason". */
static void assert_parses(const struct nd_input_options *o, const char *line, const char *expected)
{
    struct nd_parser *parser = nd_parser_new(o, NULL);
    struct nd_source source = {.path = "p", .format = ND_FORMAT_JSONL, .is_container = 1};
    struct nd_record record = {.line = 0};
    struct nd_buffer b = {0};
    struct reading r = {0};
    struct nd_document d;
    struct nd_bad_record bad;
    int status;

    assert_true(nd_buffer_append(&b, line, strlen(line)));
    status =
        nd_parser_parse(parser, &source, (struct nd_view){b.data, b.len}, &d, &r.repaired, &bad);
    assert_true(status >= 0);
    if (status == 1)
        note_document(&r, &source, &record, &d);
    else
        put(&r.log, "pbad: %s\n", bad.reason);
    r.log.data[r.log.len - 1] = 0;
    assert_string_equal(r.log.data + 1, expected);
    close_reading(&r);
    nd_buffer_release(&b);
    nd_parser_free(parser);
}

static void texts_and_ids_are_found(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    assert_parses(&o, "{\"id\":\"a\",\"text\":\"x\"}\n", "['a']{x}");
    assert_parses(&o, " {\t\"text\" : \"x\" , \"id\" : 17 } \r\n", "[17]{x}");
    assert_parses(&o, "{\"id\":-1.5e+300,\"text\":\"x\"}", "[-1.5e+300]{x}");
    assert_parses(&o, "{\"id\":123456789012345678901234567890,\"text\":\"x\"}",
                  "[123456789012345678901234567890]{x}");
    assert_parses(&o, "{\"id\":true,\"text\":\"x\"}", "[true]{x}");
    assert_parses(&o, "{\"id\":null,\"text\":\"x\"}", "{x}");
    assert_parses(&o, "{\"id\":\"\",\"text\":\"x\"}", "{x}");
    assert_parses(&o, "{\"id\":[1],\"text\":\"\"}", "{}");
    assert_parses(&o, "{\"text\":\"first\",\"text\":\"second\",\"id\":1,\"id\":2}", "[1]{first}");
    assert_parses(&o, "{\"te\\u0078t\":\"escaped key\"}", "{escaped key}");
}

static void escapes_are_undone(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    assert_parses(&o, "{\"text\":\"a\\nb\\t\\\"\\\\\\/\\b\\f\\r\"}", "{a\nb\t\"\\/\b\f\r}");
    assert_parses(&o, "{\"text\":\"\\u00e9\\u20AC\\ud83d\\ude00 \\u0041\"}",
                  "{\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 A}");
    assert_parses(&o, "{\"text\":\"x\\ud83d y\\ude00\"}", "{x\xEF\xBF\xBD y\xEF\xBF\xBD}");
    assert_parses(&o, "{\"text\":\"\\ud83d\\ud83d\\ude00\"}", "{\xEF\xBF\xBD\xF0\x9F\x98\x80}");
    assert_parses(&o, "{\"text\":\"\\ud83d\\n\"}", "{\xEF\xBF\xBD\n}");
}

static void paths_go_down_and_literal_dots_win(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    o.fields = (const char *const[]){"meta.lang", "meta.n", "topics", "none", "a.b.c"};
    o.n_fields = 5;
    assert_parses(&o,
                  "{\"text\":\"x\",\"meta\":{\"lang\":\"en\",\"n\":1.50},\"topics\":[\"a\", 1],"
                  "\"none\":null,\"a\":{\"b\":{\"c\":false}}}",
                  "{x} meta.lang=en meta.n=1.50 topics=[\"a\", 1] none=- a.b.c=false");
    assert_parses(&o,
                  "{\"meta\":{\"lang\":\"en\"},\"meta.lang\":\"de\",\"text\":\"x\","
                  "\"a\":{\"b.c\":1}}",
                  "{x} meta.lang=de meta.n=- topics=- none=- a.b.c=1");
    o.text_fields = (const char *const[]){"doc.title", "doc.body"};
    o.n_text_fields = 2;
    o.n_fields = 0;
    assert_parses(&o, "{\"doc\":{\"body\":\"b\",\"title\":\"t\"}}", "{t\nb}");
    assert_parses(&o, "{\"doc\":{\"body\":\"b\",\"title\":null}}", "{b}");
    assert_parses(&o, "{\"doc\":{\"body\":\"b\",\"title\":5}}", "bad: doc.title is a number");
    assert_parses(&o, "{\"doc\":{}}",
                  "bad: doc.title is absent: the record has no field; --text-field names the text");
    assert_parses(&o, "{\"doc\":7}",
                  "bad: doc.title is absent: the record has doc; --text-field names the text");
}

static void records_without_text_are_bad_or_empty(void **state)
{
    static const char *const record[] = {"{\"text\":null}", "{\"text\":5}",    "{}",
                                         "{\"text\":[]}",   "{\"text\":true}", "{\"text\":{}}"};
    static const char *const reason[] = {
        "null",     "a number",      "absent: the record has no field; --text-field names the text",
        "an array", "true or false", "an object"};
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    for (int i = 0; i < 6; i++) {
        char expected[128];

        (void)snprintf(expected, sizeof expected, "bad: text is %s", reason[i]);
        o.missing_text = ND_MISSING_SKIP;
        assert_parses(&o, record[i], expected);
        o.missing_text = ND_MISSING_EMPTY;
        assert_parses(&o, record[i], "{}");
    }
}

static void broken_lines_are_bad_with_a_reason(void **state)
{
    static const char *const line_reason[][2] = {
        {"{\"text\":\"x\",\"more\": ", "it ends too early"},
        {"{\"text\":\"x\",\"more", "a string is not closed"},
        {"{\"text\":\"x\"", "it ends too early"},
        {"{\"text\":\"x\"} trailing", "something follows the object"},
        {"{\"text\":\"x\"}}", "something follows the object"},
        {"{\"text\":\"x\ty\"}", "a control character in a string is not escaped"},
        {"{\"text\":\"\\x\"}", "a string has an invalid escape"},
        {"{\"text\":\"x\",\"other\":\"\\u12g4\"}", "a string has an invalid escape"},
        {"{\"text\":\"x\",\"score\":NaN}",
         "a value is not a string, number, object, array, true, false or null"},
        {"{\"text\":\"x\",\"n\":01}",
         "a value is not a string, number, object, array, true, false or null"},
        {"{\"text\":\"x\",\"n\":truex}",
         "a value is not a string, number, object, array, true, false or null"},
        {"{\"text\":\"x\",}", "a key is not a string"},
        {"{\"text\" \"x\"}", "a ':' is missing"},
        {"{\"text\":\"x\" \"id\":1}", "a ',' is missing"},
        {"{\"text\":\"x\",\"a\":[1 2]}", "a ',' is missing"},
        {"{\"text\":\"x\",\"a\":[1}}", "a ',' is missing"},
        {"{\"text\":\"x\",\"a\":[}",
         "a value is not a string, number, object, array, true, false or null"},
        {"[\"text\"]", "it does not begin with '{'"},
        {"\"text\"", "it does not begin with '{'"},
        {"text", "it does not begin with '{'"},
        {"\n", "it is empty"},
    };
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    for (size_t i = 0; i < sizeof line_reason / sizeof *line_reason; i++) {
        char expected[160];

        (void)snprintf(expected, sizeof expected, "bad: not a JSON object: %s", line_reason[i][1]);
        assert_parses(&o, line_reason[i][0], expected);
    }
}

static void deep_nesting_is_refused_not_followed(void **state)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_buffer b = {0};

    (void)state;
    put(&b, "{\"text\":\"x\",\"a\":");
    for (int i = 0; i < 1000000; i++)
        assert_true(nd_buffer_append(&b, "[", 1));
    assert_true(nd_buffer_append(&b, "", 1));
    assert_parses(&o, b.data, "bad: not a JSON object: it is nested too deeply");
    nd_buffer_release(&b);
}

static void invalid_utf8_is_repaired_and_counted(void **state)
{
    struct nd_input_options o = nd_input_options_default();
    struct reading r = {0};

    (void)state;
    write_text("u.jsonl", "{\"text\":\"x\xFF y\xE2\x82\",\"id\":\"\xC3\"}\n{\"text\":\"ok\"}\n");
    read_all(&r, (const char *const[]){"u.jsonl", NULL}, &o, 1 << 20, 100);
    assert_log(&r, "u.jsonl:1['\xEF\xBF\xBD']{x\xEF\xBF\xBD y\xEF\xBF\xBD}\nu.jsonl:2{ok}\n");
    assert_int_equal(r.repaired, 3);
    close_reading(&r);
}

static void files_may_begin_with_a_bom_and_hold_blank_lines(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    write_text("b.jsonl", "\xEF\xBB\xBF{\"text\":\"a\"}\r\n\r\n   \t\n\n{\"text\":\"b\"}");
    expect(&o, "b.jsonl", "b.jsonl:1{a}\nb.jsonl:5{b}\n", "");
    write_text("odd.jsonl", "{\"text\":\"a\"}\nrubbish\n{\"text\":\"c\"}\n{\"text\":\"cut o");
    expect(&o, "odd.jsonl",
           "odd.jsonl:1{a}\nodd.jsonl:2 bad: not a JSON object: it does not begin with '{'\n"
           "odd.jsonl:3{c}\nodd.jsonl:4 bad: not a JSON object: a string is not closed\n",
           "");
}

static void numbers_are_those_of_the_grammar(void **state)
{
    static const char *const good[] = {"0", "-0", "10", "1.0", "1e9", "1E-9", "-1.25e+10"};
    static const char *const bad[] = {"",   "-",  "01",  "1.", ".5",  "1e",   "1e+",
                                      "+1", "1x", "--1", "1 ", "0x1", "1.e1", "Infinity"};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(nd_json_number_valid(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(nd_json_number_valid(bad[i], strlen(bad[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_and_ids_are_found),
        cmocka_unit_test(escapes_are_undone),
        cmocka_unit_test(paths_go_down_and_literal_dots_win),
        cmocka_unit_test(records_without_text_are_bad_or_empty),
        cmocka_unit_test(broken_lines_are_bad_with_a_reason),
        cmocka_unit_test(deep_nesting_is_refused_not_followed),
        cmocka_unit_test(invalid_utf8_is_repaired_and_counted),
        cmocka_unit_test(files_may_begin_with_a_bom_and_hold_blank_lines),
        cmocka_unit_test(numbers_are_those_of_the_grammar),
    };

    return cmocka_run_group_tests(tests, fixture_enter, fixture_leave);
}
