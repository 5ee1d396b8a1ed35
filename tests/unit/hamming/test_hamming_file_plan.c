/* test_hamming_file_plan.c - index files: the size that was predicted, and the recipe they keep */
#define _GNU_SOURCE
#include "hamming_file_folder.h"

#include <fcntl.h>
#include <math.h>

#include "hamming/file/file.h"

static void check_recipe(const char *name, const char *text, uint64_t fingerprint)
{
    const struct nd_hamming_recipe *recipe;
    struct nd_hamming_file *file;
    struct nd_error err;

    if (nd_hamming_file_open(&file, name, &err) != ND_OK)
        fail_msg("%s", err.message);
    recipe = nd_hamming_file_recipe(file);
    if (text) {
        assert_non_null(recipe);
        assert_int_equal(recipe->len, strlen(text));
        assert_memory_equal(recipe->text, text, recipe->len);
        assert_int_equal(recipe->fingerprint, fingerprint);
    } else {
        assert_null(recipe);
    }
    nd_hamming_file_close(file);
}

static void flip_byte(const char *name, off_t at)
{
    unsigned char byte;
    int fd = open(name, O_RDWR);

    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

/* However long it is, and whatever is done to the file. */
static void a_recipe_stays_with_its_index(void **state)
{
    static const size_t lengths[] = {1, 4096, 5000};
    struct set s = make_set(3000, 64, 3, true);

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct nd_hamming_recipe recipe = {.len = lengths[i], .fingerprint = 77 + i};
        struct nd_hamming_shape shape = {
            .bits = 64, .distance = 3, .codec = ND_HAMMING_EF, .recipe = &recipe};
        const char *const both[] = {path, other};
        char *text = calloc(lengths[i] + 1, 1);
        struct nd_hamming_entries entries = part_of(&s, 0, 0);
        struct nd_hamming_file *file;

        assert_non_null(text);
        memset(text, 'r', lengths[i]);
        recipe.text = text;
        assert_int_equal(nd_hamming_file_build(path, &shape, &entries, NULL), ND_OK);
        check_recipe(path, text, 77 + i);
        entries = part_of(&s, 0, 1000);
        assert_int_equal(nd_hamming_file_build(path, &shape, &entries, NULL), ND_OK);
        for (size_t from = 1000; from < 3000; from += 500) { /* in place, and anew */
            entries = part_of(&s, from, from + (from < 2000 ? 20 : 500));
            assert_int_equal(nd_hamming_file_add(path, &entries, NULL), ND_OK);
            check_recipe(path, text, 77 + i);
        }
        assert_int_equal(nd_hamming_file_build(other, &shape, &entries, NULL), ND_OK);
        assert_int_equal(nd_hamming_file_merge(both, 2, path, NULL, NULL), ND_OK);
        check_recipe(path, text, 77 + i);
        recipe.fingerprint++;
        assert_int_equal(nd_hamming_file_build(other, &shape, &entries, NULL), ND_OK);
        assert_int_equal(nd_hamming_file_merge(both, 2, path, NULL, NULL), ND_EINVAL);
        shape.recipe = NULL;
        assert_int_equal(nd_hamming_file_build(other, &shape, &entries, NULL), ND_OK);
        check_recipe(other, NULL, 0);
        assert_int_equal(nd_hamming_file_merge(both, 2, path, NULL, NULL), ND_EINVAL);
        check_recipe(path, text, 77 + i);
        flip_byte(path, 8192 + (off_t)lengths[i] - 1);
        assert_int_equal(nd_hamming_file_open(&file, path, NULL), ND_EINPUT);
        assert_int_equal(nd_hamming_file_add(path, &entries, NULL), ND_EINPUT);
        recipe.len = 0;
        shape.recipe = &recipe;
        assert_int_equal(nd_hamming_file_build(path, &shape, &entries, NULL), ND_EINVAL);
        free(text);
    }
    free_set(&s);
}

