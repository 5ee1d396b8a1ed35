/*
 * test_sketch_append.c - an addition to a sketch file stopped at every step: all of it or nothing
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <neardup/sketch_file.h>

#include "record/sketch_file_layout.h"
#include "sized.h"
#include "stopped_writes.h"

enum { OLD = 40, MORE = 25, SHINGLES = 30, TRIALS = 40 };

static char folder[64], path[96];
static struct nd_recipe *recipe;

static int begin(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/neardup-append-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/a.sketch", folder);
    recipe = nd_recipe_new(NULL);
    return recipe ? nd_recipe_by_name(recipe, "default", NULL) : 1;
}

static int end(void **state)
{
    (void)state;
    nd_recipe_free(recipe);
    (void)unlink(path);
    return rmdir(folder);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* Document i, whatever file it is in. */
static void make_row(struct nd_sketch_row *row, uint64_t i, uint32_t source, uint64_t *shingle,
                     char id[32])
{
    for (uint64_t j = 0; j < SHINGLES; j++)
        shingle[j] = (j << 58) + (mix(i * 100 + j) >> 8);
    snprintf(id, 32, "document %llu", (unsigned long long)i);
    *row = (struct nd_sketch_row){.text_hash = {mix(i), i},
                                  .n_shingles = SHINGLES,
                                  .tokens = i,
                                  .source = source,
                                  .line = i,
                                  .id = {id, strlen(id)},
                                  .id_kind = ND_ID_STRING,
                                  .shingles = shingle};
}

static enum nd_status add_rows(struct nd_sketch_writer *w, uint64_t first, uint64_t n,
                               uint32_t source, struct nd_error *err)
{
    struct nd_packed_row packed = {0};
    enum nd_status status = ND_OK;

    for (uint64_t i = first; status == ND_OK && i < first + n; i++) {
        uint64_t shingle[SHINGLES];
        struct nd_sketch_row row;
        char id[32];

        make_row(&row, i, source, shingle, id);
        status = nd_sketch_row_pack(w, &row, NULL, &packed, err);
        if (status == ND_OK)
            status = nd_sketch_writer_add(w, &packed, err);
    }
    nd_packed_row_release(&packed);
    return status;
}

static const struct nd_sketch_writer_options kept = {.keeps = {1, 1}};

/* Documents `first` and on, from a source that is called by its number. */
static enum nd_status append_from(uint64_t first, uint64_t n, uint64_t source_number,
                                  struct nd_error *err)
{
    char name[32];
    struct nd_sketch_source source = {name, NULL, source_number + 1, n};
    struct nd_sketch_appender *a = nd_sketch_appender_open(path, recipe, &kept, err);
    enum nd_status status = a ? ND_OK : err->status;
    uint32_t number = 0;

    snprintf(name, sizeof name, "%llu.jsonl", (unsigned long long)source_number);
    if (status == ND_OK)
        status = nd_sketch_appender_source(a, &source, &number, err);
    if (status == ND_OK)
        status = add_rows(nd_sketch_appender_writer(a), first, n, number, err);
    if (status == ND_OK)
        status = nd_sketch_appender_commit(a, err);
    nd_sketch_appender_close(a);
    return status;
}

static enum nd_status append(uint64_t first, uint64_t n)
{
    struct nd_error err = {0};

    return append_from(first, n, first, &err);
}

/* Three generations, so that both heads have been replaced. */
static void make_old(void)
{
    (void)unlink(path);
    assert_int_equal(append(0, 10), ND_OK);
    assert_int_equal(append(10, 10), ND_OK);
    assert_int_equal(append(20, OLD - 20), ND_OK);
}

/* Every document of the file is what it should be; how many there are. */
static uint64_t count_in(const struct nd_sketch_file *file)
{
    struct nd_sketch_block block = {0};
    uint64_t n = 0;

    for (uint32_t i = 0; i < nd_sketch_file_info(file)->blocks; i++) {
        assert_int_equal(nd_sketch_file_read(file, i, ND_SKETCH_FILE_ALL, &block, NULL), ND_OK);
        for (size_t j = 0; j < block.n; j++, n++) {
            const struct nd_sketch_row *row = &block.rows[j];
            uint64_t shingle[SHINGLES];
            struct nd_sketch_row right;
            char id[32];

            make_row(&right, n, 0, shingle, id);
            assert_true(row->tokens == n && row->text_hash[0] == right.text_hash[0]);
            assert_int_equal(row->id.len, right.id.len);
            assert_memory_equal(row->id.data, id, right.id.len);
            assert_memory_equal(row->shingles, shingle, sizeof shingle);
            assert_non_null(nd_sketch_file_source(file, row->source));
        }
    }
    nd_sketch_block_release(&block);
    assert_int_equal(n, nd_sketch_file_info(file)->documents);
    return n;
}

static uint64_t count_now(void)
{
    struct nd_error err;
    struct nd_sketch_file *file = nd_sketch_file_open(path, &err);
    uint64_t n;

    if (!file)
        fail_msg("%s", err.message);
    n = count_in(file);
    nd_sketch_file_close(file);
    return n;
}

