/* test_signature.c - what holds of signatures of every kind, and the worked examples of the papers
 */
#include "signature_fixture.h"

#include "simd/sketch/sketch_kernels.h"

enum { MOST = 2000 };

static struct nd_feature a[MOST], b[MOST];
static uint64_t words_a[MOST], words_b[MOST];

static void fill(struct nd_feature *f, size_t n, int32_t most)
{
    for (size_t i = 0; i < n; i++)
        f[i] = (struct nd_feature){any(), (int32_t)(1 + any() % (uint64_t)most)};
}

/* Seshasai 2009, Table 3.1: hundredths of the weights, the four bits of the hashes lowest. */
static void the_thesis_example_has_signature_1001(void **state)
{
    static const struct nd_feature word[] = {
        {0x9, 9}, {0xE, 1}, {0x2, 6}, {0x5, 5}, {0xD, 4}}; /* medicare plan democrats health
                                                              negotiate */
    struct nd_feature without[4];
    struct nd_signature_params p = params_of(ND_SIGNATURE_SIMHASH);
    struct nd_signer *s = signer_of(&p);

    (void)state;
    assert_int_equal(sign(s, word, 5).word[0], 0x9);
    memcpy(without, word, sizeof without);
    without[1] = word[4]; /* plan, a less important word, may go */
    assert_int_equal(sign(s, without, 4).word[0], 0x9);
    assert_int_not_equal(sign(s, word + 1, 4).word[0], 0x9); /* medicare may not */
    nd_signer_free(s);
}

static size_t shingles_of(const char *text, struct nd_feature *out)
{
    uint64_t token[16], shingle[16];
    size_t n = 0;

    for (const char *at = text; *at;) {
        size_t len = strcspn(at, " ");

        token[n++] = nd_hash_bytes(at, len);
        at += len + (at[len] == ' ');
    }
    nd_sketch_kernels()->shingles(token, n - 3, 4, shingle);
    for (size_t i = 0; i < n - 3; i++)
        out[i] = (struct nd_feature){shingle[i], 1};
    return n - 3;
}

/* The lecture slides: two sentences about a rose, 4-shingles, resemblance 2 / 8. */
static void the_roses_resemble_by_a_quarter(void **state)
{
    struct nd_signature_params p = params_of(ND_SIGNATURE_FEATURES);
    struct nd_signer *s = signer_of(&p);
    size_t n_a = shingles_of("a rose is red a rose is white", a);
    size_t n_b = shingles_of("a rose is white a rose is red", b);
    struct nd_signature x = copy_of(sign(s, a, n_a), words_a);
    struct nd_signature y = copy_of(sign(s, b, n_b), words_b);
    struct nd_agreement found = nd_signature_compare(&p, &x, &y);

    (void)state;
    assert_int_equal(found.a, 5);
    assert_int_equal(found.b, 5);
    assert_int_equal(found.shared, 2);
    nd_signer_free(s);
}

/*
 * The lecture slides: two sets of five of the values 1000 … 7000 under five permutations.  The
 * sketches share two of five values; the sets three of seven.
 */
