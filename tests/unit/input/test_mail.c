/* test_mail.c - messages of mail: where they are cut, what is their text, what is wrong with them
 */
#include "input_fixture.h"

#include "input/formats/cut.h"
#include "input/formats/mail.h"
#include "input/formats/mail_head.h"

#define ENVELOPE "From a@b.example Mon Jan  1 10:00:00 2024\n"
#define HEADER "From: a@b.example\nDate: Mon, 1 Jan 2024 10:00:00 +0000\nMessage-ID: <1@b>\n"

static struct nd_input_options of_mail(void)
{
    struct nd_input_options o = nd_input_options_default();

    o.format = ND_FORMAT_MAIL;
    return o;
}

/* The text of a message. */
static void expect_text(const char *message, size_t len, const char *text, size_t text_len)
{
    struct nd_source source = {.path = "", .format = ND_FORMAT_MAIL};
    struct nd_input_options o = of_mail();
    struct nd_parser *parser = nd_parser_new(&o, NULL);
    char *copy = calloc(1, len + ND_BUFFER_PADDING);
    struct nd_bad_record bad;
    struct nd_document d;

    assert_non_null(parser);
    assert_non_null(copy);
    memcpy(copy, message, len);
    if (nd_parser_parse(parser, &source, (struct nd_view){copy, len}, &d, NULL, &bad) != 1)
        fail_msg("bad: %s", bad.reason);
    assert_int_equal(d.text.len, text_len);
    assert_memory_equal(d.text.data, text, d.text.len);
    nd_parser_free(parser);
    free(copy);
}
#define TEXT_OF(message, text) expect_text((message), sizeof(message) - 1, (text), sizeof(text) - 1)

static void expect_bad(const char *message, const char *reason)
{
    struct nd_source source = {.path = "", .format = ND_FORMAT_MAIL};
    struct nd_input_options o = of_mail();
    struct nd_parser *parser = nd_parser_new(&o, NULL);
    size_t len = strlen(message);
    char *copy = calloc(1, len + ND_BUFFER_PADDING);
    struct nd_bad_record bad;
    struct nd_document d;

    assert_non_null(parser);
    assert_non_null(copy);
    memcpy(copy, message, len);
    assert_int_equal(nd_parser_parse(parser, &source, (struct nd_view){copy, len}, &d, NULL, &bad),
                     0);
    assert_string_equal(bad.reason, reason);
    nd_parser_free(parser);
    free(copy);
}

static void the_subject_and_the_body_are_the_text(void **state)
{
    (void)state;
    TEXT_OF(HEADER "Subject: On bees\n\nThey live\nin hives.\n", "On bees\nThey live\nin hives.\n");
    TEXT_OF(HEADER "\nonly a body", "only a body");
    TEXT_OF(HEADER "Subject: only this\n\n", "only this");
    TEXT_OF(HEADER "Subject: no blank line\n", "no blank line");
    TEXT_OF("Subject: CR LF\r\n\r\none\r\ntwo\r\n", "CR LF\none\ntwo\n");
    TEXT_OF("\n\n" ENVELOPE "Subject: stored\n\nin an mbox\n", "stored\nin an mbox\n");
    TEXT_OF(">" ENVELOPE "Subject: stored twice\n\nx", "stored twice\nx");
}

static void encoded_words_and_transfer_encodings_are_undone(void **state)
{
    (void)state;
    TEXT_OF("Subject: =?iso-8859-1?Q?Caf=E9?= =?utf-8?b?w7w=?=\n of =?x-none?q?no?= name\n\n",
            "Caf\xC3\xA9\xC3\xBC of no name");
    TEXT_OF("Subject: =?utf-8?b?YQ==?= =?utf-8?b?YWI=?=\n =?utf-8?b?w7w=?= =?utf-8?q?=C3?= "
            "=?utf-8?q?=BC?=\n\n",
            "aab\xC3\xBC\xC3\xBC");
    TEXT_OF("Content-Type: text/plain; charset=iso-8859-2\n"
            "Content-Transfer-Encoding: quoted-printable\n\nT=F9=\n a=20\nb=ZZ",
            "T\xC5\xAF a \nb=ZZ");
    TEXT_OF("Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
            "w6TD\ntsO8\n!!!!\n",
            "\xC3\xA4\xC3\xB6\xC3\xBC");
    TEXT_OF("Content-Type: text/plain; charset=koi8-r\n\n\xCD\xC9\xD2", "\xD0\xBC\xD0\xB8\xD1\x80");
    TEXT_OF("Content-Type: text/plain; charset=utf-16le\nContent-Transfer-Encoding: base64\n\n"
            "YQBiAA==\n",
            "ab");
}

