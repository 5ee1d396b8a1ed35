/* test_metadata.c - fields and links as features: which, with what weight, and lists refused */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "feature/metadata.h"

#include <neardup/text.h>

#define VIEW(s)                                                                                    \
    {                                                                                              \
        s, sizeof(s) - 1                                                                           \
    }

static struct nd_metadata *new_metadata(const char *fields, const char *force, int links)
{
    struct nd_feature_params p = nd_feature_params_default();
    struct nd_error err = {.message = ""};
    struct nd_metadata *m;

    memcpy(p.fields, fields, strlen(fields) + 1);
    memcpy(p.force, force, strlen(force) + 1);
    p.links = (unsigned char)links;
    m = nd_metadata_new(&p, &err);
    assert_string_equal(err.message, "");
    return m;
}

static struct nd_metadata_features explain(struct nd_metadata *m, const struct nd_document *d)
{
    struct nd_metadata_features out = {.count = 99};

    assert_int_equal(nd_metadata_explain(m, d, &out), ND_OK);
    return out;
}

static void assert_text(const struct nd_metadata_features *f, const char *text)
{
    assert_int_equal(f->text_len, strlen(text));
    assert_memory_equal(f->text, text, f->text_len);
}

static void a_field_weighs_its_share(void **state)
{
    static const struct nd_field fields[] = {
        {VIEW("title"), VIEW("The Cat, again")},
        {VIEW("date"), VIEW("2007-01-02")},
        {VIEW("author"), {NULL, 0}},
        {VIEW("section"), VIEW("")},
    };
    struct nd_document d = {.fields = fields, .n_fields = 4};
    struct nd_metadata *m = new_metadata("section title:0.5, date:5 author", "", 0);
    struct nd_metadata_features f = explain(m, &d);
    uint64_t h = nd_mix64(nd_hash_bytes("title", 5) ^ nd_mix64(0x6669656C64));

    (void)state;
    assert_text(&f, "title=The Cat, again\ndate=2007-01-02\n");
    assert_int_equal(f.count, 2);
    assert_int_equal(f.items[0].weight, ND_WEIGHT_ONE / 2);
    assert_int_equal(f.items[1].weight, 5 * ND_WEIGHT_ONE);
    h = nd_mix64(h ^ nd_token_hash("the", 3));
    h = nd_mix64(h ^ nd_token_hash("cat", 3));
    h = nd_mix64(h ^ nd_token_hash("again", 5));
    assert_true(f.items[0].hash == h);
    nd_metadata_free(m);
}

static void the_name_is_part_of_the_feature(void **state)
{
    static const struct nd_field fields[] = {{VIEW("a"), VIEW("x")}, {VIEW("b"), VIEW("x")}};
    struct nd_document d = {.fields = fields, .n_fields = 2};
    struct nd_metadata *m = new_metadata("a b", "", 0);
    struct nd_metadata_features f = explain(m, &d);

    (void)state;
    assert_int_equal(f.count, 2);
    assert_true(f.items[0].hash != f.items[1].hash);
    assert_true(f.items[0].hash != nd_token_hash("x", 1));
    nd_metadata_free(m);
}

static void the_values_of_an_array_are_features_each(void **state)
{
    static const struct nd_field fields[] = {
        {VIEW("tags"), VIEW("[ \"Health \\u0026 \\\"Care\\\"\", \"x\",\"x\" , 12, null, \"\", "
                            "\"\\ud83d\\ude00\\n\", true]")},
        {VIEW("title"), VIEW("[Update] News]")},
        {VIEW("none"), VIEW("[]")},
        {VIEW("odd"), VIEW("[\"a\" \"b\"]")},
    };
    struct nd_document d = {.fields = fields, .n_fields = 4};
    struct nd_metadata *m = new_metadata("tags title none odd", "", 0);
    struct nd_metadata_features f = explain(m, &d);

    (void)state;
    assert_text(&f, "tags=Health & \"Care\"\ntags=x\ntags=12\ntags=\xF0\x9F\x98\x80 \ntags=true\n"
                    "title=[Update] News]\nodd=[\"a\" \"b\"]\n");
    nd_metadata_free(m);
}

