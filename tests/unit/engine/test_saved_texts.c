/* test_saved_texts.c - an engine that was saved with its texts and opened is the engine; a damaged file
 * is none; allocations that fail */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <neardup/dedup.h>
#include <neardup/recipe.h>

#include "base/hash.h"
#include "engine/restore.h"
#include "engine/saved_texts.h"
#include "failing_malloc.h"

enum { TEXTS = 400, TEXT_MAX = 512 };

static char folder[] = "/tmp/test_saved_texts-XXXXXX";
static char path[64];
static char text[TEXTS][TEXT_MAX];

/* Families of near and of equal texts, some of them short. */
static void make_texts(void)
{
    for (unsigned i = 0; i < TEXTS; i++) {
        unsigned n = i % 11 == 0 ? 2 : 40, at = 0;

        for (unsigned k = 0; k < n; k++) {
            bool own = i % 3 && k == i % 40;
            uint64_t word = nd_mix64((uint64_t)(own ? i : i % 60) << 8 | k) % 5000;

            at += (unsigned)snprintf(text[i] + at, TEXT_MAX - at, "w%u ", (unsigned)word);
        }
    }
}

static enum nd_status fetch(void *context, uint64_t document, unsigned worker, struct nd_view *out,
                            struct nd_error *err)
{
    (void)context;
    (void)worker;
    (void)err;
    *out = (struct nd_view){text[document], strlen(text[document])};
    return ND_OK;
}

static enum nd_status keep(void *context, uint64_t document, size_t item, struct nd_error *err)
{
    (void)context;
    (void)document;
    (void)item;
    (void)err;
    return ND_OK;
}

static const struct nd_text_source source = {.context = NULL, .fetch = fetch, .keep = keep};

static struct nd_dedup *new_engine(const char *recipe_name, bool makes_pairs, struct nd_error *err)
{
    struct nd_dedup_options options = nd_dedup_options_default();
    struct nd_recipe *recipe = nd_recipe_new(err);
    struct nd_dedup *d = NULL;

    options.makes_pairs = makes_pairs;
    options.threads = 1;
    options.cache_bytes = 1 << 16;
    options.source = &source;
    if (recipe && (!recipe_name || nd_recipe_by_name(recipe, recipe_name, err) == ND_OK))
        d = nd_dedup_new(recipe, &options, err);
    nd_recipe_free(recipe);
    return d;
}

static void push(struct nd_dedup *d, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        struct nd_dedup_item item = {.text = {text[i], strlen(text[i])}};

        assert_int_equal(nd_dedup_push_prototypes(d, &item, 1, NULL), ND_OK);
    }
}

struct pairs {
    struct nd_found_pair pair[4096];
    size_t n;
};

static enum nd_status note(void *context, const struct nd_found_pair *pair)
{
    struct pairs *pairs = context;

    assert_true(pairs->n < 4096);
    pairs->pair[pairs->n++] = *pair;
    return ND_OK;
}

static void expect_same(struct nd_dedup *a, struct nd_dedup *b)
{
    static struct pairs of_a, of_b;

    for (unsigned i = 0; i < TEXTS; i += 3) {
        struct nd_dedup_item item = {.text = {text[i], strlen(text[i])}};

        of_a.n = of_b.n = 0;
        assert_int_equal(nd_dedup_query(a, &item, 1, note, &of_a, NULL), ND_OK);
        assert_int_equal(nd_dedup_query(b, &item, 1, note, &of_b, NULL), ND_OK);
        assert_int_equal(of_a.n, of_b.n);
        if (of_a.n)
            assert_memory_equal(of_a.pair, of_b.pair, of_a.n * sizeof *of_a.pair);
    }
}

static struct nd_view describe(const void *context, uint32_t i, struct nd_saved_row *row)
{
    const struct nd_dedup_state *state = context;

    *row = (struct nd_saved_row){.serial = 2 * i + 1, .bytes = strlen(text[i])};
    if (state->n) {
        row->raw = state->raw[i];
        row->class_of = state->class_of[i];
    }
    return (struct nd_view){text[i], (size_t)row->bytes};
}

static enum nd_status save(const struct nd_dedup *d, uint32_t n, struct nd_error *err)
{
    struct nd_dedup_state state = {0};
    struct nd_saved_content content = {.recipe = {"the recipe", 10},
                                       .ids = {"ids", 3},
                                       .next_serial = 2 * TEXTS,
                                       .n = n,
                                       .describe = describe,
                                       .context = &state};

