/* test_df.c - df tables hold what was counted, however it was shared out, and refuse what is
 * altered */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <neardup/feature.h>

#include "base/hash.h"
#include "feature/df_layout.h"

static char folder[] = "/tmp/neardup-test-df-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static unsigned turn;

    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static uint64_t state;

static uint64_t random_below(uint64_t n)
{
    state += UINT64_C(0x9E3779B97F4A7C15);
    return nd_mix64(state) % n;
}

/* Documents of up to 40 words out of `words`, some of them twice; word w has the hash w * 3. */
enum { DOCUMENTS = 3000, LONGEST = 40 };
static uint64_t document[DOCUMENTS][LONGEST];
static size_t length[DOCUMENTS];
static uint32_t *truth;

static void make_documents(size_t words, uint64_t seed)
{
    free(truth);
    truth = calloc(words, sizeof *truth);
    assert_non_null(truth);
    state = seed;
    for (size_t d = 0; d < DOCUMENTS; d++) {
        length[d] = random_below(LONGEST + 1);
        for (size_t i = 0; i < length[d]; i++) {
            uint64_t word = random_below(random_below(words) + 1);
            size_t j = 0;

            document[d][i] = word * 3;
            while (document[d][j] != word * 3)
                j++;
            truth[word] += j == i;
        }
    }
}

static void text_of(uint64_t hash, char text[32])
{
    snprintf(text, 32, "word %llu", (unsigned long long)(hash / 3));
}

static void add_document(struct nd_df_builder *b, size_t d)
{
    char texts[LONGEST][32];
    struct nd_view view[LONGEST];

    for (size_t i = 0; i < length[d]; i++) {
        text_of(document[d][i], texts[i]);
        view[i] = (struct nd_view){texts[i], strlen(texts[i])};
    }
    assert_int_equal(nd_df_builder_add(b, document[d], length[d], view, NULL), ND_OK);
}

static struct nd_df_builder *new_builder(uint64_t memory, int keep_texts)
{
    struct nd_df_builder_params params = {
        .memory_bytes = memory, .tmp = folder, .keep_texts = (unsigned char)keep_texts};
    struct nd_df_builder *b = nd_df_builder_new(&params, NULL);

    assert_non_null(b);
    return b;
}

/* The table of all documents, made by n builders, each with this memory. */
static void build(const char *path, size_t n, uint64_t memory, int keep_texts)
{
    struct nd_df_builder *b[8];
    struct nd_error err = {.message = ""};

    for (size_t i = 0; i < n; i++)
        b[i] = new_builder(memory, keep_texts);
    for (size_t d = 0; d < DOCUMENTS; d++)
        add_document(b[n - 1 - d % n], d);
    assert_int_equal(nd_df_builder_write(b, n, path, &err), ND_OK);
    for (size_t i = 0; i < n; i++)
        nd_df_builder_free(b[i]);
}

static void compare_with_truth(const char *path, size_t words, int has_texts)
{
    struct nd_error err = {.message = ""};
    struct nd_df *df = nd_df_open(path, &err);
    struct nd_df_cursor cursor = {0, 0};
    struct nd_df_term term;
    uint64_t terms = 0, walked = 0;
    char text[32];

    assert_string_equal(err.message, "");
    assert_non_null(df);
    for (size_t w = 0; w < words; w++) {
        assert_int_equal(nd_df_count(df, w * 3), truth[w]);
        assert_int_equal(nd_df_count(df, w * 3 + 1), 0);
        terms += truth[w] > 0;
    }
    assert_int_equal(nd_df_documents(df), DOCUMENTS);
    assert_int_equal(nd_df_terms(df), terms);
    assert_int_equal(nd_df_has_texts(df), has_texts);
    while (nd_df_next(df, &cursor, &term)) {
        assert_int_equal(term.hash % 3, 0);
        assert_int_equal(term.count, truth[term.hash / 3]);
        text_of(term.hash, text);
        assert_int_equal(term.text.len, has_texts ? strlen(text) : 0);
        if (has_texts)
            assert_memory_equal(term.text.data, text, term.text.len);
        walked++;
    }
    assert_int_equal(walked, terms);
    nd_df_close(df);
}

static char *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    char *data;

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &info), 0);
    *len = (size_t)info.st_size;
    data = malloc(*len + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *len, file), *len);
    fclose(file);
    return data;
}

