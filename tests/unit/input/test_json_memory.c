/* test_json_memory.c - memory that ends at any byte ends no program that reads JSON */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <neardup/input.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define HAS_OWN_MALLOC 1
#else
#define HAS_OWN_MALLOC 0

/* Memory of so many bytes, for all of the program: what is freed can be had again. */
static atomic_long left = LONG_MAX / 2;

#define FOR_ALL __attribute__((visibility("default"))) /* for the libraries too */

void *__libc_malloc(size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void __libc_free(void *p);

static void *count(void *p)
{
    if (p)
        atomic_fetch_sub(&left, (long)malloc_usable_size(p));
    return p;
}

FOR_ALL void *malloc(size_t bytes)
{
    return bytes > PTRDIFF_MAX || (long)bytes > atomic_load(&left) ? NULL
                                                                   : count(__libc_malloc(bytes));
}

FOR_ALL void *calloc(size_t n, size_t bytes)
{
    void *p = bytes && n > PTRDIFF_MAX / bytes ? NULL : malloc(n * bytes);

    return p ? memset(p, 0, n * bytes) : NULL;
}

FOR_ALL void *realloc(void *p, size_t bytes)
{
    long before = p ? (long)malloc_usable_size(p) : 0;
    void *grown;

    if ((long)bytes - before > atomic_load(&left))
        return NULL;
    grown = __libc_realloc(p, bytes);
    if (grown) {
        atomic_fetch_add(&left, before);
        (void)count(grown);
    }
    return grown;
}

FOR_ALL void free(void *p)
{
    if (p)
        atomic_fetch_add(&left, (long)malloc_usable_size(p));
    __libc_free(p);
}

/* 0: the record was read; 1: there was not enough memory, and the library says so; 2: else. */
static int parse_within(long bytes)
{
    static const char record[200] = "{\"text\":\"abc\"}\n";
    const struct nd_source source = {.path = "x", .format = ND_FORMAT_JSONL, .is_container = 1};
    struct nd_input_options options = nd_input_options_default();
    struct nd_bad_record bad;
    struct nd_document document;
    struct nd_error err = {0};
    struct nd_parser *parser;
    uint64_t repaired = 0;
    int got;

    atomic_store(&left, bytes);
    parser = nd_parser_new(&options, &err);
    got = parser ? nd_parser_parse(parser, &source, (struct nd_view){record, strlen(record)},
                                   &document, &repaired, &bad)
                 : (int)err.status;
    atomic_store(&left, LONG_MAX / 2);
    nd_parser_free(parser);
    return got == 1 ? 0 : got == ND_ENOMEM ? 1 : 2;
}
#endif

static void memory_that_ends_is_said(void **state)
{
    (void)state;
#if HAS_OWN_MALLOC
    skip();
#else
    int result = 1, failures = 0;

    for (long bytes = 0; result == 1; bytes += 512, failures++) {
        pid_t child = fork(); /* the first use of simdjson is the one that matters */
        int status;

        assert_true(child >= 0);
        if (child == 0)
            _exit(parse_within(bytes));
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status))
            fail_msg("%ld bytes: signal %d", bytes, WTERMSIG(status));
        result = WEXITSTATUS(status);
        assert_int_not_equal(result, 2);
        assert_true(bytes < 1 << 22);
    }
    assert_true(failures > 10);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_that_ends_is_said)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