static void charsets_that_say_nothing_are_found_out(void **state)
{
    (void)state;
    TEXT_OF("Subject: x\xC3\xA4\n\n\xC3\xA4", "x\xC3\xA4\n\xC3\xA4");
    TEXT_OF("Subject: y\xE4\n\n\xE4\x93", "y\xC3\xA4\n\xC3\xA4\xE2\x80\x9C");
    TEXT_OF("Content-Type: text/plain; charset=us-ascii\n\n\xC3\xA4", "\xC3\xA4");
    TEXT_OF("Content-Type: text/plain; charset=\"a/b//c\"\n\n\xC3\xA4", "\xC3\xA4");
    TEXT_OF("Content-Type: text/plain; charset=utf-8\n\na\xFF", "a\xEF\xBF\xBD");
    TEXT_OF("Content-Type: text/plain; charset=utf-8\n\n\xEF\xBB\xBFmark", "mark");
}

#define PARTS "Content-Type: multipart/mixed; boundary=b\n\nprologue\n"
#define CHOICE "Content-Type: multipart/alternative; boundary=b\n\nprologue\n"
#define END "--b--\nepilogue\n"

static void of_several_parts_the_texts_are_read(void **state)
{
    (void)state;
    TEXT_OF(PARTS "--b\n\none\n--b\nContent-Type: application/pdf\n\n%PDF\n"
                  "--b\nContent-Type: text/x-log\n\ntwo\n" END,
            "one\ntwo");
    TEXT_OF(PARTS "--b\nContent-Type: text/html\n\n<title>no</title><p>one<p>two\n"
                  "--b\nContent-Type: text/plain\nContent-Disposition: attachment\n\nthree\n" END,
            "one\ntwo\nthree");
    TEXT_OF(PARTS "--b\n\nsee\n--b\nContent-Type: message/rfc822\n\nFrom: x\nSubject: inner\n\n"
                  "text of it\n" END,
            "see\ninner\ntext of it");
    TEXT_OF(PARTS "--b\nContent-Type: multipart/related; boundary=c\n\n--c\n\ndeep\n--c--\n" END,
            "deep");
}

static void of_alternatives_the_last_that_has_a_text_is_read(void **state)
{
    (void)state;
    TEXT_OF(CHOICE "--b\n\nplain\n--b\nContent-Type: text/html\n\n<b>rich</b>\n" END, "rich");
    TEXT_OF(CHOICE "--b\n\nplain\n--b\nContent-Type: text/html\n\n<img src=x>\n" END, "plain");
    TEXT_OF(CHOICE "--b\n\nplain\n--b\nContent-Type: application/x-rich\n\nno\n" END, "plain");
    TEXT_OF(CHOICE "--b\n\n \n--b\n\n\n" END, "");
}

/* As it is met: whatever can be seen of it is the text. */
static void broken_mail_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    TEXT_OF(PARTS "--b\n\none\n--b\n\nthe last boundary is lost", "one\nthe last boundary is lost");
    TEXT_OF("Content-Type: multipart/mixed; boundary=lost\n\n--b\n\ntext\n--b--\n",
            "--b\n\ntext\n--b--\n");
    TEXT_OF("Content-Type: multipart/mixed\n\nno boundary at all\n", "no boundary at all\n");
    TEXT_OF("Content-Type: text\n\nno type\n", "no type\n");
    TEXT_OF("Content-Type: ;;;\n\nno type either\n", "no type either\n");
    TEXT_OF("Content-Transfer-Encoding: unheard-of\n\nas it is\n", "as it is\n");
    TEXT_OF("Content-Transfer-Encoding: base64\n\nYWJj\n*** ***\nZGVmZ", "abcdef");
    TEXT_OF("Subject: no value of a type\nContent-Type:\n\nbody", "no value of a type\nbody");
    TEXT_OF("Subject: a line of no field\nnot a field\n\nbody", "a line of no field\nbody");
    TEXT_OF("Subject: =?utf-8?q?not closed\n\nbody", "=?utf-8?q?not closed\nbody");
    TEXT_OF("Subject: nul\n\na\0b", "nul\na\0b");
}

