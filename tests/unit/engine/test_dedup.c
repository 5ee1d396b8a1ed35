/* test_dedup.c - the engine against the definition of its result, gone through one document at a
 * time */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup.h>

#include "base/hash.h"
#include "base/thread/pool.h"
#include "engine/engine.h"

#include "sized.h"

enum { DOCUMENTS = 1500, TEXT_MAX = 1200 };

struct corpus {
    char (*text)[TEXT_MAX];
    struct nd_dedup_item item[DOCUMENTS];
};

static uint64_t random_state;
static bool has_labels; /* of the corpora that are made */

static unsigned below(unsigned n)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return (unsigned)(nd_mix64(random_state) % n);
}

static size_t add_words(char *text, size_t len, unsigned n_words, unsigned vocabulary)
{
    for (unsigned i = 0; i < n_words && len < TEXT_MAX - 16; i++)
        len += (size_t)sprintf(text + len, "w%u ", below(vocabulary));
    return len;
}

/* Replace some words by others of the same length, so that the resemblance takes every value. */
static void disturb(char *text, size_t len, unsigned times)
{
    for (unsigned i = 0; i < times && len > 1; i++) {
        char *digit = &text[below((unsigned)len)];

        if (*digit >= '0' && *digit <= '9')
            *digit = (char)('0' + below(10));
    }
}

/* Sets of labels: how many, then these.  Some are there twice, as others may write them. */
static const uint32_t *const label_set[] = {NULL,
                                            (const uint32_t[]){0},
                                            (const uint32_t[]){1, 7},
                                            (const uint32_t[]){1, 7},
                                            (const uint32_t[]){1, 9},
                                            (const uint32_t[]){2, 7, 9},
                                            (const uint32_t[]){2, 8, 9},
                                            (const uint32_t[]){3, 7, 8, 9}};

static bool has_label(const uint32_t *set, uint32_t label)
{
    for (uint32_t i = 0; set && i < set[0]; i++)
        if (set[i + 1] == label)
            return true;
    return false;
}

/* Whether everyone who may see d may see e, who has all labels of e. */
static bool may_stand_for(const struct nd_dedup_item *e, const struct nd_dedup_item *d)
{
    for (uint32_t i = 0; e->labels && i < e->labels[0]; i++)
        if (!has_label(d->labels, e->labels[i + 1]))
            return false;
    return true;
}

/*
 * Families of texts that differ by more and more, exact copies, copies with another punctuation,
 * empty and short ones, in two groups: every rule of the definition meets some of them.
 */
static struct corpus *make_corpus(uint64_t seed)
{
    struct corpus *c = calloc(1, sizeof *c);

    assert_non_null(c);
    random_state = seed;
    c->text = calloc(DOCUMENTS, sizeof *c->text);
    assert_non_null(c->text);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        unsigned kind = i ? below(10) : 9, from = i ? below(i) : 0;
        size_t len;

        if (i && kind < 6)
            memcpy(c->text[i], c->text[from], TEXT_MAX);
        else if (kind < 8)
            add_words(c->text[i], 0, below(4), 20);
        else
            add_words(c->text[i], 0, 10 + below(100), 100);
        len = strlen(c->text[i]);
        if (kind < 4)
            disturb(c->text[i], len, kind ? below(12) : 1);
        if (kind == 4 && len)
            c->text[i][len - 1] = '.';
        c->item[i].text = (struct nd_view){c->text[i], len};
        c->item[i].group = i % 7 == 0;
        if (has_labels)
            c->item[i].labels = label_set[below(sizeof label_set / sizeof *label_set)];
    }
    return c;
}

static void free_corpus(struct corpus *c)
{
    free(c->text);
    free(c);
}

/* The properties of a document that the definition needs. */
struct known {
    struct nd_sketch sketch;
    uint64_t *shingle;
};

static struct known *read_all(const struct corpus *c, const struct nd_dedup_params *params)
{
    struct nd_sketcher *s = nd_sketcher_new(&params->sketch, NULL);
    struct known *known = calloc(DOCUMENTS, sizeof *known);

    assert_non_null(s);
    assert_non_null(known);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        struct nd_view text = c->item[i].text;

        assert_int_equal(nd_sketcher_run(s, text.data, text.len, ND_SKETCH_ALL, &known[i].sketch),
                         ND_OK);
        known[i].shingle = malloc((size_t)known[i].sketch.n_shingles * 8 + 1);
        assert_non_null(known[i].shingle);
        if (known[i].sketch.n_shingles)
            memcpy(known[i].shingle, known[i].sketch.shingle,
                   (size_t)known[i].sketch.n_shingles * 8);
    }
    nd_sketcher_free(s);
    return known;
}

static void free_known(struct known *known)
{
    for (unsigned i = 0; i < DOCUMENTS; i++)
        free(known[i].shingle);
    free(known);
}

static bool same_bytes(const struct corpus *c, unsigned a, unsigned b)
{
    return c->item[a].group == c->item[b].group && c->item[a].text.len == c->item[b].text.len &&
           memcmp(c->text[a], c->text[b], c->item[a].text.len) == 0;
}

