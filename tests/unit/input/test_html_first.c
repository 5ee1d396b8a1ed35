/* test_html_first.c - the first pages that a process reads, by several threads at once: libxml2
 * makes itself ready at the first, and two that do so at a time may wait for one another for ever
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <neardup/input.h>

#include "base/thread/pool.h"

enum { THREADS = 8, PROCESSES = 300, SECONDS = 300 };

static struct nd_parser *parser[THREADS];

static void parse(void *context, size_t task, unsigned worker)
{
    static const char page[128] = "<p>one <b>two";
    const struct nd_source source = {.path = "", .format = ND_FORMAT_HTML};
    struct nd_bad_record bad;
    struct nd_document d;

    (void)context;
    (void)task;
    if (nd_parser_parse(parser[worker], &source, (struct nd_view){page, strlen(page)}, &d, NULL,
                        &bad) != 1 ||
        d.text.len != 7)
        _exit(1);
}

static void read_at_once(void)
{
    struct nd_input_options options = nd_input_options_default();
    struct nd_pool *pool = nd_pool_new(THREADS, NULL);

    alarm(SECONDS);
    for (int i = 0; i < THREADS; i++)
        parser[i] = nd_parser_new(&options, NULL);
    if (!pool)
        _exit(1);
    nd_pool_run(pool, 4 * THREADS, parse, NULL);
    _exit(0);
}

static void first_pages_are_read_by_all_threads(void **state)
{
    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        pid_t child = fork();
        int status;

        assert_true(child >= 0);
        if (child == 0)
            read_at_once();
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_pages_are_read_by_all_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
