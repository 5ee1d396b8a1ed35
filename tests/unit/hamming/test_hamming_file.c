/* test_hamming_file.c - index files: what was written is found, what was damaged is refused */
#define _GNU_SOURCE
#include "hamming_file_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "hamming/file/file.h"
#include "sized.h"

static void build(const char *name, const struct set *s, unsigned tables,
                  enum nd_hamming_codec codec, size_t n)
{
    const struct nd_hamming_shape shape = {
        .bits = s->bits, .distance = s->distance, .tables = tables, .codec = codec};
    const struct nd_hamming_entries entries = part_of(s, 0, n);

    assert_int_equal(nd_hamming_file_build(name, &shape, &entries, NULL), ND_OK);
}

static void go_through(size_t n, unsigned bits, unsigned distance, unsigned tables,
                       enum nd_hamming_codec codec, bool with_texts)
{
    struct set s = make_set(n, bits, distance, with_texts);
    struct nd_hamming_file *file;

    build(path, &s, tables, codec, n);
    file = open_index();
    assert_int_equal(nd_hamming_file_shape(file).codec, codec);
    assert_int_equal(nd_hamming_file_shape(file).tables, tables);
    assert_true(!tables || nd_hamming_file_design(file)->tables <= tables);
    assert_true(nd_hamming_file_distinct(file) <= n);
    check_answers(file, &s, distance, 40);
    check_answers(file, &s, distance / 2, 20);
    check_entries(file, &s);
    nd_hamming_file_close(file);
    free_set(&s);
}

static void what_was_written_is_found(void **state)
{
    static const unsigned bits[] = {32, 45, 63, 64};

    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (unsigned distance = 0; distance <= 6; distance += (unsigned)sized(1, 3))
            for (size_t n = 0; n < 3000; n = n * 9 + 1)
                go_through(n, bits[i], distance, 0, distance % 2 ? ND_HAMMING_EF : ND_HAMMING_MANKU,
                           distance % 3 == 0);
    go_through(5000, 64, 3, 10, ND_HAMMING_EF, true);
    go_through(5000, 64, 3, 14, ND_HAMMING_MANKU, false);
}

