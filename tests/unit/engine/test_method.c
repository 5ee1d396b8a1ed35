/* test_method.c - the engine with signatures and a rule, against the definition of its result */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup.h>

#include "base/hash.h"
#include "engine/engine.h"

enum { DOCUMENTS = 700, TEXT_MAX = 700, SIGNATURES = ND_RECIPE_SIGNATURES };

static uint64_t random_state;

static unsigned below(unsigned n)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return (unsigned)(nd_mix64(random_state) % n);
}

/* A document and all that the definition needs of it. */
struct known {
    char text[TEXT_MAX];
    struct nd_dedup_item item;
    uint64_t identity, n_tokens;
    struct nd_signature signature[SIGNATURES];
};

static struct known *known;

static void make_texts(uint64_t seed)
{
    random_state = seed;
    known = calloc(DOCUMENTS, sizeof *known);
    assert_non_null(known);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        char *text = known[i].text;
        unsigned kind = i ? below(10) : 9;
        size_t len = 0;

        if (i && kind < 6)
            memcpy(text, known[below(i)].text, TEXT_MAX);
        else
            for (unsigned n = kind < 7 ? below(4) : 8 + below(60); n; n--)
                len += (size_t)sprintf(text + len, "w%u ", below(120));
        len = strlen(text);
        for (unsigned n = kind < 5 && len ? below(12) : 0; n; n--) {
            char *digit = &text[below((unsigned)len)];

            if (*digit >= '0' && *digit <= '9')
                *digit = (char)('0' + below(10));
        }
        if (kind == 5 && len) /* equal tokens, other bytes */
            text[len - 1] = '.';
        known[i].item = (struct nd_dedup_item){.text = {text, len}, .group = i % 5 == 0};
    }
}

static void sign_all(const struct nd_method *m)
{
    struct nd_sketch_params words = {.unit = ND_SHINGLE_WORDS, .w = 1};
    struct nd_sketcher *sketcher = nd_sketcher_new(&words, NULL);
    struct nd_sketch sketch;

    assert_non_null(sketcher);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        assert_int_equal(
            nd_sketcher_run(sketcher, known[i].text, known[i].item.text.len, 0, &sketch), ND_OK);
        known[i].identity = sketch.identity;
        known[i].n_tokens = sketch.n_tokens;
    }
    nd_sketcher_free(sketcher);
    for (unsigned s = 0; s < m->n_signatures; s++) {
        const struct nd_recipe_signature *x = &m->signature[s];
        struct nd_featurer *featurer = nd_featurer_new(&x->feature, &x->weight, NULL, NULL);
        struct nd_signer *signer = nd_signer_new(&x->signature, NULL, NULL);

        assert_non_null(featurer);
        assert_non_null(signer);
        for (unsigned i = 0; i < DOCUMENTS; i++) {
            struct nd_document document = {.text = known[i].item.text};
            struct nd_features features;
            struct nd_signature made;
            uint64_t *copy;

            assert_int_equal(nd_featurer_run(featurer, &document, &features), ND_OK);
            assert_int_equal(nd_signer_run(signer, &features, &made), ND_OK);
            copy = malloc(made.count * sizeof *copy + 1);
            assert_non_null(copy);
            if (made.count)
                memcpy(copy, made.word, made.count * sizeof *copy);
            made.word = copy;
            known[i].signature[s] = made;
        }
        nd_featurer_free(featurer);
        nd_signer_free(signer);
    }
}

static void free_all(const struct nd_method *m)
{
    for (unsigned i = 0; i < DOCUMENTS; i++)
        for (unsigned s = 0; s < m->n_signatures; s++)
            free((void *)(uintptr_t)known[i].signature[s].word);
    free(known);
}

/* The rule, written by hand: whether two documents match; counts are of one signature. */
typedef bool (*matches)(const struct nd_agreement *x, const struct known *a, const struct known *b);

static bool rejected(const struct known *a, const struct known *b, unsigned s)
{
    return a->signature[s].is_rejected || b->signature[s].is_rejected;
}

struct expected {
    unsigned kept;
    enum nd_identical identical;
    bool was_cut;
};

struct candidate {
    unsigned document, score;
};

static int by_score(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return a->document < b->document ? -1 : 1;
}

