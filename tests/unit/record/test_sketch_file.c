/* test_sketch_file.c - a sketch file gives back what was written, and no damage goes unnoticed */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <neardup/sketch_file.h>

#include "recipe/recipe_struct.h"
#include "record/packed_document.h"
#include "record/sketch_file_layout.h"
#include "record/stored.h"
#include "sized.h"

/* Several copies of the rows make more than one block. */
enum { ROWS = 300, SHINGLES_MAX = 700, COPIES = 8, WORDS_MAX = 16 };

struct sample {
    struct nd_sketch_row row[ROWS];
    uint64_t shingle[ROWS][SHINGLES_MAX];
    uint64_t word[ROWS][ND_RECIPE_SIGNATURES][WORDS_MAX];
    char id[ROWS][40];
};

static uint64_t state;
static uint64_t next_random(void)
{
    state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t x = state;

    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void fill_shingles(struct sample *s, size_t i)
{
    struct nd_sketch_row *row = &s->row[i];

    row->n_shingles = i < 5 ? (uint32_t)i : (uint32_t)(next_random() % SHINGLES_MAX);
    for (uint32_t j = 0; j < row->n_shingles; j++)
        s->shingle[i][j] = next_random();
    if (row->n_shingles > 1) { /* the ends of the range */
        s->shingle[i][0] = 0;
        s->shingle[i][1] = UINT64_MAX;
    }
    qsort(s->shingle[i], row->n_shingles, sizeof(uint64_t), ascending);
    row->shingles = s->shingle[i];
}

static struct nd_recipe *recipe_named(const char *name)
{
    struct nd_recipe *recipe = nd_recipe_new(NULL);

    assert_non_null(recipe);
    assert_int_equal(nd_recipe_by_name(recipe, name, NULL), ND_OK);
    return recipe;
}

/* Sign a row as the recipe says, with random words; one in seven is rejected. */
static void fill_signatures(struct sample *s, size_t i, const struct nd_recipe *recipe)
{
    struct nd_sketch_row *row = &s->row[i];

    row->length = next_random();
    row->beside = next_random();
    for (unsigned at = 0; at < nd_recipe_signatures(recipe); at++) {
        const struct nd_signature_params *x = &recipe->method.signature[at].signature;
        size_t words = nd_signature_words(x);

        row->signature[at] = (struct nd_signature){
            s->word[i][at], words ? words : next_random() % WORDS_MAX, (i + at) % 7 == 0};
        for (size_t k = 0; k < row->signature[at].count; k++)
            s->word[i][at][k] = (k + 1) << 32 | next_random() >> 32;
    }
}

static struct sample *sample_new(const char *recipe_name)
{
    struct nd_recipe *recipe = recipe_named(recipe_name);
    struct sample *s = calloc(1, sizeof *s);

    assert_non_null(s);
    state = 1;
    for (size_t i = 0; i < ROWS; i++) {
        struct nd_sketch_row *row = &s->row[i];

        row->text_hash[0] = next_random();
        row->text_hash[1] = next_random();
        row->identity = next_random();
        row->simhash = next_random();
        row->tokens = next_random() % 1000;
        row->text_bytes = next_random();
        row->source = (uint32_t)(i % 2);
        row->offset = i * 100;
        row->line = i % 3 ? i : 0;
        row->id_kind = (enum nd_id_kind)(i % 3);
        snprintf(s->id[i], sizeof s->id[i], "document %zu", i);
        row->id = (struct nd_view){s->id[i], row->id_kind == ND_ID_NONE ? 0 : strlen(s->id[i])};
        for (size_t j = 0; j < sizeof row->low; j++)
            row->low[j] = (uint8_t)next_random();
        fill_signatures(s, i, recipe);
        fill_shingles(s, i);
    }
    nd_recipe_free(recipe);
    return s;
}

static void write_rows(const char *path, const struct sample *s, const char *recipe_name,
                       int keeps_shingles, size_t n)
{
    struct nd_sketch_writer_options options = {.keeps = {1, keeps_shingles != 0}};
    struct nd_sketch_source source[2] = {{"a.jsonl", NULL, 17, ROWS / 2},
                                         {"b.tar", "one.txt", 0, ROWS / 2}};
    struct nd_recipe *recipe = recipe_named(recipe_name);
    FILE *stream = fopen(path, "wb+");
    struct nd_sketch_writer *w = nd_sketch_writer_new(stream, recipe, &options, NULL);
    struct nd_packed_row packed = {0};
    uint64_t scratch[2 * SHINGLES_MAX];

    assert_non_null(w);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(
            nd_sketch_row_pack(w, &s->row[i % ROWS], i % 2 ? scratch : NULL, &packed, NULL), ND_OK);
        assert_int_equal(nd_sketch_writer_add(w, &packed, NULL), ND_OK);
    }
    assert_int_equal(nd_sketch_writer_finish(w, NULL), ND_EINVAL); /* no sources yet */
    assert_int_equal(nd_sketch_writer_add_source(w, &source[0], NULL), ND_OK);
    assert_int_equal(nd_sketch_writer_add_source(w, &source[1], NULL), ND_OK);
    assert_int_equal(nd_sketch_writer_finish(w, NULL), ND_OK);
    nd_packed_row_release(&packed);
    nd_sketch_writer_free(w);
    nd_recipe_free(recipe);
    assert_int_equal(fclose(stream), 0);
}

