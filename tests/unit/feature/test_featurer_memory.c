/* test_featurer_memory.c - every allocation of a featurer fails once: no crash, no leak, ND_ENOMEM,
 * and the next document is done as if nothing had been
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <neardup/df.h>
#include <neardup/feature.h>

#include "failing_wraps.h"
#include "text_units.h"

static const char text[] =
    "It isn't a cat's cat. A dog is a cat's dog on the mat, on Monday 5 May, "
    "né. The cat, the dog and another cat, and a dog, are cat and dog!";
static const struct nd_markup markup = {3, 9};
static const struct nd_element element[] = {
    {{"html", 4}, ND_ELEMENT_NONE}, {{"body", 4}, 0}, {{"p", 1}, 1}, {{"p", 1}, 1}};
static const struct nd_document document = {.text = {text, sizeof text - 1},
                                            .markup = &markup,
                                            .n_markup = 1,
                                            .elements = element,
                                            .n_elements = 4};
static struct nd_feature_params params;
static struct nd_weight_params weights;
static struct nd_df *df;

/* Features that a featurer makes when nothing fails. */
static size_t expected_count;
static uint64_t expected_sum;

static uint64_t sum_of(const struct nd_features *made)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < made->count; i++)
        sum = sum * 31 + made->items[i].hash + (uint64_t)made->items[i].weight;
    return sum;
}

/* The status of a featurer that may fail anywhere; run and explain are tried again after. */
static int everything(void)
{
    struct nd_features made;
    struct nd_error err = {.status = ND_OK};
    struct nd_featurer *f = nd_featurer_new(&params, &weights, df, &err);
    struct nd_feature_place *place;
    char *explained = NULL;
    size_t len;
    int status, second;

    if (!f)
        return err.status;
    status = nd_featurer_run(f, &document, &made);
    second = nd_featurer_explain(f, &document, &explained, &len, &made);
    if (second == ND_OK)
        free(explained);
    status = status != ND_OK ? status : second;
    second = nd_featurer_locate(f, &document, &place, &len);
    if (second == ND_OK)
        free(place);
    status = status != ND_OK ? status : second;
    countdown = -1;
    assert_int_equal(nd_featurer_run(f, &document, &made), ND_OK);
    if (!has_failed) {
        expected_count = made.count;
        expected_sum = sum_of(&made);
    }
    nd_featurer_free(f);
    return status;
}

static void check_all(void)
{
    long n = 0;
    struct nd_features made;
    struct nd_featurer *f;

    do {
        int status;

        has_failed = 0;
        countdown = n++;
        status = everything();
        countdown = -1;
        assert_int_equal(status, has_failed ? ND_ENOMEM : ND_OK);
    } while (has_failed);
    assert_true(n > 5); /* it does allocate */
    f = nd_featurer_new(&params, &weights, df, NULL);
    assert_int_equal(nd_featurer_run(f, &document, &made), ND_OK);
    assert_int_equal(made.count, expected_count);
    assert_true(expected_count > 0 && sum_of(&made) == expected_sum);
    nd_featurer_free(f);
}

static void begin(void)
{
    params = nd_feature_params_default();
    weights = nd_weight_params_default();
}

static void terms(void **state)
{
    (void)state;
    begin();
    check_all();
    params.join_apostrophes = 1;
    strcpy(params.stop_words, "english");
    params.strip = ND_STRIP_DATES;
    params.count = ND_FEATURE_OCCURRENCES;
    weights.markup = ND_MARKUP_MULTIPLY;
    strcpy(params.fields, "title");
    check_all();
}

static void paths(void **state)
{
    (void)state;
    begin();
    params.unit = ND_FEATURE_PATHS;
    check_all();
    params.count = ND_FEATURE_OCCURRENCES;
    check_all();
}

