/*
 * recipe_keys.c - the keys of a recipe: their types and limits, and when anything reads them
 *
 * The two tables are in the middle and at the end; before each stand the conditions under which its
 * keys are read.  A new key is one row, a member of a parameter struct, and the code that uses it.
 */
#include <neardup/index.h>

#include <stdio.h>

#include "base/view.h"
#include "feature/feature_params.h"
#include "feature/weigh.h"
#include "feature/word/stemmer.h"
#include "match/measure.h"
#include "recipe/recipe_keys.h"

#define WORDS(...)                                                                                 \
    .words = (const char *const[]){__VA_ARGS__},                                                   \
    .n_words = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)
#define READ(condition, where) .is_read = (condition), .reader = (where)
#define READ_OF(of, condition, where)                                                              \
    .is_read = (condition), .reader = (where), .units = nd_unit_##of

/* ---- The rule: "distance(a) <= 3 and any of (…)", in one spelling; nd_rule_parse reads it ------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Whether a name, a word or a number may contain it. */
static bool is_inner(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '/';
}

/* The bytes of the first piece: a name, a word or a number, a comparison, or a punctuation mark.  0:
 * there is none. */
static size_t piece_len(struct nd_view rest)
{
    size_t n = 0;

    while (n < rest.len && is_inner(rest.data[n]))
        n++;
    if (n)
        return n;
    if (rest.len > 1 && rest.data[1] == '=' && (*rest.data == '<' || *rest.data == '>'))
        return 2;
    return strchr("(),", *rest.data) && *rest.data ? 1 : 0;
}

/* Whether no blank stands between the two: in "agree(a)", "(a" and "a,", but in "of (", "and (". */
static bool is_joined(struct nd_view before, struct nd_view piece)
{
    if (!before.len || *before.data == '(' || *piece.data == ')' || *piece.data == ',')
        return true;
    return *piece.data == '(' && is_inner(*before.data) && !nd_view_is(before, "of") &&
           !nd_view_is(before, "and") && !nd_view_is(before, "or");
}

static enum nd_status tidy_rule(struct nd_view value, char *out, size_t size, struct nd_error *err)
{
    struct nd_view rest = value, before = {NULL, 0}, piece;
    char text[ND_MATCH_MAX + 1];
    size_t used = 0;

    while (rest.len) {
        if (is_blank(*rest.data)) {
            rest.data++;
            rest.len--;
            continue;
        }
        piece = (struct nd_view){rest.data, piece_len(rest)};
        if (!piece.len)
            return nd_fail(err, ND_EINVAL, "match: '%.*s' is not part of a rule",
                           nd_view_shown(rest), rest.data);
        if (used + piece.len + 1 >= size || used + piece.len + 1 >= sizeof text)
            return nd_fail(err, ND_EINVAL, "match: the rule is longer than %d bytes", ND_MATCH_MAX);
        if (!is_joined(before, piece))
            text[used++] = ' ';
        memcpy(text + used, piece.data, piece.len);
        used += piece.len;
        before = piece;
        rest.data += piece.len;
        rest.len -= piece.len;
    }
    memcpy(out, text, used);
    out[used] = 0;
    return ND_OK;
}

/* ---- [sketch] and [decide] ---------------------------------------------------------------------- */

#define SKETCH(field) ND_HALF_SKETCH, .offset = offsetof(struct nd_recipe, dedup.sketch.field)
#define LAX(condition, where) .is_read = (condition), .is_lax = true, .reader = (where)
#define DECIDE(field) ND_HALF_DECIDE, .offset = offsetof(struct nd_recipe, dedup.field)

enum { CHECKS_MAX = 1000000 };

static bool keeps_quotes(const void *values)
{
    return ((const struct nd_recipe *)values)->dedup.sketch.mail_quotes == ND_QUOTES_KEEP;
}

static bool keeps_boilerplate(const void *values)
{
    return ((const struct nd_recipe *)values)->dedup.sketch.boilerplate == ND_BOILERPLATE_KEEP;
}

static bool has_no_forms(const void *values)
{
    return ((const struct nd_recipe *)values)->dedup.forms == ND_FORMS_NONE;
}

