/* test_http_parts.c - targets, header fields, keys, problems and answers, without a connection */
#define _POSIX_C_SOURCE 200809L
#include "server/access_keys.h"
#include "server/answers.h"
#include "server/server.h"
#include "server/wire/cursor.h"
#include "server/wire/head.h"
#include "server/wire/target.h"

#include "base/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define VIEW(text) ((struct nd_view){(text), sizeof(text) - 1})

static void assert_view(struct nd_view view, const char *text)
{
    assert_int_equal(view.len, strlen(text));
    assert_memory_equal(view.data, text, view.len);
}

/* ---- Targets ---- */

static enum nd_refusal parse(const char *text, char *copy, struct nd_target *target)
{
    struct nd_error err;

    memcpy(copy, text, strlen(text) + 1);
    return nd_target_parse(copy, strlen(text), target, &err);
}

static void paths_lead_to_routes(void **state)
{
    static const struct {
        const char *text;
        enum nd_route route;
        const char *id;
    } known[] = {{"/v1/documents", ND_ROUTE_DOCUMENTS, ""},
                 {"/v1/documents/a", ND_ROUTE_DOCUMENT, "a"},
                 {"/v1/documents/%2F%25%2B+?security=", ND_ROUTE_DOCUMENT, "/%++"},
                 {"/v1/documents/a%2Fnear", ND_ROUTE_DOCUMENT, "a/near"},
                 {"/v1/documents/near/near", ND_ROUTE_NEAR, "near"},
                 {"/v1/documents/a/versions", ND_ROUTE_VERSIONS, "a"},
                 {"/v1/documents/a/cluster", ND_ROUTE_CLUSTER, "a"},
                 {"/v1/documents/", ND_ROUTE_NONE, ""},
                 {"/v1/documents//near", ND_ROUTE_NONE, ""},
                 {"/openapi.json", ND_ROUTE_FILE, ""},
                 {"/v1/clusters?order=growth&cursor=AA_-", ND_ROUTE_CLUSTERS, ""},
                 {"/v1/documentsx", ND_ROUTE_NONE, ""}};
    struct nd_target target;
    char copy[64];

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(parse(known[i].text, copy, &target), ND_REFUSAL_NONE);
        assert_int_equal(target.route, known[i].route);
        assert_view(target.id, known[i].id);
    }
}

static void parameters_are_decoded(void **state)
{
    struct nd_target target;
    char copy[64];

    (void)state;
    assert_int_equal(parse("/v1/compare?a=x+%2B&&b=%E2%82%AC%26&a_security", copy, &target),
                     ND_REFUSAL_NONE);
    assert_view(target.parameter[ND_PARAMETER_A], "x +");
    assert_view(target.parameter[ND_PARAMETER_B], "\xE2\x82\xAC&");
    assert_true(target.has[ND_PARAMETER_A_SECURITY] && !target.has[ND_PARAMETER_B_SECURITY]);
    assert_int_equal(nd_target_check(&target, NULL), ND_REFUSAL_NONE);
    assert_int_equal(parse("/v1/crawl?%6cimit=5", copy, &target), ND_REFUSAL_NONE);
    assert_true(target.has[ND_PARAMETER_LIMIT]);
    assert_int_equal(parse("/v1/crawl?a=5", copy, &target), ND_REFUSAL_NONE);
    assert_int_equal(nd_target_check(&target, NULL), ND_REFUSAL_MALFORMED);
}

/* A path with GET and POST has other parameters, and another limit, with each. */
static void the_method_decides_about_parameters(void **state)
{
    static const struct {
        const char *text;
        bool get, post;
    } of[] = {{"/v1/documents?limit=10000", true, false}, {"/v1/documents?limit=100", true, true},
              {"/v1/documents?cursor=AA", true, false},   {"/v1/documents?since=1h", true, false},
              {"/v1/documents?site=a", true, false},      {"/v1/documents?dry=1", false, true},
              {"/v1/documents?id=a", false, true},        {"/v1/documents?title=a", true, true}};
    struct nd_target target;
    char copy[64];
    size_t limit;

    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (int is_post = 0; is_post < 2; is_post++) {
            assert_int_equal(parse(of[i].text, copy, &target), ND_REFUSAL_NONE);
            target.verb = is_post ? ND_VERB_POST : ND_VERB_GET;
            assert_int_equal(nd_target_check(&target, NULL) == ND_REFUSAL_NONE &&
                                 nd_target_limit(&target, 1, &limit, NULL) == ND_REFUSAL_NONE,
                             is_post ? of[i].post : of[i].get);
        }
    assert_string_equal(nd_route_allow(ND_ROUTE_DOCUMENTS), "GET, HEAD, POST, OPTIONS");
}

