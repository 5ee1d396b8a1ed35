/* test_handles.c - after an allocation that failed a handle gives the same final answers, or says
 * that it does not; called from its own callback it refuses */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <neardup/feature.h>
#include <neardup/index.h>
#include <neardup/input.h>
#include <neardup/signature.h>
#include <neardup/sketch.h>
#include <neardup/text.h>

#include "base/hash.h"

#define FAILING_MAPS
#include "failing_wraps.h"
#include "text_units.h"

static void fail_at(long n)
{
    atomic_store(&has_failed, 0);
    atomic_store(&countdown, n);
}

static bool failed(void)
{
    atomic_store(&countdown, -1);
    return atomic_load(&has_failed) != 0;
}

/* ---- The live index: every call may be made again ---- */

enum { DOCUMENTS = 700 };

static struct nd_sketch sketch_of(unsigned i)
{
    struct nd_sketch sketch = {.simhash = nd_mix64(i), .identity = i, .n_shingles = 5};

    for (unsigned j = 0; j < ND_MINHASH_COUNT; j++)
        sketch.minhash[j] = (uint32_t)nd_mix64((i / 3) * ND_MINHASH_COUNT + j);
    return sketch;
}

struct answers {
    struct nd_candidate items[4 * DOCUMENTS];
    size_t n;
};

static void again(enum nd_status status)
{
    assert_int_equal(status, ND_ENOMEM);
    assert_true(failed());
}

static void use_index(struct nd_index *index, struct answers *out)
{
    struct nd_candidates met = {0};
    uint32_t number, *to;
    enum nd_status status;
    size_t n;

    for (unsigned i = 0; i < DOCUMENTS; i++) {
        const struct nd_sketch sketch = sketch_of(i);

        while ((status = nd_index_insert(index, &sketch, i % 2, &number, NULL)) != ND_OK)
            again(status);
        assert_int_equal(number, i);
    }
    for (uint32_t i = 0; i < DOCUMENTS; i += 4)
        assert_int_equal(nd_index_delete(index, i, NULL), ND_OK);
    while ((status = nd_index_compact(index, &to, &n, NULL)) != ND_OK)
        again(status);
    assert_int_equal(n, DOCUMENTS);
    free(to);
    out->n = 0;
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        const struct nd_sketch sketch = sketch_of(i);

        while ((status = nd_index_query(index, &sketch, i % 2, &met)) != ND_OK)
            again(status);
        assert_true(out->n + met.count <= 4 * DOCUMENTS);
        if (met.count)
            memcpy(out->items + out->n, met.items, met.count * sizeof *met.items);
        out->n += met.count;
    }
    nd_candidates_release(&met);
}

static void the_index_goes_on(void **state)
{
    const struct nd_index_params params = {21, 6, 3};
    static struct answers expected, got;
    bool any = true;
    long n = 0;

    (void)state;
    for (n = -1; any; n++) {
        struct nd_index *index = nd_index_new(&params, NULL);

        assert_non_null(index);
        fail_at(n);
        use_index(index, n < 0 ? &expected : &got);
        any = failed() || n < 0;
        nd_index_free(index);
        if (n < 0)
            continue;
        assert_int_equal(got.n, expected.n);
        assert_memory_equal(got.items, expected.items, got.n * sizeof *got.items);
    }
    assert_true(n > 10);
}

/* ---- Scratch memory of a thread: the next text is as if nothing had been ---- */

enum { TEXTS = 6, TEXT = 30000 };
static char text[TEXTS][TEXT];

static int make_texts(void **state)
{
    (void)state;
    for (unsigned t = 0; t < TEXTS; t++) {
        size_t len = 0;

        for (unsigned w = 0; len + 20 < (t % 2 ? TEXT : TEXT / 10); w++)
            len += (size_t)sprintf(text[t] + len, "w%u\xC3\x89 ", (unsigned)nd_mix64(w + t) % 4000);
    }
    return 0;
}

static uint64_t hash_of(const struct nd_sketch *sketch)
{
    return nd_hash_bytes((const char *)sketch->minhash, sizeof sketch->minhash) ^ sketch->simhash ^
           sketch->identity ^
           nd_hash_bytes((const char *)sketch->shingle,
                         (size_t)sketch->n_shingles * sizeof *sketch->shingle);
}

static void sketchers_go_on(void **state)
{
    (void)state;
    for (int unit = 0; unit < 2; unit++) {
        const struct nd_sketch_params params = {.unit = (enum nd_shingle_unit)unit, .w = 3};
        uint64_t expected[TEXTS];
        bool any = true;

        for (long n = -1; any; n++) {
            struct nd_sketcher *sketcher = nd_sketcher_new(&params, NULL);

            fail_at(n);
            for (unsigned t = 0; t < TEXTS; t++) {
                struct nd_sketch sketch;
                enum nd_status status;

                while ((status = nd_sketcher_run(sketcher, text[t], strlen(text[t]), ND_SKETCH_ALL,
                                                 &sketch)) != ND_OK)
                    again(status);
                if (n < 0)
                    expected[t] = hash_of(&sketch);
                assert_int_equal(hash_of(&sketch), expected[t]);
            }
            any = failed() || n < 0;
            nd_sketcher_free(sketcher);
        }
    }
}