static int32_t weight_of(const char *list, const char *value, uint64_t *hash)
{
    struct nd_field field = {VIEW("views"), {value, strlen(value)}};
    struct nd_document d = {.fields = &field, .n_fields = 1};
    struct nd_metadata *m = new_metadata(list, "", 0);
    struct nd_metadata_features f = explain(m, &d);
    int32_t weight = f.count ? f.items[0].weight : -1;

    if (f.count)
        *hash = f.items[0].hash;
    nd_metadata_free(m);
    return weight;
}

/* The heaviest has the share, the others in proportion; what is no object of numbers has nothing.
 */
static void values_may_have_weights_of_their_own(void **state)
{
    static const struct nd_field pages[] = {
        {VIEW("words"),
         VIEW("{\"bees\":3, \"old \\u0077ax\" : 1.5,\"x\":0,\"y\":-1,\"\":9,\"z\":null,"
              "\"\\ud83d\\ude00\":1e-3 }")},
        {VIEW("words"), VIEW("{}")},
        {VIEW("words"), VIEW("{\"bees\":\"3\"}")},
        {VIEW("words"), VIEW("{\"bees\":3")},
        {VIEW("words"), VIEW("{\"bees\":3}}")},
        {VIEW("words"), VIEW("{\"bees\":{}}")},
        {VIEW("words"), VIEW("[\"bees\"]")},
        {VIEW("words"), VIEW("bees")},
        {VIEW("words"), VIEW("")},
        {VIEW("words"), {NULL, 0}},
    };
    struct nd_metadata *m = new_metadata("words:0.5:weights", "", 0), *plain;
    struct nd_field field = {VIEW("words"), VIEW("bees")};
    struct nd_document d = {.fields = pages, .n_fields = 1}, other;
    struct nd_metadata_features f = explain(m, &d), g;

    (void)state;
    assert_text(&f, "words=bees\nwords=old wax\nwords=\xF0\x9F\x98\x80\n");
    assert_int_equal(f.items[0].weight, ND_WEIGHT_ONE / 2);
    assert_int_equal(f.items[1].weight, ND_WEIGHT_ONE / 4);
    assert_int_equal(f.items[2].weight, 5); /* 16384 / 3000, to nearest */
    plain = new_metadata("words", "", 0);
    other = (struct nd_document){.fields = &field, .n_fields = 1};
    g = explain(plain, &other);
    assert_true(g.items[0].hash == f.items[0].hash); /* the same value of the same field */
    nd_metadata_free(plain);
    for (size_t i = 1; i < sizeof pages / sizeof *pages; i++) {
        d.fields = &pages[i];
        f = explain(m, &d);
        assert_int_equal(f.count, 0);
    }
    nd_metadata_free(m);
}

/* Return the hash of the only feature of a value; 0: it has none. */
static uint64_t hash_of(const char *fields, const char *value)
{
    struct nd_metadata *m = new_metadata(fields, "", 0);
    struct nd_field field = {VIEW("url"), {value, strlen(value)}};
    struct nd_document d = {.fields = &field, .n_fields = 1};
    struct nd_metadata_features f = explain(m, &d);
    uint64_t hash = f.count ? f.items[0].hash : 0;

    assert_true(f.count <= 1);
    nd_metadata_free(m);
    return hash;
}

static void addresses_are_compared_in_their_canonical_form(void **state)
{
    static const char list[] = "url:1:address", page[] = "http://a.org/B-c?x=1&y=2";
    struct nd_metadata *m = new_metadata(list, "", 0);
    struct nd_field field = {VIEW("url"), VIEW("HTTP://A.org:80/./B-c?y=2&utm_id=3&x=1#d")};
    struct nd_document d = {.fields = &field, .n_fields = 1};
    struct nd_metadata_features f = explain(m, &d);

    (void)state;
    assert_text(&f, "url=http://a.org/B-c?x=1&y=2\n");
    assert_int_equal(f.items[0].weight, ND_WEIGHT_ONE);
    assert_true(f.items[0].hash == hash_of(list, page));
    assert_true(hash_of(list, page) != hash_of("url", page));
    assert_true(hash_of(list, page) != hash_of(list, "http://a.org/b-c?x=1&y=2"));
    assert_true(hash_of(list, page) != hash_of(list, "http://a.org/B/c?x=1&y=2"));
    assert_true(hash_of(list, " \t") == 0);
    nd_metadata_free(m);
}

