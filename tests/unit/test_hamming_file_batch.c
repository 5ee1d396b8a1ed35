/* test_hamming_file_batch.c - index files: many queries together give what a scan gives of each */
#define _GNU_SOURCE
#include "hamming_file_fixture.h"

#include "hamming/file/file.h"
#include "sized.h"

static char folder[] = "/tmp/test_hamming_batch.XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/index", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static struct nd_hamming_file *build(const struct set *s, unsigned tables,
                                     enum nd_hamming_codec codec)
{
    const struct nd_hamming_shape shape = {
        .bits = s->bits, .distance = s->distance, .tables = tables, .codec = codec};
    const struct nd_hamming_entries entries = part_of(s, 0, s->n);
    struct nd_hamming_file *file;
    struct nd_error err;

    if (nd_hamming_file_build(path, &shape, &entries, &err) != ND_OK ||
        nd_hamming_file_open(&file, path, &err) != ND_OK)
        fail_msg("%s", err.message);
    return file;
}

/* What comparing every query with every fingerprint gives, sorted. */
static struct nd_hamming_matches scan(const struct set *s, const uint64_t *query, size_t n,
                                      unsigned distance)
{
    struct nd_hamming_matches all = {.capacity = 1024};

    all.items = malloc(all.capacity * sizeof *all.items);
    assert_non_null(all.items);
    for (size_t q = 0; q < n; q++)
        for (size_t i = 0; i < s->n; i++) {
            unsigned away = distance_between(s->row + i * s->words, query + q * s->words, s->words);

            if (away > distance)
                continue;
            if (all.count == all.capacity) {
                all.capacity *= 2;
                all.items = realloc(all.items, all.capacity * sizeof *all.items);
                assert_non_null(all.items);
            }
            all.items[all.count++] = (struct nd_hamming_match){(uint32_t)q, s->id[i], away};
        }
    nd_hamming_matches_sort(&all);
    return all;
}

static void check_batch(const struct nd_hamming_file *file, const struct set *s,
                        const uint64_t *query, size_t n, unsigned distance)
{
    struct nd_hamming_matches expected = scan(s, query, n, distance), got = {.items = NULL};

    assert_int_equal(nd_hamming_file_query(file, query, n, distance, &got, NULL), ND_OK);
    nd_hamming_matches_sort(&got);
    assert_int_equal(got.count, expected.count);
    if (got.count)
        assert_memory_equal(got.items, expected.items, got.count * sizeof *got.items);
    nd_hamming_matches_release(&expected);
    nd_hamming_matches_release(&got);
}

/* Queries of the set with some bits wrong, the same again, and any. */
static uint64_t *make_queries(const struct set *s, size_t n)
{
    uint64_t *query = calloc(n + 1, s->words * sizeof *query);

    assert_non_null(query);
    for (size_t q = 0; q < n; q++) {
        uint64_t *row = query + q * s->words;

        make_any(row, s->bits);
        if (s->n && any() % 4)
            memcpy(row, s->row + any() % s->n * s->words, s->words * sizeof *row);
        else if (q && any() % 4 == 0)
            memcpy(row, row - s->words, s->words * sizeof *row);
        for (uint64_t flips = any() % (s->distance + 2); flips; flips--)
            flip(row, s->bits);
    }
    return query;
}

static void check_set(const struct set *s, unsigned tables, enum nd_hamming_codec codec)
{
    struct nd_hamming_file *file = build(s, tables, codec);

    for (size_t n = 0; n <= 700; n = n * 6 + 1) {
        uint64_t *query = make_queries(s, n);

        check_batch(file, s, query, n, s->distance);
        check_batch(file, s, query, n, s->distance / 2);
        free(query);
    }
    nd_hamming_file_close(file);
}