static void agree(const struct nd_method *m, const struct known *a, const struct known *b,
                  struct nd_agreement *x, unsigned *score)
{
    *score = 0;
    for (unsigned s = 0; s < m->n_signatures; s++) {
        uint64_t most;

        x[s] = (struct nd_agreement){0, 0, 0};
        if (rejected(a, b, s))
            continue;
        x[s] = nd_signature_compare(&m->signature[s].signature, &a->signature[s], &b->signature[s]);
        most = x[s].a > x[s].b ? x[s].a : x[s].b;
        if (most && x[s].shared * 65535 / most > *score)
            *score = (unsigned)(x[s].shared * 65535 / most);
    }
}

static void expect_one(const struct nd_method *m, matches rule, unsigned max_checks, unsigned d,
                       struct expected *expected)
{
    static struct candidate list[DOCUMENTS];
    const struct known *me = &known[d];
    unsigned n = 0;

    expected[d] = (struct expected){.kept = d};
    for (int by_tokens = 0; by_tokens < 2; by_tokens++)
        for (unsigned e = 0; e < d; e++) {
            const struct known *other = &known[e];
            bool same = by_tokens ? me->n_tokens && me->identity == other->identity
                                  : me->item.text.len == other->item.text.len &&
                                        memcmp(me->text, other->text, me->item.text.len) == 0;

            if (!same || expected[e].kept != e || me->item.group != other->item.group)
                continue;
            expected[d].kept = e;
            expected[d].identical = by_tokens ? ND_IDENTICAL_TOKENS : ND_IDENTICAL_BYTES;
            return;
        }
    for (unsigned e = 0; e < d && me->n_tokens; e++) {
        struct nd_agreement x[SIGNATURES];
        unsigned score;

        if (expected[e].kept != e || me->item.group != known[e].item.group || !known[e].n_tokens)
            continue;
        agree(m, me, &known[e], x, &score);
        if (rule(x, me, &known[e]))
            list[n++] = (struct candidate){e, score};
    }
    qsort(list, n, sizeof *list, by_score);
    if (n)
        expected[d].kept = list[0].document;
    expected[d].was_cut = n > max_checks;
}

static void compare(const struct nd_dedup_params *p, const struct expected *expected,
                    unsigned threads, unsigned batch_max)
{
    static struct nd_dedup_item items[DOCUMENTS];
    static struct nd_decision got[DOCUMENTS];
    struct nd_dedup_params params = *p;
    struct nd_error err = {ND_OK, ""};
    struct nd_dedup *d;

    params.threads = threads;
    d = nd_dedup_new_with(&params, NULL, &err);
    if (!d)
        fail_msg("%s", err.message);
    for (unsigned i = 0; i < DOCUMENTS; i++)
        items[i] = known[i].item;
    for (unsigned i = 0; i < DOCUMENTS;) {
        unsigned n = 1 + below(batch_max);

        n = n < DOCUMENTS - i ? n : DOCUMENTS - i;
        assert_int_equal(nd_dedup_push(d, items + i, n, got + i, &err), ND_OK);
        i += n;
    }
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        assert_int_equal(got[i].kept, expected[i].kept);
        assert_int_equal(got[i].identical, expected[i].identical);
        assert_int_equal(got[i].was_cut, expected[i].was_cut);
        if (got[i].kept != i && !got[i].identical) {
            struct nd_agreement x[SIGNATURES];
            unsigned score;

            agree(p->method, &known[i], &known[got[i].kept], x, &score);
            assert_memory_equal(got[i].agreement, x, p->method->n_signatures * sizeof *x);
            assert_false(got[i].verified);
        }
    }
    nd_dedup_free(d);
}

static void add_signature(struct nd_method *m, const char *name, enum nd_feature_unit unit,
                          unsigned width, struct nd_signature_params signature)
{
    struct nd_recipe_signature *x = &m->signature[m->n_signatures++];

    *x = (struct nd_recipe_signature){.feature = nd_feature_params_default(),
                                      .weight = nd_weight_params_default(),
                                      .signature = signature};
    strcpy(x->name, name);
    x->feature.unit = unit;
    x->feature.width = width;
}

static struct nd_signature_params of_kind(enum nd_signature_kind kind)
{
    struct nd_signature_params p = nd_signature_params_default();

    p.kind = kind;
    return p;
}

