/* featurer_template.c - template text: words within runs that stand in many documents (000 s. 2.1,
 * 2.5.3) */
#include "feature/featurer.h"

#include "feature/df_layout.h"
#include "simd/sketch_kernels.h"

#include <neardup/sketch.h>

#include <stdlib.h>
#include <string.h>

/* Each distinct run is looked up by itself: its misses are started in batches. */
enum { BATCH = 512 };

/* The width of the shingles that the table counts. */
static unsigned width_of(const struct nd_df *table)
{
    const char *line = strstr(nd_df_features(table), "width = ");

    return line ? (unsigned)strtoul(line + strlen("width = "), NULL, 10) : 0;
}

enum nd_status nd_template_check(const struct nd_feature_params *p, unsigned *width,
                                 struct nd_error *err)
{
    struct nd_feature_params shingles = nd_feature_params_default();

    if (!p->template_table)
        return nd_fail(err, ND_EINVAL,
                       "template_count = %u needs a df table of shingles "
                       "(template_df = FILE)",
                       p->template_count);
    *width = width_of(p->template_table);
    if (*width < 1 || *width > ND_SHINGLE_MAX)
        return nd_fail(err, ND_EINVAL, "the df table of the template does not count shingles");
    shingles.unit = ND_FEATURE_SHINGLES;
    shingles.width = *width;
    shingles.join_apostrophes = p->join_apostrophes;
    return nd_df_check(p->template_table, &shingles, err);
}

static bool is_common(const struct nd_featurer *f, uint64_t shingle)
{
    return nd_df_count(f->params.template_table, shingle) > f->params.template_count;
}

/* Mark the words of common shingles; the n of them begin at word `first`. */
static void mark_batch(struct nd_featurer *f, const uint64_t *shingle, size_t n, size_t first,
                       size_t *marked)
{
    for (size_t i = 0; i < n; i++)
        nd_df_prefetch(f->params.template_table, shingle[i]);
    for (size_t i = 0; i < n; i++) {
        size_t from = first + i, end = from + f->template_width;

        if (!is_common(f, shingle[i]))
            continue;
        from = from > *marked ? from : *marked;
        memset(f->is_template + from, 1, end - from);
        *marked = end;
    }
}

static void mark(struct nd_featurer *f, const uint64_t *token, size_t n)
{
    const struct nd_sketch_kernels *kernels = nd_sketch_kernels();
    size_t w = f->template_width, marked = 0;
    uint64_t shingle[BATCH];

    if (n == 0)
        return;
    memset(f->is_template, 0, n);
    if (n < w && is_common(f, nd_featurer_short_shingle(token, n)))
        memset(f->is_template, 1, n);
    for (size_t i = 0; i + w <= n; i += BATCH) {
        size_t count = n - w + 1 - i < BATCH ? n - w + 1 - i : BATCH;

        kernels->shingles(token + i, count, (unsigned)w, shingle);
        mark_batch(f, shingle, count, i, &marked);
    }
}

bool nd_featurer_find_template(struct nd_featurer *f)
{
    void *is_template = f->is_template;
    size_t n = f->word.count;

    if (!f->params.template_count)
        return true;
    if (!nd_featurer_reserve_terms(f, n) ||
        !nd_array_reserve(&is_template, &f->template_capacity, n, 1))
        return false;
    f->is_template = is_template;
    for (size_t i = 0; i < n; i++) /* the tokens, where terms will be */
        f->term[i] = f->words.word[f->word.at[i]].hash;
    mark(f, f->term, n);
    return true;
}

void nd_featurer_drop_template(struct nd_featurer *f)
{
    size_t n = 0;

    if (!f->params.template_count || f->template_weight)
        return;
    for (size_t i = 0; i < f->kept.count; i++) {
        f->term[n] = f->term[i];
        f->term_df[n] = f->term_df[i];
        f->kept.at[n] = f->kept.at[i];
        n += !f->is_template[f->kept.at[i]];
    }
    f->kept.count = n;
}
