/* test_publish.c - files appear together, whole, and not in the place of what is read */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/publish.h"

int __real_open(const char *path, int flags, ...);
int __real_rename(const char *from, const char *to);

static bool has_nameless = true; /* the file system can do O_TMPFILE */
static bool raises_at_rename;    /* a signal comes between two renames */
static volatile sig_atomic_t n_signals;

int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = va_arg(args, mode_t);
    va_end(args);
    if (!has_nameless && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return __real_open(path, flags, mode);
}

int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
    if (raises_at_rename)
        raise(SIGTERM);
    return __real_rename(from, to);
}

int __real_fsync(int fd);
static bool fails_at_folders;

int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    struct stat about;

    if (fails_at_folders && fstat(fd, &about) == 0 && S_ISDIR(about.st_mode)) {
        errno = EIO;
        return -1;
    }
    return __real_fsync(fd);
}

static void note_signal(int number)
{
    (void)number;
    n_signals++;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void assert_holds(const char *name, const char *text)
{
    char held[100] = {0};
    FILE *file = fopen(name, "r");

    assert_non_null(file);
    (void)!fread(held, 1, sizeof held - 1, file);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(held, text);
}

/* Files of ours in the folder. */
static unsigned count_temporary(void)
{
    DIR *folder = opendir(".");
    struct dirent *e;
    unsigned n = 0;

    assert_non_null(folder);
    while ((e = readdir(folder)))
        n += strncmp(e->d_name, ".neardup-", 9) == 0;
    closedir(folder);
    return n;
}

static struct nd_temporary *create(const char *target, const char *text)
{
    struct nd_error err;
    int fd = -1;
    struct nd_temporary *t = nd_temporary_create(target, &fd, &err);

    assert_non_null(t);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(nd_temporary_finish(t, false, &err), ND_OK);
    return t;
}

static void each_way(void (*test)(void))
{
    char folder[] = "/tmp/neardup-publish-XXXXXX", command[100];

    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(chdir(folder), 0);
        has_nameless = i == 0;
        test();
        has_nameless = true;
        assert_int_equal(count_temporary(), 0);
        snprintf(command, sizeof command, "rm -rf '%s'/*", folder);
        assert_int_equal(system(command), 0);
    }
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* Other systems than Linux have no files without names. */
#ifdef ND_PLAIN_SYSTEM
enum { IS_PLAIN = 1 };
#else
enum { IS_PLAIN = 0 };
#endif

static void appear_whole(void)
{
    struct nd_temporary *t;

    t = create("new", "one");
    assert_int_equal(access("new", F_OK), -1);
    assert_int_equal(count_temporary(), has_nameless && !IS_PLAIN ? 0 : 1);
    assert_int_equal(nd_temporary_publish(t, NULL), ND_OK);
    assert_holds("new", "one");
    t = create("new", "two");
    assert_holds("new", "one");
    assert_int_equal(nd_temporary_publish(t, NULL), ND_OK);
    assert_holds("new", "two");
    nd_temporary_discard(create("new", "three"));
    assert_holds("new", "two");
}

static void a_file_appears_whole_or_not_at_all(void **state)
{
    (void)state;
    each_way(appear_whole);
}

static void hold_many(void)
{
    enum { N = 600 };
    static struct nd_temporary *t[N];
    char name[20];

    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "f%d", i);
        t[i] = create(name, name);
    }
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "f%d", i);
        assert_int_equal(nd_temporary_publish(t[i], NULL), ND_OK);
        assert_holds(name, name);
    }
}

static void many_finished_files_need_few_descriptors(void **state)
{
    (void)state;
    each_way(hold_many);
}

static void claim_many(void)
{
    enum { N = 40 };
    static char name[N][20];
    struct nd_publisher p = {0};
    struct nd_error err;

    for (int i = 0; i < N; i++) {
        snprintf(name[i], sizeof name[i], "f%d", i);
        assert_int_equal(nd_publisher_claim(&p, name[i], NULL, &err), ND_OK);
    }
    for (int i = 0; i < N; i++) {
        assert_true(nd_publisher_is_claimed(&p, name[i]));
        assert_int_equal(nd_publisher_claim(&p, name[i], NULL, &err), ND_EINVAL);
    }
    assert_false(nd_publisher_is_claimed(&p, "other"));
    nd_publisher_release(&p);
}

static void any_number_of_outputs_is_claimed(void **state)
{
    (void)state;
    each_way(claim_many);
}

