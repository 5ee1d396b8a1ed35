/* recipe_keys_signature.c - the keys that say what is made of the features */
#include "engine/recipe_keys.h"

#define SIGNATURE(field, key) ND_KEY_OF_SIGNATURE(signature.field, key)
#define WORDS ND_KEY_WORDS
#define KIND(name) (1U << ND_SIGNATURE_##name)

static bool is_one_of(const void *values, unsigned kinds)
{
    return (kinds >> ((const struct nd_named_signature *)values)->signature.kind) & 1U;
}

/* A condition on the kind. */
#define READ_BY(name, kinds)                                                                       \
    static bool name(const void *values)                                                           \
    {                                                                                              \
        return is_one_of(values, (kinds));                                                         \
    }
READ_BY(has_bits, KIND(SIMHASH) | KIND(BOTTOM_K) | KIND(MOD_P) | KIND(WINNOWING) | KIND(FEATURES))
READ_BY(has_reserved_bits, KIND(SIMHASH))
READ_BY(has_minima, KIND(MINHASH) | KIND(BOTTOM_K) | KIND(SUPERSHINGLES) | KIND(SORTED_SHINGLES) |
                        KIND(MEGASHINGLES))
READ_BY(has_groups, KIND(SUPERSHINGLES) | KIND(MEGASHINGLES) | KIND(CHECKSUMS))
READ_BY(has_sketch_width, KIND(SORTED_SHINGLES))
READ_BY(has_modulus, KIND(MOD_P))
READ_BY(has_window, KIND(WINNOWING))
READ_BY(is_imatch, KIND(IMATCH))
READ_BY(has_least_terms, KIND(IMATCH) | KIND(CHECKSUMS) | KIND(PROFILE))
READ_BY(has_quantum, KIND(PROFILE))

static bool has_polynomial(const void *values)
{
    return ((const struct nd_named_signature *)values)->signature.hash == ND_HASH_RABIN;
}

static bool has_df(const void *values)
{
    return nd_signature_asks_df(values);
}

static bool has_template(const void *values)
{
    return nd_signature_asks_template(values);
}

static bool has_drop(const void *values)
{
    return is_imatch(values) && ((const struct nd_named_signature *)values)->signature.lexicons &&
           !((const struct nd_named_signature *)values)->signature.bootstrap;
}

static bool has_copies(const void *values)
{
    return is_imatch(values) && ((const struct nd_named_signature *)values)->signature.lexicons;
}

#define READ(condition, where) .is_read = (condition), .reader = (where)
static const char imatch[] = "where kind is imatch";
static const char copies[] = "where kind is imatch and lexicons is not 0";
static const char df[] = "where a df table is asked: idf other than none, kind imatch, select "
                         "rarest or uncommon, phrases, stop_words = df:SHARE";

static const struct nd_recipe_key keys[] = {
    {SIGNATURE(kind, "kind"), ND_KEY_ENUM,
     WORDS("simhash", "minhash", "bottom-k", "mod-p", "winnowing", "supershingles",
           "sorted-shingles", "megashingles", "imatch", "checksums", "profile", "features")},
    {SIGNATURE(hash, "hash"), ND_KEY_ENUM, WORDS("token", "lookup8", "rabin", "sha1")},
    {SIGNATURE(rabin_polynomial, "rabin_polynomial"), ND_KEY_HEX,
     READ(has_polynomial, "where hash is rabin")},
    {SIGNATURE(bits, "bits"), ND_KEY_INT, .least = 1, .greatest = 512,
     READ(has_bits, "where kind is simhash, bottom-k, mod-p, winnowing or features")},
    {SIGNATURE(reserved_bits, "reserved_bits"), ND_KEY_INT, .least = 0,
     .greatest = ND_SIGNATURE_RESERVED_MAX, READ(has_reserved_bits, "where kind is simhash")},
    {SIGNATURE(minima, "minima"), ND_KEY_INT, .least = 1, .greatest = 65536,
     READ(has_minima,
          "where kind is minhash, bottom-k, supershingles, sorted-shingles or megashingles")},
    {SIGNATURE(groups, "groups"), ND_KEY_INT, .least = 1, .greatest = ND_SIGNATURE_GROUPS_MAX,
     READ(has_groups, "where kind is supershingles, megashingles or checksums")},
    {SIGNATURE(width, "sketch_width"), ND_KEY_INT, .least = 1, .greatest = ND_SIGNATURE_MINIMA_MAX,
     READ(has_sketch_width, "where kind is sorted-shingles")},
    {SIGNATURE(modulus, "modulus"), ND_KEY_INT, .least = 1, .greatest = 4294967295.0,
     READ(has_modulus, "where kind is mod-p")},
    {SIGNATURE(window, "window"), ND_KEY_INT, .least = 1, .greatest = 65536,
     READ(has_window, "where kind is winnowing")},
    {SIGNATURE(lexicon_low, "lexicon_low"), ND_KEY_REAL, .least = 0, .greatest = 1,
     READ(is_imatch, imatch)},
    {SIGNATURE(lexicon_high, "lexicon_high"), ND_KEY_REAL, .least = 0, .greatest = 1,
     READ(is_imatch, imatch)},
    {SIGNATURE(secondary, "secondary"), ND_KEY_INT, .least = 0, .greatest = 1000000,
     READ(is_imatch, imatch)},
    {SIGNATURE(least_terms, "least_terms"), ND_KEY_INT, .least = 0, .greatest = 1000000,
     READ(has_least_terms, "where kind is imatch, checksums or profile")},
    {SIGNATURE(lexicons, "lexicons"), ND_KEY_INT, .least = 0, .greatest = ND_SIGNATURE_LEXICONS_MAX,
     READ(is_imatch, imatch)},
    {SIGNATURE(drop, "drop"), ND_KEY_REAL, .least = 0, .greatest = 0.999999,
     READ(has_drop, "where kind is imatch, lexicons is not 0 and bootstrap is no")},
    {SIGNATURE(bootstrap, "bootstrap"), ND_KEY_YES, READ(has_copies, copies)},
    {SIGNATURE(seed, "seed"), ND_KEY_WHOLE},
    {SIGNATURE(quantum, "quantum"), ND_KEY_REAL, .least = 0, .greatest = 1,
     READ(has_quantum, "where kind is profile")},
    {ND_KEY_OF_SIGNATURE(df, "df"), ND_KEY_PATH, .greatest = ND_FEATURE_PATH_MAX, .is_place = true,
     READ(has_df, df)},
    {ND_KEY_OF_SIGNATURE(df_version, "df_version"), ND_KEY_HEX, READ(has_df, df)},
    {ND_KEY_OF_SIGNATURE(template_df, "template_df"), ND_KEY_PATH, .greatest = ND_FEATURE_PATH_MAX,
     .is_place = true, READ(has_template, "where template_count is given")},
    {ND_KEY_OF_SIGNATURE(template_df_version, "template_df_version"), ND_KEY_HEX,
     READ(has_template, "where template_count is given")},
};

const struct nd_key_table nd_signature_keys = {keys, sizeof keys / sizeof *keys};
