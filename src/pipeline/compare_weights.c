/* compare_weights.c - the weighted features of two documents beside each other */
#include "pipeline/explain.h"

#include <neardup/feature.h>
#include <neardup/uses.h>

#include <stdlib.h>
#include <string.h>

/* A feature of one of the documents. */
struct entry {
    uint64_t hash;
    size_t order; /* those of the first document come before those of the second */
    int64_t weight[2];
    struct nd_view text;
};

static int by_hash(const void *left, const void *right)
{
    const struct entry *x = left, *y = right;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int64_t apart(const struct entry *x)
{
    int64_t d = x->weight[0] - x->weight[1];

    return d < 0 ? -d : d;
}

/* The greatest difference first. */
static int by_difference(const void *left, const void *right)
{
    const struct entry *x = left, *y = right;

    if (apart(x) != apart(y))
        return apart(x) > apart(y) ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

struct featured {
    struct nd_featurer *featurer;
    struct nd_features features;
    char *text; /* a line each */
    size_t len;
};

static enum nd_status make_features(const struct nd_named_signature *s,
                                    const struct nd_document *document, struct featured *out,
                                    struct nd_error *err)
{
    out->featurer = nd_featurer_new(&s->feature, &s->weight, s->table, err);
    if (!out->featurer)
        return err->status;
    if (nd_featurer_explain(out->featurer, document, &out->text, &out->len, &out->features) !=
        ND_OK)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}

static void list_entries(const struct featured *f, unsigned which, size_t before,
                         struct entry *entry)
{
    const char *at = f->text, *end = f->text + f->len;

    for (size_t i = 0; i < f->features.count; i++) {
        const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;

        stop = stop ? stop : end;
        entry[i] = (struct entry){
            .hash = f->features.at[i].hash, .order = before + i, .text = {at, (size_t)(stop - at)}};
        entry[i].weight[which] = f->features.at[i].weight;
        at = stop < end ? stop + 1 : end;
    }
}

/* Sorted by hash: add up equal ones; how many are left. */
static size_t merge(struct entry *entry, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (kept && entry[kept - 1].hash == entry[i].hash) {
            entry[kept - 1].weight[0] += entry[i].weight[0];
            entry[kept - 1].weight[1] += entry[i].weight[1];
        } else {
            entry[kept++] = entry[i];
        }
    }
    return kept;
}

static enum nd_status copy_entries(const struct entry *entry, size_t n, struct nd_comparison *out,
                                   struct nd_error *err)
{
    out->weight = calloc(n ? n : 1, sizeof *out->weight);
    for (size_t i = 0; out->weight && i < n; i++) {
        double a = (double)entry[i].weight[0], b = (double)entry[i].weight[1];
        char *text = malloc(entry[i].text.len + 1);

        if (!text)
            return nd_fail(err, ND_ENOMEM, "out of memory");
        memcpy(text, entry[i].text.data, entry[i].text.len);
        text[entry[i].text.len] = '\0';
        out->weight[out->n_weights++] =
            (struct nd_weight){text, entry[i].weight[0], entry[i].weight[1]};
        out->weights_inner += a * b;
        out->weights_squares[0] += a * a;
        out->weights_squares[1] += b * b;
    }
    return out->weight ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

enum nd_status nd_compare_weights(const struct nd_named_signature *signature,
                                  const struct nd_held *held, struct nd_comparison *out,
                                  struct nd_error *err)
{
    struct featured f[2] = {{.featurer = NULL}, {.featurer = NULL}};
    enum nd_status status = ND_OK;
    struct entry *entry = NULL;
    size_t n;

    for (unsigned i = 0; status == ND_OK && i < 2; i++)
        status = make_features(signature, &held[i].document, &f[i], err);
    n = f[0].features.count + f[1].features.count;
    if (status == ND_OK && !(entry = nd_alloc_array(n, sizeof *entry)))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK) {
        list_entries(&f[0], 0, 0, entry);
        list_entries(&f[1], 1, f[0].features.count, entry + f[0].features.count);
        if (n)
            qsort(entry, n, sizeof *entry, by_hash);
        n = merge(entry, n);
        if (n)
            qsort(entry, n, sizeof *entry, by_difference);
        memcpy(out->signature, signature->name, sizeof out->signature);
        for (unsigned i = 0; i < 2; i++)
            out->weights_unit[i] = (double)f[i].features.unit / 4294967296.0 / ND_WEIGHT_ONE;
        status = copy_entries(entry, n, out, err);
    }
    for (unsigned i = 0; i < 2; i++) {
        free(f[i].text);
        nd_featurer_free(f[i].featurer);
    }
    free(entry);
    return status;
}
