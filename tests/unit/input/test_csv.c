/* test_csv.c - CSV and TSV: rows, cells, headers, and what is wrong with them */
#include "input_fixture.h"

#include "input/formats/cut.h"
#include "input/formats/table_row.h"

static void rows_become_documents(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    o.fields = (const char *const[]){"lang", "none"};
    o.n_fields = 2;
    write_text("a.csv", "id,text,lang\r\n1,plain,en\r\n2,\"quoted, \"\"twice\"\"\",\"de\"\r\n\r\n"
                        "3,\"two\nlines\n\",fr\n,,\n\"5\",5\" disk,x\"y\n6,\"a\"b\"c,en");
    expect(&o, "a.csv",
           "a.csv:2['1']{plain} lang=en none=-\n"
           "a.csv:3['2']{quoted, \"twice\"} lang=de none=-\n"
           "a.csv:5['3']{two\nlines\n} lang=fr none=-\n"
           "a.csv:8{} lang= none=-\n"
           "a.csv:9['5']{5\" disk} lang=x\"y none=-\n"
           "a.csv:10['6']{ab\"c} lang=en none=-\n",
           "");
}

static void tsv_has_escapes_and_no_quotes(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    write_text("a.tsv", "text\tid\none\\ttwo\\nthree\\\\n\\x\t7\n\"quoted\"\t\n\t\n\n");
    expect(&o, "a.tsv", "a.tsv:2['7']{one\ttwo\nthree\\n\\x}\na.tsv:3{\"quoted\"}\na.tsv:4{}\n",
           "");
}

static void wrong_rows_are_bad(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    write_text("w.csv", "id,text\n1,a,b\n2\n3,c\n");
    expect(&o, "w.csv",
           "w.csv:2 bad: row has 3 columns, the header has 2\n"
           "w.csv:3 bad: row has 1 columns, the header has 2\nw.csv:4['3']{c}\n",
           "");
}

static void a_missing_text_column_fails_the_file(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    write_text("m.csv", "id,\"the body\",lang\n1,a,b\n");
    expect(&o, "m.csv", "",
           "failed: m.csv: has no column \"text\" for the text; it has the fields id, the body, "
           "lang; --text-field id probably names the text\n");
    o.text_fields = (const char *const[]){"the body", "lang"};
    o.n_text_fields = 2;
    expect(&o, "m.csv", "m.csv:2['1']{a\nb}\n", "");
}

static void an_open_quote_ends_the_file_with_a_message(void **state)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_buffer b = {0};

    (void)state;
    write_text("q.csv", "id,text\n1,a\n2,\"never closed\n3,c\n");
    expect(&o, "q.csv", "q.csv:2['1']{a}\n",
           "failed: q.csv:3: a quote that is opened in this row is never closed; the 1 records "
           "before it were read, the rest is lost\n");
    put(&b, "id,text\n1,a\n2,\"");
    while (b.len < (size_t)ND_CSV_QUOTED_MAX + (8u << 20))
        assert_true(nd_buffer_append(&b, "all the rest of the file\n", 25));
    write_file("long.csv", b.data, b.len);
    nd_buffer_release(&b);
    expect(&o, "long.csv", "long.csv:2['1']{a}\n",
           "failed: long.csv:3: a quote that is opened in this row is not closed within 64 MiB; "
           "the 1 records before it were read, the rest is lost\n");
    run("rm long.csv");
}

static void the_header_is_kept_byte_for_byte(void **state)
{
    static const char header[] = "\xEF\xBB\xBF\"id\",\"text\"\r\n";
    struct nd_input_options o = nd_input_options_default();
    struct nd_batch batch = {0};
    struct nd_input *input;
    const struct nd_source *s;

    (void)state;
    write_text("h.csv", "\xEF\xBB\xBF\"id\",\"text\"\r\n1,one\r\n");
    expect(&o, "h.csv", "h.csv:2['1']{one}\n", "");
    input = nd_input_open((const char *const[]){"h.csv"}, 1, &o, NULL, NULL, NULL);
    assert_int_equal(nd_input_read(input, 100, 100, &batch, NULL), 1);
    s = nd_input_source(input, 0);
    assert_int_equal(s->header.len, sizeof header - 1);
    assert_memory_equal(s->header.data, header, sizeof header - 1);
    assert_int_equal(batch.records[0].offset, sizeof header - 1);
    nd_batch_release(&batch);
    nd_input_close(input);
}

static void headers_may_differ_from_file_to_file(void **state)
{
    struct nd_input_options o = nd_input_options_default();
    struct reading r = {0};

    (void)state;
    write_text("1.csv", "id,text\n1,one\n");
    write_text("2.csv", "text,x,id\ntwo,x,2\n");
    write_text("3.tsv", "text\tid\nthree\t3\n");
    read_all(&r, (const char *const[]){"1.csv", "2.csv", "3.tsv", NULL}, &o, 1 << 20, 100);
    assert_log(&r, "1.csv:2['1']{one}\n2.csv:2['2']{two}\n3.tsv:2['3']{three}\n");
    close_reading(&r);
}

/* The slow way: byte by byte, all of it in hand. */
static size_t row_end_slowly(const char *p, size_t len)
{
    bool quoted = false, at_field = true;

    for (size_t i = 0; i < len; i++) {
        if (quoted && p[i] == '"' && i + 1 < len && p[i + 1] == '"') {
            i++;
        } else if (quoted) {
            quoted = p[i] != '"';
            at_field = false;
        } else if (p[i] == '\n') {
            return i + 1;
        } else {
            quoted = at_field && p[i] == '"';
            at_field = p[i] == ',';
        }
    }
    return quoted ? 0 : len;
}