static void replace_in_order(void)
{
    struct nd_publisher p = {0};
    struct nd_file_mark input, none;
    struct nd_error err;
    size_t n = 0;

    write_file("in", "before");
    assert_int_equal(nd_publisher_read_path(&p, "in", &err), ND_OK);
    assert_int_equal(nd_publisher_claim(&p, "in", &input, &err), ND_OK);
    assert_true(input.inode != 0);
    assert_true(p.syncs);
    assert_int_equal(nd_publisher_claim(&p, "evidence", NULL, &err), ND_OK);
    assert_int_equal(nd_publisher_claim(&p, "./evidence", NULL, &err), ND_EINVAL);
    assert_int_equal(nd_publisher_claim(&p, "other", &none, &err), ND_OK);
    assert_true(none.inode == 0);
    assert_int_equal(nd_publisher_add(&p, create("in", "after"), ND_PUBLISH_RESULT, &input, &err),
                     ND_OK);
    assert_int_equal(
        nd_publisher_add(&p, create("evidence", "why"), ND_PUBLISH_EVIDENCE, NULL, &err), ND_OK);
    assert_int_equal(nd_publisher_publish(&p, &n, &err), ND_OK);
    assert_int_equal(n, 2);
    assert_holds("in", "after");
    assert_holds("evidence", "why");
    nd_publisher_release(&p);
}

static void an_input_is_replaced_after_the_evidence(void **state)
{
    (void)state;
    each_way(replace_in_order);
}

static void publish_in_a_folder_that_is_not_synced(void)
{
    struct nd_publisher p = {.syncs = true};
    struct nd_error err;
    size_t n = 0;

    write_file("result", "before");
    assert_int_equal(nd_publisher_add(&p, create("result", "x"), ND_PUBLISH_RESULT, NULL, &err),
                     ND_OK);
    fails_at_folders = true;
    assert_int_equal(nd_publisher_publish(&p, &n, &err), ND_EIO);
    fails_at_folders = false;
    assert_holds("result", "x");
    assert_non_null(strstr(err.message, "result: is written and in its place, but its folder"));
    assert_non_null(strstr(err.message, strerror(EIO)));
    nd_publisher_release(&p);
    assert_holds("result", "x");
}

static void a_folder_that_is_not_synced_is_told_with_what_was_written(void **state)
{
    (void)state;
    each_way(publish_in_a_folder_that_is_not_synced);
}

static void publish_evidence_first(void)
{
    struct nd_publisher p = {0};
    struct nd_error err;
    size_t n = 0;

    assert_int_equal(mkdir("evidence", 0700), 0); /* so that it cannot be given its name */
    assert_int_equal(nd_publisher_add(&p, create("result", "x"), ND_PUBLISH_RESULT, NULL, &err),
                     ND_OK);
    assert_int_equal(
        nd_publisher_add(&p, create("evidence", "why"), ND_PUBLISH_EVIDENCE, NULL, &err), ND_OK);
    assert_int_equal(nd_publisher_publish(&p, &n, &err), ND_EIO);
    assert_int_equal(n, 0);
    assert_int_equal(access("result", F_OK), -1);
    nd_publisher_release(&p);
    assert_int_equal(access("result", F_OK), -1);
}

static void without_its_evidence_no_result_appears(void **state)
{
    (void)state;
    each_way(publish_evidence_first);
}

static void keep_changed(void)
{
    struct nd_publisher p = {0};
    struct nd_file_mark input;
    struct nd_error err;
    size_t n = 0;

    for (int i = 1; i <= 2; i++) {
        write_file("in", "before");
        assert_int_equal(nd_publisher_read_path(&p, "in", &err), ND_OK);
        assert_int_equal(nd_publisher_claim(&p, "in", &input, &err), ND_OK);
        write_file("in", "changed");
        assert_int_equal(
            nd_publisher_add(&p, create("in", "after"), ND_PUBLISH_RESULT, &input, &err), ND_OK);
        assert_int_equal(
            nd_publisher_add(&p, create("evidence", "why"), ND_PUBLISH_EVIDENCE, NULL, &err),
            ND_OK);
        assert_int_equal(nd_publisher_publish(&p, &n, &err), ND_ECHANGED);
        nd_publisher_release(&p);
        assert_int_equal(n, 0);
        assert_holds("in", "changed");
        assert_holds(i == 1 ? "in.neardup-kept" : "in.neardup-kept-2", "after");
        assert_int_equal(access("evidence", F_OK), -1);
    }
}

