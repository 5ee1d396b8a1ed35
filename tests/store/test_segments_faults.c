/* test_segments_faults.c - segments on a disk that is full, slow, or broken at any call */
#define _GNU_SOURCE
#include "segments_fixture.h"

#include <errno.h>
#include <fcntl.h>

int __real_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...);
ssize_t __real_pread(int fd, void *data, size_t bytes, off_t offset);
ssize_t __wrap_pread(int fd, void *data, size_t bytes, off_t offset);
ssize_t __real_pwrite(int fd, const void *data, size_t bytes, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t offset);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __real_ftruncate(int fd, off_t bytes);
int __wrap_ftruncate(int fd, off_t bytes);
int __real_unlink(const char *name);
int __wrap_unlink(const char *name);
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);

enum { SMALL = 20000 };

enum call { OPEN, PREAD, PWRITE, FSYNC, FDATASYNC, FTRUNCATE, UNLINK, MEMORY, CALLS };

static long steps_left = -1; /* of the kinds below; then one fails; negative: none does */
static unsigned kinds;       /* bits of enum call */
static int reason;           /* errno */
static bool is_choppy;       /* reads and writes are short, or interrupted */
static void (*within_read)(void);

static struct {
    enum call call;
    int fd;
} seen[10000];
static size_t n_seen;

static void see(enum call call, int fd)
{
    if (n_seen < sizeof seen / sizeof *seen) {
        seen[n_seen].call = call;
        seen[n_seen].fd = fd;
        n_seen++;
    }
}

static bool fails(enum call call)
{
    if (!(kinds & 1U << call) || steps_left < 0 || steps_left-- > 0)
        return false;
    errno = reason;
    return true;
}

/* How many of so many bytes a choppy disk takes; 0: it was interrupted. */
static size_t some_of(size_t bytes)
{
    if (!is_choppy || bytes < 2)
        return bytes;
    return any() % 3 == 0 ? 0 : 1 + any() % (bytes - 1);
}

int __wrap_open(const char *name, int flags, ...)
{
    return fails(OPEN) ? -1 : __real_open(name, flags, 0600);
}

ssize_t __wrap_pread(int fd, void *data, size_t bytes, off_t offset)
{
    size_t some = some_of(bytes);

    if (within_read)
        within_read();
    if (fails(PREAD))
        return -1;
    if (some == 0 && bytes) {
        errno = EINTR;
        return -1;
    }
    return __real_pread(fd, data, some, offset);
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    size_t some = some_of(bytes);

    if (fails(PWRITE)) {
        (void)!__real_pwrite(fd, data, bytes / 2, offset);
        return -1;
    }
    if (some == 0 && bytes) {
        errno = EINTR;
        return -1;
    }
    see(PWRITE, fd);
    return __real_pwrite(fd, data, some, offset);
}

static int sync_by(enum call call, int fd, int (*real)(int fd))
{
    if (fails(call))
        return -1;
    if (is_choppy && any() % 2) {
        errno = EINTR;
        return -1;
    }
    see(call, fd);
    return real(fd);
}

int __wrap_fsync(int fd)
{
    return sync_by(FSYNC, fd, __real_fsync);
}

int __wrap_fdatasync(int fd)
{
    return sync_by(FDATASYNC, fd, __real_fdatasync);
}

int __wrap_ftruncate(int fd, off_t bytes)
{
    return fails(FTRUNCATE) ? -1 : __real_ftruncate(fd, bytes);
}

int __wrap_unlink(const char *name)
{
    return fails(UNLINK) ? -1 : __real_unlink(name);
}

void *__wrap_malloc(size_t bytes)
{
    return fails(MEMORY) ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return fails(MEMORY) ? NULL : __real_calloc(n, bytes);
}

void *__wrap_realloc(void *p, size_t bytes)
{
    return fails(MEMORY) ? NULL : __real_realloc(p, bytes);
}

/* ---- What a store does, with a failure at one step ---- */

enum { BATCHES = 6, BATCH = 12 };

struct story {
    struct nd_compressor *compressor;
    struct nd_buffer record[BATCHES * BATCH];
    struct nd_text_place place[BATCHES * BATCH];
    struct nd_segments_end committed;
    size_t n_committed;
    enum nd_status status; /* of the first failure */
    bool no_space;
};

static void prepare(struct story *t)
{
    *t = (struct story){.compressor = nd_compressor_new()};
    for (uint64_t i = 0; i < BATCHES * BATCH; i++) {
        struct nd_view text = text_of(i);

        t->record[i] = record_of(t->compressor, text);
        free((void *)(uintptr_t)text.data);
    }
}