static void the_slides_sketches_share_two_of_five(void **state)
{
    static const uint64_t permuted[5][7] = {{568, 1136, 1705, 2273, 2842, 3410, 3979},
                                            {1150, 2301, 3452, 4602, 5753, 6904, 8054},
                                            {9223, 8447, 7671, 6895, 6119, 5343, 4567},
                                            {9376, 8752, 8128, 7504, 6880, 6256, 5633},
                                            {2976, 5952, 8929, 1905, 4881, 7858, 834}};
    static const uint64_t in_a[] = {1, 2, 3, 4, 5}, in_b[] = {1, 2, 5, 6, 7};
    static const uint64_t sketch_a[] = {568, 1150, 6119, 6880, 1905};
    static const uint64_t sketch_b[] = {568, 1150, 4567, 5633, 834};
    struct nd_signature_params p = params_of(ND_SIGNATURE_MINHASH);
    struct nd_signature x = {words_a, 5, 0}, y = {words_b, 5, 0};
    struct nd_agreement found;

    (void)state;
    p.minima = 5;
    for (int i = 0; i < 5; i++) {
        words_a[i] = words_b[i] = UINT64_MAX;
        for (int k = 0; k < 5; k++) {
            uint64_t v = permuted[i][in_a[k] - 1], w = permuted[i][in_b[k] - 1];

            words_a[i] = v < words_a[i] ? v : words_a[i];
            words_b[i] = w < words_b[i] ? w : words_b[i];
        }
    }
    assert_memory_equal(words_a, sketch_a, sizeof sketch_a);
    assert_memory_equal(words_b, sketch_b, sizeof sketch_b);
    found = nd_signature_compare(&p, &x, &y);
    assert_true(found.a == 5 && found.b == 5 && found.shared == 2);
    p.kind = ND_SIGNATURE_FEATURES;
    x.word = in_a;
    y.word = in_b;
    found = nd_signature_compare(&p, &x, &y);
    assert_int_equal(found.shared, 3);
    assert_int_equal(found.a + found.b - found.shared, 7);
}

static bool takes_a_list(enum nd_signature_kind kind)
{
    return kind == ND_SIGNATURE_WINNOWING || kind == ND_SIGNATURE_PROFILE;
}

/* Any order, and for all but those that add up or count, any number of times. */
static void features_are_a_set(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct nd_signature_params p = params_of((enum nd_signature_kind)kind);
        struct nd_signer *s;

        p.lexicons = 3;
        s = signer_of(&p);
        for (size_t n = 1; n < 400; n += 1 + n / 2) {
            size_t twice = kind == ND_SIGNATURE_SIMHASH ? 0 : n / 3;
            struct nd_signature x, y;

            if (kind == ND_SIGNATURE_WINNOWING)
                break;
            fill(a, n, 1000);
            for (size_t i = 0; i < n; i++)
                b[(i * 7 + 3) % n] = a[i]; /* another order unless 7 divides n */
            if (n % 7 == 0)
                memcpy(b, a, n * sizeof *b);
            memcpy(b + n, b, twice * sizeof *b);
            x = copy_of(sign(s, a, n), words_a);
            y = copy_of(sign(s, b, takes_a_list(p.kind) ? n : n + twice), words_b);
            assert_int_equal(x.count, y.count);
            assert_int_equal(x.is_rejected, y.is_rejected);
            assert_true(!x.count || !memcmp(words_a, words_b, x.count * sizeof *words_a));
        }
        nd_signer_free(s);
    }
}

static void a_rejected_signature_equals_nothing(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct nd_signature_params p = params_of((enum nd_signature_kind)kind);
        struct nd_signer *s;
        struct nd_signature x;

        p.reserved_bits = 4;
        p.lexicons = 2;
        s = signer_of(&p);
        fill(a, 3, 9);
        for (int i = 0; i < 3; i++)
            a[i].weight = 0;
        for (size_t n = 0; n <= 3; n += 3) { /* no features, and none with a weight */
            x = sign(s, a, n);
            assert_true(x.is_rejected);
            assert_int_equal(x.count, nd_signature_words(&p));
            for (size_t i = 0; i < x.count; i++)
                assert_int_equal(x.word[i], 0);
            assert_int_equal(nd_signature_compare(&p, &x, &x).shared, 0);
        }
        nd_signer_free(s);
    }
}

/* A document after another must not see anything of it. */
static void a_signer_forgets_its_last_document(void **state)
{
    static const size_t length[] = {1500, 3, 0, 700, 30, 1999, 40};

    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct nd_signature_params p = params_of((enum nd_signature_kind)kind);
        struct nd_signer *old;

        p.lexicons = 10;
        p.secondary = p.least_terms;
        old = signer_of(&p);
        for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
            struct nd_signer *fresh = signer_of(&p);
            struct nd_signature x, y;

            fill(a, length[i], 30000);
            x = sign(old, a, length[i]);
            y = sign(fresh, a, length[i]);
            assert_true(x.count == y.count && x.is_rejected == y.is_rejected);
            assert_true(!x.count || !memcmp(x.word, y.word, x.count * sizeof *x.word));
            nd_signer_free(fresh);
        }
        nd_signer_free(old);
    }
}

