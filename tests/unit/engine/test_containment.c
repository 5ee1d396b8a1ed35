/* test_containment.c - containment and cosine in the engine, against the definition of the result
 */
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
#include "index/containers.h"
#include "match/measure.h"

enum { DOCUMENTS = 300, TEXT_MAX = 6000, WORDS_MAX = TEXT_MAX / 8 };

struct document {
    char text[TEXT_MAX];
    uint64_t identity, n_tokens;
    uint64_t *shingle;
    uint32_t *value;
    struct nd_container_row row;
    uint64_t left_out[WORDS_MAX / 64 + 1];
    bool is_crowded;
    bool is_listed[ND_CONTAINER_TABLES][WORDS_MAX]; /* by the place of the value */
};

static uint64_t random_state;

static unsigned below(unsigned n)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return (unsigned)(nd_mix64(random_state) % n);
}

static size_t add_words(char *text, size_t len, unsigned n, unsigned vocabulary)
{
    for (unsigned i = 0; i < n && len < TEXT_MAX - 16; i++)
        len += (size_t)sprintf(text + len, "w%05u ", below(vocabulary));
    return len;
}

/* Some words become others of the same length. */
static void disturb(char *text, unsigned times)
{
    size_t len = strlen(text);

    for (unsigned i = 0; i < times && len > 1; i++) {
        char *digit = &text[below((unsigned)len)];

        if (*digit >= '0' && *digit <= '9')
            *digit = (char)('0' + below(10));
    }
}

/* Words of their own; an earlier one with words around it; a piece of an earlier one; a copy. */
static void write_text(struct document *d, unsigned i)
{
    const char *from = i ? d[below(i)].text : "";
    unsigned kind = i ? below(10) : 0;
    size_t len = strlen(from);
    char *text = d[i].text;

    if (kind < 3) {
        add_words(text, 0, kind == 2 ? below(4) : 20 + below(300), 3000);
    } else if (kind < 6) {
        size_t at = add_words(text, 0, below(60), 3000);

        len = len < TEXT_MAX - 16 - at ? len : TEXT_MAX - 16 - at;
        memcpy(text + at, from, len);
        text[at += len] = '\0';
        add_words(text, at, below(60), 3000);
    } else {
        size_t start = kind < 9 && len > 1 ? below((unsigned)len / 2) : 0;

        memcpy(text, from + start, len - start + 1);
        if (kind < 9 && len > 40)
            text[(len - start) / 2 + below((unsigned)(len - start) / 2)] = '\0';
    }
    if (below(3))
        disturb(text, below(25));
}

/* Some words of their own, and for the rest of four: nearly all share shingles, and few could match. */
static void write_of_few_words(struct document *d, unsigned i)
{
    size_t at = add_words(d[i].text, 0, below(3) ? 0 : below(40), 3000);

    if (i && below(8) == 0)
        memcpy(d[i].text, d[below(i)].text, TEXT_MAX);
    else
        add_words(d[i].text, at, 5 + below(i % 5 ? 50 : 300), 4);
    if (below(3) == 0)
        disturb(d[i].text, 1);
}

static struct document *make_documents(uint64_t seed, bool of_few_words)
{
    struct nd_sketch_params params = nd_sketch_params_default();
    struct nd_sketcher *s = nd_sketcher_new(&params, NULL);
    struct document *d = calloc(DOCUMENTS, sizeof *d);
    static uint64_t scratch[2 * WORDS_MAX];

    assert_non_null(s);
    assert_non_null(d);
    random_state = seed;
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        struct nd_sketch sketch;
        size_t n;

        (of_few_words ? write_of_few_words : write_text)(d, i);
        assert_int_equal(nd_sketcher_run(s, d[i].text, strlen(d[i].text), ND_SKETCH_ALL, &sketch),
                         ND_OK);
        n = (size_t)sketch.n_shingles;
        d[i].identity = sketch.identity;
        d[i].n_tokens = sketch.n_tokens;
        d[i].shingle = malloc(n * 8 + 8);
        d[i].value = malloc(n * 4 + 4);
        assert_non_null(d[i].shingle);
        assert_non_null(d[i].value);
        if (n)
            memcpy(d[i].shingle, sketch.shingle, n * 8);
        d[i].row = (struct nd_container_row){.value = d[i].value,
                                             .n_shingles = (uint32_t)n,
                                             .n_values = (uint32_t)nd_container_values(
                                                 d[i].shingle, n, 0, NULL, d[i].value, scratch)};
    }
    nd_sketcher_free(s);
    return d;
}