static void write_sample(const char *path, const struct sample *s, const char *recipe_name,
                         int keeps_shingles)
{
    write_rows(path, s, recipe_name, keeps_shingles, (size_t)ROWS * COPIES);
}

static void assert_signatures(const struct nd_sketch_row *a, const struct nd_sketch_row *b,
                              unsigned n)
{
    if (n)
        assert_true(a->length == b->length && a->beside == b->beside);
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(a->signature[i].is_rejected, b->signature[i].is_rejected);
        if (a->signature[i].is_rejected)
            continue;
        assert_int_equal(a->signature[i].count, b->signature[i].count);
        assert_memory_equal(a->signature[i].word, b->signature[i].word,
                            a->signature[i].count * sizeof(uint64_t));
    }
}

static void assert_row(const struct nd_sketch_row *a, const struct nd_sketch_row *b,
                       unsigned n_signatures, bool has_shingles)
{
    assert_memory_equal(a->text_hash, b->text_hash, sizeof a->text_hash);
    assert_memory_equal(a->low, b->low, sizeof a->low);
    assert_true(a->identity == b->identity && a->simhash == b->simhash);
    assert_true(a->tokens == b->tokens && a->text_bytes == b->text_bytes);
    assert_true(a->source == b->source && a->offset == b->offset && a->line == b->line);
    assert_true(a->id_kind == b->id_kind && a->id.len == b->id.len);
    assert_memory_equal(a->id.data, b->id.data, a->id.len);
    assert_signatures(a, b, n_signatures);
    assert_int_equal(a->n_shingles, b->n_shingles);
    if (has_shingles && a->n_shingles)
        assert_memory_equal(a->shingles, b->shingles, a->n_shingles * sizeof *a->shingles);
    if (!has_shingles)
        assert_null(b->shingles);
}

