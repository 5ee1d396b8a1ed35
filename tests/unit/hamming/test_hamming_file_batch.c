/* test_hamming_file_batch.c - index files: many queries together give what a scan gives of each */
#define _GNU_SOURCE
#include "hamming_file_fixture.h"

#include <fcntl.h>

#include "base/file/checked.h"
#include "base/hash.h"
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

/* A number that is no codec: the layout fast. */
#define FAST ((enum nd_hamming_codec)99)

static struct nd_hamming_file *build(const struct set *s, unsigned tables,
                                     enum nd_hamming_codec codec)
{
    const struct nd_hamming_shape shape = {.bits = s->bits,
                                           .distance = s->distance,
                                           .tables = tables,
                                           .codec = codec == FAST ? ND_HAMMING_EF : codec,
                                           .layout = codec == FAST ? ND_HAMMING_FAST : 0};
    const struct nd_hamming_entries entries = part_of(s, 0, s->n);
    struct nd_hamming_file *file = NULL;
    struct nd_error err;

    if (nd_hamming_file_build(path, &shape, &entries, &err) != ND_OK ||
        nd_hamming_file_open(&file, path, &err) != ND_OK ||
        nd_hamming_file_check(file, &err) != ND_OK)
        fail_msg("%s", err.message);
    return file;
}

/* Compare every query with every fingerprint; sorted. */
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
            if (kind[i].bits == 64 && kind[i].distance <= 3)
                check_set(&s, kind[i].tables, FAST);
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
        for (unsigned tables = 4; tables <= 8; tables += 2)
            check_set(&s, tables, FAST);
        free_set(&s);
    }
}

/* One fingerprint has all ids but two. */
static void check_one_value(enum nd_hamming_codec codec)
{
    struct set s = make_set(sized(1000000, 100000), 64, 3, false);
    struct nd_hamming_matches got = {.items = NULL};
    struct nd_hamming_file *file;
    uint64_t query[3];

    for (size_t i = 0; i < s.n; i++)
        s.row[i] = UINT64_C(0x123456789ABCDEF0);
    s.row[5] ^= 7;
    s.row[9] ^= 15;
    query[0] = s.row[0];
    query[1] = s.row[5];
    query[2] = ~s.row[0];
    file = build(&s, 0, codec);
    check_batch(file, &s, query, 3, 3);
    check_batch(file, &s, query, 3, 0);
    assert_int_equal(nd_hamming_file_query(file, query, 1, 3, &got, NULL), ND_OK);
    assert_int_equal(got.count, s.n - 1);
    nd_hamming_matches_release(&got);
    nd_hamming_file_close(file);
    free_set(&s);
}

static void one_value_may_be_there_very_often(void **state)
{
    (void)state;
    check_one_value(ND_HAMMING_EF);
    check_one_value(ND_HAMMING_MANKU);
    check_one_value(FAST);
}

