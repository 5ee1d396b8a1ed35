/* test_signature_chance.c - what the papers prove or measure of chances, within sampling errors
 *
 * The random numbers are the same on each run.  Bounds are four standard errors where nothing else
 * is said.
 */
#define _GNU_SOURCE /* M_PI */
#include "signature_fixture.h"

#include <math.h>

#include "simd/signature/signature_kernels.h"

enum { MOST = 3000 };

static struct nd_feature a[MOST], b[MOST];
static uint64_t words_a[MOST], words_b[MOST];

static double error_of(double p, double trials)
{
    return 4 * sqrt(p * (1 - p) / trials);
}

/* The mean share of equal coordinates of sets of resemblance 1/3, 1/2, 4/5, and its mean square. */
static void equal_coordinates(const struct nd_signature_params *p, size_t shared, size_t own,
                              unsigned trials, double *mean, double *square)
{
    double j = (double)shared / (double)(shared + 2 * own);
    struct nd_signer *s = signer_of(p);

    *mean = *square = 0;
    for (unsigned t = 0; t < trials; t++) {
        struct nd_signature x, y;
        struct nd_agreement f;
        double share;

        two_sets(a, own, b, own, shared);
        x = copy_of(sign(s, a, shared + own), words_a);
        y = sign(s, b, shared + own);
        f = nd_signature_compare(p, &x, &y);
        share = (double)f.shared / (double)f.a;
        *mean += share / trials;
        *square += (share - j) * (share - j) / trials;
    }
    nd_signer_free(s);
}

/* P(min equal) = J (Broder 1997), and no worse than m independent permutations would be. */
static void minima_are_equal_as_often_as_sets_resemble(void **state)
{
    static const unsigned count[] = {20, 84, 128, 256, 1024};
    static const size_t set[][2] = {{40, 40}, {100, 50}, {400, 50}};

    (void)state;
    for (unsigned function = 0; function <= ND_HASH_SHA1; function++)
        for (size_t c = 0; c < sizeof count / sizeof *count; c++)
            for (size_t k = 0; k < 3; k++) {
                struct nd_signature_params p = params_of(ND_SIGNATURE_MINHASH);
                const double j = (double)set[k][0] / (double)(set[k][0] + 2 * set[k][1]);
                const unsigned trials = 60000 / count[c];
                double mean, square;

                p.hash = (enum nd_hash_function)function;
                p.minima = count[c];
                p.seed = 1 + any();
                equal_coordinates(&p, set[k][0], set[k][1], trials, &mean, &square);
                assert_true(fabs(mean - j) < error_of(j, (double)trials * count[c]));
                /* A mean square of `trials` squares: their deviation is sqrt(2 / trials). */
                assert_true(square / (j * (1 - j) / count[c]) < 1 + 4 * sqrt(2.0 / trials));
            }
}

/*
 * A super-shingle of r minima is equal with probability J^r (Henzinger 2006, Seshasai 2009,
 * §2.4.1).
 */
static void super_shingles_are_equal_as_often_as_all_their_minima(void **state)
{
    static const unsigned groups[] = {6, 12, 84};

    (void)state;
    for (size_t g = 0; g < 3; g++) {
        struct nd_signature_params p = params_of(ND_SIGNATURE_SUPERSHINGLES);
        double expected = pow(450. / 460, 84. / groups[g]), mean, square;

        p.groups = groups[g];
        equal_coordinates(&p, 450, 5, 3000, &mean, &square);
        assert_true(fabs(mean - expected) < error_of(expected, 3000 * 6));
    }
}

