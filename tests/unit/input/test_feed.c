/* test_feed.c - feeds: their items are documents with fields, whatever stands around and within */
#include "input_fixture.h"

#include "input/formats/feed_cut.h"
#include "input/formats/xml_scan.h"

#define ATOM "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>t</title>"

static struct nd_input_options with_fields(void)
{
    static const char *const fields[] = {"title",  "link",     "date",  "updated",
                                         "author", "category", "x:own", "body"};
    struct nd_input_options o = nd_input_options_default();

    o.fields = fields;
    o.n_fields = sizeof fields / sizeof *fields;
    return o;
}

/* How the fixture logs the fields. */
#define FIELDS(title, link, date, updated, author, category, own, body)                            \
    " title=" title " link=" link " date=" date " updated=" updated " author=" author              \
    " category=" category " x:own=" own " body=" body "\n"

/* The documents of a feed, as the fixture logs them. */
static void expect_items(const char *name, const char *feed, const char *log)
{
    struct nd_input_options o = with_fields();

    write_text(name, feed);
    expect(&o, name, log, "");
}

static void items_of_rss_are_documents_with_fields(void **state)
{
    (void)state;
    expect_items(
        "a.xml",
        "<?xml version=\"1.0\"?><!-- <item> --><rss version=\"2.0\"><channel>"
        "<title>c</title>\n"
        "<item><title>A &amp;amp; B</title><link> http://x/1 </link>"
        "<guid>urn:1</guid><pubDate>Mon, 01 Jan 2024 10:00:00 GMT</pubDate>"
        "<dc:creator>Ada</dc:creator><category>a</category><category>b</category>"
        "<x:own>o</x:own><description>short</description>"
        "<content:encoded><![CDATA[<p>one</p><p>two &eacute;</p></item>]]>"
        "</content:encoded></item>\n"
        "<item><link>http://x/2</link><description>&lt;b&gt;t&lt;/b&gt;hree</description>"
        "</item></channel></rss>\n",
        "a.xml:2['urn:1']{A & B\none\ntwo \xC3\xA9}" FIELDS(
            "A & B", "http://x/1", "Mon, 01 Jan 2024 10:00:00 GMT", "-", "Ada", "a, b", "o",
            "one\ntwo \xC3\xA9") "a.xml:3['http://x/2']{three}" FIELDS("-", "http://x/2", "-", "-",
                                                                       "-", "-", "-", "three"));
}

static void entries_of_atom_are_documents_with_fields(void **state)
{
    (void)state;
    expect_items(
        "a.atom",
        ATOM "<entry><id>tag:1</id><title type=\"html\">A &amp;lt; B</title>"
             "<link rel=\"self\" href=\"http://s\"/><link href='http://y?a=1&amp;b=2'/>"
             "<updated>2024-01-02</updated><published>2024-01-01</published>"
             "<author><name>Bob</name><uri>u</uri></author><category term=\"c\"/>"
             "<content type=\"xhtml\"><div><p>x</p>y &lt; z</div></content></entry>"
             "<entry><id>tag:2</id><title>plain &lt;b&gt;</title>"
             "<summary>as <![CDATA[<i>]]> it is &#65;&#x42;&#0;&nbsp;</summary></entry>"
             "</feed>",
        "a.atom:1['tag:1']{A < B\nx\ny < z}" FIELDS(
            "A < B", "http://y?a=1&b=2", "2024-01-01", "2024-01-02", "Bob", "c", "-",
            "x\ny < z") "a.atom:1['tag:2']{plain <b>\nas <i> it is "
                        "AB\xEF\xBF\xBD&nbsp;}" FIELDS("plain <b>", "-", "-", "-", "-", "-", "-",
                                                       "as <i> it is AB\xEF\xBF\xBD&nbsp;"));
}

