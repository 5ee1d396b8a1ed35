/* option_set.c - what each option does to the settings */
#define _GNU_SOURCE
#include "option_set.h"
#include "named_recipe.h"

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

/* "--name: " before what the recipe says of the value. */
static enum nd_status name_option(const struct option *o, enum nd_status status,
                                  struct nd_error *err)
{
    static const char source[] = "recipe: "; /* what the recipe calls an assignment */
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

    if (asprintf(&assignment, "%s=%s", key, value) < 0)
        return out_of_memory(err);
    status = name_option(o, nd_recipe_set(&s->run.recipe, assignment, err), err);
    free(assignment);
    return status;
}

SETTER(set_key)
{
    return set_in_recipe(s, o, o->key, value, err);
}

SETTER(set_assignment)
{
    return name_option(o, nd_recipe_set(&s->run.recipe, value, err), err);
}

SETTER(set_recipe)
{
    if (is_recipe_file(value) && !words_add(&s->also_read, value))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return name_option(o, read_named_recipe(&s->run.recipe, value, err), err);
}

SETTER(set_max_bad)
{
    struct nd_ratio share;
    size_t len = strlen(value);
    bool is_percent = len > 1 && value[len - 1] == '%';

    if (nd_ratio_parse(value, len - is_percent, &share, NULL) != ND_OK ||
        (is_percent && share.q > UINT32_MAX / 100))
        return nd_fail(err, ND_EINVAL, "--%s: '%s' is no share such as 0.05, 1/20 or 5%%", o->name,
                       value);
    if (is_percent)
        share.q *= 100;
    if (share.p > share.q)
        return nd_fail(err, ND_EINVAL, "--%s: '%s' is more than all records", o->name, value);
    s->run.max_bad = share;
    return ND_OK;
}

