/* test_tags.c - tag sets of users: read strictly, said again, and used to read documents */
#include "input_fixture.h"

#include "input/formats/tag_sets.h"

static struct nd_tags *parse(const char *text)
{
    struct nd_error err = {.message = ""};
    struct nd_tags *tags = nd_tags_parse("my.tags", text, strlen(text), &err);

    if (!tags)
        fail_msg("%s", err.message);
    return tags;
}

static void sets_have_one_spelling(void **state)
{
    struct nd_tags *tags = parse("\xEF\xBB\xBF# a comment\n\n [ document\tART ,BRIEF ] \r\n"
                                 "id=DN,@id\n; another\nbody = LP+TEXT , . as  page\n"
                                 "topics=IN/D, doc-id@x as escaped page\n[document other]\n"),
                   *again;

    (void)state;
    assert_string_equal(nd_tags_text(tags), "[document ART, BRIEF]\nid = DN, @id\n"
                                            "body = LP + TEXT, . as page\n"
                                            "topics = IN/D, doc-id@x as escaped page\n"
                                            "[document other]\n");
    again = parse(nd_tags_text(tags));
    assert_string_equal(nd_tags_text(again), nd_tags_text(tags));
    nd_tags_free(again);
    nd_tags_free(tags);
    nd_tags_free(NULL);
}

static void the_built_in_sets_are_such_files(void **state)
{
    struct nd_buffer text = {0};
    struct nd_tags *tags;

    (void)state;
    assert_true(nd_tags_write(&nd_built_in_tags, &text) && nd_buffer_append(&text, "", 1));
    tags = parse(text.data);
    assert_string_equal(nd_tags_text(tags), text.data);
    nd_tags_free(tags);
    nd_buffer_release(&text);
}

static void what_is_wrong_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "my.tags: it has no [document NAME]"},
        {"# nothing\n", "my.tags: it has no [document NAME]"},
        {"id = DN\n", "my.tags:1: a field before the first [document NAME]"},
        {"\n[sketch]\n", "my.tags:2: unknown section; expected [document NAME]"},
        {"[document]\n", "my.tags:1: the name of an element is missing"},
        {"[document A,]\n", "my.tags:1: the name of an element is missing"},
        {"[document A, A]\n", "my.tags:1: 'A' is named twice"},
        {"[document A]\n[document B, A]\n", "my.tags:2: 'A' is a document already, by line 1"},
        {"[document A B]\n", "my.tags:1: 'A B' is not the name of an element"},
        {"[document <A>]\n", "my.tags:1: '<A>' is not the name of an element"},
        {"[document A\n", "my.tags:1: a section needs its closing ']'"},
        {"[document A]\nid DN\n", "my.tags:2: neither a [section] nor a 'key = value'"},
        {"[document A]\nid =\n", "my.tags:2: the name of an element is missing"},
        {"[document A]\nid = DN, \n", "my.tags:2: the name of an element is missing"},
        {"[document A]\nid = @\n", "my.tags:2: the name of an attribute is missing"},
        {"[document A]\nid = DN@\n", "my.tags:2: the name of an attribute is missing"},
        {"[document A]\nid = DN/x@y\n", "my.tags:2: 'x@y' is not the name of an element"},
        {"[document A]\nid = ./x\n", "my.tags:2: '.' is not the name of an element"},
        {"[document A]\nid = 1\n", "my.tags:2: '1' is not the name of an element"},
        {"[document A]\nbody = B as\n",
         "my.tags:2: 'B as': behind a name may stand 'as page' or 'as escaped page', and '+' or a "
         "comma between two names"},
        {"[document A]\nbody = B as pages\n",
         "my.tags:2: 'B as pages': behind a name may stand 'as page' or 'as escaped page', and '+' "
         "or a comma between two names"},
        {"[document A]\n = B\n", "my.tags:2: the name of a field is missing"},
        {"[document A]\na b = B\n", "my.tags:2: 'a b' is not the name of a field"},
        {"[document A]\nid = B\nid = C\n", "my.tags:3: 'id' is given twice, first on line 2"},
        {"[document A]\ntext = B\n", "my.tags:2: the text is the title and the body: name these"},
        {"[document A]\nid = B\x01\n", "my.tags:2: a control character"},
        {"[document \xFF]\n", "my.tags: it is not UTF-8"},
        {"[document A]\nbody = a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a\n",
         "my.tags:2: a field has at most 16 names"},
        {"[document a1,a2,a3,a4,a5,a6,a7,a8,a9,b1,b2,b3,b4,b5,b6,b7,b8]\n",
         "my.tags:1: a section has at most 16 documents"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nd_error err = {.message = ""};

        assert_null(nd_tags_parse("my.tags", rows[i].text, strlen(rows[i].text), &err));
        assert_int_equal(err.status, ND_EINVAL);
        assert_string_equal(err.message, rows[i].message);
    }
}