static void prefixes_and_rdf_are_known(void **state)
{
    (void)state;
    expect_items("b.xml",
                 "<rdf:RDF xmlns=\"http://purl.org/rss/1.0/\" xmlns:rdf=\"r\"><channel><items>"
                 "<rdf:li/></items></channel><item rdf:about=\"http://z/1\"><title>t</title>"
                 "<dc:date>2024</dc:date></item></rdf:RDF>",
                 "b.xml:1['http://z/1']{t}" FIELDS("t", "-", "2024", "-", "-", "-", "-", "-"));
    expect_items("c.xml",
                 "<a:feed xmlns:a=\"http://www.w3.org/2005/Atom\"><a:entry><a:id>i</a:id>"
                 "<id>other</id><media:content>no</media:content><a:content>yes</a:content>"
                 "</a:entry></a:feed>",
                 "c.xml:1['i']{yes}" FIELDS("-", "-", "-", "-", "-", "-", "-", "yes"));
}

static void charsets_are_those_that_the_feed_declares(void **state)
{
    (void)state;
    expect_items("l.xml",
                 "<?xml version='1.0' encoding='iso-8859-5'?><rss><channel>"
                 "<item><title>\xD8</title></item></channel></rss>",
                 "l.xml:1{\xD0\xB8}" FIELDS("\xD0\xB8", "-", "-", "-", "-", "-", "-", "-"));
    expect_items("u.xml", "<rss><channel><item><title>\xC3\xA9</title></item></channel></rss>",
                 "u.xml:1{\xC3\xA9}" FIELDS("\xC3\xA9", "-", "-", "-", "-", "-", "-", "-"));
}

static void what_is_broken_is_bad_and_the_rest_is_read(void **state)
{
    (void)state;
    expect_items(
        "d.xml", "<rss><channel>\n<item><title>a</title></item>\n<item><title>b<br></titl",
        "d.xml:2{a}" FIELDS("a", "-", "-", "-", "-", "-", "-",
                            "-") "d.xml:3 bad: the item is not closed: was the feed cut short?\n");
    expect_items("e.xml", "<rss><channel><item/><item><title>a < b <c</title></item>",
                 "e.xml:1{a < b}" FIELDS("a < b", "-", "-", "-", "-", "-", "-", "-"));
    expect_items("f.rss", "", "");
    expect_items("g.rss", "<rss><channel></channel></rss>", "");
    expect_items("h.rss", "<item><item></item><title>t</title></item>",
                 "h.rss:1{t}" FIELDS("t", "-", "-", "-", "-", "-", "-", "-"));
}

static void other_xml_is_no_feed(void **state)
{
    struct nd_input_options o = nd_input_options_default();

    (void)state;
    write_text("x.xml", "<feed><entry><title>t</title></entry></feed>");
    expect(&o, "x.xml", "x.xml{<feed><entry><title>t</title></entry></feed>}\n", "");
}

static void the_end_of_a_frame_closes_what_is_open(void **state)
{
    static const char head[] = "<?xml version=\"1.0\"?><rss><channel><title>a</title><x/>\n";
    static const char other[] = "<rss><channel>", atom[] = ATOM;
    struct nd_view header = {head, sizeof head - 1};
    struct nd_buffer end = {0};

    (void)state;
    assert_true(nd_feed_end(header, &end));
    assert_int_equal(end.len, 19);
    assert_memory_equal(end.data, "\n</channel>\n</rss>\n", 19);
    nd_buffer_release(&end);
    assert_true(nd_feed_is_like(header, (struct nd_view){other, sizeof other - 1}));
    assert_false(nd_feed_is_like(header, (struct nd_view){atom, sizeof atom - 1}));
    assert_false(nd_feed_is_like(header, (struct nd_view){NULL, 0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_of_rss_are_documents_with_fields),
        cmocka_unit_test(entries_of_atom_are_documents_with_fields),
        cmocka_unit_test(prefixes_and_rdf_are_known),
        cmocka_unit_test(charsets_are_those_that_the_feed_declares),
        cmocka_unit_test(what_is_broken_is_bad_and_the_rest_is_read),
        cmocka_unit_test(other_xml_is_no_feed),
        cmocka_unit_test(the_end_of_a_frame_closes_what_is_open),
    };

    return cmocka_run_group_tests(tests, fixture_enter, fixture_leave);
}
