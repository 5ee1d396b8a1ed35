/* test_sketches.c - whether inputs are sketch files, and those whose bytes cannot be read */
#define _GNU_SOURCE
#include "sketches/sketches.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

ssize_t __real_pread(int fd, void *to, size_t len, off_t at);
static bool fails;

ssize_t __wrap_pread(int fd, void *to, size_t len, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t len, off_t at)
{
    if (!fails)
        return __real_pread(fd, to, len, at);
    errno = EIO;
    return -1;
}

static void an_input_whose_first_bytes_cannot_be_read_is_named(void **state)
{
    static const char *const names[] = {"in.sketch", "in.jsonl"};
    char folder[] = "/tmp/neardup-sketches-XXXXXX", path[64];

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const paths[] = {path};
        struct nd_error err = {.message = ""};
        struct nd_sketches *sketches;
        FILE *file;

        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        file = fopen(path, "w");
        assert_non_null(file);
        fputs("{\"text\":\"a\"}\n", file);
        fclose(file);
        assert_int_equal(nd_sketches_open(paths, 1, &sketches, &err), 0);
        fails = true;
        assert_int_equal(nd_sketches_open(paths, 1, &sketches, &err), ND_EIO);
        fails = false;
        assert_null(sketches);
        assert_memory_equal(err.message, path, strlen(path));
        assert_non_null(strstr(err.message, strerror(EIO)));
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_input_whose_first_bytes_cannot_be_read_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
