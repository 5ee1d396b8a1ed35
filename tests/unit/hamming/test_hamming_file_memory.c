/* test_hamming_file_memory.c - every allocation for an index file is made to fail once: an error,
 * nothing left behind, the file as it was
 */
#define _GNU_SOURCE
#include "hamming_file_fixture.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <neardup/hamming_stats.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define HAS_OWN_MALLOC 1
#else
#define HAS_OWN_MALLOC 0

/* These stand before the C library's, for it and for all libraries of this program. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void __libc_free(void *p);

#define SEEN __attribute__((visibility("default")))

static atomic_long until_failure; /* 0: none will fail */
static atomic_long live;          /* allocations that were not freed */
static atomic_long mapped; /* bytes, of whole pages: what is mapped at once may go in parts */

static bool fails(void)
{
    bool failing = atomic_load(&until_failure) > 0 && atomic_fetch_sub(&until_failure, 1) == 1;

    if (failing)
        errno = ENOMEM;
    return failing;
}

static void *counted(void *p)
{
    if (p)
        atomic_fetch_add(&live, 1);
    return p;
}

SEEN void *malloc(size_t bytes)
{
    return fails() ? NULL : counted(__libc_malloc(bytes));
}

SEEN void *calloc(size_t n, size_t bytes)
{
    return fails() ? NULL : counted(__libc_calloc(n, bytes));
}

SEEN void *realloc(void *p, size_t bytes)
{
    if (fails())
        return NULL;
    return p ? __libc_realloc(p, bytes) : counted(__libc_realloc(p, bytes));
}

SEEN void free(void *p)
{
    if (p)
        atomic_fetch_sub(&live, 1);
    __libc_free(p);
}

static long whole_pages(size_t bytes)
{
    return (long)((bytes + 4095) / 4096 * 4096);
}

SEEN void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if (fails())
        return MAP_FAILED;
    atomic_fetch_add(&mapped, whole_pages(bytes));
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}

SEEN int munmap(void *at, size_t bytes)
{
    atomic_fetch_sub(&mapped, whole_pages(bytes));
    return (int)syscall(SYS_munmap, at, bytes);
}
#endif

static char folder[] = "/tmp/test_hamming_memory.XXXXXX";
static char path[64], fast[64];
static struct set numbers, texts, wide;

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/index", folder);
    snprintf(fast, sizeof fast, "%s/fast", folder);
    numbers = make_set(200, 64, 2, false);
    texts = make_set(200, 64, 2, true);
    wide = make_set(200, 130, 2, true);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    free_set(&numbers);
    free_set(&texts);
    free_set(&wide);
    unlink(path);
    unlink(fast);
    return rmdir(folder);
}

#if !HAS_OWN_MALLOC
static const struct set *set; /* of this round */
static enum nd_hamming_codec codec;
static enum nd_hamming_file_layout layout;
static uint32_t part;     /* 0: the file has one part */
static const char *asked; /* the file that is queried */

static struct nd_hamming_shape shape_of_round(void)
{
    return (struct nd_hamming_shape){.bits = set->bits,
                                     .distance = set->distance,
                                     .codec = codec,
                                     .layout = layout,
                                     .part_fingerprints = part};
}

static enum nd_status build_as(const char *name, enum nd_hamming_file_layout form, size_t n,
                               struct nd_error *err)
{
    const struct nd_hamming_entries entries = part_of(set, 0, n);
    struct nd_hamming_shape shape = shape_of_round();

    shape.layout = form;
    return nd_hamming_file_build(name, &shape, &entries, err);
}

/* A small file. */
static void build_before(void)
{
    assert_int_equal(build_as(path, ND_HAMMING_COMPACT, 150, NULL), ND_OK);
}

static enum nd_status build_all(struct nd_error *err)
{
    return build_as(path, layout, set->n, err);
}

/* Through temporary files, or in so much memory. */
static enum nd_status build_within(uint64_t memory, struct nd_error *err)
{
    const struct nd_hamming_shape shape = shape_of_round();
    struct nd_hamming_builder *b = NULL;
    enum nd_status status = nd_hamming_builder_new(&b, set->bits, folder, memory, err);

    for (size_t i = 0; i < set->n && status == ND_OK; i++)
        status = nd_hamming_builder_add(b, set->row + i * set->words,
                                        set->text ? set->text[i] : NULL, err);
    if (status == ND_OK)
        status = nd_hamming_builder_finish(b, path, &shape, err);
    nd_hamming_builder_free(b);
    return status;
}

static enum nd_status build_slowly(struct nd_error *err)
{
    return build_within(0, err);
}

static enum nd_status build_at_once(struct nd_error *err)
{
    return build_within(UINT64_C(1) << 30, err);
}

static enum nd_status add_few(struct nd_error *err)
{
    const struct nd_hamming_entries entries = part_of(set, 150, 160);

    return nd_hamming_file_add(path, &entries, err);
}

static enum nd_status add_many(struct nd_error *err)
{
    const struct nd_hamming_entries entries = part_of(set, 50, set->n);

