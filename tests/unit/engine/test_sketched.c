/* test_sketched.c - documents that are pushed as rows of a sketch file are decided as by their texts */
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

#include <neardup/dedup.h>
#include <neardup/sketch_file.h>

#include "base/hash.h"
#include "base/replaced_hash.h"
#include "base/thread/pool.h"
#include "engine/engine.h"
#include "recipe/recipe_struct.h"

enum { DOCUMENTS = 300, WORDS = 50, TEXT_MAX = WORDS * 8, PAIRS_MAX = DOCUMENTS * DOCUMENTS };

/* ---- The documents ---- */

static uint64_t random_state = 5;

static uint64_t below(uint64_t n)
{
    random_state += UINT64_C(0x9E3779B97F4A7C15);
    return nd_mix64(random_state) % n;
}

static char text[DOCUMENTS][TEXT_MAX];
static struct nd_document document[DOCUMENTS];
static struct nd_dedup_item item[DOCUMENTS];

/* Some in capitals: other bytes, and the same tokens.  Of some, bytes were replaced. */
static void write_text(unsigned i, const unsigned *word, unsigned n)
{
    size_t len = 0;

    text[i][0] = 0;
    for (unsigned w = 0; w < n; w++)
        len += (size_t)snprintf(text[i] + len, TEXT_MAX - len, "%c%u ", i % 3 ? 'w' : 'W', word[w]);
    document[i].text = (struct nd_view){text[i], len};
    document[i].text_replaced = below(25) == 0 ? 1 + below(2) : 0;
    item[i] = (struct nd_dedup_item){
        .text = document[i].text, .group = below(4) == 0, .document = &document[i]};
}

/* Edited copies of earlier texts, near and less near; some equal, some short, some empty. */
static int make_texts(void **state)
{
    static unsigned words[DOCUMENTS][WORDS], length[DOCUMENTS];

    (void)state;
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        bool is_new = i < 10 || below(6) == 0;
        unsigned from = is_new ? 0 : (unsigned)below(i), edits = (unsigned)below(6);

        length[i] = is_new ? (unsigned)below(WORDS) : length[from];
        if (below(8) == 0)
            length[i] = (unsigned)below(3);
        for (unsigned w = 0; w < length[i]; w++)
            words[i][w] = is_new || w >= length[from] ? (unsigned)below(5000) : words[from][w];
        for (; edits && length[i] > 3 && !is_new; edits--)
            words[i][below(length[i])] = (unsigned)below(5000);
        if (length[i] < 3 && length[i])
            words[i][0] = (unsigned)below(5);
        write_text(i, words[i], length[i]);
    }
    return 0;
}

/* ---- Their rows ---- */

struct rows {
    struct nd_sketch_row row[DOCUMENTS];
    struct nd_sketch_row bare[DOCUMENTS]; /* without shingles */
    uint64_t *shingle[DOCUMENTS];
    uint64_t *word[DOCUMENTS][ND_RECIPE_SIGNATURES];
};

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void make_row(struct rows *rows, unsigned i, struct nd_sketcher *sketcher)
{
    struct nd_sketch_row *row = &rows->row[i];
    const uint64_t replaced = document[i].text_replaced;
    struct nd_sketch sketch;

    assert_int_equal(
        nd_sketcher_run(sketcher, item[i].text.data, item[i].text.len, ND_SKETCH_ALL, &sketch),
        ND_OK);
    rows->shingle[i] = calloc(sketch.n_shingles + 1, sizeof(uint64_t));
    assert_non_null(rows->shingle[i]);
    if (sketch.n_shingles)
        memcpy(rows->shingle[i], sketch.shingle, sketch.n_shingles * sizeof(uint64_t));
    qsort(rows->shingle[i], sketch.n_shingles, sizeof(uint64_t), ascending);
    *row = (struct nd_sketch_row){.identity = nd_replaced_mark(sketch.identity, replaced),
                                  .simhash = sketch.simhash,
                                  .tokens = sketch.n_tokens,
                                  .text_bytes = item[i].text.len,
                                  .n_shingles = (uint32_t)sketch.n_shingles,
                                  .shingles = rows->shingle[i]};
    nd_hash_bytes_128(item[i].text.data, item[i].text.len, &row->text_hash[0], &row->text_hash[1]);
    for (int half = 0; half < 2; half++)
        row->text_hash[half] = nd_replaced_mark(row->text_hash[half], replaced);
    for (unsigned k = 0; k < ND_MINHASH_COUNT; k++)
        row->low[k] = (uint8_t)sketch.minhash[k];
}

