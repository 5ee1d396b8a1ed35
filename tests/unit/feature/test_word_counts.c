/* test_word_counts.c - counting terms by the numbers of their words gives what counting by hashes
 * gives: explaining a document counts by hashes
 */
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

#include <neardup/df.h>
#include <neardup/feature.h>

#include "base/hash.h"
#include "feature/weigh.h"

enum { WORDS = 3000, TEXT = 1 << 16, MANY = 280000, MANY_TEXT = MANY * 9 };

static char text[MANY_TEXT + 1];
static struct nd_markup markup;
static struct nd_document document = {.markup = &markup, .n_markup = 1};
static uint64_t seed;
static struct nd_df *df;

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

/* A text of n words of two dozen, or of the whole vocabulary: with stop words, dates, digits. */
static void write_text(size_t n, unsigned vocabulary)
{
    static const char *const special[] = {"the",    "of", "May",   "2001",
                                          "Monday", "pm", "isn't", "né"};
    size_t at = 0;

    while (n--)
        at += (size_t)(any() % 6 ? sprintf(text + at, "w%x ", (unsigned)(any() % vocabulary))
                                 : sprintf(text + at, "%s, ", special[any() % 8]));
    document.text = (struct nd_view){text, at};
    markup = (struct nd_markup){at / 3, at / 4};
}

/* Check that a run says what explaining says. */
static void compare(struct nd_featurer *f)
{
    struct nd_features made, slow;
    struct nd_feature *at;
    uint32_t *count;
    char *explained;
    size_t len;

    assert_int_equal(nd_featurer_run(f, &document, &made), ND_OK);
    at = malloc((made.count + 1) * sizeof *at);
    count = malloc((made.count + 1) * sizeof *count);
    assert_non_null(at);
    assert_non_null(count);
    for (size_t i = 0; i < made.count; i++) {
        at[i] = made.items[i];
        count[i] = made.df ? made.df[i] : 0;
    }
    assert_int_equal(nd_featurer_explain(f, &document, &explained, &len, &slow), ND_OK);
    free(explained);
    assert_int_equal(made.count, slow.count);
    assert_int_equal(made.n_tokens, slow.n_tokens);
    assert_int_equal(made.n_terms, slow.n_terms);
    assert_true(made.unit == slow.unit);
    for (size_t i = 0; i < made.count; i++) {
        assert_true(at[i].hash == slow.items[i].hash);
        assert_int_equal(at[i].weight, slow.items[i].weight);
        assert_int_equal(count[i], slow.df ? slow.df[i] : 0);
    }
    free(at);
    free(count);
}

/* Documents one after another, some long, some empty, by one featurer. */
static void check(const struct nd_feature_params *p, const struct nd_weight_params *w)
{
    struct nd_error err = {.message = ""};
    struct nd_featurer *f = nd_featurer_new(p, w, df, &err);

    assert_string_equal(err.message, "");
    for (int i = 0; i < 20; i++) {
        write_text(i == 7 ? 0 : any() % (i == 11 ? 6000 : 300), i % 3 ? 24 : WORDS);
        compare(f);
    }
    nd_featurer_free(f);
}

static int build_table(void **state)
{
    char path[] = "/tmp/word-counts-XXXXXX";
    int fd = mkstemp(path);
    struct nd_df_builder_params how = {0};
    struct nd_df_builder *b = nd_df_builder_new(&how, NULL);
    struct nd_feature_params p = nd_feature_params_default();
    struct nd_weight_params w = nd_weight_params_default();
    struct nd_featurer *f = nd_featurer_new(&p, &w, NULL, NULL);
    static uint64_t hash[TEXT];

    (void)state;
    if (fd < 0 || !b || !f)
        return -1;
    for (int i = 0; i < 40; i++) {
        struct nd_features made;

        write_text(500, i % 2 ? 24 : WORDS);
        if (nd_featurer_run(f, &document, &made) != ND_OK)
            return -1;
        for (size_t k = 0; k < made.count; k++)
            hash[k] = made.items[k].hash;
        if (nd_df_builder_add(b, hash, made.count, NULL, NULL) != ND_OK)
            return -1;
    }
    if (nd_df_builder_write(&b, 1, path, NULL) != ND_OK || !(df = nd_df_open(path, NULL)))
        return -1;
    nd_df_builder_free(b);
    nd_featurer_free(f);
    close(fd);
    return unlink(path);
}

static int close_table(void **state)
{
    (void)state;
    nd_df_close(df);
    return 0;
}