static unsigned equal_low_bytes(const struct known *a, const struct known *b)
{
    unsigned equal = 0;

    for (int i = 0; i < ND_MINHASH_COUNT; i++)
        equal += (a->sketch.minhash[i] & 255) == (b->sketch.minhash[i] & 255);
    return equal;
}

/* The greatest c for which fewer than c of 128 low bytes agree with probability below 1e-15, at the
 * threshold rounded down to a hundredth. */
static unsigned agreeing(struct nd_ratio threshold)
{
    long double p = (long double)(threshold.p * 100 / threshold.q) / 100, sum = 0;

    for (unsigned c = 0; c <= ND_MINHASH_COUNT; c++) {
        long double term = 1;

        for (unsigned i = 0; i < ND_MINHASH_COUNT; i++) /* large and small factors in turn */
            term *= i < c ? p * (long double)(ND_MINHASH_COUNT - i) / (long double)(c - i) : 1 - p;
        sum += term;
        if (sum >= 1e-15L)
            return c;
    }
    return ND_MINHASH_COUNT;
}

static bool has_band(const struct known *a, const struct known *b, unsigned band, unsigned rows)
{
    for (unsigned r = 0; r < rows; r++)
        if ((a->sketch.minhash[band * rows + r] & 255) !=
            (b->sketch.minhash[band * rows + r] & 255))
            return false;
    return true;
}

static bool share_band(const struct known *a, const struct known *b, unsigned bands, unsigned rows)
{
    for (unsigned band = 0; band < bands; band++)
        if (has_band(a, b, band, rows))
            return true;
    return false;
}

static struct nd_overlap overlap_of(const struct known *a, const struct known *b)
{
    struct nd_overlap o;

    assert_int_equal(nd_shingles_overlap(a->shingle, (size_t)a->sketch.n_shingles, b->shingle,
                                         (size_t)b->sketch.n_shingles, &o),
                     ND_OK);
    return o;
}

