/* test_pack.c - what is packed is unpacked by the programs of each compression, and does not depend
 * on threads or on how it was written */
#include "input_fixture.h"

#include "base/hash.h"
#include "base/thread/pool.h"
#include "input/streams/pack.h"

enum {
    GZIP_BLOCK = 1 << 17,
    ZSTD_SHORT = 1 << 19,
    ZSTD_JOB = 1 << 21,
    BZIP2_BLOCK = 9 * 79984,
    XZ_BLOCK = 1 << 22,
    MOST = XZ_BLOCK + 100001
};

static const char *const COMPRESSION[] = {"gzip", "zstd", "xz", "bzip2", "lz4"};
enum { XZ = 2, KINDS = 5, ENCODED = 4 }; /* the first ones are made on several threads */

static char *text;

/* Words that repeat, with numbers that do not. */
static int make_text(void **state)
{
    static const char words[] = "the same words stand here again and again, and then a number ";
    uint64_t number = 1;

    if (fixture_enter(state) != 0)
        return -1;
    text = malloc(MOST);
    for (size_t i = 0; text && i < MOST; i++) {
        number = i % 97 ? number : nd_mix64(number + i);
        text[i] = i % 97 < 16 ? "0123456789abcdef"[number >> 4 * (i % 97) & 15]
                              : words[i % (sizeof words - 1)];
    }
    return text ? 0 : -1;
}

static int free_text(void **state)
{
    free(text);
    return fixture_leave(state);
}

static enum nd_status gather(void *context, const void *data, size_t len, struct nd_error *err)
{
    return nd_buffer_append(context, data, len) ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

/* Pack the first bytes of the text, `step` at a time. */
static void pack(const char *compression, unsigned level, unsigned threads, size_t len, size_t step,
                 struct nd_buffer *out)
{
    struct nd_pool *pool = threads ? nd_pool_new(threads, NULL) : NULL;
    const struct nd_packing packing = {compression, NULL, level, pool};
    struct nd_packer *p = nd_packer_new(&packing, gather, out, NULL);