/* A place of any length reads back, and nothing else is read as it. */
static void cursors_read_back(void **state)
{
    struct nd_place place = {.len = 0}, read;
    char text[ND_CURSOR_MAX];

    (void)state;
    for (size_t len = 1; len <= ND_STORE_PLACE_MAX; len++) {
        size_t n;

        place.bytes[len - 1] = (uint8_t)(len * 151);
        place.len = len;
        n = nd_cursor_write(&place, text);
        assert_true(n <= ND_CURSOR_MAX && n == (len * 4 + 2) / 3);
        assert_true(nd_cursor_read((struct nd_view){text, n}, &read));
        assert_int_equal(read.len, len);
        assert_memory_equal(read.bytes, place.bytes, len);
        assert_false(n % 4 && nd_cursor_read((struct nd_view){text, n - 1}, &read) &&
                     read.len == len);
    }
    place = (struct nd_place){.len = 3, .bytes = {0xFB, 0xFF, 0xBE}};
    assert_int_equal(nd_cursor_write(&place, text), 4);
    assert_memory_equal(text, "-_--", 4);
}

static void what_is_no_cursor_is_refused(void **state)
{
    static const char *const none[] = {"",     "A",    "AB",    "AAA=", "AA+A",
                                       "AA/A", "AA A", "AAAAB", "AAD"};
    char zero[4] = {'A', 'A', '\0', 'A'}, text[ND_CURSOR_MAX + 4];
    struct nd_place place;

    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(nd_cursor_read((struct nd_view){none[i], strlen(none[i])}, &place));
    assert_false(nd_cursor_read((struct nd_view){zero, 4}, &place));
    memset(text, 'A', sizeof text);
    assert_false(nd_cursor_read((struct nd_view){text, sizeof text}, &place));
}

static void percent_signs_need_two_digits(void **state)
{
    static const char *const bad[] = {"%", "a%", "%1", "%g0", "%0g", "%%41", "a%4"};
    char copy[8];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memcpy(copy, bad[i], strlen(bad[i]));
        assert_true(nd_percent_decode(copy, strlen(bad[i]), false) == SIZE_MAX);
    }
    memcpy(copy, "%41%4a+", 7);
    assert_int_equal(nd_percent_decode(copy, 7, true), 3);
    assert_memory_equal(copy, "AJ ", 3);
}

static void labels_are_split_at_commas(void **state)
{
    struct nd_label_list list;

    (void)state;
    assert_int_equal(nd_labels_split(VIEW(""), &list, NULL), ND_REFUSAL_NONE);
    assert_int_equal(list.n, 0);
    assert_int_equal(nd_labels_split(VIEW("b,a c"), &list, NULL), ND_REFUSAL_NONE);
    assert_int_equal(list.n, 2);
    assert_view(list.label[1], "a c");
    assert_int_equal(nd_labels_split(VIEW(","), &list, NULL), ND_REFUSAL_INVALID);
    assert_int_equal(nd_labels_split(VIEW("a,"), &list, NULL), ND_REFUSAL_INVALID);
    assert_int_equal(nd_labels_split(VIEW(",a"), &list, NULL), ND_REFUSAL_INVALID);
}

static void labels_are_sorted_and_stand_once(void **state)
{
    struct nd_label_list list;

    (void)state;
    assert_int_equal(nd_labels_split(VIEW("b,ab,a,b,,"), &list, NULL), ND_REFUSAL_INVALID);
    assert_int_equal(nd_labels_split(VIEW("b,ab,a,b,\xC3\xA9,a"), &list, NULL), ND_REFUSAL_NONE);
    nd_labels_sort(&list);
    assert_int_equal(list.n, 4);
    assert_view(list.label[0], "a");
    assert_view(list.label[1], "ab");
    assert_view(list.label[2], "b");
    assert_view(list.label[3], "\xC3\xA9");
}

/* ---- Heads ---- */

