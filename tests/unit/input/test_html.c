/* test_html.c - pages: what is seen of them, in whatever charset they are */
#include "input_fixture.h"

#include "input/formats/page_guard.h"

static void assert_page(const void *page, size_t len, const char *expected, uint64_t repaired)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_source source = {.path = "", .format = ND_FORMAT_HTML};
    struct nd_record record = {.line = 0};
    struct nd_parser *parser;
    struct nd_buffer b = {0};
    struct reading r = {0};
    struct nd_document d;
    struct nd_bad_record bad;

    o.fields = (const char *const[]){"title"};
    o.n_fields = 1;
    parser = nd_parser_new(&o, NULL);
    assert_true(nd_buffer_append(&b, page, len));
    if (nd_parser_parse(parser, &source, (struct nd_view){b.data, b.len}, &d, &r.repaired, &bad))
        note_document(&r, &source, &record, &d);
    else
        put(&r.log, "bad: %s\n", bad.reason);
    r.log.data[r.log.len - 1] = 0;
    assert_string_equal(r.log.data, expected);
    assert_int_equal(r.repaired, repaired);
    close_reading(&r);
    nd_buffer_release(&b);
    nd_parser_free(parser);
}

static void shows(const char *page, const char *expected)
{
    assert_page(page, strlen(page), expected, 0);
}

static void visible_text_and_title_are_taken(void **state)
{
    (void)state;
    shows("<!DOCTYPE html><html><head><title>The\n title</title><style>p{}</style>"
          "<script>var a='<p>no</p>';</script><meta name=x></head><body><h1>Head</h1>"
          "<p>one <b>bo</b>ld\n  line</p><p>two<br>three</p><script>no()</script>"
          "<noscript>no</noscript><template><p>no</p></template><!-- no --></body></html>",
          "{The title\nHead\none bold line\ntwo\nthree} title=The title");
    shows("no tags at all", "{no tags at all} title=-");
    shows("", "{} title=-");
    shows("<p>unclosed <i>italic <p>next", "{unclosed italic\nnext} title=-");
    shows("<table><tr><td>a<td>b<tr><td>c</table><ul><li>d<li>e</ul>", "{a\nb\nc\nd\ne} title=-");
    shows("<pre>two\nlines</pre>", "{two\nlines} title=-");
    shows("<body>text<title>late</title>more</body>", "{late\ntext\nmore} title=late");
}

/* A page that reads markup and leaves boilerplate out. */
static void has_content(const char *page, const char *text, const char *spans, const char *links)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_source source = {.path = "", .format = ND_FORMAT_HTML};
    struct nd_buffer b = {0};
    struct nd_bad_record bad;
    struct nd_document d;
    struct nd_parser *parser;
    struct reading r = {0};

    o.markup = 1;
    o.boilerplate = ND_BOILERPLATE_DROP;
    parser = nd_parser_new(&o, NULL);
    assert_true(nd_buffer_append(&b, page, strlen(page)));
    assert_int_equal(
        nd_parser_parse(parser, &source, (struct nd_view){b.data, b.len}, &d, NULL, &bad), 1);
    assert_int_equal(d.text.len, strlen(text));
    assert_memory_equal(d.text.data, text, d.text.len);
    for (size_t i = 0; i < d.n_markup; i++)
        put(&r.log, "[%.*s]", (int)d.markup[i].len, d.text.data + d.markup[i].offset);
    put(&r.log, "%s", " ");
    for (size_t i = 0; i < d.n_links; i++)
        put(&r.log, "%.*s=%.*s;", (int)d.links[i].target.len, d.links[i].target.data,
            (int)d.links[i].len, d.text.data + d.links[i].offset);
    assert_true(r.log.len >= strlen(spans) + 1 + strlen(links));
    assert_memory_equal(r.log.data, spans, strlen(spans));
    assert_memory_equal(r.log.data + strlen(spans) + 1, links, strlen(links));
    close_reading(&r);
    nd_buffer_release(&b);
    nd_parser_free(parser);
}

#define TEN "one two three four five six seven eight nine ten"
#define MENU "<ul><li><a href=/h>Home</a><li><b><a href=/n>News</a></b></ul>"

