/* option_set.c - what each option does to the settings */
#include "option_set.h"
#include "base/system/c_functions.h"
#include "named_recipe.h"

#include <neardup/duration.h>
#include <neardup/hamming.h>
#include <neardup/ratio.h>
#include <neardup/size.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTER(name)                                                                               \
    enum nd_status name(struct settings *s, const struct option *o, const char *value,             \
                        struct nd_error *err)
#define UNUSED(x) (void)(x)

static enum nd_status out_of_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* Put "--name: " before the recipe's own message. */
static enum nd_status name_option(const struct option *o, enum nd_status status,
                                  struct nd_error *err)
{
    static const char source[] = "recipe: "; /* the recipe's own key */
    size_t skip = strncmp(err->message, source, sizeof source - 1) == 0 ? sizeof source - 1 : 0;
    char message[sizeof err->message];

    if (status == ND_OK)
        return ND_OK;
    snprintf(message, sizeof message, "%s", err->message + skip);
    return nd_fail(err, status, "--%s: %s", o->name, message);
}

static enum nd_status set_in_recipe(struct settings *s, const struct option *o, const char *key,
                                    const char *value, struct nd_error *err)
{
    char *assignment = NULL;
    enum nd_status status;

    if (nd_print_new(&assignment, "%s=%s", key, value) < 0)
        return out_of_memory(err);
    status = name_option(o, nd_recipe_set(s->recipe, assignment, err), err);
    free(assignment);
    return status;
}

SETTER(set_key)
{
    return set_in_recipe(s, o, o->key, value, err);
}

/* The message begins with the option's name. */
SETTER(set_in_run)
{
    enum nd_status status = nd_run_options_set(s->run, o->name, value, err);
    char message[sizeof err->message];

    if (status != ND_EINVAL)
        return status;
    snprintf(message, sizeof message, "%s", err->message);
    return nd_fail(err, status, "--%s", message);
}

SETTER(set_assignment)
{
    return name_option(o, nd_recipe_set(s->recipe, value, err), err);
}

SETTER(set_recipe)
{
    if (is_recipe_file(value) && nd_run_options_set(s->run, "also-read", value, err) != ND_OK)
        return err->status;
    return name_option(o, read_named_recipe(s->recipe, value, err), err);
}

const char *df_auto_name(const char *value)
{
    static const char automatic[] = "auto=";

    return strncmp(value, automatic, sizeof automatic - 1) == 0 ? value + sizeof automatic - 1
                                                                : NULL;
}

static enum nd_status check_df(const struct option *o, const char *value, struct nd_error *err)
{
    const char *name = df_auto_name(value);

    if (!*value)
        return nd_fail(err, ND_EINVAL, "--%s must not be empty", o->name);
    if (name && !*name)
        return nd_fail(err, ND_EINVAL, "--%s: auto= needs the name of a file", o->name);
    return ND_OK;
}

SETTER(set_shown_df)
{
    s->df = value;
    return check_df(o, value, err);
}

SETTER(set_df)
{
    enum nd_status status = check_df(o, value, err);
    const char *counted = df_auto_name(value);

    nd_run_options_clear(s->run, "df-auto");
    if (status == ND_OK && counted)
        status = nd_run_options_set(s->run, "df-auto", counted, err);
    value = counted ? counted : value;
    return status == ND_OK ? name_option(o, nd_recipe_set_df(s->recipe, value, err), err) : status;
}

/* A store keeps a table, and counts none: its documents are not all there yet. */
SETTER(set_store_df)
{
    enum nd_status status = check_df(o, value, err);

    if (status == ND_OK && df_auto_name(value))
        return nd_fail(err, ND_EINVAL,
                       "--df: a store counts no table of its own documents: make one with neardup "
                       "df build");
    return status == ND_OK ? name_option(o, nd_recipe_set_df(s->recipe, value, err), err) : status;
}

static enum nd_status set_unit_and_width(struct settings *s, const struct option *o,
                                         const char *unit, const char *width, struct nd_error *err)
{
    enum nd_status status = set_in_recipe(s, o, "unit", unit, err);

    return status == ND_OK ? set_in_recipe(s, o, "shingle", width, err) : status;
}

SETTER(set_shingle)
{
    size_t len = strlen(value);
    char width[16];

    if (len < 2 || value[len - 1] != 'c' || len >= sizeof width)
        return set_unit_and_width(s, o, "words", value, err);
    snprintf(width, sizeof width, "%.*s", (int)len - 1, value);
    return set_unit_and_width(s, o, "characters", width, err);
}