static void hosts_are_compared_without_ports_and_case(void **state)
{
    static const char *const names[] = {"a.example"};

    (void)state;
    assert_true(nd_host_is_known(VIEW("A.Example:80"), names, 1));
    assert_true(nd_host_is_known(VIEW("127.255.0.1"), NULL, 0));
    assert_true(nd_host_is_known(VIEW("[::1]:8080"), NULL, 0));
    assert_true(nd_host_is_known(VIEW("[0:0::0:1]"), NULL, 0));
    assert_false(nd_host_is_known(VIEW("a.example."), names, 1));
    assert_false(nd_host_is_known(VIEW("xa.example"), names, 1));
    assert_false(nd_host_is_known(VIEW("128.0.0.1"), NULL, 0));
    assert_false(nd_host_is_known(VIEW("127.1"), NULL, 0));
    assert_false(nd_host_is_known(VIEW(""), names, 1));
    assert_false(nd_host_is_known((struct nd_view){NULL, 0}, names, 1));
}

static enum nd_refusal check_host(const char *host)
{
    struct nd_head head = {.host = {host, strlen(host)}};
    struct nd_error err;

    return nd_head_check(&head, true, &err);
}

static void ports_of_hosts_are_numbers(void **state)
{
    static const char *const good[] = {"", "a", "a:0", "a:65535", "[::1]", "[::1]:80", "[::1"};
    static const char *const bad[] = {"a:",    ":",      "a:b",    "a:65536",
                                      "a:1:2", "[::1]:", "[::1]a", "::"};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(check_host(good[i]), ND_REFUSAL_NONE);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(check_host(bad[i]), ND_REFUSAL_MALFORMED);
}

static void origins_are_compared_with_hosts(void **state)
{
    (void)state;
    assert_true(nd_origin_is_same(VIEW("http://a:1"), VIEW("A:1")));
    assert_true(nd_origin_is_same(VIEW("https://a"), VIEW("a:443")));
    assert_false(nd_origin_is_same(VIEW("http://a:1"), VIEW("a:2")));
    assert_false(nd_origin_is_same(VIEW("http://a"), VIEW("ab")));
    assert_false(nd_origin_is_same(VIEW("null"), VIEW("null")));
    assert_false(nd_origin_is_same(VIEW("http://"), VIEW("")));
}

static void types_have_charsets(void **state)
{
    struct nd_view charset;

    (void)state;
    assert_int_equal(nd_media_parse(VIEW("text/html"), &charset), ND_MEDIA_HTML);
    assert_null(charset.data);
    assert_int_equal(nd_media_parse(VIEW("TEXT/plain; a=b;\tCharset=\"x-y\" "), &charset),
                     ND_MEDIA_TEXT);
    assert_view(charset, "x-y");
    assert_int_equal(nd_media_parse(VIEW("text/plainx"), &charset), ND_MEDIA_OTHER);
    assert_int_equal(nd_media_parse((struct nd_view){NULL, 0}, &charset), ND_MEDIA_NONE);
}

/* ---- Keys ---- */

static void keys_read_back(void **state)
{
    const struct nd_view labels[] = {VIEW("a"), VIEW("b c")}, plain[] = {VIEW("a"), VIEW("b")};
    struct nd_service_key key;
    struct nd_error err;
    char *text, *line, *other, *other_line;

    (void)state;
    assert_int_equal(nd_server_key_new("me", plain, 2, false, &text, &line, &err), ND_OK);
    assert_int_equal(strlen(text), 64);
    assert_null(strstr(line, text));
    assert_int_equal(nd_key_parse((struct nd_view){line, strlen(line)}, &key, &err), 1);
    assert_view(key.name, "me");
    assert_int_equal(key.labels.n, 2);
    assert_false(key.is_administrator);
    free(key.line);
    assert_int_equal(nd_server_key_new("me", plain, 2, true, &other, &other_line, &err), ND_OK);
    assert_string_not_equal(text, other);
    assert_int_equal(nd_key_parse((struct nd_view){other_line, strlen(other_line)}, &key, &err), 1);
    assert_true(key.is_administrator);
    free(key.line);
    assert_int_equal(nd_server_key_new("me", labels, 2, false, &text + 0, &line + 0, &err),
                     ND_EINVAL);
    assert_int_equal(nd_server_key_new("", plain, 2, false, &text, &line, &err), ND_EINVAL);
    assert_int_equal(nd_server_key_new("a b", plain, 2, false, &text, &line, &err), ND_EINVAL);
    free(text);
    free(line);
    free(other);
    free(other_line);
}

/* ---- Problems and answers ---- */