static void release(struct story *t)
{
    for (size_t i = 0; i < BATCHES * BATCH; i++)
        nd_buffer_release(&t->record[i]);
    nd_compressor_free(t->compressor);
}

static enum nd_status write_batch(struct story *t, struct nd_segments *s)
{
    size_t n = t->n_committed;
    enum nd_status status = ND_OK;
    struct nd_error err;

    for (; status == ND_OK && n < t->n_committed + BATCH; n++)
        status = nd_segments_append(s, (struct nd_view){t->record[n].data, t->record[n].len},
                                    &t->place[n], &t->no_space, &err);
    if (status == ND_OK)
        status = nd_segments_sync(s, &t->no_space, &err);
    if (status == ND_OK) {
        t->committed = nd_segments_end(s);
        t->n_committed = n;
    } else
        assert_true(strlen(err.message) > 10);
    return status;
}

/* Go on until the first failure. */
static void write_batches(struct story *t, struct nd_segments *s)
{
    while (t->n_committed < (size_t)BATCHES * BATCH && t->status == ND_OK)
        t->status = write_batch(t, s);
}

static void check_committed(struct story *t, struct nd_segments *s)
{
    for (uint64_t i = 0; i < t->n_committed; i++)
        check_text(s, t->compressor, i, &t->place[i]);
}

/* Check that what was committed is there, and that the rest can be written now. */
static void go_on(struct story *t, struct nd_segments *s)
{
    check_committed(t, s);
    t->status = ND_OK;
    write_batches(t, s);
    assert_int_equal(t->status, ND_OK);
    assert_int_equal(t->n_committed, BATCHES * BATCH);
    check_committed(t, s);
}

/* Fail in the same way at each step, until none is left; `then` says what happens after it. */
static void fail_at_each_step(unsigned of_kinds, int with,
                              void (*then)(struct story *t, struct nd_segments *s))
{
    struct story *t = malloc(sizeof *t);
    bool goes_on = true;

    assert_non_null(t);
    for (long at = 0; goes_on; at++) {
        struct nd_segments *s = open_at((struct nd_segments_end){0, 0}, SMALL);

        prepare(t);
        kinds = of_kinds;
        reason = with;
        steps_left = at;
        write_batches(t, s);
        goes_on = steps_left < 0;
        steps_left = -1;
        if (goes_on) {
            then(t, s);
            s = open_at(t->committed, SMALL);
        }
        go_on(t, s);
        nd_segments_close(s);
        release(t);
        empty_folder();
        assert_true(goes_on || at > 2);
    }
    free(t);
}

static void rewind_and_go_on(struct story *t, struct nd_segments *s)
{
    assert_int_equal(t->status, ND_EIO);
    assert_int_equal(t->no_space, reason == ENOSPC);
    nd_segments_rewind(s, t->committed);
    go_on(t, s);
    nd_segments_close(s);
}

static void a_full_disk_loses_only_the_batch(void **state)
{
    (void)state;
    fail_at_each_step(1U << PWRITE, ENOSPC, rewind_and_go_on);
    fail_at_each_step(1U << OPEN, ENOSPC, rewind_and_go_on);
}

static void a_write_that_fails_loses_only_the_batch(void **state)
{
    (void)state;
    fail_at_each_step(1U << PWRITE, EIO, rewind_and_go_on);
    fail_at_each_step(1U << OPEN, EACCES, rewind_and_go_on);
}

/* The kernel may have dropped the pages: a second sync would succeed and mean nothing. */
static void refuse_until_opened_again(struct story *t, struct nd_segments *s)
{
    struct nd_error err;
    struct nd_text_place place;
    bool no_space = true;

    assert_int_equal(t->status, ND_EIO);
    nd_segments_rewind(s, t->committed);
    check_committed(t, s);
    assert_int_equal(try_append(s, t->compressor, 1, &place, &no_space, &err), ND_EIO);
    assert_non_null(strstr(err.message, "open the store again"));
    assert_false(no_space);
    assert_int_equal(nd_segments_sync(s, &no_space, &err), ND_EIO);
    nd_segments_close(s);
}

static void after_a_failed_sync_nothing_is_written(void **state)
{
    const int reasons[] = {EIO, ENOSPC};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fail_at_each_step(1U << FDATASYNC, reasons[i], refuse_until_opened_again);
        fail_at_each_step(1U << FSYNC, reasons[i], refuse_until_opened_again);
    }
}