static void assert_same_files(const char *a, const char *b)
{
    size_t len_a, len_b;
    char *data_a = read_file(a, &len_a), *data_b = read_file(b, &len_b);

    assert_int_equal(len_a, len_b);
    assert_memory_equal(data_a, data_b, len_a);
    free(data_a);
    free(data_b);
}

static void a_table_counts_each_document_once(void **context)
{
    (void)context;
    for (size_t words = 1; words < 50000; words = words * 7 + 1) {
        make_documents(words, words);
        build(in_folder("t"), 1, 0, 0);
        compare_with_truth(in_folder("t"), words, 0);
        build(in_folder("t"), 1, 0, 1);
        compare_with_truth(in_folder("t"), words, 1);
    }
}

static void runs_and_builders_change_no_byte(void **context)
{
    (void)context;
    make_documents(60000, 1);
    for (int keep_texts = 0; keep_texts < 2; keep_texts++) {
        build(in_folder("one"), 1, 0, keep_texts);
        build(in_folder("small"), 1, 1 << 20, keep_texts);
        build(in_folder("many"), 7, 1 << 20, keep_texts);
        assert_same_files(in_folder("one"), in_folder("small"));
        assert_same_files(in_folder("one"), in_folder("many"));
        compare_with_truth(in_folder("small"), 60000, keep_texts);
    }
}

static void a_document_larger_than_the_memory_is_counted_once(void **context)
{
    enum { MANY = 200000 };
    uint64_t *hash = calloc(2 * MANY, sizeof *hash);
    struct nd_df_builder *b = new_builder(1 << 20, 0);
    struct nd_df *df;

    (void)context;
    assert_non_null(hash);
    for (size_t i = 0; i < 2 * MANY; i++)
        hash[i] = i % MANY;
    for (int i = 0; i < 3; i++)
        assert_int_equal(nd_df_builder_add(b, hash, 2 * MANY, NULL, NULL), ND_OK);
    assert_int_equal(nd_df_builder_write(&b, 1, in_folder("large"), NULL), ND_OK);
    nd_df_builder_free(b);
    df = nd_df_open(in_folder("large"), NULL);
    assert_non_null(df);
    assert_int_equal(nd_df_terms(df), MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(nd_df_count(df, i), 3);
    nd_df_close(df);
    free(hash);
}

static void merged_tables_add_up(void **context)
{
    struct nd_df_builder *half[2], *sum;
    struct nd_df *df;

    (void)context;
    make_documents(5000, 3);
    build(in_folder("all"), 1, 0, 1);
    for (size_t h = 0; h < 2; h++) {
        half[h] = new_builder(0, 1);
        for (size_t d = 0; d < DOCUMENTS; d++)
            if (d % 3 == 0 ? h == 0 : h == 1)
                add_document(half[h], d);
        assert_int_equal(nd_df_builder_write(&half[h], 1, in_folder(h ? "h1" : "h0"), NULL), ND_OK);
        nd_df_builder_free(half[h]);
    }
    sum = new_builder(1 << 20, 1);
    for (size_t h = 0; h < 2; h++) {
        df = nd_df_open(in_folder(h ? "h1" : "h0"), NULL);
        assert_non_null(df);
        assert_int_equal(nd_df_builder_add_table(sum, df, NULL), ND_OK);
        nd_df_close(df);
    }
    assert_int_equal(nd_df_builder_write(&sum, 1, in_folder("sum"), NULL), ND_OK);
    nd_df_builder_free(sum);
    assert_same_files(in_folder("all"), in_folder("sum"));
}

static void a_table_of_nothing_is_a_table(void **context)
{
    struct nd_df_builder *b = new_builder(0, 1);
    struct nd_df *df;

    (void)context;
    assert_int_equal(nd_df_builder_write(&b, 1, in_folder("none"), NULL), ND_OK);
    nd_df_builder_free(b);
    df = nd_df_open(in_folder("none"), NULL);
    assert_non_null(df);
    assert_int_equal(nd_df_documents(df), 0);
    assert_int_equal(nd_df_terms(df), 0);
    for (uint64_t h = 0; h < 100; h++)
        assert_int_equal(nd_df_count(df, nd_mix64(h)), 0);
    assert_int_equal(nd_df_nidf(df, 1), 0);
    nd_df_close(df);
}

/* Every byte of a small table is altered, and every prefix cut. */
static void an_altered_table_is_refused(void **context)
{
    struct nd_error err;
    size_t len;
    char *data;

    (void)context;
    make_documents(40, 5);
    build(in_folder("small"), 1, 0, 1);
    data = read_file(in_folder("small"), &len);
    for (size_t i = 0; i < len; i++) {
        data[i] ^= 4;
        err.message[0] = 0;
        assert_null(nd_df_init(data, len, &err));
        assert_true(err.status == ND_EINPUT || err.status == ND_EUNSUPPORTED);
        assert_true(err.message[0]);
        data[i] ^= 4;
        assert_null(nd_df_init(data, i, &err));
        assert_int_equal(err.status, ND_EINPUT);
    }
    free(data);
}

static void rehash(char *data)
{
    struct nd_df_header h;

    memcpy(&h, data, sizeof h);
    for (size_t i = 0; i < ND_DF_CHUNKS; i++)
        h.chunk[i].hash = nd_hash_bytes(data + h.chunk[i].offset, h.chunk[i].bytes);
    h.hash = nd_df_header_hash(&h);
    memcpy(data, &h, sizeof h);
}

/* Each number of the header, at and beyond its limits, with a checksum that is right. */
static void numbers_beyond_their_limits_are_refused(void **context)
{
    static const uint64_t values[] = {0,
                                      1,
                                      1 << 16,
                                      UINT64_C(1) << 31,
                                      UINT32_MAX,
                                      UINT64_C(1) << 60,
                                      INT64_MAX,
                                      UINT64_C(1) << 63,
                                      UINT64_MAX - 4095,
                                      UINT64_MAX};
    struct nd_df_header right, h;
    struct nd_error err;
    uint64_t *const number[] = {&h.terms,           &h.homes,           &h.slots,
                                &h.file_bytes,      &h.chunk[0].offset, &h.chunk[0].bytes,
                                &h.chunk[1].offset, &h.chunk[1].bytes,  &h.chunk[2].offset,
                                &h.chunk[2].bytes};
    size_t len;
    char *data;

    (void)context;
    make_documents(40, 7);
    build(in_folder("small"), 1, 0, 1);
    data = read_file(in_folder("small"), &len);
    memcpy(&right, data, sizeof right);
    assert_int_equal(ND_DF_CHUNKS, 3);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            h = right;
            if (*number[i] == values[k])
                continue;
            *number[i] = values[k];
            h.hash = nd_df_header_hash(&h);
            memcpy(data, &h, sizeof h);
            assert_null(nd_df_init(data, len, &err));
            assert_int_equal(err.status, ND_EINPUT);
        }
    free(data);
}