static void what_is_no_message_is_bad(void **state)
{
    char *deep = malloc(40 * 200 + 100), *at = deep;
    char groups[4000] = "To: ", addresses[30000] = "Cc : a\n\t";

    (void)state;
    expect_bad("", "message has no header: its first line is not a header field");
    expect_bad("\n\n", "message has no header: its first line is not a header field");
    expect_bad("Dear Sir,\n\nhello: x\n",
               "message has no header: its first line is not a header field");
    expect_bad(": x\n\n", "message has no header: its first line is not a header field");
    assert_non_null(deep);
    for (int i = 0; i < 200; i++)
        at += sprintf(at, "Content-Type: message/rfc822\n\n");
    expect_bad(deep, "message has parts nested deeper than 100");
    free(deep);
    for (int i = 0; i < 1000; i++)
        strcat(groups, "a:");
    expect_bad(groups, "message has more than 1000 groups of addresses in a field");
    memset(addresses + strlen(addresses), ',', 20001);
    expect_bad(addresses, "message has more than 20000 addresses in a field");
}

static void fields_are_found_by_their_names(void **state)
{
    static const char *const fields[] = {"Subject", "date", "x-list", "cc", "missing"};
    struct nd_input_options o = of_mail();

    (void)state;
    o.fields = fields;
    o.n_fields = 5;
    write_text("one.eml", HEADER
               "X-List: a\nX-LIST: b\nSubject: =?utf-8?q?s=C3=A4?=\n t\ncc: =?us-ascii?q?J?= "
               "<j@x>,\n\tk@y\n\nbody");
    expect(&o, "one.eml",
           "one.eml['1@b']{s\xC3\xA4 t\nbody} Subject=s\xC3\xA4 t date=Mon, 1 Jan 2024 10:00:00 "
           "+0000 x-list=a cc=J <j@x>,\tk@y missing=-\n",
           "");
    o.n_fields = 0;
    o.text_fields = (const char *const[]){"body"};
    o.id_field = "x-list";
    expect(&o, "one.eml", "one.eml['a']{body}\n", "");
    o.text_fields = (const char *const[]){"x-none"};
    expect(&o, "one.eml", "one.eml:0 bad: x-none is absent\n", "");
}

static void an_mbox_is_cut_at_its_envelopes(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    write_text("m", ENVELOPE HEADER "\none\nFrom here on\n\nFrom the first day\n" ENVELOPE
                                    "not behind a blank line\n\n" ENVELOPE
                                    "Subject: two\n\nbody\n\n\n" ENVELOPE "nonsense\n");
    expect(&o, "m",
           "m:1['1@b']{one\nFrom here on\n\nFrom the first day\n" ENVELOPE
           "not behind a blank line\n\n}\n"
           "m:13{two\nbody\n\n\n}\n"
           "m:19 bad: message has no header: its first line is not a header field\n",
           "");
    o.format = ND_FORMAT_MBOX;
    write_text("one", "\n" HEADER "\nbody\n");
    expect(&o, "one", "one:1['1@b']{body\n}\n", "");
    write_text("none", "\n\n");
    expect(&o, "none", "", "");
    write_text("crlf", "From a Mon Jan 1 10:00 2024 +0000\r\nSubject: x\r\n\r\ny\r\n\r\n"
                       "From a at b  Tue, 2 Jan 2024 1:00:00\r\nSubject: z\r\n\r\n");
    expect(&o, "crlf", "crlf:1{x\ny\n\n}\ncrlf:6{z}\n", "");
}