static void boilerplate_leaves_with_its_marks_and_links(void **state)
{
    (void)state;
    has_content("<title>T</title><body>" MENU "<p>" TEN " <b>" TEN "</b> <a href=/x>" TEN
                "</a> " TEN "<p>" TEN " " TEN "<div>(c) us</div><p>" TEN " " TEN,
                "T\n" TEN " " TEN " " TEN " " TEN "\n" TEN " " TEN "\n(c) us", "[T][" TEN "]",
                "/x=" TEN ";");
    has_content(MENU "<pre>x = 1;\n<a href=/y>y</a>\n" TEN " " TEN "</pre>" MENU,
                "x = 1;\ny\n" TEN " " TEN, "", "/y=y;");
}

static void a_page_with_little_text_keeps_what_is_no_link_or_all(void **state)
{
    (void)state;
    has_content(MENU "<p>" TEN "<p>" TEN, TEN "\n" TEN, "", "");
    has_content(MENU "<p>" TEN, "Home\nNews\n" TEN, "[News]", "/h=Home;/n=News;");
    has_content("", "", "", "");
}

/* Parse a record with these fields; their values, "-" where there is none. */
static void says(enum nd_format format, const char *record, const char *const *fields, size_t n,
                 const char *expected)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_source source = {.path = "", .format = format};
    struct nd_buffer b = {0};
    struct nd_bad_record bad;
    struct nd_document d;
    struct nd_parser *parser;
    struct reading r = {0};

    o.fields = fields;
    o.n_fields = n;
    o.text_format = ND_TEXT_HTML;
    o.id_field = "canonical";
    parser = nd_parser_new(&o, NULL);
    assert_true(nd_buffer_append(&b, record, strlen(record)));
    assert_int_equal(
        nd_parser_parse(parser, &source, (struct nd_view){b.data, b.len}, &d, NULL, &bad), 1);
    put(&r.log, "%.*s", (int)d.id.len, d.id.len ? d.id.data : "");
    for (size_t i = 0; i < n; i++)
        put(&r.log, "|%.*s", d.fields[i].value.data ? (int)d.fields[i].value.len : 1,
            d.fields[i].value.data ? d.fields[i].value.data : "-");
    assert_int_equal(r.log.len, strlen(expected));
    assert_memory_equal(r.log.data, expected, r.log.len);
    close_reading(&r);
    nd_buffer_release(&b);
    nd_parser_free(parser);
}

#define SAYS(format, record, expected, ...)                                                        \
    says(format, record, (const char *const[]){__VA_ARGS__},                                       \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), expected)

static void the_head_of_a_page_gives_fields(void **state)
{
    (void)state;
    SAYS(ND_FORMAT_HTML,
         "<html lang=de><head><title>T</title><base href='http://x/a/'>"
         "<link rel='alternate' href=no><link rel='nofollow Canonical' href='../b?c#d'>"
         "<meta name=Description content=' two\n words '><meta property=og:description content=no>"
         "<meta name=dc.date content=2001><meta property='article:published_time' content=2002>"
         "<meta name=robots content=noindex><meta property=og:type content=article>"
         "<meta name=author content=''><meta itemprop=author content='A &amp; B'></head>x",
         "http://x/b?c|T|two words|2002|A & B|de|noindex|article|http://x/b?c|-", "title",
         "description", "date", "author", "language", "robots", "og:type", "canonical", "absent");
    SAYS(ND_FORMAT_HTML, "<meta property=og:title content=O><meta property=og:url content=/u><p>x",
         "/u|O|/u|-", "title", "canonical", "language");
    SAYS(ND_FORMAT_HTML, "<template><meta name=a content=hidden></template><meta name=a content=b>",
         "|b|-", "a", "id");
}

static void a_record_comes_before_the_head_of_its_page(void **state)
{
    (void)state;
    SAYS(ND_FORMAT_JSONL,
         "{\"text\":\"<link rel=canonical href=b><meta name=date content=2><meta name=lang "
         "content=en>\",\"date\":\"1\",\"lang\":null,\"url\":\"https://h/a/\"}",
         "https://h/a/b|1|en|https://h/a/", "date", "lang", "url");
}

