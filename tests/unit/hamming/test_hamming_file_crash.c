/* test_hamming_file_crash.c - a writer of an index stopped at every step: the old file or the new
 * one
 */
#define _GNU_SOURCE
#include "hamming_file_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "hamming/file/file.h"
#include "stopped_writes.h"

int __real_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_linkat(int old_folder, const char *old, int new_folder, const char *name, int flags);
int __wrap_linkat(int old_folder, const char *old, int new_folder, const char *name, int flags);
int __real_unlink(const char *name);
int __wrap_unlink(const char *name);
int __real_fchmod(int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode);
int __real_close(int fd);
int __wrap_close(int fd);

enum { TRIALS = 40 };

static bool no_nameless; /* as on a file system where every file has a name */

int __wrap_open(const char *name, int flags, ...)
{
    if (no_nameless && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return step() ? -1 : __real_open(name, flags, 0666);
}

int __wrap_fsync(int fd)
{
    if (step())
        return -1;
    record(SYNC, 0, NULL, 0);
    return __real_fsync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
    if (step())
        return -1;
    record(RENAME, 0, NULL, 0);
    return __real_rename(from, to);
}

int __wrap_linkat(int old_folder, const char *old, int new_folder, const char *name, int flags)
{
    return step() ? -1 : __real_linkat(old_folder, old, new_folder, name, flags);
}

int __wrap_unlink(const char *name)
{
    return step() ? -1 : __real_unlink(name);
}

int __wrap_fchmod(int fd, mode_t mode)
{
    return step() ? -1 : __real_fchmod(fd, mode);
}

/* Failing, it has closed all the same; that is not what is looked for here. */
int __wrap_close(int fd)
{
    if (then != FAIL)
        (void)step();
    return __real_close(fd);
}

static char folder[] = "/tmp/test_hamming_crash.XXXXXX";
static char path[64];
static struct set all; /* the first OLD of them are in the index before */
enum { OLD = 900, MORE = 20, NEW = OLD + MORE };

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/index", folder);
    all = make_set(NEW + 1, 64, 2, true);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    free_set(&all);
    unlink(path);
    return rmdir(folder);
}

static struct nd_hamming_shape shape = {.bits = 64, .distance = 2, .codec = ND_HAMMING_EF};

/* An index of three segments, so that what is added last can be a fourth. */
static void make_old(void)
{
    static const size_t end[] = {600, 800, OLD};
    size_t at = 0;

    for (size_t i = 0; i < 3; at = end[i++]) {
        struct nd_hamming_entries entries = part_of(&all, at, end[i]);

        assert_int_equal(i ? nd_hamming_file_add(path, &entries, NULL)
                           : nd_hamming_file_build(path, &shape, &entries, NULL),
                         ND_OK);
    }
}

static enum nd_status add_some(void)
{
    struct nd_hamming_entries entries = part_of(&all, OLD, NEW);

    return nd_hamming_file_add(path, &entries, NULL);
}

/* So many that everything is merged, and the file replaced. */
static enum nd_status add_as_many(void)
{
    struct nd_hamming_entries entries = part_of(&all, 0, OLD);

    return nd_hamming_file_add(path, &entries, NULL);
}

static enum nd_status merge_all(void)
{
    const char *paths[] = {path};

    return nd_hamming_file_merge(paths, 1, path, NULL, NULL);
}

static enum nd_status build_less(void)
{
    struct nd_hamming_entries entries = part_of(&all, 0, 5);

    return nd_hamming_file_build(path, &shape, &entries, NULL);
}

static const struct writer {
    enum nd_status (*write)(void);
    size_t count_after;
} writers[] = {{add_some, NEW}, {add_as_many, 2 * OLD}, {merge_all, OLD}, {build_less, 5}};

/* The index is whole, and holds what it did or what it should. */
static size_t count_now(size_t before, size_t after)
{
    struct nd_hamming_file *file;
    struct nd_error err;
    size_t count;

    if (nd_hamming_file_open(&file, path, &err) != ND_OK)
        fail_msg("%s", err.message);
    count = (size_t)nd_hamming_file_design(file)->problem.count;
    if (count != before && count != after)
        fail_msg("%zu fingerprints, not %zu or %zu", count, before, after);
    if (count == OLD || count == NEW) {
        struct set now = all;

        now.n = count;
        check_answers(file, &now, 2, 5);
        check_entries(file, &now);
    }
    nd_hamming_file_close(file);
    return count;
}

/* Later writers trip over nothing, and leave nothing. */
static void write_once_more(size_t count)
{
    struct nd_hamming_entries entries = part_of(&all, NEW, NEW + 1);

    assert_int_equal(nd_hamming_file_add(path, &entries, NULL), ND_OK);
    assert_int_equal(count_now(count + 1, count + 1), count + 1);
    assert_int_equal(count_temporaries(folder), 0);
}