/* For distinct fingerprints with numbers as ids; with the block code it is about the most. */
static void a_file_is_as_large_as_was_predicted(void **state)
{
    static const unsigned widths[] = {40, 64, 65, 384};
    static const size_t counts[] = {0, 1, 999, 20000};
    uint64_t *row = malloc(20000 * ND_HAMMING_WORDS_MAX * sizeof *row);

    (void)state;
    assert_non_null(row);
    for (size_t w = 0; w < 4; w++)
        for (size_t c = 0; c < 4; c++)
            for (unsigned manku = 0; manku <= (widths[w] <= 64); manku++) {
                size_t n = counts[c], words = nd_hamming_words(widths[w]);
                struct nd_hamming_shape shape = {.bits = widths[w],
                                                 .distance = 2,
                                                 .tables = c == 2 ? 9 : 0,
                                                 .family = w % 2 ? ND_HAMMING_BLOCKS
                                                                 : ND_HAMMING_COVERING,
                                                 .codec = manku ? ND_HAMMING_MANKU : ND_HAMMING_EF};
                const struct nd_hamming_entries entries = {.fingerprints = row, .count = n};
                struct nd_hamming_file *file;
                struct nd_hamming_plan plan;
                double bytes;

                for (size_t i = 0; i < n * words; i++) /* an odd factor: all differ */
                    row[i] = ((uint64_t)(i + 1) * 0x9E3779B97F4A7C15u) >>
                             (i % words == words - 1 && widths[w] % 64 ? 64 - widths[w] % 64 : 0);
                assert_int_equal(nd_hamming_file_plan(&shape, n, &plan, NULL), ND_OK);
                bytes = nd_hamming_file_plan_bytes(&plan, shape.codec);
                assert_int_equal(nd_hamming_file_build(path, &shape, &entries, NULL), ND_OK);
                assert_int_equal(nd_hamming_file_open(&file, path, NULL), ND_OK);
                assert_int_equal(nd_hamming_file_distinct(file), n);
                assert_int_equal(nd_hamming_file_design(file)->tables, plan.tables);
                if (!manku)
                    assert_int_equal(nd_hamming_file_bytes(file), (uint64_t)bytes);
                else
                    assert_true((double)nd_hamming_file_bytes(file) <= bytes + plan.tables * 2080);
                nd_hamming_file_close(file);
                shape.max_bytes = (uint64_t)bytes - 1;
                if (!manku && n) { /* fewer tables, or none */
                    enum nd_status status = nd_hamming_file_plan(&shape, n, &plan, NULL);

                    assert_true(status == ND_EINVAL ||
                                (status == ND_OK &&
                                 nd_hamming_file_plan_bytes(&plan, shape.codec) < bytes));
                }
            }
    free(row);
}

/* Which families a file holds is said alike by the predicate, by plans and by their bytes. */
static void a_file_holds_some_families_only(void **state)
{
    const struct nd_hamming_problem problem = {64, 3, 1000};

    (void)state;
    for (int f = 0; f < ND_HAMMING_FAMILY_COUNT; f++) {
        const enum nd_hamming_family family = (enum nd_hamming_family)f;
        const struct nd_hamming_shape shape = {
            .bits = 64,
            .distance = 3,
            .codec = ND_HAMMING_EF,
            .family = family,
            .layout = nd_hamming_file_holds(family, ND_HAMMING_FAST) ? ND_HAMMING_FAST
                                                                     : ND_HAMMING_COMPACT};
        bool holds = nd_hamming_file_holds(family, 0);
        struct nd_hamming_plan plan;

        assert_int_equal(nd_hamming_design(&problem, NULL, family, 0, 8, &plan, NULL), ND_OK);
        assert_true(holds == !isnan(nd_hamming_file_plan_bytes(&plan, ND_HAMMING_EF)));
        if (f) /* 0 stands for coverings */
            assert_int_equal(nd_hamming_file_plan(&shape, 1000, &plan, NULL),
                             holds ? ND_OK : ND_EINVAL);
    }
    assert_false(nd_hamming_file_holds((enum nd_hamming_family)99, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recipe_stays_with_its_index),
        cmocka_unit_test(a_file_is_as_large_as_was_predicted),
        cmocka_unit_test(a_file_holds_some_families_only),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