static void sign_row(struct rows *rows, unsigned i, unsigned at, struct nd_document_signer *signer)
{
    struct nd_sketch_row *row = &rows->row[i];
    struct nd_signature x;
    uint64_t n_tokens;

    assert_int_equal(nd_document_signer_run(signer, &document[i], &x, &n_tokens), ND_OK);
    row->length = n_tokens > row->length ? n_tokens : row->length;
    row->signature[at] = (struct nd_signature){.is_rejected = 1};
    if (x.is_rejected)
        return;
    rows->word[i][at] = calloc(x.count + 1, sizeof *x.word);
    assert_non_null(rows->word[i][at]);
    memcpy(rows->word[i][at], x.word, x.count * sizeof *x.word);
    row->signature[at] = (struct nd_signature){rows->word[i][at], x.count, 0};
}

static void sign_rows(struct rows *rows, const struct nd_recipe *recipe)
{
    for (unsigned at = 0; at < recipe->method.n_signatures; at++) {
        struct nd_document_signer *signer = nd_document_signer_new(recipe, at, NULL);

        assert_non_null(signer);
        for (unsigned i = 0; i < DOCUMENTS; i++)
            sign_row(rows, i, at, signer);
        nd_document_signer_free(signer);
    }
}

static struct rows *make_rows(const struct nd_recipe *recipe)
{
    const struct nd_dedup_params params = nd_recipe_dedup_params(recipe);
    struct rows *rows = calloc(1, sizeof *rows);
    struct nd_sketcher *sketcher = nd_sketcher_new(&params.sketch, NULL);

    assert_non_null(rows);
    assert_non_null(sketcher);
    for (unsigned i = 0; i < DOCUMENTS; i++)
        make_row(rows, i, sketcher);
    sign_rows(rows, recipe);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        rows->bare[i] = rows->row[i];
        rows->bare[i].shingles = NULL;
    }
    nd_sketcher_free(sketcher);
    return rows;
}

static void free_rows(struct rows *rows)
{
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        free(rows->shingle[i]);
        for (unsigned at = 0; at < ND_RECIPE_SIGNATURES; at++)
            free(rows->word[i][at]);
    }
    free(rows);
}

/* ---- What an engine makes of them ---- */

enum mix { TEXTS, ROWS, EVERY_THIRD_A_ROW, ROWS_FIRST, KNOWN, MOST_KNOWN, MIXES };

static bool is_row(enum mix mix, size_t i)
{
    return mix == ROWS || (mix == EVERY_THIRD_A_ROW && i % 3 == 0) ||
           (mix == ROWS_FIRST && i < DOCUMENTS / 2);
}

static void make_items(const struct rows *rows, enum mix mix, struct nd_dedup_item *out)
{
    for (size_t i = 0; i < DOCUMENTS; i++) {
        out[i] = item[i];
        if (is_row(mix, i))
            out[i] = (struct nd_dedup_item){.group = item[i].group, .sketched = &rows->row[i]};
        else if (mix == KNOWN || (mix == MOST_KNOWN && i % 4))
            out[i].known = i % 2 ? &rows->bare[i] : &rows->row[i];
    }
}

struct result {
    struct nd_decision decision[DOCUMENTS];
    struct nd_component_via via[DOCUMENTS];
    struct nd_found_pair pair[PAIRS_MAX];
    size_t n_pairs;
};

static enum nd_status note_pair(void *context, const struct nd_found_pair *pair)
{
    struct result *result = context;