static bool has_rule(const void *values)
{
    return ((const struct nd_recipe *)values)->dedup.candidates == ND_CANDIDATES_MATCH;
}

static const struct nd_dedup_params *dedup_of(const void *values)
{
    return &((const struct nd_recipe *)values)->dedup;
}

static bool has_bands(const void *values)
{
    return dedup_of(values)->candidates == ND_CANDIDATES_MINHASH;
}

static bool has_recall(const void *values)
{
    return has_bands(values) && !dedup_of(values)->bands;
}

static bool has_distance(const void *values)
{
    return dedup_of(values)->candidates == ND_CANDIDATES_SIMHASH;
}

static bool has_threshold(const void *values)
{
    return has_recall(values) || dedup_of(values)->verify != ND_VERIFY_NONE;
}

static bool has_checks(const void *values)
{
    return dedup_of(values)->candidates != ND_CANDIDATES_ALL;
}

/* The words of an enum stand in the order of its values in neardup/dedup.h and neardup/sketch.h. */
const struct nd_recipe_key nd_recipe_keys[] = {
    {ND_HALF_SKETCH, "unicode", ND_KEY_FIXED, WORDS("15.0")},
    {ND_HALF_SKETCH, "minima", ND_KEY_FIXED, WORDS("128")},
    {SKETCH(unit), .name = "unit", .type = ND_KEY_ENUM, WORDS("words", "characters")},
    {SKETCH(w), .name = "shingle", .type = ND_KEY_INT, .min = 1, .max = ND_SHINGLE_MAX},
    {SKETCH(mail_quotes), .name = "mail_quotes", .type = ND_KEY_ENUM, WORDS("keep", "drop"),
     .is_unsaid = keeps_quotes},
    {SKETCH(boilerplate), .name = "boilerplate", .type = ND_KEY_ENUM, WORDS("keep", "drop"),
     .is_unsaid = keeps_boilerplate},
    {DECIDE(candidates), .name = "candidates", .type = ND_KEY_ENUM,
     WORDS("minhash", "simhash", "identity", "all", "match")},
    {DECIDE(verify), .name = "verify", .type = ND_KEY_ENUM, .word = nd_measure_word},
    {DECIDE(cluster), .name = "cluster", .type = ND_KEY_ENUM,
     WORDS("star", "components", "complete")},
    {DECIDE(short_policy), .name = "short", .type = ND_KEY_ENUM,
     WORDS("identical", "keep", "tokens")},
    {DECIDE(forms), .name = "forms", .type = ND_KEY_ENUM,
     WORDS("none", "numbers", "names", "dates"), .is_unsaid = has_no_forms},
    {DECIDE(threshold), .name = "threshold", .type = ND_KEY_RATIO, .min = 0, .max = 1,
     LAX(has_threshold, "where verify is not none, or where bands are chosen")},
    {DECIDE(recall), .name = "recall", .type = ND_KEY_REAL, .min = 0, .max = ND_RECALL_MAX,
     LAX(has_recall, "where candidates is minhash and bands are chosen")},
    {DECIDE(bands), .name = "bands", .type = ND_KEY_INT, .min = 0, .max = ND_MINHASH_COUNT,
     LAX(has_bands, "where candidates is minhash")},
    {DECIDE(rows), .name = "rows", .type = ND_KEY_INT, .min = 0, .max = ND_MINHASH_COUNT,
     LAX(has_bands, "where candidates is minhash")},
    {DECIDE(simhash_bits), .name = "simhash_bits", .type = ND_KEY_INT, .min = 0,
     .max = ND_SIMHASH_BITS_MAX, LAX(has_distance, "where candidates is simhash")},
    {DECIDE(max_checks), .name = "max_checks", .type = ND_KEY_INT, .min = 1, .max = CHECKS_MAX,
     LAX(has_checks, "where candidates is not all")},
    {ND_HALF_DECIDE, "keep", ND_KEY_STRING, .offset = offsetof(struct nd_recipe, keep), .min = 1,
     .max = ND_KEEP_MAX},
    {ND_HALF_DECIDE, "match", ND_KEY_STRING, .offset = offsetof(struct nd_recipe, method.match),
     .max = ND_MATCH_MAX, .tidy = tidy_rule, .is_read = has_rule,
     .reader = "where candidates is match"},
    {.name = NULL},
};

