/* test_hamming_parts.c - index files of several parts answer as one of a single part does */
#define _GNU_SOURCE
#include "hamming_file_folder.h"

#include <sys/stat.h>

#include "hamming/file/change.h"
#include "hamming/file/file.h"

enum { PART = 100 };

static enum nd_status build_as(const char *name, const struct set *s, size_t n, uint32_t part,
                               struct nd_error *err)
{
    const struct nd_hamming_shape shape = {.bits = s->bits,
                                           .distance = s->distance,
                                           .codec = ND_HAMMING_EF,
                                           .part_fingerprints = part};
    const struct nd_hamming_entries entries = part_of(s, 0, n);

    return nd_hamming_file_build(name, &shape, &entries, err);
}

static void build(const char *name, const struct set *s, size_t n, uint32_t part)
{
    assert_int_equal(build_as(name, s, n, part, NULL), ND_OK);
}

/* The entries that nd_hamming_file_find names have the ids that nd_hamming_file_query gives. */
static void check_found(const struct nd_hamming_file *file, const struct set *s)
{
    struct nd_hamming_file_matches entries = {.items = NULL};
    struct nd_hamming_matches ids = {.items = NULL};
    size_t n = s->n < 50 ? s->n : 50;

    assert_int_equal(nd_hamming_file_find(file, s->row, n, s->distance, &entries, NULL), ND_OK);
    assert_int_equal(nd_hamming_file_query(file, s->row, n, s->distance, &ids, NULL), ND_OK);
    assert_int_equal(entries.count, ids.count);
    for (size_t i = 0; i < ids.count; i++) {
        char digits[ND_HAMMING_NUMBER_MAX + 1] = "", expected[ND_HAMMING_NUMBER_MAX + 1];
        size_t len;
        const char *text = nd_hamming_file_text(file, entries.items[i].entry, digits, &len);

        assert_int_equal(entries.items[i].query, ids.items[i].query);
        assert_int_equal(entries.items[i].distance, ids.items[i].distance);
        if (nd_hamming_file_has_texts(file)) {
            assert_int_equal(entries.items[i].entry, ids.items[i].id);
            continue;
        }
        assert_int_equal(snprintf(expected, sizeof expected, "%u", ids.items[i].id), len);
        assert_memory_equal(text, expected, len);
    }
    free(entries.items);
    nd_hamming_matches_release(&ids);
}

/* The file at `path` holds the set, in so many parts, of which none has more than PART. */
static void check_file(const struct set *s, unsigned parts)
{
    struct nd_hamming_file *file = open_index();
    uint64_t held[ND_HAMMING_FILE_PARTS_MAX] = {0};

    assert_int_equal(nd_hamming_file_sizes(file).parts, parts);
    assert_int_equal(nd_hamming_file_shape(file).part_fingerprints, PART);
    for (unsigned i = 0; i < file->n; i++)
        held[file->header.segment[i].part] += file->header.segment[i].count;
    for (unsigned i = 0; i < parts; i++)
        assert_in_range(held[i], 1, PART);
    check_answers(file, s, s->distance, 40);
    check_entries(file, s);
    check_found(file, s);
    nd_hamming_file_close(file);
}

static void a_file_of_parts_answers_as_one(void **state)
{
    const unsigned bits[] = {64, 40, 200};

    (void)state;
    for (int i = 0; i < 6; i++) {
        struct set s = make_set(PART * 5 + 30, bits[i / 2], 3, i % 2);

        build(path, &s, s.n, PART);
        check_file(&s, 6);
        s.n = s.n - 30; /* the last part is full */
        build(path, &s, s.n, PART);
        check_file(&s, 5);
        s.n = s.n + 30;
        free_set(&s);
    }
}

/* Whatever the additions, only the last part is not full, and the others are one segment each. */
static void additions_fill_one_part_after_the_other(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        struct set s = make_set(PART * 6 + 17, i % 3 ? 64 : 130, 3, i % 2);
        size_t at = any() % 2 ? any() % (2 * PART) : PART;
        struct nd_hamming_file *file;

        build(path, &s, at, PART);
        while (at < s.n) {
            size_t end = at + (any() % 3 ? 1 + any() % 30 : 1 + any() % (3 * PART));
            struct nd_hamming_entries entries;

            end = any() % 8 ? end : (at / PART + 1) * PART;
            end = end < s.n ? end : s.n;
            entries = part_of(&s, at, end);
            assert_int_equal(nd_hamming_file_add(path, &entries, NULL), ND_OK);
            at = end;
        }
        check_file(&s, 7);
        file = open_index();
        for (unsigned k = 0; k < 6; k++) {
            assert_int_equal(file->header.segment[k].part, k);
            assert_int_equal(file->header.segment[k].count, PART);
        }
        nd_hamming_file_close(file);
        free_set(&s);
    }
}