    assert_true(result->n_pairs < PAIRS_MAX);
    result->pair[result->n_pairs++] = *pair;
    return ND_OK;
}

struct way {
    enum mix mix;
    unsigned threads;
    size_t batch;
    bool is_query; /* of pairs: the second half asks about the first */
};

static struct nd_dedup *make_engine(const struct nd_recipe *recipe, const struct way *way,
                                    bool makes_pairs)
{
    struct nd_dedup_options options = nd_dedup_options_default();
    struct nd_error err;
    struct nd_dedup *d;

    options.threads = way->threads;
    options.makes_pairs = makes_pairs;
    options.takes_sketches = way->mix != TEXTS;
    options.cache_bytes = 1 << 12; /* so that shingles are fetched again */
    d = nd_dedup_new(recipe, &options, &err);
    if (!d)
        fail_msg("%s", err.message);
    return d;
}

static void push(struct nd_dedup *d, const struct way *way, bool makes_pairs,
                 enum nd_cluster cluster, const struct nd_dedup_item *items, size_t from, size_t n,
                 struct result *result)
{
    struct nd_error err = {0};
    enum nd_status status;

    if (makes_pairs && way->is_query)
        status = from < DOCUMENTS / 2 ? nd_dedup_push_prototypes(d, items, n, &err)
                                      : nd_dedup_query(d, items, n, note_pair, result, &err);
    else if (makes_pairs)
        status = nd_dedup_push_pairs(d, items, n, note_pair, result, &err);
    else if (cluster == ND_CLUSTER_COMPONENTS)
        status = nd_dedup_push_components(d, items, n, &err);
    else
        status = nd_dedup_push(d, items, n, result->decision + from, &err);
    if (status != ND_OK)
        fail_msg("%s", err.message);
}

static struct result *run(const struct nd_recipe *recipe, const struct rows *rows,
                          const struct way *way, bool makes_pairs)
{
    struct result *result = calloc(1, sizeof *result);
    struct nd_dedup *d = make_engine(recipe, way, makes_pairs);
    struct nd_dedup_item some[DOCUMENTS];

    assert_non_null(result);
    make_items(rows, way->mix, some);
    for (size_t from = 0; from < DOCUMENTS; from += way->batch) {
        size_t n = way->batch < DOCUMENTS - from ? way->batch : DOCUMENTS - from;

        push(d, way, makes_pairs, recipe->dedup.cluster, some + from, from, n, result);
    }
    if (!makes_pairs && recipe->dedup.cluster == ND_CLUSTER_COMPONENTS)
        assert_int_equal(nd_dedup_components(d, 0, DOCUMENTS, result->decision, result->via, NULL),
                         ND_OK);
    nd_dedup_free(d);
    return result;
}

/* ---- Compared ---- */

static unsigned char expected_verified(const struct way *way, unsigned char of_texts, size_t i,
                                       size_t kept)
{
    if (of_texts == ND_VERIFIED_NO)
        return ND_VERIFIED_NO;
    return is_row(way->mix, i) || is_row(way->mix, kept) ? ND_VERIFIED_SKETCH : ND_VERIFIED_TEXT;
}

static void compare_decisions(const struct way *way, struct result *got, const struct result *want)
{
    for (size_t i = 0; i < DOCUMENTS; i++) {
        struct nd_decision *d = &got->decision[i];
        struct nd_component_via *via = &got->via[i];

        assert_int_equal(d->kept, want->decision[i].kept);
        assert_int_equal(d->verified,
                         expected_verified(way, want->decision[i].verified, i, (size_t)d->kept));
        d->verified = want->decision[i].verified;
        assert_memory_equal(d, &want->decision[i], sizeof *d);
        assert_int_equal(via->document, want->via[i].document);
        assert_int_equal(via->verified,
                         expected_verified(way, want->via[i].verified, i, (size_t)via->document));
        via->verified = want->via[i].verified;
        assert_memory_equal(via, &want->via[i], sizeof *via);
    }
}