    if (d)
        state = nd_dedup_get_state(d, &content.index);
    return nd_saved_write(path, &content, err);
}

/* The engine of the file.  NULL: an error. */
static struct nd_dedup *restored(const char *recipe, bool makes_pairs, struct nd_error *err)
{
    struct nd_saved_texts saved = {0};
    uint64_t raw[TEXTS];
    uint32_t class_of[TEXTS];
    struct nd_dedup *d;
    struct nd_index *index;

    if (nd_saved_open(path, 0, &saved, err) != ND_OK)
        return NULL;
    for (uint32_t i = 0; i < saved.header.n; i++) {
        raw[i] = saved.row[i].raw;
        class_of[i] = saved.row[i].class_of;
    }
    d = new_engine(recipe, makes_pairs, err);
    index = d ? nd_saved_open_index(&saved, path, err) : NULL;
    if (!index ||
        nd_dedup_restore(d, index, &(struct nd_dedup_state){saved.header.n, raw, class_of},
                         saved.header.bytes[ND_SAVED_TEXTS], err) != ND_OK) {
        nd_dedup_free(d);
        d = NULL;
    }
    nd_saved_close(&saved);
    return d;
}

static void what_was_restored_goes_on_as_the_original(void **state)
{
    struct nd_error err = {0};
    struct nd_dedup *d = new_engine(NULL, true, &err), *again;
    struct nd_saved_texts saved = {0};

    (void)state;
    assert_non_null(d);
    assert_true(nd_dedup_is_restorable(d));
    for (unsigned n = 0; n < TEXTS; n += 100) {
        assert_int_equal(save(d, n, &err), ND_OK);
        again = restored(NULL, true, &err);
        if (!again)
            fail_msg("%s", err.message);
        expect_same(d, again);
        push(d, n, n + 100);
        push(again, n, n + 100);
        expect_same(d, again);
        assert_int_equal(nd_dedup_withdraw(again, n, &err), ND_OK);
        nd_dedup_free(again);
    }
    assert_int_equal(save(d, TEXTS, &err), ND_OK);
    assert_int_equal(nd_saved_open(path, 1, &saved, &err), ND_OK);
    assert_int_equal(nd_saved_section(&saved, ND_SAVED_RECIPE).len, 10);
    assert_memory_equal(nd_saved_section(&saved, ND_SAVED_IDS).data, "ids", 3);
    assert_int_equal(saved.header.next_serial, 2 * TEXTS);
    nd_saved_close(&saved);
    nd_dedup_free(d);
}

static void an_engine_of_another_recipe_is_refused(void **state)
{
    struct nd_error err = {0};
    struct nd_dedup *d = new_engine(NULL, true, &err);

    (void)state;
    push(d, 0, 50);
    assert_int_equal(save(d, 50, &err), ND_OK);
    nd_dedup_free(d);
    assert_null(restored("manku-2007", true, &err)); /* it has signatures */
    assert_int_equal(err.status, ND_EINPUT);
    assert_null(restored(NULL, false, &err));
    assert_int_equal(err.status, ND_EINPUT);
    d = new_engine("manku-2007", true, &err);
    assert_non_null(d);
    assert_false(nd_dedup_is_restorable(d));
    nd_dedup_free(d);
}

static unsigned char *contents(size_t *size)
{
    FILE *f = fopen(path, "rb");
    unsigned char *data;
    struct stat st;

    assert_true(f && fstat(fileno(f), &st) == 0);
    *size = (size_t)st.st_size;
    data = malloc(*size);
    assert_true(data && fread(data, 1, *size, f) == *size);
    fclose(f);
    return data;
}

static void put(const unsigned char *data, size_t size)
{
    FILE *f = fopen(path, "wb");

    assert_true(f && fwrite(data, 1, size, f) == size);
    assert_int_equal(fclose(f), 0);
}

/* Change 8 bytes of a section, and make the checksums right. */
static void change(unsigned char *data, size_t size, enum nd_saved_section s, size_t at,
                   uint64_t value)
{
    unsigned char *copy = malloc(size);
    uint64_t offset[ND_SAVED_SECTIONS];
    struct nd_saved_header header;

    assert_non_null(copy);
    memcpy(copy, data, size);
    memcpy(&header, copy, sizeof header);
    assert_int_equal(nd_saved_lay_out(&header, offset), size);
    memcpy(copy + offset[s] + at, &value, sizeof value);
    header.hash[s] = nd_hash_bytes(copy + offset[s], header.bytes[s]);
    nd_saved_seal(&header);
    memcpy(copy, &header, sizeof header);
    put(copy, size);
    free(copy);
}