static bool reaches(struct nd_overlap o, struct nd_ratio t)
{
    return o.shared * t.q >= t.p * (o.a + o.b - o.shared) && o.shared > 0;
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

static uint64_t n_left_out; /* keys, in all of a corpus, */
static uint64_t n_crowded;  /* and of these, with too few candidates for that */

struct expected {
    unsigned kept;
    enum nd_identical identical;
    struct nd_overlap overlap;
    bool was_cut;
    bool is_left_out[ND_MINHASH_COUNT]; /* of a key, where it leads */
};

/* Whether a and b stand under one key of a band, or of one of the k + 1 blocks of the simhash. */
static bool has_key(const struct known *a, const struct known *b, const struct nd_dedup_params *p,
                    unsigned rows, unsigned key)
{
    unsigned blocks = p->simhash_bits + 1, from, to;

    if (p->candidates == ND_CANDIDATES_MINHASH)
        return has_band(a, b, key, rows);
    from = key * 64 / blocks;
    to = (key + 1) * 64 / blocks;
    for (unsigned bit = from; bit < to; bit++)
        if ((a->sketch.simhash ^ b->sketch.simhash) >> bit & 1)
            return false;
    return true;
}

static unsigned key_count(const struct nd_dedup_params *p, unsigned bands)
{
    if (p->candidates == ND_CANDIDATES_MINHASH)
        return bands;
    return p->candidates == ND_CANDIDATES_SIMHASH ? p->simhash_bits + 1 : 0;
}

/* Near enough to be compared, were they to meet. */
static bool meet(const struct known *a, const struct known *b, const struct nd_dedup_params *p)
{
    uint64_t least =
        a->sketch.n_shingles < b->sketch.n_shingles ? a->sketch.n_shingles : b->sketch.n_shingles;
    uint64_t most = a->sketch.n_shingles + b->sketch.n_shingles - least;
    unsigned distance = (unsigned)__builtin_popcountll(a->sketch.simhash ^ b->sketch.simhash);

    if (p->verify != ND_VERIFY_NONE && least * p->threshold.q < p->threshold.p * most)
        return false;
    switch (p->candidates) {
    case ND_CANDIDATES_MINHASH:
        return p->verify == ND_VERIFY_NONE || equal_low_bytes(a, b) >= agreeing(p->threshold);
    case ND_CANDIDATES_SIMHASH: return distance <= p->simhash_bits;
    case ND_CANDIDATES_IDENTITY: return a->sketch.identity == b->sketch.identity;
    case ND_CANDIDATES_MATCH: assert_true(false); break; /* test_method.c */
    case ND_CANDIDATES_ALL: break;
    }
    return true;
}

/* Whether d finds the leader e: by a key that they share, and of which e is not left out. */
static bool finds(const struct known *known, const struct nd_dedup_params *p, unsigned bands,
                  unsigned rows, unsigned d, unsigned e, const struct expected *expected)
{
    unsigned n = key_count(p, bands);

    for (unsigned key = 0; key < n; key++)
        if (!expected[e].is_left_out[key] && has_key(&known[d], &known[e], p, rows, key))
            return true;
    return n == 0;
}

/* How many documents a key lists: max_checks, and twice as many for each bit that it has fewer than 24. */
static uint64_t room_of(const struct nd_dedup_params *p, unsigned rows)
{
    unsigned bits = p->candidates == ND_CANDIDATES_MINHASH ? 8 * rows : 64 / (p->simhash_bits + 1);

    return (uint64_t)p->max_checks << (bits < 24 ? 24 - bits : 0);
}

static bool is_listed_under(const struct known *known, const struct nd_dedup_params *p,
                            unsigned rows, unsigned d, unsigned e, unsigned key,
                            const struct expected *expected)
{
    return !expected[e].is_left_out[key] && has_key(&known[d], &known[e], p, rows, key);
}

/* d leads: it is left out of the keys under which max_checks of its candidates stand, or as many
 * documents as a key lists. */
static void leave_out(const struct corpus *c, const struct known *known,
                      const struct nd_dedup_params *p, unsigned bands, unsigned rows, unsigned d,
                      const struct candidate *list, unsigned n, struct expected *expected)
{
    for (unsigned key = 0; key < key_count(p, bands); key++) {
        unsigned full = 0, all = 0;

        for (unsigned i = 0; i < n; i++)
            full += is_listed_under(known, p, rows, d, list[i].document, key, expected);
        for (unsigned e = 0; e < d; e++)
            all += expected[e].kept == e && known[e].sketch.n_tokens >= p->sketch.w &&
                   c->item[d].group == c->item[e].group &&
                   is_listed_under(known, p, rows, d, e, key, expected);
        expected[d].is_left_out[key] = full >= p->max_checks || all >= room_of(p, rows);
        n_left_out += expected[d].is_left_out[key];
        n_crowded += full < p->max_checks && all >= room_of(p, rows);
    }
}

/* The engine's README, "What is decided", word for word. */
static void expect_one(const struct corpus *c, const struct known *known,
                       const struct nd_dedup_params *p, unsigned bands, unsigned rows, unsigned d,
                       struct expected *expected)
{
    static struct candidate list[DOCUMENTS];
    const struct known *me = &known[d];
    bool is_short = me->sketch.n_tokens < p->sketch.w;
    unsigned n = 0;

    expected[d] = (struct expected){.kept = d};
    for (unsigned e = 0; e < d; e++) {
        if (expected[e].kept != e || !same_bytes(c, d, e) ||
            !may_stand_for(&c->item[e], &c->item[d]) ||
            (is_short && p->short_policy == ND_SHORT_KEEP))
            continue;
        expected[d] = (struct expected){.kept = e, .identical = ND_IDENTICAL_BYTES};
        expected[d].overlap = overlap_of(me, &known[e]);
        return;
    }
    if (me->sketch.n_tokens == 0 || (is_short && p->short_policy != ND_SHORT_TOKENS))
        return;
    for (unsigned e = 0; e < d; e++) {
        bool takes_part = known[e].sketch.n_tokens >= p->sketch.w ||
                          (p->short_policy == ND_SHORT_TOKENS && known[e].sketch.n_tokens);

        if (expected[e].kept != e || !takes_part || c->item[d].group != c->item[e].group ||
            !may_stand_for(&c->item[e], &c->item[d]))
            continue;
        if (me->sketch.identity == known[e].sketch.identity) {
            expected[d] = (struct expected){.kept = e, .identical = ND_IDENTICAL_TOKENS};
            expected[d].overlap = overlap_of(me, &known[e]);
            return;
        }
        if (!meet(me, &known[e], p) || !finds(known, p, bands, rows, d, e, expected))
            continue;
        list[n++] =
            (struct candidate){e, p->candidates == ND_CANDIDATES_SIMHASH
                                      ? 64 - (unsigned)__builtin_popcountll(me->sketch.simhash ^
                                                                            known[e].sketch.simhash)
                                      : equal_low_bytes(me, &known[e])};
    }
    if (p->candidates == ND_CANDIDATES_MINHASH || p->candidates == ND_CANDIDATES_SIMHASH)
        qsort(list, n, sizeof *list, by_order);
    expected[d].was_cut = p->candidates != ND_CANDIDATES_ALL && n > p->max_checks;
    for (unsigned i = 0; i < n && (i < p->max_checks || p->candidates == ND_CANDIDATES_ALL); i++) {
        struct nd_overlap o = overlap_of(me, &known[list[i].document]), best = expected[d].overlap;
        uint64_t left = o.shared * (best.a + best.b - best.shared);
        uint64_t right = best.shared * (o.a + o.b - o.shared);

        if (p->verify == ND_VERIFY_NONE ? i > 0 : !reaches(o, p->threshold))
            continue;
        if (p->verify != ND_VERIFY_NONE && expected[d].kept != d &&
            (left < right || (left == right && list[i].document > expected[d].kept)))
            continue;
        expected[d].kept = list[i].document;
        expected[d].overlap = o;
    }
    if (expected[d].kept == d)
        leave_out(c, known, p, bands, rows, d, list, n, expected);
}

static void push_all(const struct corpus *c, const struct nd_dedup_params *p, unsigned batch_max,
                     struct nd_decision *got)
{
    struct nd_error err = {ND_OK, ""};
    struct nd_dedup_stats stats;
    struct nd_dedup *d = nd_dedup_new_with(p, NULL, &err);

    if (!d)
        fail_msg("%s", err.message);
    for (unsigned i = 0; i < DOCUMENTS;) {
        unsigned n = 1 + below(batch_max);

        n = n < DOCUMENTS - i ? n : DOCUMENTS - i;
        assert_int_equal(nd_dedup_push(d, c->item + i, n, got + i, &err), ND_OK);
        i += n;
    }
    nd_dedup_get_stats(d, &stats);
    assert_int_equal(stats.crowded_keys, n_left_out);
    nd_dedup_free(d);
}

/* Batches of several threads, each prepared by one and pushed in turn. */
struct pushing {
    const struct corpus *c;
    struct nd_pool *pool;
    struct nd_dedup *d;
    unsigned batch_max;
    struct nd_decision *got;
    struct nd_ticket_lock take, push;
    atomic_ulong ticket;
    unsigned next; /* by whoever has the turn to take */
    bool matches_ahead;
    atomic_int failed;
};

static void push_in_turn(void *context, unsigned worker)
{
    struct pushing *p = context;
    unsigned n = 1;

    while (n) {
        unsigned long ticket = atomic_fetch_add(&p->ticket, 1);
        unsigned from;

        nd_pool_await(p->pool, &p->take, ticket);
        from = p->next;
        n = 1 + below(p->batch_max);
        n = n < DOCUMENTS - from ? n : DOCUMENTS - from;
        p->next += n;
        nd_pool_pass(p->pool, &p->take);
        nd_dedup_prepare(p->d, worker, p->c->item + from, n);
        if (p->matches_ahead)
            nd_dedup_match_ahead(p->d, worker, ticket);
        nd_pool_lead(p->pool, worker, &p->push, ticket);
        if (nd_dedup_push_prepared(p->d, worker, p->got + from, NULL) != ND_OK)
            atomic_fetch_add(&p->failed, 1);
        nd_pool_pass(p->pool, &p->push);
    }
}

static void push_all_in_turn(const struct corpus *c, const struct nd_dedup_params *params,
                             unsigned batch_max, bool matches_ahead, struct nd_decision *got)
{
    struct pushing p = {.c = c,
                        .pool = nd_pool_new(params->threads, NULL),
                        .batch_max = batch_max,
                        .got = got,
                        .matches_ahead = matches_ahead};

    p.d = nd_dedup_new_on(p.pool, params, NULL, NULL);
    assert_non_null(p.d);
    nd_pool_each(p.pool, push_in_turn, &p);
    assert_int_equal(p.failed, 0);
    nd_dedup_free(p.d);
    nd_pool_free(p.pool);
}

/* All threads share each batch; each has its own, and matches it in its turn; or ahead of that. */
enum how { TOGETHER, IN_TURN, AHEAD };

static void compare(const struct corpus *c, const struct known *known,
                    const struct nd_dedup_params *p, const struct expected *expected,
                    unsigned threads, unsigned batch_max, enum how how)
{
    struct nd_dedup_params params = *p;
    static struct nd_decision got[DOCUMENTS];

    params.threads = threads;
    if (how == TOGETHER)
        push_all(c, &params, batch_max, got);
    else
        push_all_in_turn(c, &params, batch_max, how == AHEAD, got);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        assert_int_equal(got[i].kept, expected[i].kept);
        assert_int_equal(got[i].identical, expected[i].identical);
        assert_int_equal(got[i].was_cut, expected[i].was_cut);
        assert_int_equal(got[i].is_empty, known[i].sketch.n_tokens == 0);
        assert_int_equal(got[i].is_short, known[i].sketch.n_tokens < p->sketch.w);
        if (expected[i].kept == i)
            continue;
        assert_int_equal(got[i].verified, p->verify != ND_VERIFY_NONE || got[i].identical);
        assert_int_equal(
            got[i].distance,
            __builtin_popcountll(known[i].sketch.simhash ^ known[expected[i].kept].sketch.simhash));
        if (!got[i].verified)
            continue;
        assert_memory_equal(&got[i].overlap, &expected[i].overlap, sizeof got[i].overlap);
    }
}