/* Merged with another size, it is the file that is built of that size. */
static void merging_makes_other_parts(void **state)
{
    const uint32_t part[] = {0, PART, 333};
    const char *paths[] = {path};

    (void)state;
    for (int i = 0; i < 9; i++) {
        struct set s = make_set(900, 64, 3, i % 2);
        struct nd_hamming_file *file;
        struct nd_hamming_shape shape;
        const size_t n = s.n;

        build(path, &s, n, part[i / 3]);
        file = open_index();
        shape = nd_hamming_file_shape(file);
        nd_hamming_file_close(file);
        shape.part_fingerprints = part[i % 3];
        assert_int_equal(nd_hamming_file_merge(paths, 1, path, &shape, NULL), ND_OK);
        file = open_index();
        assert_int_equal(nd_hamming_file_sizes(file).parts,
                         part[i % 3] ? 899 / part[i % 3] + 1 : 1);
        assert_int_equal(file->header.part_max, part[i % 3]);
        check_answers(file, &s, 3, 30);
        check_entries(file, &s);
        nd_hamming_file_close(file);
        free_set(&s);
    }
}

/* Take the entries of a set that a remainder of their ids names; returns the ids as text. */
static size_t take(struct set *s, size_t first, size_t end, char (*number)[16], const char **id)
{
    size_t taken = 0, n = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (i >= first && i < end) {
            snprintf(number[taken], 16, "%u", s->id[i]);
            id[taken] = number[taken];
            taken++;
            continue;
        }
        memmove(s->row + n * s->words, s->row + i * s->words, s->words * sizeof *s->row);
        s->id[n++] = s->id[i];
    }
    s->n = n;
    return taken;
}

/* Ids of one part, of several, and of whole parts are removed. */
static void what_is_removed_is_gone_from_every_part(void **state)
{
    static const size_t range[][3] = {{0, 10, 6},    {530, 560, 6}, {90, 110, 6},
                                      {100, 200, 5}, {0, 250, 4},   {0, 560, 0}};
    char number[600][16];
    const char *id[600];

    (void)state;
    for (size_t i = 0; i < sizeof range / sizeof *range; i++) {
        struct set s = make_set(560, 64, 3, false);
        size_t before = s.n;
        uint64_t removed;

        for (size_t k = 0; k < s.n; k++)
            s.id[k] = (uint32_t)(k * 7919);
        build(path, &s, 520, PART);
        for (size_t at = 520; at < s.n; at += 10) {
            struct nd_hamming_entries entries = part_of(&s, at, at + 10);

            assert_int_equal(nd_hamming_file_add(path, &entries, NULL), ND_OK);
        }
        before -= take(&s, range[i][0], range[i][1], number, id);
        assert_int_equal(before, s.n);
        assert_int_equal(nd_hamming_file_remove(path, id, 560 - s.n, &removed, NULL), ND_OK);
        assert_int_equal(removed, 560 - s.n);
        check_file(&s, (unsigned)range[i][2]);
        free_set(&s);
    }
}

static void too_many_parts_are_refused(void **state)
{
    struct set s = make_set(ND_HAMMING_FILE_PARTS_MAX * 10 + 1, 64, 3, false);
    struct nd_hamming_entries one = part_of(&s, s.n - 1, s.n);
    unsigned char *before, *after;
    struct nd_error err;
    size_t len, len_after;

    (void)state;
    assert_int_equal(build_as(path, &s, s.n, 10, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "at most 64 parts of 10"));
    build(path, &s, s.n - 1, 10);
    before = read_whole(path, &len);
    assert_int_equal(nd_hamming_file_add(path, &one, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "its parts of at most 10 fingerprints are too small"));
    after = read_whole(path, &len_after);
    assert_int_equal(len, len_after);
    assert_memory_equal(before, after, len);
    free(before);
    free(after);
    free_set(&s);
}