/* Every row of every block; the number of rows. */
static size_t compare_all(const struct nd_sketch_file *file, const struct sample *s, unsigned parts,
                          bool has_shingles)
{
    struct nd_sketch_block block = {0};
    struct nd_stored_rows stored = {.n = 0};
    struct nd_sketch_room room = {0};
    struct nd_sketch_row again;
    const unsigned signatures = nd_sketch_file_info(file)->n_signatures;
    size_t n = 0;

    for (uint32_t i = 0; i < nd_sketch_file_info(file)->blocks; i++) {
        assert_int_equal(nd_sketch_file_read(file, i, parts, &block, NULL), ND_OK);
        assert_int_equal(nd_stored_rows_read(file, i, &stored, NULL), ND_OK);
        assert_int_equal(block.first, n);
        assert_int_equal(stored.first, n);
        assert_int_equal(stored.n, block.n);
        for (size_t j = 0; j < block.n; j++) {
            assert_row(&s->row[(n + j) % ROWS], &block.rows[j], signatures, has_shingles);
            assert_int_equal(
                nd_sketch_file_read_row(file, &block.rows[j].place, parts, &room, &again, NULL),
                ND_OK);
            assert_row(&s->row[(n + j) % ROWS], &again, signatures, has_shingles);
            nd_stored_row_get(&stored, j, &again);
            assert_row(&s->row[(n + j) % ROWS], &again, signatures, false);
            assert_memory_equal(&again.place, &block.rows[j].place, sizeof again.place);
        }
        n += block.n;
    }
    nd_stored_rows_release(&stored);
    nd_sketch_room_release(&room);
    nd_sketch_block_release(&block);
    return n;
}

static char folder[64], path[96];

static int make_folder(void **unused)
{
    (void)unused;
    strcpy(folder, "/tmp/neardup-sketch-file-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/a.sketch", folder);
    return 0;
}

static int remove_folder(void **unused)
{
    (void)unused;
    (void)unlink(path);
    return rmdir(folder);
}

static void what_was_written_is_read(void **unused)
{
    static const char *const recipe[] = {"default", "manku-2007", "henzinger-2006-combined",
                                         "broder-1997", "winnowing-2003"};

    (void)unused;
    for (size_t with = 0; with < sizeof recipe / sizeof *recipe; with++)
        for (int kept = 0; kept < 2; kept++) {
            struct sample *s = sample_new(recipe[with]);
            struct nd_sketch_file *file;

            write_sample(path, s, recipe[with], kept);
            file = nd_sketch_file_open(path, NULL);
            assert_non_null(file);
            assert_int_equal(nd_sketch_file_info(file)->documents, ROWS * COPIES);
            assert_int_equal(nd_sketch_file_info(file)->blocks, kept ? 2 : 1);
            assert_int_equal(nd_sketch_file_info(file)->n_signatures, with == 2 ? 2 : with > 0);
            assert_int_equal(compare_all(file, s, ND_SKETCH_FILE_ALL, kept), ROWS * COPIES);
            assert_int_equal(compare_all(file, s, ND_SKETCH_FILE_ROWS, false), ROWS * COPIES);
            assert_string_equal(nd_sketch_file_source(file, 1)->entry, "one.txt");
            assert_null(nd_sketch_file_source(file, 0)->entry);
            assert_null(nd_sketch_file_source(file, 2));
            nd_sketch_file_close(file);
            free(s);
        }
}

static void another_recipe_is_refused_by_its_key(void **unused)
{
    struct sample *s = sample_new("default");
    struct nd_recipe *recipe = recipe_named("default");
    struct nd_sketch_file *file;
    struct nd_error err;

    (void)unused;
    write_sample(path, s, "default", 1);
    file = nd_sketch_file_open(path, &err);
    assert_non_null(file);
    assert_int_equal(nd_sketch_file_fits(file, recipe, &err), ND_OK);
    assert_int_equal(nd_recipe_set(recipe, "threshold=0.9", &err), ND_OK);
    assert_int_equal(nd_sketch_file_fits(file, recipe, &err), ND_OK);
    assert_int_equal(nd_recipe_set(recipe, "shingle=4", &err), ND_OK);
    assert_int_equal(nd_sketch_file_fits(file, recipe, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "shingle differs"));
    nd_sketch_file_close(file);
    nd_recipe_free(recipe);
    free(s);
}