/* Each way of pushing. The sample takes all for the first parameters, then every third in turn. */
static void compare_ways(const struct corpus *c, const struct known *known,
                         const struct nd_dedup_params *p, const struct expected *expected)
{
    static const struct {
        unsigned threads, batch_max;
        enum how how;
    } ways[] = {
        {1, DOCUMENTS, TOGETHER}, {2, 100, TOGETHER}, {8, 700, TOGETHER}, {3, DOCUMENTS, TOGETHER},
        {1, 1, TOGETHER},         {1, 100, IN_TURN},  {2, 30, IN_TURN},   {1, 30, AHEAD},
        {2, 30, AHEAD},           {5, 200, AHEAD},    {16, 10, AHEAD},
    };
    static size_t turn;
    const size_t n = sizeof ways / sizeof *ways, step = sized(1, turn ? 3 : 1);

    for (size_t i = turn % step; i < n; i += step)
        compare(c, known, p, expected, ways[i].threads, ways[i].batch_max, ways[i].how);
    turn++;
}

static void check_all(struct nd_dedup_params p)
{
    struct nd_error err;

    for (uint64_t seed = 1; seed <= sized(3, 1); seed++) {
        struct corpus *c = make_corpus(seed);
        struct known *known = read_all(c, &p);
        static struct expected expected[DOCUMENTS];
        unsigned bands = p.bands, rows = p.rows;

        if (bands == 0)
            assert_int_equal(nd_bands_choose(p.threshold, p.recall, &bands, &rows, &err), ND_OK);
        n_left_out = n_crowded = 0;
        for (unsigned d = 0; d < DOCUMENTS; d++)
            expect_one(c, known, &p, bands, rows, d, expected);
        compare_ways(c, known, &p, expected);
        free_known(known);
        free_corpus(c);
    }
}

