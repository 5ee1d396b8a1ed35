/* word_rules.c - what is known of a token by itself: stop word, anchor, part of a date, left out */
#include "feature/word_rules.h"

#include "base/memory.h"
#include "base/system/descriptor.h"
#include "base/utf8.h"
#include "feature/feature_params.h"
#include "feature/word/apostrophes.h"
#include "text/digit.h"

#include <neardup/ratio.h>
#include <neardup/text.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 26 }; /* bytes of a file of stop words */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void sort_distinct(uint64_t *hash, size_t *count)
{
    size_t n = 0;

    if (*count == 0)
        return;
    qsort(hash, *count, sizeof *hash, by_value);
    for (size_t i = 0; i < *count; i++)
        if (n == 0 || hash[n - 1] != hash[i])
            hash[n++] = hash[i];
    *count = n;
}

/* The distinct token hashes of a text.  False: out of memory. */
static bool read_hashes(struct nd_hash_list *list, const char *text, size_t len,
                        bool join_apostrophes)
{
    struct nd_tokeniser *t = nd_tokeniser_new();
    struct nd_buffer buffer = {0};
    struct nd_view joined = {text, len};
    const uint64_t *token;
    size_t n, capacity = 0;
    int more = ND_ENOMEM;

    if (t && (!join_apostrophes || nd_apostrophes_join(&buffer, joined, &joined))) {
        nd_tokeniser_start(t, joined.data, joined.len);
        while ((more = nd_tokeniser_next(t, &token, &n)) == 1) {
            if (!ND_RESERVE(list->items, &capacity, list->count + n)) {
                more = ND_ENOMEM;
                break;
            }
            memcpy(list->items + list->count, token, n * sizeof *token);
            list->count += n;
        }
    }
    nd_tokeniser_free(t);
    nd_buffer_release(&buffer);
    sort_distinct(list->items, &list->count);
    return more == 0;
}

static bool has_hash(const struct nd_hash_list *list, uint64_t hash)
{
    return list->count > 0 &&
           bsearch(&hash, list->items, list->count, sizeof hash, by_value) != NULL;
}

/* The whole file, for free().  */
static enum nd_status read_file(const char *path, char **data, size_t *len, struct nd_error *err)
{
    struct nd_buffer all = {0};
    FILE *file = nd_stream_open(path, "r");
    enum nd_status status = ND_OK;

    if (!file)
        return nd_fail(err, ND_EIO, "stop_words = %s: %s", path, strerror(errno));
    while (status == ND_OK && !feof(file)) {
        char part[4096];
        size_t n = fread(part, 1, sizeof part, file);

        if (ferror(file))
            status = nd_fail(err, ND_EIO, "stop_words = %s: %s", path, strerror(errno));
        else if (all.len + n > FILE_MAX)
            status = nd_fail(err, ND_EINVAL, "stop_words = %s: the file is larger than %d MB", path,
                             FILE_MAX >> 20);
        else if (!nd_buffer_append(&all, part, n))
            status = nd_fail(err, ND_ENOMEM, "out of memory");
    }
    (void)fclose(file);
    if (status != ND_OK) {
        nd_buffer_release(&all);
        return status;
    }
    *data = all.data;
    *len = all.len;
    return ND_OK;
}

/* Lines that begin with # become spaces. */
static void blank_comments(char *text, size_t len)
{
    bool is_comment = false;

    for (size_t i = 0; i < len; i++) {
        if (i == 0 || text[i - 1] == '\n')
            is_comment = text[i] == '#';
        if (is_comment && text[i] != '\n')
            text[i] = ' ';
    }
}

static enum nd_status from_file(struct nd_word_rules *rules, const char *path,
                                bool join_apostrophes, struct nd_error *err)
{
    char *text;
    size_t len;
    enum nd_status status = read_file(path, &text, &len, err);

    if (status != ND_OK)
        return status;
    if (!nd_utf8_valid(text, len))
        status = nd_fail(err, ND_EINVAL, "stop_words = %s: the file is not UTF-8", path);
    blank_comments(text, len);
    if (status == ND_OK && !read_hashes(&rules->stop, text, len, join_apostrophes))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK && rules->stop.count == 0)
        status = nd_fail(err, ND_EINVAL, "stop_words = %s: the file contains no word", path);
    free(text);
    return status;
}