/* An id that is not given is the entry's number, from 2^32 on a text. */
static void numbers_go_on_beyond_32_bits(void **state)
{
    const uint64_t row[] = {1, 2, 3, 4};
    const struct nd_hamming_entries given = {row, 4, NULL, NULL};
    struct nd_hamming_collection all = {.n = 0};
    struct nd_hamming_entries entries;

    (void)state;
    assert_int_equal(nd_hamming_collect_begin(&all, 4, 1, row, NULL), ND_OK);
    assert_int_equal(nd_hamming_collect_entries(&all, &given, 0, 4, UINT64_C(0xFFFFFFFE), NULL),
                     ND_OK);
    assert_int_equal(nd_hamming_collect_finish(&all, &entries, NULL), ND_OK);
    assert_string_equal(entries.texts[0], "4294967294");
    assert_string_equal(entries.texts[1], "4294967295");
    assert_string_equal(entries.texts[2], "4294967296");
    assert_string_equal(entries.texts[3], "4294967297");
    nd_hamming_collect_release(&all);
}

/* A header whose parts cannot be is refused, with its checksum right. */
static void impossible_parts_are_refused(void **state)
{
    struct set s = make_set(3 * PART, 64, 3, false);
    struct nd_hamming_header right, wrong;
    struct nd_hamming_file *file;
    struct nd_error err;
    unsigned char *data;
    size_t len;

    (void)state;
    build(path, &s, s.n, PART);
    data = read_whole(path, &len);
    memcpy(&right, data, sizeof right);
    for (int i = 0; i < 5; i++) {
        wrong = right;
        if (i == 0)
            wrong.part_max = PART - 1;
        else if (i == 1)
            wrong.segment[1].part = 2;
        else if (i == 2)
            wrong.segment[0].part = 1;
        else if (i == 3)
            wrong.segment[1].part = 0;
        else
            wrong.segment[2].part = 0;
        nd_hamming_header_write(&wrong, data);
        memcpy(data + ND_HAMMING_PAGE, data, ND_HAMMING_PAGE);
        assert_int_equal(nd_hamming_file_init(&file, data, len, &err), ND_EINPUT);
        assert_non_null(strstr(err.message, "its parts are impossible"));
    }
    free(data);
    free_set(&s);
}

/*
 * tests/vectors/index-parts.txt: the bytes of a file that another program could have written after
 * docs/format/hamming.md, as lines of an offset and 16 bytes; other bytes are 0.
 */
static unsigned char *read_vector(size_t *len)
{
    FILE *in = fopen("tests/vectors/index-parts.txt", "r");
    unsigned char *data = NULL;
    char line[200];

    assert_non_null(in);
    *len = 0;
    while (fgets(line, sizeof line, in)) {
        char *at = line;
        unsigned long offset;

        if (*line == '#')
            continue;
        offset = strtoul(line, &at, 16);
        if (!data) { /* the first line says how long it is */
            *len = offset;
            data = calloc(offset, 1);
            assert_non_null(data);
            continue;
        }
        for (size_t i = 0; i < 16 && *at && *at != '\n'; i++)
            data[offset + i] = (unsigned char)strtoul(at, &at, 16);
    }
    fclose(in);
    return data;
}

static void a_known_file_is_read(void **state)
{
    size_t len;
    unsigned char *data = read_vector(&len);
    struct set s = make_set(0, 64, 2, false);
    struct nd_hamming_file *file;
    struct nd_error err = {.status = ND_OK};
    uint64_t row[10];
    uint32_t id[10];

    (void)state;
    s.row = realloc(s.row, 10 * sizeof *s.row);
    s.id = realloc(s.id, 10 * sizeof *s.id);
    assert_true(s.row && s.id);
    for (uint32_t i = 0; i < 10; i++) { /* i^3 times an odd number; the ids are squares */
        s.row[i] = (uint64_t)i * i * i * UINT64_C(0x9E3779B97F4A7C15);
        s.id[i] = i * i;
    }
    s.n = 10;
    if (nd_hamming_file_init(&file, data, len, &err) != ND_OK)
        fail_msg("%s", err.message);
    assert_int_equal(nd_hamming_file_sizes(file).parts, 3);
    assert_int_equal(nd_hamming_file_entries(file, 0, 10, row, id, NULL), ND_OK);
    assert_int_equal(id[9], 81); /* the last part holds the last one alone */
    check_answers(file, &s, 2, 60);
    check_entries(file, &s);
    nd_hamming_file_close(file);
    free(data);
    free_set(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_parts_answers_as_one),
        cmocka_unit_test(additions_fill_one_part_after_the_other),
        cmocka_unit_test(merging_makes_other_parts),
        cmocka_unit_test(what_is_removed_is_gone_from_every_part),
        cmocka_unit_test(too_many_parts_are_refused),
        cmocka_unit_test(numbers_go_on_beyond_32_bits),
        cmocka_unit_test(impossible_parts_are_refused),
        cmocka_unit_test(a_known_file_is_read),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