static void compare_pairs(const struct result *got, const struct result *want)
{
    assert_int_equal(got->n_pairs, want->n_pairs);
    assert_memory_equal(got->pair, want->pair, want->n_pairs * sizeof *want->pair);
}

static void check_way(const struct nd_recipe *recipe, const struct rows *rows, struct way way,
                      bool makes_pairs)
{
    const struct way as_texts = {TEXTS, way.threads, way.batch, way.is_query};
    struct result *want = run(recipe, rows, &as_texts, makes_pairs);

    for (way.mix = ROWS; way.mix < MIXES; way.mix++) {
        struct result *got = run(recipe, rows, &way, makes_pairs);

        if (makes_pairs)
            compare_pairs(got, want);
        else
            compare_decisions(&way, got, want);
        free(got);
    }
    free(want);
}

static struct nd_recipe *recipe_of(const char *const *keys)
{
    struct nd_recipe *recipe = nd_recipe_new(NULL);
    struct nd_error err;

    for (; *keys; keys++)
        assert_int_equal(strchr(*keys, '=') ? nd_recipe_set(recipe, *keys, &err)
                                            : nd_recipe_by_name(recipe, *keys, &err),
                         ND_OK);
    return recipe;
}

/* The test has something to tell apart. */
static void check_variety(const struct nd_recipe *recipe, const struct rows *rows)
{
    const struct way way = {TEXTS, 1, DOCUMENTS, false};
    struct result *result = run(recipe, rows, &way, false);
    unsigned n[3] = {0};

    for (size_t i = 0; i < DOCUMENTS; i++)
        n[result->decision[i].identical] += result->decision[i].kept != i;
    for (size_t i = 0; i < 3; i++)
        assert_true(n[i] >= 3);
    free(result);
}

static void check_recipe(const char *const *keys)
{
    struct nd_recipe *recipe = recipe_of(keys);
    struct rows *rows = make_rows(recipe);

    check_way(recipe, rows, (struct way){ROWS, 1, DOCUMENTS, false}, false);
    check_way(recipe, rows, (struct way){ROWS, 2, DOCUMENTS, false}, false);
    check_way(recipe, rows, (struct way){ROWS, 3, 37, false}, false);
    check_way(recipe, rows, (struct way){ROWS, 1, 1, false}, false);
    check_way(recipe, rows, (struct way){ROWS, 2, 50, false}, true);
    check_way(recipe, rows, (struct way){ROWS, 1, 50, true}, true);
    check_way(recipe, rows, (struct way){ROWS, 2, 50, true}, true);
    free_rows(rows);
    nd_recipe_free(recipe);
}

static void rows_are_decided_as_texts(void **state)
{
    static const char *const recipes[][5] = {
        {NULL},
        {"threshold=0.5", NULL},
        {"threshold=0.3", "max_checks=3", NULL},
        {"threshold=0.6", "cluster=components", NULL},
        {"threshold=0.6", "cluster=complete", NULL},
        {"threshold=0.5", "cluster=components", "max_checks=2", NULL},
        {"short=tokens", NULL},
        {"short=tokens", "cluster=components", NULL},
        {"short=keep", NULL},
        {"verify=containment", "threshold=0.5", NULL},
        {"verify=containment-either", "threshold=0.5", "cluster=components", NULL},
        {"verify=cosine", "threshold=0.6", NULL},
        {"verify=containment-of-kept", "threshold=0.5", NULL},
        {"verify=cosine", "bands=20", "rows=5", NULL},
        {"candidates=simhash", "threshold=0.5", "simhash_bits=8", NULL},
        {"candidates=simhash", "verify=none", NULL},
        {"candidates=identity", NULL},
        {"candidates=all", "threshold=0.5", NULL},
        {"unit=characters", "shingle=7", NULL},
        {"verify=none", "bands=12", "rows=8", NULL},
        {"verify=none", "bands=12", "rows=8", "cluster=complete", NULL},
        {"manku-2007", NULL},
        {"manku-2007", "cluster=components", NULL},
        {"manku-2007", "verify=jaccard", "threshold=0.5", NULL},
        {"broder-1997", NULL},
        {"conrad-schriber-2004", NULL},
        {"cops-1995", NULL},
        {"dean-henzinger-1999", NULL},
        {"henzinger-2006-b", NULL},
        {"henzinger-2006-combined", "max_checks=3", NULL},
        {"joshi-2003", NULL},
        {"pugh-henzinger-2003", "cluster=complete", NULL},
        {"spotsigs-2008", NULL},
        {"text-profile", "short=tokens", NULL},
        {"winnowing-2003", "cluster=components", NULL},
    };

    struct nd_recipe *recipe = recipe_of(recipes[1]);
    struct rows *rows = make_rows(recipe);

    (void)state;
    check_variety(recipe, rows);
    free_rows(rows);
    nd_recipe_free(recipe);
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        check_recipe(recipes[i]);
}

