/* run_options.c - the options of a run by their names: one table of keys, which set and get read */

/*
 * Every option of a run is a row of a table: its name, its type, its range, and the member of
 * struct nd_run_options that holds it. Setting and getting both read this table, so a new option
 * is one new row.
 */
#include "reading/run_options.h"

#include <neardup/ratio.h>

#include "base/json_out.h"
#include "input/library/text_filter.h"
#include "loads/budget.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum type {
    FLAG,
    NUMBER,   /* a number from min to max */
    WORD,     /* one of `words` (NULL: of nd_format_word), stored as its index */
    TEXT,     /* a text, not empty */
    ANY_TEXT, /* a text that may be empty */
    PART,     /* "2/7" */
    SHARE,
    BYTES,    /* a number of bytes, such as 2G */
    LIMITS,   /* "time=60,memory=2G" */
    LIST,     /* a list of texts */
    ANY_LIST, /* a list of texts that may be empty */
    FILTER,   /* a list of filters */
    TAGS,     /* a file of tag sets, which the options own */
    PREFER,
    NEVER
};

/*
 * `to` is the offset of the member in struct nd_run_options, `count` that of a list's length;
 * `standard` is the value of a key that was not set, as a caller would write it.
 */
struct option_key {
    const char *name;
    enum type type;
    size_t to, count;
    const char *const *words; /* NULL at the end */
    const char *standard;
    unsigned min, max;
};

