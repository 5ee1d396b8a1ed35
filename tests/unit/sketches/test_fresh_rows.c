/* test_fresh_rows.c - new documents packed: in memory, in the file, and in both */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/recipe.h>

#include "base/hash.h"
#include "record/packed_document.h"
#include "sketches/fresh_rows.h"

enum { DOCUMENTS = 3000, SHINGLES_MAX = 900, LONG = 1700, LONG_ID = 5 << 20 };

static uint64_t random_state = 3;

static uint64_t below(uint64_t n)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return nd_mix64(random_state) % n;
}

/* Row i, the same each time; one has an id that exceeds a chunk of memory. */
static void make_row(unsigned i, uint64_t *shingle, const char *id, struct nd_sketch_row *row)
{
    random_state = i;
    *row = (struct nd_sketch_row){.text_hash = {i, nd_mix64(i)},
                                  .identity = nd_mix64(i + 1),
                                  .tokens = 7 + i,
                                  .n_shingles = (uint32_t)below(SHINGLES_MAX),
                                  .source = (uint32_t)below(9),
                                  .offset = below(1 << 30),
                                  .line = i + 1,
                                  .id = {id, i == LONG ? LONG_ID : below(20)},
                                  .id_kind = ND_ID_STRING,
                                  .shingles = shingle};
    for (unsigned k = 0; k < ND_MINHASH_COUNT; k++)
        row->low[k] = (uint8_t)below(256);
    for (uint32_t k = 0; k < row->n_shingles; k++)
        shingle[k] = (k ? shingle[k - 1] : 0) + 1 + below(UINT64_MAX / SHINGLES_MAX);
}

static void assert_row(const struct nd_sketch_row *a, const struct nd_sketch_row *b,
                       bool has_shingles)
{
    assert_memory_equal(a->text_hash, b->text_hash, sizeof a->text_hash);
    assert_memory_equal(a->low, b->low, sizeof a->low);
    assert_int_equal(a->identity, b->identity);
    assert_int_equal(a->source, b->source);
    assert_int_equal(a->line, b->line);
    assert_int_equal(a->n_shingles, b->n_shingles);
    assert_int_equal(a->id.len, b->id.len);
    assert_memory_equal(a->id.data, b->id.data, a->id.len);
    if (!has_shingles)
        assert_null(b->shingles);
    else if (a->n_shingles)
        assert_memory_equal(a->shingles, b->shingles, a->n_shingles * sizeof *a->shingles);
}

static void add_all(struct nd_fresh_rows *rows, uint64_t *shingle, const char *id)
{
    struct nd_packed_row packed = {0};
    struct nd_sketch_row row;

    for (unsigned i = 0; i < DOCUMENTS; i++) {
        make_row(i, shingle, id, &row);
        assert_int_equal(nd_sketch_row_pack(nd_fresh_rows_writer(rows), &row, NULL, &packed, NULL),
                         ND_OK);
        assert_int_equal(nd_fresh_rows_add(rows, &packed, NULL), ND_OK);
    }
    nd_packed_row_release(&packed);
    assert_int_equal(nd_fresh_rows_count(rows), DOCUMENTS);
}

/* As a row with shingles or without, and packed. */
static void check_one(struct nd_fresh_rows *rows, unsigned i, const struct nd_sketch_row *row,
                      struct nd_sketch_room *room, struct nd_packed_row *expected)
{
    bool has_shingles = nd_fresh_rows_keep(rows).shingles;
    struct nd_packed_row packed;
    struct nd_sketch_row got;

    assert_int_equal(nd_fresh_rows_get(rows, i, ND_SKETCH_FILE_ROWS, room, &got, NULL), ND_OK);
    assert_row(row, &got, false);
    assert_int_equal(nd_fresh_rows_get(rows, i, ND_SKETCH_FILE_ALL, room, &got, NULL), ND_OK);
    assert_row(row, &got, has_shingles);
    assert_int_equal(nd_fresh_rows_shingles(rows, i), row->n_shingles);
    assert_int_equal(nd_sketch_row_pack(nd_fresh_rows_writer(rows), row, NULL, expected, NULL),
                     ND_OK);
    assert_int_equal(nd_fresh_rows_packed(rows, i, room, &packed, NULL), ND_OK);
    assert_int_equal(packed.len, expected->len);
    assert_int_equal(packed.row_len, expected->row_len);
    assert_memory_equal(packed.data, expected->data, packed.len);
    assert_int_equal(nd_sketch_packed_source(packed.data), row->source);
}

static void check_rows(bool keeps_shingles, size_t memory_bytes, bool spills)
{
    static uint64_t shingle[SHINGLES_MAX];
    struct nd_error err;
    struct nd_recipe *recipe = nd_recipe_new(&err);
    const struct nd_fresh_rows_options options = {.recipe = recipe,
                                                  .keeps = {1, keeps_shingles},
                                                  .tmp = "/tmp",
                                                  .memory_bytes = memory_bytes};
    struct nd_fresh_rows *rows = nd_fresh_rows_new(&options, &err);
    struct nd_sketch_room room = {0};
    struct nd_packed_row expected = {0};
    struct nd_sketch_row row;
    char *id = calloc(1, LONG_ID);

    assert_non_null(rows);
    assert_non_null(id);
    add_all(rows, shingle, id);
    assert_true(nd_fresh_rows_spilled(rows) >= LONG_ID); /* it has no room in a chunk */
    assert_int_equal(nd_fresh_rows_spilled(rows) > LONG_ID + (1 << 16), spills);
    for (unsigned i = DOCUMENTS; i-- > 0;) {
        make_row(i, shingle, id, &row);
        check_one(rows, i, &row, &room, &expected);
    }
    nd_packed_row_release(&expected);
    nd_sketch_room_release(&room);
    nd_fresh_rows_free(rows);
    nd_recipe_free(recipe);
    free(id);
}

static void rows_are_what_was_packed(void **unused)
{
    (void)unused;
    check_rows(true, 0, false);
    check_rows(true, 4 << 20, true);
    check_rows(true, 1, true); /* none in memory */
    check_rows(false, 0, false);
    check_rows(false, 1, true);
}

static void a_folder_that_is_none_is_named(void **unused)
{
    static uint64_t shingle[SHINGLES_MAX];
    struct nd_error err;
    struct nd_recipe *recipe = nd_recipe_new(&err);
    const struct nd_fresh_rows_options options = {
        .recipe = recipe, .tmp = "/nowhere/at/all", .memory_bytes = 1};
    struct nd_fresh_rows *rows = nd_fresh_rows_new(&options, &err);
    struct nd_packed_row packed = {0};
    struct nd_sketch_row row;

    (void)unused;
    make_row(0, shingle, "0123456789012345678", &row);
    assert_int_equal(nd_sketch_row_pack(nd_fresh_rows_writer(rows), &row, NULL, &packed, &err),
                     ND_OK);
    assert_int_equal(nd_fresh_rows_add(rows, &packed, &err), ND_EIO);
    assert_non_null(strstr(err.message, "/nowhere/at/all"));
    nd_packed_row_release(&packed);
    nd_fresh_rows_free(rows);
    nd_recipe_free(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_what_was_packed),
        cmocka_unit_test(a_folder_that_is_none_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