static void the_default_is_as_defined(void **state)
{
    (void)state;
    check_all(nd_dedup_params_default());
}

static void a_low_threshold_is_as_defined(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();

    (void)state;
    p.threshold = (struct nd_ratio){3, 10};
    p.bands = 42;
    p.rows = 3;
    check_all(p);
}

static void few_checks_are_as_defined(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();

    (void)state;
    p.threshold = (struct nd_ratio){1, 2};
    p.bands = 64;
    p.rows = 2;
    for (p.max_checks = 1; p.max_checks <= 4; p.max_checks++) {
        check_all(p);
        assert_true(n_left_out > 0 || p.max_checks > 2);
    }
    p.max_checks = 2;
    p.candidates = ND_CANDIDATES_SIMHASH;
    p.simhash_bits = 15;
    check_all(p);
    assert_true(n_left_out > 0);
}

/* A key lists so many documents, whether they could match or not. */
static void crowded_keys_are_as_defined(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();

    (void)state;
    p.bands = 42;
    p.rows = 3;
    for (p.max_checks = 1; p.max_checks <= 4; p.max_checks *= 2) {
        check_all(p);
        assert_true(n_crowded > 0);
    }
}

static void no_memory_for_shingles_changes_nothing(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();

    (void)state;
    p.cache_bytes = 0;
    check_all(p);
}

static void short_policies_are_as_defined(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();

    (void)state;
    p.short_policy = ND_SHORT_KEEP;
    check_all(p);
    p.short_policy = ND_SHORT_TOKENS;
    check_all(p);
}

static void other_candidates_are_as_defined(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();

    (void)state;
    p.candidates = ND_CANDIDATES_IDENTITY;
    check_all(p);
    p.candidates = ND_CANDIDATES_ALL;
    check_all(p);
    p.candidates = ND_CANDIDATES_SIMHASH;
    p.simhash_bits = 12;
    check_all(p);
    p.simhash_bits = 6;
    p.verify = ND_VERIFY_NONE;
    check_all(p);
}

/* Whom a document is removed for may be seen by all who may see it. */
static void labels_are_as_defined(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();

    (void)state;
    has_labels = true;
    check_all(p);
    for (p.short_policy = ND_SHORT_KEEP; p.short_policy <= ND_SHORT_TOKENS; p.short_policy++)
        check_all(p);
    p = nd_dedup_params_default();
    p.bands = 42;
    p.rows = 3;
    for (p.max_checks = 1; p.max_checks <= 4; p.max_checks *= 2)
        check_all(p);
    p.bands = 64;
    p.rows = 2;
    p.max_checks = 3;
    check_all(p);
    p = nd_dedup_params_default();
    for (p.candidates = ND_CANDIDATES_MINHASH; p.candidates <= ND_CANDIDATES_ALL; p.candidates++)
        if (p.candidates != ND_CANDIDATES_MATCH)
            check_all(p);
    has_labels = false;
}

static void other_clusters_refuse_labels(void **state)
{
    const struct nd_dedup_item item = {.text = {"a b c d", 7}, .labels = label_set[2]};
    struct nd_dedup_params p = nd_dedup_params_default();
    struct nd_decision decision;
    struct nd_error err;
    struct nd_dedup *d;

    (void)state;
    p.cluster = ND_CLUSTER_COMPLETE;
    d = nd_dedup_new_with(&p, NULL, &err);
    assert_non_null(d);
    assert_int_equal(nd_dedup_push(d, &item, 1, &decision, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "security labels"));
    nd_dedup_free(d);
    p.cluster = ND_CLUSTER_COMPONENTS;
    d = nd_dedup_new_with(&p, NULL, &err);
    assert_non_null(d);
    assert_int_equal(nd_dedup_push_components(d, &item, 1, &err), ND_EINVAL);
    nd_dedup_free(d);
}

struct pair_list {
    struct nd_found_pair *at;
    size_t count;
};

static enum nd_status add_pair(void *context, const struct nd_found_pair *pair)
{
    struct pair_list *list = context;

    assert_true(list->count < (size_t)DOCUMENTS * DOCUMENTS / 2);
    list->at[list->count++] = *pair;
    return ND_OK;
}