static void check(struct nd_method *m, const char *text, matches rule)
{
    static struct expected expected[DOCUMENTS];
    struct nd_dedup_params p = nd_dedup_params_default();
    unsigned removed = 0;

    strcpy(m->match, text);
    p.sketch.w = 1;
    p.candidates = ND_CANDIDATES_MATCH;
    p.verify = ND_VERIFY_NONE;
    p.method = m;
    make_texts(strlen(text));
    sign_all(m);
    for (p.max_checks = 3; p.max_checks <= 256; p.max_checks += 253) {
        for (unsigned d = 0; d < DOCUMENTS; d++)
            expect_one(m, rule, p.max_checks, d, expected);
        compare(&p, expected, 1, DOCUMENTS);
        compare(&p, expected, 2, 60);
        compare(&p, expected, 4, 300);
        compare(&p, expected, 1, 1);
    }
    for (unsigned d = 0; d < DOCUMENTS; d++)
        removed += expected[d].kept != d && !expected[d].identical;
    assert_true(removed > 10); /* else the case says nothing */
    free_all(m);
}

static bool within_five(const struct nd_agreement *x, const struct known *a, const struct known *b)
{
    return !rejected(a, b, 0) && x[0].a - x[0].shared <= 5;
}

static bool within_forty(const struct nd_agreement *x, const struct known *a, const struct known *b)
{
    return !rejected(a, b, 0) && x[0].a - x[0].shared <= 40;
}

static void bits_match_within_a_distance(void **state)
{
    struct nd_method m = {.n_signatures = 0};
    struct nd_signature_params wide = of_kind(ND_SIGNATURE_SIMHASH);

    (void)state;
    add_signature(&m, "s", ND_FEATURE_TERMS, 1, of_kind(ND_SIGNATURE_SIMHASH));
    check(&m, "distance(s) <= 5", within_five);
    check(&m, "agree(s) >= 59", within_five);
    wide.bits = 384;
    wide.reserved_bits = 4;
    m.n_signatures = 0;
    add_signature(&m, "s", ND_FEATURE_TERMS, 1, wide);
    check(&m, "distance(s) <= 40", within_forty);
}

static bool two_equal(const struct nd_agreement *x, const struct known *a, const struct known *b)
{
    (void)a;
    (void)b;
    return x[0].shared >= 2;
}

static void coordinates_match_by_number(void **state)
{
    struct nd_method m = {.n_signatures = 0};
    struct nd_signature_params p = of_kind(ND_SIGNATURE_SUPERSHINGLES);

    (void)state;
    p.minima = 24;
    p.groups = 8;
    add_signature(&m, "b", ND_FEATURE_SHINGLES, 2, p);
    check(&m, "equal(b) >= 2", two_equal);
}

static bool resemble_half(const struct nd_agreement *x, const struct known *a,
                          const struct known *b)
{
    return !rejected(a, b, 0) && 2 * x[0].shared >= x[0].a + x[0].b - x[0].shared && x[0].a;
}

static bool contain_most(const struct nd_agreement *x, const struct known *a, const struct known *b)
{
    uint64_t least = x[0].a < x[0].b ? x[0].a : x[0].b;

    return !rejected(a, b, 0) && least && 5 * x[0].shared >= 4 * least;
}

static bool overlap_most(const struct nd_agreement *x, const struct known *a, const struct known *b)
{
    uint64_t most = x[0].a > x[0].b ? x[0].a : x[0].b;

    return !rejected(a, b, 0) && most && 5 * x[0].shared >= 4 * most;
}

static bool cosine_most(const struct nd_agreement *x, const struct known *a, const struct known *b)
{
    return !rejected(a, b, 0) && x[0].a && x[0].b &&
           100 * x[0].shared * x[0].shared >= 64 * x[0].a * x[0].b;
}

static bool share_nine(const struct nd_agreement *x, const struct known *a, const struct known *b)
{
    return !rejected(a, b, 0) && x[0].shared >= 9;
}

static bool contain_half_of_three(const struct nd_agreement *x, const struct known *a,
                                  const struct known *b)
{
    uint64_t least = x[0].a < x[0].b ? x[0].a : x[0].b;

    return !rejected(a, b, 0) && least && 2 * x[0].shared >= least && x[0].shared >= 3;
}