static void every_unit(void **state)
{
    (void)state;
    for (unsigned u = 0; u < ND_FEATURE_UNITS; u++) {
        const enum nd_feature_unit unit = (enum nd_feature_unit)u;

        if (!is_text_unit(u))
            continue;
        begin();
        params.unit = unit;
        params.width = 2;
        strcpy(params.stop_words, stop_words_of(unit));
        check_all();
        params.select = ND_SELECT_ANCHORED;
        strcpy(params.anchors, "a");
        if (unit != ND_FEATURE_SENTENCES)
            check_all();
    }
}

static void a_file_of_stop_words(void **state)
{
    char path[] = "/tmp/stop-words-XXXXXX";
    int fd = mkstemp(path);

    (void)state;
    begin();
    assert_true(fd >= 0 && write(fd, "a the\n", 6) == 6);
    strcpy(params.stop_words, path);
    check_all();
    close(fd);
    unlink(path);
}

static void with_a_df_table(void **state)
{
    char path[] = "/tmp/df-XXXXXX";
    int fd = mkstemp(path);
    struct nd_df_builder_params how = {0};
    struct nd_df_builder *b = nd_df_builder_new(&how, NULL);
    struct nd_featurer *f;
    struct nd_features made;
    uint64_t hash[100];

    (void)state;
    begin();
    params.phrases = -1;
    f = nd_featurer_new(&params, &weights, NULL, NULL);
    assert_true(fd >= 0 && b && f);
    assert_int_equal(nd_featurer_run(f, &document, &made), ND_OK);
    assert_in_range(made.count, 30, 100);
    for (size_t i = 0; i < made.count; i++)
        hash[i] = made.items[i].hash;
    for (int i = 0; i < 3; i++)
        assert_int_equal(nd_df_builder_add(b, hash, i ? 2 : made.count, NULL, NULL), ND_OK);
    assert_int_equal(nd_df_builder_write(&b, 1, path, NULL), ND_OK);
    nd_df_builder_free(b);
    nd_featurer_free(f);
    df = nd_df_open(path, NULL);
    assert_non_null(df);
    params.phrases = .5;
    check_all();
    params.phrases = 0;
    weights.position = ND_POSITION_COSINE;
    check_all();
    params.strip = ND_STRIP_DATES;
    weights.position = ND_POSITION_NONE;
    check_all();
    params.strip = ND_STRIP_NONE;
    params.select = ND_SELECT_RAREST;
    params.select_count = 3;
    params.count = ND_FEATURE_OCCURRENCES;
    strcpy(params.stop_words, "df:0.9");
    check_all();
    nd_df_close(df);
    df = NULL;
    close(fd);
    unlink(path);
}

/* Every run of two words in two documents. */
static void with_template_text(void **state)
{
    char path[] = "/tmp/df-XXXXXX";
    int fd = mkstemp(path);
    struct nd_feature_params of = nd_feature_params_default();
    struct nd_df_builder_params how = {.features = &of};
    struct nd_df_builder *b;
    struct nd_featurer *f;
    struct nd_features made;
    struct nd_df *table;
    uint64_t hash[100];

    (void)state;
    begin();
    of.unit = ND_FEATURE_SHINGLES;
    of.width = 2;
    b = nd_df_builder_new(&how, NULL);
    f = nd_featurer_new(&of, &weights, NULL, NULL);
    assert_true(fd >= 0 && b && f);
    assert_int_equal(nd_featurer_run(f, &document, &made), ND_OK);
    for (size_t i = 0; i < made.count; i++)
        hash[i] = made.items[i].hash;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(nd_df_builder_add(b, hash, 8, NULL, NULL), ND_OK);
    assert_int_equal(nd_df_builder_write(&b, 1, path, NULL), ND_OK);
    nd_df_builder_free(b);
    nd_featurer_free(f);
    table = nd_df_open(path, NULL);
    assert_non_null(table);
    params.template_table = table;
    params.template_count = 1;
    check_all();
    weights.template_weight = 0.5;
    check_all();
    nd_df_close(table);
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms),           cmocka_unit_test(every_unit),
        cmocka_unit_test(paths),           cmocka_unit_test(a_file_of_stop_words),
        cmocka_unit_test(with_a_df_table), cmocka_unit_test(with_template_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