static void push_pairs(const struct corpus *c, struct nd_dedup_params p, struct pair_list *list)
{
    struct nd_dedup *d;
    unsigned batch = p.threads * 100;

    p.cluster = ND_CLUSTER_PAIRS;
    d = nd_dedup_new_with(&p, NULL, NULL);

    assert_non_null(d);
    list->count = 0;
    for (unsigned i = 0; i < DOCUMENTS; i += batch)
        assert_int_equal(nd_dedup_push_pairs(d, c->item + i,
                                             batch < DOCUMENTS - i ? batch : DOCUMENTS - i,
                                             add_pair, list, NULL),
                         ND_OK);
    nd_dedup_free(d);
}

/* All pairs of equal documents, and of those that share a band and reach the threshold. */
static struct pair_list expect_pairs(const struct corpus *c, const struct known *known,
                                     const struct nd_dedup_params *p)
{
    struct pair_list list = {malloc((size_t)DOCUMENTS * DOCUMENTS / 2 * sizeof *list.at), 0};

    assert_non_null(list.at);
    for (unsigned a = 0; a < DOCUMENTS; a++)
        for (unsigned b = 0; b < a; b++) {
            struct nd_overlap o;

            if (c->item[a].group != c->item[b].group)
                continue;
            o = overlap_of(&known[a], &known[b]);
            if (same_bytes(c, a, b) ||
                (known[a].sketch.n_tokens >= p->sketch.w &&
                 known[b].sketch.n_tokens >= p->sketch.w && reaches(o, p->threshold) &&
                 share_band(&known[a], &known[b], 21, 6)))
                list.at[list.count++] = (struct nd_found_pair){.a = a, .b = b, .overlap = o};
        }
    return list;
}

static void all_pairs_that_share_a_band_are_found(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = make_corpus(7);
    struct known *known = read_all(c, &p);
    struct pair_list list = {malloc((size_t)DOCUMENTS * DOCUMENTS / 2 * sizeof *list.at), 0};
    struct pair_list expected = expect_pairs(c, known, &p);

    (void)state;
    assert_non_null(list.at);
    assert_true(expected.count > 100);
    for (p.threads = 1; p.threads <= 8; p.threads *= 2) {
        push_pairs(c, p, &list);
        assert_int_equal(list.count, expected.count);
        for (size_t n = 0; n < list.count; n++) {
            assert_int_equal(list.at[n].a, expected.at[n].a);
            assert_int_equal(list.at[n].b, expected.at[n].b);
            assert_memory_equal(&list.at[n].overlap, &expected.at[n].overlap,
                                sizeof list.at[n].overlap);
        }
    }
    free(expected.at);
    free(list.at);
    free_known(known);
    free_corpus(c);
}

static unsigned root(const unsigned *parent, unsigned x)
{
    while (parent[x] != x)
        x = parent[x];
    return x;
}

static enum nd_identical identical_of(const struct corpus *c, const struct known *known, unsigned a,
                                      unsigned b)
{
    if (same_bytes(c, a, b))
        return ND_IDENTICAL_BYTES;
    return known[a].sketch.identity == known[b].sketch.identity ? ND_IDENTICAL_TOKENS
                                                                : ND_IDENTICAL_NO;
}

static void components_are_the_closure_of_the_pairs(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = make_corpus(11);
    struct known *known = read_all(c, &p);
    struct pair_list list = {malloc((size_t)DOCUMENTS * DOCUMENTS / 2 * sizeof *list.at), 0};
    static unsigned parent[DOCUMENTS];
    static struct nd_decision got[DOCUMENTS], first[DOCUMENTS];
    static struct nd_component_via via[DOCUMENTS], first_via[DOCUMENTS];

    (void)state;
    assert_non_null(list.at);
    p.threads = 1;
    push_pairs(c, p, &list);
    for (unsigned i = 0; i < DOCUMENTS; i++)
        parent[i] = i;
    for (size_t i = 0; i < list.count; i++) {
        unsigned x = root(parent, (unsigned)list.at[i].a), y = root(parent, (unsigned)list.at[i].b);

        /* pairs of short documents are found; components leave them apart */
        if (known[list.at[i].a].sketch.n_tokens >= p.sketch.w && x != y)
            parent[x > y ? x : y] = x > y ? y : x;
    }
    for (unsigned a = 0; a < DOCUMENTS; a++)
        for (unsigned b = 0; b < a; b++)
            if (same_bytes(c, a, b)) {
                unsigned x = root(parent, a), y = root(parent, b);

                parent[x > y ? x : y] = x > y ? y : x;
            }
    p.cluster = ND_CLUSTER_COMPONENTS;
    for (p.threads = 1; p.threads <= 8; p.threads *= 2) {
        struct nd_dedup *d = nd_dedup_new_with(&p, NULL, NULL);
        unsigned batch = p.threads * 150;

        assert_non_null(d);
        for (unsigned i = 0; i < DOCUMENTS; i += batch)
            assert_int_equal(nd_dedup_push_components(d, c->item + i,
                                                      batch < DOCUMENTS - i ? batch : DOCUMENTS - i,
                                                      NULL),
                             ND_OK);
        assert_int_equal(nd_dedup_components(d, 0, DOCUMENTS, got, via, NULL), ND_OK);
        for (unsigned i = 0; i < DOCUMENTS; i++) {
            assert_int_equal(got[i].kept, root(parent, i));
            if (got[i].kept == i)
                continue;
            assert_int_not_equal(via[i].document, i);
            assert_int_equal(got[via[i].document].kept, got[i].kept);
            assert_true(same_bytes(c, i, (unsigned)via[i].document) ||
                        reaches(via[i].overlap, p.threshold));
            struct nd_overlap o = overlap_of(&known[i], &known[got[i].kept]);
            assert_memory_equal(&got[i].overlap, &o, sizeof o);
            assert_int_equal(got[i].identical, identical_of(c, known, i, (unsigned)got[i].kept));
        }
        if (p.threads == 1) {
            memcpy(first, got, sizeof got);
            memcpy(first_via, via, sizeof via);
        }
        assert_memory_equal(via, first_via, sizeof via);
        for (unsigned i = 0; i < DOCUMENTS; i++)
            assert_int_equal(got[i].identical, first[i].identical);
        nd_dedup_free(d);
    }
    free(list.at);
    free_known(known);
    free_corpus(c);
}