static void values_estimate_resemblance_and_containment(void **state)
{
    static const enum nd_signature_kind kinds[] = {ND_SIGNATURE_BOTTOM_K, ND_SIGNATURE_MOD_P,
                                                   ND_SIGNATURE_FEATURES};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct nd_signature_params p = params_of(kinds[k]);
        struct nd_signer *s;
        double both = 0, all = 0, in_a = 0;

        p.bits = k == 1 ? 40 : 64;
        p.minima = 64;
        s = signer_of(&p);
        for (unsigned t = 0; t < 1000; t++) {
            struct nd_signature x, y;
            struct nd_agreement f;

            two_sets(a, 100, b, 400, 300);
            x = copy_of(sign(s, a, 400), words_a);
            y = sign(s, b, 700);
            f = nd_signature_compare(&p, &x, &y);
            both += (double)f.shared;
            all += (double)(f.a + f.b - f.shared);
            in_a += (double)f.a;
        }
        assert_true(fabs(both / all - 300. / 800) < error_of(300. / 800, all));
        assert_true(fabs(both / in_a - 300. / 400) < error_of(300. / 400, in_a));
        if (k == 1) /* 4% of the features (Broder 1997) */
            assert_true(fabs(all / (1000 * 800.) - 1. / 25) < error_of(1. / 25, 1000 * 800));
        nd_signer_free(s);
    }
}

/* Charikar (2002), of whom Manku 2007, §2: bits differ with probability angle / pi. */
static void bits_differ_as_the_angle_says(void **state)
{
    static const size_t own[] = {0, 10, 100, 500};

    (void)state;
    for (unsigned bits = 64; bits <= 512; bits *= 8)
        for (size_t k = 0; k < 4; k++) {
            struct nd_signature_params p = params_of(ND_SIGNATURE_SIMHASH);
            struct nd_signer *s;
            double differ = 0, expected = 0;
            unsigned trials = 40000 / bits;

            p.bits = bits;
            s = signer_of(&p);
            for (unsigned t = 0; t < trials; t++) {
                size_t n = 500 + own[k];
                double ab = 0, aa = 0, bb = 0;
                struct nd_signature x, y;

                two_sets(a, own[k], b, own[k], 500);
                for (size_t i = 0; i < n; i++) {
                    double w = 1 + (double)(a[i].hash % 1000), v = 1 + (double)(b[i].hash % 1000);

                    a[i].weight = (int32_t)w;
                    b[i].weight = (int32_t)v;
                    aa += w * w;
                    bb += v * v;
                    ab += i < 500 ? w * w : 0;
                }
                expected += acos(fmin(1, ab / sqrt(aa * bb))) / M_PI / trials;
                x = copy_of(sign(s, a, n), words_a);
                y = sign(s, b, n);
                differ += 1 - (double)nd_signature_compare(&p, &x, &y).shared / bits;
            }
            /* .002: the sums of 500 features are not quite normal. */
            assert_true(fabs(differ / trials - expected) <=
                        error_of(expected, (double)trials * bits) + .002 * (own[k] > 0));
            nd_signer_free(s);
        }
}

/*
 * Seshasai 2009, §7.1.1: with the weight of the n-th smallest sum and one unit more, another value
 * of the field changes the simhash except with probability 2^-n.
 */
static void a_forced_field_changes_the_simhash(void **state)
{
    enum { TRIALS = 20000 };
    struct nd_signature_params p = params_of(ND_SIGNATURE_SIMHASH);
    struct nd_signer *s = signer_of(&p);

    (void)state;
    for (int n = 1; n <= 4; n++) {
        unsigned changed = 0;

        for (unsigned t = 0; t < TRIALS; t++) {
            struct nd_feature field = {any(), n};
            struct nd_features f = {.items = a, .count = 60, .forced = &field, .n_forced = 1};
            struct nd_signature x;
            uint64_t before;

            for (size_t i = 0; i < f.count; i++)
                a[i] = (struct nd_feature){any(), (int32_t)(1 + any() % ND_WEIGHT_ONE)};
            assert_int_equal(nd_signer_run(s, &f, &x), ND_OK);
            before = x.word[0];
            field.hash = any();
            assert_int_equal(nd_signer_run(s, &f, &x), ND_OK);
            changed += x.word[0] != before;
        }
        assert_true(fabs((double)changed / TRIALS - (1 - pow(2, -n))) <
                    error_of(pow(2, -n), TRIALS));
    }
    nd_signer_free(s);
}

/* Terms of the primary lexicon of the table in the fixture: 16 <= df <= 1024. */
static struct nd_feature lexicon_term(void)
{
    struct nd_feature f = {any(), 1};

    while (df_of(NULL, f.hash) < 16 || df_of(NULL, f.hash) > 1024)
        f.hash = any();
    return f;
}

