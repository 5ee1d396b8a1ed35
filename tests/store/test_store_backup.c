/* test_store_backup.c - a copy of a store at one moment, while it is written to: whole, or not there */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store/read/store_state.h"
#include "store_content.h"

static void no_finding(void *context, const char *finding)
{
    (void)context;
    fail_msg("%s", finding);
}

static void count_finding(void *context, const char *finding)
{
    (void)finding;
    ++*(size_t *)context;
}

/* A fixture whose store is the backup of another. */
static void backup_fixture(const struct fixture *of, struct fixture *f)
{
    fixture_begin(f);
    f->now = of->now;
    f->options.create = false;
}

static void make_again(struct fixture *of, struct fixture *f)
{
    struct nd_error err;

    if (nd_store_backup(of->store, f->folder, &err) != ND_OK)
        fail_msg("%s", err.message);
}

static void make(struct fixture *of, struct fixture *f)
{
    backup_fixture(of, f);
    make_again(of, f);
}

static void open_to_read(struct fixture *f)
{
    f->options.read_only = true;
    fixture_open(f);
}

static void end(struct fixture *f)
{
    fixture_close(f);
    fixture_end(f);
}

struct sum {
    size_t n;
    uint64_t hash;
};

static int add_up(void *context, const struct nd_stored *d, const struct nd_version *versions,
                  size_t n)
{
    struct sum *sum = context;

    (void)versions;
    sum->n++;
    sum->hash = nd_mix64(sum->hash ^ nd_hash_bytes(d->key.id.data, d->key.id.len)) ^
                nd_hash_bytes(d->text.data, d->text.len) ^ n;
    return 0;
}

static struct sum sum_of(struct fixture *f)
{
    struct sum sum = {0};

    assert_int_equal(nd_session_each(f->session, f->admin, add_up, &sum, NULL), ND_STORE_OK);
    return sum;
}

static bool has_file(const struct fixture *f, const char *name)
{
    char path[512];

    fixture_path(f, name, path, sizeof path);
    return access(path, F_OK) == 0;
}

/* ---- Claims ---- */

static void a_backup_is_a_store(void **state)
{
    struct fixture f, copy;
    struct sum before, after;

    (void)state;
    fixture_begin(&f);
    f.options.segment_bytes = 4096; /* many segments */
    fixture_open(&f);
    content_fill(&f, 100);
    before = sum_of(&f);
    make(&f, &copy);
    assert_true(has_file(&copy, "checksums"));
    assert_true(has_file(&copy, "segments/00000002.seg"));
    assert_false(has_file(&copy, "catalog.mdb-lock"));
    open_to_read(&copy);
    after = sum_of(&copy);
    assert_int_equal(after.n, before.n);
    assert_int_equal(after.hash, before.hash);
    assert_int_equal(nd_store_check(copy.store, no_finding, NULL, NULL), ND_OK);
    fixture_close(&copy);
    assert_true(has_file(&copy, "checksums"));
    /* It lives on, and neither disturbs the other. */
    copy.options.read_only = false;
    fixture_open(&copy);
    assert_false(has_file(&copy, "checksums"));
    content_fill(&copy, 120);
    assert_int_equal(nd_store_check(copy.store, no_finding, NULL, NULL), ND_OK);
    assert_int_equal(nd_store_check(f.store, no_finding, NULL, NULL), ND_OK);
    after = sum_of(&f);
    assert_int_equal(after.hash, before.hash);
    end(&copy);
    end(&f);
}

static void an_empty_store_has_a_backup(void **state)
{
    struct fixture f, copy;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    make(&f, &copy);
    fixture_open(&copy);
    assert_int_equal(sum_of(&copy).n, 0);
    nd_write_free(post(&copy, "a", "some text"));
    end(&copy);
    end(&f);
}

/* The backup of a backup, by a program that only reads. */
static void a_store_that_is_only_read_has_a_backup(void **state)
{
    struct fixture f, copy, again;
    struct sum before;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    content_fill(&f, 30);
    before = sum_of(&f);
    make(&f, &copy);
    open_to_read(&copy);
    make(&copy, &again);
    open_to_read(&again);
    assert_int_equal(sum_of(&again).hash, before.hash);
    end(&again);
    end(&copy);
    end(&f);
}

