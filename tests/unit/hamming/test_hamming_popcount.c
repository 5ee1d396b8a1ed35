/* test_hamming_popcount.c - index files of shards by number of ones answer as a scan does */
#define _GNU_SOURCE
#include "hamming_file_folder.h"

#include "hamming/file/file.h"

static struct nd_hamming_shape shape_of(const struct set *s)
{
    return (struct nd_hamming_shape){.bits = s->bits,
                                     .distance = s->distance,
                                     .codec = ND_HAMMING_EF,
                                     .family = ND_HAMMING_POPCOUNT};
}

static void build(const char *name, const struct set *s, size_t n)
{
    const struct nd_hamming_shape shape = shape_of(s);
    const struct nd_hamming_entries entries = part_of(s, 0, n);

    assert_int_equal(nd_hamming_file_build(name, &shape, &entries, NULL), ND_OK);
}

static void check_all(const struct set *s)
{
    struct nd_hamming_file *file = open_index();
    const struct nd_hamming_plan *plan = nd_hamming_file_design(file);

    assert_int_equal(plan->family, ND_HAMMING_POPCOUNT);
    assert_int_equal(plan->tables, 1);
    assert_int_equal(plan->key_bits, 10);
    assert_int_equal(nd_hamming_file_check(file, NULL), ND_OK);
    check_entries(file, s);
    for (unsigned distance = 0; distance <= s->distance; distance++)
        check_answers(file, s, distance, 40);
    nd_hamming_file_close(file);
}

static bool is_same(const char *a, const char *b)
{
    size_t len[2];
    unsigned char *data[2] = {read_whole(a, &len[0]), read_whole(b, &len[1])};
    bool same = len[0] == len[1] && memcmp(data[0], data[1], len[0]) == 0;

    free(data[0]);
    free(data[1]);
    return same;
}

static void a_file_answers_as_a_scan_does(void **state)
{
    static const unsigned problem[][3] = {{64, 3, 2000}, {64, 0, 300},   {32, 2, 3000},
                                          {100, 5, 500}, {384, 16, 400}, {512, 12, 60},
                                          {63, 16, 200}, {64, 3, 1},     {64, 3, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof problem / sizeof *problem; i++) {
        struct set s = make_set(problem[i][2], problem[i][0], problem[i][1], i % 2);

        if (s.n > 50) { /* the ends: no ones, nothing but ones, and what is near to them */
            memset(s.row, 0, 2 * s.words * sizeof *s.row);
            memset(s.row + 2 * s.words, 0xFF, 2 * s.words * sizeof *s.row);
            for (size_t j = 2; s.bits % 64 && j < 4; j++)
                s.row[(j + 1) * s.words - 1] &= ~UINT64_C(0) >> (64 - s.bits % 64);
            flip(s.row + s.words, s.bits);
            flip(s.row + 3 * s.words, s.bits);
        }
        build(path, &s, s.n);
        check_all(&s);
        free_set(&s);
    }
}

static void what_is_added_and_merged_is_built_at_once(void **state)
{
    struct set s = make_set(900, 64, 3, true);
    const struct nd_hamming_entries more = part_of(&s, 500, 900);
    const char *const one[] = {path};

    (void)state;
    build(path, &s, 500);
    assert_int_equal(nd_hamming_file_add(path, &more, NULL), ND_OK);
    check_all(&s);
    assert_int_equal(nd_hamming_file_merge(one, 1, path, NULL, NULL), ND_OK);
    check_all(&s);
    build(other, &s, 900);
    assert_true(is_same(path, other));
    free_set(&s);
}

static void a_file_built_in_little_memory_has_the_same_bytes(void **state)
{
    struct set s = make_set(150000, 64, 3, false);
    const struct nd_hamming_shape shape = shape_of(&s);
    struct nd_hamming_builder *builder;
    char number[16];

    (void)state;
    build(path, &s, s.n);
    assert_int_equal(nd_hamming_builder_new(&builder, 64, folder, 8 << 20, NULL), ND_OK);
    for (size_t i = 0; i < s.n; i++) {
        snprintf(number, sizeof number, "%u", s.id[i]);
        assert_int_equal(nd_hamming_builder_add(builder, &s.row[i], number, NULL), ND_OK);
    }
    assert_int_equal(nd_hamming_builder_finish(builder, other, &shape, NULL), ND_OK);
    nd_hamming_builder_free(builder);
    assert_true(is_same(path, other));
    free_set(&s);
}

static void a_plan_in_memory_can_be_written(void **state)
{
    struct set s = make_set(400, 64, 2, false);
    const struct nd_hamming_problem problem = {64, 2, 400};
    struct nd_hamming_plan plan;

    (void)state;
    assert_int_equal(nd_hamming_design(&problem, NULL, ND_HAMMING_POPCOUNT, 0, 0, &plan, NULL),
                     ND_OK);
    assert_int_equal(nd_hamming_file_write(path, &plan, s.row, s.id, s.n, NULL), ND_OK);
    check_all(&s);
    free_set(&s);
}

static void what_it_does_not_have_is_refused(void **state)
{
    struct nd_hamming_shape wrong[] = {
        {.tables = 4}, {.key_bits = 10}, {.tables = 0}, {.tables = 0}};
    struct nd_hamming_plan plan;
    struct nd_error err;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        wrong[i].bits = 64;
        wrong[i].distance = 3;
        wrong[i].family = ND_HAMMING_POPCOUNT;
        wrong[i].codec = i == 2 ? ND_HAMMING_MANKU : ND_HAMMING_EF;
        wrong[i].layout = i == 3 ? ND_HAMMING_FAST : ND_HAMMING_COMPACT;
        assert_int_equal(nd_hamming_file_plan(&wrong[i], 1000, &plan, &err), ND_EINVAL);
        assert_non_null(
            strstr(err.message, i == 3 ? "windows or halves" : "popcount has one table"));
    }
}