static void additions_are_read_in_order(void **state)
{
    struct nd_sketch_file *file;

    (void)state;
    make_old();
    file = nd_sketch_file_open(path, NULL);
    assert_non_null(file);
    assert_int_equal(nd_sketch_file_info(file)->generation, 4); /* it began empty */
    assert_int_equal(nd_sketch_file_info(file)->sources, 3);
    nd_sketch_file_close(file);
    assert_int_equal(count_now(), OLD);
}

static void a_source_that_the_file_has_is_used_again(void **state)
{
    struct nd_sketch_file *file;
    struct nd_error err;

    (void)state;
    make_old();
    for (uint64_t i = 0; i < 100; i++) /* 0 to 49 twice; 0, 10 and 20 were there */
        assert_int_equal(append_from(OLD + i, 1, i % 50, &err), ND_OK);
    file = nd_sketch_file_open(path, NULL);
    assert_non_null(file);
    /* Their numbers of records differ, so they are other sources. */
    assert_int_equal(nd_sketch_file_info(file)->sources, 3 + 50);
    nd_sketch_file_close(file);
    assert_int_equal(count_now(), OLD + 100);
}

static void a_reader_sees_what_was_there_when_it_opened(void **state)
{
    struct nd_sketch_file *file;

    (void)state;
    make_old();
    file = nd_sketch_file_open(path, NULL);
    for (uint64_t i = 0; i < 6; i++) {
        assert_int_equal(append(OLD + i * MORE, MORE), ND_OK);
        assert_int_equal(count_in(file), OLD);
    }
    nd_sketch_file_close(file);
    assert_int_equal(count_now(), OLD + 6 * MORE);
}

static void two_cannot_add_at_once(void **state)
{
    struct nd_sketch_appender *a;
    struct nd_error err;

    (void)state;
    make_old();
    a = nd_sketch_appender_open(path, recipe, NULL, &err);
    assert_non_null(a);
    assert_null(nd_sketch_appender_open(path, recipe, NULL, &err));
    assert_int_equal(err.status, ND_EINVAL);
    assert_non_null(strstr(err.message, path));
    assert_non_null(strstr(err.message, "another process"));
    assert_int_equal(count_in(nd_sketch_appender_file(a)), OLD);
    nd_sketch_appender_close(a);
    assert_int_equal(append(OLD, MORE), ND_OK);
}

static void without_a_commit_nothing_changes(void **state)
{
    struct nd_sketch_appender *a;
    struct stat before, after;
    struct nd_error err;

    (void)state;
    make_old();
    assert_int_equal(stat(path, &before), 0);
    a = nd_sketch_appender_open(path, recipe, &kept, &err);
    assert_non_null(a);
    assert_int_equal(add_rows(nd_sketch_appender_writer(a), OLD, 20000, 0, &err), ND_OK);
    nd_sketch_appender_close(a);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    assert_int_equal(count_now(), OLD);

    assert_int_equal(unlink(path), 0); /* one that was made for this goes away */
    a = nd_sketch_appender_open(path, recipe, &kept, &err);
    assert_non_null(a);
    assert_int_equal(access(path, F_OK), 0);
    nd_sketch_appender_close(a);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_null(nd_sketch_appender_open(path, recipe, NULL, &err));
    assert_int_equal(err.status, ND_EIO);
}

static void what_does_not_fit_is_refused(void **state)
{
    struct nd_sketch_appender *a;
    struct nd_error err;

    (void)state;
    make_old();
    assert_int_equal(nd_recipe_set(recipe, "shingle=4", &err), ND_OK);
    assert_null(nd_sketch_appender_open(path, recipe, NULL, &err));
    assert_int_equal(err.status, ND_EINVAL);
    assert_non_null(strstr(err.message, "shingle differs"));
    assert_int_equal(nd_recipe_by_name(recipe, "default", NULL), ND_OK);
    a = nd_sketch_appender_open(path, recipe, NULL, &err);
    assert_non_null(a);
    assert_int_equal(add_rows(nd_sketch_appender_writer(a), OLD, 1, 3, &err), ND_OK);
    assert_int_equal(nd_sketch_appender_commit(a, &err), ND_EINVAL); /* there are sources 0 to 2 */
    assert_int_equal(nd_sketch_appender_commit(a, &err), ND_EINVAL);
    nd_sketch_appender_close(a);
    assert_int_equal(count_now(), OLD);
}

/* ---- Stopped and failing ---- */

/* Later additions trip over nothing. */
static void add_once_more(uint64_t n)
{
    assert_int_equal(append(n, 3), ND_OK);
    assert_int_equal(count_now(), n + 3);
}

