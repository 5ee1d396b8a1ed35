/* test_text_filter.c - filters as users write them, and runs of them within their limits */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/thread/pool.h"
#include "input/library/text_filter.h"

static const struct nd_filter_limits usual = {60, UINT64_C(2) << 30, 64 << 20};

/* The text that a filter made, and why it made none; released by the next call. */
static struct nd_buffer made;
static char reason[320];

static int run(const char *command, const char *document, const struct nd_filter_limits *limits)
{
    made.len = 0;
    *reason = '\0';
    return nd_filter_run(command, (struct nd_view){document, strlen(document)}, limits, &made,
                         reason, sizeof reason);
}

static void assert_made(const char *text)
{
    assert_int_equal(made.len, strlen(text));
    assert_memory_equal(made.data, text, made.len);
}

static void assert_refused(const char *command, const struct nd_filter_limits *limits,
                           const char *why)
{
    assert_int_equal(run(command, "some text", limits), 0);
    if (!strstr(reason, why))
        fail_msg("%s: %s, not %s", command, reason, why);
}

/* ---- As users write them ---- */

static void filters_have_endings_and_a_command_or_are_ready_made(void **state)
{
    static const char *const good[] = {"pdf",         "EPUB",    "pdf:pdftotext - -",
                                       "doc,rtf:x y", ".ps: gs", "tar.ps:a:b,c"};
    static const char *const bad[] = {"",      "x",        "pdf:",    "pdf: ",   ":cat",
                                      ",:cat", "a,,b:cat", "a/b:cat", "a b:cat", ".:cat"};
    struct nd_error err;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (nd_filter_check(good[i], &err) != ND_OK)
            fail_msg("%s: %s", good[i], err.message);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(nd_filter_check(bad[i], &err), ND_EINVAL);
        assert_ptr_equal(strstr(err.message, "filter: "), err.message);
    }
}

static const char *find(const struct nd_input_options *options, const char *name)
{
    return nd_filter_of_name(options, name, name + strlen(name));
}

static void the_last_filter_for_an_ending_counts(void **state)
{
    static const char *const filters[] = {"pdf", "doc,.PS:one", "ps:two", "tar.ps: three"};
    const struct nd_input_options options = {.filters = filters, .n_filters = 4};

    (void)state;
    assert_string_equal(find(&options, "a.doc"), "one");
    assert_string_equal(find(&options, "a.DOC"), "one");
    assert_string_equal(find(&options, "a.ps"), "two");
    assert_string_equal(find(&options, "a.tar.ps"), "three");
    assert_non_null(strstr(find(&options, "a.Pdf"), "pdftotext"));
    assert_string_equal(nd_filter_package(find(&options, "a.pdf")), "poppler-utils");
    assert_null(nd_filter_package(find(&options, "a.ps")));
    assert_null(find(&options, "pdf"));
    assert_null(find(&options, ".pdf"));
    assert_null(find(&options, "a.pdf.txt"));
    assert_null(find(&options, "a.xpdf"));
    assert_null(nd_filter_only(&options));
}

static void every_ready_made_filter_is_chosen_by_its_name(void **state)
{
    struct nd_input_filter row;
    size_t n = 0;

    (void)state;
    for (; nd_input_filter(n, &row); n++) {
        const struct nd_input_options options = {.filters = &row.name, .n_filters = 1};

        assert_string_equal(nd_filter_only(&options), row.command);
        assert_ptr_equal(strstr(row.command, row.program), row.command);
    }
    assert_int_equal(n, 4);
}

static void limits_are_read_and_others_stay(void **state)
{
    static const char *const bad[] = {"",          "time",     "time=",      "time=0",    "time=1s",
                                      "time=1K",   "time=-1",  "time=86401", "memory=1T", "size=1",
                                      "output=2G", "time=1,,", "output=1 "};
    struct nd_filter_limits limits = usual;

    (void)state;
    assert_int_equal(nd_filter_limits_parse("memory=1G,time=5", &limits, NULL), ND_OK);
    assert_int_equal(limits.seconds, 5);
    assert_true(limits.memory_bytes == 1 << 30);
    assert_true(limits.output_bytes == usual.output_bytes);
    assert_int_equal(nd_filter_limits_parse("output=3K", &limits, NULL), ND_OK);
    assert_true(limits.output_bytes == 3 << 10);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct nd_filter_limits before = limits;

        if (nd_filter_limits_parse(bad[i], &limits, NULL) != ND_EINVAL)
            fail_msg("'%s' was read", bad[i]);
        assert_memory_equal(&before, &limits, sizeof limits);
    }
}

/* ---- Runs ---- */

static void the_document_comes_in_and_the_text_comes_out(void **state)
{
    (void)state;
    assert_int_equal(run("tr a-z A-Z", "one two", &usual), 1);
    assert_made("ONE TWO");
    assert_int_equal(run("cat /dev/stdin /dev/stdin", "one ", &usual), 1); /* it is a file */
    assert_made("one one ");
    assert_int_equal(run("cat", "", &usual), 1);
    assert_made("");
    assert_int_equal(run("echo 'this is read by nobody' >&2; printf x", "one", &usual), 1);
    assert_made("x");
}