/* ---- Batches that are prepared ---- */

struct turns {
    struct nd_dedup *d;
    struct nd_pool *pool;
    struct nd_ticket_lock take, push;
    atomic_ulong ticket;
    const struct nd_dedup_item *items;
    struct nd_decision *decision;
    size_t next; /* by whoever has the turn to take */
    atomic_int failed;
};

static void push_in_turn(void *context, unsigned worker)
{
    enum { BATCH = 23 };
    struct turns *t = context;
    size_t n = 1;

    while (n) {
        unsigned long ticket = atomic_fetch_add(&t->ticket, 1);
        size_t from;

        nd_pool_await(t->pool, &t->take, ticket);
        from = t->next;
        n = DOCUMENTS - from < BATCH ? DOCUMENTS - from : BATCH;
        t->next += n;
        nd_pool_pass(t->pool, &t->take);
        nd_dedup_prepare(t->d, worker, t->items + from, n);
        nd_pool_lead(t->pool, worker, &t->push, ticket);
        if (nd_dedup_push_prepared(t->d, worker, t->decision + from, NULL) != ND_OK)
            atomic_fetch_add(&t->failed, 1);
        nd_pool_pass(t->pool, &t->push);
    }
}

static void check_prepared(const struct nd_recipe *recipe, const struct rows *rows, struct way *way)
{
    static struct result got;
    struct nd_dedup_params params = nd_recipe_dedup_params(recipe);
    const struct way as_texts = {TEXTS, 1, DOCUMENTS, false};
    struct result *want = run(recipe, rows, &as_texts, false);
    struct nd_dedup_item some[DOCUMENTS];
    struct turns t = {.items = some, .decision = got.decision};

    make_items(rows, way->mix, some);
    params.takes_sketches = 1;
    t.pool = nd_pool_new(way->threads, NULL);
    assert_non_null(t.pool);
    t.d = nd_dedup_new_on(t.pool, &params, NULL, NULL);
    assert_non_null(t.d);
    nd_pool_each(t.pool, push_in_turn, &t);
    assert_int_equal(t.failed, 0);
    compare_decisions(way, &got, want);
    nd_dedup_free(t.d);
    nd_pool_free(t.pool);
    free(want);
}