/* The rows as they are stored are refused where those that are made of them are. */
static void check_stored(const struct nd_sketch_file *file, size_t number)
{
    struct nd_sketch_block block = {0};
    struct nd_stored_rows stored = {.n = 0};
    struct nd_error err = {.status = ND_OK}, stored_err = {.status = ND_OK};

    assert_int_equal(nd_sketch_file_read(file, number, ND_SKETCH_FILE_ROWS, &block, &err),
                     nd_stored_rows_read(file, number, &stored, &stored_err));
    assert_string_equal(err.message, stored_err.message);
    assert_int_equal(stored.n, block.n);
    nd_stored_rows_release(&stored);
    nd_sketch_block_release(&block);
}

/* Open the file and read all of it; what it says. */
static enum nd_status read_whole(struct nd_error *err)
{
    struct nd_sketch_file *file = nd_sketch_file_open(path, err);
    struct nd_sketch_block block = {0};
    enum nd_status status = ND_OK;

    if (!file)
        return err->status;
    for (uint32_t i = 0; status == ND_OK && i < nd_sketch_file_info(file)->blocks; i++) {
        check_stored(file, i);
        status = nd_sketch_file_read(file, i, ND_SKETCH_FILE_ALL, &block, err);
    }
    nd_sketch_block_release(&block);
    nd_sketch_file_close(file);
    return status;
}

static unsigned char *slurp(size_t *len)
{
    FILE *stream = fopen(path, "rb");
    unsigned char *bytes;

    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    *len = (size_t)ftell(stream);
    rewind(stream);
    bytes = malloc(*len);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *len, stream), *len);
    fclose(stream);
    return bytes;
}

static void put(const unsigned char *bytes, size_t len)
{
    FILE *stream = fopen(path, "wb");

    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, len, stream), len);
    assert_int_equal(fclose(stream), 0);
}

/* Change one bit of the file. */
static void flip(size_t bit)
{
    FILE *stream = fopen(path, "rb+");
    int byte;

    assert_non_null(stream);
    assert_int_equal(fseek(stream, (long)(bit / 8), SEEK_SET), 0);
    byte = fgetc(stream);
    assert_int_equal(fseek(stream, (long)(bit / 8), SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 1 << bit % 8, stream), byte ^ 1 << bit % 8);
    assert_int_equal(fclose(stream), 0);
}

/* Padding and the empty second head belong to no checksum. */
static bool counts(const unsigned char *bytes, size_t at)
{
    const struct nd_sketch_head *head = (const struct nd_sketch_head *)(const void *)bytes;

    return at < ND_SKETCH_HEAD_BYTES ||
           (at >= ND_SKETCH_FILE_RECIPE_AT &&
            at < (size_t)ND_SKETCH_FILE_RECIPE_AT + head->recipe_bytes) ||
           at >= ND_SKETCH_FILE_RECIPE_AT + nd_padded(head->recipe_bytes, 4096);
}

static void a_changed_byte_is_found(void **unused)
{
    struct sample *s = sample_new("default");
    struct nd_error err;
    unsigned char *bytes;
    size_t len;

    (void)unused;
    write_sample(path, s, "default", 1);
    bytes = slurp(&len);
    for (size_t at = 0; at < len; at += at < 120 ? 1 : 49999) {
        bytes[at] ^= 0x10;
        put(bytes, len);
        bytes[at] ^= 0x10;
        if (counts(bytes, at)) {
            enum nd_status status = read_whole(&err);

            assert_true(status == ND_EINPUT || status == ND_EUNSUPPORTED);
            assert_non_null(strstr(err.message, path));
        } else {
            assert_int_equal(read_whole(&err), ND_OK);
        }
    }
    free(bytes);
    free(s);
}

enum { FEW = 12 };