static void values_ascend_and_words_are_as_many_as_promised(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t n = 1; n < MOST; n = n * 3 / 2 + 1) {
            struct nd_signature_params p = params_of((enum nd_signature_kind)kind);
            struct nd_signer *s = signer_of(&p);
            struct nd_signature x;

            fill(a, n, 5);
            x = sign(s, a, n);
            if (nd_signature_words(&p))
                assert_int_equal(x.count, nd_signature_words(&p));
            assert_int_equal(nd_signature_words(&p) == 0, nd_signature_form(&p) == ND_FORM_VALUES);
            for (size_t i = 1; nd_signature_form(&p) == ND_FORM_VALUES && i < x.count; i++)
                assert_true(x.word[i - 1] < x.word[i]);
            nd_signer_free(s);
        }
}

/* One equal mega-shingle for each pair of equal super-shingles: any at all where B >= 2. */
static void mega_shingles_say_that_two_super_shingles_are_equal(void **state)
{
    struct nd_signature_params p = params_of(ND_SIGNATURE_SUPERSHINGLES), q = p;
    struct nd_signer *super, *mega;
    unsigned seen = 0;

    (void)state;
    q.kind = ND_SIGNATURE_MEGASHINGLES;
    super = signer_of(&p);
    mega = signer_of(&q);
    assert_int_equal(nd_signature_words(&q), 15);
    for (int trial = 0; trial < 500; trial++) {
        size_t own = any() % 12;
        struct nd_signature x, y;
        uint64_t equal;

        two_sets(a, own, b, own / 2, 200);
        x = copy_of(sign(super, a, 200 + own), words_a);
        y = sign(super, b, 200 + own / 2);
        equal = nd_signature_compare(&p, &x, &y).shared;
        x = copy_of(sign(mega, a, 200 + own), words_a);
        y = sign(mega, b, 200 + own / 2);
        assert_int_equal(nd_signature_compare(&q, &x, &y).shared,
                         equal * (equal - (equal > 0)) / 2);
        seen |= 1u << equal;
    }
    assert_int_equal(seen, 0x7F); /* 0 to 6 of them */
    nd_signer_free(super);
    nd_signer_free(mega);
}

/* Two texts with `window` values in a row in common share one that wins (2003, section 2). */
static void winnowing_finds_every_long_match(void **state)
{
    struct nd_signature_params p = params_of(ND_SIGNATURE_WINNOWING);

    (void)state;
    for (int trial = 0; trial < 400; trial++) {
        struct nd_signer *s;
        struct nd_signature x, y;
        size_t n = 50 + any() % 300, from, to;

        p.window = 1 + (unsigned)(any() % 40);
        s = signer_of(&p);
        fill(a, n, 1);
        fill(b, n, 1);
        from = any() % (n - p.window + 1);
        to = any() % (n - p.window + 1);
        memcpy(b + to, a + from, p.window * sizeof *b);
        x = copy_of(sign(s, a, n), words_a);
        y = sign(s, b, n);
        assert_true(nd_signature_compare(&p, &x, &y).shared >= 1);
        nd_signer_free(s);
    }
}

static void winnowing_keeps_two_of_w_plus_1(void **state)
{
    struct nd_signature_params p = params_of(ND_SIGNATURE_WINNOWING);

    (void)state;
    for (p.window = 1; p.window < 100; p.window = p.window * 2 + 1) {
        struct nd_signer *s = signer_of(&p);
        size_t kept = 0;
        double density;

        for (int trial = 0; trial < 100; trial++) {
            fill(a, MOST, 1);
            kept += sign(s, a, MOST).count;
        }
        density = (double)kept / 100 / MOST * (p.window + 1) / 2;
        assert_true(density > .98 && density < 1.05);
        nd_signer_free(s);
    }
}

/*
 * D = 1 - r is a metric (the lecture slides): with r = shared / union of three random sets, in
 * integers.
 */