#define AT(member) offsetof(struct nd_run_options, member)
#define LIST_AT(within, member) AT(within member), AT(within n_##member)
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct option_key keys[] = {
    {"against", LIST, LIST_AT(, against), NULL, NULL, 0, 0},
    {"also-read", LIST, LIST_AT(, also_read), NULL, NULL, 0, 0},
    {"annotate", FLAG, AT(annotate), 0, NULL, "no", 0, 0},
    {"append", FLAG, AT(append), 0, NULL, "no", 0, 0},
    {"binary", WORD, AT(input.binary), 0, WORDS("skip", "text"), "skip", 0, 0},
    {"charset", ANY_TEXT, AT(input.charset), 0, NULL, NULL, 0, 0},
    {"checkpoint", TEXT, AT(checkpoint), 0, NULL, NULL, 0, 0},
    {"clusters", TEXT, AT(clusters), 0, NULL, NULL, 0, 0},
    {"copies-field", TEXT, AT(copies_field), 0, NULL, NULL, 0, 0},
    {"copy-to", TEXT, AT(copy_to), 0, NULL, NULL, 0, 0},
    {"df-auto", TEXT, AT(df_auto), 0, NULL, NULL, 0, 0},
    {"differs", FLAG, AT(differs), 0, NULL, "no", 0, 0},
    {"dry-run", FLAG, AT(dry_run), 0, NULL, "no", 0, 0},
    {"exclude", LIST, LIST_AT(input., excludes), NULL, NULL, 0, 0},
    {"filter", FILTER, LIST_AT(input., filters), NULL, NULL, 0, 0},
    {"filter-limits", LIMITS, AT(input.filter_limits), 0, NULL, "time=60,memory=2G,output=64M", 0,
     0},
    {"force", FLAG, AT(force), 0, NULL, "no", 0, 0},
    {"format", WORD, AT(input.format), 0, NULL, "auto", 0, 0},
    {"glob", LIST, LIST_AT(input., globs), NULL, NULL, 0, 0},
    {"id-field", TEXT, AT(input.id_field), 0, NULL, "id", 0, 0},
    {"known-sketches", LIST, LIST_AT(, known_sketches), NULL, NULL, 0, 0},
    {"link-to", TEXT, AT(link_to), 0, NULL, NULL, 0, 0},
    {"manifest", TEXT, AT(manifest), 0, NULL, NULL, 0, 0},
    {"max-bad", SHARE, AT(max_bad), 0, NULL, NULL, 0, 0},
    {"memory", BYTES, AT(memory), 0, NULL, NULL, 0, 0},
    {"missing-text", WORD, AT(input.missing_text), 0, WORDS("skip", "empty"), "skip", 0, 0},
    {"never", NEVER, LIST_AT(, never), NULL, NULL, 0, 0},
    {"no-mail", FLAG, AT(input.no_mail), 0, NULL, "no", 0, 0},
    {"null", FLAG, AT(null_paths), 0, NULL, "no", 0, 0},
    {"only-against", FLAG, AT(only_against), 0, NULL, "no", 0, 0},
    {"output", TEXT, AT(output), 0, NULL, NULL, 0, 0},
    {"output-dir", TEXT, AT(output_dir), 0, NULL, NULL, 0, 0},
    {"output-level", NUMBER, AT(output_level), 0, NULL, NULL, 1, 19},
    {"part", PART, AT(input.part), 0, NULL, NULL, 0, 0},
    {"path", ANY_LIST, LIST_AT(, paths), NULL, NULL, 0, 0},
    {"pin-threads", FLAG, AT(pin_threads), 0, NULL, "no", 0, 0},
    {"predicted", TEXT, AT(predicted), 0, NULL, NULL, 0, 0},
    {"prefer", PREFER, LIST_AT(, prefer), NULL, NULL, 0, 0},
    {"record-field", LIST, LIST_AT(, record_field), NULL, NULL, 0, 0},
    {"record-length", FLAG, AT(record_length), 0, NULL, "no", 0, 0},
    {"removed", TEXT, AT(removed), 0, NULL, NULL, 0, 0},
    {"report", TEXT, AT(report), 0, NULL, NULL, 0, 0},
    {"revisit", TEXT, AT(revisit), 0, NULL, NULL, 0, 0},
    {"security-field", TEXT, AT(security_field), 0, NULL, NULL, 0, 0},
    {"sketches", FLAG, AT(sketches), 0, NULL, "no", 0, 0},
    {"strict", FLAG, AT(strict), 0, NULL, "no", 0, 0},
    {"summary", TEXT, AT(summary), 0, NULL, NULL, 0, 0},
    {"tags", TAGS, AT(input.tags), 0, NULL, NULL, 0, 0},
    {"text-field", LIST, LIST_AT(input., text_fields), NULL, "text", 0, 0},
    {"text-format", WORD, AT(input.text_format), 0, WORDS("plain", "html"), "plain", 0, 0},
    {"threads", NUMBER, AT(threads), 0, NULL, NULL, 1, 1024},
    {"tmp", TEXT, AT(tmp), 0, NULL, "/tmp", 0, 0},
    {"unit", WORD, AT(input.unit), 0, WORDS("file", "line", "paragraph"), "file", 0, 0},
    {"within", TEXT, AT(within), 0, NULL, NULL, 0, 0},
};
_Static_assert(sizeof keys / sizeof *keys == ND_RUN_KEYS, "each key has its struct nd_run_given");

struct nd_run_options nd_run_options_default(void)
{
    return (struct nd_run_options){.input = nd_input_options_default(), .tmp = "/tmp"};
}

struct nd_run_options *nd_run_options_new(struct nd_error *err)
{
    struct nd_run_options *options = malloc(sizeof *options);

    if (options)
        *options = nd_run_options_default();
    else
        nd_fail(err, ND_ENOMEM, "out of memory");
    return options;
}

void nd_run_options_free(struct nd_run_options *options)
{
    if (!options)
        return;
    nd_tags_free(options->tags);
    nd_arena_release(&options->arena);
    free(options);
}

void nd_run_options_set_recipe(struct nd_run_options *options, const struct nd_recipe *recipe)
{
    options->recipe = recipe;
}

const struct nd_input_options *nd_run_options_input(const struct nd_run_options *options)
{
    return &options->input;
}