static void batches_find_what_a_scan_finds(void **state)
{
    static const struct {
        unsigned bits, distance, tables;
    } kind[] = {{64, 3, 0},  {64, 3, 14}, {64, 0, 0},  {64, 1, 0},  {64, 6, 0},
                {64, 16, 0}, {63, 3, 0},  {45, 4, 0},  {32, 2, 0},  {32, 16, 0},
                {65, 2, 0},  {128, 5, 8}, {200, 4, 0}, {384, 12, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++)
        for (size_t n = 0; n <= sized(8000, 900); n = n * 9 + 1) {
            struct set s = make_set(n, kind[i].bits, kind[i].distance, false);

            check_set(&s, kind[i].tables, ND_HAMMING_EF);
            if (kind[i].bits <= 64)
                check_set(&s, kind[i].tables, ND_HAMMING_MANKU);
            free_set(&s);
        }
}

/* Fingerprints that agree in most bits: in the first or the last of them, or everywhere but in a
 * few. */
static void clusters_are_found(void **state)
{
    static const uint64_t common[] = {UINT64_C(0xFFFFFFFFFFFF0000), UINT64_C(0x0000FFFFFFFFFFFF),
                                      UINT64_C(0xFFFF0000FFFF0000), UINT64_C(0xFFFFFFFFFFFFFF00),
                                      UINT64_C(0x00FFFFFFFF00FFFF)};

    (void)state;
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        struct set s = make_set(sized(20000, 2500), 64, 3, false);
        uint64_t value = any();

        for (size_t j = 0; j < s.n; j++)
            if (j % 8)
                s.row[j] = (s.row[j] & ~common[i]) | (value & common[i]);
        check_set(&s, 0, ND_HAMMING_EF);
        check_set(&s, 20, ND_HAMMING_EF);
        check_set(&s, 0, ND_HAMMING_MANKU);
        free_set(&s);
    }
}

/* One fingerprint has all ids but two. */
static void one_value_may_be_there_very_often(void **state)
{
    struct set s = make_set(sized(1000000, 100000), 64, 3, false);
    struct nd_hamming_matches got = {.items = NULL};
    struct nd_hamming_file *file;
    uint64_t query[3];

    (void)state;
    for (size_t i = 0; i < s.n; i++)
        s.row[i] = UINT64_C(0x123456789ABCDEF0);
    s.row[5] ^= 7;
    s.row[9] ^= 15;
    query[0] = s.row[0];
    query[1] = s.row[5];
    query[2] = ~s.row[0];
    file = build(&s, 0, ND_HAMMING_EF);
    check_batch(file, &s, query, 3, 3);
    check_batch(file, &s, query, 3, 0);
    assert_int_equal(nd_hamming_file_query(file, query, 1, 3, &got, NULL), ND_OK);
    assert_int_equal(got.count, s.n - 1);
    nd_hamming_matches_release(&got);
    nd_hamming_file_close(file);
    free_set(&s);
}

/* More queries than are sorted together, each of them in the set once. */
static void very_large_batches_are_answered_in_parts(void **state)
{
    const size_t n = 150000;
    struct set s = make_set(1000, 64, 3, false);
    struct nd_hamming_matches got = {.items = NULL};
    struct nd_hamming_file *file = build(&s, 0, ND_HAMMING_EF);
    uint64_t *query = malloc(n * sizeof *query), seen = 0;

    (void)state;
    assert_non_null(query);
    for (size_t q = 0; q < n; q++)
        query[q] = s.row[q % s.n];
    assert_int_equal(nd_hamming_file_query(file, query, n, 0, &got, NULL), ND_OK);
    nd_hamming_matches_sort(&got);
    for (size_t i = 0; i < got.count; i++) {
        const struct nd_hamming_match *m = &got.items[i];

        seen += i == 0 || m->query != m[-1].query;
        assert_int_equal(m->distance, 0);
        assert_true(m->query < n);
    }
    assert_int_equal(seen, n);
    nd_hamming_matches_release(&got);
    nd_hamming_file_close(file);
    free(query);
    free_set(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_find_what_a_scan_finds),
        cmocka_unit_test(clusters_are_found),
        cmocka_unit_test(one_value_may_be_there_very_often),
        cmocka_unit_test(very_large_batches_are_answered_in_parts),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