/*
 * Kolcz 2004, §4: after n changes of words of the lexicon, one of K randomized lexicons still gives
 * the same with probability 1 - (1 - p^n)^K; the primary one never does.
 */
static void signatures_are_as_stable_as_the_formula_says(void **state)
{
    enum { TRIALS = 6000, WORDS = 60 };
    static const unsigned copies[] = {2, 5, 10};

    (void)state;
    for (size_t c = 0; c < 3; c++)
        for (unsigned n = 0; n <= 8; n += n < 4 ? 1 : 2) {
            struct nd_signature_params p = params_of(ND_SIGNATURE_IMATCH);
            double expected = 1 - pow(1 - pow(.33, n), copies[c]);
            unsigned stable = 0;
            struct nd_signer *s;

            p.lexicons = copies[c];
            s = signer_of(&p);
            for (unsigned t = 0; t < TRIALS; t++) {
                size_t removed = any() % (n + 1);
                struct nd_signature x, y;

                for (size_t i = 0; i < WORDS + n - removed; i++)
                    a[i] = lexicon_term();
                x = copy_of(sign(s, a, WORDS), words_a);
                y = sign(s, a + removed, WORDS + n - 2 * removed); /* some go, some come */
                if (n > 0)
                    assert_true(x.word[0] != y.word[0]);
                stable += nd_signature_compare(&p, &x, &y).shared > 0;
            }
            assert_true(fabs((double)stable / TRIALS - expected) <=
                        error_of(expected, TRIALS) + 1e-12);
            nd_signer_free(s);
        }
}

/* Copies are independent: of each other, and from term to term. */
static void randomized_lexicons_share_what_chance_says(void **state)
{
    struct nd_signature_params p = params_of(ND_SIGNATURE_IMATCH);
    struct nd_signer *s;
    uint64_t sum[8] = {0}, count[8] = {0}, pairs = 0;

    (void)state;
    p.lexicons = 8;
    p.bootstrap = 1; /* keeps 1 - 1/e (Kolcz 2004, §6.8) */
    s = signer_of(&p);
    for (unsigned t = 0; t < 40000; t++) {
        const struct nd_lexicons lexicons = {s->key, 8, s->drop};
        uint64_t one[8] = {0}, term = any();

        nd_signature_kernels()->lexicons(&lexicons, &term, &term, 1, sum, one);
        for (int k = 0; k < 8; k++) {
            count[k] += one[k];
            for (int l = 0; l < k; l++)
                pairs += one[k] & one[l];
        }
    }
    for (int k = 0; k < 8; k++)
        assert_true(fabs((double)count[k] / 40000 - (1 - exp(-1))) < error_of(1 - exp(-1), 40000));
    assert_true(fabs((double)pairs / (28 * 40000) - pow(1 - exp(-1), 2)) <
                4 * error_of(.4, 28 * 40000)); /* pairs of the same copies are not independent */
    nd_signer_free(s);
}

/* Manku 2007, §5.4d: one word more changes one checksum. */
static void a_word_changes_one_checksum(void **state)
{
    struct nd_signature_params p = params_of(ND_SIGNATURE_CHECKSUMS);
    struct nd_signer *s;

    (void)state;
    p.groups = 8;
    s = signer_of(&p);
    for (unsigned t = 0; t < 500; t++) {
        struct nd_signature x, y;

        for (size_t i = 0; i < 301; i++)
            a[i] = (struct nd_feature){any(), 1};
        x = copy_of(sign(s, a, 300), words_a);
        y = copy_of(sign(s, a, 301), words_b);
        assert_int_equal(nd_signature_compare(&p, &x, &y).shared, 7);
    }
    nd_signer_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minima_are_equal_as_often_as_sets_resemble),
        cmocka_unit_test(super_shingles_are_equal_as_often_as_all_their_minima),
        cmocka_unit_test(values_estimate_resemblance_and_containment),
        cmocka_unit_test(bits_differ_as_the_angle_says),
        cmocka_unit_test(a_forced_field_changes_the_simhash),
        cmocka_unit_test(signatures_are_as_stable_as_the_formula_says),
        cmocka_unit_test(randomized_lexicons_share_what_chance_says),
        cmocka_unit_test(a_word_changes_one_checksum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