static void entities_are_decoded_once(void **state)
{
    (void)state;
    shows("a &lt;b&gt; &amp;amp; &eacute;&#233;&#x20AC; &unknown; &am",
          "{a <b> &amp; \xC3\xA9\xC3\xA9\xE2\x82\xAC &unknown; &am} title=-");
    shows("<!DOCTYPE html [<!ENTITY a \"boom\"><!ENTITY b \"&a;&a;&a;\">]><p>x&b;y</p>",
          "{<\n!ENTITY b \"&a;&a;&a;\">]>\nx&b;y} title=-");
}

static void traps_of_the_parser_lose_no_text(void **state)
{
    (void)state;
    shows("before<!-->after one</p><p>after two <!-- real --> end",
          "{before after one\nafter two end} title=-");
    shows("a<!--->b-->c", "{a b-->c} title=-");
    assert_page("one\0two", 7, "{one two} title=-", 0);
    shows("<p>caf\xC3\xA9</p><p>bad \xC3\xA9</p>", "{caf\xC3\xA9\nbad \xC3\xA9} title=-");
}

static void xhtml_is_read_likewise(void **state)
{
    (void)state;
    shows("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML "
          "1.0 Strict//EN\" \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd\">\n<html "
          "xmlns=\"http://www.w3.org/1999/xhtml\"><head><title>T</title><script src=\"x\"/></head>"
          "<body><p>one<br/>two</p><p/>three</body></html>",
          "{T\none\ntwo\nthree} title=T");
}

/* "[marked] <anchor target>" put into the text, or "!" before what is out of order. */
static void marks(const char *page, const char *expected)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_source source = {.path = "", .format = ND_FORMAT_HTML};
    struct nd_parser *parser;
    struct nd_bad_record bad;
    struct nd_buffer b = {0};
    struct nd_document d;
    struct nd_buffer log = {0};
    uint64_t end = 0;
    size_t span = 0, link = 0;

    o.markup = 1;
    parser = nd_parser_new(&o, NULL);
    assert_true(nd_buffer_append(&b, page, strlen(page)));
    assert_int_equal(
        nd_parser_parse(parser, &source, (struct nd_view){b.data, b.len}, &d, NULL, &bad), 1);
    for (size_t i = 0; i <= d.text.len; i++) {
        if (span < d.n_markup && d.markup[span].offset + d.markup[span].len == i)
            put(&log, "]"), span++;
        if (link < d.n_links && d.links[link].len && d.links[link].offset + d.links[link].len == i)
            put(&log, " %.*s>", (int)d.links[link].target.len, d.links[link].target.data), link++;
        while (link < d.n_links && !d.links[link].len && d.links[link].offset == i)
            put(&log, "<%.*s>", (int)d.links[link].target.len, d.links[link].target.data), link++;
        if (link < d.n_links && d.links[link].offset == i)
            put(&log, "<");
        if (span < d.n_markup && d.markup[span].offset == i)
            put(&log, "[");
        if (i < d.text.len)
            put(&log, "%c", d.text.data[i]);
    }
    for (size_t i = 0; i < d.n_markup; i++) {
        assert_true(d.markup[i].len > 0 && d.markup[i].offset >= end);
        end = d.markup[i].offset + d.markup[i].len;
    }
    assert_int_equal(span, d.n_markup);
    assert_int_equal(link, d.n_links);
    assert_string_equal(log.data ? log.data : "", expected);
    nd_buffer_release(&log);
    nd_buffer_release(&b);
    nd_parser_free(parser);
}