static void a_large_document_that_nobody_reads_harms_nobody(void **state)
{
    const size_t len = 8 << 20;
    char *document = malloc(len);

    (void)state;
    assert_non_null(document);
    memset(document, 'x', len);
    made.len = 0;
    assert_int_equal(nd_filter_run("exec <&-; echo done", (struct nd_view){document, len}, &usual,
                                   &made, reason, sizeof reason),
                     1);
    assert_made("done\n");
    made.len = 0;
    assert_int_equal(
        nd_filter_run("cat", (struct nd_view){document, len}, &usual, &made, reason, sizeof reason),
        1);
    assert_int_equal(made.len, len);
    assert_memory_equal(made.data, document, len);
    free(document);
}

static void failures_say_what_happened(void **state)
{
    (void)state;
    assert_refused("exit 3", &usual, "the filter 'exit 3' failed with status 3");
    assert_refused("echo 'no fonts' >&2; m=mo; echo ${m}re >&2; exit 1", &usual,
                   "status 1: no fonts");
    assert_null(strstr(reason, "more"));
    assert_refused("kill -9 $$", &usual, "was ended by signal 9");
    assert_refused("kill -13 $$", &usual, "was ended by signal 13");
    assert_refused("no-such-program-here -", &usual, "failed with status 127: ");
    assert_refused("printf '\\001\\033[1m' >&2; exit 1", &usual, "failed with status 1");
    assert_null(strchr(reason, '\033'));
}

static void limits_end_a_filter(void **state)
{
    static const struct nd_filter_limits brief = {1, UINT64_C(2) << 30, 1000},
                                         small = {60, 64 << 20, 1000};

    (void)state;
    assert_refused("sleep 100", &brief, "ran longer than 1 second");
    assert_refused("exec >&- 2>&-; sleep 100", &brief, "ran longer than 1 second");
    assert_refused("sleep 100 & echo at once", &brief, "ran longer than 1 second");
    assert_refused("yes", &brief, "wrote more than 1000 bytes");
    assert_int_equal(run("yes 12345678 2>/dev/null | head -c 1000", "x", &brief), 1);
    assert_int_equal(made.len, 1000);
    assert_refused("x=$(head -c 200000000 /dev/zero | tr '\\0' x) || exit 9; printf %.1s \"$x\"",
                   &small, "the filter");
    assert_int_equal(run("ulimit -c; ulimit -v; ulimit -t", "x", &small), 1);
    assert_made("0\n65536\n61\n");
}

static void nothing_of_a_filter_stays(void **state)
{
    static const struct nd_filter_limits brief = {1, UINT64_C(2) << 30, 1000};
    int status;
    long child;

    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* orphans become our children */
    assert_int_equal(run("(sleep 100 & echo $! >&2; sleep 100); :", "x", &brief), 0);
    while (waitpid(-1, &status, 0) > 0)
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(run("(exec >&- 2>&-; exec sleep 100) & printf $!", "x", &brief), 1);
    assert_true(nd_buffer_append(&made, "", 1));
    child = strtol(made.data, NULL, 10);
    assert_true(child > 1);
    assert_int_equal(waitpid((pid_t)child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(waitpid(-1, &status, WNOHANG), -1);
    assert_int_equal(errno, ECHILD); /* no zombie */
}

static atomic_int wrong;

static void run_one(void *context, size_t task, unsigned worker)
{
    char document[32], said[320];
    struct nd_buffer text = {.data = NULL};
    struct nd_view view = {document, 0};

    (void)context;
    (void)worker;
    view.len = (size_t)snprintf(document, sizeof document, "document %zu\n", task);
    if (nd_filter_run("cat; cat /dev/stdin", view, &usual, &text, said, sizeof said) != 1 ||
        text.len != 2 * view.len || memcmp(text.data, document, view.len) != 0)
        atomic_fetch_add(&wrong, 1);
    nd_buffer_release(&text);
}

static void many_run_at_the_same_time(void **state)
{
    struct nd_pool *pool = nd_pool_new(8, NULL);

    (void)state;
    assert_non_null(pool);
    nd_pool_run(pool, 200, run_one, NULL);
    nd_pool_free(pool);
    assert_int_equal(wrong, 0);
}

static int release(void **state)
{
    (void)state;
    nd_buffer_release(&made);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_have_endings_and_a_command_or_are_ready_made),
        cmocka_unit_test(the_last_filter_for_an_ending_counts),
        cmocka_unit_test(every_ready_made_filter_is_chosen_by_its_name),
        cmocka_unit_test(limits_are_read_and_others_stay),
        cmocka_unit_test(the_document_comes_in_and_the_text_comes_out),
        cmocka_unit_test(a_large_document_that_nobody_reads_harms_nobody),
        cmocka_unit_test(failures_say_what_happened),
        cmocka_unit_test(limits_end_a_filter),
        cmocka_unit_test(nothing_of_a_filter_stays),
        cmocka_unit_test(many_run_at_the_same_time),
    };

    return cmocka_run_group_tests(tests, NULL, release);
}