static void every_result_of_the_store_has_a_status(void **state)
{
    static const unsigned status[] = {200, 404, 409, 403, 422, 429, 507, 503, 500};

    (void)state;
    for (unsigned i = ND_STORE_OK; i <= ND_STORE_FAILED; i++)
        assert_int_equal(nd_refusal_status(nd_refusal_of_store((enum nd_store_result)i)),
                         status[i]);
    for (unsigned i = 1; i < ND_REFUSAL_COUNT; i++) {
        struct nd_json out = {0};

        nd_refusal_json(&out, (enum nd_refusal)i, NULL);
        assert_true(!out.failed && out.text.len > 20);
        assert_true(nd_refusal_status((enum nd_refusal)i) >= 400);
        nd_json_release(&out);
    }
}

static void assert_json(struct nd_json *out, const char *text)
{
    assert_view((struct nd_view){out->text.data, out->text.len}, text);
    nd_json_release(out);
}

static void ids_are_escaped(void **state)
{
    const struct nd_view labels[] = {VIEW("a\"b"), VIEW("\\")};
    const struct nd_document_key key = {VIEW("\0\n\"\\/<\x7F\xC3\xA9"), labels, 2};
    struct nd_json out = {0};

    (void)state;
    nd_json_open(&out, '{');
    nd_put_document_key(&out, &key);
    nd_json_close(&out, '}');
    assert_json(
        &out,
        "{\"id\":\"\\u0000\\n\\\"\\\\/<\\u007f\xC3\xA9\",\"security\":[\"a\\\"b\",\"\\\\\"]}");
}

static void times_are_those_of_utc(void **state)
{
    struct nd_json out = {0};

    (void)state;
    nd_json_open(&out, '{');
    nd_put_time(&out, "a", 0);
    nd_put_time(&out, "b", 951782400);
    nd_put_time(&out, "c", UINT64_MAX);
    nd_json_close(&out, '}');
    assert_json(&out, "{\"a\":null,\"b\":\"2000-02-29T00:00:00Z\",\"c\":null}");
}

static void a_verdict_without_a_measure_says_null(void **state)
{
    const struct nd_nearest nearest = {.key = {VIEW("a"), NULL, 0},
                                       .likeness = {.distance = UINT32_MAX}};
    struct nd_verdict verdict = {
        .kind = ND_VERDICT_NEAR_DUPLICATE, .nearest = &nearest, .n_nearest = 1, .tokens = 5};
    struct nd_json out = {0};

    (void)state;
    nd_json_open(&out, '{');
    nd_put_verdict(&out, &verdict, false);
    nd_json_close(&out, '}');
    assert_json(
        &out, "{\"verdict\":\"near-duplicate\",\"of\":{\"id\":\"a\",\"security\":[]},"
              "\"evidence\":{\"identical\":\"no\",\"resemblance\":null,\"shared\":null,"
              "\"shingles\":null,\"distance\":null},\"nearest\":[{\"id\":\"a\","
              "\"security\":[],\"title\":null,\"visited\":null,\"evidence\":{\"identical\":\"no\","
              "\"resemblance\":null,\"shared\":null,\"shingles\":null,"
              "\"distance\":null}}],\"cluster\":null,\"tokens\":5,\"shingles\":0,"
              "\"simhash\":null,\"short\":false,\"empty\":false,\"cut\":false,"
              "\"work\":{\"security_sets\":0,\"candidates\":0,\"comparisons\":0,"
              "\"pairs\":0}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_lead_to_routes),
        cmocka_unit_test(parameters_are_decoded),
        cmocka_unit_test(the_method_decides_about_parameters),
        cmocka_unit_test(cursors_read_back),
        cmocka_unit_test(what_is_no_cursor_is_refused),
        cmocka_unit_test(percent_signs_need_two_digits),
        cmocka_unit_test(labels_are_split_at_commas),
        cmocka_unit_test(labels_are_sorted_and_stand_once),
        cmocka_unit_test(hosts_are_compared_without_ports_and_case),
        cmocka_unit_test(ports_of_hosts_are_numbers),
        cmocka_unit_test(origins_are_compared_with_hosts),
        cmocka_unit_test(types_have_charsets),
        cmocka_unit_test(keys_read_back),
        cmocka_unit_test(every_result_of_the_store_has_a_status),
        cmocka_unit_test(ids_are_escaped),
        cmocka_unit_test(times_are_those_of_utc),
        cmocka_unit_test(a_verdict_without_a_measure_says_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