static void marked_stretches_are_merged_and_disjoint(void **state)
{
    (void)state;
    marks("<h1>Big <b>bold</b> head</h1><p>plain <i>it</i><em>em</em> end",
          "[Big bold head]\nplain "
          "[item] end");
    marks("<title> The title </title><p>a<b> b </b>c", "[The title]\na [b] c");
    marks("<p>a <strong>b<p>c</strong> d", "a [b\nc]\nd");
    marks("<p><b></b>x<b> </b>y<b><script>no</script></b>", "x y");
    marks("<h2>unclosed", "[unclosed]");
    marks("<h7>no</h7><hr><header>no</header><bold>no</bold>", "no\nno\nno");
    marks("none", "none");
    marks("", "");
    marks("<p>x</b></i>y<i>z</i>", "xy[z]");
    marks("<b>caf\xC3\xA9</b> &amp; <i>&lt;</i>", "[caf\xC3\xA9] & [<]");
}

static void links_are_listed_with_their_anchors(void **state)
{
    (void)state;
    marks("<p>see <a href='/x?a=1&amp;b=2'> the <b>page</b> </a> there",
          "see <the [page] /x?a=1&b=2> "
          "there");
    marks("<a href=/a><img src=i></a>text<a href=/b></a>", "</a>text</b>");
    marks("<a name=here>no</a> <a href=/1>one<a href=/2>two</a>three", "no <one /1><two /2>three");
    marks("<title>T</title><a href=''>e</a><noscript><a href=/no>no</a></noscript>", "[T]\n<e >");
    marks("<p>a<a href=/end>", "a</end>");
    /* An empty one stands in the line of what comes after it, in its own block. */
    marks("<p>a<p><a href=/img><img></a>b", "a\n</img>b");
    marks("<p>a <a href=/img><img></a><p>b", "a</img>\nb");
    marks("<p>a<p><a href=/img><img></a>", "a</img>");
}

static void without_asking_there_are_no_marks(void **state)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_source source = {.path = "", .format = ND_FORMAT_HTML};
    struct nd_parser *parser = nd_parser_new(&o, NULL);
    static const char page[128] = "<b>x</b><a href=y>z</a>";
    struct nd_bad_record bad;
    struct nd_document d;

    (void)state;
    assert_int_equal(
        nd_parser_parse(parser, &source, (struct nd_view){page, strlen(page)}, &d, NULL, &bad), 1);
    assert_int_equal(d.n_markup, 0);
    assert_int_equal(d.n_links, 0);
    nd_parser_free(parser);
}

/* Each element as "name(what is in it)". */
static void tree(const char *page, const char *expected)
{
    struct nd_input_options o = nd_input_options_default();
    struct nd_source source = {.path = "", .format = ND_FORMAT_HTML};
    struct nd_parser *parser;
    struct nd_bad_record bad;
    struct nd_buffer b = {0}, log = {0};
    struct nd_document d;
    uint32_t open = ND_ELEMENT_NONE;

    o.elements = 1;
    parser = nd_parser_new(&o, NULL);
    assert_true(nd_buffer_append(&b, page, strlen(page)));
    assert_int_equal(
        nd_parser_parse(parser, &source, (struct nd_view){b.data, b.len}, &d, NULL, &bad), 1);
    for (uint32_t i = 0; i < d.n_elements; i++) {
        for (; open != d.elements[i].parent; open = d.elements[open].parent)
            put(&log, ")");
        put(&log, "%.*s(", (int)d.elements[i].name.len, d.elements[i].name.data);
        open = i;
    }
    for (; open != ND_ELEMENT_NONE; open = d.elements[open].parent)
        put(&log, ")");
    assert_string_equal(log.data ? log.data : "", expected);
    assert_int_equal(d.n_markup, 0); /* not asked for */
    nd_buffer_release(&log);
    nd_buffer_release(&b);
    nd_parser_free(parser);
}

static void elements_form_the_tree_that_is_seen(void **state)
{
    (void)state;
    tree("<HTML><head><title>t</title></head><Body><div><p>x</p><br></div></body></html>",
         "html(head(title())body(div(p()br())))");
    tree("<p>one<p>two <b>x</b>", "html(body(p()p(b())))");
    tree("<table><tr><td>a<td>b<tr><td>c</table><ul><li>d<li>e</ul>",
         "html(body(table(tr(td()td())tr(td()))ul(li()li())))");
    tree("<div></p></span></div><!-- <i>no</i> --><x-y z='<b>'>", "html(body(div()x-y()))");
    tree("<title>t</title><script>'<p>'</script><noscript><p>n</noscript>",
         "html(head(title()script()noscript(p())))");
    tree("no tags", "html(body(p()))");
    tree("", "");
}

