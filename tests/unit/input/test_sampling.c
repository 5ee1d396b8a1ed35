/* test_sampling.c - the records of a sample are those that begin in a block, each once and whole */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include <neardup/input.h>

#include "base/hash.h"
#include "input/streams/sampling.h"

enum { LINES = 4000 };

static char folder[] = "/tmp/neardup-sampling-XXXXXX";

static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    if (system("rm -f ./*.txt ./*.csv ./*.gz") != 0)
        return -1;
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

/* Lines of 1 to 200 bytes that name themselves; their offsets are noted. */
static void write_lines(const char *name, unsigned file, uint64_t *offset, uint64_t *size)
{
    FILE *f = fopen(name, "w");

    assert_non_null(f);
    for (unsigned i = 0; i < LINES; i++) {
        offset[i] = (uint64_t)ftell(f);
        fprintf(f, "%u.%u %0*d\n", file, i, 1 + (int)(nd_mix64(i + file * LINES) % 180), 0);
    }
    *size = (uint64_t)ftell(f);
    fclose(f);
}

/* Every position, one after the other. */
static void the_next_position_is_the_first_in_a_block(void **state)
{
    (void)state;
    for (uint64_t total = 20000; total < 90000; total += 30001) {
        struct nd_sampling s;
        uint64_t inside = 0;
        uint32_t block;

        nd_sampling_begin(&s, total, total / 3);
        assert_true(s.is_on);
        for (uint64_t p = 0; p < total; p++) {
            uint64_t next = nd_sampling_next(&s, p, &block);

            if (next == p) {
                inside++;
                assert_int_equal(block, p / s.stride);
                assert_true(nd_sampling_left(&s, p) >= 1 && nd_sampling_left(&s, p) <= s.block);
            } else if (next != UINT64_MAX && p + 1 < total) {
                assert_int_equal(nd_sampling_next(&s, p + 1, &block), next);
            }
        }
        assert_true(inside > total / 4 && inside < total / 2);
    }
}

static void a_sample_of_all_is_no_sample(void **state)
{
    struct nd_sampling s;

    (void)state;
    nd_sampling_begin(&s, 1000, 1000);
    assert_false(s.is_on);
    assert_true(nd_sampling_enter(&s, 10));
}

/* Mark the lines that were read; the sum of their bytes. */
static uint64_t read_lines(struct nd_input *input, unsigned char *seen)
{
    struct nd_batch batch = {0};
    uint64_t bytes = 0;

    while (nd_input_read(input, 5000, 100, &batch, NULL) == 1)
        for (size_t i = 0; i < batch.count; i++) {
            struct nd_view line = batch.records[i].bytes;
            char text[16] = "";
            unsigned file, number;

            memcpy(text, line.data, line.len < 15 ? line.len : 15);
            assert_int_equal(sscanf(text, "%u.%u ", &file, &number), 2);
            assert_int_equal(line.data[line.len - 1], '\n');
            assert_int_equal(seen[file * LINES + number]++, 0);
            bytes += line.len;
        }
    nd_batch_release(&batch);
    return bytes;
}

static struct nd_input *open_lines(const char *const *paths, size_t n, uint64_t bytes)
{
    struct nd_input_options options = nd_input_options_default();
    struct nd_input *input;

    options.unit = ND_UNIT_LINE;
    input = nd_input_open(paths, n, &options, NULL, NULL, NULL);
    assert_non_null(input);
    assert_int_equal(nd_input_sample(input, bytes, NULL), ND_OK);
    return input;
}

static void lines_that_begin_in_a_block_are_read_and_no_others(void **state)
{
    static const char *const paths[] = {"a.txt", "b.txt", "c.txt"};
    static uint64_t offset[3][LINES];
    uint64_t size[3];

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        write_lines(paths[i], i, offset[i], &size[i]);
    for (uint64_t share = 2; share <= 64; share *= 2) {
        unsigned char seen[3 * LINES] = {0};
        uint64_t total = size[0] + size[1] + size[2], start = 0, bytes;
        struct nd_input *input = open_lines(paths, 3, total / share);
        const struct nd_sampling *s = nd_input_sampling(input);
        struct nd_sampling oracle;
        uint32_t block;

        bytes = read_lines(input, seen);
        assert_int_equal(s->bytes, bytes);
        assert_int_equal(s->unpacked, bytes);
        nd_sampling_begin(&oracle, total, total / share);
        for (unsigned f = 0; f < 3; start += size[f++])
            for (unsigned i = 0; i < LINES; i++)
                assert_int_equal(seen[f * LINES + i],
                                 nd_sampling_next(&oracle, start + offset[f][i], &block) ==
                                     start + offset[f][i]);
        nd_input_close(input);
    }
}

/* In a compressed file positions are those of the stored bytes, in the pieces in which they are
 * read: lines are whole, and about as many as wanted. */
static void a_compressed_file_is_sampled_too(void **state)
{
    static const char *const paths[] = {"z.txt.gz"};
    static uint64_t offset[LINES];
    unsigned char seen[LINES] = {0};
    struct nd_input *input;
    uint64_t size, bytes;

    (void)state;
    write_lines("z.txt", 0, offset, &size);
    assert_int_equal(system("gzip -f z.txt"), 0);
    input = open_lines(paths, 1, 8000);
    bytes = read_lines(input, seen);
    assert_true(bytes > 0 && bytes <= size);
    nd_input_close(input);
}

/* The header is read, then a beginning of whole rows. */
static void of_csv_the_beginning_is_read(void **state)
{
    static const char *const paths[] = {"t.csv"};
    struct nd_input_options options = nd_input_options_default();
    struct nd_batch batch = {0};
    struct nd_input *input;
    const struct nd_sampling *s;
    FILE *f = fopen("t.csv", "w");
    size_t next = 0;

    (void)state;
    assert_non_null(f);
    fputs("id,text\n", f);
    for (unsigned i = 0; i < LINES; i++)
        fprintf(f, "%u,\"a text\nof two lines\"\n", i);
    fclose(f);
    input = nd_input_open(paths, 1, &options, NULL, NULL, NULL);
    assert_non_null(input);
    assert_int_equal(nd_input_sample(input, 20000, NULL), ND_OK);
    while (nd_input_read(input, 5000, 100, &batch, NULL) == 1)
        for (size_t i = 0; i < batch.count; i++)
            assert_int_equal(atoi(batch.records[i].bytes.data), next++);
    s = nd_input_sampling(input);
    assert_true(next > 0 && next < LINES);
    assert_int_equal(s->beginnings, 1);
    assert_true(s->bytes > 10000 && s->bytes < 30000);
    nd_batch_release(&batch);
    nd_input_close(input);
}

static void what_has_no_size_is_refused(void **state)
{
    static const char *const paths[] = {"-"};
    struct nd_input_options options = nd_input_options_default();
    struct nd_input *input = nd_input_open(paths, 1, &options, NULL, NULL, NULL);
    struct nd_error err;

    (void)state;
    assert_non_null(input);
    assert_int_equal(nd_input_sample(input, 1000, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "no regular file"));
    nd_input_close(input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_position_is_the_first_in_a_block),
        cmocka_unit_test(a_sample_of_all_is_no_sample),
        cmocka_unit_test(lines_that_begin_in_a_block_are_read_and_no_others),
        cmocka_unit_test(a_compressed_file_is_sampled_too),
        cmocka_unit_test(of_csv_the_beginning_is_read),
        cmocka_unit_test(what_has_no_size_is_refused),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