static void extremes_weigh_much_and_the_middle_little(void **state)
{
    static const char list[] = "views:2:0:100";
    uint64_t low, high, other;

    (void)state;
    assert_int_equal(weight_of(list, "0", &low), 2 * ND_WEIGHT_ONE);
    assert_int_equal(weight_of(list, "100", &high), 2 * ND_WEIGHT_ONE);
    assert_true(low != high);
    assert_int_equal(weight_of(list, "50", &other), 0);
    assert_true(other == low);
    assert_int_equal(weight_of(list, "75.00", &other), ND_WEIGHT_ONE);
    assert_true(other == high);
    assert_int_equal(weight_of(list, "2.5e1", &other), ND_WEIGHT_ONE);
    assert_int_equal(weight_of(list, "-7", &other), 2 * ND_WEIGHT_ONE);
    assert_int_equal(weight_of(list, "1e400", &other), 2 * ND_WEIGHT_ONE);
    assert_int_equal(weight_of(list, "1e-400", &other), 2 * ND_WEIGHT_ONE);
    assert_int_equal(weight_of(list, "many", &other), -1);
    assert_int_equal(weight_of("views:1:-1e-6:0.000001", "0.0000005", &other), ND_WEIGHT_ONE / 2);
}

static void buckets_have_the_whole_weight(void **state)
{
    static const char list[] = "views:1:0:80:8";
    uint64_t first, other;

    (void)state;
    assert_int_equal(weight_of(list, "-1", &first), ND_WEIGHT_ONE);
    weight_of(list, "9.99", &other);
    assert_true(other == first);
    weight_of(list, "10", &other);
    assert_true(other != first);
    weight_of(list, "79", &first);
    weight_of(list, "1000", &other);
    assert_true(other == first);
}

static void forced_fields_come_in_order(void **state)
{
    static const struct nd_field fields[] = {{VIEW("date"), VIEW("May")},
                                             {VIEW("page"), VIEW("7")}};
    struct nd_document d = {.fields = fields, .n_fields = 2};
    struct nd_metadata *m = new_metadata("date", "page:3 date", 0);
    struct nd_metadata_features f = explain(m, &d);

    (void)state;
    assert_text(&f, "date=May\npage=7\ndate=May\n");
    assert_int_equal(f.count, 1);
    assert_int_equal(f.n_forced, 2);
    assert_int_equal(f.forced[0].weight, 3);
    assert_int_equal(f.forced[1].weight, 1);
    assert_true(f.forced[1].hash == f.items[0].hash);
    nd_metadata_free(m);
}

static void each_target_is_a_feature_once(void **state)
{
    static const struct nd_link links[] = {
        {.target = VIEW("/a")},     {.target = VIEW(" /a#top\n")}, {.target = VIEW("#here")},
        {.target = VIEW("/a?b=c")}, {.target = {NULL, 0}},
    };
    struct nd_document d = {.links = links, .n_links = 5};
    struct nd_metadata *m = new_metadata("", "", 1);
    struct nd_metadata_features f = explain(m, &d);

    (void)state;
    assert_text(&f, "link=/a\nlink=/a?b=c\n");
    assert_int_equal(f.count, 2);
    assert_int_equal(f.items[1].weight, ND_WEIGHT_ONE);
    nd_metadata_free(m);
    m = new_metadata("", "", 0);
    f = explain(m, &d);
    assert_int_equal(f.count, 0);
    nd_metadata_free(m);
}

static void many_features_stay_distinct(void **state)
{
    enum { MANY = 1000 };
    static struct nd_link links[MANY];
    static char text[MANY][16];
    struct nd_document d = {.links = links, .n_links = MANY};
    struct nd_metadata *m = new_metadata("", "", 1);
    struct nd_metadata_features f;

    (void)state;
    for (int i = 0; i < MANY; i++) {
        int n = snprintf(text[i], sizeof text[i], "/%d", i % 300);

        links[i].target = (struct nd_view){text[i], (size_t)n};
    }
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(nd_metadata_run(m, &d, &f), ND_OK);
        assert_int_equal(f.count, 300);
        assert_null(f.text);
    }
    nd_metadata_free(m);
}