static void expect_with(const char *text, const char *file, const char *log)
{
    static const char *const fields[] = {"title", "date", "topics", "ref", "OWN"};
    struct nd_input_options o = nd_input_options_default();
    struct nd_tags *tags = parse(text);

    o.tags = tags;
    o.fields = fields;
    o.n_fields = sizeof fields / sizeof *fields;
    write_text("t.xml", file);
    expect(&o, "t.xml", log, "");
    nd_tags_free(tags);
}

static void documents_are_read_by_their_set(void **state)
{
    static const char set[] = "[document ART]\nid = DN, @id\ntitle = HL\nbody = LP + TEXT, NOTE\n"
                              "date = DD@norm\ntopics = IN/I, IN\nref = dc:source\n";

    (void)state;
    expect_with(set,
                "<?xml version=\"1.0\"?>\n<c>\n<ART id=\"1\"><HL>h</HL><DD norm=\"1987\"/><IN>x"
                "<I>a</I><I>b</I></IN><LP>lead</LP><TEXT>one</TEXT><TEXT>two</TEXT>"
                "<source>no</source><dc:source>s</dc:source><own>o</own></ART>\n"
                "<ART id=\"2\"><DN>n</DN><IN>x</IN><NOTE>note</NOTE></ART>\n"
                "<ART id=\"3\">all <b>of</b> it</ART></c>",
                "t.xml:3['1']{h\nlead\none\ntwo} title=h date=1987 topics=a, b ref=s OWN=o\n"
                "t.xml:4['n']{note} title=- date=- topics=x ref=- OWN=-\n"
                "t.xml:5['3']{all of it} title=- date=- topics=- ref=- OWN=-\n");
    /* Built-in documents are read as ever, but for those that the file names. */
    expect_with("[document DOC]\nbody = P\n",
                "<DOC><DOCNO>d</DOCNO><id>i</id><P>p</P></DOC><REUTERS NEWID=\"4\"><BODY>b</BODY>"
                "</REUTERS>",
                "t.xml:1['i']{p} title=- date=- topics=- ref=- OWN=-\n"
                "t.xml:1['4']{b} title=- date=- topics=- ref=- OWN=-\n");
    expect_with("[document row]\nbody = Body as escaped page\ntitle = . as page\n",
                "<t><row><Body>&lt;p&gt;a&lt;p&gt;b</Body></row></t>",
                "t.xml:1{<p>a<p>b\na\nb} title=<p>a<p>b date=- topics=- ref=- OWN=-\n");
}

static void other_files_stay_what_they_are(void **state)
{
    struct nd_tags *tags = parse("[document ART]\n");
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    o.tags = tags;
    write_text("a.bin", "see <ART>x</ART>");
    write_text("b.bin", "<rss><item><guid>g</guid><title>t</title></item></rss>");
    expect(&o, "a.bin", "a.bin{see <ART>x</ART>}\n", "");
    expect(&o, "b.bin", "b.bin:1['g']{t}\n", "");
    nd_tags_free(tags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_have_one_spelling),
        cmocka_unit_test(the_built_in_sets_are_such_files),
        cmocka_unit_test(what_is_wrong_is_refused_with_its_line),
        cmocka_unit_test(documents_are_read_by_their_set),
        cmocka_unit_test(other_files_stay_what_they_are),
    };

    return cmocka_run_group_tests(tests, fixture_enter, fixture_leave);
}