/* ---- [signature NAME]: when its features are read ----------------------------------------------- */

static const struct nd_recipe_signature *section_of(const void *values)
{
    return values;
}

static enum nd_feature_unit unit_of(const void *values)
{
    return section_of(values)->feature.unit;
}

static bool has_width(const void *values)
{
    return nd_unit_has_width(unit_of(values));
}

static bool has_word_distance(const void *values)
{
    return nd_unit_has_distance(unit_of(values));
}

static bool has_words(const void *values)
{
    return nd_unit_has_words(unit_of(values));
}

static bool keeps_quotes_in_section(const void *values)
{
    return section_of(values)->feature.mail_quotes == ND_QUOTES_KEEP;
}

static bool has_content(const void *values)
{
    return unit_of(values) != ND_FEATURE_NONE;
}

static bool is_term(const void *values)
{
    return unit_of(values) == ND_FEATURE_TERMS;
}

static bool has_select_count(const void *values)
{
    enum nd_feature_select select = section_of(values)->feature.select;

    return has_content(values) && select != ND_SELECT_ALL && select != ND_SELECT_ANCHORED;
}

static bool has_anchors(const void *values)
{
    return nd_unit_has_antecedents(unit_of(values)) ||
           section_of(values)->feature.select == ND_SELECT_ANCHORED;
}

static enum nd_signature_kind kind_of(const void *values)
{
    return section_of(values)->signature.kind;
}

static bool is_simhash(const void *values)
{
    return kind_of(values) == ND_SIGNATURE_SIMHASH;
}

static bool has_reserved(const void *values)
{
    return is_simhash(values) && section_of(values)->signature.reserved_bits > 0;
}

/* The other kinds take features as a set. */
static bool has_count(const void *values)
{
    return is_simhash(values) || kind_of(values) == ND_SIGNATURE_WINNOWING ||
           kind_of(values) == ND_SIGNATURE_PROFILE;
}

static bool has_digits(const void *values)
{
    return has_words(values) && section_of(values)->feature.strip == ND_STRIP_NONE;
}

static bool has_anchor_window(const void *values)
{
    return has_words(values) && section_of(values)->weight.markup != ND_MARKUP_IGNORE;
}

static bool has_stem(const void *values)
{
    return has_words(values) && nd_feature_params_stem(&section_of(values)->feature);
}

/* A count of 0 is the same as no such key. */
static bool has_template_count(const void *values)
{
    return has_words(values) && section_of(values)->feature.template_count > 0;
}

/* Words of stop_words that are no path. */
static bool is_stop_word_list(struct nd_view value)
{
    return nd_view_is(value, "none") || nd_view_is(value, "english") ||
           (value.len > 3 && memcmp(value.data, "df:", 3) == 0);
}

/* ---- [signature NAME]: when its weights are read ------------------------------------------------ */

static const struct nd_weight_params *weight_of(const void *values)
{
    return &section_of(values)->weight;
}

/* The key is read with characters, too: nd_signature_fits refuses markup there. */
static bool reads_text(const void *values)
{
    return !nd_unit_ignores_text(unit_of(values));
}

static bool has_boost(const void *values)
{
    return reads_text(values) && weight_of(values)->markup != ND_MARKUP_IGNORE;
}

static bool has_table(const void *values)
{
    return has_content(values) && weight_of(values)->position == ND_POSITION_TABLE;
}

/*
 * Whether the size of a weight matters.  A simhash adds weights up.  The other kinds only ask
 * whether a feature has a weight above 0: there the size matters where small or large weights are
 * cut off, and else only for weights that can be 0.  A key whose size does not matter still counts
 * as read while it has its default, so that it stands in the canonical text whatever the kind is.
 * Without content there is nothing to weigh.
 */
static bool are_compared(const void *values)
{
    const struct nd_weight_params *w = weight_of(values);

    return section_of(values)->signature.kind == ND_SIGNATURE_SIMHASH || w->low > 0 ||
           w->high > 0 || w->band_low > 0 || w->band_high > 0 || w->top > 0 || w->top_share > 0;
}

