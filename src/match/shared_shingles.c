/* shared_shingles.c - the shingles that most documents of a cluster share, and the tokens they cover */
#include <neardup/compare.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "match/winnow.h"

/* A shingle of a document, where it stands. */
struct shingle_entry {
    uint64_t value;
    uint32_t document;
    uint64_t place;
};

static int by_value(const void *left, const void *right)
{
    const struct shingle_entry *x = left, *y = right;

    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    if (x->document != y->document)
        return x->document < y->document ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static size_t shingles_of(const struct nd_token_list *document, unsigned width)
{
    return document->count >= width ? document->count - width + 1 : 0;
}

/* All shingles of all documents, sorted by ⟨value, document⟩.  False: out of memory. */
static bool list_entries(const struct nd_token_list *document, size_t n, unsigned width,
                         struct shingle_entry **out, size_t *n_out)
{
    size_t all = 0, most = 0, at = 0;
    struct shingle_entry *entry;
    uint64_t *value;

    for (size_t i = 0; i < n; i++) {
        size_t own = shingles_of(&document[i], width);

        all += own;
        most = own > most ? own : most;
    }
    entry = nd_alloc_array(all, sizeof *entry);
    value = nd_alloc_array(most, sizeof *value);
    for (size_t i = 0; entry && value && i < n; i++) {
        nd_run_hashes(document[i].hash, document[i].count, width, value);
        for (size_t place = 0; place < shingles_of(&document[i], width); place++)
            entry[at++] = (struct shingle_entry){value[place], (uint32_t)i, place};
    }
    if (entry && value && all)
        qsort(entry, all, sizeof *entry, by_value);
    *n_out = all;
    *out = entry;
    if (!value) {
        free(entry);
        *out = NULL;
    }
    free(value);
    return *out != NULL;
}

/* The entries of one value: in how many documents; *end: behind the last of them. */
static uint64_t documents_with(const struct shingle_entry *entry, size_t n, size_t from,
                               size_t *end)
{
    uint64_t documents = 0;
    size_t i = from;

    for (; i < n && entry[i].value == entry[from].value; i++)
        documents += i == from || entry[i].document != entry[i - 1].document;
    *end = i;
    return documents;
}

static void cover(const struct shingle_entry *entry, size_t from, size_t end, unsigned width,
                  struct nd_template *out)
{
    out->shingles++;
    for (size_t i = from; i != end; i++) {
        unsigned char *shared = out->is_shared[entry[i].document] + entry[i].place;

        memset(shared, 1, width);
        out->in_model[entry[i].document] += i == from || entry[i].document != entry[i - 1].document;
    }
}

static bool make_room(const struct nd_token_list *document, size_t n, struct nd_template *out)
{
    bool ok;

    out->in_model = calloc(n ? n : 1, sizeof *out->in_model);
    out->is_shared = calloc(n ? n : 1, sizeof(unsigned char *));
    out->n = out->is_shared ? n : 0;
    ok = out->in_model && out->is_shared;
    for (size_t i = 0; ok && i < n; i++) {
        out->is_shared[i] = calloc(document[i].count + 1, 1);
        ok = out->is_shared[i] != NULL;
    }
    return ok;
}

void nd_template_release(struct nd_template *t)
{
    for (size_t i = 0; t->is_shared && i < t->n; i++)
        free(t->is_shared[i]);
    free(t->is_shared);
    free(t->in_model);
    *t = (struct nd_template){0};
}

enum nd_status nd_template_find(const struct nd_token_list *documents, size_t n, unsigned width,
                                struct nd_ratio share, struct nd_template *out,
                                struct nd_error *err)
{
    struct nd_template found = {0};
    struct shingle_entry *entry = NULL;
    size_t n_entries = 0;

    if (width == 0 || share.p == 0 || share.q == 0 || share.p > share.q)
        return nd_fail(err, ND_EINVAL,
                       width ? "a share must be above 0 and at most 1"
                             : "a shingle must have at least one token");
    if (n > UINT32_MAX)
        return nd_fail(err, ND_EUNSUPPORTED, "more than 2^32 documents in a cluster");
    if (!make_room(documents, n, &found) ||
        !list_entries(documents, n, width, &entry, &n_entries)) {
        nd_template_release(&found);
        return nd_fail(err, ND_ENOMEM, "out of memory for the shingles of a cluster");
    }
    found.least = ((uint64_t)n * share.p + share.q - 1) / share.q;
    if (found.least < 2) /* what one document has alone is not shared */
        found.least = 2;
    for (size_t from = 0, end; from < n_entries; from = end)
        if (documents_with(entry, n_entries, from, &end) >= found.least)
            cover(entry, from, end, width, &found);
    free(entry);
    *out = found;
    return ND_OK;
}