/* More queries than are sorted together, each of them in the set once. */
static void check_large_batch(enum nd_hamming_codec codec)
{
    const size_t n = 150000;
    struct set s = make_set(1000, 64, 3, false);
    struct nd_hamming_matches got = {.items = NULL};
    struct nd_hamming_file *file = build(&s, 0, codec);
    uint64_t *query = malloc(n * sizeof *query), seen = 0;

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

static void very_large_batches_are_answered_in_parts(void **state)
{
    (void)state;
    check_large_batch(ND_HAMMING_EF);
    check_large_batch(FAST);
}

/* Enough that lines are chained, that buckets are chosen by more bits than slots leave out, and that
 * halves are asked as well as windows. */
static void fast_files_of_many_are_searched(void **state)
{
    struct set s = make_set(sized(3000000, 1000000), 64, 3, false);
    const struct nd_hamming_entries entries = part_of(&s, 0, s.n);
    struct nd_hamming_shape shape = {
        .bits = 64, .distance = 3, .codec = ND_HAMMING_EF, .layout = ND_HAMMING_FAST};

    (void)state;
    for (int halves = 0; halves < 2; halves++) {
        uint64_t *query = make_queries(&s, 60);
        struct nd_hamming_file *file;

        shape.family = halves ? ND_HAMMING_HALVES : ND_HAMMING_WINDOWS;
        assert_int_equal(nd_hamming_file_build(path, &shape, &entries, NULL), ND_OK);
        assert_int_equal(nd_hamming_file_open(&file, path, NULL), ND_OK);
        assert_int_equal(nd_hamming_file_check(file, NULL), ND_OK);
        assert_int_equal(nd_hamming_file_design(file)->family, shape.family);
        for (unsigned distance = 0; distance <= 3; distance++)
            check_batch(file, &s, query, 60, distance);
        nd_hamming_file_close(file);
        free(query);
    }
    free_set(&s);
}

/* Wherever a word of the tables is another one, the check says so, and queries answer or say so. */
static void damage_of_a_fast_file_is_found(void **state)
{
    struct set s = make_set(3000, 64, 3, false);
    struct nd_hamming_file *file = build(&s, 4, FAST), *damaged;
    uint64_t *query = make_queries(&s, 200);
    size_t len;
    unsigned char *bytes = read_whole(path, &len), *data = aligned_alloc(64, (len + 63) / 64 * 64);
    uint64_t from = file->header.segment[0].offset + 4096;

    (void)state;
    assert_non_null(data);
    nd_hamming_file_close(file);
    memcpy(data, bytes, len);
    assert_int_equal(nd_hamming_file_init(&file, data, len, NULL), ND_OK);
    for (int i = 0; i < 2000; i++) {
        uint64_t at = (from + any() % (len - from)) / 4 * 4;
        uint32_t word = i % 2 ? (uint32_t)any() : (uint32_t)(any() % 64) << 4 | (any() & 15);
        struct nd_hamming_matches got = {.items = NULL};
        enum nd_status status;

        if (i % 4 < 2) /* the last word of a line */
            at |= 60;
        memcpy(data + at, &word, sizeof word);
        if (i < 40 && memcmp(data + at, bytes + at, sizeof word) != 0)
            assert_int_equal(nd_hamming_file_init(&damaged, data, len, NULL), ND_EINPUT);
        status = nd_hamming_file_query(file, query, 200, 3, &got, NULL);
        assert_true(status == ND_OK || status == ND_EINPUT);
        nd_hamming_matches_release(&got);
        if (i % 8) /* now and then several words */
            memcpy(data + at, bytes + at, sizeof word);
        else if (i % 64 == 0)
            memcpy(data, bytes, len);
    }
    nd_hamming_file_close(file);
    free(query);
    free(data);
    free(bytes);
    free_set(&s);
}

/* Entries are added, removed and merged, and layouts changed: each time it is as if built at once. */
static void flip_in_file(int fd, uint64_t bit)
{
    unsigned char byte;

    assert_int_equal(pread(fd, &byte, 1, (off_t)(bit / 8)), 1);
    byte ^= (unsigned char)(1 << bit % 8);
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
}

/* Open the file as a command does and read it: an error, or what is expected. */
static void refused_or_same(const struct set *s, const uint64_t *query, size_t n,
                            const struct nd_hamming_matches *expected)
{
    struct nd_hamming_matches got = {.items = NULL};
    uint64_t row[3 * ND_HAMMING_WORDS_MAX];
    uint32_t id[3];
    struct nd_hamming_file *file;
    struct nd_error err = {.status = ND_OK};

    if (nd_hamming_file_open(&file, path, &err) != ND_OK) {
        assert_true(err.status == ND_EINPUT || err.status == ND_EUNSUPPORTED);
        return;
    }
    if (nd_hamming_file_query(file, query, n, s->distance, &got, &err) == ND_OK) {
        nd_hamming_matches_sort(&got);
        assert_int_equal(got.count, expected->count);
        assert_memory_equal(got.items, expected->items, got.count * sizeof *got.items);
    } else {
        assert_int_equal(err.status, ND_EINPUT);
    }
    for (uint64_t i = 0; i + 3 <= s->n; i += 3)
        if (nd_hamming_file_entries(file, i, 3, row, id, &err) == ND_OK)
            for (size_t j = 0; j < 3; j++)
                assert_int_equal(id[j], row[j * s->words] & UINT32_MAX);
    nd_hamming_matches_release(&got);
    nd_hamming_file_close(file);
}

/* The whole check refuses what is damaged within a segment: what it accepts is as it was written. */
static void check_says(bool is_damaged)
{
    struct nd_hamming_file *file;
    enum nd_status status = nd_hamming_file_open(&file, path, NULL);

    if (status == ND_OK) {
        status = nd_hamming_file_check(file, NULL);
        nd_hamming_file_close(file);
    }
    assert_int_equal(status, is_damaged ? ND_EINPUT : ND_OK);
}

/* The bits of words that are not 0, of which the file has few, and others. */
static uint64_t some_bit(const unsigned char *bytes, size_t len, bool is_used)
{
    for (;;) {
        uint64_t at = any() % len;

        if (!is_used || bytes[at])
            return 8 * at + any() % 8;
    }
}

static void a_damaged_fast_file_gives_no_other_answer(void **state)
{
    struct set s = make_set(300, 64, 3, false);
    struct nd_hamming_matches expected = {.items = NULL};
    struct nd_hamming_file *file;
    uint64_t *query;
    size_t len, rounds = sized(3000, 300);
    unsigned char *bytes;
    int fd;

    (void)state;
    for (size_t i = 0; i < s.n; i++) /* so that an id says which fingerprint it is of */
        s.id[i] = (uint32_t)s.row[i];
    file = build(&s, 4, FAST);
    query = make_queries(&s, 100);
    assert_int_equal(nd_hamming_file_query(file, query, 100, 3, &expected, NULL), ND_OK);
    nd_hamming_matches_sort(&expected);
    nd_hamming_file_close(file);
    bytes = read_whole(path, &len);
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    for (size_t i = 0; i < rounds; i++) {
        uint64_t bit = some_bit(bytes, len, i % 4);

        flip_in_file(fd, bit);
        refused_or_same(&s, query, 100, &expected);
        flip_in_file(fd, bit);
    }
    close(fd);
    nd_hamming_matches_release(&expected);
    free(query);
    free(bytes);
    free_set(&s);
}

/* Flip bits of every unit of a compact file: each time it gives the answers that it gave, or none, and
 * the whole check knows. */
static void check_damage(unsigned bits, enum nd_hamming_family family, enum nd_hamming_codec codec)
{
    struct set s = make_set(2000, bits, 3, false);
    const struct nd_hamming_shape shape = {
        .bits = bits, .distance = 3, .codec = codec, .family = family};
    struct nd_hamming_matches expected = {.items = NULL};
    struct nd_hamming_file *file;
    const struct nd_hamming_entries entries = part_of(&s, 0, s.n);
    uint64_t *query = make_queries(&s, 60), from;
    size_t len, refused = 0;
    int fd;

    for (size_t i = 0; i < s.n; i++)
        s.id[i] = (uint32_t)s.row[i * s.words];
    assert_int_equal(nd_hamming_file_build(path, &shape, &entries, NULL), ND_OK);
    assert_int_equal(nd_hamming_file_open(&file, path, NULL), ND_OK);
    from = file->header.segment[0].offset;
    len = file->len;
    assert_int_equal(nd_hamming_file_query(file, query, 60, 3, &expected, NULL), ND_OK);
    nd_hamming_matches_sort(&expected);
    nd_hamming_file_close(file);
    check_says(false);
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    for (uint64_t at = from; at < len; at += 1 + any() % sized(300, 3000)) {
        uint64_t bit = 8 * at + any() % 8;

        flip_in_file(fd, bit);
        check_says(true);
        refused_or_same(&s, query, 60, &expected);
        flip_in_file(fd, bit);
        refused++;
    }
    assert_true(refused > len / ND_CHECKED_UNIT);
    check_says(false);
    close(fd);
    nd_hamming_matches_release(&expected);
    free(query);
    free_set(&s);
}

static void a_damaged_compact_file_gives_no_other_answer(void **state)
{
    (void)state;
    check_damage(64, 0, ND_HAMMING_EF);
    check_damage(50, ND_HAMMING_BLOCKS, ND_HAMMING_EF);
    check_damage(200, 0, ND_HAMMING_EF);
    check_damage(64, 0, ND_HAMMING_MANKU);
    check_damage(64, ND_HAMMING_POPCOUNT, ND_HAMMING_EF);
    check_damage(96, ND_HAMMING_POPCOUNT, ND_HAMMING_EF);
}

/* Each number of a header set to what it must not be, with a right checksum. */
static void every_number_of_a_header_has_limits(void **state)
{
#define MEMBER(name)                                                                               \
    offsetof(struct nd_hamming_header, name), sizeof((struct nd_hamming_header *)0)->name
    const struct {
        size_t at, size;
        uint64_t low, high; /* both are refused */
    } number[] = {
        {MEMBER(bits), 31, UINT32_MAX},
        {MEMBER(distance), 17, UINT32_MAX},
        {MEMBER(family), 0, UINT32_MAX},
        {MEMBER(tables), 0, UINT32_MAX},
        {MEMBER(key_bits), 0, UINT32_MAX},
        {MEMBER(codec), 0, UINT32_MAX},
        {MEMBER(requested), 4097, UINT32_MAX},
        {MEMBER(segments), 0, UINT32_MAX},
        {MEMBER(layout), 0, UINT32_MAX},
        {MEMBER(generation), 0, 0},
        {MEMBER(file_bytes), 0, UINT64_MAX},
        {MEMBER(segment[0].offset), 0, UINT64_MAX},
        {MEMBER(segment[0].bytes), 0, UINT64_MAX},
        {MEMBER(segment[0].count), 0, UINT64_MAX},
        {MEMBER(segment[0].distinct), 0, UINT64_MAX},
        {MEMBER(segment[0].has_texts), 2, UINT32_MAX},
        {MEMBER(segment[0].part), 1, UINT32_MAX},
        {MEMBER(recipe_bytes), UINT32_MAX, UINT32_MAX},
        {MEMBER(recipe_hash), 1, UINT64_MAX},
        {MEMBER(recipe_fingerprint), 1, UINT64_MAX},
        {MEMBER(fill), 1, UINT32_MAX},
    };
#undef MEMBER
    struct set s = make_set(50, 64, 3, false);
    unsigned char page[2 * ND_HAMMING_PAGE];
    size_t len;
    unsigned char *bytes;
    struct nd_hamming_header header, good;
    unsigned holders;

    (void)state;
    for (int fast = 0; fast < 2; fast++) {
        nd_hamming_file_close(build(&s, 4, fast ? FAST : ND_HAMMING_EF));
        bytes = read_whole(path, &len);
        memcpy(&good, bytes, sizeof good);
        free(bytes);
        for (size_t i = 0; i < sizeof number / sizeof *number; i++)
            for (int high = 0; high < 2; high++) {
                uint64_t value = high ? number[i].high : number[i].low;

                header = good;
                memcpy((char *)&header + number[i].at, &value, number[i].size);
                nd_hamming_header_write(&header, page);
                memcpy(page + ND_HAMMING_PAGE, page, ND_HAMMING_PAGE);
                assert_int_equal(nd_hamming_headers_read(&header, page, &holders, NULL), ND_EINPUT);
            }
    }
    free_set(&s);
}

static void fast_files_change(void **state)
{
    struct set s = make_set(5000, 64, 3, true);
    const struct nd_hamming_entries first = part_of(&s, 0, 2000), more = part_of(&s, 2000, 5000);
    struct nd_hamming_shape shape = {
        .bits = 64, .distance = 3, .codec = ND_HAMMING_EF, .layout = ND_HAMMING_FAST};
    const char *const paths[] = {path};
    struct nd_hamming_file *file;
    size_t len[2];
    unsigned char *bytes[2];

    (void)state;
    assert_int_equal(nd_hamming_file_build(path, &shape, &first, NULL), ND_OK);
    assert_int_equal(nd_hamming_file_add(path, &more, NULL), ND_OK);
    assert_int_equal(nd_hamming_file_open(&file, path, NULL), ND_OK);
    assert_int_equal(nd_hamming_file_sizes(file).segments, 1);
    assert_int_equal(nd_hamming_file_shape(file).layout, ND_HAMMING_FAST);
    check_answers(file, &s, 3, 60);
    check_entries(file, &s);
    nd_hamming_file_close(file);
    bytes[0] = read_whole(path, &len[0]);
    shape.layout = ND_HAMMING_COMPACT;
    assert_int_equal(nd_hamming_file_merge(paths, 1, path, &shape, NULL), ND_OK);
    shape.layout = ND_HAMMING_FAST;
    assert_int_equal(nd_hamming_file_merge(paths, 1, path, &shape, NULL), ND_OK);
    bytes[1] = read_whole(path, &len[1]);
    assert_int_equal(len[0], len[1]);
    assert_memory_equal(bytes[0] + 8192, bytes[1] + 8192, len[0] - 8192);
    free(bytes[0]);
    free(bytes[1]);
    free_set(&s);
}

/* Most units of the file are empty: put 0 for their checksums. */
static void forget_empty_units(unsigned char *bytes, size_t len)
{
    static const unsigned char unit[ND_CHECKED_UNIT];
    const uint64_t sum = nd_hash_bytes(unit, sizeof unit);

    for (size_t at = 0; at + sizeof sum <= len; at += sizeof sum)
        if (memcmp(bytes + at, &sum, sizeof sum) == 0)
            memset(bytes + at, 0, sizeof sum);
}

/*
 * tests/vectors/index-fast.txt: the bytes of a file that another program could have written after
 * docs/format/hamming.md.
 */
static void the_bytes_of_a_fast_file_are_known(void **state)
{
    const struct nd_hamming_shape shape = {
        .bits = 64, .distance = 3, .tables = 4, .codec = ND_HAMMING_EF, .layout = ND_HAMMING_FAST};
    uint64_t row[10], known = 0;
    uint32_t id[10];
    const struct nd_hamming_entries entries = {.fingerprints = row, .count = 10, .ids = id};
    FILE *in = fopen("tests/vectors/index-fast.txt", "r");
    size_t len = 0, at;
    unsigned char *bytes;
    char line[256];

    (void)state;
    assert_non_null(in);
    for (uint32_t i = 0; i < 10; i++) {
        row[i] = UINT64_C(0x9E3779B97F4A7C15) * (i % 8) * (i % 8) * (i % 8);
        id[i] = i * i;
    }
    assert_int_equal(nd_hamming_file_build(path, &shape, &entries, NULL), ND_OK);
    bytes = read_whole(path, &len);
    forget_empty_units(bytes, len);
    while (fgets(line, sizeof line, in)) {
        char *next;

        if (line[0] == '#')
            continue;
        at = strtoul(line, &next, 16);
        if (*next == '\n') {
            assert_int_equal(at, len);
            continue;
        }
        for (unsigned i = 0; i < 16 && at + i < len; i++) {
            unsigned char byte = (unsigned char)strtoul(next, &next, 16);

            assert_int_equal(bytes[at + i], byte);
            known += byte != 0;
        }
    }
    for (at = 0; at < len; at++)
        known -= bytes[at] != 0;
    assert_true(known == 0);
    fclose(in);
    free(bytes);
}

static void what_is_not_for_fast_files_is_refused_by_name(void **state)
{
    static const struct {
        struct nd_hamming_shape shape;
        enum nd_status status;
        const char *words;
    } wrong[] = {
        {{.bits = 128, .distance = 3, .codec = ND_HAMMING_EF}, ND_EUNSUPPORTED, "not of 128"},
        {{.bits = 64, .distance = 4, .codec = ND_HAMMING_EF}, ND_EUNSUPPORTED, "within 4"},
        {{.bits = 64, .distance = 3, .codec = ND_HAMMING_MANKU}, ND_EUNSUPPORTED, "manku"},
        {{.bits = 64, .distance = 3, .codec = ND_HAMMING_EF, .family = ND_HAMMING_BLOCKS},
         ND_EINVAL,
         "windows or halves"},
        {{.bits = 64, .distance = 3, .codec = ND_HAMMING_EF, .max_bytes = 1000},
         ND_EINVAL,
         "use the layout compact"},
    };
    struct nd_hamming_plan plan;
    struct nd_error err;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct nd_hamming_shape shape = wrong[i].shape;

        shape.layout = ND_HAMMING_FAST;
        assert_int_equal(nd_hamming_file_plan(&shape, 1000, &plan, &err), wrong[i].status);
        assert_non_null(strstr(err.message, wrong[i].words));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_find_what_a_scan_finds),
        cmocka_unit_test(clusters_are_found),
        cmocka_unit_test(one_value_may_be_there_very_often),
        cmocka_unit_test(very_large_batches_are_answered_in_parts),
        cmocka_unit_test(fast_files_of_many_are_searched),
        cmocka_unit_test(damage_of_a_fast_file_is_found),
        cmocka_unit_test(a_damaged_fast_file_gives_no_other_answer),
        cmocka_unit_test(a_damaged_compact_file_gives_no_other_answer),
        cmocka_unit_test(every_number_of_a_header_has_limits),
        cmocka_unit_test(fast_files_change),
        cmocka_unit_test(the_bytes_of_a_fast_file_are_known),
        cmocka_unit_test(what_is_not_for_fast_files_is_refused_by_name),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