enum { COPIES = 4 };
struct copies {
    struct fixture *of, copy[COPIES];
};

static void make_all(void *context)
{
    struct copies *c = context;

    for (int i = 0; i < COPIES; i++)
        make_again(c->of, &c->copy[i]);
}

/* Each copy is in order, and has at least so many documents. */
static void check_copies(struct copies *c, size_t least)
{
    for (int i = 0; i < COPIES; i++) {
        fixture_open(&c->copy[i]);
        assert_int_equal(nd_store_check(c->copy[i].store, no_finding, NULL, NULL), ND_OK);
        assert_true(sum_of(&c->copy[i]).n >= least);
        end(&c->copy[i]);
    }
}

static void begin_copies(struct copies *c, struct fixture *f, unsigned n)
{
    fixture_begin(f);
    f->options.segment_bytes = 4096;
    f->options.compact_after_s = 0;
    fixture_open(f);
    content_fill(f, n);
    c->of = f;
    for (int i = 0; i < COPIES; i++)
        backup_fixture(f, &c->copy[i]);
}

static void a_backup_is_made_while_the_store_is_written_to(void **state)
{
    static struct copies c;
    struct nd_thread maker;
    struct fixture f;
    size_t n;

    (void)state;
    begin_copies(&c, &f, 20);
    n = sum_of(&f).n;
    assert_true(nd_thread_start(&maker, make_all, &c));
    content_fill(&f, 200);
    nd_thread_join(&maker);
    check_copies(&c, n - 18); /* some of them are deleted again */
    end(&f);
}

/* Segments are removed before they could be copied. */
static void a_backup_is_made_while_segments_are_rewritten(void **state)
{
    static struct copies c;
    struct nd_thread maker;
    struct fixture f;
    uint64_t freed = 0, all = 0;
    size_t n;

    (void)state;
    begin_copies(&c, &f, 100);
    n = sum_of(&f).n;
    assert_true(nd_thread_start(&maker, make_all, &c));
    for (int i = 0; i < 4; i++) {
        struct nd_error err;

        content_fill(&f, 100);
        if (nd_store_compact(f.store, true, &freed, &err) != ND_OK)
            fail_msg("%s", err.message);
        all += freed;
    }
    nd_thread_join(&maker);
    assert_true(all > 0);
    check_copies(&c, n / 2);
    end(&f);
}

/* ---- Another process ---- */

/* The work of a child once it is told to: it reads the store that its parent writes to. */
static int read_as_other_process(struct fixture *f, struct fixture *copy, int go)
{
    struct nd_error err;
    size_t n_findings = 0;
    char byte;

    if (read(go, &byte, 1) != 1)
        return 1;
    f->options.read_only = true;
    f->store = nd_store_open(f->folder, &f->options, &err);
    if (!f->store)
        return 2;
    for (int i = 0; i < 5; i++)
        if (nd_store_check(f->store, count_finding, &n_findings, NULL) != ND_OK || n_findings)
            return 3;
    if (nd_store_backup(f->store, copy->folder, NULL) != ND_OK)
        return 4;
    return nd_store_close(f->store, NULL) == ND_OK ? 0 : 5;
}