static void prepared_rows_are_decided_as_texts(void **state)
{
    static const char *const recipes[][3] = {
        {"threshold=0.5", NULL},
        {"verify=containment", "threshold=0.5", NULL},
        {"short=tokens", NULL},
        {"manku-2007", NULL},
        {"henzinger-2006-combined", NULL},
        {"cops-1995", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        struct nd_recipe *recipe = recipe_of(recipes[i]);
        struct rows *rows = make_rows(recipe);

        for (unsigned threads = 1; threads <= 3; threads++)
            for (enum mix mix = ROWS; mix < MIXES; mix++)
                check_prepared(recipe, rows, &(struct way){.mix = mix, .threads = threads});
        free_rows(rows);
        nd_recipe_free(recipe);
    }
}

/* ---- Without shingles ---- */

static void nothing_verified_needs_no_shingles(void **state)
{
    static const char *const recipes[][5] = {
        {"candidates=simhash", "verify=none", NULL},
        {"verify=none", "bands=12", "rows=8", NULL},
        {"verify=none", "bands=12", "rows=8", "cluster=components", NULL},
        {"verify=none", "bands=12", "rows=8", "cluster=complete", NULL},
        {"manku-2007", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        struct nd_recipe *recipe = recipe_of(recipes[i]);
        struct rows *rows = make_rows(recipe);

        for (size_t k = 0; k < DOCUMENTS; k++)
            rows->row[k].shingles = NULL;
        check_way(recipe, rows, (struct way){ROWS, 2, 100, false}, false);
        check_way(recipe, rows, (struct way){ROWS, 2, 100, false}, true);
        check_way(recipe, rows, (struct way){ROWS, 1, 100, true}, true);
        free_rows(rows);
        nd_recipe_free(recipe);
    }
}

/* ---- Rows that a push leaves behind ---- */

static void check_signatures(const struct nd_sketch_row *made, const struct nd_sketch_row *want,
                             unsigned n)
{
    assert_int_equal(made->length, want->length);
    for (unsigned i = 0; i < n; i++) {
        const struct nd_signature *a = &made->signature[i], *b = &want->signature[i];

        assert_int_equal(a->is_rejected, b->is_rejected);
        if (a->is_rejected)
            continue;
        assert_int_equal(a->count, b->count);
        assert_memory_equal(a->word, b->word, a->count * sizeof *a->word);
    }
}

static void check_made(const struct nd_dedup *d, const struct rows *rows, unsigned n_signatures,
                       size_t from, size_t n, size_t *n_made)
{
    for (size_t i = 0; i < n; i++) {
        const struct nd_sketch_row *want = &rows->bare[from + i];
        struct nd_sketch_row made;

        if (!nd_dedup_made_row(d, 0, i, &made))
            continue;
        ++*n_made;
        assert_memory_equal(made.text_hash, want->text_hash, sizeof made.text_hash);
        assert_int_equal(made.identity, want->identity);
        assert_int_equal(made.simhash, want->simhash);
        assert_int_equal(made.tokens, want->tokens);
        assert_int_equal(made.text_bytes, want->text_bytes);
        assert_int_equal(made.n_shingles, want->n_shingles);
        check_signatures(&made, want, n_signatures);
        if (!n_signatures)
            assert_memory_equal(made.low, want->low, sizeof made.low);
    }
}

static void a_push_leaves_the_rows_of_what_it_read(void **state)
{
    static const char *const recipes[][3] = {
        {"threshold=0.5", NULL}, {"manku-2007", NULL}, {"cops-1995", NULL}};

    (void)state;
    for (size_t r = 0; r < sizeof recipes / sizeof *recipes; r++) {
        const struct way way = {ROWS, 2, 50, false}; /* it takes sketches */
        struct nd_recipe *recipe = recipe_of(recipes[r]);
        struct rows *rows = make_rows(recipe);
        struct nd_dedup *d = make_engine(recipe, &way, false);
        struct nd_decision decision[50];
        size_t n_made = 0, n_known = 0;

        for (size_t from = 0; from < DOCUMENTS; from += 50) {
            assert_int_equal(nd_dedup_push(d, item + from, 50, decision, NULL), ND_OK);
            check_made(d, rows, recipe->method.n_signatures, from, 50, &n_made);
        }
        assert_in_range(n_made, DOCUMENTS / 4, DOCUMENTS);
        assert_int_equal(
            nd_dedup_push(d, &(struct nd_dedup_item){.text = item[0].text, .known = rows->bare}, 1,
                          decision, NULL),
            ND_OK);
        check_made(d, rows, recipe->method.n_signatures, 0, 1, &n_known);
        assert_int_equal(n_known, 0);
        nd_dedup_free(d);
        free_rows(rows);
        nd_recipe_free(recipe);
    }
}

/* ---- What is refused ---- */

static enum nd_status no_text(void *context, uint64_t at, unsigned worker, struct nd_view *out,
                              struct nd_error *err)
{
    (void)context, (void)at, (void)worker, (void)out;
    return nd_fail(err, ND_EIO, "no text");
}

static enum nd_status keep_nothing(void *context, uint64_t at, size_t place, struct nd_error *err)
{
    (void)context, (void)at, (void)place, (void)err;
    return ND_OK;
}

static enum nd_status no_shingles(void *context, uint64_t at, unsigned worker,
                                  const uint64_t **shingle, size_t *n, struct nd_error *err)
{
    (void)context, (void)at, (void)worker, (void)shingle, (void)n;
    return nd_fail(err, ND_EIO, "no shingles");
}

static void rows_that_are_not_taken_are_refused(void **state)
{
    static const char *const keys[] = {"threshold=0.5", NULL};
    const struct way texts = {.mix = TEXTS, .threads = 1}, mixed = {.mix = ROWS, .threads = 1};
    struct nd_recipe *recipe = recipe_of(keys);
    struct rows *rows = make_rows(recipe);
    struct nd_dedup_item one = {.sketched = &rows->row[0]};
    struct nd_decision decision;
    struct nd_error err;
    struct nd_dedup *d = make_engine(recipe, &texts, false);

    (void)state;
    assert_int_equal(nd_dedup_push(d, &one, 1, &decision, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "takes texts only"));
    assert_int_equal(nd_dedup_push(d, &item[0], 1, &decision, NULL), ND_OK);
    nd_dedup_free(d);

    d = make_engine(recipe, &mixed, false);
    rows->row[0].shingles = NULL;
    rows->row[0].n_shingles = 7;
    assert_int_equal(nd_dedup_push(d, &one, 1, &decision, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "no shingles"));
    one.sketched = &rows->row[1];
    assert_int_equal(nd_dedup_push(d, &one, 1, &decision, NULL), ND_OK);
    nd_dedup_free(d);
    free_rows(rows);
    nd_recipe_free(recipe);
}

/* A source that has no shingles is found out at once, and one that fails ends the push. */
static void a_source_gives_shingles(void **state)
{
    static const char *const keys[] = {"threshold=0.2", NULL};
    struct nd_text_source source = {NULL, no_text, keep_nothing, NULL};
    struct nd_dedup_options options = nd_dedup_options_default();
    struct nd_recipe *recipe = recipe_of(keys);
    struct rows *rows = make_rows(recipe);
    struct nd_dedup_item some[DOCUMENTS];
    struct nd_decision decision[DOCUMENTS];
    struct nd_error err;
    struct nd_dedup *d;

    (void)state;
    options.takes_sketches = 1;
    options.source = &source;
    d = nd_dedup_new(recipe, &options, NULL);
    assert_non_null(d);
    make_items(rows, ROWS, some);
    assert_int_equal(nd_dedup_push(d, some, DOCUMENTS / 2, decision, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "fetch_shingles"));
    nd_dedup_free(d);
    source.fetch_shingles = no_shingles;
    d = nd_dedup_new(recipe, &options, NULL);
    assert_int_equal(nd_dedup_push(d, some, DOCUMENTS / 2, decision, NULL), ND_OK);
    assert_int_equal(nd_dedup_push(d, some + DOCUMENTS / 2, DOCUMENTS / 2, decision, &err), ND_EIO);
    assert_string_equal(err.message, "no shingles");
    nd_dedup_free(d);
    free_rows(rows);
    nd_recipe_free(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_decided_as_texts),
        cmocka_unit_test(prepared_rows_are_decided_as_texts),
        cmocka_unit_test(nothing_verified_needs_no_shingles),
        cmocka_unit_test(rows_that_are_not_taken_are_refused),
        cmocka_unit_test(a_source_gives_shingles),
        cmocka_unit_test(a_push_leaves_the_rows_of_what_it_read),
    };

    return cmocka_run_group_tests(tests, make_texts, NULL);
}