/* The number of steps until it was done. */
static long kill_at_each_step(int how)
{
    bool seen_old = false, seen_new = false;

    for (long n = 0;; n++) {
        pid_t child;
        int status;
        uint64_t count;

        make_old();
        child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            then = (unsigned)how;
            steps_left = n;
            _exit(append(OLD, MORE) == ND_OK ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        count = count_now();
        assert_true(count == OLD || count == OLD + MORE);
        seen_old |= count == OLD;
        seen_new |= count == OLD + MORE;
        add_once_more(count);
        if (WEXITSTATUS(status) == STOPPED)
            continue;
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_int_equal(count, OLD + MORE);
        assert_true(seen_old && seen_new);
        return n;
    }
}

static void a_writer_that_ends_at_any_step_leaves_all_or_nothing(void **state)
{
    (void)state;
    assert_true(kill_at_each_step(END_BEFORE) >= 6);
    assert_true(kill_at_each_step(END_WITHIN) >= 6);
}

static void a_step_that_fails_adds_nothing(void **state)
{
    (void)state;
    for (long n = 0;; n++) {
        enum nd_status status;
        uint64_t count;
        bool stopped;

        make_old();
        then = FAIL;
        steps_left = n;
        status = append(OLD, MORE);
        stopped = steps_left < 0;
        then = GO_ON;
        count = count_now();
        assert_int_equal(count, status == ND_OK ? OLD + MORE : OLD);
        add_once_more(count);
        if (!stopped)
            break;
    }
}

static void a_file_that_was_made_goes_away_when_its_addition_fails(void **state)
{
    (void)state;
    for (int how = FAIL; how <= FAIL_FROM; how++) {
        enum nd_status status = ND_EIO;

        for (long n = 0; status != ND_OK; n++) {
            (void)unlink(path);
            then = (unsigned)how;
            steps_left = n;
            status = append(0, MORE);
            then = GO_ON;
            assert_int_equal(access(path, F_OK), status == ND_OK ? 0 : -1);
            assert_true(n < 100);
        }
        assert_int_equal(count_now(), MORE);
    }
}

/* Adds for ever, and says each time that it has. */
static void add_until_killed(uint64_t n, int told)
{
    for (;; n += MORE)
        if (append(n, MORE) != ND_OK || write(told, "", 1) != 1)
            _exit(1);
}

/* Real kills: some additions after the start, and so long after that. */
static void a_killed_writer_leaves_all_or_nothing(void **state)
{
    size_t n_kills = sized(200, 20);
    uint64_t before;

    (void)state;
    make_old();
    before = count_now();
    for (size_t i = 0; i < n_kills; i++) {
        size_t least = i % 3;
        int status, end[2];
        uint64_t now;
        pid_t child;
        char byte;

        assert_int_equal(pipe(end), 0);
        child = fork();
        assert_true(child >= 0);
        if (child == 0)
            add_until_killed(before, end[1]);
        (void)close(end[1]);
        for (size_t j = 0; j < least; j++)
            assert_int_equal(read(end[0], &byte, 1), 1);
        assert_int_equal(usleep((useconds_t)(mix(i) % 3000)), 0);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        (void)close(end[0]);
        now = count_now();
        assert_int_equal((now - before) % MORE, 0);
        assert_true(now >= before + least * MORE);
        before = now;
    }
}

/* ---- A disk that loses power ---- */

static unsigned char *slurp(size_t *len)
{
    FILE *stream = fopen(path, "rb");
    unsigned char *bytes;

    assert_non_null(stream);
    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    *len = (size_t)ftell(stream);
    rewind(stream);
    bytes = malloc(*len);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *len, stream), *len);
    assert_int_equal(fclose(stream), 0);
    return bytes;
}

static void put(const unsigned char *bytes, size_t len)
{
    FILE *stream = fopen(path, "wb");

    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, len, stream), len);
    assert_int_equal(fclose(stream), 0);
}

static void a_power_cut_leaves_all_or_nothing(void **state)
{
    size_t old_len, synced = 0, seen[2] = {0, 0};
    unsigned char *old, *image;

    (void)state;
    make_old();
    old = slurp(&old_len);
    recording = true;
    assert_int_equal(append(OLD, MORE), ND_OK);
    recording = false;
    image = calloc(1, old_len + (1 << 20));
    assert_non_null(image);
    for (size_t ended = 0; ended <= n_ops; ended++) {
        if (ended && op[ended - 1].kind == SYNC)
            synced = ended;
        for (int trial = 0; trial < TRIALS; trial++) {
            uint64_t count;

            put(image, image_after(old, old_len, ended, synced, image));
            count = count_now();
            assert_true(count == OLD || count == OLD + MORE);
            assert_true(ended < n_ops || count == OLD + MORE);
            seen[count == OLD + MORE]++;
        }
    }
    assert_true(seen[0] && seen[1]);
    forget_ops();
    free(image);
    free(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(additions_are_read_in_order),
        cmocka_unit_test(a_source_that_the_file_has_is_used_again),
        cmocka_unit_test(a_reader_sees_what_was_there_when_it_opened),
        cmocka_unit_test(two_cannot_add_at_once),
        cmocka_unit_test(without_a_commit_nothing_changes),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(a_writer_that_ends_at_any_step_leaves_all_or_nothing),
        cmocka_unit_test(a_step_that_fails_adds_nothing),
        cmocka_unit_test(a_file_that_was_made_goes_away_when_its_addition_fails),
        cmocka_unit_test(a_killed_writer_leaves_all_or_nothing),
        cmocka_unit_test(a_power_cut_leaves_all_or_nothing),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