static void another_process_can_check_and_copy(void **state)
{
    struct fixture f, copy;
    int go[2], status;
    pid_t child;

    (void)state;
    fixture_begin(&f);
    f.options.segment_bytes = 4096;
    backup_fixture(&f, &copy);
    assert_int_equal(pipe(go), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(read_as_other_process(&f, &copy, go[0]));
    fixture_open(&f);
    content_fill(&f, 50);
    assert_int_equal(write(go[1], "g", 1), 1);
    content_fill(&f, 300);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    (void)close(go[0]);
    (void)close(go[1]);
    fixture_open(&copy);
    assert_int_equal(nd_store_check(copy.store, no_finding, NULL, NULL), ND_OK);
    end(&copy);
    end(&f);
}

/* ---- Failures ---- */

static void change_byte(const struct fixture *f, const char *name, off_t at)
{
    char path[512];
    uint8_t byte;
    int fd;

    fixture_path(f, name, path, sizeof path);
    fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    assert_int_equal(close(fd), 0);
}

/* Even of what no row names: the end of the database's file, the header of a segment. */
static void any_byte_that_changed_is_found(void **state)
{
    struct fixture f, copy;
    struct stat about;
    char path[512];
    size_t n = 0;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    content_fill(&f, 30);
    make(&f, &copy);
    fixture_path(&copy, "catalog.mdb", path, sizeof path);
    assert_int_equal(stat(path, &about), 0);
    change_byte(&copy, "catalog.mdb", about.st_size - 9);
    open_to_read(&copy);
    assert_int_equal(nd_store_check(copy.store, count_finding, &n, NULL), ND_EINPUT);
    assert_true(n >= 1);
    fixture_close(&copy);
    fixture_path(&copy, "checksums", path, sizeof path);
    assert_int_equal(truncate(path, 30), 0);
    fixture_open(&copy);
    n = 0;
    assert_int_equal(nd_store_check(copy.store, count_finding, &n, NULL), ND_EINPUT);
    assert_true(n >= 1);
    end(&copy);
    end(&f);
}

static size_t files_in(const char *folder)
{
    DIR *open_folder = opendir(folder);
    size_t n = 0;

    assert_non_null(open_folder);
    while (readdir(open_folder))
        n++;
    (void)closedir(open_folder);
    return n - 2;
}

static void what_fails_leaves_nothing(void **state)
{
    struct fixture f, copy;
    struct nd_error err;
    char path[512];

    (void)state;
    fixture_begin(&f);
    f.options.segment_bytes = 4096;
    fixture_open(&f);
    content_fill(&f, 60);
    backup_fixture(&f, &copy);
    assert_int_equal(nd_store_backup(f.store, f.folder, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "it is there already"));
    assert_int_equal(nd_store_backup(f.store, "/nowhere/at/all", &err), ND_EIO);
    /* A segment is missing, each time that it is looked for. */
    fixture_path(&f, "segments/00000001.seg", path, sizeof path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(nd_store_backup(f.store, copy.folder, &err), ND_EIO);
    assert_non_null(strstr(err.message, "00000001.seg"));
    assert_int_equal(files_in(copy.parent), 0);
    assert_int_equal(rmdir(copy.parent), 0);
    end(&f);
}

static void a_full_disk_leaves_nothing(void **state)
{
    struct fixture f, copy;
    struct nd_error err;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    content_fill(&f, 300);
    backup_fixture(&f, &copy);
    if (mount("tmpfs", copy.parent, "tmpfs", 0, "size=128k") != 0) {
        assert_int_equal(rmdir(copy.parent), 0);
        end(&f);
        skip();
    }
    assert_int_equal(nd_store_backup(f.store, copy.folder, &err), ND_EIO);
    assert_non_null(strstr(err.message, strerror(ENOSPC)));
    assert_int_equal(files_in(copy.parent), 0);
    /* With more room, across file systems. */
    assert_int_equal(mount("tmpfs", copy.parent, "tmpfs", MS_REMOUNT, "size=64m"), 0);
    make_again(&f, &copy);
    fixture_open(&copy);
    assert_int_equal(nd_store_check(copy.store, no_finding, NULL, NULL), ND_OK);
    fixture_close(&copy);
    assert_int_equal(umount(copy.parent), 0);
    assert_int_equal(rmdir(copy.parent), 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_backup_is_a_store),
        cmocka_unit_test(an_empty_store_has_a_backup),
        cmocka_unit_test(a_store_that_is_only_read_has_a_backup),
        cmocka_unit_test(a_backup_is_made_while_the_store_is_written_to),
        cmocka_unit_test(a_backup_is_made_while_segments_are_rewritten),
        cmocka_unit_test(another_process_can_check_and_copy),
        cmocka_unit_test(any_byte_that_changed_is_found),
        cmocka_unit_test(what_fails_leaves_nothing),
        cmocka_unit_test(a_full_disk_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