static void wide_fingerprints_are_found(void **state)
{
    static const struct {
        unsigned bits, distance, tables;
    } wide[] = {{65, 2, 0},  {100, 3, 0},  {128, 5, 8},   {129, 0, 0},
                {200, 4, 0}, {384, 12, 0}, {384, 11, 12}, {512, 16, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        for (size_t n = 0; n < 900; n = n * 9 + 1)
            go_through(n, wide[i].bits, wide[i].distance, wide[i].tables, ND_HAMMING_EF, n % 2);
}

/* Wide ones that agree in all the bits that lead, in one table or all. */
static void fingerprints_that_lead_equally_are_told_apart(void **state)
{
    struct set s = make_set(700, 200, 3, false);
    struct nd_hamming_file *file;

    (void)state;
    for (size_t i = 0; i < s.n; i++)
        for (size_t w = 0; w < s.words; w++)
            s.row[i * s.words + w] &= i % 3 ? 0 : UINT64_C(0xF00);
    for (size_t i = 0; i < s.n; i++)
        s.row[i * s.words] |= any() % 8;
    build(path, &s, 0, ND_HAMMING_EF, s.n);
    file = open_index();
    check_answers(file, &s, 3, 60);
    check_entries(file, &s);
    nd_hamming_file_close(file);
    free_set(&s);
}

/* The contents of an index do not depend on how it came together, once it is merged. */
static void added_in_parts_and_merged_is_built_at_once(enum nd_hamming_codec codec, unsigned bits,
                                                       unsigned distance, bool with_texts)
{
    struct set s = make_set(2500, bits, distance, with_texts);
    struct nd_hamming_file *file;
    unsigned char *a, *b;
    size_t len, len_b, at = any() % 3 * 300;
    const char *paths[] = {path};

    build(path, &s, 0, codec, at);
    while (at < s.n) {
        size_t end = at + (any() % 2 ? 1 + any() % 9 : any() % 500);
        struct nd_hamming_entries entries;

        end = end < s.n ? end : s.n;
        entries = part_of(&s, at, end);
        assert_int_equal(nd_hamming_file_add(path, &entries, NULL), ND_OK);
        at = end;
        file = open_index();
        for (uint32_t i = 1; i < file->header.segments; i++) /* so that there are never many */
            assert_true(file->header.segment[i].count * 2 < file->header.segment[i - 1].count);
        assert_int_equal(nd_hamming_file_sizes(file).sound_headers, 2);
        nd_hamming_file_close(file);
    }
    file = open_index();
    check_answers(file, &s, distance, 60);
    check_entries(file, &s);
    nd_hamming_file_close(file);
    assert_int_equal(nd_hamming_file_merge(paths, 1, path, NULL, NULL), ND_OK);
    build(other, &s, 0, codec, s.n);
    a = read_whole(path, &len);
    b = read_whole(other, &len_b);
    assert_int_equal(len, len_b);
    assert_memory_equal(a, b, len);
    free(a);
    free(b);
    free_set(&s);
}

/* The id of an entry of a set, as it is given to be removed. */
static const char *id_of(const struct set *s, size_t i, char number[16])
{
    snprintf(number, 16, "%u", s->id[i]);
    return s->text && s->text[i] ? s->text[i] : number;
}

/* Some ids of the entries from `first` on; then the set is without them. */
static size_t take_some(struct set *s, size_t first, char **ids)
{
    size_t n_ids = 0, n = 0;
    char number[16];

    for (size_t i = first + any() % 20; i < s->n; i += 1 + any() % 200)
        ids[n_ids++] = strdup(id_of(s, i, number));
    for (size_t i = 0; i < s->n; i++) {
        bool is_taken = false;

        for (size_t k = 0; k < n_ids && !is_taken; k++)
            is_taken = strcmp(ids[k], id_of(s, i, number)) == 0;
        if (is_taken) {
            if (s->text)
                free(s->text[i]);
            continue;
        }
        memmove(s->row + n * s->words, s->row + i * s->words, s->words * sizeof *s->row);
        s->id[n] = s->id[i];
        if (s->text)
            s->text[n] = s->text[i];
        n++;
    }
    s->n = n;
    return n_ids;
}

static void what_is_removed_is_gone_and_nothing_else(unsigned bits, bool with_texts)
{
    struct set s = make_set(1500, bits, 3, with_texts);
    struct nd_hamming_file *file;
    char *ids[2000];

    build(path, &s, 0, ND_HAMMING_EF, 1000);
    for (size_t at = 1000; at < s.n; at += 100) {
        struct nd_hamming_entries entries = part_of(&s, at, at + 100);

        assert_int_equal(nd_hamming_file_add(path, &entries, NULL), ND_OK);
    }
    for (int round = 0; round < 4; round++) {
        size_t before = s.n, n = take_some(&s, round % 2 ? 0 : s.n - 30, ids);
        uint64_t removed = 0;

        assert_int_equal(nd_hamming_file_remove(path, (const char *const *)ids, n, &removed, NULL),
                         ND_OK);
        assert_int_equal(removed, before - s.n);
        file = open_index();
        check_answers(file, &s, 3, 40);
        check_entries(file, &s);
        nd_hamming_file_close(file);
        while (n)
            free(ids[--n]);
    }
    free_set(&s);
}

static void entries_are_removed_by_their_ids(void **state)
{
    (void)state;
    what_is_removed_is_gone_and_nothing_else(64, false);
    what_is_removed_is_gone_and_nothing_else(64, true);
    what_is_removed_is_gone_and_nothing_else(130, true);
}

static void an_id_that_is_not_there_removes_nothing(void **state)
{
    struct set s = make_set(100, 64, 3, false);
    char number[16];
    const char *ids[] = {id_of(&s, 5, number), "nobody"};
    unsigned char *before, *after;
    size_t len, len_after;
    struct nd_error err;
    uint64_t removed = 7;

    (void)state;
    build(path, &s, 0, ND_HAMMING_EF, s.n);
    before = read_whole(path, &len);
    assert_int_equal(nd_hamming_file_remove(path, ids, 2, &removed, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "it has no id 'nobody'; nothing was removed"));
    assert_int_equal(removed, 0);
    after = read_whole(path, &len_after);
    assert_int_equal(len, len_after);
    assert_memory_equal(before, after, len);
    assert_int_equal(nd_hamming_file_remove("/nonexistent/file", ids, 1, NULL, &err), ND_EIO);
    free(before);
    free(after);
    free_set(&s);
}

/* All of them: what is left is an index of nothing, which can be added to. */
static void everything_can_be_removed(void **state)
{
    struct set s = make_set(40, 64, 3, false), none = make_set(0, 64, 3, false);
    struct nd_hamming_entries all;
    struct nd_hamming_file *file;
    char number[40][16];
    const char *ids[40];

    (void)state;
    build(path, &s, 0, ND_HAMMING_EF, s.n);
    for (size_t i = 0; i < s.n; i++)
        ids[i] = id_of(&s, i, number[i]);
    assert_int_equal(nd_hamming_file_remove(path, ids, s.n, NULL, NULL), ND_OK);
    file = open_index();
    check_entries(file, &none);
    nd_hamming_file_close(file);
    all = part_of(&s, 0, s.n);
    assert_int_equal(nd_hamming_file_add(path, &all, NULL), ND_OK);
    file = open_index();
    check_entries(file, &s);
    nd_hamming_file_close(file);
    free_set(&s);
    free_set(&none);
}

static void every_way_of_adding_gives_the_same(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        added_in_parts_and_merged_is_built_at_once(ND_HAMMING_EF, 64, 3, i % 2);
        added_in_parts_and_merged_is_built_at_once(ND_HAMMING_MANKU, 50, 2, !(i % 2));
        added_in_parts_and_merged_is_built_at_once(ND_HAMMING_EF, 130, 4, i % 2);
    }
}

static void many_small_additions_make_no_large_file(void **state)
{
    struct set s = make_set(500, 64, 3, false);
    struct nd_hamming_file *file;

    (void)state;
    build(path, &s, 0, ND_HAMMING_EF, 0);
    for (size_t i = 0; i < s.n; i++) {
        struct nd_hamming_entries entries = part_of(&s, i, i + 1);

        assert_int_equal(nd_hamming_file_add(path, &entries, NULL), ND_OK);
    }
    file = open_index();
    assert_true(nd_hamming_file_sizes(file).segments <= 9);
    assert_true(nd_hamming_file_sizes(file).unused < nd_hamming_file_bytes(file) / 2);
    check_answers(file, &s, 3, 40);
    nd_hamming_file_close(file);
    free_set(&s);
}

static void several_indexes_become_one_of_another_shape(void **state)
{
    struct set s = make_set(1200, 64, 3, true), numbers = make_set(300, 64, 3, false), all;
    const struct nd_hamming_shape shape = {
        .bits = 64, .distance = 2, .tables = 10, .codec = ND_HAMMING_MANKU};
    const char *paths[] = {path, other};
    struct nd_hamming_file *file;

    (void)state;
    build(path, &s, 0, ND_HAMMING_EF, s.n);
    build(other, &numbers, 6, ND_HAMMING_EF, numbers.n);
    assert_int_equal(nd_hamming_file_merge(paths, 2, path, &shape, NULL), ND_OK);
    all = make_set(1500, 64, 3, true);
    for (size_t i = 0; i < all.n; i++) {
        const struct set *from = i < s.n ? &s : &numbers;
        size_t j = i < s.n ? i : i - s.n;

        all.row[i] = from->row[j];
        all.id[i] = from->id[j];
        free(all.text[i]);
        all.text[i] = from->text && from->text[j] ? strdup(from->text[j]) : NULL;
    }
    file = open_index();
    assert_int_equal(nd_hamming_file_shape(file).codec, ND_HAMMING_MANKU);
    assert_int_equal(nd_hamming_file_design(file)->tables, 10);
    check_answers(file, &all, 2, 60);
    check_entries(file, &all);
    assert_int_equal(nd_hamming_file_query(file, all.row, 1, 3, NULL, NULL), ND_EINVAL);
    nd_hamming_file_close(file);
    free_set(&s);
    free_set(&numbers);
    free_set(&all);
}

static void ids_without_a_text_are_counted(void **state)
{
    uint64_t row[] = {1, 2, 4, 8};
    const char *text[] = {"7", NULL, "08", "4294967296"};
    struct nd_hamming_entries entries = {row, 2, NULL, text};
    const struct nd_hamming_shape shape = {.bits = 64, .distance = 0, .codec = ND_HAMMING_EF};
    static const char *const expected[] = {"7", "1", "2", "3", "08", "4294967296"};
    struct nd_hamming_file *file;

    (void)state;
    assert_int_equal(nd_hamming_file_build(path, &shape, &entries, NULL), ND_OK);
    file = open_index();
    assert_int_equal(nd_hamming_file_has_texts(file), 0);
    nd_hamming_file_close(file);
    entries = (struct nd_hamming_entries){row, 2, NULL, NULL};
    assert_int_equal(nd_hamming_file_add(path, &entries, NULL), ND_OK);
    entries = (struct nd_hamming_entries){row + 2, 2, NULL, text + 2};
    assert_int_equal(nd_hamming_file_add(path, &entries, NULL), ND_OK);
    file = open_index();
    assert_int_equal(nd_hamming_file_has_texts(file), 1);
    for (size_t i = 0; i < 6; i++) {
        bool found = false;

        for (uint32_t entry = 0; entry < 6; entry++) {
            char number[ND_HAMMING_NUMBER_MAX];
            size_t len;
            const char *got = nd_hamming_file_text(file, entry, number, &len);

            found |= len == strlen(expected[i]) && memcmp(got, expected[i], len) == 0;
        }
        assert_true(found);
    }
    nd_hamming_file_close(file);
    text[2] = "a\tb";
    assert_int_equal(nd_hamming_file_add(path, &entries, NULL), ND_EINVAL);
}

/*
 * Damage one bit of each byte (in the sample of every third): it is refused, or one of the two
 * headers or padding, and all answers as before. Every length but the whole is refused.
 */
static void damage(unsigned bits, enum nd_hamming_codec codec, bool with_texts)
{
    struct set s = make_set(90, bits, 3, with_texts);
    struct nd_hamming_entries entries = part_of(&s, 80, 90);
    struct nd_hamming_file *file;
    size_t len, accepted = 0;
    unsigned char *data;

    build(path, &s, 0, codec, 80);
    assert_int_equal(nd_hamming_file_add(path, &entries, NULL), ND_OK);
    data = read_whole(path, &len);
    assert_int_equal(nd_hamming_file_init(&file, data, len, NULL), ND_OK);
    assert_int_equal(file->header.segments, 2);
    nd_hamming_file_close(file);
    for (size_t cut = 0; cut < len; cut++)
        assert_int_not_equal(nd_hamming_file_init(&file, data, cut, NULL), ND_OK);
    for (size_t i = 0; i < len; i += sized(1, 3)) {
        unsigned char bit = (unsigned char)(1u << any() % 8);

        data[i] ^= bit;
        if (nd_hamming_file_init(&file, data, len, NULL) == ND_OK) {
            assert_true(nd_hamming_file_sizes(file).sound_headers == 1 ||
                        i >= file->header.segment[0].bytes);
            accepted += i >= ND_HAMMING_HEADERS * ND_HAMMING_PAGE;
            if (i % 64 == 0)
                check_answers(file, &s, 3, 10);
            nd_hamming_file_close(file);
        }
        data[i] ^= bit;
    }
    assert_true(accepted < ND_HAMMING_PAGE);
    memset(data, 0, 8);
    memset(data + ND_HAMMING_PAGE, 0, 8);
    assert_int_equal(nd_hamming_file_init(&file, data, len, NULL), ND_EINPUT);
    free(data);
    free_set(&s);
}

static void a_damaged_file_is_refused(void **state)
{
    (void)state;
    damage(64, ND_HAMMING_EF, false);
    damage(64, ND_HAMMING_MANKU, true);
    damage(100, ND_HAMMING_EF, true);
}

static void what_cannot_be_written_leaves_the_old_file(void **state)
{
    struct nd_hamming_problem problem = {40, 3, 10};
    struct nd_hamming_shape shape = {.bits = 65, .distance = 3, .codec = ND_HAMMING_MANKU};
    uint64_t row[4] = {1, UINT64_C(1) << 50, 0, 2};
    struct nd_hamming_entries entries = {row, 2, NULL, NULL};
    struct set s = make_set(50, 64, 3, false);
    struct nd_hamming_plan plan;
    struct nd_hamming_file *file;
    struct nd_error err;

    (void)state;
    build(path, &s, 0, ND_HAMMING_EF, s.n);
    assert_int_equal(nd_hamming_file_plan(&(struct nd_hamming_shape){.bits = problem.bits,
                                                                     .distance = problem.distance,
                                                                     .codec = ND_HAMMING_EF},
                                          problem.count, &plan, NULL),
                     ND_OK);
    assert_int_equal(nd_hamming_file_write(path, &plan, row, NULL, 2, &err), ND_EINVAL);
    assert_int_equal(nd_hamming_file_write("/nonexistent/file", &plan, row, NULL, 1, &err), ND_EIO);
    assert_int_equal(nd_hamming_file_open(&file, "/nonexistent/file", &err), ND_EIO);
    assert_int_equal(nd_hamming_file_add("/nonexistent/file", &entries, &err), ND_EIO);
    assert_int_equal(nd_hamming_file_build("/dev/null", &shape, &entries, &err), ND_EUNSUPPORTED);
    shape.bits = 64;
    assert_int_equal(nd_hamming_file_build("/dev/null", &shape, &entries, &err), ND_EIO);
    assert_int_equal(nd_hamming_file_build(folder, &shape, &entries, &err), ND_EIO);
    file = open_index();
    check_entries(file, &s);
    nd_hamming_file_close(file);
    assert_int_equal(count_temporaries(folder), 0);
    free_set(&s);
}

static void writers_exclude_one_another(void **state)
{
    struct set s = make_set(60, 64, 3, false);
    struct nd_hamming_shape shape = {.bits = 64, .distance = 3, .codec = ND_HAMMING_EF};
    struct nd_hamming_entries entries = part_of(&s, 50, 60);
    const char *paths[] = {path};
    struct nd_hamming_file *file;
    struct nd_error err;
    int fd;

    (void)state;
    build(path, &s, 0, ND_HAMMING_EF, 50);
    fd = open(path, O_RDONLY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(nd_hamming_file_add(path, &entries, &err), ND_EIO);
    assert_non_null(strstr(err.message, "another process is writing it"));
    assert_int_equal(nd_hamming_file_merge(paths, 1, path, NULL, &err), ND_EIO);
    assert_int_equal(nd_hamming_file_build(path, &shape, &entries, &err), ND_EIO);
    file = open_index(); /* readers do not wait */
    nd_hamming_file_close(file);
    close(fd);
    assert_int_equal(nd_hamming_file_add(path, &entries, &err), ND_OK);
    assert_int_equal(nd_hamming_file_merge(paths, 1, path, NULL, &err), ND_OK);
    file = open_index();
    check_entries(file, &s);
    nd_hamming_file_close(file);
    free_set(&s);
}

/* While one process adds, another sees what was there before or what is there after, each time. */
static void readers_meet_no_half_written_index(void **state)
{
    enum { BEGIN = 300, STEPS = 150 };
    struct set s = make_set(BEGIN + STEPS, 64, 3, false);
    uint64_t count = BEGIN;
    int status;
    pid_t child;

    (void)state;
    build(path, &s, 0, ND_HAMMING_EF, BEGIN);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        enum nd_status added = ND_OK;

        for (size_t i = BEGIN; i < s.n && added == ND_OK; i++) {
            struct nd_hamming_entries entries = part_of(&s, i, i + 1);

            added = nd_hamming_file_add(path, &entries, NULL);
        }
        _exit(added != ND_OK);
    }
    while (count < s.n && waitpid(child, &status, WNOHANG) == 0) {
        struct nd_hamming_file *file = open_index();
        uint64_t now = nd_hamming_file_design(file)->problem.count;
        struct set part = s;

        assert_true(now >= count && now <= s.n);
        count = now;
        part.n = (size_t)now;
        check_answers(file, &part, 3, 1);
        nd_hamming_file_close(file);
    }
    if (count == s.n)
        assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    free_set(&s);
}

static void a_link_stays_and_so_do_permissions(void **state)
{
    struct set s = make_set(60, 64, 3, false);
    struct nd_hamming_entries entries = part_of(&s, 0, 60);
    struct stat info;

    (void)state;
    build(path, &s, 0, ND_HAMMING_EF, 10);
    assert_int_equal(chmod(path, 0640), 0);
    unlink(other);
    assert_int_equal(symlink("index", other), 0);
    assert_int_equal(nd_hamming_file_add(other, &entries, NULL), ND_OK);
    assert_int_equal(lstat(other, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    free_set(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_found),
        cmocka_unit_test(wide_fingerprints_are_found),
        cmocka_unit_test(fingerprints_that_lead_equally_are_told_apart),
        cmocka_unit_test(every_way_of_adding_gives_the_same),
        cmocka_unit_test(entries_are_removed_by_their_ids),
        cmocka_unit_test(an_id_that_is_not_there_removes_nothing),
        cmocka_unit_test(everything_can_be_removed),
        cmocka_unit_test(many_small_additions_make_no_large_file),
        cmocka_unit_test(several_indexes_become_one_of_another_shape),
        cmocka_unit_test(ids_without_a_text_are_counted),
        cmocka_unit_test(a_damaged_file_is_refused),
        cmocka_unit_test(what_cannot_be_written_leaves_the_old_file),
        cmocka_unit_test(writers_exclude_one_another),
        cmocka_unit_test(readers_meet_no_half_written_index),
        cmocka_unit_test(a_link_stays_and_so_do_permissions),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
