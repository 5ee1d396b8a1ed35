/* test_hamming_builder.c - index files built in bounded memory have the bytes of those built at once */
#define _GNU_SOURCE
#include "hamming_file_folder.h"

static void check_same_bytes(void)
{
    FILE *a = fopen(other, "rb"), *b = fopen(path, "rb");
    char x[4096], y[4096];
    size_t n;

    assert_true(a && b);
    do {
        n = fread(x, 1, sizeof x, a);
        assert_int_equal(fread(y, 1, sizeof y, b), n);
        assert_memory_equal(x, y, n);
    } while (n);
    fclose(a);
    fclose(b);
}

/* Ids: their numbers as text, their texts, or none, so that an entry has its number. */
static enum nd_status build_slowly(const struct set *s, bool with_ids,
                                   const struct nd_hamming_shape *shape, uint64_t memory,
                                   struct nd_error *err)
{
    struct nd_hamming_builder *b;
    enum nd_status status = nd_hamming_builder_new(&b, s->bits, folder, memory, err);

    assert_int_equal(status, ND_OK);
    for (size_t i = 0; i < s->n; i++) {
        char number[16];
        const char *text = s->text && s->text[i] ? s->text[i] : number;

        snprintf(number, sizeof number, "%u", s->id[i]);
        assert_int_equal(
            nd_hamming_builder_add(b, s->row + i * s->words, with_ids ? text : NULL, err), ND_OK);
    }
    status = nd_hamming_builder_finish(b, path, shape, err);
    nd_hamming_builder_free(b);
    return status;
}

static void check_set(size_t n, unsigned bits, bool with_texts, bool with_ids, uint32_t part)
{
    struct set s = make_set(n, bits, 3, with_texts);
    const struct nd_hamming_shape shape = {
        .bits = bits, .distance = 3, .codec = ND_HAMMING_EF, .part_fingerprints = part};
    struct nd_hamming_entries all = part_of(&s, 0, n);
    struct nd_error err;

    if (!with_ids) {
        all.ids = NULL;
        all.texts = NULL;
    }
    assert_int_equal(nd_hamming_file_build(other, &shape, &all, &err), ND_OK);
    for (uint64_t memory = 0; memory <= UINT64_C(1) << 30; memory += UINT64_C(1) << 30) {
        if (build_slowly(&s, with_ids, &shape, memory, &err) != ND_OK)
            fail_msg("%s", err.message);
        check_same_bytes();
    }
    free_set(&s);
}

static void memory_changes_no_byte(void **state)
{
    (void)state;
    for (size_t n = 0; n < 20; n++)
        check_set(n, 64, n % 2, true, 0);
    for (size_t n = 511; n < 514; n++)
        check_set(n, 64, n % 2, true, 0);
    check_set(6000, 64, false, true, 0);
    check_set(6000, 64, true, true, 0);
    check_set(6000, 64, false, false, 0);
    check_set(3000, 32, true, true, 0);
    check_set(3000, 130, true, true, 0);
    check_set(3000, 512, false, true, 0);
    check_set(3000, 64, true, true, 700);
    check_set(3000, 130, false, true, 1024);
}

/* Distinct fingerprints, of which none has two ids: there are no groups. */
static void distinct_fingerprints_have_no_groups(void **state)
{
    struct set s = make_set(5000, 64, 3, false);
    const struct nd_hamming_shape shape = {.bits = 64, .distance = 3, .codec = ND_HAMMING_EF};
    const struct nd_hamming_entries all = part_of(&s, 0, s.n);

    (void)state;
    for (size_t i = 0; i < s.n; i++)
        s.row[i] = nd_mix64(i);
    assert_int_equal(nd_hamming_file_build(other, &shape, &all, NULL), ND_OK);
    assert_int_equal(build_slowly(&s, true, &shape, 0, NULL), ND_OK);
    check_same_bytes();
    free_set(&s);
}

/* The layout fast and the block code are built in memory, or not at all. */
static void what_needs_memory_says_how_much(void **state)
{
    struct set s = make_set(3000, 64, 3, true);
    struct nd_hamming_shape shape = {
        .bits = 64, .distance = 3, .codec = ND_HAMMING_EF, .layout = ND_HAMMING_FAST};
    const struct nd_hamming_entries all = part_of(&s, 0, s.n);
    struct nd_error err;

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(nd_hamming_file_build(other, &shape, &all, NULL), ND_OK);
        assert_int_equal(build_slowly(&s, true, &shape, UINT64_C(1) << 30, NULL), ND_OK);
        check_same_bytes();
        unlink(path);
        assert_int_equal(build_slowly(&s, true, &shape, 1, &err), ND_ENOMEM);
        assert_non_null(strstr(err.message, "needs more: --memory "));
        assert_int_equal(access(path, F_OK), -1);
        shape.layout = ND_HAMMING_COMPACT;
        shape.codec = ND_HAMMING_MANKU;
    }
    free_set(&s);
}

static void what_is_wrong_is_refused(void **state)
{
    const struct nd_hamming_shape shape = {.bits = 64, .distance = 3, .codec = ND_HAMMING_EF};
    struct nd_hamming_builder *b;
    const uint64_t row[2] = {7, UINT64_MAX};
    struct nd_error err;

    (void)state;
    assert_int_equal(nd_hamming_builder_new(&b, 7, folder, 0, &err), ND_EINVAL);
    assert_int_equal(nd_hamming_builder_new(&b, 64, "/nonexistent", 0, &err), ND_EIO);
    assert_int_equal(nd_hamming_builder_new(&b, 100, folder, 0, NULL), ND_OK);
    assert_int_equal(nd_hamming_builder_add(b, row, "a", &err), ND_EINVAL);
    assert_int_equal(nd_hamming_builder_add(b, (uint64_t[]){1, 2}, "a\tb", &err), ND_EINVAL);
    assert_int_equal(nd_hamming_builder_finish(b, path, NULL, &err), ND_EINVAL);
    assert_int_equal(nd_hamming_builder_finish(b, path, &shape, &err), ND_EINVAL);
    nd_hamming_builder_free(b);
    nd_hamming_builder_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_changes_no_byte),
        cmocka_unit_test(distinct_fingerprints_have_no_groups),
        cmocka_unit_test(what_needs_memory_says_how_much),
        cmocka_unit_test(what_is_wrong_is_refused),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