static void resemblance_distance_is_a_metric(void **state)
{
    static struct nd_feature set[3][200];
    static uint64_t words[3][200];
    struct nd_signature_params p = params_of(ND_SIGNATURE_FEATURES);
    struct nd_signer *s = signer_of(&p);

    (void)state;
    for (int trial = 0; trial < 3000; trial++) {
        static const int pair[3][2] = {{0, 1}, {1, 2}, {0, 2}};
        uint64_t range = 1 + any() % 60, apart[3], all[3];
        struct nd_signature x[3];

        for (int i = 0; i < 3; i++) {
            size_t n = 1 + any() % 60;

            for (size_t k = 0; k < n; k++)
                set[i][k] = (struct nd_feature){any() % range, 1};
            x[i] = copy_of(sign(s, set[i], n), words[i]);
        }
        for (int i = 0; i < 3; i++) {
            struct nd_agreement f = nd_signature_compare(&p, &x[pair[i][0]], &x[pair[i][1]]);
            struct nd_agreement back = nd_signature_compare(&p, &x[pair[i][1]], &x[pair[i][0]]);
            bool same = f.a == f.b && f.shared == f.a;

            assert_true(f.a == back.b && f.b == back.a && f.shared == back.shared);
            all[i] = f.a + f.b - f.shared;
            apart[i] = all[i] - f.shared;
            assert_int_equal(apart[i] == 0, same);
        }
        for (int i = 0; i < 3; i++) { /* D(i) <= D(j) + D(k) */
            int j = (i + 1) % 3, k = (i + 2) % 3;

            assert_true(apart[i] * all[j] * all[k] <=
                        apart[j] * all[i] * all[k] + apart[k] * all[i] * all[j]);
        }
    }
    nd_signer_free(s);
}

/* Seshasai 2009, §5.2: one factor for the whole document, as length normalisation has. */
static void a_factor_for_all_weights_changes_no_bit(void **state)
{
    struct nd_signature_params p = params_of(ND_SIGNATURE_SIMHASH);
    struct nd_signer *s;

    (void)state;
    p.bits = 512;
    s = signer_of(&p);
    for (int trial = 0; trial < 200; trial++) {
        size_t n = any() % 300;
        int32_t factor = (int32_t)(2 + any() % 50);
        struct nd_signature x, y;

        fill(a, n, ND_WEIGHT_ONE);
        for (size_t i = 0; i < n; i++)
            b[i] = (struct nd_feature){a[i].hash, a[i].weight * factor};
        x = copy_of(sign(s, a, n), words_a);
        y = sign(s, b, n);
        assert_memory_equal(x.word, y.word, 8 * sizeof *x.word);
    }
    nd_signer_free(s);
}

static void reserved_bits_hold_the_length_and_do_not_count(void **state)
{
    static const unsigned widths[] = {32, 64, 384};

    (void)state;
    for (size_t w = 0; w < 3; w++)
        for (unsigned r = 0; r <= ND_SIGNATURE_RESERVED_MAX; r++) {
            struct nd_signature_params p = params_of(ND_SIGNATURE_SIMHASH), plain = p;
            struct nd_features f = {.items = a, .count = 50};
            struct nd_signer *s, *without;
            struct nd_signature x, y;
            uint64_t mask[8] = {0}, before = 0, counted = 0;
            size_t last;

            p.bits = plain.bits = widths[w];
            p.reserved_bits = r;
            last = nd_signature_words(&p) - 1;
            s = signer_of(&p);
            without = signer_of(&plain);
            fill(a, 50, 100);
            x = copy_of(sign(without, a, 50), words_a);
            nd_signature_mask(&p, mask);
            for (size_t i = 0; i <= last; i++)
                counted += (uint64_t)__builtin_popcountll(mask[i]);
            assert_int_equal(counted, p.bits - r);
            for (f.n_tokens = 0; f.n_tokens < UINT64_MAX / 5; f.n_tokens = f.n_tokens * 3 + 1) {
                uint64_t top;

                assert_int_equal(nd_signer_run(s, &f, &y), ND_OK);
                for (size_t i = 0; i <= last; i++)
                    assert_int_equal(y.word[i] & mask[i], x.word[i] & mask[i]);
                top = r ? y.word[last] >> ((p.bits - 1) % 64 + 1 - r) : 0;
                assert_true(top >= before); /* longer: not less */
                before = top;
                assert_int_equal(nd_signature_compare(&p, &x, &y).shared, p.bits - r);
            }
            assert_int_equal(before, (UINT64_C(1) << r) - 1);
            nd_signer_free(s);
            nd_signer_free(without);
        }
}