SETTER(set_df)
{
    return name_option(o, nd_recipe_set_df(&s->run.recipe, value, err), err);
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

/* The place of a word in a list, or -1 and a message with the nearest. */
int option_word(const struct option *o, const char *value, const char *const *words, size_t n,
                struct nd_error *err)
{
    char list[256] = "";
    const char *nearest;

    for (size_t i = 0; i < n; i++)
        if (strcmp(words[i], value) == 0)
            return (int)i;
    for (size_t i = 0, at = 0; i < n && at < sizeof list; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "", words[i]);
    nearest = nd_name_nearest(value, strlen(value), words, n);
    nd_fail(err, ND_EINVAL, "--%s: '%s' is none of %s%s%s%s", o->name, value, list,
            nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return -1;
}

SETTER(set_method)
{
    static const char *const methods[] = {"minhash", "simhash", "identical"};
    static const char *const candidates[] = {"minhash", "simhash", "identity"};
    int method = option_word(o, value, methods, 3, err);
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
        return nd_fail(err, ND_EINVAL, "--%s: '%s' is not of the form BxR, such as 21x6", o->name,
                       value);
    if (bands > ND_MINHASH_COUNT || rows > ND_MINHASH_COUNT || bands * rows > ND_MINHASH_COUNT)
        return nd_fail(err, ND_EINVAL, "--%s: %ux%u needs more than the %d minima of a sketch",
                       o->name, bands, rows, ND_MINHASH_COUNT);
    snprintf(number, sizeof number, "%u", bands);
    status = set_in_recipe(s, o, "bands", number, err);
    snprintf(number, sizeof number, "%u", rows);
    return status == ND_OK ? set_in_recipe(s, o, "rows", number, err) : status;
}

/* Options that are a string and nothing else. */
#define STRING_SETTER(function, field)                                                             \
    SETTER(function)                                                                               \
    {                                                                                              \
        if (!*value)                                                                               \
            return nd_fail(err, ND_EINVAL, "--%s: it must not be empty", o->name);                 \
        s->field = value;                                                                          \
        return ND_OK;                                                                              \
    }
STRING_SETTER(set_shown_df, df)
STRING_SETTER(set_within, run.within)
STRING_SETTER(set_site, run.site)
STRING_SETTER(set_id_field, run.input.id_field)
STRING_SETTER(set_output_dir, run.output_dir)
STRING_SETTER(set_copy_to, run.copy_to)
STRING_SETTER(set_link_to, run.link_to)
STRING_SETTER(set_manifest, run.manifest)
STRING_SETTER(set_removed, run.removed)
STRING_SETTER(set_clusters, run.clusters)
STRING_SETTER(set_summary, run.summary)
STRING_SETTER(set_tmp, run.tmp)

SETTER(set_output)
{
    if (!*value)
        return nd_fail(err, ND_EINVAL, "--%s: it must not be empty", o->name);
    s->run.output = value;
    s->has_output = true;
    return ND_OK;
}

/* Options that may be repeated. */
#define LIST_SETTER(function, list)                                                                \
    SETTER(function)                                                                               \
    {                                                                                              \
        if (!*value)                                                                               \
            return nd_fail(err, ND_EINVAL, "--%s: it must not be empty", o->name);                 \
        return words_add(&s->list, value) ? ND_OK : out_of_memory(err);                            \
    }
LIST_SETTER(add_assignment, assignments)
LIST_SETTER(set_text_field, text_fields)
LIST_SETTER(set_glob, globs)
LIST_SETTER(set_exclude, excludes)
LIST_SETTER(set_corpus, corpus)

SETTER(set_prefer)
{
    const char *equals = strchr(value, '=');
    char *at;

    if (!equals || equals == value || !equals[1])
        return nd_fail(err, ND_EINVAL, "--%s: '%s' is not of the form FIELD=A,B,C", o->name, value);
    free(s->prefer_copy);
    s->prefer.count = 0;
    s->prefer_copy = strdup(value);
    if (!s->prefer_copy)
        return out_of_memory(err);
    s->prefer_copy[equals - value] = '\0';
    s->run.prefer_field = s->prefer_copy;
    at = s->prefer_copy + (equals - value) + 1;
    for (char *word = strsep(&at, ","); word; word = strsep(&at, ","))
        if (!words_add(&s->prefer, word))
            return out_of_memory(err);
    return ND_OK;
}

SETTER(set_format)
{
    static const char *const words[] = {"auto", "text", "html", "jsonl",
                                        "csv",  "tsv",  "mail", "mbox"};
    int i = option_word(o, value, words, sizeof words / sizeof *words, err);

    if (i < 0)
        return ND_EINVAL;
    s->run.input.format = (enum nd_format)i;
    return ND_OK;
}

SETTER(set_text_format)
{
    static const char *const words[] = {"plain", "html"};
    int i = option_word(o, value, words, 2, err);

    if (i < 0)
        return ND_EINVAL;
    s->run.input.text_format = (enum nd_text_format)i;
    return ND_OK;
}

SETTER(set_missing_text)
{
    static const char *const words[] = {"skip", "empty"};
    int i = option_word(o, value, words, 2, err);

    if (i < 0)
        return ND_EINVAL;
    s->run.input.missing_text = (enum nd_missing_text)i;
    return ND_OK;
}

SETTER(set_binary)
{
    static const char *const words[] = {"skip", "text"};
    int i = option_word(o, value, words, 2, err);

    if (i < 0)
        return ND_EINVAL;
    s->run.input.binary = (enum nd_binary)i;
    return ND_OK;
}

SETTER(set_unit)
{
    static const char *const words[] = {"file", "line", "paragraph"};
    int i = option_word(o, value, words, 3, err);

    if (i < 0)
        return ND_EINVAL;
    s->run.input.unit = (enum nd_unit)i;
    return ND_OK;
}

SETTER(set_threads)
{
    char *end;
    unsigned long n;

    errno = 0;
    n = strtoul(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || n < 1 || n > 1024)
        return nd_fail(err, ND_EINVAL, "--%s: '%s' is no number from 1 to 1024", o->name, value);
    s->run.recipe.dedup.threads = (unsigned)n;
    return ND_OK;
}

/* Options without a value. */
#define FLAG_SETTER(function, field)                                                               \
    SETTER(function)                                                                               \
    {                                                                                              \
        UNUSED(o);                                                                                 \
        UNUSED(value);                                                                             \
        UNUSED(err);                                                                               \
        s->field = 1;                                                                              \
        return ND_OK;                                                                              \
    }
FLAG_SETTER(set_canonical, canonical)
FLAG_SETTER(set_strict, run.strict)
FLAG_SETTER(set_dry_run, run.dry_run)
FLAG_SETTER(set_null, run.null_paths)
FLAG_SETTER(set_no_mail, run.input.no_mail)
FLAG_SETTER(set_quiet, quiet)
FLAG_SETTER(set_progress, progress)
FLAG_SETTER(set_help, help)