/* Read document i alone, as a row and packed: it is refused or as it was written. */
static void refused_or_same(const struct nd_sketch_file *file, const struct sample *s, size_t i,
                            const struct nd_sketch_row_place *place,
                            const struct nd_sketch_place *packed)
{
    struct nd_sketch_room room = {0};
    struct nd_buffer bytes = {0};
    struct nd_sketch_row row;
    uint64_t shingle[SHINGLES_MAX + 1];

    if (nd_sketch_file_read_row(file, place, ND_SKETCH_FILE_ALL, &room, &row, NULL) == ND_OK)
        assert_row(&s->row[i], &row, 0, true);
    if (nd_sketch_file_read_row(file, place, ND_SKETCH_FILE_ROWS, &room, &row, NULL) == ND_OK)
        assert_row(&s->row[i], &row, 0, false);
    if (nd_sketch_file_read_packed(file, packed, &bytes, NULL) == ND_OK) {
        struct nd_view view = {bytes.data, bytes.len};

        assert_int_equal(nd_sketch_packed_row(file, view, &row, NULL), ND_OK);
        assert_int_equal(nd_sketch_packed_shingles(file, view, &row, shingle, NULL), ND_OK);
        assert_row(&s->row[i], &row, 0, true);
    }
    nd_buffer_release(&bytes);
    nd_sketch_room_release(&room);
}

/* The rows and shingles of a file that was sound when the places were read. */
static void a_document_that_is_read_alone_is_checked(void **unused)
{
    struct sample *s = sample_new("default");
    struct nd_sketch_row_place place[FEW];
    struct nd_sketch_place packed[FEW];
    struct nd_sketch_block block = {0};
    struct nd_sketch_file *file;
    size_t len, step = sized(1, 23);

    (void)unused;
    write_rows(path, s, "default", 1, FEW);
    file = nd_sketch_file_open(path, NULL);
    assert_non_null(file);
    assert_int_equal(nd_sketch_file_read(file, 0, ND_SKETCH_FILE_ALL, &block, NULL), ND_OK);
    for (size_t i = 0; i < FEW; i++) {
        place[i] = block.rows[i].place;
        packed[i] = nd_sketch_block_place(&block, i);
    }
    free(slurp(&len));
    for (size_t bit = 8 * place[0].row; bit < 8 * len; bit += step) {
        flip(bit);
        for (size_t i = 0; i < FEW; i++)
            refused_or_same(file, s, i, &place[i], &packed[i]);
        flip(bit);
    }
    nd_sketch_block_release(&block);
    nd_sketch_file_close(file);
    free(s);
}

/* A row is as it was written only where it was written. */
static void a_row_at_another_place_is_refused(void **unused)
{
    struct sample *s = sample_new("default");
    struct nd_error err;
    unsigned char *bytes, row[512];
    size_t len, first, n;

    (void)unused;
    s->row[1].id = s->row[0].id; /* the same length */
    write_rows(path, s, "default", 0, 2);
    bytes = slurp(&len);
    first = (size_t)((struct nd_sketch_head *)(void *)bytes)->directory;
    n = sizeof(struct nd_sketch_row_head) + (size_t)nd_padded(s->row[0].id.len, 8);
    first -= 2 * n;
    memcpy(row, bytes + first, n);
    memmove(bytes + first, bytes + first + n, n);
    memcpy(bytes + first + n, row, n);
    put(bytes, len);
    assert_int_equal(read_whole(&err), ND_EINPUT);
    free(bytes);
    free(s);
}

/* Set the number of `size` bytes at `at` of the only head, whose checksum is then right. */
static void set_head(unsigned char *bytes, size_t at, size_t size, uint64_t value)
{
    union nd_sketch_head_page page;

    memcpy(page.bytes, bytes, sizeof page.bytes);
    memcpy(page.bytes + at, &value, size);
    nd_sketch_head_seal(&page);
    memcpy(bytes, page.bytes, sizeof page.bytes);
}

