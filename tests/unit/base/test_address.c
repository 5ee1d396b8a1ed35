/* test_address.c - where links lead: the examples of RFC 3986, section 5.4, and what pages have */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/address.h"

/* NULL: it leads to no page. */
static void leads(const char *base, const char *target, const char *expected)
{
    struct nd_buffer out = {0};
    int found = nd_address_resolve((struct nd_view){base, strlen(base)},
                                   (struct nd_view){target, strlen(target)}, &out);

    assert_int_equal(found, expected ? 1 : 0);
    if (expected) {
        assert_true(nd_buffer_append(&out, "", 1));
        assert_string_equal(out.data, expected);
    } else {
        assert_int_equal(out.len, 0);
    }
    nd_buffer_release(&out);
}

static void references_resolve_as_in_the_rfc(void **state)
{
    static const char *const cases[][2] = {
        {"g", "a/b/c/g"},
        {"./g", "a/b/c/g"},
        {"g/", "a/b/c/g/"},
        {"/g", "a/g"},
        {"//g", "g/"},
        {"?y", "a/b/c/d;p?y"},
        {"g?y", "a/b/c/g?y"},
        {"#s", NULL},
        {"g#s", "a/b/c/g"},
        {"g?y#s", "a/b/c/g?y"},
        {";x", "a/b/c/;x"},
        {"g;x?y#s", "a/b/c/g;x?y"},
        {"", NULL},
        {".", "a/b/c/"},
        {"./", "a/b/c/"},
        {"..", "a/b/"},
        {"../", "a/b/"},
        {"../g", "a/b/g"},
        {"../..", "a/"},
        {"../../", "a/"},
        {"../../g", "a/g"},
        {"../../../g", "a/g"},
        {"../../../../g", "a/g"},
        {"/./g", "a/g"},
        {"/../g", "a/g"},
        {"g.", "a/b/c/g."},
        {".g", "a/b/c/.g"},
        {"g..", "a/b/c/g.."},
        {"..g", "a/b/c/..g"},
        {"./../g", "a/b/g"},
        {"./g/.", "a/b/c/g/"},
        {"g/./h", "a/b/c/g/h"},
        {"g/../h", "a/b/c/h"},
        {"g;x=1/./y", "a/b/c/g;x=1/y"},
        {"g;x=1/../y", "a/b/c/y"},
        {"g?y/./x", "a/b/c/g?y/./x"},
        {"g?y/../x", "a/b/c/g?y/../x"},
        {"http://a/b/c/g", "a/b/c/g"},
        {"g:h", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        leads("a/b/c/d;p?q", cases[i][0], cases[i][1]);
}

static void forms_of_one_address_are_one(void **state)
{
    (void)state;
    leads("/a/b.html", "c%20d.html", "/a/c d.html");
    leads("/a/b.html", "c d.html", "/a/c d.html");
    leads("/a/b.html", "%63%2F%3f%23%25%0a%zz%4", "/a/c%2F%3f%23%25%0a%zz%4");
    leads("/a/b.html", "%2e%2E/c", "/c");
    leads("/a/b.html", "caf%C3%A9", "/a/caf\xC3\xA9");
    leads("/a/b.html", "index.html", "/a/");
    leads("/a/b.html", "index.htm?x", "/a/?x");
    leads("/a/b.html", "myindex.html", "/a/myindex.html");
    leads("/a/b.html", "?index.html", "/a/b.html?index.html");
    leads("/a/b.html", " \n../\t", "/");
    leads("/a/b.html", "HTTP://Example.ORG:80", "example.org/");
    leads("/a/b.html", "https://example.org/index.html#x", "example.org/");
    leads("h.org/", "//other.org/x", "other.org/x");
    leads("h.org/a", "b", "h.org/b");
    leads("/a/b.html", "mailto:a@b.c", NULL);
    leads("/a/b.html", "javascript:void(0)", NULL);
    leads("/a/b.html", "ftp://a/b", NULL);
    leads("/a/b.html", "http:x", NULL);
    leads("/a/b.html", "#", NULL);
}

static void joins(const char *base, const char *target, const char *expected)
{
    struct nd_buffer out = {0};

    assert_true(nd_address_join((struct nd_view){base, strlen(base)},
                                (struct nd_view){target, strlen(target)}, &out));
    assert_true(nd_buffer_append(&out, "", 1));
    assert_string_equal(out.data, expected);
    nd_buffer_release(&out);
}

static void links_become_absolute_as_in_the_rfc(void **state)
{
    static const char *const cases[][2] = {
        {"g:h", "g:h"},
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"g#s", "http://a/b/c/g"},
        {";x", "http://a/b/c/;x"},
        {"", "http://a/b/c/d;p?q"},
        {"..", "http://a/b/"},
        {"../..", "http://a/"},
        {"../../../g", "http://a/g"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
        {" g ", "http://a/b/c/g"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        joins("http://a/b/c/d;p?q", cases[i][0], cases[i][1]);
    joins("http://a", "g", "http://a/g");
    joins("http://a", "?y", "http://a/?y");
    joins("http://a?x/y", "g", "http://a/g");
    joins("http://A:80/%41/", "%42", "http://A:80/%41/%42");
    joins("", "../g", "../g");
    joins("/only/a/path", "g", "g");
    joins("mailto:x@y", "g", "g");
    joins("", "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_resolve_as_in_the_rfc),
        cmocka_unit_test(links_become_absolute_as_in_the_rfc),
        cmocka_unit_test(forms_of_one_address_are_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
