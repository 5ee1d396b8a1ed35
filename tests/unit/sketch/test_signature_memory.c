/* test_signature_memory.c - every allocation of a signer fails once: no crash, no leak, ND_ENOMEM
 */
#include "signature_fixture.h"

#include "failing_wraps.h"

enum { MOST = 500 };

static struct nd_feature feature[MOST];

/* A document while memory fails, and, where it did, the same again by the same signer. */
static enum nd_status run(const struct nd_signature_params *p, size_t n)
{
    const struct nd_df_source df = {DOCUMENTS, df_of, NULL};
    const struct nd_features features = {.items = feature, .count = n};
    struct nd_signature out = {0};
    struct nd_error err = {0};
    struct nd_signer *s = nd_signer_new_from(p, &df, &err);
    enum nd_status status;

    if (!s)
        return err.status;
    status = nd_signer_run(s, &features, &out);
    if (status != ND_OK) {
        assert_null(out.word);
        assert_int_equal(nd_signer_run(s, &features, &out), ND_OK);
        assert_false(out.is_rejected);
    }
    nd_signer_free(s);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < MOST; i++)
        feature[i] = (struct nd_feature){any() % 300, 1};
    for (int kind = 0; kind < KINDS; kind++)
        for (unsigned function = 0; function <= ND_HASH_SHA1; function++)
            for (size_t n = 12; n <= MOST; n += MOST - 12) {
                struct nd_signature_params p = params_of((enum nd_signature_kind)kind);
                enum nd_status status;
                long allocations = 0;

                p.hash = (enum nd_hash_function)function;
                p.lexicons = 2;
                p.secondary = 5;
                p.modulus = 3;
                do {
                    has_failed = 0;
                    countdown = allocations++;
                    status = run(&p, n);
                    countdown = -1;
                    assert_int_equal(status, has_failed ? ND_ENOMEM : ND_OK);
                } while (has_failed);
                assert_true(allocations > 1); /* it does allocate */
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