static void rows_that_are_impossible_are_refused(void **state)
{
    enum { ROW = sizeof(struct nd_saved_row) };
    static const struct {
        size_t at;
        uint64_t value;
    } wrong[] = {
        {offsetof(struct nd_saved_row, serial), 2 * TEXTS},
        {3 * ROW + offsetof(struct nd_saved_row, serial), 1},
        {offsetof(struct nd_saved_row, bytes), 1},
        {offsetof(struct nd_saved_row, bytes), UINT64_MAX},
        {offsetof(struct nd_saved_row, class_of), 1},          /* after it */
        {offsetof(struct nd_saved_row, class_of), 2ull << 32}, /* is_gone */
        {5 * ROW + offsetof(struct nd_saved_row, class_of), 7},
    };
    struct nd_error err = {0};
    struct nd_dedup *d = new_engine(NULL, true, &err);
    unsigned char *data;
    size_t size;

    (void)state;
    push(d, 0, 50);
    assert_int_equal(save(d, 50, &err), ND_OK);
    nd_dedup_free(d);
    data = contents(&size);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        change(data, size, ND_SAVED_ROWS, wrong[i].at, wrong[i].value);
        assert_null(restored(NULL, true, &err));
        assert_int_equal(err.status, ND_EINPUT);
    }
    change(data, size, ND_SAVED_TEXTS, 0, UINT64_MAX);
    assert_null(restored(NULL, true, &err));
    assert_non_null(strstr(err.message, "UTF-8"));
    free(data);
}

static void values_behind_a_text_come_back(void **state)
{
    static const struct nd_view values[] = {{"here", 4}, {NULL, 0}, {"", 0}};
    const struct nd_view words = {"one two", 7};
    struct nd_view back[3];
    char all[128];
    size_t bytes = nd_saved_values_bytes(words, values, 3);

    (void)state;
    assert_int_equal(bytes, 7 + 4 + 3 * 16);
    nd_saved_put_values(all, words, values, 3);
    assert_memory_equal(all, "one twohere0000000000000004----------------0000000000000000", bytes);
    assert_int_equal(nd_saved_take_values(all, bytes, back, 3), words.len);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(back[i].len, values[i].len);
        assert_int_equal(back[i].data == NULL, values[i].data == NULL);
    }
    assert_int_equal(nd_saved_take_values(all, bytes, back, 0), bytes);
    assert_true(nd_saved_take_values(all, bytes, back, 4) == SIZE_MAX); /* "one twohere" */
    assert_true(nd_saved_take_values(all, 40, back, 3) == SIZE_MAX);    /* cut short */
    all[bytes - 16 - 16 - 2] = 'c';                                     /* 0xc4: too long */
    assert_true(nd_saved_take_values(all, bytes, back, 3) == SIZE_MAX);
    memcpy(all + bytes - 3 * 16, "ffffffffffffffff", 16);
    assert_true(nd_saved_take_values(all, bytes, back, 3) == SIZE_MAX);
}

#if !HAS_OWN_MALLOC
static void allocations_that_fail_are_errors(void **state)
{
    struct nd_error err = {0};
    struct nd_dedup *d = new_engine(NULL, true, &err), *again = NULL;

    (void)state;
    push(d, 0, 300);
    for (long k = 1; !again; k++) {
        enum nd_status status;

        assert_in_range(k, 1, 2000);
        until_failure = k;
        status = save(d, 300, &err);
        if (status == ND_OK)
            again = restored(NULL, true, &err);
        until_failure = 0;
        if (!again)
            assert_true(err.status == ND_ENOMEM || err.status == ND_EIO);
    }
    expect_same(d, again);
    nd_dedup_free(again);
    nd_dedup_free(d);
}
#endif

static int make_folder(void **state)
{
    (void)state;
    make_texts();
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/x", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_restored_goes_on_as_the_original),
        cmocka_unit_test(an_engine_of_another_recipe_is_refused),
        cmocka_unit_test(rows_that_are_impossible_are_refused),
        cmocka_unit_test(values_behind_a_text_come_back),
#if !HAS_OWN_MALLOC
        cmocka_unit_test(allocations_that_fail_are_errors),
#endif
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