static enum nd_status from_df(struct nd_word_rules *rules, const char *spec, const struct nd_df *df,
                              struct nd_error *err)
{
    struct nd_ratio fraction = {0, 1};
    enum nd_status status = nd_stop_words_fraction(spec, &fraction, err);

    if (status != ND_OK)
        return status;
    if (!df)
        return nd_fail(err, ND_EINVAL, "stop_words = %s needs a df table (df = FILE)", spec);
    rules->stops_by_df = true;
    rules->df_limit = (uint64_t)((unsigned __int128)nd_df_documents(df) * fraction.p / fraction.q);
    return ND_OK;
}

static enum nd_status read_stop_words(struct nd_word_rules *rules, const char *spec,
                                      bool join_apostrophes, const struct nd_df *df,
                                      struct nd_error *err)
{
    if (strcmp(spec, "none") == 0 || !*spec)
        return ND_OK;
    if (nd_stop_words_are_by_df(spec))
        return from_df(rules, spec, df, err);
    if (strcmp(spec, "english") != 0)
        return from_file(rules, spec, join_apostrophes, err);
    rules->stops_english = true;
    return ND_OK;
}

enum nd_status nd_word_rules_init(struct nd_word_rules *rules,
                                  const struct nd_feature_params *params, const struct nd_df *df,
                                  struct nd_error *err)
{
    enum nd_status status =
        read_stop_words(rules, params->stop_words, params->join_apostrophes, df, err);

    if (status != ND_OK)
        return status;
    if (!read_hashes(&rules->anchors, params->anchors, strlen(params->anchors),
                     params->join_apostrophes))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    rules->df = df;
    rules->min_length = params->least_length;
    rules->max_digits = params->strip != ND_STRIP_NONE         ? 0
                        : params->most_digits >= ND_DIGITS_ANY ? UINT_MAX
                                                               : params->most_digits;
    rules->has_dates = params->strip == ND_STRIP_DATES;
    return ND_OK;
}

void nd_word_rules_release(struct nd_word_rules *rules)
{
    free(rules->stop.items);
    free(rules->anchors.items);
    *rules = (struct nd_word_rules){0};
}

/* A binary search in the table of English words. */
static uint32_t kinds_of_english(uint64_t hash)
{
    size_t low = 0, high = nd_english_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (nd_english[middle].hash == hash)
            return nd_english[middle].kinds;
        if (nd_english[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* Return what the form of a token says: whether it has digits, too many of them, too few code
 * points. */
static uint32_t kinds_of_form(const struct nd_word_rules *rules, struct nd_view form)
{
    size_t codes = 0, digits = 0, n;

    for (size_t i = 0; i < form.len; i += n, codes++)
        digits += nd_is_digit(nd_utf8_decode(form.data + i, &n));
    return (digits ? ND_WORD_DIGIT : 0) |
           (codes < rules->min_length || digits > rules->max_digits ? ND_WORD_LEFT_OUT : 0);
}

uint32_t nd_word_kinds(const struct nd_word_rules *rules, uint64_t hash, struct nd_view form,
                       uint32_t df)
{
    uint32_t english = kinds_of_english(hash), kinds = kinds_of_form(rules, form);

    if (rules->has_dates)
        kinds |= english & ~(uint32_t)ND_WORD_STOP;
    if ((rules->stops_english && (english & ND_WORD_STOP)) || has_hash(&rules->stop, hash) ||
        (rules->stops_by_df && df > rules->df_limit))
        kinds |= ND_WORD_STOP;
    if (has_hash(&rules->anchors, hash))
        kinds |= ND_WORD_ANCHOR;
    return kinds;
}