static const struct option_key *find_key(const char *name)
{
    for (size_t i = 0; i < ND_RUN_KEYS; i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

static enum nd_status no_key(const char *name, struct nd_error *err)
{
    const char *names[ND_RUN_KEYS], *nearest;

    for (size_t i = 0; i < ND_RUN_KEYS; i++)
        names[i] = keys[i].name;
    nearest = nd_name_nearest(name, strlen(name), names, ND_RUN_KEYS);
    return nd_fail(err, ND_EINVAL, "there is no option %.64s%s%s%s", name,
                   nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static enum nd_status out_of_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

static char *copy_text(struct nd_run_options *options, const char *text, size_t len)
{
    char *copy = nd_arena_alloc(&options->arena, len + 1);

    if (copy) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

/*
 * Return the array `list` with space for one element more than its n. The capacity is the smallest
 * power of two that is at least n, so n alone tells when a larger array is needed. The old array
 * stays in the arena, which at most doubles the memory. NULL: out of memory; *list is unchanged.
 */
static void *with_room(struct nd_run_options *options, void *list, size_t n, size_t size)
{
    void *more = list;

    if ((n & (n - 1)) == 0) {
        more = nd_arena_alloc(&options->arena, (n ? 2 * n : 1) * size);
        if (more && n)
            memcpy(more, list, n * size);
    }
    return more;
}

static bool is_list(const struct option_key *key)
{
    return key->type == LIST || key->type == ANY_LIST || key->type == FILTER || key->type == NEVER;
}

/* ---- One value of each type: checked, then put into its member ------------------------------- */

/* The arguments of set_*: the key's member, the value as given, and its copy. */
struct setting {
    struct nd_run_options *options;
    const struct option_key *key;
    void *to;
    const char *value, *copy;
    struct nd_run_given *given;
};

static enum nd_status set_flag(const struct setting *s, struct nd_error *err)
{
    if (strcmp(s->value, "yes") != 0 && strcmp(s->value, "no") != 0)
        return nd_fail(err, ND_EINVAL, "%s: '%s' is not yes or no", s->key->name, s->value);
    *(unsigned char *)s->to = s->value[0] == 'y';
    return ND_OK;
}

static enum nd_status set_number(const struct setting *s, struct nd_error *err)
{
    unsigned long n;
    char *end;

    errno = 0;
    n = strtoul(s->value, &end, 10);
    if (*s->value < '0' || *s->value > '9' || *end || errno || n < s->key->min || n > s->key->max)
        return nd_fail(err, ND_EINVAL, "%s: '%s' is not a number from %u to %u", s->key->name,
                       s->value, s->key->min, s->key->max);
    *(unsigned *)s->to = (unsigned)n;
    return ND_OK;
}

/* "'x' is not one of a, b, c; did you mean 'b'?" */
static enum nd_status no_word(const struct setting *s, const char *const *words, size_t n,
                              struct nd_error *err)
{
    const char *nearest = nd_name_nearest(s->value, strlen(s->value), words, n);
    struct nd_json list = {.failed = false};
    enum nd_status status;

    for (size_t i = 0; i < n; i++) {
        nd_json_bytes(&list, ", ", i ? 2 : 0);
        nd_json_bytes(&list, words[i], strlen(words[i]));
    }
    status = list.failed ? out_of_memory(err)
                         : nd_fail(err, ND_EINVAL, "%s: '%.64s' is not one of %.*s%s%s%s",
                                   s->key->name, s->value, (int)list.text.len, list.text.data,
                                   nearest ? "; did you mean '" : "", nearest ? nearest : "",
                                   nearest ? "'?" : "");
    nd_json_release(&list);
    return status;
}

static enum nd_status set_word(const struct setting *s, struct nd_error *err)
{
    const char *format[ND_FORMAT_COUNT + 1] = {NULL};
    const char *const *words = s->key->words ? s->key->words : format;
    unsigned n = 0;

    for (unsigned i = 0; i < ND_FORMAT_COUNT; i++)
        format[i] = nd_format_word((enum nd_format)i);
    for (; words[n]; n++)
        if (strcmp(words[n], s->value) == 0) {
            memcpy(s->to, &n, sizeof n); /* enums of the size of an unsigned */
            return ND_OK;
        }
    return no_word(s, words, n, err);
}
_Static_assert(sizeof(enum nd_format) == sizeof(unsigned), "set_word writes an unsigned");

/* "0.05", "1/20" or "5%". */
static enum nd_status set_share(const struct setting *s, struct nd_error *err)
{
    struct nd_ratio share;

    if (nd_ratio_parse(s->value, strlen(s->value), &share, NULL) != ND_OK)
        return nd_fail(err, ND_EINVAL, "%s: '%s' is not a share such as 0.05, 1/20 or 5%%",
                       s->key->name, s->value);
    if (share.p > share.q)
        return nd_fail(err, ND_EINVAL, "%s: '%s' is more than 1", s->key->name, s->value);
    *(struct nd_ratio *)s->to = share;
    return ND_OK;
}

/* "2/7" */
static enum nd_status set_part(const struct setting *s, struct nd_error *err)
{
    unsigned long number, of = 0;
    char *end;

    number = strtoul(s->value, &end, 10);
    if (*end == '/' && end[1] >= '0' && end[1] <= '9')
        of = strtoul(end + 1, &end, 10);
    if (*s->value < '0' || *s->value > '9' || *end || number < 1 || number > of ||
        of > ND_INPUT_PARTS_MAX)
        return nd_fail(err, ND_EINVAL, "%s: '%.64s' is not a part such as 2/7, of at most %d",
                       s->key->name, s->value, ND_INPUT_PARTS_MAX);
    *(struct nd_input_part *)s->to = (struct nd_input_part){(unsigned)number, (unsigned)of};
    return ND_OK;
}

/*
 * A pointer to constant texts is written as bytes, because its elements are constant only for the
 * run.
 */
static void put_list(const struct setting *s, const void *list, size_t n)
{
    memcpy(s->to, &list, sizeof list);
    *(size_t *)(void *)((char *)s->options + s->key->count) = n;
}

/*
 * Split "FIELD=A,B,C" into the field and the n values, in an array of the arena, or say what is
 * wrong.
 */
static enum nd_status split(const struct setting *s, char **field, const char ***value, size_t *n,
                            struct nd_error *err)
{
    const char *equals = strchr(s->value, '=');
    size_t commas = 0;
    char *at;

    if (!equals || equals == s->value || !equals[1])
        return nd_fail(err, ND_EINVAL, "%s: '%s' does not have the form FIELD=A,B,C", s->key->name,
                       s->value);
    for (const char *p = equals; *p; p++)
        commas += *p == ',';
    *field = copy_text(s->options, s->value, strlen(s->value));
    *value = nd_arena_alloc(&s->options->arena, (commas + 1) * sizeof **value);
    if (!*field || !*value)
        return out_of_memory(err);
    at = *field + (equals - s->value);
    *at++ = '\0';
    for (*n = 0; *n <= commas; ++*n) {
        size_t len = strcspn(at, ",");

        (*value)[*n] = at;
        at[len] = '\0';
        at += len + 1; /* after the last value this is not read */
    }
    return ND_OK;
}

static enum nd_status set_prefer(const struct setting *s, struct nd_error *err)
{
    const char **value;
    char *field;
    size_t n;
    enum nd_status status = split(s, &field, &value, &n, err);

    if (status == ND_OK) {
        s->options->prefer_field = field;
        put_list(s, value, n);
    }
    return status;
}

static enum nd_status add_never(const struct setting *s, struct nd_error *err)
{
    struct nd_run_options *o = s->options;
    struct nd_run_value *never;
    const char **value;
    char *field;
    size_t n;
    enum nd_status status = split(s, &field, &value, &n, err);

    if (status != ND_OK)
        return status;
    never = nd_arena_alloc(&o->arena, (o->n_never + n) * sizeof *never);
    if (!never)
        return out_of_memory(err);
    if (o->n_never)
        memcpy(never, o->never, o->n_never * sizeof *never);
    for (size_t i = 0; i < n; i++)
        never[o->n_never + i] = (struct nd_run_value){field, value[i]};
    put_list(s, never, o->n_never + n);
    return ND_OK;
}

/* Replace the tag sets by those of a file, which no output may replace. */
static enum nd_status set_tags(const struct setting *s, struct nd_error *err)
{
    struct nd_error reason;
    struct nd_tags *tags = nd_tags_load(s->value, &reason);
    enum nd_status status;

    if (!tags)
        return reason.status == ND_ENOMEM ? out_of_memory(err)
                                          : nd_fail(err, reason.status, "tags: %s", reason.message);
    status = nd_run_options_set(s->options, "also-read", s->value, err);
    if (status != ND_OK) {
        nd_tags_free(tags);
        return status;
    }
    nd_tags_free(s->options->tags);
    s->options->input.tags = s->options->tags = tags;
    return ND_OK;
}

static enum nd_status set_value(const struct setting *s, struct nd_error *err)
{
    switch (s->key->type) {
    case FLAG: return set_flag(s, err);
    case NUMBER: return set_number(s, err);
    case WORD: return set_word(s, err);
    case SHARE: return set_share(s, err);
    case PART: return set_part(s, err);
    case BYTES: return nd_budget_parse(s->value, s->to, err);
    case LIMITS: return nd_filter_limits_parse(s->value, s->to, err);
    case PREFER: return set_prefer(s, err);
    case NEVER: return add_never(s, err);
    case TAGS: return set_tags(s, err);
    case TEXT:
    case LIST:
        if (!*s->value)
            return nd_fail(err, ND_EINVAL, "%s must not be empty", s->key->name);
        break;
    case FILTER:
        if (nd_filter_check(s->value, err) != ND_OK)
            return ND_EINVAL;
        break;
    case ANY_TEXT:
    case ANY_LIST: break;
    }
    if (is_list(s->key))
        put_list(s, s->given->value, s->given->n + 1); /* the copy is there already */
    else
        memcpy(s->to, &s->copy, sizeof s->copy);
    return ND_OK;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

enum nd_status nd_run_options_set(struct nd_run_options *options, const char *name,
                                  const char *value, struct nd_error *err)
{
    const struct option_key *key = find_key(name);
    struct nd_run_given *given;
    const char **values;
    struct setting s;
    size_t n;
    enum nd_status status;

    if (!key)
        return no_key(name, err);
    if (!value && key->type == FLAG)
        value = "yes";
    if (!value)
        return nd_fail(err, ND_EINVAL, "%s needs a value", name);
    given = &options->given[key - keys];
    n = is_list(key) ? given->n : 0;
    s = (struct setting){options, key, (char *)options + key->to, value, NULL, given};
    s.copy = copy_text(options, value, strlen(value));
    values = with_room(options, given->value, n, sizeof *values);
    if (!s.copy || !values)
        return out_of_memory(err);
    given->value = values;
    if (is_list(key)) /* after the elements of the list, until it is appended */
        values[n] = s.copy;
    status = set_value(&s, err);
    if (status == ND_OK) {
        values[n] = s.copy;
        given->n = n + 1;
    }
    return status;
}

void nd_run_options_clear(struct nd_run_options *options, const char *name)
{
    static const size_t sizes[] = {
        [FLAG] = 1,
        [NUMBER] = sizeof(unsigned),
        [WORD] = sizeof(unsigned),
        [PART] = sizeof(struct nd_input_part),
        [SHARE] = sizeof(struct nd_ratio),
        [BYTES] = sizeof(uint64_t),
        [LIMITS] = sizeof(struct nd_filter_limits),
    };
    const struct nd_run_options standard = nd_run_options_default();
    const struct option_key *key = find_key(name);
    size_t size = key && key->type <= LIMITS ? sizes[key->type] : 0;

    if (!key)
        return;
    memcpy((char *)options + key->to, (const char *)&standard + key->to,
           size ? size : sizeof(void *));
    if (key->count)
        memcpy((char *)options + key->count, (const char *)&standard + key->count, sizeof(size_t));
    if (key->type == PREFER)
        options->prefer_field = NULL;
    if (key->type == TAGS) {
        nd_tags_free(options->tags);
        options->tags = NULL;
    }
    options->given[key - keys] = (struct nd_run_given){NULL, 0};
}

const char *nd_run_options_get(const struct nd_run_options *options, const char *name, size_t i)
{
    const struct option_key *key = find_key(name);
    const struct nd_run_given *given = key ? &options->given[key - keys] : NULL;

    if (given && i < given->n)
        return given->value[i];
    return given && i == 0 ? key->standard : NULL;
}