    assert_non_null(p);
    for (size_t at = 0; at < len; at += step)
        assert_int_equal(nd_packer_write(p, text + at, len - at < step ? len - at : step, NULL),
                         ND_OK);
    assert_int_equal(nd_packer_finish(p, NULL), ND_OK);
    nd_packer_free(p);
    nd_pool_free(pool);
}

/* The program of the compression makes the text of it again. */
static void assert_unpacks(const char *program, const struct nd_buffer *packed, size_t len)
{
    char command[80];
    size_t got_len;
    char *got;

    write_file("packed", packed->data, packed->len);
    (void)snprintf(command, sizeof command, "%s -dc < packed > unpacked", program);
    run(command);
    got = slurp("unpacked", &got_len);
    assert_int_equal(got_len, len);
    if (len)
        assert_memory_equal(got, text, len);
    free(got);
}

static void assert_same(const struct nd_buffer *a, const struct nd_buffer *b)
{
    assert_int_equal(a->len, b->len);
    assert_memory_equal(a->data, b->data, a->len);
}

/* Around every border: nothing, a byte less, none less, a byte more. */
static void all_lengths_are_unpacked_by_the_program(void **state)
{
    static const size_t border[KINDS][5] = {
        {0, GZIP_BLOCK, 4 * GZIP_BLOCK, MOST - 1},
        {0, ZSTD_SHORT, ZSTD_JOB, MOST - 1},
        {0, XZ_BLOCK},
        {0, BZIP2_BLOCK, 2 * BZIP2_BLOCK},
        {0, GZIP_BLOCK},
    };

    (void)state;
    for (int k = 0; k < KINDS; k++) {
        for (size_t i = 0; i == 0 || border[k][i]; i++) {
            for (size_t len = i ? border[k][i] - 1 : 0; len <= border[k][i] + 1; len++) {
                struct nd_buffer packed = {0};

                pack(COMPRESSION[k], 0, 3, len, 100000, &packed);
                assert_unpacks(COMPRESSION[k], &packed, len);
                nd_buffer_release(&packed);
            }
        }
    }
}

static void the_bytes_do_not_depend_on_threads_or_steps(void **state)
{
    static const unsigned threads[] = {0, 1, 2, 7};
    static const size_t step[] = {MOST, GZIP_BLOCK, 4099};
    static const size_t len[] = {MOST, MOST, XZ_BLOCK + 1, BZIP2_BLOCK};
    static const size_t stride[] = {1, 1, 5, 1}; /* xz is slow */

    (void)state;
    for (int k = 0; k < ENCODED; k++) {
        struct nd_buffer first = {0};

        pack(COMPRESSION[k], 1, 0, len[k], 65536, &first);
        for (size_t i = 0; i < 12; i += stride[k]) {
            struct nd_buffer again = {0};

            pack(COMPRESSION[k], 1, threads[i % 4], len[k], step[i / 4], &again);
            assert_same(&again, &first);
            nd_buffer_release(&again);
        }
        nd_buffer_release(&first);
    }
}

/* bzip2 first makes five bytes of four equal ones; all blocks must be of one part all the same. */
static void runs_of_four_fit_a_block(void **state)
{
    char *words = text;

    (void)state;
    text = malloc(2 * BZIP2_BLOCK);
    assert_non_null(text);
    for (size_t i = 0; i < 2 * BZIP2_BLOCK; i++)
        text[i] = (char)('a' + i / 4 % 7);
    for (unsigned level = 1; level <= 9; level += 4) {
        struct nd_buffer packed = {0};

        pack("bzip2", level, 2, 2 * BZIP2_BLOCK, 65536, &packed);
        assert_unpacks("bzip2", &packed, 2 * BZIP2_BLOCK);
        nd_buffer_release(&packed);
    }
    free(text);
    text = words;
}

static void a_level_is_heeded(void **state)
{
    static const unsigned top[] = {9, 19, 9, 9, 9};

    (void)state;
    for (int k = 0; k < KINDS; k++) {
        struct nd_buffer fast = {0}, small = {0};

        pack(COMPRESSION[k], 1, 2, ZSTD_SHORT + 1, 65536, &fast);
        pack(COMPRESSION[k], top[k], 2, ZSTD_SHORT + 1, 65536, &small);
        assert_true(small.len != fast.len);
        assert_unpacks(COMPRESSION[k], &fast, ZSTD_SHORT + 1);
        assert_unpacks(COMPRESSION[k], &small, ZSTD_SHORT + 1);
        nd_buffer_release(&fast);
        nd_buffer_release(&small);
    }
}

static void a_level_that_is_too_high_is_refused(void **state)
{
    const struct nd_packing packing = {"gzip", NULL, 10, NULL};
    struct nd_error err;

    (void)state;
    assert_null(nd_packer_new(&packing, gather, NULL, &err));
    assert_int_equal(err.status, ND_EINVAL);
    assert_string_equal(err.message, "gzip has levels from 1 to 9: output-level 10 is too high");
}

/* Fails once so many bytes have come. */
struct full_disk {
    size_t left;
};

static enum nd_status fill_disk(void *context, const void *data, size_t len, struct nd_error *err)
{
    struct full_disk *disk = context;

    (void)data;
    if (len > disk->left)
        return nd_fail(err, ND_EIO, "no space");
    disk->left -= len;
    return ND_OK;
}

/* Wherever the disk is full, the packer says so and can be freed while its threads work. */
static void a_full_disk_ends_it(void **state)
{
    struct nd_pool *pool = nd_pool_new(3, NULL);

    (void)state;
    for (int k = 0; k < ENCODED; k++) {
        for (size_t space = 0; space < 200000; space = 3 * space + 5) {
            const struct nd_packing packing = {COMPRESSION[k], NULL, 1, pool};
            struct full_disk disk = {space};
            struct nd_error err = {.status = ND_OK};
            struct nd_packer *p = nd_packer_new(&packing, fill_disk, &disk, NULL);
            enum nd_status status = nd_packer_write(p, text, k == XZ ? XZ_BLOCK / 2 : MOST, &err);

            if (status == ND_OK)
                status = nd_packer_finish(p, &err);
            assert_int_equal(status, ND_EIO);
            assert_string_equal(err.message, "no space");
            nd_packer_free(p);
        }
    }
    nd_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_lengths_are_unpacked_by_the_program),
        cmocka_unit_test(the_bytes_do_not_depend_on_threads_or_steps),
        cmocka_unit_test(runs_of_four_fit_a_block),
        cmocka_unit_test(a_level_is_heeded),
        cmocka_unit_test(a_level_that_is_too_high_is_refused),
        cmocka_unit_test(a_full_disk_ends_it),
    };

    return cmocka_run_group_tests(tests, make_text, free_text);
}