/* Tables that someone made so: no checksum shows it. */
static void a_wrong_table_with_right_checksums_is_refused(void **context)
{
    struct nd_df_header h;
    struct nd_error err;
    size_t len, refused = 0;
    char *data;

    (void)context;
    make_documents(40, 6);
    build(in_folder("small"), 1, 0, 0);
    data = read_file(in_folder("small"), &len);
    memcpy(&h, data, sizeof h);
    assert_int_equal(h.chunk[ND_DF_CHUNK_SLOTS].offset, sizeof h);
    for (size_t i = 0; i < h.slots; i++) {
        char *slot = data + sizeof h + i * ND_DF_SLOT, saved[ND_DF_SLOT];
        static const uint64_t keys[] = {0, UINT64_MAX, UINT64_C(1) << 63};

        memcpy(saved, slot, sizeof saved);
        if (nd_df_slot_count((unsigned char *)slot) == 0)
            continue;
        for (size_t k = 0; k < 3; k++) { /* out of order, or behind a free slot */
            struct nd_df *df;

            memcpy(slot, &keys[k], 8);
            rehash(data);
            df = nd_df_init(data, len, &err);
            if (df) /* the key happens to fit there: then it is found */
                assert_int_equal(nd_df_count(df, nd_df_unmix(keys[k])),
                                 nd_df_slot_count((unsigned char *)slot));
            refused += !df;
            nd_df_close(df);
        }
        memcpy(slot, saved, sizeof saved);
        memset(slot + 8, 0, 4); /* no documents */
        rehash(data);
        assert_null(nd_df_init(data, len, &err));
        memset(slot + 8, 255, 4); /* more than there are */
        rehash(data);
        assert_null(nd_df_init(data, len, &err));
        assert_int_equal(err.status, ND_EINPUT);
        memcpy(slot, saved, sizeof saved);
    }
    assert_true(refused > 60);
    free(data);
}

