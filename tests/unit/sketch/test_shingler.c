/* test_shingler.c - shingles and identity do not depend on how the tokens are cut into windows */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "sketch/shingler.h"

enum { MOST = 400 };

static uint64_t seed;

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

static void sketch_in_one(struct nd_shingler *s, unsigned w, const uint64_t *token, size_t n,
                          struct nd_sketch *out)
{
    nd_shingler_begin(s, w);
    assert_true(nd_shingler_feed(s, token, n));
    assert_true(nd_shingler_end(s, out));
}

static void windows_do_not_matter(void **state)
{
    struct nd_shingler whole = {0}, cut = {0};
    uint64_t token[MOST];

    (void)state;
    for (unsigned w = 1; w <= ND_SHINGLE_MAX; w++)
        for (size_t n = 0; n < MOST; n += 1 + n / 8) {
            struct nd_sketch a, b;

            for (size_t i = 0; i < n; i++)
                token[i] = any() % 50;
            sketch_in_one(&whole, w, token, n, &a);
            nd_shingler_begin(&cut, w);
            for (size_t done = 0, m; done < n; done += m) {
                m = 1 + any() % (any() % 4 ? 5 : 60);
                m = m < n - done ? m : n - done;
                assert_true(nd_shingler_feed(&cut, token + done, m));
            }
            assert_true(nd_shingler_end(&cut, &b));
            assert_int_equal(a.n_tokens, n);
            assert_int_equal(b.n_tokens, n);
            assert_true(a.identity == b.identity);
            assert_int_equal(a.n_shingles, b.n_shingles);
            if (a.n_shingles)
                assert_memory_equal(a.shingle, b.shingle, a.n_shingles * sizeof *a.shingle);
        }
    nd_shingler_release(&whole);
    nd_shingler_release(&cut);
}

static void a_text_without_tokens_has_nothing(void **state)
{
    struct nd_shingler s = {0};
    struct nd_sketch sketch;

    (void)state;
    sketch_in_one(&s, 3, NULL, 0, &sketch);
    nd_sketch_finish(&sketch, ND_SKETCH_ALL);
    assert_int_equal(sketch.n_shingles, 0);
    assert_true(sketch.identity == 0);
    assert_true(sketch.simhash == 0);
    for (unsigned i = 0; i < ND_MINHASH_COUNT; i++)
        assert_int_equal(sketch.minhash[i], UINT32_MAX);
    nd_shingler_release(&s);
}

/* n tokens alone are no shingle of w = n, nor the beginning of a longer text. */
static void a_short_text_has_one_shingle_of_its_own(void **state)
{
    struct nd_shingler s = {0}, other = {0};
    struct nd_sketch sketch, full;
    uint64_t token[ND_SHINGLE_MAX];

    (void)state;
    for (unsigned i = 0; i < ND_SHINGLE_MAX; i++)
        token[i] = any();
    for (unsigned n = 1; n < ND_SHINGLE_MAX; n++) {
        sketch_in_one(&s, n + 1, token, n, &sketch);
        assert_int_equal(sketch.n_shingles, 1);
        sketch_in_one(&other, n, token, n, &full);
        assert_int_equal(full.n_shingles, 1);
        assert_true(sketch.shingle[0] != full.shingle[0]);
        assert_true(sketch.identity == full.identity);
    }
    nd_shingler_release(&s);
    nd_shingler_release(&other);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* All sequences of up to 5 tokens out of 8 have identities and shingles of their own. */
static void different_sequences_differ(void **state)
{
    enum { TOKENS = 8, LENGTH = 5, SEQUENCES = 8 + 64 + 512 + 4096 + 32768 };
    static uint64_t identity[SEQUENCES], shingle[SEQUENCES];
    struct nd_shingler s = {0};
    size_t count = 0;

    (void)state;
    for (unsigned n = 1, many = TOKENS; n <= LENGTH; n++, many *= TOKENS)
        for (unsigned number = 0; number < many; number++) {
            uint64_t token[LENGTH];
            struct nd_sketch sketch;

            for (unsigned i = 0, rest = number; i < n; i++, rest /= TOKENS)
                token[i] = nd_mix64(rest % TOKENS);
            sketch_in_one(&s, LENGTH, token, n, &sketch);
            identity[count] = sketch.identity;
            shingle[count++] = sketch.shingle[0];
        }
    assert_int_equal(count, SEQUENCES);
    qsort(identity, count, sizeof *identity, by_value);
    qsort(shingle, count, sizeof *shingle, by_value);
    for (size_t i = 1; i < count; i++) {
        assert_true(identity[i] != identity[i - 1]);
        assert_true(shingle[i] != shingle[i - 1]);
    }
    nd_shingler_release(&s);
}

static void equal_texts_have_equal_minima_and_others_few(void **state)
{
    struct nd_shingler s = {0}, t = {0};
    struct nd_sketch a, b;
    uint64_t token[200];

    (void)state;
    for (size_t i = 0; i < 200; i++)
        token[i] = any();
    sketch_in_one(&s, 3, token, 200, &a);
    sketch_in_one(&t, 3, token, 200, &b);
    nd_sketch_finish(&a, ND_SKETCH_ALL);
    nd_sketch_finish(&b, ND_SKETCH_ALL);
    assert_int_equal(nd_minhash_equal(a.minhash, b.minhash), ND_MINHASH_COUNT);
    assert_true(a.simhash == b.simhash);
    for (size_t i = 0; i < 200; i++)
        token[i] = any();
    sketch_in_one(&t, 3, token, 200, &b);
    nd_sketch_finish(&b, ND_SKETCH_ALL);
    assert_true(nd_minhash_equal(a.minhash, b.minhash) < 3);
    nd_shingler_release(&s);
    nd_shingler_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_do_not_matter),
        cmocka_unit_test(a_text_without_tokens_has_nothing),
        cmocka_unit_test(a_short_text_has_one_shingle_of_its_own),
        cmocka_unit_test(different_sequences_differ),
        cmocka_unit_test(equal_texts_have_equal_minima_and_others_few),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