static void batches_of_any_size_cut_an_mbox_alike(void **state)
{
    static const size_t max_bytes[] = {0, 1, 7, 100, 4096, 70000, 1 << 22};
    struct nd_input_options o = nd_input_options_default();
    struct nd_buffer made = {0};

    (void)state;
    o.format = ND_FORMAT_MBOX;
    for (int i = 0; i < 3000; i++)
        put(&made, ENVELOPE "Subject: %d\n\n%.*s\n\nFrom %d on\n\n", i, i % 97,
            "------------------------------------------------------------------------", i);
    write_file("many.mbox", made.data, made.len);
    for (size_t i = 0; i < sizeof max_bytes / sizeof *max_bytes; i++) {
        struct reading r = {0};

        read_all(&r, (const char *const[]){"many.mbox", NULL}, &o, max_bytes[i], 100);
        assert_int_equal(r.n_documents, 3000);
        assert_int_equal(r.records.len, made.len);
        assert_memory_equal(r.records.data, made.data, made.len);
        close_reading(&r);
    }
    nd_buffer_release(&made);
}

static enum nd_format looks(const char *head)
{
    return nd_mail_looks_like_mbox(head, strlen(head))      ? ND_FORMAT_MBOX
           : nd_mail_looks_like_message(head, strlen(head)) ? ND_FORMAT_MAIL
                                                            : ND_FORMAT_AUTO;
}

static void mail_is_known_by_its_header(void **state)
{
    (void)state;
    assert_int_equal(looks(HEADER "\nx"), ND_FORMAT_MAIL);
    assert_int_equal(looks("received: by x\n (y)\r\nFROM: a\r\nDate : b\r\n\r\nnot: looked at"),
                     ND_FORMAT_MAIL);
    assert_int_equal(looks(ENVELOPE HEADER), ND_FORMAT_MBOX);
    assert_int_equal(looks(ENVELOPE "it was like this"), ND_FORMAT_AUTO);
    assert_int_equal(looks("From: me\nDate: today\n\nno machine wrote this"), ND_FORMAT_AUTO);
    assert_int_equal(looks("From: me\nMessage-ID: x\n\n"), ND_FORMAT_AUTO);
    assert_int_equal(looks(HEADER "a line of text\nX: y\n\n"), ND_FORMAT_AUTO);
    assert_int_equal(looks("From: me, Date: Message-ID:"), ND_FORMAT_AUTO);
    assert_int_equal(looks(""), ND_FORMAT_AUTO);
    assert_int_equal(looks("From "), ND_FORMAT_AUTO);
    assert_false(nd_mail_is_envelope("From the 12:30 train of 19999 on", 32));
}

static void a_maildir_is_known_by_its_names(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    assert_true(nd_mail_is_in_maildir("m/cur/1204680122.27c448.host:2,S"));
    assert_true(nd_mail_is_in_maildir("new/1.M2P3.a.b"));
    assert_false(nd_mail_is_in_maildir("m/tmp/1204680122.27c448.host"));
    assert_false(nd_mail_is_in_maildir("occur/1204680122.27c448.host"));
    assert_false(nd_mail_is_in_maildir("cur/1204680122.txt"));
    assert_false(nd_mail_is_in_maildir("cur/report.2024.txt"));
    assert_false(nd_mail_is_in_maildir("1204680122.27c448.host"));
    assert_false(nd_mail_is_in_maildir("cur"));
    run("mkdir -p box/cur box/new box/tmp other/tmp");
    write_text("box/cur/1.a.h:2,S", "Subject: read\n\nx");
    write_text("box/new/2.b.h", "Subject: new\n\ny");
    write_text("box/tmp/3.c.h", "half of a mess");
    write_text("other/tmp/text", "no mail");
    expect(&o, "box", "box/cur/1.a.h:2,S{read\nx}\nbox/new/2.b.h{new\ny}\n", "");
    expect(&o, "other", "other/tmp/text{no mail}\n", "");
    expect(&o, "box/tmp", "box/tmp/3.c.h{half of a mess}\n", "");
}