SETTER(set_characters)
{
    return set_unit_and_width(s, o, "characters", value, err);
}

/* The index of a word in a list of at most 16; -1 with a message that names the nearest. */
static int word_index(const struct option *o, const char *value, const char *list,
                      struct nd_error *err)
{
    char words[160], shown[200] = "", *rest = words;
    const char *word[16], *nearest;
    size_t n = 0, at = 0;

    snprintf(words, sizeof words, "%s", list);
    while (n < sizeof word / sizeof *word && rest) {
        char *space = strchr(rest, ' ');

        word[n++] = rest;
        rest = space ? space + 1 : NULL;
        if (space)
            *space = '\0';
    }
    for (size_t i = 0; i < n; i++) {
        if (strcmp(word[i], value) == 0)
            return (int)i;
        at += (size_t)snprintf(shown + at, sizeof shown - at, "%s%s", i ? ", " : "", word[i]);
    }
    nearest = nd_name_nearest(value, strlen(value), word, n);
    nd_fail(err, ND_EINVAL, "--%s: '%s' is not one of %s%s%s%s", o->name, value, shown,
            nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return -1;
}

/* ---- Setters of one member, which the row names ---------------------------------------------- */

/* The address of the member in the settings. */
static void *member(struct settings *s, const struct option *o)
{
    return (char *)s + o->to;
}

SETTER(set_flag)
{
    UNUSED(value);
    UNUSED(err);
    *(unsigned char *)member(s, o) = 1; /* bool, or unsigned char of the library's */
    return ND_OK;
}

SETTER(set_any_text)
{
    const char **to = member(s, o);

    UNUSED(err);
    *to = value;
    return ND_OK;
}

static enum nd_status refuse_empty(const struct option *o, struct nd_error *err)
{
    return nd_fail(err, ND_EINVAL, "--%s must not be empty", o->name);
}

SETTER(set_text)
{
    return *value ? set_any_text(s, o, value, err) : refuse_empty(o, err);
}

SETTER(add_text)
{
    if (!*value)
        return refuse_empty(o, err);
    return words_add(member(s, o), value) ? ND_OK : out_of_memory(err);
}

SETTER(set_number)
{
    unsigned *to = member(s, o);
    unsigned long n;
    char *end;

    errno = 0;
    n = strtoul(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || n < o->min || n > o->max)
        return nd_fail(err, ND_EINVAL, "--%s: '%s' is not a number from %lu to %lu", o->name, value,
                       o->min, o->max);
    *to = (unsigned)n;
    return ND_OK;
}

SETTER(set_word)
{
    unsigned *to = member(s, o); /* or an enum */
    int i = word_index(o, value, o->words, err);

    if (i < 0)
        return ND_EINVAL;
    *to = (unsigned)o->min + (unsigned)i;
    return ND_OK;
}

SETTER(set_design)
{
    static const unsigned families[] = {ND_HAMMING_BLOCKS, ND_HAMMING_COVERING,
                                        ND_HAMMING_POPCOUNT};
    unsigned *to = member(s, o);
    int i = word_index(o, value, o->words, err);

    if (i < 0)
        return ND_EINVAL;
    *to = families[i];
    return ND_OK;
}

/* With min 1, the value must be above 0; with max 1, at most 1. */
SETTER(set_ratio)
{
    struct nd_ratio *to = member(s, o), ratio;

    if (nd_ratio_parse(value, strlen(value), &ratio, NULL) != ND_OK || (o->min && ratio.p == 0) ||
        (o->max && ratio.p > ratio.q))
        return nd_fail(err, ND_EINVAL, "--%s: '%s' is not a ratio such as 0.8, 4/5 or 80%%",
                       o->name, value);
    *to = ratio;
    return ND_OK;
}

/* A number of words, or a share of them, which has a point, a slash or a percent sign. */
SETTER(set_amount)
{
    struct nd_perturb_amount *to = member(s, o);
    char rest;

    *to = (struct nd_perturb_amount){.share = {0, 1}};
    if (!strpbrk(value, "./%")) {
        if (*value >= '0' && *value <= '9' && sscanf(value, "%9u%c", &to->words, &rest) == 1)
            return ND_OK;
    } else if (nd_ratio_parse(value, strlen(value), &to->share, NULL) == ND_OK &&
               to->share.p <= to->share.q) {
        return ND_OK;
    }
    return nd_fail(err, ND_EINVAL, "--%s: '%s' is no number of words and no share such as 2%%",
                   o->name, value);
}

SETTER(set_duration)
{
    uint64_t *to = member(s, o);

    return name_option(o, nd_duration_parse(value, strlen(value), to, err), err);
}

/* ---- Setters with a rule of their own -------------------------------------------------------- */

SETTER(set_method)
{
    static const char *const candidates[] = {"minhash", "simhash", "identity"};
    int method = word_index(o, value, "minhash simhash identical", err);
    enum nd_status status;

    if (method < 0)
        return ND_EINVAL;
    status = set_in_recipe(s, o, "candidates", candidates[method], err);
    return status == ND_OK ? set_in_recipe(s, o, "verify", "jaccard", err) : status;
}

SETTER(set_bands)
{
    unsigned bands, rows;
    char rest, number[16];
    enum nd_status status;

    if (sscanf(value, "%9ux%9u%c", &bands, &rows, &rest) != 2 || !bands || !rows)
        return nd_fail(err, ND_EINVAL, "--%s: '%s' does not have the form BxR, such as 21x6",
                       o->name, value);
    if (bands > ND_MINHASH_COUNT || rows > ND_MINHASH_COUNT || bands * rows > ND_MINHASH_COUNT)
        return nd_fail(err, ND_EINVAL, "--%s: %ux%u needs more than the %d minima of a sketch",
                       o->name, bands, rows, ND_MINHASH_COUNT);
    snprintf(number, sizeof number, "%u", bands);
    status = set_in_recipe(s, o, "bands", number, err);
    snprintf(number, sizeof number, "%u", rows);
    return status == ND_OK ? set_in_recipe(s, o, "rows", number, err) : status;
}

SETTER(set_null)
{
    s->null_lists = true;
    return set_in_run(s, o, value, err);
}

SETTER(set_show)
{
    static const unsigned parts[] = {ND_COMPARE_PASSAGES, ND_COMPARE_TERMS, ND_COMPARE_SCRIPT,
                                     ND_COMPARE_WEIGHTS};
    int i = word_index(o, value, "passages terms edits weights", err);

    if (i < 0)
        return ND_EINVAL;
    s->use.show |= parts[i];
    return ND_OK;
}

SETTER(set_pair_columns)
{
    static const unsigned columns[] = {ND_PAIR_TERMS, ND_PAIR_LENGTHS, ND_PAIR_EDIT};
    const char *at = value;

    for (;;) {
        const size_t len = strcspn(at, ",");
        char word[16] = "";
        int i;

        if (len < sizeof word)
            memcpy(word, at, len);
        i = word_index(o, len < sizeof word ? word : at, "terms lengths edit", err);
        if (i < 0)
            return ND_EINVAL;
        s->use.pairs.columns |= columns[i];
        if (!at[len])
            return ND_OK;
        at += len + 1;
    }
}

SETTER(set_limit)
{
    unsigned long long n;
    char *end;

    errno = 0;
    n = strtoull(value, &end, 10);
    if (strcmp(value, "none") == 0)
        n = ND_EDIT_NO_LIMIT;
    else if (*value < '0' || *value > '9' || *end || errno || n < 1 || n > UINT32_MAX)
        return nd_fail(err, ND_EINVAL, "--%s: '%s' must be a number from 1 to %u, or none", o->name,
                       value, UINT32_MAX);
    s->use.compare.limit = n;
    return ND_OK;
}

SETTER(set_costs)
{
    struct nd_edit_costs *c = &s->use.compare.costs;
    char rest;

    if (sscanf(value, "%3u,%3u,%3u%c", &c->insert, &c->remove, &c->replace, &rest) == 3 &&
        c->insert >= 1 && c->remove >= 1 && c->replace >= 1 && c->insert <= ND_EDIT_COST_MAX &&
        c->remove <= ND_EDIT_COST_MAX && c->replace <= ND_EDIT_COST_MAX)
        return ND_OK;
    return nd_fail(
        err, ND_EINVAL,
        "--%s: '%s' does not have the form INSERT,REMOVE,REPLACE with numbers from 1 to %u",
        o->name, value, ND_EDIT_COST_MAX);
}

SETTER(set_at)
{
    struct nd_eval_params *p = &s->use.eval;
    char rest;

    p->has_at = 1;
    if (sscanf(value, "%lf%c", &p->at, &rest) == 1)
        return ND_OK;
    return nd_fail(err, ND_EINVAL, "--%s: '%s' is not a number", o->name, value);
}

SETTER(set_json)
{
    UNUSED(o);
    UNUSED(value);
    UNUSED(err);
    s->use.json = true;
    if (s->use.filter.output == ND_FILTER_ANNOTATE)
        s->use.filter.output = ND_FILTER_ROWS;
    s->use.pairs.json = s->use.track.json = s->use.mirrors.json = s->use.template.json = 1;
    s->use.eval.json = s->use.sample.json = s->use.clusters.json = 1;
    return ND_OK;
}

SETTER(set_filter)
{
    enum nd_filter_output output = strcmp(o->name, "invert") == 0     ? ND_FILTER_OTHERS
                                   : strcmp(o->name, "annotate") == 0 ? ND_FILTER_ANNOTATE
                                                                      : ND_FILTER_NOTHING;

    UNUSED(value);
    if (output == ND_FILTER_ANNOTATE && s->use.json)
        output = ND_FILTER_ROWS;
    if (s->use.filter.output != ND_FILTER_MATCHES && s->use.filter.output != output)
        return nd_fail(err, ND_EINVAL, "only one of --invert, --annotate and --count can be given");
    s->use.filter.output = output;
    return ND_OK;
}

static enum nd_status refuse_size(const struct option *o, const char *value, const char *least,
                                  struct nd_error *err)
{
    return nd_fail(err, ND_EINVAL,
                   "--%s: '%s' is not a number of bytes such as 500M or 2G, of at least %s",
                   o->name, value, least);
}

/* The greatest size of an index file. */
SETTER(set_index_memory)
{
    uint64_t n;

    if (nd_size_parse(value, &n, NULL) != ND_OK || n < 1)
        return refuse_size(o, value, "1", err);
    s->hamming.memory = (double)n;
    return ND_OK;
}

/* A number of fingerprints, such as 1e9. */
SETTER(set_hamming_count)
{
    char *end;
    double n = strtod(value, &end);

    if (!(n >= 1) || n > 1e18 || *end)
        return nd_fail(err, ND_EINVAL, "--%s: '%s' is not a number of at least 1", o->name, value);
    s->hamming.count = n;
    return ND_OK;
}

SETTER(set_spark)
{
    struct nd_error why;
    enum nd_status status = nd_spark_job_parse(value, &s->use.plan.spark, &why);

    if (status == ND_OK && s->use.plan.spark.executors <= 0)
        return nd_fail(err, ND_EINVAL, "--%s: '%s' does not say how many executors", o->name,
                       value);
    return status == ND_OK ? ND_OK : nd_fail(err, status, "--%s: %s", o->name, why.message);
}

/* The memory of a run, and of what index makes of its results. */
SETTER(set_hamming_memory)
{
    enum nd_status status = set_in_run(s, o, value, err);

    return status == ND_OK ? nd_size_parse(value, &s->hamming.run_memory, err) : status;
}

SETTER(set_df_memory)
{
    uint64_t n;

    if (nd_size_parse(value, &n, NULL) != ND_OK || n < 1 << 20)
        return refuse_size(o, value, "1M", err);
    s->df_table.build.memory_bytes = n;
    return ND_OK;
}

SETTER(set_df_drop)
{
    struct nd_ratio share;

    if (nd_ratio_parse(value, strlen(value), &share, NULL) != ND_OK || share.p == 0 ||
        share.p >= share.q)
        return nd_fail(err, ND_EINVAL, "--%s: '%s' is not a share above 0 and below 1, such as 0.5",
                       o->name, value);
    s->df_table.drop = (double)share.p / share.q;
    return ND_OK;
}

/* A number of bytes, in a uint64_t. */
SETTER(set_size)
{
    uint64_t *to = member(s, o), n;
    char least[24];

    snprintf(least, sizeof least, "%lu", o->min);
    if (nd_size_parse(value, &n, NULL) != ND_OK || n < o->min)
        return refuse_size(o, value, least, err);
    *to = n;
    return ND_OK;
}

/* "sync", or "interval" and perhaps its milliseconds. */
SETTER(set_durability)
{
    static const char interval[] = "interval";
    unsigned ms = 100;
    char rest;

    if (strcmp(value, "sync") == 0)
        ms = 0;
    else if (strcmp(value, interval) != 0 &&
             (sscanf(value, "interval:%5u%c", &ms, &rest) != 1 || ms < 1 || ms > 60000))
        return nd_fail(err, ND_EINVAL,
                       "--%s: '%s' is not one of sync, interval; the latter may name milliseconds "
                       "from 1 to 60000, as in interval:100",
                       o->name, value);
    s->serve.durability_ms = ms;
    return ND_OK;
}