static void with_every_weight(void **state)
{
    (void)state;
    for (int idf = ND_IDF_NONE; idf <= ND_IDF_NIDF; idf++)
        for (int position = ND_POSITION_NONE; position <= ND_POSITION_TABLE; position++)
            for (int rule = ND_MARKUP_IGNORE; rule <= ND_MARKUP_ADD; rule++) {
                struct nd_feature_params p = nd_feature_params_default();
                struct nd_weight_params w = nd_weight_params_default();

                w.idf = (enum nd_idf)idf;
                w.tf = (enum nd_tf)(any() % 3);
                w.position = (enum nd_position)position;
                strcpy(w.position_table, "0:1 0.5:0.2 1:1");
                w.markup = (enum nd_markup_rule)rule;
                check(&p, &w);
            }
}

static void with_every_choice_of_terms(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 64; i++) {
        struct nd_feature_params p = nd_feature_params_default();
        struct nd_weight_params w = nd_weight_params_default();

        w.idf = ND_IDF_LOG;
        w.position = i & 1 ? ND_POSITION_COSINE : ND_POSITION_NONE;
        w.markup = i & 2 ? ND_MARKUP_MULTIPLY : ND_MARKUP_IGNORE;
        p.strip = (enum nd_strip)(any() % 3);
        p.least_length = i & 4 ? 3 : 0;
        strcpy(p.stop_words, i & 8 ? "english" : i & 16 ? "df:0.4" : "none");
        p.join_apostrophes = (unsigned char)(i >> 5);
        p.select = i % 3 == 0   ? ND_SELECT_RAREST
                   : i % 5 == 0 ? ND_SELECT_FIRST
                   : i % 7 == 0 ? ND_SELECT_UNCOMMON
                                : ND_SELECT_ALL;
        p.select_count = 7;
        check(&p, &w);
    }
}

/* More words than are kept from one document to the next. */
static void after_very_many_words(void **state)
{
    struct nd_feature_params p = nd_feature_params_default();
    struct nd_weight_params w = nd_weight_params_default();
    struct nd_featurer *f;
    size_t at = 0;

    (void)state;
    w.idf = ND_IDF_LOG;
    w.position = ND_POSITION_LOG;
    f = nd_featurer_new(&p, &w, df, NULL);
    assert_non_null(f);
    for (unsigned i = 0; i < MANY; i++)
        at += (size_t)sprintf(text + at, "x%x ", i);
    document.text = (struct nd_view){text, at};
    compare(f);
    for (int i = 0; i < 3; i++) {
        write_text(1000, WORDS);
        compare(f);
    }
    nd_featurer_free(f);
}

/* Many gains at once are those of words one by one. */
static void gains_of_neighbours(void **state)
{
    static const uint64_t length[] = {1, 2, 3, 600, 1024, 5000, UINT32_MAX};
    static uint16_t mark[700];
    uint32_t gain[700];

    (void)state;
    for (size_t i = 0; i < 700; i++)
        mark[i] = (uint16_t)(any() % 2 ? 0 : any() % (ND_MARK_FULL + 1));
    for (int kind = ND_POSITION_NONE; kind <= ND_POSITION_TABLE; kind++)
        for (size_t l = 0; l < sizeof length / sizeof *length; l++) {
            struct nd_weight_params p = nd_weight_params_default();
            uint64_t n = length[l] < 700 ? length[l] : 700, from[2] = {1, length[l] - n + 1};
            struct nd_weigher *w;

            p.position = (enum nd_position)kind;
            p.markup = l % 2 ? ND_MARKUP_ADD : ND_MARKUP_MULTIPLY;
            strcpy(p.position_table, "0:1 0.5:0.2 1:1");
            w = nd_weigher_new(&p, NULL, false, NULL);
            assert_non_null(w);
            for (int end = 0; end < 2; end++) {
                nd_weigher_gains(w, from[end], n, length[l], end ? mark : NULL, gain);
                for (size_t i = 0; i < n; i++)
                    assert_int_equal(
                        gain[i], nd_weigher_gain(w, from[end] + i, length[l], end ? mark[i] : 0));
            }
            nd_weigher_free(w);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_every_weight),
        cmocka_unit_test(with_every_choice_of_terms),
        cmocka_unit_test(after_very_many_words),
        cmocka_unit_test(gains_of_neighbours),
    };

    return cmocka_run_group_tests(tests, build_table, close_table);
}