static void another_seed_gives_another_signature(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct nd_signature_params p = params_of((enum nd_signature_kind)kind);
        struct nd_signer *plain = signer_of(&p), *secret;
        struct nd_signature x, y;

        p.seed = 7;
        secret = signer_of(&p);
        fill(a, 500, 1);
        x = copy_of(sign(plain, a, 500), words_a);
        y = sign(secret, a, 500);
        assert_true(x.count && y.count && !x.is_rejected && !y.is_rejected);
        if (kind == ND_SIGNATURE_SIMHASH)
            assert_true(x.word[0] != y.word[0]);
        else
            assert_int_equal(nd_signature_compare(&p, &x, &y).shared, 0);
        nd_signer_free(plain);
        nd_signer_free(secret);
    }
}

static void reserved_bits_hold_a_field_and_do_not_count(void **state)
{
    struct nd_feature feature[30];
    struct nd_features f = {.items = feature, .count = 30, .n_tokens = 30, .n_terms = 30};
    static const unsigned bits[] = {32, 64, 384};

    (void)state;
    for (size_t i = 0; i < 30; i++)
        feature[i] = (struct nd_feature){nd_mix64(i), ND_WEIGHT_ONE};
    for (size_t k = 0; k < sizeof bits / sizeof *bits; k++)
        for (unsigned r = 1; r <= 16; r += 5) {
            struct nd_signature_params p = nd_signature_params_default();
            unsigned shift = (bits[k] - 1) % 64 + 1 - r;
            struct nd_signature with, other;
            struct nd_signer *s, *t;

            p.bits = bits[k];
            p.reserved_bits = r;
            s = nd_signer_new(&p, NULL, NULL);
            t = nd_signer_new(&p, NULL, NULL);
            f.has_reserved = 1;
            f.reserved = UINT64_C(0xA5C3000000000001);
            assert_int_equal(nd_signer_run(s, &f, &with), ND_OK);
            assert_int_equal(with.word[with.count - 1] >> shift, f.reserved >> (64 - r));
            f.reserved = ~f.reserved;
            assert_int_equal(nd_signer_run(t, &f, &other), ND_OK);
            assert_int_equal(nd_signature_compare(&p, &with, &other).shared, bits[k] - r);
            assert_int_equal(other.word[other.count - 1] >> shift, f.reserved >> (64 - r));
            nd_signer_free(s);
            nd_signer_free(t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_thesis_example_has_signature_1001),
        cmocka_unit_test(the_roses_resemble_by_a_quarter),
        cmocka_unit_test(the_slides_sketches_share_two_of_five),
        cmocka_unit_test(features_are_a_set),
        cmocka_unit_test(a_rejected_signature_equals_nothing),
        cmocka_unit_test(a_signer_forgets_its_last_document),
        cmocka_unit_test(values_ascend_and_words_are_as_many_as_promised),
        cmocka_unit_test(mega_shingles_say_that_two_super_shingles_are_equal),
        cmocka_unit_test(winnowing_finds_every_long_match),
        cmocka_unit_test(winnowing_keeps_two_of_w_plus_1),
        cmocka_unit_test(resemblance_distance_is_a_metric),
        cmocka_unit_test(a_factor_for_all_weights_changes_no_bit),
        cmocka_unit_test(reserved_bits_hold_the_length_and_do_not_count),
        cmocka_unit_test(reserved_bits_hold_a_field_and_do_not_count),
        cmocka_unit_test(another_seed_gives_another_signature),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
