/* stop_words.c - which tokens are left out for being common: a list, a file, a share of a df table
 */
#include "feature/stop_words.h"

#include "base/memory.h"
#include "feature/apostrophes.h"

#include <neardup/ratio.h>
#include <neardup/text.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 26 }; /* of a file of stop words */

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

bool nd_hashes_of_text(const char *text, size_t len, bool join_apostrophes, uint64_t **hash,
                       size_t *count)
{
    struct nd_tokeniser *t = nd_tokeniser_new();
    struct nd_buffer buffer = {0};
    struct nd_view joined = {text, len};
    const uint64_t *token;
    void *all = NULL;
    size_t n, capacity = 0;
    int more = ND_ENOMEM;

    *count = 0;
    if (t && (!join_apostrophes || nd_apostrophes_join(&buffer, joined, &joined))) {
        nd_tokeniser_start(t, joined.data, joined.len);
        while ((more = nd_tokeniser_next(t, &token, &n)) == 1) {
            if (!nd_array_reserve(&all, &capacity, *count + n, sizeof *token)) {
                more = ND_ENOMEM;
                break;
            }
            memcpy((uint64_t *)all + *count, token, n * sizeof *token);
            *count += n;
        }
    }
    nd_tokeniser_free(t);
    nd_buffer_release(&buffer);
    if (more < 0) {
        free(all);
        return false;
    }
    *hash = all;
    sort_distinct(*hash, count);
    return true;
}

bool nd_hashes_have(const uint64_t *hash, size_t count, uint64_t value)
{
    return count > 0 && bsearch(&value, hash, count, sizeof value, by_value) != NULL;
}

/* The whole file, for free().  */
static enum nd_status read_file(const char *path, char **data, size_t *len, struct nd_error *err)
{
    struct nd_buffer all = {0};
    FILE *file = fopen(path, "rb");
    enum nd_status status = ND_OK;

    if (!file)
        return nd_fail(err, ND_EIO, "stop_words = %s: %s", path, strerror(errno));
    while (status == ND_OK && !feof(file)) {
        char part[4096];
        size_t n = fread(part, 1, sizeof part, file);

        if (ferror(file))
            status = nd_fail(err, ND_EIO, "stop_words = %s: %s", path, strerror(errno));
        else if (all.len + n > FILE_MAX)
            status =
                nd_fail(err, ND_EINVAL, "stop_words = %s: more than %d MB", path, FILE_MAX >> 20);
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

static enum nd_status from_file(struct nd_stop_words *s, const char *path, bool join_apostrophes,
                                struct nd_error *err)
{
    char *text;
    size_t len;
    enum nd_status status = read_file(path, &text, &len, err);

    if (status != ND_OK)
        return status;
    if (!nd_utf8_valid(text, len))
        status = nd_fail(err, ND_EINVAL, "stop_words = %s: the file is not UTF-8", path);
    blank_comments(text, len);
    if (status == ND_OK && !nd_hashes_of_text(text, len, join_apostrophes, &s->hash, &s->count))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK && s->count == 0)
        status = nd_fail(err, ND_EINVAL, "stop_words = %s: there is no word in it", path);
    free(text);
    return status;
}

bool nd_stop_words_are_by_df(const char *spec)
{
    return strncmp(spec, "df:", 3) == 0;
}

enum nd_status nd_stop_words_share(const char *spec, struct nd_ratio *share, struct nd_error *err)
{
    struct nd_ratio ratio;

    if (nd_ratio_parse(spec + 3, strlen(spec + 3), &ratio, NULL) != ND_OK || ratio.p >= ratio.q)
        return nd_fail(err, ND_EINVAL,
                       "stop_words = %s: the share of the documents must be at least 0 and below "
                       "1, as in df:0.1",
                       spec);
    *share = ratio;
    return ND_OK;
}

static enum nd_status from_df(struct nd_stop_words *s, const char *spec, const struct nd_df *df,
                              struct nd_error *err)
{
    struct nd_ratio share = {0, 1};
    enum nd_status status = nd_stop_words_share(spec, &share, err);

    if (status != ND_OK)
        return status;
    if (!df)
        return nd_fail(err, ND_EINVAL, "stop_words = %s needs a df table (df = FILE)", spec);
    s->by_df = true;
    s->df_limit = (uint64_t)((unsigned __int128)nd_df_documents(df) * share.p / share.q);
    return ND_OK;
}

enum nd_status nd_stop_words_init(struct nd_stop_words *s, const char *spec, bool join_apostrophes,
                                  const struct nd_df *df, struct nd_error *err)
{
    if (strcmp(spec, "none") == 0 || !*spec)
        return ND_OK;
    if (nd_stop_words_are_by_df(spec))
        return from_df(s, spec, df, err);
    if (strcmp(spec, "english") != 0)
        return from_file(s, spec, join_apostrophes, err);
    s->is_english = true;
    return ND_OK;
}

void nd_stop_words_release(struct nd_stop_words *s)
{
    free(s->hash);
    *s = (struct nd_stop_words){0};
}