/* Features and what a signer makes of them. */
static void run_featurers(const struct nd_feature_params *params, enum nd_signature_kind kind)
{
    struct nd_weight_params weights = nd_weight_params_default();
    struct nd_signature_params p = nd_signature_params_default();
    uint64_t expected[TEXTS];
    bool any = true;

    p.kind = kind;
    for (long n = -1; any; n++) {
        struct nd_featurer *featurer = nd_featurer_new(params, &weights, NULL, NULL);
        struct nd_signer *signer = nd_signer_new(&p, NULL, NULL);

        assert_true(featurer && signer);
        fail_at(n);
        for (unsigned t = 0; t < TEXTS; t++) {
            const struct nd_document document = {.text = {text[t], strlen(text[t])}};
            struct nd_features features;
            struct nd_signature signature;
            enum nd_status status;
            uint64_t hash;

            while ((status = nd_featurer_run(featurer, &document, &features)) != ND_OK)
                again(status);
            while ((status = nd_signer_run(signer, &features, &signature)) != ND_OK)
                again(status);
            hash = nd_hash_bytes((const char *)signature.word,
                                 signature.count * sizeof *signature.word) +
                   features.count;
            if (n < 0)
                expected[t] = hash;
            assert_int_equal(hash, expected[t]);
        }
        any = failed() || n < 0;
        nd_featurer_free(featurer);
        nd_signer_free(signer);
    }
}

static void featurers_and_signers_go_on(void **state)
{
    struct nd_feature_params params = nd_feature_params_default();

    (void)state;
    for (unsigned unit = 0; unit < ND_FEATURE_UNITS; unit++) {
        if (!is_text_unit(unit))
            continue;
        params.unit = (enum nd_feature_unit)unit;
        strcpy(params.stop_words, stop_words_of(params.unit));
        run_featurers(&params, ND_SIGNATURE_SIMHASH);
        run_featurers(&params, ND_SIGNATURE_FEATURES);
    }
    params = nd_feature_params_default();
    params.unit = ND_FEATURE_SENTENCES;
    params.count = ND_FEATURE_OCCURRENCES;
    run_featurers(&params, ND_SIGNATURE_WINNOWING);
}

/* ---- The input: broken where memory ended, and refused from its own report ---- */

static char folder[] = "/tmp/neardup-test-handles-XXXXXX";
static char path[64];

static int make_file(void **state)
{
    FILE *file;

    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/a.jsonl", folder);
    file = fopen(path, "w");
    for (unsigned i = 0; file && i < 2000; i++)
        fprintf(file, "{\"text\":\"record %u\"}\n", i);
    return file && fclose(file) == 0 ? make_texts(state) : -1;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path) == 0 ? rmdir(folder) : -1;
}

static void ignore(void *context, const struct nd_problem *problem)
{
    (void)context;
    (void)problem;
}

static void an_input_that_memory_failed_says_so(void **state)
{
    const struct nd_input_options options = nd_input_options_default();
    const char *const paths[] = {path};
    bool any = true;

    (void)state;
    for (long n = 0; any; n++) {
        struct nd_input *input = nd_input_open(paths, 1, &options, ignore, NULL, NULL);
        struct nd_batch batch = {0};
        size_t records = 0;
        int got;

        fail_at(n);
        got = nd_input_list(input, NULL);
        while (got >= 0 && (got = nd_input_read(input, 1 << 12, 50, &batch, NULL)) > 0)
            records += batch.count;
        any = failed();
        assert_int_equal(got, any ? ND_ENOMEM : 0);
        if (any)
            assert_int_equal(nd_input_read(input, 1 << 12, 50, &batch, NULL), ND_EINVAL);
        else
            assert_int_equal(records, 2000);
        assert_null(nd_input_source(input, 1));
        assert_null(nd_input_source(input, UINT32_MAX));
        assert_null(nd_input_file(input, 1));
        nd_batch_release(&batch);
        nd_input_close(input);
    }
}

struct reading {
    struct nd_input *input;
    struct nd_batch inner;
    int got, n;
    bool closes;
};

static void read_again(void *context, const struct nd_problem *problem)
{
    struct reading *r = context;

    (void)problem;
    r->n++;
    r->got = nd_input_read(r->input, 1 << 12, 50, &r->inner, NULL);
    assert_int_equal(nd_input_list(r->input, NULL), ND_EINVAL);
    if (r->closes)
        nd_input_close(r->input);
}

static void an_input_is_not_read_from_its_report(void **state)
{
    const struct nd_input_options options = nd_input_options_default();
    const char *const paths[] = {"/nowhere/at/all.jsonl", path};

    (void)state;
    for (int closes = 0; closes < 2; closes++) {
        struct reading r = {.closes = closes};
        struct nd_batch batch = {0};
        size_t records = 0;

        r.input = nd_input_open(paths, 2, &options, read_again, &r, NULL);
        assert_non_null(r.input);
        while (nd_input_read(r.input, 1 << 12, 50, &batch, NULL) > 0) {
            records += batch.count;
            if (closes)
                break; /* it is gone */
        }
        assert_int_equal(records, closes ? 50 : 2000);
        assert_int_equal(r.n, 1);
        assert_int_equal(r.got, ND_EINVAL);
        nd_batch_release(&batch);
        nd_batch_release(&r.inner);
        if (!closes)
            nd_input_close(r.input);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_index_goes_on),
        cmocka_unit_test(sketchers_go_on),
        cmocka_unit_test(featurers_and_signers_go_on),
        cmocka_unit_test(an_input_that_memory_failed_says_so),
        cmocka_unit_test(an_input_is_not_read_from_its_report),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