static void rewind_after_no_memory(struct story *t, struct nd_segments *s)
{
    assert_int_equal(t->status, ND_ENOMEM);
    nd_segments_rewind(s, t->committed);
    go_on(t, s);
    nd_segments_close(s);
}

static void every_allocation_of_a_writer_may_fail(void **state)
{
    (void)state;
    fail_at_each_step(1U << MEMORY, ENOMEM, rewind_after_no_memory);
}

/* Segments that cannot be removed while it goes back are removed or replaced later. */
static void what_cannot_be_removed_does_no_harm(void **state)
{
    struct story *t = malloc(sizeof *t);

    (void)state;
    assert_non_null(t);
    for (int at = 0; at < 8; at++) {
        struct nd_segments *s = open_at((struct nd_segments_end){0, 0}, 300);

        prepare(t);
        assert_int_equal(write_batch(t, s), ND_OK);
        kinds = 1U << PWRITE;
        reason = EIO;
        steps_left = 2;
        assert_int_equal(write_batch(t, s), ND_EIO);
        kinds = 1U << UNLINK;
        reason = EPERM;
        steps_left = at;
        nd_segments_rewind(s, t->committed);
        steps_left = -1;
        go_on(t, s);
        nd_segments_close(s);
        release(t);
        empty_folder();
    }
    free(t);
}

/* ---- Opening and reading ---- */

static void opening_fails_at_each_step_and_leaves_nothing(void **state)
{
    const struct {
        enum call call;
        enum nd_status status;
    } each[] = {{OPEN, ND_EIO},
                {PREAD, ND_EIO},
                {FTRUNCATE, ND_EIO},
                {UNLINK, ND_EIO},
                {MEMORY, ND_ENOMEM}};
    struct story *t = malloc(sizeof *t);
    struct nd_segments *s;

    (void)state;
    assert_non_null(t);
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        bool failed = true;

        prepare(t);
        s = open_at((struct nd_segments_end){0, 0}, 300);
        write_batch(t, s);
        for (uint64_t n = 0; n < 20; n++)
            append(s, t->compressor, n); /* begins other segments */
        nd_segments_close(s);
        for (long at = 0; failed; at++) {
            struct nd_error err;

            kinds = 1U << each[i].call;
            reason = EIO;
            steps_left = at;
            s = nd_segments_open(folder, t->committed, SMALL, false, &err);
            failed = !s;
            assert_true(s || err.status == each[i].status);
            assert_true(failed || at > 0);
            steps_left = -1;
        }
        check_committed(t, s);
        nd_segments_close(s);
        release(t);
        empty_folder();
    }
    free(t);
}

static void a_read_that_fails_says_why(void **state)
{
    struct story *t = malloc(sizeof *t);
    struct nd_segments *s = open_at((struct nd_segments_end){0, 0}, SMALL);
    struct nd_compressor *c = nd_compressor_new();

    (void)state;
    assert_non_null(t);
    prepare(t);
    write_batches(t, s);
    nd_segments_close(s);
    s = open_at(t->committed, SMALL);
    for (unsigned call = 0; call < CALLS; call++)
        for (long at = 0, failed = 1; failed; at++) {
            struct nd_buffer text = {0};
            struct nd_error err;
            enum nd_status status;

            kinds = 1U << call;
            reason = EIO;
            steps_left = at;
            status = nd_segments_read(s, c, &t->place[0], &text, &err);
            failed = steps_left < 0;
            steps_left = -1;
            if (failed)
                assert_int_equal(status, call == MEMORY ? ND_ENOMEM : ND_EIO);
            else
                assert_int_equal(status, ND_OK);
            nd_buffer_release(&text);
        }
    check_committed(t, s);
    nd_segments_close(s);
    nd_compressor_free(c);
    release(t);
    free(t);
    empty_folder();
}

static void short_and_interrupted_calls_are_continued(void **state)
{
    struct story *t = malloc(sizeof *t);
    struct nd_segments *s;

    (void)state;
    assert_non_null(t);
    for (int round = 0; round < 5; round++) {
        is_choppy = true;
        s = open_at((struct nd_segments_end){0, 0}, SMALL);
        prepare(t);
        go_on(t, s);
        nd_segments_close(s);
        s = open_at(t->committed, SMALL);
        check_committed(t, s);
        is_choppy = false;
        check_committed(t, s);
        nd_segments_close(s);
        release(t);
        empty_folder();
    }
    free(t);
}

/* ---- Order of the calls ---- */

/* When a sync returns, each file was synced after its last write, and the folder after the last
 * new file. */