static void free_documents(struct document *d)
{
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        free(d[i].shingle);
        free(d[i].value);
    }
    free(d);
}

/* The place of a value in a row; -1: it has none. */
static int place_of(const struct nd_container_row *row, uint32_t value)
{
    size_t low = 0, high = row->n_values;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (row->value[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < row->n_values && row->value[low] == value ? (int)low : -1;
}

static bool has(const struct nd_container_row *row, uint32_t value)
{
    return place_of(row, value) >= 0;
}

static struct nd_overlap overlap_of(const struct document *a, const struct document *b)
{
    struct nd_overlap o;

    assert_int_equal(
        nd_shingles_overlap(a->shingle, a->row.n_shingles, b->shingle, b->row.n_shingles, &o),
        ND_OK);
    return o;
}

static uint32_t stored_of(const struct nd_dedup_params *p, const struct nd_container_row *row,
                          unsigned sample)
{
    return p->verify == ND_VERIFY_CONTAINMENT_OF_KEPT && row->n_values > sample ? sample
                                                                                : row->n_values;
}

static bool is_left_out(const struct document *d, uint32_t i)
{
    return d->left_out[i / 64] >> i % 64 & 1;
}

static uint64_t need_of(const struct nd_dedup_params *p, const struct nd_container_row *row,
                        unsigned sample, unsigned least)
{
    uint64_t tp = p->threshold.p, tq = p->threshold.q;

    return row->n_values < sample ? (row->n_shingles * tp + tq - 1) / tq : least;
}

static bool is_under(const struct document *b, enum nd_container_table table, uint32_t value)
{
    int place = place_of(&b->row, value);

    return place >= 0 && b->is_listed[table][place];
}

/* Whether a list leads from a to b, where the sample of a is looked for in b, or the other way. */
static bool is_met(const struct document *a, const struct document *b, bool in_kept, uint64_t k)
{
    const struct nd_container_row *row = b->is_crowded || !in_kept ? &b->row : &a->row;
    enum nd_container_table table = b->is_crowded ? ND_CONTAINERS_OVERFLOW
                                    : in_kept     ? ND_CONTAINERS_WHOLE
                                                  : ND_CONTAINERS_SAMPLE;

    for (uint32_t i = 0; i < (b->is_crowded ? row->n_values : k); i++)
        if (is_under(b, table, row->value[i]) && has(&a->row, row->value[i]))
            return true;
    return false;
}

/* The estimate by which candidates are ordered; 0: no candidate.  The rule of index/containers.h.
 */
static unsigned meets(const struct nd_dedup_params *p, const struct document *a,
                      const struct document *b, unsigned sample, unsigned least)
{
    uint64_t x = a->row.n_shingles, y = b->row.n_shingles;
    bool by_smaller = p->verify == ND_VERIFY_COSINE || p->verify == ND_VERIFY_CONTAINMENT_EITHER;
    bool in_kept = p->verify == ND_VERIFY_CONTAINMENT || (by_smaller && x <= y);
    const struct nd_container_row *inner = in_kept ? &a->row : &b->row,
                                  *outer = in_kept ? &b->row : &a->row;
    uint64_t shared = 0, k = inner->n_values < sample ? inner->n_values : sample, score;
    uint64_t tp = p->threshold.p, tq = p->threshold.q;

    if ((p->verify == ND_VERIFY_CONTAINMENT && y * tq < x * tp) ||
        (p->verify == ND_VERIFY_CONTAINMENT_OF_KEPT && x * tq < y * tp) ||
        (p->verify == ND_VERIFY_COSINE && (x * tq * tq < y * tp * tp || y * tq * tq < x * tp * tp)))
        return 0;
    for (uint32_t i = 0; i < k; i++)
        shared += has(outer, inner->value[i]);
    if (shared < need_of(p, inner, sample, least) || !shared || !is_met(a, b, in_kept, k))
        return 0;
    score = shared * 65000 / k;
    if (p->verify == ND_VERIFY_COSINE) {
        uint64_t of = score * score * (x < y ? x : y) / (x < y ? y : x);

        for (score = 0; (score + 1) * (score + 1) <= of;)
            score++;
    }
    return score ? (unsigned)score : 1;
}

struct candidate {
    unsigned document, order;
};

static int by_order(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    if (a->order != b->order)
        return a->order > b->order ? -1 : 1;
    return a->document < b->document ? -1 : 1;
}

struct expected {
    unsigned kept;
    enum nd_identical identical;
    bool was_cut;
};

static uint64_t n_left_out, n_left_out_by_lists;

/* How many documents the tables list under a value. */
static uint32_t *counts_of(uint32_t value)
{
    enum { PLACES = 1 << 18 };
    static struct {
        uint32_t value, n[ND_CONTAINER_TABLES];
    } place[PLACES];
    uint32_t at = value % PLACES;

    if (value == 0) { /* which no shingle has */
        memset(place, 0, sizeof place);
        return NULL;
    }
    while (place[at].value && place[at].value != value)
        at = (at + 1) % PLACES;
    place[at].value = value;
    return place[at].n;
}

/* List a document under a value, unless max_checks are; how many did not fit. */
static unsigned list_under(const struct nd_dedup_params *p, struct document *me,
                           enum nd_container_table table, uint32_t i)
{
    uint32_t *n = &counts_of(me->value[i])[table];

    me->is_listed[table][i] = *n < p->max_checks;
    *n += me->is_listed[table][i];
    return !me->is_listed[table][i];
}

/* Under the values of the sample that list the fewest, enough that some must be shared. */
static unsigned list_sample(const struct nd_dedup_params *p, struct document *me, uint32_t k,
                            uint64_t need)
{
    uint32_t before[1024];
    unsigned full = 0;

    for (uint32_t i = 0; i < k; i++) {
        before[i] = counts_of(me->value[i])[ND_CONTAINERS_SAMPLE];
        full += before[i] >= p->max_checks;
    }
    for (uint64_t n = k - need + 1 + (need - 1 < 3 ? need - 1 : 3); n > 0; n--) {
        uint32_t least = 0;

        for (uint32_t i = 1; i < k; i++)
            least = before[i] < before[least] ? i : least;
        (void)list_under(p, me, ND_CONTAINERS_SAMPLE, least);
        before[least] = UINT32_MAX;
    }
    return full;
}

/* d leads, and is listed by the tables that have room. */
static void list(const struct nd_dedup_params *p, struct document *me, unsigned sample,
                 unsigned least)
{
    uint64_t need = need_of(p, &me->row, sample, least);
    uint32_t k = me->row.n_values < sample ? me->row.n_values : sample;
    unsigned full = 0, of_sample = 0;

    memset(me->is_listed, 0, sizeof me->is_listed);
    if (me->is_crowded) {
        for (uint32_t i = 0; i < stored_of(p, &me->row, sample); i++)
            if (!is_left_out(me, i))
                (void)list_under(p, me, ND_CONTAINERS_OVERFLOW, i);
        return;
    }
    for (uint32_t i = 0; p->verify != ND_VERIFY_CONTAINMENT_OF_KEPT && i < me->row.n_values; i++)
        full += list_under(p, me, ND_CONTAINERS_WHOLE, i) && i < k;
    if (p->verify != ND_VERIFY_CONTAINMENT)
        of_sample = list_sample(p, me, k, need);
    full = full > of_sample ? full : of_sample;
    n_left_out_by_lists += full >= need ? full : 0;
}

/* d leads: it is left out of the values under which max_checks of its candidates stand. */
static void leave_out(const struct nd_dedup_params *p, struct document *all, unsigned d,
                      const struct candidate *list, unsigned n, unsigned sample)
{
    struct document *me = &all[d];

    memset(me->left_out, 0, sizeof me->left_out);
    me->is_crowded = false;
    for (uint32_t i = 0; i < stored_of(p, &me->row, sample); i++) {
        unsigned full = 0;

        for (unsigned c = 0; c < n; c++) {
            const struct document *e = &all[list[c].document];

            for (uint32_t k = 0; k < stored_of(p, &e->row, sample); k++)
                full += e->value[k] == me->value[i] && !is_left_out(e, k);
        }
        if (full < p->max_checks)
            continue;
        me->left_out[i / 64] |= UINT64_C(1) << i % 64;
        me->is_crowded = true;
        n_left_out++;
    }
}

/* The engine's README, "What is decided". */
static void expect_one(const struct nd_dedup_params *p, struct document *all, unsigned d,
                       struct expected *expected, unsigned sample, unsigned least)
{
    static struct candidate candidates[DOCUMENTS];
    struct nd_fraction threshold = nd_measure_threshold(p->verify, p->threshold), best = {0, 1};
    unsigned n = 0;

    expected[d] = (struct expected){.kept = d};
    for (unsigned e = 0; e < d; e++)
        if (expected[e].kept == e && strcmp(all[d].text, all[e].text) == 0) {
            expected[d] = (struct expected){e, ND_IDENTICAL_BYTES, false};
            return;
        }
    if (all[d].n_tokens < p->sketch.w)
        return;
    for (unsigned e = 0; e < d; e++) {
        unsigned order;

        if (expected[e].kept != e || all[e].n_tokens < p->sketch.w)
            continue;
        if (all[d].identity == all[e].identity) {
            expected[d] = (struct expected){e, ND_IDENTICAL_TOKENS, false};
            return;
        }
        order = meets(p, &all[d], &all[e], sample, least);
        if (order)
            candidates[n++] = (struct candidate){e, order};
    }
    qsort(candidates, n, sizeof *candidates, by_order);
    expected[d].was_cut = n > p->max_checks;
    for (unsigned i = 0; i < n && i < p->max_checks; i++) {
        struct nd_overlap o = overlap_of(&all[d], &all[candidates[i].document]);
        struct nd_fraction x = nd_measure(p->verify, &o);
        int more = nd_fraction_compare(x, best);

        if (nd_fraction_compare(x, threshold) < 0 || more < 0 ||
            (more == 0 && candidates[i].document > expected[d].kept))
            continue;
        best = x;
        expected[d].kept = candidates[i].document;
    }
    if (expected[d].kept != d)
        return;
    leave_out(p, all, d, candidates, n, sample);
    list(p, &all[d], sample, least);
}

static void push_all(struct nd_dedup_params p, const struct document *all, unsigned batch,
                     unsigned threads, const struct expected *expected)
{
    static struct nd_dedup_item item[DOCUMENTS];
    static struct nd_decision got[DOCUMENTS];
    struct nd_dedup_stats stats;
    struct nd_dedup *d;

    p.threads = threads;
    d = nd_dedup_new_with(&p, NULL, NULL);
    assert_non_null(d);
    for (unsigned i = 0; i < DOCUMENTS; i++)
        item[i] = (struct nd_dedup_item){.text = {all[i].text, strlen(all[i].text)}};
    for (unsigned i = 0; i < DOCUMENTS; i += batch)
        assert_int_equal(nd_dedup_push(d, item + i, i + batch < DOCUMENTS ? batch : DOCUMENTS - i,
                                       got + i, NULL),
                         ND_OK);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        assert_int_equal(got[i].kept, expected[i].kept);
        assert_int_equal(got[i].identical, expected[i].identical);
        assert_int_equal(got[i].was_cut, expected[i].was_cut);
        if (got[i].kept != i) {
            struct nd_overlap o = overlap_of(&all[i], &all[got[i].kept]);

            assert_memory_equal(&got[i].overlap, &o, sizeof o);
        }
    }
    nd_dedup_get_stats(d, &stats);
    assert_int_equal(stats.crowded_keys, n_left_out + n_left_out_by_lists);
    assert_int_equal(stats.bands, 0);
    assert_true(stats.sample >= 128 && stats.sample_least > 0 && stats.index_bytes > 0);
    nd_dedup_free(d);
}

static const enum nd_verify measures[] = {ND_VERIFY_CONTAINMENT, ND_VERIFY_CONTAINMENT_OF_KEPT,
                                          ND_VERIFY_CONTAINMENT_EITHER, ND_VERIFY_COSINE};

static void check_all(struct nd_dedup_params p, uint64_t seed, bool of_few_words)
{
    static struct expected expected[DOCUMENTS];
    struct document *all = make_documents(seed, of_few_words);
    unsigned sample, least;

    assert_int_equal(nd_sample_choose(p.threshold, p.recall, &sample, &least, NULL), ND_OK);
    n_left_out = n_left_out_by_lists = 0;
    (void)counts_of(0);
    for (unsigned d = 0; d < DOCUMENTS; d++)
        expect_one(&p, all, d, expected, sample, least);
    push_all(p, all, DOCUMENTS, 1, expected);
    push_all(p, all, DOCUMENTS, 2, expected);
    push_all(p, all, 40, 8, expected);
    push_all(p, all, 1, 1, expected);
    free_documents(all);
}

static void each_measure_is_as_defined(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();

    (void)state;
    for (unsigned v = 0; v < 4; v++) {
        p.verify = measures[v];
        for (p.threshold.q = 5; p.threshold.q <= 10; p.threshold.q += 5)
            check_all(p, 100 + v, false);
    }
}

static void few_checks_are_as_defined(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    uint64_t all_left_out = 0, all_by_lists = 0;

    (void)state;
    for (unsigned v = 0; v < 4; v++) {
        p.verify = measures[v];
        p.threshold = (struct nd_ratio){9, 10};
        p.recall = 0.9999;
        for (p.max_checks = 1; p.max_checks <= 9; p.max_checks += p.max_checks < 3 ? 1 : 3) {
            check_all(p, 200 + v, false);
            all_left_out += n_left_out;
            all_by_lists += n_left_out_by_lists;
        }
    }
    assert_true(all_left_out > 100);
    assert_true(all_by_lists > 100);
}

/* Lists fill up, before a batch and within it. */
static void few_words_are_as_defined(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    uint64_t by_lists = 0;

    (void)state;
    for (unsigned v = 0; v < 4; v++) {
        p.verify = measures[v];
        for (p.max_checks = 3; p.max_checks < 200; p.max_checks = 4 * p.max_checks + 1) {
            check_all(p, 300 + v, true);
            by_lists += n_left_out_by_lists;
        }
    }
    assert_true(by_lists > 5000);
}

struct found_pairs {
    struct nd_found_pair at[DOCUMENTS * 40];
    size_t n;
};

static enum nd_status add_pair(void *context, const struct nd_found_pair *pair)
{
    struct found_pairs *list = context;

    assert_true(list->n < DOCUMENTS * 40);
    list->at[list->n++] = *pair;
    return ND_OK;
}

static void push_pairs(struct nd_dedup_params p, const struct document *all, unsigned threads,
                       struct found_pairs *list)
{
    static struct nd_dedup_item item[DOCUMENTS];
    struct nd_dedup *d;

    p.cluster = ND_CLUSTER_PAIRS;
    p.threads = threads;
    d = nd_dedup_new_with(&p, NULL, NULL);
    assert_non_null(d);
    for (unsigned i = 0; i < DOCUMENTS; i++)
        item[i] = (struct nd_dedup_item){.text = {all[i].text, strlen(all[i].text)}};
    list->n = 0;
    for (unsigned i = 0; i < DOCUMENTS; i += 60)
        assert_int_equal(nd_dedup_push_pairs(d, item + i, 60, add_pair, list, NULL), ND_OK);
    nd_dedup_free(d);
}

/* Documents of one sample are found for certain: the same pairs as without an index. */
static void pairs_are_those_of_all_with_all(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct found_pairs *some = calloc(1, sizeof *some), *every = calloc(1, sizeof *every);

    (void)state;
    assert_non_null(some);
    assert_non_null(every);
    p.recall = 0.9999;
    for (unsigned v = 0; v < 4; v++) {
        struct document *all = make_documents(7 + v, false);

        p.verify = measures[v];
        p.candidates = ND_CANDIDATES_ALL;
        push_pairs(p, all, 1, every);
        p.candidates = ND_CANDIDATES_MINHASH;
        for (unsigned threads = 1; threads <= 8; threads *= 2) {
            push_pairs(p, all, threads, some);
            assert_int_equal(some->n, every->n);
            for (size_t i = 0; i < some->n; i++) {
                assert_int_equal(some->at[i].a, every->at[i].a);
                assert_int_equal(some->at[i].b, every->at[i].b);
                assert_memory_equal(&some->at[i].overlap, &every->at[i].overlap,
                                    sizeof(struct nd_overlap));
            }
        }
        assert_true(every->n > 50);
        free_documents(all);
    }
    free(some);
    free(every);
}

static void a_document_is_removed_only_in_the_direction_that_was_asked(void **state)
{
    static const char *const text[] = {
        "one two three four five six seven",
        "and one two three four five six seven but eight nine ten eleven",
        "three four five six seven"};
    static const bool is_removed[4][3] = {
        {false, false, true}, {false, true, false}, {false, true, true}, {false, false, false}};
    struct nd_dedup_item item[3] = {{.group = 0}};

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        item[i].text = (struct nd_view){text[i], strlen(text[i])};
    for (unsigned v = 0; v < 4; v++) {
        struct nd_dedup_params p = nd_dedup_params_default();
        struct nd_decision got[3];
        struct nd_dedup *d;

        p.verify = measures[v];
        p.threads = 1;
        d = nd_dedup_new_with(&p, NULL, NULL);
        assert_non_null(d);
        assert_int_equal(nd_dedup_push(d, item, 3, got, NULL), ND_OK);
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(got[i].kept != i, is_removed[v][i]);
        nd_dedup_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_measure_is_as_defined),
        cmocka_unit_test(few_checks_are_as_defined),
        cmocka_unit_test(few_words_are_as_defined),
        cmocka_unit_test(pairs_are_those_of_all_with_all),
        cmocka_unit_test(a_document_is_removed_only_in_the_direction_that_was_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
