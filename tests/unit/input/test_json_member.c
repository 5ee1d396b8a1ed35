/* test_json_member.c - objects of JSON with one member more */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "input/formats/json_walk.h"
#include "report/json_member.h"
#include "sized.h"

static uint64_t state = 7;

static unsigned below(unsigned n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % n;
}

static void put(struct nd_json *out, const char *text)
{
    nd_json_bytes(out, text, strlen(text));
}

/* Keys that are the one that is looked for, and keys that are like it. */
static const char *const keys[] = {"\"ab\"",  "\"a\\u0062\"", "\"\\u0061b\"", "\"a\"",
                                   "\"ab \"", "\"a\\\"b\"",   "\"\"",         "\"\\\\ab\"",
                                   "\"AB\"",  "\"abc\""};
static const char *const spaces[] = {"", "", " ", "\t", "\r "};

static void put_any(struct nd_json *out, const char *const *list, unsigned n)
{
    put(out, list[below(n)]);
}

static void put_space(struct nd_json *out)
{
    put_any(out, spaces, 5);
}

static void put_object(struct nd_json *out, unsigned depth);

static void put_value(struct nd_json *out, unsigned depth)
{
    static const char *const values[] = {
        "1",      "null", "\"ab\"", "\"}\"", "\",\\\"\"",
        "-1.5e3", "[]",   "true",   "{}",    "[\"ab\",{\"ab\":1}]"};

    if (depth < 3 && below(4) == 0)
        put_object(out, depth + 1);
    else
        put_any(out, values, 10);
}

static void put_object(struct nd_json *out, unsigned depth)
{
    unsigned n = below(4);

    put(out, "{");
    put_space(out);
    for (unsigned i = 0; i < n; i++) {
        put(out, i ? "," : "");
        put_space(out);
        put_any(out, keys, 10);
        put_space(out);
        put(out, ":");
        put_space(out);
        put_value(out, depth);
        put_space(out);
    }
    put(out, "}");
}

/* The value of the member "ab" at the top, as the reader of records finds it. */
static enum nd_json_kind kind_of(const struct nd_json *object, struct nd_json_value *value)
{
    static const struct nd_view path = {"ab", 2};
    static struct nd_json_indexer *indexer;
    struct nd_arena arena = {0};
    struct nd_view text = object->text.len ? (struct nd_view){object->text.data, object->text.len}
                                           : (struct nd_view){"", 0};
    char *padded = calloc(1, text.len + 64);
    const char *reason = "";

    if (!indexer)
        indexer = nd_json_indexer_new();
    assert_non_null(padded);
    memcpy(padded, text.data, text.len);
    *value = (struct nd_json_value){.kind = ND_JSON_ABSENT};
    assert_int_equal(nd_json_walk(indexer, padded, text.len, &path, 1, 0, &arena, value, &reason),
                     ND_JSON_INDEXED);
    nd_arena_release(&arena);
    free(padded);
    return value->kind;
}

static void put_seven(struct nd_json *out, const void *context)
{
    nd_json_uint(out, *(const uint64_t *)context);
}

static void members_are_found_as_the_reader_finds_them(void **unused)
{
    static const struct nd_view key = {"ab", 2};
    const uint64_t seven = 7;
    unsigned found = 0;

    (void)unused;
    for (unsigned i = 0; i < sized(200000, 20000); i++) {
        struct nd_json object = {.failed = false}, longer = {.failed = false};
        struct nd_json_value value;
        struct nd_view text;
        bool has;

        put_space(&object);
        put_object(&object, 0);
        put_space(&object);
        text = (struct nd_view){object.text.data, object.text.len};
        has = kind_of(&object, &value) != ND_JSON_ABSENT;
        found += has;
        assert_int_equal(nd_json_has_member(text, key), has);
        /* Then there is one member of this name, with the new value. */
        nd_json_put_member(&longer, text, key, put_seven, &seven);
        assert_int_equal(kind_of(&longer, &value), ND_JSON_NUMBER);
        if (!has)
            assert_memory_equal(longer.text.data, text.data, 1);
        nd_json_release(&object);
        nd_json_release(&longer);
    }
    assert_true(found > 1000);
}

static void only_members_of_the_name_are_left_out(void **unused)
{
    static const struct {
        const char *object, *longer;
    } rows[] = {
        {"{}", "{\"ab\":7}"},
        {" { } ", " { \"ab\":7} "},
        {"{\"x\":1}", "{\"x\":1,\"ab\":7}"},
        {"{\"ab\":1}", "{\"ab\":7}"},
        {"{\"ab\":1,\"x\":\"ab\",\"a\\u0062\":{\"ab\":[1,2]}}", "{\"x\":\"ab\",\"ab\":7}"},
        {"{\"x\":{\"ab\":1}}\r\n", "{\"x\":{\"ab\":1},\"ab\":7}\r\n"},
    };
    const uint64_t seven = 7;

    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nd_json out = {.failed = false};

        nd_json_put_member(&out, (struct nd_view){rows[i].object, strlen(rows[i].object)},
                           (struct nd_view){"ab", 2}, put_seven, &seven);
        assert_int_equal(out.text.len, strlen(rows[i].longer));
        assert_memory_equal(out.text.data, rows[i].longer, out.text.len);
        nd_json_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_found_as_the_reader_finds_them),
        cmocka_unit_test(only_members_of_the_name_are_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