static void what_is_no_table_is_named(void **context)
{
    struct nd_error err;
    FILE *file;

    (void)context;
    assert_null(nd_df_open(in_folder("absent"), &err));
    assert_int_equal(err.status, ND_EIO);
    assert_non_null(strstr(err.message, "absent"));
    assert_null(nd_df_open(folder, &err));
    assert_int_equal(err.status, ND_EIO);
    file = fopen(in_folder("empty"), "wb");
    assert_non_null(file);
    fclose(file);
    assert_null(nd_df_open(in_folder("empty"), &err));
    assert_int_equal(err.status, ND_EINPUT);
    assert_non_null(strstr(err.message, "empty"));
}

static void what_cannot_be_written_leaves_nothing(void **context)
{
    struct nd_df_builder *b = new_builder(0, 0);
    struct nd_error err;

    (void)context;
    assert_int_equal(nd_df_builder_write(&b, 1, in_folder("no/such/folder"), &err), ND_EIO);
    assert_non_null(strstr(err.message, "no/such/folder"));
    nd_df_builder_free(b);
    b = new_builder(0, 0);
    assert_int_equal(mkdir(in_folder("taken"), 0755), 0);
    assert_int_equal(nd_df_builder_write(&b, 1, in_folder("taken"), &err), ND_EIO);
    nd_df_builder_free(b);
    assert_int_equal(rmdir(in_folder("taken")), 0);
}

static void a_key_is_restored(void **context)
{
    (void)context;
    state = 1;
    for (int i = 0; i < 1000; i++) {
        uint64_t x = random_below(UINT64_MAX);

        assert_int_equal(nd_df_unmix(nd_mix64(x)), x);
    }
}

static void nidf_goes_from_one_to_zero(void **context)
{
    struct nd_df_builder *b = new_builder(0, 0);
    struct nd_df *df;
    uint64_t before;

    (void)context;
    for (int d = 0; d < 1000; d++)
        assert_int_equal(nd_df_builder_add(b, NULL, 0, NULL, NULL), ND_OK);
    assert_int_equal(nd_df_builder_write(&b, 1, in_folder("n"), NULL), ND_OK);
    nd_df_builder_free(b);
    df = nd_df_open(in_folder("n"), NULL);
    assert_non_null(df);
    before = nd_df_nidf(df, 1);
    assert_int_equal(before, ND_NIDF_ONE);
    assert_int_equal(nd_df_nidf(df, 0), before);
    for (uint32_t n = 2; n <= 1000; n++) {
        uint64_t now = nd_df_nidf(df, n);

        assert_true(now < before);
        before = now;
    }
    assert_int_equal(before, 0);
    assert_int_equal(nd_df_nidf(df, 2000), 0);
    /* ln(1000 / 10) / ln 1000 = 2/3, to the error of the table of logarithms. */
    assert_true(llabs((long long)nd_df_nidf(df, 10) - (long long)(ND_NIDF_ONE / 3 * 2)) < 1 << 17);
    nd_df_close(df);
}

static int make_folder(void **context)
{
    (void)context;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **context)
{
    static const char *const names[] = {"t",  "one", "small", "many", "large", "all",
                                        "h0", "h1",  "sum",   "none", "empty", "n"};

    (void)context;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(in_folder(names[i]));
    free(truth);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_counts_each_document_once),
        cmocka_unit_test(runs_and_builders_change_no_byte),
        cmocka_unit_test(a_document_larger_than_the_memory_is_counted_once),
        cmocka_unit_test(merged_tables_add_up),
        cmocka_unit_test(a_table_of_nothing_is_a_table),
        cmocka_unit_test(an_altered_table_is_refused),
        cmocka_unit_test(numbers_beyond_their_limits_are_refused),
        cmocka_unit_test(a_wrong_table_with_right_checksums_is_refused),
        cmocka_unit_test(what_is_no_table_is_named),
        cmocka_unit_test(what_cannot_be_written_leaves_nothing),
        cmocka_unit_test(a_key_is_restored),
        cmocka_unit_test(nidf_goes_from_one_to_zero),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
