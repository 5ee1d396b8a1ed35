/* test_news.c - stories: SGML of Reuters and TREC, NITF, NewsML-G2, as they are tagged */
#include "input_fixture.h"

static struct nd_input_options with_fields(void)
{
    static const char *const fields[] = {"title", "date", "author", "topics"};
    struct nd_input_options o = nd_input_options_default();

    o.fields = fields;
    o.n_fields = sizeof fields / sizeof *fields;
    return o;
}

static void expect_stories(const char *name, const char *file, const char *log)
{
    struct nd_input_options o = with_fields();

    write_text(name, file);
    expect(&o, name, log, "");
}

static void reuters_is_read_as_distributed(void **state)
{
    (void)state;
    expect_stories("r.sgm",
                   "<!DOCTYPE lewis SYSTEM \"lewis.dtd\">\n"
                   "<REUTERS TOPICS=\"YES\" OLDID=\"5544\" NEWID=\"1\">\n"
                   "<DATE>26-FEB-1987 15:01:01.79</DATE>\n"
                   "<TOPICS><D>cocoa</D><D>tea</D></TOPICS>\n<UNKNOWN>\n&#5;&#31;C T</UNKNOWN>\n"
                   "<TEXT>&#2;\n<TITLE>BAHIA &lt;COCOA></TITLE>\n<DATELINE>  SALVADOR - </DATELINE>"
                   "<BODY>Showers\ncontinued.\n Reuter\n&#3;</BODY></TEXT>\n</REUTERS>\n"
                   "<REUTERS NEWID=\"2\">\n<TOPICS></TOPICS>\n<TEXT TYPE=\"BRIEF\">&#2;\n"
                   "<TITLE>SHORT</TITLE> one &#3;</TEXT>\n</REUTERS>\n",
                   "r.sgm:2['1']{BAHIA <COCOA>\nShowers\ncontinued.\n Reuter} title=BAHIA <COCOA>"
                   " date=26-FEB-1987 15:01:01.79 author=- topics=cocoa, tea\n"
                   "r.sgm:14['2']{SHORT one} title=SHORT date=- author=- topics=-\n");
}

static void documents_of_trec_are_read_loosely(void **state)
{
    (void)state;
    expect_stories("t.sgml",
                   "<DOC>\n<DOCNO> WSJ-1 </DOCNO>\n<HL> A headline </HL>\n<BYLINE>Ada\n"
                   "<TEXT>\none <b>two</b>\n</TEXT>\n<TEXT>\nthree\n</TEXT>\n</DOC>\n\n"
                   "<DOC id=\"AFP_1\" type=\"story\">\n<P>\nno elements\n</P>\n</DOC>\n<DOC>\nx",
                   "t.sgml:1['WSJ-1']{A headline\none two\nthree} title=A headline date=-"
                   " author=Ada topics=-\n"
                   "t.sgml:13['AFP_1']{no elements} title=- date=- author=- topics=-\n"
                   "t.sgml:18 bad: the story is not closed: was the file cut short?\n");
}

static void nitf_and_newsml_are_pages_of_their_kind(void **state)
{
    (void)state;
    expect_stories("n.xml",
                   "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\n<nitf><head><title>t</title>"
                   "<docdata><doc-id id-string=\"d1\"/><date.issue norm=\"20240102\"/></docdata>"
                   "</head><body><body.head><hedline><hl1>Big</hl1></hedline><byline>By Bob"
                   "</byline></body.head><body.content><p>one</p><p>two \xE9</p></body.content>"
                   "</body></nitf>\n",
                   "n.xml:2['d1']{Big\none\ntwo \xC3\xA9} title=Big date=20240102 author=By Bob"
                   " topics=-\n");
    expect_stories("g.xml",
                   "<newsMessage><itemSet><newsItem guid=\"urn:1\"><contentMeta><headline>H"
                   "</headline><contentCreated>2024</contentCreated></contentMeta><contentSet>"
                   "<inlineXML><html><body><p>a</p><p>b</p></body></html></inlineXML></contentSet>"
                   "</newsItem></itemSet></newsMessage>",
                   "g.xml:1['urn:1']{H\na\nb} title=H date=2024 author=- topics=-\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reuters_is_read_as_distributed),
        cmocka_unit_test(documents_of_trec_are_read_loosely),
        cmocka_unit_test(nitf_and_newsml_are_pages_of_their_kind),
    };

    return cmocka_run_group_tests(tests, fixture_enter, fixture_leave);
}