static void what_changed_stays_and_the_result_beside_it(void **state)
{
    (void)state;
    each_way(keep_changed);
}

static void hold_signals(void)
{
    struct nd_publisher p = {0};
    struct sigaction action = {.sa_handler = note_signal}, before;
    struct nd_error err;
    size_t n = 0;

    write_file("a", "old");
    write_file("b", "old");
    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(SIGTERM, &action, &before), 0);
    assert_int_equal(nd_publisher_add(&p, create("a", "new"), ND_PUBLISH_RESULT, NULL, &err),
                     ND_OK);
    assert_int_equal(nd_publisher_add(&p, create("b", "new"), ND_PUBLISH_RESULT, NULL, &err),
                     ND_OK);
    n_signals = 0;
    raises_at_rename = true;
    assert_int_equal(nd_publisher_publish(&p, &n, &err), ND_OK);
    raises_at_rename = false;
    assert_int_equal(n, 2);
    assert_int_equal(n_signals, 1); /* two came, and waited together until all was done */
    assert_int_equal(sigaction(SIGTERM, &before, NULL), 0);
    nd_publisher_release(&p);
}

static void signals_wait_until_all_is_published(void **state)
{
    (void)state;
    each_way(hold_signals);
}

static void abandon_all(void)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        (void)create("gone", "x");
        nd_temporary_abandon();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void what_is_abandoned_leaves_nothing(void **state)
{
    (void)state;
    each_way(abandon_all);
}

/* Once outputs are published, a handler is told to let the process go on, until another file is
 * begun. */
static void go_on(void)
{
    struct nd_publisher p = {0};
    struct nd_error err;
    size_t n = 0;
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        (void)nd_publisher_add(&p, create("on", "x"), ND_PUBLISH_RESULT, NULL, &err);
        if (nd_publisher_publish(&p, &n, &err) != ND_OK || nd_temporary_abandon())
            _exit(1);
        (void)create("more", "x"); /* of the same run */
        if (nd_temporary_abandon())
            _exit(2);
        nd_publisher_release(&p);
        (void)create("next", "x"); /* of another */
        _exit(nd_temporary_abandon() ? 0 : 3);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void what_has_begun_to_appear_is_not_abandoned(void **state)
{
    (void)state;
    each_way(go_on);
}

/* A file under its name that is still temporary: with `keeps` it stays. */
static void publish_for_now(bool keeps)
{
    pid_t child = fork();
    struct nd_temporary *t;
    struct nd_error err;
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        t = create("now", "x");
        if (nd_temporary_publish_for_now(t, &err) != ND_OK || access("now", F_OK) != 0)
            _exit(1);
        if (keeps)
            nd_temporary_keep(t);
        _exit(!nd_temporary_abandon());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(access("now", F_OK) == 0, keeps);
    t = create("now", "y");
    assert_int_equal(nd_temporary_publish_for_now(t, &err), keeps ? ND_ECHANGED : ND_OK);
    if (!keeps)
        nd_temporary_discard(t);
    assert_int_equal(access("now", F_OK) == 0, keeps);
    (void)unlink("now");
}

static void for_now(void)
{
    publish_for_now(true);
    publish_for_now(false);
}

static void what_is_published_for_now_goes_away_again(void **state)
{
    (void)state;
    each_way(for_now);
}

static void a_spool_has_no_name(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        int fd;

        has_nameless = i == 0;
        fd = nd_temporary_spool("/tmp");
        has_nameless = true;
        assert_true(fd >= 0);
        assert_int_equal(pwrite(fd, "x", 1, 10), 1);
        assert_int_equal(close(fd), 0);
    }
    assert_int_equal(nd_temporary_spool("/no/such/folder"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_appears_whole_or_not_at_all),
        cmocka_unit_test(many_finished_files_need_few_descriptors),
        cmocka_unit_test(any_number_of_outputs_is_claimed),
        cmocka_unit_test(an_input_is_replaced_after_the_evidence),
        cmocka_unit_test(a_folder_that_is_not_synced_is_told_with_what_was_written),
        cmocka_unit_test(without_its_evidence_no_result_appears),
        cmocka_unit_test(what_changed_stays_and_the_result_beside_it),
        cmocka_unit_test(signals_wait_until_all_is_published),
        cmocka_unit_test(what_is_abandoned_leaves_nothing),
        cmocka_unit_test(what_has_begun_to_appear_is_not_abandoned),
        cmocka_unit_test(what_is_published_for_now_goes_away_again),
        cmocka_unit_test(a_spool_has_no_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