static void values_match_by_every_measure(void **state)
{
    struct nd_method m = {.n_signatures = 0};

    (void)state;
    add_signature(&m, "v", ND_FEATURE_SHINGLES, 2, of_kind(ND_SIGNATURE_FEATURES));
    check(&m, "resemblance(v) >= 0.5", resemble_half);
    check(&m, "containment(v) >= 0.8", contain_most);
    check(&m, "overlap(v) >= 4/5", overlap_most);
    check(&m, "cosine(v) >= .8", cosine_most);
    check(&m, "shared(v) >= 9", share_nine);
    check(&m, "containment(v) >= .5 and shared(v) >= 3", contain_half_of_three);
    check(&m, "shared(v) >= 3 and (containment(v) >= 0.5 or shared(v) >= 500)",
          contain_half_of_three);
}

static bool combined(const struct nd_agreement *x, const struct known *a, const struct known *b)
{
    uint64_t least = a->n_tokens < b->n_tokens ? a->n_tokens : b->n_tokens;
    bool c = x[1].a && x[1].a - x[1].shared <= 20;
    bool v = x[2].a && x[2].b && 4 * x[2].shared >= 3 * (x[2].a + x[2].b - x[2].shared);

    return (x[0].shared >= 1 && c) || (v && 10 * least >= 9 * (a->n_tokens + b->n_tokens - least));
}

static void rules_combine(void **state)
{
    struct nd_method m = {.n_signatures = 0};
    struct nd_signature_params b = of_kind(ND_SIGNATURE_SUPERSHINGLES),
                               c = of_kind(ND_SIGNATURE_SIMHASH);

    (void)state;
    b.minima = 16;
    b.groups = 4;
    c.bits = 128;
    add_signature(&m, "B", ND_FEATURE_SHINGLES, 2, b);
    add_signature(&m, "C", ND_FEATURE_TERMS, 1, c);
    add_signature(&m, "terms", ND_FEATURE_TERMS, 1, of_kind(ND_SIGNATURE_FEATURES));
    check(&m, "equal(B) >= 1 and agree(C) >= 108 or resemblance(terms) >= .75 and length >= 0.9",
          combined);
    check(&m,
          "any of (all of (agree(C) >= 108, (equal(B) >= 1)), "
          "(length >= 9/10 and resemblance(terms) >= 3/4))",
          combined);
}

static void what_is_no_rule_is_refused(void **state)
{
    static const struct {
        const char *rule, *message;
    } cases[] = {
        {"", "match: at character 1: expected a test such as distance(NAME) <= 3"},
        {"distanse(s) <= 3", "match: at character 1: no such value; did you mean 'distance'"},
        {"distance(other) <= 3",
         "match: at character 10: no section [signature …] has the name 'other'"},
        {"equal(s) >= 1",
         "match: at character 7: this kind of signature has no such value: 'equal'"},
        {"distance(s) < 3", "match: at character 13: expected '>=' or '<='"},
        {"distance(s) <= 3.5", "match: at character 16: the bound must be a whole number"},
        {"distance(s) <= 3 or", "match: at character 20: expected a test such as "
                                "distance(NAME) <= 3"},
        {"distance(s) <= 3 )", "match: at character 18: expected 'and', 'or' or the end"},
        {"(distance(s) <= 3", "match: at character 18: expected ')'"},
        {"length >= 0.8",
         "match: no candidates can be found by the rule: documents cannot be looked up "
         "by length or reserved bits alone"},
        {"distance(s) >= 3",
         "match: no candidates can be found by the rule: documents cannot be looked "
         "up by how much they differ"},
        {"distance(s) <= 3 or length >= 1",
         "match: no candidates can be found by the rule: documents "
         "cannot be looked up by length or reserved bits alone"},
    };
    struct nd_method m = {.n_signatures = 0};
    struct nd_dedup_params p = nd_dedup_params_default();
    struct nd_error err;

    (void)state;
    add_signature(&m, "s", ND_FEATURE_TERMS, 1, of_kind(ND_SIGNATURE_SIMHASH));
    p.candidates = ND_CANDIDATES_MATCH;
    p.method = &m;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        strcpy(m.match, cases[i].rule);
        assert_null(nd_dedup_new_with(&p, NULL, &err));
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(err.status, ND_EINVAL);
    }
    p.method = NULL;
    assert_null(nd_dedup_new_with(&p, NULL, &err));
    assert_string_equal(err.message,
                        "candidates 'match' needs a section [signature NAME] and a rule 'match'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_match_within_a_distance),
        cmocka_unit_test(coordinates_match_by_number),
        cmocka_unit_test(values_match_by_every_measure),
        cmocka_unit_test(rules_combine),
        cmocka_unit_test(what_is_no_rule_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
