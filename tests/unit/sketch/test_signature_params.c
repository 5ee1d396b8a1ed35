/* test_signature_params.c - the ranges of the parameters of signatures */
#include "signature_fixture.h"

#include <math.h>

static void wrong_parameters_are_named(void **state)
{
    static const struct {
        enum nd_signature_kind kind;
        size_t offset;
        unsigned value;
        const char *name;
    } wrong[] = {
#define WRONG(kind, key, value)                                                                    \
    {ND_SIGNATURE_##kind, offsetof(struct nd_signature_params, key), value, #key}
        WRONG(SIMHASH, bits, 0),
        WRONG(SIMHASH, bits, 63),
        WRONG(SIMHASH, bits, 1024),
        WRONG(SIMHASH, reserved_bits, 17),
        WRONG(MINHASH, minima, 0),
        WRONG(MINHASH, minima, 1025),
        WRONG(SUPERSHINGLES, groups, 0),
        WRONG(SUPERSHINGLES, groups, 5),
        WRONG(SUPERSHINGLES, minima, 0),
        WRONG(MEGASHINGLES, groups, 1),
        WRONG(MEGASHINGLES, groups, 42),
        WRONG(SORTED_SHINGLES, width, 0),
        WRONG(SORTED_SHINGLES, width, 85),
        WRONG(BOTTOM_K, minima, 0),
        WRONG(BOTTOM_K, bits, 65),
        WRONG(MOD_P, modulus, 0),
        WRONG(MOD_P, bits, 0),
        WRONG(WINNOWING, window, 0),
        WRONG(FEATURES, bits, 0),
        WRONG(CHECKSUMS, groups, 0),
        WRONG(CHECKSUMS, groups, 1025),
        WRONG(IMATCH, lexicons, 257),
#undef WRONG
    };
    struct nd_error err;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct nd_signature_params p = params_of(wrong[i].kind);

        assert_int_equal(nd_signature_params_check(&p, &err), ND_OK);
        memcpy((char *)&p + wrong[i].offset, &wrong[i].value, sizeof wrong[i].value);
        assert_int_equal(nd_signature_params_check(&p, &err), ND_EINVAL);
        assert_non_null(strstr(err.message, wrong[i].name));
        assert_null(nd_signer_new_from(&p, &(struct nd_df_source){0}, &err));
        assert_int_equal(err.status, ND_EINVAL);
    }
}

static void what_a_kind_does_not_read_may_be_anything(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct nd_signature_params p = params_of((enum nd_signature_kind)kind);

        if (kind != ND_SIGNATURE_IMATCH)
            p.lexicon_low = p.lexicon_high = p.drop = nan("");
        if (kind != ND_SIGNATURE_PROFILE)
            p.quantum = -1e300;
        if (kind != ND_SIGNATURE_WINNOWING)
            p.window = 0;
        if (kind != ND_SIGNATURE_MOD_P)
            p.modulus = 0;
        nd_signer_free(signer_of(&p));
    }
}

static void wrong_shares_and_names_are_refused(void **state)
{
    struct nd_signature_params p = params_of(ND_SIGNATURE_IMATCH);
    struct nd_error err;

    (void)state;
    p.lexicon_low = 0.9;
    assert_int_equal(nd_signature_params_check(&p, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "lexicon"));
    p.lexicon_low = -0.0001;
    assert_int_equal(nd_signature_params_check(&p, &err), ND_EINVAL);
    p = params_of(ND_SIGNATURE_IMATCH);
    p.drop = 1;
    assert_int_equal(nd_signature_params_check(&p, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "drop"));
    p.drop = nan("");
    assert_int_equal(nd_signature_params_check(&p, &err), ND_EINVAL);
    p = params_of(ND_SIGNATURE_PROFILE);
    p.quantum = 1.5;
    assert_int_equal(nd_signature_params_check(&p, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "quantum"));
    p = params_of((enum nd_signature_kind)KINDS);
    assert_int_equal(nd_signature_params_check(&p, &err), ND_EINVAL);
    p = params_of(ND_SIGNATURE_SIMHASH);
    p.hash = (enum nd_hash_function)4;
    assert_int_equal(nd_signature_params_check(&p, &err), ND_EINVAL);
    p.hash = ND_HASH_RABIN;
    p.rabin_polynomial = UINT64_C(0x42F0E1EBA9EA3693); /* of ECMA-182: t + 1 divides it */
    assert_int_equal(nd_signature_params_check(&p, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "42f0e1eba9ea3693"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_parameters_are_named),
        cmocka_unit_test(what_a_kind_does_not_read_may_be_anything),
        cmocka_unit_test(wrong_shares_and_names_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