/* A message of a header and `n` times the same, in front of its end. */
static char *repeat(const char *header, const char *again, size_t n, const char *end)
{
    size_t len = strlen(again);
    char *made = malloc(strlen(header) + n * len + strlen(end) + 1), *at = made;

    assert_non_null(made);
    at = stpcpy(at, header);
    for (size_t i = 0; i < n; i++)
        at = stpcpy(at, again);
    (void)stpcpy(at, end);
    return made;
}

/* Each is refused before GMime sees it, just above the limit, and read just below. */
static void lines_parts_folds_and_words_have_limits(void **state)
{
    static const struct {
        const char *header, *again, *end;
        size_t limit;
        const char *reason;
    } rows[] = {
        {"From: a\n", "X: y\n", "\nbody\n", 19999,
         "message has more than 20000 lines in its headers"},
        {"Subject: a\n", " b\n", "\nbody\n", 19999,
         "message has more than 20000 lines in its headers"},
        {"Subject: a", " b", "\n\nbody\n", 99998, "message has more than 100000 words in a field"},
        {"Subject: ", "x", "\n\nbody\n", (1 << 20) - 10, "message has a field of more than 1 MiB"},
        {"Content-Type: multipart/mixed; boundary=b\n\n", "--b\n\nx\n", "--b--\n", 4999,
         "message has more than 5000 parts"},
        {"Content-Type: multipart/mixed; boundary=\"a\\b\"\n\n", "--ab\n\nx\n", "--ab--\n", 4999,
         "message has more than 5000 parts"},
        {"Content-Type: multipart/mixed; boundary\n =b\n\n", "--b\n\nx\n", "--b--\n", 4999,
         "message has more than 5000 parts"},
        {"Content-Type: message/rfc822\n\n", "X: y\n", "\nbody\n", 19999,
         "message has more than 20000 lines in its headers"},
        {"Content-Type: multipart/digest; boundary=b\n\n--b\n\n", "X: y\n", "\nbody\n", 19999,
         "message has more than 20000 lines in its headers"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *more = repeat(rows[i].header, rows[i].again, rows[i].limit + 10, rows[i].end);
        char *less = repeat(rows[i].header, rows[i].again, rows[i].limit - 10, rows[i].end);

        const char *reason = NULL;

        assert_int_equal(nd_mail_check((struct nd_view){more, strlen(more)}, &reason), 0);
        assert_string_equal(reason, rows[i].reason);
        assert_int_equal(nd_mail_check((struct nd_view){less, strlen(less)}, &reason), 1);
        free(more);
        free(less);
    }
}

/* Lines of the body count for nothing, though they look like parts and fields. */
static void bodies_may_have_lines_like_those_of_headers(void **state)
{
    char *message = repeat("Subject: a\n\n", "--b\nX: y z\n-- \n------\n", 30000, "");

    const char *reason = NULL;

    (void)state;
    assert_int_equal(nd_mail_check((struct nd_view){message, strlen(message)}, &reason), 1);
    free(message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_parts_folds_and_words_have_limits),
        cmocka_unit_test(bodies_may_have_lines_like_those_of_headers),
        cmocka_unit_test(the_subject_and_the_body_are_the_text),
        cmocka_unit_test(encoded_words_and_transfer_encodings_are_undone),
        cmocka_unit_test(charsets_that_say_nothing_are_found_out),
        cmocka_unit_test(of_several_parts_the_texts_are_read),
        cmocka_unit_test(of_alternatives_the_last_that_has_a_text_is_read),
        cmocka_unit_test(broken_mail_is_read_as_far_as_it_goes),
        cmocka_unit_test(what_is_no_message_is_bad),
        cmocka_unit_test(fields_are_found_by_their_names),
        cmocka_unit_test(an_mbox_is_cut_at_its_envelopes),
        cmocka_unit_test(batches_of_any_size_cut_an_mbox_alike),
        cmocka_unit_test(mail_is_known_by_its_header),
        cmocka_unit_test(a_maildir_is_known_by_its_names),
    };

    if (nd_mail_missing() && strstr(nd_mail_missing(), "built without"))
        return 77;
    return cmocka_run_group_tests(tests, fixture_enter, fixture_leave);
}
