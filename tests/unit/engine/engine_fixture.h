/* engine_fixture.h - texts of which every third is a near copy, an engine, and a source of texts */
#ifndef ENGINE_FIXTURE_H
#define ENGINE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/dedup.h>

#include "engine/engine.h"

enum { N = 120, TEXT = 400 };

static char text[N][TEXT];
static struct nd_dedup_item item[N];

/* Every third text is a near copy of the one before. */
static int make_texts(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N; i++) {
        size_t len = 0;

        for (unsigned w = 0; w < 40; w++)
            len += (size_t)snprintf(text[i] + len, TEXT - len, "w%u ",
                                    (i % 3 == 1 ? i - 1 : i) * 40 + w);
        if (i % 3 == 1)
            text[i][len - 2] = 'x';
        item[i] = (struct nd_dedup_item){.text = {text[i], len}};
    }
    return 0;
}

static struct nd_dedup *make(enum nd_cluster cluster, unsigned threads,
                             const struct nd_text_source *source)
{
    struct nd_dedup_params params = nd_dedup_params_default();
    struct nd_dedup *d;

    params.cluster = cluster;
    params.threads = threads;
    params.cache_bytes = 1 << 20;
    d = nd_dedup_new_with(&params, source, NULL);
    assert_non_null(d);
    return d;
}

static enum nd_status count_pair(void *context, const struct nd_found_pair *pair)
{
    size_t *n = context;

    assert_true(pair->b < N);
    ++*n;
    return ND_OK;
}

/* A source that fails when it is told to. */
struct source {
    enum nd_status fetch, keep;
    struct nd_dedup *d;
    void (*meanwhile)(struct nd_dedup *d);
};

static enum nd_status fetch(void *context, uint64_t document, unsigned worker, struct nd_view *out,
                            struct nd_error *err)
{
    struct source *source = context;

    (void)worker;
    if (source->fetch)
        return nd_fail(err, source->fetch, "told to");
    if (source->meanwhile)
        source->meanwhile(source->d);
    *out = item[document].text;
    return ND_OK;
}

static enum nd_status keep(void *context, uint64_t document, size_t place, struct nd_error *err)
{
    const struct source *source = context;

    (void)document;
    (void)place;
    return source->keep ? nd_fail(err, source->keep, "told to") : ND_OK;
}

#endif