    return nd_hamming_file_add(path, &entries, err);
}

static enum nd_status merge(struct nd_error *err)
{
    const char *paths[] = {path, path};

    return nd_hamming_file_merge(paths, 2, path, NULL, err);
}

static enum nd_status query(struct nd_error *err)
{
    struct nd_hamming_matches out = {.items = NULL};
    struct nd_hamming_file *file;
    enum nd_status status = nd_hamming_file_open(&file, asked, err);

    if (status != ND_OK)
        return status;
    status = nd_hamming_file_query(file, set->row, 100, set->distance, &out, err);
    nd_hamming_matches_release(&out);
    nd_hamming_file_close(file);
    return status;
}

static enum nd_status find(struct nd_error *err)
{
    struct nd_hamming_file_matches out = {.items = NULL};
    struct nd_hamming_file *file;
    enum nd_status status = nd_hamming_file_open(&file, asked, err);

    if (status != ND_OK)
        return status;
    status = nd_hamming_file_find(file, set->row, 100, set->distance, &out, err);
    free(out.items);
    nd_hamming_file_close(file);
    return status;
}

static enum nd_status remove_one(struct nd_error *err)
{
    char number[16];
    const char *id = set->text && set->text[70] ? set->text[70] : number;

    snprintf(number, sizeof number, "%u", set->id[70]);
    return nd_hamming_file_remove(path, &id, 1, NULL, err);
}

static enum nd_status make_stats(struct nd_error *err)
{
    struct nd_hamming_stats *stats = malloc(sizeof *stats);
    enum nd_status status = ND_ENOMEM;

    if (stats)
        status = nd_hamming_stats_make(set->row, set->n, set->bits, 128, stats, err);
    else
        nd_fail(err, ND_ENOMEM, "out of memory");
    free(stats);
    return status;
}

static uint64_t count_now(void)
{
    struct nd_hamming_file *file;
    uint64_t count;

    assert_int_equal(nd_hamming_file_open(&file, path, NULL), ND_OK);
    count = nd_hamming_file_design(file)->problem.count;
    nd_hamming_file_close(file);
    return count;
}

static void fail_each(enum nd_status (*action)(struct nd_error *err), uint64_t after)
{
    struct nd_error err;
    enum nd_status status;
    long n = 1, left;

    build_before();
    assert_int_equal(action(NULL), ND_OK); /* so that what stays for good is there */
    do {
        long before, mapped_before;

        build_before();
        before = atomic_load(&live);
        mapped_before = atomic_load(&mapped);
        atomic_store(&until_failure, n++);
        status = action(&err);
        left = atomic_exchange(&until_failure, 0);
        assert_int_equal(atomic_load(&live), before);
        assert_int_equal(atomic_load(&mapped), mapped_before);
        assert_int_equal(count_temporaries(folder), 0);
        if (status == ND_OK) { /* what can be done without may be done without */
            assert_int_equal(count_now(), after);
            continue;
        }
        if (status != ND_ENOMEM || err.status != status || !err.message[0] || left > 0)
            fail_msg("allocation %ld: %s: %s", n - 1, nd_status_name(status), err.message);
        assert_int_equal(count_now(), 150);
    } while (left == 0);
    assert_int_equal(status, ND_OK);
    assert_true(n > 3);
}

static void fail_all(const struct set *s, enum nd_hamming_codec c, uint32_t part_fingerprints)
{
    uint64_t left;

    set = s;
    codec = c;
    layout = ND_HAMMING_COMPACT;
    asked = path;
    part = part_fingerprints;
    build_before();
    assert_int_equal(remove_one(NULL), ND_OK);
    left = count_now(); /* ids may be equal */
    fail_each(build_all, set->n);
    fail_each(build_at_once, set->n);
    if (codec == ND_HAMMING_EF)
        fail_each(build_slowly, set->n);
    fail_each(add_few, 160);
    fail_each(add_many, 300);
    fail_each(merge, 300);
    fail_each(remove_one, left);
    fail_each(query, 150);
    fail_each(find, 150);
    fail_each(make_stats, 150);
}

/* Files of the layout fast are large: those that are read are written once, and each that is written
 * takes the place of a small one. */
static void fail_fast(const struct set *s)
{
    set = s;
    codec = ND_HAMMING_EF;
    layout = ND_HAMMING_FAST;
    part = 0;
    asked = fast;
    assert_int_equal(build_as(fast, layout, set->n, NULL), ND_OK);
    fail_each(build_all, set->n);
    fail_each(build_at_once, set->n);
    fail_each(query, 150);
    fail_each(find, 150);
}
#endif

static void memory_that_ends_changes_no_file(void **state)
{
    (void)state;
#if HAS_OWN_MALLOC
    skip();
#else
    fail_all(&numbers, ND_HAMMING_EF, 0);
    fail_all(&texts, ND_HAMMING_MANKU, 0);
    fail_all(&wide, ND_HAMMING_EF, 0);
    fail_all(&texts, ND_HAMMING_EF, 40);
    fail_fast(&numbers);
    fail_fast(&texts);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_ends_changes_no_file),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
