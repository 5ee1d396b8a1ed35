/* test_web_files.c - the files of web/ are in the program, as they are in the folder */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/wire/web_files.h"

static const struct nd_web_file *at(const char *path)
{
    return nd_web_file_find((struct nd_view){path, strlen(path)});
}

static void each_file_has_the_bytes_of_its_source(void **state)
{
    (void)state;
    assert_true(nd_web_table_count > 0);
    for (size_t i = 0; i < nd_web_table_count; i++) {
        const struct nd_web_file *file = &nd_web_table[i];
        char name[256];
        unsigned char *bytes = malloc(file->len + 1);
        FILE *source;

        snprintf(name, sizeof name, "web%s", strcmp(file->path, "/") ? file->path : "/index.html");
        source = fopen(name, "rb");
        assert_non_null(bytes);
        assert_non_null(source);
        assert_int_equal(fread(bytes, 1, file->len + 1, source), file->len);
        assert_memory_equal(bytes, file->bytes, file->len);
        fclose(source);
        free(bytes);
    }
}

static void files_are_found_by_their_whole_path(void **state)
{
    const struct nd_web_file *file = at("/openapi.json");

    (void)state;
    assert_non_null(file);
    assert_string_equal(file->type, "application/json");
    assert_int_equal(strlen(file->etag), 34);
    assert_null(at("/openapi.jso"));
    assert_null(at("/openapi.json/"));
    assert_null(at("openapi.json"));
    assert_null(at("/../CHANGELOG.md"));
    assert_null(at(""));
}

static void every_file_has_a_type_and_a_tag_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < nd_web_table_count; i++) {
        assert_true(strlen(nd_web_table[i].type) > 0);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(nd_web_table[i].etag, nd_web_table[j].etag);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_file_has_the_bytes_of_its_source),
        cmocka_unit_test(files_are_found_by_their_whole_path),
        cmocka_unit_test(every_file_has_a_type_and_a_tag_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