/* Whether the list, which is in order, has the pair of a and an earlier b, both not short. */
static bool is_pair(const struct pair_list *list, const struct known *known, unsigned a, unsigned b,
                    struct nd_overlap *overlap)
{
    size_t low = 0, high = list->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct nd_found_pair *x = &list->at[middle];

        if (x->a < a || (x->a == a && x->b < b))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == list->count || list->at[low].a != a || list->at[low].b != b ||
        known[a].sketch.n_tokens < 3)
        return false;
    *overlap = list->at[low].overlap;
    return true;
}

/* The kept one that `a` joins, by the definition; itself: none.  Kept ones are found by their
 * bands, the members of their clusters are known. */
static unsigned join_complete(const struct corpus *c, const struct pair_list *list,
                              const struct known *known, const unsigned *leader, unsigned a,
                              struct nd_ratio threshold)
{
    struct nd_overlap with, best = {0, 0, 0};
    unsigned found = a;

    for (unsigned b = 0; b < a; b++)
        if (same_bytes(c, a, b))
            return leader[b];
    for (unsigned l = 0; l < a; l++) {
        bool all = leader[l] == l;

        for (unsigned b = l; b < a && all; b++)
            all = leader[b] != l || reaches(overlap_of(&known[a], &known[b]), threshold);
        if (!all || !is_pair(list, known, a, l, &with))
            continue;
        if (found == a || with.shared * (best.a + best.b - best.shared) >
                              best.shared * (with.a + with.b - with.shared)) {
            found = l;
            best = with;
        }
    }
    return found;
}

static void complete_link_is_as_defined(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct corpus *c = make_corpus(13);
    struct pair_list list = {malloc((size_t)DOCUMENTS * DOCUMENTS / 2 * sizeof *list.at), 0};
    static struct nd_decision got[DOCUMENTS];
    static unsigned leader[DOCUMENTS];
    struct known *known;
    unsigned removed = 0, stars = 0;

    (void)state;
    assert_non_null(list.at);
    p.threshold = (struct nd_ratio){7, 10};
    known = read_all(c, &p);
    p.threads = 1;
    push_pairs(c, p, &list);
    for (unsigned a = 0; a < DOCUMENTS; a++)
        leader[a] = join_complete(c, &list, known, leader, a, p.threshold);
    p.cluster = ND_CLUSTER_COMPLETE;
    for (p.threads = 1; p.threads <= 8; p.threads *= 2) {
        struct nd_dedup *d = nd_dedup_new_with(&p, NULL, NULL);
        unsigned batch = p.threads * 130;

        assert_non_null(d);
        for (unsigned i = 0; i < DOCUMENTS; i += batch)
            assert_int_equal(nd_dedup_push(d, c->item + i,
                                           batch < DOCUMENTS - i ? batch : DOCUMENTS - i, got + i,
                                           NULL),
                             ND_OK);
        nd_dedup_free(d);
        for (unsigned a = 0; a < DOCUMENTS; a++) {
            struct nd_overlap o = overlap_of(&known[a], &known[leader[a]]);

            assert_int_equal(got[a].kept, leader[a]);
            if (leader[a] == a)
                continue;
            assert_memory_equal(&got[a].overlap, &o, sizeof o);
            assert_int_equal(got[a].identical, identical_of(c, known, a, leader[a]));
        }
    }
    for (unsigned a = 0; a < DOCUMENTS; a++)
        removed += leader[a] != a;
    p.cluster = ND_CLUSTER_STAR;
    p.threads = 1;
    {
        struct nd_dedup *d = nd_dedup_new_with(&p, NULL, NULL);

        assert_int_equal(nd_dedup_push(d, c->item, DOCUMENTS, got, NULL), ND_OK);
        nd_dedup_free(d);
    }
    for (unsigned a = 0; a < DOCUMENTS; a++)
        stars += got[a].kept != a;
    assert_true(removed > 100);
    assert_true(removed < stars); /* some match a kept one, but not all that follow it */
    free(list.at);
    free_known(known);
    free_corpus(c);
}