/* The number of steps until it was done. */
static long kill_at_each_step(const struct writer *w, int how)
{
    bool seen_old = false, seen_new = false;

    for (long n = 0;; n++) {
        pid_t child;
        int status;
        size_t count;

        make_old();
        child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            then = (unsigned)how;
            steps_left = n;
            _exit(w->write() == ND_OK ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        count = count_now(OLD, w->count_after);
        seen_old |= count == OLD;
        seen_new |= count == w->count_after;
        write_once_more(count);
        if (WEXITSTATUS(status) == STOPPED)
            continue;
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_int_equal(count, w->count_after);
        assert_true(seen_old && seen_new);
        return n;
    }
}

static void a_killed_writer_leaves_the_old_or_the_new(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * sizeof writers / sizeof *writers; i++) {
        no_nameless = i % 2;
        assert_true(kill_at_each_step(&writers[i / 2], END_BEFORE) > 10);
        assert_true(kill_at_each_step(&writers[i / 2], END_WITHIN) > 10);
    }
    no_nameless = false;
}

/* Each step fails once, as on a full disk: an error leaves the old, and success the new. */
/* Additions begin a part behind four that are full, or fill one that has room for some of them. */
static void parts_are_added_all_or_none(void **state)
{
    (void)state;
    shape.part_fingerprints = OLD / 4;
    assert_true(kill_at_each_step(&writers[0], END_BEFORE) > 10);
    shape.part_fingerprints = OLD / 4 + 2;
    assert_true(kill_at_each_step(&writers[0], END_WITHIN) > 10);
    shape.part_fingerprints = 0;
}

static void a_step_that_fails_leaves_what_the_status_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        for (long n = 0;; n++) {
            enum nd_status status;
            size_t count;
            bool stopped;

            make_old();
            then = FAIL;
            steps_left = n;
            status = writers[i].write();
            stopped = steps_left < 0;
            then = GO_ON;
            count = count_now(OLD, writers[i].count_after);
            assert_int_equal(count, status == ND_OK ? writers[i].count_after : OLD);
            write_once_more(count);
            if (!stopped)
                break;
        }
}

static size_t count_in(const unsigned char *image, size_t len)
{
    struct nd_hamming_file *file;
    struct nd_error err;
    size_t count;

    if (nd_hamming_file_init(&file, image, len, &err) != ND_OK)
        fail_msg("%s", err.message);
    count = (size_t)nd_hamming_file_design(file)->problem.count;
    nd_hamming_file_close(file);
    return count;
}

/* page: of the header that a crash before damaged; ND_HAMMING_HEADERS: neither. */
static void lose_power(unsigned page)
{
    unsigned char *old, *image;
    size_t old_len, synced = 0, seen[2] = {0, 0};

    make_old();
    if (page < ND_HAMMING_HEADERS) {
        int fd = open(path, O_RDWR);

        assert_int_equal(pwrite(fd, "torn", 4, page * ND_HAMMING_PAGE + 100), 4);
        close(fd);
    }
    old = read_whole(path, &old_len);
    recording = true;
    assert_int_equal(add_some(), ND_OK);
    recording = false;
    image = calloc(1, old_len + (1 << 20));
    assert_non_null(image);
    for (size_t ended = 0; ended <= n_ops; ended++) {
        if (ended && op[ended - 1].kind == SYNC)
            synced = ended;
        assert_true(ended == 0 || op[ended - 1].kind != RENAME);
        for (int trial = 0; trial < TRIALS; trial++) {
            size_t len = image_after(old, old_len, ended, synced, image), count;

            count = count_in(image, len);
            assert_true(count == OLD || count == NEW);
            assert_true(ended < n_ops || count == NEW);
            seen[count == NEW]++;
        }
    }
    assert_true(seen[0] && seen[1]);
    forget_ops();
    free(old);
    free(image);
}

static void lost_power_leaves_the_old_or_the_new(void **state)
{
    (void)state;
    for (unsigned page = 0; page <= ND_HAMMING_HEADERS; page++)
        lose_power(page);
}

/* A file that takes another's name is synced before, and its folder after. */
static void what_takes_the_name_is_on_the_disk(void **state)
{
    (void)state;
    for (size_t i = 1; i < sizeof writers / sizeof *writers; i++) {
        size_t at = 0;

        make_old();
        recording = true;
        assert_int_equal(writers[i].write(), ND_OK);
        recording = false;
        while (at < n_ops && op[at].kind != RENAME)
            at++;
        assert_true(at > 3 && at + 2 == n_ops);
        assert_int_equal(op[at - 1].kind, SYNC);
        assert_int_equal(op[at + 1].kind, SYNC);
        forget_ops();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_writer_leaves_the_old_or_the_new),
        cmocka_unit_test(parts_are_added_all_or_none),
        cmocka_unit_test(a_step_that_fails_leaves_what_the_status_says),
        cmocka_unit_test(lost_power_leaves_the_old_or_the_new),
        cmocka_unit_test(what_takes_the_name_is_on_the_disk),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