static void every_number_of_the_head_has_limits(void **unused)
{
#define MEMBER(name) offsetof(struct nd_sketch_head, name), sizeof((struct nd_sketch_head *)0)->name
    const struct {
        size_t at, size;
        uint64_t low, high; /* both are refused */
    } number[] = {
        {MEMBER(version), 0, UINT32_MAX},
        {MEMBER(flags), 4, UINT32_MAX},
        {MEMBER(generation), 0, 0},
        {MEMBER(recipe_bytes), 0, UINT32_MAX},
        {MEMBER(n_signatures), ND_RECIPE_SIGNATURES + 1, UINT32_MAX},
        {MEMBER(documents), 0, UINT64_MAX},
        {MEMBER(directory), 0, UINT64_MAX},
        {MEMBER(directory_bytes), 0, UINT64_MAX},
        {MEMBER(end), 0, UINT64_MAX},
        {MEMBER(blocks), 0, UINT32_MAX},
        {MEMBER(sources), UINT32_MAX, UINT32_MAX},
        {MEMBER(part), 1, UINT32_MAX},
        {MEMBER(parts), 1, UINT32_MAX},
    };
#undef MEMBER
    struct sample *s = sample_new("default");
    struct nd_error err;
    unsigned char *bytes;
    size_t len;

    (void)unused;
    write_rows(path, s, "default", 1, FEW);
    bytes = slurp(&len);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        for (int high = 0; high < 2; high++) {
            uint64_t value = 0;

            memcpy(&value, bytes + number[i].at, number[i].size);
            set_head(bytes, number[i].at, number[i].size, high ? number[i].high : number[i].low);
            put(bytes, len);
            assert_null(nd_sketch_file_open(path, &err));
            assert_true(err.status == ND_EINPUT || err.status == ND_EUNSUPPORTED);
            set_head(bytes, number[i].at, number[i].size, value);
        }
    put(bytes, len);
    assert_int_equal(read_whole(&err), ND_OK);
    free(bytes);
    free(s);
}

static void a_cut_file_is_found(void **unused)
{
    struct sample *s = sample_new("default");
    struct nd_error err;
    unsigned char *bytes;
    size_t len;

    (void)unused;
    write_sample(path, s, "default", 1);
    bytes = slurp(&len);
    for (size_t left = 0; left < len; left += 1 + len / 200) {
        put(bytes, left);
        assert_int_equal(read_whole(&err), ND_EINPUT);
    }
    put(bytes, len);
    assert_int_equal(read_whole(&err), ND_OK);
    free(bytes);
    free(s);
}

static void a_pipe_is_refused(void **unused)
{
    struct nd_sketch_writer_options options = {.keeps = {1, 1}};
    struct nd_recipe *recipe = recipe_named("default");
    struct nd_error err;
    FILE *stream;
    int end[2];

    (void)unused;
    assert_int_equal(pipe(end), 0);
    stream = fdopen(end[1], "wb");
    assert_non_null(stream);
    assert_null(nd_sketch_writer_new(stream, recipe, &options, &err));
    assert_int_equal(err.status, ND_EINVAL);
    fclose(stream);
    close(end[0]);
    nd_recipe_free(recipe);
}

static void shingles_out_of_order_are_refused(void **unused)
{
    uint64_t shingle[] = {5, 5}, code[16] = {0}, read[2];

    (void)unused;
    nd_shingle_code_write(shingle, 2, code);
    assert_false(nd_shingle_code_read(code, 2, read));
    memset(code, 0, sizeof code);
    assert_false(nd_shingle_code_read(code, 2, read)); /* no ones at all */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(another_recipe_is_refused_by_its_key),
        cmocka_unit_test(a_changed_byte_is_found),
        cmocka_unit_test(a_document_that_is_read_alone_is_checked),
        cmocka_unit_test(a_row_at_another_place_is_refused),
        cmocka_unit_test(every_number_of_the_head_has_limits),
        cmocka_unit_test(a_cut_file_is_found),
        cmocka_unit_test(a_pipe_is_refused),
        cmocka_unit_test(shingles_out_of_order_are_refused),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
