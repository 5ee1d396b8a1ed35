/* test_hamming_file_names.c - an index among files of others: links, pipes, names that are taken */
#define _GNU_SOURCE
#include "hamming_file_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/file/temporary.h"

static char folder[] = "/tmp/test_hamming_names.XXXXXX";
static char path[64], other[64], planted[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/index", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    snprintf(planted, sizeof planted, "%s/index.neardup-new", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    unlink(other);
    unlink(planted);
    return rmdir(folder);
}

/* Put what somebody else has beside an index: a pipe, a link, a file of the user. */
static void plant(int what)
{
    int fd;

    unlink(planted);
    unlink(other);
    fd = open(other, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "keep", 4), 4);
    close(fd);
    if (what == 0)
        assert_int_equal(mkfifo(planted, 0600), 0);
    else if (what == 1)
        assert_int_equal(symlink(other, planted), 0);
    else
        assert_int_equal(link(other, planted), 0);
}

static void names_that_were_planted_are_not_touched(void **state)
{
    struct set s = make_set(60, 64, 3, false);
    struct nd_hamming_shape shape = {.bits = 64, .distance = 3, .codec = ND_HAMMING_EF};
    struct nd_hamming_entries all = part_of(&s, 0, 60), more = part_of(&s, 0, 60);
    const char *paths[] = {path};

    (void)state;
    for (int what = 0; what < 3; what++) {
        struct stat before, after;
        unsigned char *kept;
        size_t len;

        plant(what);
        assert_int_equal(lstat(planted, &before), 0);
        unlink(path);
        alarm(300); /* a pipe would be waited for */
        assert_int_equal(nd_hamming_file_build(path, &shape, &all, NULL), ND_OK);
        assert_int_equal(nd_hamming_file_add(path, &more, NULL), ND_OK);
        assert_int_equal(nd_hamming_file_merge(paths, 1, path, NULL, NULL), ND_OK);
        alarm(0);
        assert_int_equal(lstat(planted, &after), 0);
        assert_true(before.st_ino == after.st_ino && before.st_mode == after.st_mode);
        kept = read_whole(other, &len);
        assert_int_equal(len, 4);
        assert_memory_equal(kept, "keep", 4);
        free(kept);
        assert_int_equal(count_temporaries(folder), 0);
    }
    unlink(planted);
    unlink(other);
    free_set(&s);
}

/* A file that another process has put there since is neither replaced nor removed. */
static void what_has_the_name_by_now_stays(void **state)
{
    unsigned char *kept;
    size_t len;
    int fd;

    (void)state;
    for (int how = 0; how < 2; how++) {
        struct nd_temporary *temporary;
        struct nd_error err;

        unlink(path);
        temporary = nd_temporary_create(path, &fd, &err);
        assert_non_null(temporary);
        assert_int_equal(write(fd, "new", 3), 3);
        assert_int_equal(nd_temporary_finish(temporary, true, &err), ND_OK);
        if (how) {
            int theirs = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

            assert_int_equal(write(theirs, "their", 5), 5);
            close(theirs);
        }
        assert_int_equal(nd_temporary_publish_new(temporary, &err), how ? ND_ECHANGED : ND_OK);
        kept = read_whole(path, &len);
        assert_int_equal(len, how ? 5 : 3);
        free(kept);
        assert_int_equal(count_temporaries(folder), 0);
    }
}

static void a_link_to_nothing_is_refused(void **state)
{
    struct set s = make_set(20, 64, 3, false);
    struct nd_hamming_shape shape = {.bits = 64, .distance = 3, .codec = ND_HAMMING_EF};
    struct nd_hamming_entries entries = part_of(&s, 0, 20);
    struct stat info;

    (void)state;
    unlink(path);
    assert_int_equal(symlink("/nonexistent/file", path), 0);
    assert_int_equal(nd_hamming_file_build(path, &shape, &entries, NULL), ND_EIO);
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    unlink(path);
    free_set(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_were_planted_are_not_touched),
        cmocka_unit_test(what_has_the_name_by_now_stays),
        cmocka_unit_test(a_link_to_nothing_is_refused),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