static bool has_tf(const void *values)
{
    return has_content(values) && (weight_of(values)->tf == ND_TF_COUNT || are_compared(values));
}

/* ln(N/n) of what stands in every document is 0. */
static bool has_idf(const void *values)
{
    return has_content(values) &&
           (weight_of(values)->idf != ND_IDF_INVERSE || are_compared(values));
}

static bool has_markup(const void *values)
{
    const struct nd_weight_params *w = weight_of(values);

    return reads_text(values) && (w->markup == ND_MARKUP_IGNORE || are_compared(values) ||
                                  (w->markup == ND_MARKUP_MULTIPLY && w->markup_boost <= 0));
}

static bool has_position(const void *values)
{
    enum nd_position position = weight_of(values)->position;

    return has_content(values) && (position == ND_POSITION_NONE || position == ND_POSITION_COSINE ||
                                   position == ND_POSITION_TABLE || are_compared(values));
}

static bool has_clip_quantile(const void *values)
{
    return has_content(values) && (weight_of(values)->clip_quantile <= 0 || are_compared(values));
}

static bool has_clip_rank(const void *values)
{
    return has_content(values) && (weight_of(values)->clip_rank == 0 || are_compared(values));
}

static bool has_template_weight(const void *values)
{
    return section_of(values)->feature.template_count > 0 && are_compared(values);
}

/* The line says that sums are exact: sketches with rounded weights have another fingerprint. */
static bool has_whole_weights(const void *values)
{
    return has_content(values) && is_simhash(values) && nd_weights_are_whole(weight_of(values)) &&
           !section_of(values)->feature.fields[0];
}

#define CUT "kind is simhash, or low, high, a band, top or top_share cuts weights off"
#define COMPARED "where unit is not none, and " CUT
#define CONTENT READ(has_content, "where unit is not none")

/* ---- [signature NAME]: when what is made of the features is read -------------------------------- */

#define KIND(name) (1U << ND_SIGNATURE_##name)

static bool is_one_of(const void *values, unsigned kinds)
{
    return (kinds >> section_of(values)->signature.kind) & 1U;
}

/* A condition on the kind. */
#define READ_BY(name, kinds)                                                                       \
    static bool name(const void *values)                                                           \
    {                                                                                              \
        return is_one_of(values, (kinds));                                                         \
    }
READ_BY(has_bits, KIND(SIMHASH) | KIND(BOTTOM_K) | KIND(MOD_P) | KIND(WINNOWING) | KIND(FEATURES))
READ_BY(has_minima, KIND(MINHASH) | KIND(BOTTOM_K) | KIND(SUPERSHINGLES) | KIND(SORTED_SHINGLES) |
                        KIND(MEGASHINGLES))
READ_BY(has_groups, KIND(SUPERSHINGLES) | KIND(MEGASHINGLES) | KIND(CHECKSUMS))
READ_BY(has_sketch_width, KIND(SORTED_SHINGLES))
READ_BY(has_modulus, KIND(MOD_P))
READ_BY(has_winnowing_window, KIND(WINNOWING))
READ_BY(is_imatch, KIND(IMATCH))
READ_BY(has_least_terms, KIND(IMATCH) | KIND(CHECKSUMS) | KIND(PROFILE))
READ_BY(has_quantum, KIND(PROFILE))

static bool has_polynomial(const void *values)
{
    return section_of(values)->signature.hash == ND_HASH_RABIN;
}

static bool has_df(const void *values)
{
    return nd_signature_needs_df(values);
}

static bool has_template_df(const void *values)
{
    return nd_signature_needs_template(values);
}

static bool has_drop(const void *values)
{
    return is_imatch(values) && section_of(values)->signature.lexicons &&
           !section_of(values)->signature.bootstrap;
}

static bool has_copies(const void *values)
{
    return is_imatch(values) && section_of(values)->signature.lexicons;
}

static const char imatch[] = "where kind is imatch";
static const char copies[] = "where kind is imatch and lexicons is not 0";
static const char df[] = "where a df table is needed: idf other than none, kind imatch, select "
                         "rarest or uncommon, phrases, stop_words = df:SHARE";