/* Wherever a byte is another one, the whole check refuses the file. */
static void damage_is_found(void **state)
{
    struct set s = make_set(300, 64, 3, false);
    struct nd_hamming_file *file;
    unsigned char *data;
    uint64_t from;
    size_t len;

    (void)state;
    build(path, &s, s.n);
    file = open_index();
    from = file->header.segment[0].offset;
    nd_hamming_file_close(file);
    data = read_whole(path, &len);
    for (size_t at = from; at < len; at += 1 + any() % 7) {
        const unsigned char bit = (unsigned char)(1 << any() % 8);

        data[at] ^= bit;
        assert_int_equal(nd_hamming_file_init(&file, data, len, NULL), ND_EINPUT);
        data[at] ^= bit;
    }
    free(data);
    free_set(&s);
}

/* tests/vectors/index-popcount.txt, in the form of index-parts.txt: it is read, and it is what is
 * written. */
static void the_bytes_of_a_file_are_known(void **state)
{
    FILE *in = fopen("tests/vectors/index-popcount.txt", "r");
    unsigned char *known = NULL, *made;
    struct set s = make_set(12, 64, 2, false);
    struct nd_hamming_file *file;
    size_t len = 0, made_len;
    char line[200];

    (void)state;
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        char *at = line;
        unsigned long offset = *line == '#' ? 0 : strtoul(line, &at, 16);

        if (*line == '#')
            continue;
        if (!known) { /* the first line says how long it is */
            len = offset;
            known = calloc(offset, 1);
            assert_non_null(known);
            continue;
        }
        for (size_t i = 0; i < 16 && *at && *at != '\n'; i++)
            known[offset + i] = (unsigned char)strtoul(at, &at, 16);
    }
    fclose(in);
    for (uint32_t i = 0; i < 12; i++) { /* the ids are squares; the last two are others again */
        s.row[i] = (uint64_t)(i % 10) * (i % 10) * (i % 10) * UINT64_C(0x9E3779B97F4A7C15);
        s.id[i] = i * i;
    }
    build(path, &s, s.n);
    made = read_whole(path, &made_len);
    assert_int_equal(made_len, len);
    assert_memory_equal(made, known, len);
    assert_int_equal(nd_hamming_file_init(&file, known, len, NULL), ND_OK);
    check_answers(file, &s, 2, 60);
    check_entries(file, &s);
    nd_hamming_file_close(file);
    free(known);
    free(made);
    free_set(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_answers_as_a_scan_does),
        cmocka_unit_test(what_is_added_and_merged_is_built_at_once),
        cmocka_unit_test(a_file_built_in_little_memory_has_the_same_bytes),
        cmocka_unit_test(a_plan_in_memory_can_be_written),
        cmocka_unit_test(what_it_does_not_have_is_refused),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(the_bytes_of_a_file_are_known),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