static void a_sync_covers_every_write(void **state)
{
    struct story *t = malloc(sizeof *t);
    struct nd_segments *s = open_at((struct nd_segments_end){0, 0}, SMALL);
    size_t folder_syncs = 0;

    (void)state;
    assert_non_null(t);
    prepare(t);
    while (t->n_committed < (size_t)BATCHES * BATCH) {
        uint32_t before = t->committed.segment;
        bool synced_folder = false;

        n_seen = 0;
        assert_int_equal(write_batch(t, s), ND_OK);
        assert_true(n_seen > 0);
        for (size_t i = 0; i < n_seen; i++) {
            bool is_covered = seen[i].call != PWRITE;

            for (size_t j = i + 1; j < n_seen && !is_covered; j++)
                is_covered = seen[j].call == FDATASYNC && seen[j].fd == seen[i].fd;
            assert_true(is_covered);
            synced_folder |= seen[i].call == FSYNC;
        }
        assert_true(synced_folder == (before != t->committed.segment));
        folder_syncs += synced_folder;
    }
    assert_true(folder_syncs > 1);
    nd_segments_close(s);
    release(t);
    free(t);
    empty_folder();
}

static struct {
    struct nd_segments *segments;
    bool is_done;
} to_remove;

static void remove_first(void)
{
    if (to_remove.is_done)
        return;
    to_remove.is_done = true;
    assert_int_equal(nd_segments_remove(to_remove.segments, 1, NULL), ND_OK);
}

static size_t count_descriptors_of(const char *part)
{
    DIR *d = opendir("/proc/self/fd");
    size_t n = 0;

    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char link[300], target[512] = "";

        (void)snprintf(link, sizeof link, "/proc/self/fd/%s", e->d_name);
        (void)!readlink(link, target, sizeof target - 1);
        n += strstr(target, part) != NULL;
    }
    closedir(d);
    return n;
}

/* A reader within a segment that is removed finishes; then the file is closed, and is no more. */
static void who_reads_in_a_removed_segment_finishes(void **state)
{
    struct story *t = malloc(sizeof *t);
    struct nd_segments *s = open_at((struct nd_segments_end){0, 0}, 300);
    struct nd_buffer text = {0};
    struct nd_error err;

    (void)state;
    assert_non_null(t);
    prepare(t);
    write_batches(t, s);
    assert_int_equal(t->place[0].segment, 1);
    check_text(s, t->compressor, 0, &t->place[0]);
    to_remove.segments = s;
    to_remove.is_done = false;
    within_read = remove_first;
    check_text(s, t->compressor, 0, &t->place[0]);
    within_read = NULL;
    assert_true(to_remove.is_done);
    assert_int_equal(count_descriptors_of("00000001.seg"), 0);
    assert_int_equal(nd_segments_read(s, t->compressor, &t->place[0], &text, &err), ND_EINPUT);
    assert_non_null(strstr(err.message, "is missing"));
    nd_buffer_release(&text);
    nd_segments_close(s);
    release(t);
    free(t);
    empty_folder();
}

static void a_removal_that_fails_says_so(void **state)
{
    struct story *t = malloc(sizeof *t);
    struct nd_segments *s = open_at((struct nd_segments_end){0, 0}, 300);
    struct nd_error err;

    (void)state;
    assert_non_null(t);
    prepare(t);
    write_batches(t, s);
    kinds = 1U << UNLINK | 1U << FSYNC;
    reason = EPERM;
    for (long at = 0; at < 2; at++) {
        steps_left = at;
        assert_int_equal(nd_segments_remove(s, 1, &err), ND_EIO);
        assert_non_null(strstr(err.message, strerror(EPERM)));
    }
    steps_left = -1;
    assert_int_equal(nd_segments_remove(s, 1, &err), ND_OK);
    nd_segments_close(s);
    release(t);
    free(t);
    empty_folder();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_loses_only_the_batch),
        cmocka_unit_test(a_write_that_fails_loses_only_the_batch),
        cmocka_unit_test(after_a_failed_sync_nothing_is_written),
        cmocka_unit_test(every_allocation_of_a_writer_may_fail),
        cmocka_unit_test(what_cannot_be_removed_does_no_harm),
        cmocka_unit_test(opening_fails_at_each_step_and_leaves_nothing),
        cmocka_unit_test(a_read_that_fails_says_why),
        cmocka_unit_test(short_and_interrupted_calls_are_continued),
        cmocka_unit_test(a_sync_covers_every_write),
        cmocka_unit_test(who_reads_in_a_removed_segment_finishes),
        cmocka_unit_test(a_removal_that_fails_says_so),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