static void charsets_are_found(void **state)
{
    static const struct {
        const char *page, *expected;
        uint64_t repaired;
    } pages[] = {
        {"<p>\xE9t\xE9 \x93quoted\x94 \x80</p>",
         "{\xC3\xA9t\xC3\xA9 \xE2\x80\x9Cquoted\xE2\x80\x9D \xE2\x82\xAC} title=-", 0},
        {"<meta charset=utf-8><p>\xE9t\xC3\xA9</p>", "{\xEF\xBF\xBDt\xC3\xA9} title=-", 1},
        {"\xEF\xBB\xBF<meta charset=iso-8859-1><p>\xC3\xA9</p>", "{\xC3\xA9} title=-", 0},
        {"<META HTTP-EQUIV=\"Content-Type\" CONTENT=\"text/html; charset=ISO-8859-1\">\xC3\xA9",
         "{\xC3\x83\xC2\xA9} title=-", 0},
        {"<meta charset='windows-1251'><p>\xCF\xF0\xE8\xE2\xE5\xF2</p>",
         "{\xD0\x9F\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82} title=-", 0},
        {"<meta charset=\"Shift_JIS\">\x93\xFA\x96{\x8C\xEA \xFF",
         "{\xE6\x97\xA5\xE6\x9C\xAC"
         "\xE8\xAA\x9E \xEF\xBF\xBD} "
         "title=-",
         1},
        {"<meta charset=gb2312>\xC4\xE3\xBA\xC3", "{\xE4\xBD\xA0\xE5\xA5\xBD} title=-", 0},
        {"<meta charset=no-such-charset>\xE9", "{\xC3\xA9} title=-", 0},
        {"<?xml version=\"1.0\" encoding=\"koi8-r\"?><p>\xF0\xD2</p>", "{\xD0\x9F\xD1\x80} title=-",
         0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        assert_page(pages[i].page, strlen(pages[i].page), pages[i].expected, pages[i].repaired);
}

static void deep_nesting_is_refused_not_followed(void **state)
{
    struct nd_buffer b = {0};

    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_true(nd_buffer_append(&b, "<div>", 5));
    assert_true(nd_buffer_append(&b, "deep", 4));
    assert_page(b.data, b.len, "{deep} title=-", 0);
    for (int i = 0; i < 500000; i++)
        assert_true(nd_buffer_append(&b, "<div>", 5));
    assert_page(b.data, b.len, "bad: page has elements nested deeper than 5000", 0);
    nd_buffer_release(&b);
}

/* libxml2 has limits of 10 MB on what stands in one piece. */
static void long_texts_attributes_and_comments_are_whole(void **state)
{
    static const char *const around[][2] = {{"<p>", "</p>"},
                                            {"<!--", "-->"},
                                            {"<p title='", "'>"},
                                            {"<script>", "</script>"},
                                            {"<title>", "</title>"}};
    const size_t n = 20000000;

    (void)state;
    for (int i = 0; i < 5; i++) {
        struct nd_input_options o = nd_input_options_default();
        struct nd_source source = {.path = "", .format = ND_FORMAT_HTML};
        struct nd_parser *parser = nd_parser_new(&o, NULL);
        struct nd_buffer b = {0};
        struct nd_document d;
        struct nd_bad_record bad;

        assert_true(nd_buffer_append(&b, "before", 6));
        assert_true(nd_buffer_append(&b, around[i][0], strlen(around[i][0])));
        assert_true(nd_buffer_reserve(&b, b.len + n));
        for (size_t j = 0; j < n; j++)
            b.data[b.len++] = j % 10 ? 'x' : ' ';
        assert_true(nd_buffer_append(&b, around[i][1], strlen(around[i][1])));
        assert_true(nd_buffer_append(&b, "after", 5));
        assert_int_equal(
            nd_parser_parse(parser, &source, (struct nd_view){b.data, b.len}, &d, NULL, &bad), 1);
        if (d.text.len < 11 || memcmp(d.text.data + d.text.len - 5, "after", 5) != 0)
            fail_msg("case %d: %zu bytes", i, d.text.len);
        assert_true(i == 0 || i == 4 ? d.text.len > n : d.text.len < 20);
        nd_buffer_release(&b);
        nd_parser_free(parser);
    }
}

/* libxml2 takes quadratic time for the attributes of an element. */
static void elements_have_a_limit_of_attributes(void **state)
{
    static const char *const page[][2] = {
        {"<p>x<div", "</div>"},
        {"<!-- <script> --><div", "</div>"},
        {"<script>i<n '</script><div", "</div>"},
        {"<style>a<b \"</style><div", "</div>"},
        {"<img alt='<script>'><div", "</div>"},
        {"<!DOCTYPE html><?x <style> ?><div", "</div>"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof page / sizeof *page; i++) {
        for (size_t n = ND_ATTRIBUTES_MAX; n <= ND_ATTRIBUTES_MAX + 1; n++) {
            struct nd_buffer b = {0};

            assert_true(nd_buffer_append(&b, page[i][0], strlen(page[i][0])));
            for (size_t k = 0; k < n; k++)
                put(&b, k % 3 ? " a%zu='>'" : " a%zu", k);
            put(&b, ">text%s<a b=c>d", page[i][1]);
            assert_int_equal(nd_page_has_crowded_element((struct nd_view){b.data, b.len}),
                             n > ND_ATTRIBUTES_MAX);
            nd_buffer_release(&b);
        }
    }
}

/* Each beginning of a page, in memory of just its size. */
static void pages_may_end_anywhere(void **state)
{
    static const char page[] = "<!DOCTYPE html><!-- a --><script >i<n </s</script><style>x</style"
                               "><a b='c' d=\"e\" f=g h/></a><!-->x<?p q?><script>i<";

    (void)state;
    for (size_t len = 0; len < sizeof page; len++) {
        size_t before = ND_ATTRIBUTES_MAX; /* shorter pages are not looked at */
        char *copy = malloc(before + len);

        assert_non_null(copy);
        memset(copy, 'x', before);
        memcpy(copy + before, page, len);
        assert_false(nd_page_has_crowded_element((struct nd_view){copy, before + len}));
        free(copy);
    }
}

static void words_of_a_script_are_no_attributes(void **state)
{
    struct nd_buffer b = {0};

    (void)state;
    put(&b, "<script>if (a<b");
    for (int i = 0; i < 5000; i++)
        put(&b, " word%d", i);
    put(&b, "</script><!-- <a ");
    for (int i = 0; i < 5000; i++)
        put(&b, " word%d", i);
    put(&b, "--><p>");
    assert_false(nd_page_has_crowded_element((struct nd_view){b.data, b.len}));
    nd_buffer_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boilerplate_leaves_with_its_marks_and_links),
        cmocka_unit_test(a_page_with_little_text_keeps_what_is_no_link_or_all),
        cmocka_unit_test(the_head_of_a_page_gives_fields),
        cmocka_unit_test(a_record_comes_before_the_head_of_its_page),
        cmocka_unit_test(elements_have_a_limit_of_attributes),
        cmocka_unit_test(words_of_a_script_are_no_attributes),
        cmocka_unit_test(pages_may_end_anywhere),
        cmocka_unit_test(visible_text_and_title_are_taken),
        cmocka_unit_test(entities_are_decoded_once),
        cmocka_unit_test(traps_of_the_parser_lose_no_text),
        cmocka_unit_test(xhtml_is_read_likewise),
        cmocka_unit_test(marked_stretches_are_merged_and_disjoint),
        cmocka_unit_test(links_are_listed_with_their_anchors),
        cmocka_unit_test(without_asking_there_are_no_marks),
        cmocka_unit_test(elements_form_the_tree_that_is_seen),
        cmocka_unit_test(charsets_are_found),
        cmocka_unit_test(deep_nesting_is_refused_not_followed),
        cmocka_unit_test(long_texts_attributes_and_comments_are_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