static void bad_lists_are_refused_with_the_entry(void **state)
{
    static const char *const bad[] = {
        "title:",      ":1",          "title:0",     "title:1001", "title:x",
        "a:1:2",       "a:1:2:",      "a:1:5:5",     "a:1:9:2",    "a:1:0:1:1",
        "a:1:0:1:2.5", "a:1:0:1:8:9", "title title", "a:1:zero:1", "a:1:0:1:9999999",
    };
    static const char *const bad_force[] = {"date:0", "date:63", "date:1.5", "date:1:1",
                                            ":1",     "a a",     "date:x"};
    struct nd_feature_params p = nd_feature_params_default();
    struct nd_error err;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(p.fields, sizeof p.fields, "good %s", bad[i]);
        err.message[0] = 0;
        assert_null(nd_metadata_new(&p, &err));
        assert_int_equal(err.status, ND_EINVAL);
        assert_non_null(strstr(err.message, "fields: \""));
    }
    p.fields[0] = 0;
    for (size_t i = 0; i < sizeof bad_force / sizeof *bad_force; i++) {
        snprintf(p.force, sizeof p.force, "%s", bad_force[i]);
        assert_null(nd_metadata_new(&p, &err));
        assert_int_equal(err.status, ND_EINVAL);
        assert_non_null(strstr(err.message, "force: \""));
    }
}

static void the_names_of_fields_are_listed_once(void **state)
{
    struct nd_feature_params p = nd_feature_params_default();
    static const char want[] = "title\0date\0page";
    char names[ND_FEATURE_NAMES_MAX];
    size_t n;

    (void)state;
    memcpy(p.fields, "title:2 date", 13);
    memcpy(p.force, "date:2 page", 12);
    assert_int_equal(nd_feature_field_names(&p, names, &n, NULL), ND_OK);
    assert_int_equal(n, 3);
    assert_memory_equal(names, want, sizeof want);
    memcpy(p.reserved_field, "page", 5);
    assert_int_equal(nd_feature_field_names(&p, names, &n, NULL), ND_OK);
    assert_int_equal(n, 3);
    memcpy(p.reserved_field, "lang", 5);
    assert_int_equal(nd_feature_field_names(&p, names, &n, NULL), ND_OK);
    assert_int_equal(n, 4);
    assert_string_equal(names + sizeof want, "lang");
    p.fields[0] = ':';
    assert_int_equal(nd_feature_field_names(&p, names, &n, NULL), ND_EINVAL);
}

static void a_reserved_field_is_hashed_by_its_text(void **state)
{
    const struct nd_field field[] = {
        {{"lang", 4}, {"de", 2}}, {{"none", 4}, {NULL, 0}}, {{"empty", 5}, {"", 0}}};
    const struct nd_document d = {.fields = field, .n_fields = 3};

    (void)state;
    assert_true(nd_metadata_reserved(&d, "lang") == nd_mix64(nd_hash_bytes("de", 2)));
    assert_true(nd_metadata_reserved(&d, "none") == 0);
    assert_true(nd_metadata_reserved(&d, "empty") == 0);
    assert_true(nd_metadata_reserved(&d, "lan") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_weighs_its_share),
        cmocka_unit_test(the_name_is_part_of_the_feature),
        cmocka_unit_test(the_values_of_an_array_are_features_each),
        cmocka_unit_test(values_may_have_weights_of_their_own),
        cmocka_unit_test(addresses_are_compared_in_their_canonical_form),
        cmocka_unit_test(extremes_weigh_much_and_the_middle_little),
        cmocka_unit_test(buckets_have_the_whole_weight),
        cmocka_unit_test(forced_fields_come_in_order),
        cmocka_unit_test(each_target_is_a_feature_once),
        cmocka_unit_test(many_features_stay_distinct),
        cmocka_unit_test(bad_lists_are_refused_with_the_entry),
        cmocka_unit_test(the_names_of_fields_are_listed_once),
        cmocka_unit_test(a_reserved_field_is_hashed_by_its_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