static void rows_end_where_the_slow_way_ends_them(void **state)
{
    static const char letters[] = {'a', ',', '"', '\n', '"', 'b'};
    uint64_t seed = 1;

    (void)state;
    for (int round = 0; round < 200000; round++) {
        struct nd_cutter c = {.cut = &nd_cut_csv};
        char text[24];
        size_t len, given, end = 0, expected;
        enum nd_cut_answer answer = ND_CUT_MORE;

        seed = nd_mix64(seed + (uint64_t)round);
        len = 1 + seed % sizeof text;
        for (size_t i = 0; i < len; i++)
            text[i] = letters[nd_mix64(seed + i) % sizeof letters];
        for (given = 1 + seed / 64 % len; answer == ND_CUT_MORE; given += 1 + seed / 4096 % 5) {
            if (given > len)
                given = len;
            answer = nd_cut_next(&c, text, given, given == len, &end);
        }
        expected = row_end_slowly(text, len);
        if (answer == ND_CUT_UNCLOSED)
            assert_int_equal(expected, 0);
        else
            assert_int_equal(end, expected);
    }
}

static void content_shows_what_it_is(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    write_text("n1", "id,text\n1,one\n");
    write_text("n2", "id\ttext\n1\tone\n");
    write_text("n3", "id,words\n1,one");
    write_text("n4", " {\"text\": \"json\"}\n");
    write_text("n5", "\n<!DOCTYPE HTML>\n<p>page</p>");
    write_text("n6", "{not json}");
    expect(&o, "n1", "n1:2['1']{one}\n", "");
    expect(&o, "n2", "n2:2['1']{one}\n", "");
    expect(&o, "n3", "",
           "failed: n3: has no column \"text\" for the text; it has the fields id, words; "
           "--text-field words probably names the text\n");
    expect(&o, "n4", "n4:1{json}\n", "");
    expect(&o, "n5", "n5{page}\n", "");
    expect(&o, "n6", "n6{{not json}}\n", "");
    o.format = ND_FORMAT_TEXT;
    expect(&o, "n4", "n4{ {\"text\": \"json\"}\n}\n", "");
}

static void names_that_contradict_the_content_are_warned_of(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    write_text("c.txt", "{\"text\":\"x\"}");
    expect(
        &o, "c.txt", "c.txt{{\"text\":\"x\"}}\n",
        "warning: c.txt: is named like plain text but looks like JSON Lines; reading it as plain "
        "text\n");
    write_text("c.jsonl", "<html><p>x");
    expect(&o, "c.jsonl", "c.jsonl:1 bad: not a JSON object: it does not begin with '{'\n",
           "warning: c.jsonl: is named like JSON Lines but looks like HTML; reading it as JSON "
           "Lines\n");
    write_text("array.json", "[\n  {\"text\":\"x\"}\n]\n");
    expect(&o, "array.json", "",
           "failed: array.json: is one JSON array, not JSON Lines: make each element a line (jq -c "
           "'.[]')\n");
    write_text("pretty.json", "{\n  \"text\": \"x\"\n}\n");
    expect(&o, "pretty.json", "",
           "failed: pretty.json: is JSON over several lines, not JSON Lines: make each object a "
           "line (jq -c .)\n");
}

static void utf16_is_read_as_utf8(void **state)
{
    struct nd_input_options o = nd_input_options_default();
    static const char half[] = "\xFF\xFE"
                               "a\0\x3D\xD8"
                               "b\0c";

    (void)state;
    run("printf 'id,text\\n1,\\303\\251\\360\\237\\230\\200\\n' | iconv -f UTF-8 -t UTF-16LE > le "
        "&&"
        "(printf '\\377\\376'; cat le) > u.csv; printf 'id,text\\n1,x\\n' | iconv -f UTF-8 -t "
        "UTF-16BE > be "
        "&&"
        "(printf '\\376\\377'; cat be) > v.csv");
    expect(&o, "u.csv", "u.csv:2['1']{\xC3\xA9\xF0\x9F\x98\x80}\n",
           "warning: u.csv: is UTF-16; converting its records to UTF-8\n");
    expect(&o, "v.csv", "v.csv:2['1']{x}\n",
           "warning: v.csv: is UTF-16; converting its records to UTF-8\n");
    write_file("half.txt", half, sizeof half - 1);
    expect(&o, "half.txt",
           "half.txt{a\xEF\xBF\xBD"
           "b\xEF\xBF\xBD}\n",
           "warning: half.txt: is UTF-16; converting its records to UTF-8\n");
    write_file("wide.txt", "\xFF\xFE\0\0a\0\0", 8); /* with the literal's own zero */
    expect(&o, "wide.txt", "",
           "failed: wide.txt: is UTF-32, which is not supported: convert it (iconv -f UTF-32 -t "
           "UTF-8)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_become_documents),
        cmocka_unit_test(tsv_has_escapes_and_no_quotes),
        cmocka_unit_test(wrong_rows_are_bad),
        cmocka_unit_test(a_missing_text_column_fails_the_file),
        cmocka_unit_test(an_open_quote_ends_the_file_with_a_message),
        cmocka_unit_test(the_header_is_kept_byte_for_byte),
        cmocka_unit_test(headers_may_differ_from_file_to_file),
        cmocka_unit_test(rows_end_where_the_slow_way_ends_them),
        cmocka_unit_test(content_shows_what_it_is),
        cmocka_unit_test(names_that_contradict_the_content_are_warned_of),
        cmocka_unit_test(utf16_is_read_as_utf8),
    };

    return cmocka_run_group_tests(tests, fixture_enter, fixture_leave);
}