static void impossible_parameters_are_refused(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct nd_error err;

    (void)state;
    p.threshold = (struct nd_ratio){5, 4};
    assert_null(nd_dedup_new_with(&p, NULL, &err));
    assert_int_equal(err.status, ND_EINVAL);
    p = nd_dedup_params_default();
    p.max_checks = 0;
    assert_null(nd_dedup_new_with(&p, NULL, &err));
    p = nd_dedup_params_default();
    p.sketch.w = 0;
    assert_null(nd_dedup_new_with(&p, NULL, &err));
    p = nd_dedup_params_default();
    p.bands = 100;
    p.rows = 2;
    assert_null(nd_dedup_new_with(&p, NULL, &err));
    p = nd_dedup_params_default();
    p.sketch.unit = (enum nd_shingle_unit)2;
    assert_null(nd_dedup_new_with(&p, NULL, &err));
    p = nd_dedup_params_default();
    p.verify = (enum nd_verify)9;
    assert_null(nd_dedup_new_with(&p, NULL, &err));
    p = nd_dedup_params_default();
    p.threads = 1025;
    assert_null(nd_dedup_new_with(&p, NULL, &err));
    assert_int_equal(err.status, ND_EINVAL);
}

static enum nd_status ignore(void *context, const struct nd_found_pair *pair)
{
    (void)context;
    (void)pair;
    return ND_OK;
}

/* An engine of somebody who checks nothing: refused, not read beyond the text, nor for ever. */
static void what_is_no_utf8_is_refused(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct nd_dedup_item items[2] = {{.text = {"some words", 10}}, {.text = {"cut \xe3\x81", 6}}};
    struct nd_decision decisions[2];
    struct nd_error err;
    struct nd_dedup *d = nd_dedup_new_with(&p, NULL, &err);

    (void)state;
    assert_int_equal(nd_dedup_push(d, items, 2, decisions, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "item 1: "));
    assert_int_equal(nd_dedup_push_pairs(d, items, 2, ignore, NULL, &err), ND_EINVAL);
    assert_int_equal(nd_dedup_query(d, items, 2, ignore, NULL, &err), ND_EINVAL);
    assert_int_equal(nd_dedup_push(d, items, 1, decisions, &err), ND_OK);
    nd_dedup_free(d);
    p.cluster = ND_CLUSTER_PAIRS;
    d = nd_dedup_new_with(&p, NULL, &err);
    assert_int_equal(nd_dedup_push_pairs(d, items, 2, ignore, NULL, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "item 1: "));
    assert_int_equal(nd_dedup_query(d, items, 2, ignore, NULL, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "item 1: "));
    nd_dedup_free(d);
}

static void one_engine_takes_one_kind_of_push(void **state)
{
    struct nd_dedup_params p = nd_dedup_params_default();
    struct nd_dedup_item item = {.text = {"some words of a text", 20}};
    struct nd_decision decision;
    struct nd_component_via via;
    struct nd_error err;
    struct nd_dedup *d = nd_dedup_new_with(&p, NULL, &err);

    (void)state;
    assert_int_equal(nd_dedup_push(d, &item, 1, &decision, &err), ND_OK);
    assert_int_equal(nd_dedup_push_pairs(d, &item, 1, ignore, NULL, &err), ND_EINVAL);
    assert_int_equal(nd_dedup_push_components(d, &item, 1, &err), ND_EINVAL);
    assert_int_equal(nd_dedup_query(d, &item, 1, ignore, NULL, &err), ND_EINVAL);
    assert_int_equal(nd_dedup_components(d, 0, 1, &decision, &via, &err), ND_EINVAL);
    assert_int_equal(nd_dedup_push(d, &item, 1, &decision, &err), ND_OK);
    nd_dedup_free(d);
    p.cluster = ND_CLUSTER_COMPONENTS;
    d = nd_dedup_new_with(&p, NULL, &err);
    assert_int_equal(nd_dedup_push(d, &item, 1, &decision, &err), ND_EINVAL);
    assert_int_equal(nd_dedup_push_components(d, &item, 1, &err), ND_OK);
    assert_int_equal(nd_dedup_components(d, UINT64_MAX, 2, &decision, &via, &err), ND_EINVAL);
    assert_int_equal(nd_dedup_components(d, 0, 1, &decision, &via, &err), ND_OK);
    nd_dedup_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_is_as_defined),
        cmocka_unit_test(a_low_threshold_is_as_defined),
        cmocka_unit_test(few_checks_are_as_defined),
        cmocka_unit_test(crowded_keys_are_as_defined),
        cmocka_unit_test(no_memory_for_shingles_changes_nothing),
        cmocka_unit_test(short_policies_are_as_defined),
        cmocka_unit_test(other_candidates_are_as_defined),
        cmocka_unit_test(labels_are_as_defined),
        cmocka_unit_test(other_clusters_refuse_labels),
        cmocka_unit_test(all_pairs_that_share_a_band_are_found),
        cmocka_unit_test(components_are_the_closure_of_the_pairs),
        cmocka_unit_test(complete_link_is_as_defined),
        cmocka_unit_test(impossible_parameters_are_refused),
        cmocka_unit_test(what_is_no_utf8_is_refused),
        cmocka_unit_test(one_engine_takes_one_kind_of_push),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