/* ---- [signature NAME] --------------------------------------------------------------------------- */

/* A key of struct nd_recipe_signature, and of its parts; type and limits follow. */
#define SECTION(field, key)                                                                        \
    ND_HALF_SKETCH, .offset = offsetof(struct nd_recipe_signature, field), .name = (key)
#define FEATURE(field, key) SECTION(feature.field, key)
#define WEIGHT(field, key) SECTION(weight.field, key)
#define SIGNATURE(field, key) SECTION(signature.field, key)
#define SHARE ND_KEY_REAL, .min = 0, .max = 1
#define OF_UNITS "where unit is UNITS"

const struct nd_recipe_key nd_signature_keys[] = {
    /* Which features. */
    {FEATURE(unit, "unit"), ND_KEY_ENUM, .word = nd_unit_word},
    {FEATURE(width, "width"), ND_KEY_INT, .min = 1, .max = 32,
     READ_OF(has_width, has_width, OF_UNITS)},
    {FEATURE(distance, "distance"), ND_KEY_INT, .min = 1, .max = 32,
     READ_OF(has_distance, has_word_distance, OF_UNITS)},
    {FEATURE(count, "count"), ND_KEY_ENUM, WORDS("distinct", "occurrences"),
     READ(has_count, "where kind is simhash, winnowing or profile")},
    {FEATURE(select, "select"), ND_KEY_ENUM,
     WORDS("all", "first", "rarest", "kth", "sentence", "anchored", "uncommon"),
     READ(has_content, "where unit is not none")},
    {FEATURE(select_count, "select_count"), ND_KEY_INT, .min = 1, .max = 1000000000,
     READ(has_select_count, "where select is first, rarest, kth, sentence or uncommon")},
    {FEATURE(anchors, "anchors"), ND_KEY_STRING, .max = ND_FEATURE_LIST_MAX,
     READ_OF(has_antecedents, has_anchors, "where select is anchored or unit is UNITS")},
    {FEATURE(phrases, "phrases"), ND_KEY_REAL, .min = 0, .max = 30,
     READ(is_term, "where unit is terms")},
    {FEATURE(join_apostrophes, "join_apostrophes"), ND_KEY_YES,
     READ_OF(has_words, has_words, OF_UNITS)},
    {FEATURE(stop_words, "stop_words"), ND_KEY_PATH, .min = 1, .max = ND_FEATURE_PATH_MAX,
     .is_word = is_stop_word_list, READ_OF(has_words, has_words, OF_UNITS)},
    {FEATURE(stem, "stem"), ND_KEY_NAME,
     WORDS("none", "arabic", "armenian", "basque", "catalan", "danish", "dutch", "english",
           "finnish", "french", "german", "greek", "hindi", "hungarian", "indonesian", "irish",
           "italian", "lithuanian", "nepali", "norwegian", "porter", "portuguese", "romanian",
           "russian", "serbian", "spanish", "swedish", "tamil", "turkish", "yiddish"),
     .min = 1, .max = 31, READ_OF(has_words, has_words, OF_UNITS)},
    {ND_HALF_SKETCH, "stem_version", ND_KEY_FIXED, WORDS(ND_STEM_VERSION),
     READ_OF(has_words, has_stem, "where stem is not none, and unit is UNITS")},
    {FEATURE(strip, "strip"), ND_KEY_ENUM, WORDS("none", "numbers", "dates"),
     READ_OF(has_words, has_words, OF_UNITS)},
    {FEATURE(mail_quotes, "mail_quotes"), ND_KEY_ENUM, WORDS("keep", "drop"),
     .is_unsaid = keeps_quotes_in_section, READ_OF(has_words, has_words, OF_UNITS)},
    {FEATURE(least_length, "least_length"), ND_KEY_INT, .min = 0, .max = 1000,
     READ_OF(has_words, has_words, OF_UNITS)},
    {FEATURE(most_digits, "most_digits"), ND_KEY_INT, .min = 0, .max = 32,
     READ_OF(has_words, has_digits, "where strip is none, and unit is UNITS")},
    {FEATURE(template_count, "template_count"), ND_KEY_INT, .min = 0, .max = 1000000000,
     READ_OF(has_words, has_template_count, "where it is above 0 and unit is UNITS")},
    {FEATURE(fields, "fields"), ND_KEY_STRING, .max = ND_FEATURE_LIST_MAX},
    {FEATURE(force, "force"), ND_KEY_STRING, .max = ND_FEATURE_LIST_MAX,
     READ(is_simhash, "where kind is simhash")},
    {FEATURE(reserved_field, "reserved_field"), ND_KEY_STRING, .max = ND_FEATURE_LIST_MAX,
     READ(has_reserved, "where reserved_bits is above 0")},
    {FEATURE(links, "links"), ND_KEY_YES},
    {FEATURE(anchor_window, "anchor_window"), ND_KEY_INT, .min = 0, .max = 1000,
     READ_OF(has_words, has_anchor_window, "where markup is multiply or add, and unit is UNITS")},

    /* Weights of the features. */
    {WEIGHT(tf, "tf"), ND_KEY_ENUM, WORDS("count", "log", "binary"), READ(has_tf, COMPARED)},
    {WEIGHT(idf, "idf"), ND_KEY_ENUM, WORDS("none", "inverse", "log", "nidf"),
     READ(has_idf, COMPARED "; idf = log and nidf always")},
    {WEIGHT(markup, "markup"), ND_KEY_ENUM, WORDS("ignore", "multiply", "add"),
     READ_OF(ignores_text, has_markup,
             "where unit is not UNITS, and " CUT ", or it multiplies by 0")},
    {WEIGHT(markup_boost, "markup_boost"), ND_KEY_REAL, .min = 0, .max = 255,
     READ(has_boost, "where markup is multiply or add")},
    {WEIGHT(position, "position"), ND_KEY_ENUM,
     WORDS("none", "log", "inverse", "inverse-log", "cosine", "table"),
     READ(has_position, COMPARED "; position = cosine and table always")},
    {WEIGHT(position_table, "position_table"), ND_KEY_STRING, .max = ND_FEATURE_LIST_MAX,
     READ(has_table, "where position is table")},
    {WEIGHT(clip_quantile, "clip_quantile"), SHARE, READ(has_clip_quantile, COMPARED)},
    {WEIGHT(clip_rank, "clip_rank"), ND_KEY_INT, .min = 0, .max = 1000000,
     READ(has_clip_rank, COMPARED)},
    {WEIGHT(low, "low"), SHARE, CONTENT},
    {WEIGHT(high, "high"), SHARE, CONTENT},
    {WEIGHT(band_low, "band_low"), SHARE, CONTENT},
    {WEIGHT(band_high, "band_high"), SHARE, CONTENT},
    {WEIGHT(top, "top"), ND_KEY_INT, .min = 0, .max = 1000000, CONTENT},
    {WEIGHT(top_share, "top_share"), SHARE, CONTENT},
    {WEIGHT(template_weight, "template_weight"), ND_KEY_REAL, .min = 0, .max = 1,
     READ(has_template_weight, "where template_count is given, and " CUT)},
    {WEIGHT(normalise_length, "normalise_length"), ND_KEY_YES, CONTENT},
    {ND_HALF_SKETCH, "weights", ND_KEY_FIXED, WORDS("exact"),
     READ(has_whole_weights,
          "where kind is simhash, unit is not none, tf is count or binary, and "
          "there are no idf, position, markup, fields and template_weight between 0 and 1")},

    /* The signature that is made of them. */
    {SIGNATURE(kind, "kind"), ND_KEY_ENUM,
     WORDS("simhash", "minhash", "bottom-k", "mod-p", "winnowing", "supershingles",
           "sorted-shingles", "megashingles", "imatch", "checksums", "profile", "features")},
    {SIGNATURE(hash, "hash"), ND_KEY_ENUM, WORDS("token", "lookup8", "rabin", "sha1")},
    {SIGNATURE(rabin_polynomial, "rabin_polynomial"), ND_KEY_HEX,
     READ(has_polynomial, "where hash is rabin")},
    {SIGNATURE(bits, "bits"), ND_KEY_INT, .min = 1, .max = 512,
     READ(has_bits, "where kind is simhash, bottom-k, mod-p, winnowing or features")},
    {SIGNATURE(reserved_bits, "reserved_bits"), ND_KEY_INT, .min = 0,
     .max = ND_SIGNATURE_RESERVED_MAX, READ(is_simhash, "where kind is simhash")},
    {SIGNATURE(minima, "minima"), ND_KEY_INT, .min = 1, .max = 65536,
     READ(has_minima,
          "where kind is minhash, bottom-k, supershingles, sorted-shingles or megashingles")},
    {SIGNATURE(groups, "groups"), ND_KEY_INT, .min = 1, .max = ND_SIGNATURE_GROUPS_MAX,
     READ(has_groups, "where kind is supershingles, megashingles or checksums")},
    {SIGNATURE(width, "sketch_width"), ND_KEY_INT, .min = 1, .max = ND_SIGNATURE_MINIMA_MAX,
     READ(has_sketch_width, "where kind is sorted-shingles")},
    {SIGNATURE(modulus, "modulus"), ND_KEY_INT, .min = 1, .max = 4294967295.0,
     READ(has_modulus, "where kind is mod-p")},
    {SIGNATURE(window, "window"), ND_KEY_INT, .min = 1, .max = 65536,
     READ(has_winnowing_window, "where kind is winnowing")},
    {SIGNATURE(lexicon_low, "lexicon_low"), ND_KEY_REAL, .min = 0, .max = 1,
     READ(is_imatch, imatch)},
    {SIGNATURE(lexicon_high, "lexicon_high"), ND_KEY_REAL, .min = 0, .max = 1,
     READ(is_imatch, imatch)},
    {SIGNATURE(secondary, "secondary"), ND_KEY_INT, .min = 0, .max = 1000000,
     READ(is_imatch, imatch)},
    {SIGNATURE(least_terms, "least_terms"), ND_KEY_INT, .min = 0, .max = 1000000,
     READ(has_least_terms, "where kind is imatch, checksums or profile")},
    {SIGNATURE(lexicons, "lexicons"), ND_KEY_INT, .min = 0, .max = ND_SIGNATURE_LEXICONS_MAX,
     READ(is_imatch, imatch)},
    {SIGNATURE(drop, "drop"), ND_KEY_REAL, .min = 0, .max = 0.999999,
     READ(has_drop, "where kind is imatch, lexicons is not 0 and bootstrap is no")},
    {SIGNATURE(bootstrap, "bootstrap"), ND_KEY_YES, READ(has_copies, copies)},
    {SIGNATURE(seed, "seed"), ND_KEY_WHOLE},
    {SIGNATURE(quantum, "quantum"), ND_KEY_REAL, .min = 0, .max = 1,
     READ(has_quantum, "where kind is profile")},
    {SECTION(df, "df"), ND_KEY_PATH, .max = ND_FEATURE_PATH_MAX, .is_place = true,
     READ(has_df, df)},
    {SECTION(df_version, "df_version"), ND_KEY_HEX, READ(has_df, df)},
    {SECTION(template_df, "template_df"), ND_KEY_PATH, .max = ND_FEATURE_PATH_MAX, .is_place = true,
     READ(has_template_df, "where template_count is given")},
    {SECTION(template_df_version, "template_df_version"), ND_KEY_HEX,
     READ(has_template_df, "where template_count is given")},
    {.name = NULL},
};

const char *nd_key_word(const struct nd_recipe_key *key, size_t i)
{
    if (key->word)
        return key->word(i);
    return i < key->n_words ? key->words[i] : NULL;
}

void nd_key_reader(const struct nd_recipe_key *key, char out[ND_READER_MAX])
{
    static const char place[] = "UNITS";
    const char *at = key->units ? strstr(key->reader, place) : NULL;
    char units[ND_READER_MAX / 2];

    if (!at) {
        snprintf(out, ND_READER_MAX, "%s", key->reader);
        return;
    }
    nd_units_list(key->units, units, sizeof units);
    snprintf(out, ND_READER_MAX, "%.*s%s%s", (int)(at - key->reader), key->reader, units,
             at + strlen(place));
}
