/* mirrors.c - pairs of hosts whose pages are equal or similar at the same paths */

/*
 * Hosts mirror each other if they have similar pages at equal paths. Comparing all pages of all
 * hosts would be too much, so each host is represented by the paths with the lowest hashes
 * (sample.h): two hosts that share paths sample many of the same ones. Pairs of hosts with enough
 * common sampled paths are compared page by page, by the minima of their sketches.
 */
#include "base/address.h"
#include "base/hash_set.h"
#include "base/sort.h"
#include "uses/sample.h"

#include <neardup/text.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned __int128 wide;

/* A pair of hosts: counts of paths up to the hash bound of both samples. */
struct host_pair {
    uint32_t a, b;
    uint64_t shared, either, equal, similar;
    uint64_t minima; /* equal minima over all shared paths: ND_MINHASH_COUNT for equal pages */
};

struct mirroring {
    struct nd_use use;
    const struct nd_mirrors_params *params;
    struct nd_sample sample;
    struct nd_hashes meetings; /* of hosts: a << 32 | b, once for each path that they share */
    struct host_pair *pair;
    size_t n_pairs, pairs_capacity;
};

struct nd_mirrors_params nd_mirrors_params_default(void)
{
    return (struct nd_mirrors_params){
        .url = "url", .sample = 100, .least = 3, .common = 100, .score = {1, 2}};
}

static enum nd_status take(void *context, const struct nd_parsed *parsed, struct nd_error *err)
{
    struct mirroring *m = context;
    struct nd_view url = nd_run_asked(&m->use.run, &parsed->document, 0), path, name;
    char host[ND_HOST_MAX + 1], reason[160];

    if (!url.data || !nd_address_split(url, host, &name.len, &path)) {
        snprintf(reason, sizeof reason,
                 url.data ? "field '%.100s' is not an address with a host"
                          : "field '%.100s', the address of the page, is missing",
                 m->params->url);
        return nd_use_bad(&m->use, parsed, reason, err);
    }
    name.data = host;
    if (!nd_sample_add(&m->sample, name, path, nd_use_sketch_of(&m->use, parsed)))
        return nd_fail(err, ND_ENOMEM, "out of memory for the pages of %zu hosts",
                       m->sample.names.count);
    return ND_OK;
}

static int by_number(const void *left, const void *right)
{
    uint64_t x = *(const uint64_t *)left, y = *(const uint64_t *)right;

    return x < y ? -1 : x > y;
}

/* Note each pair of the n hosts that share one path. */
static bool meet(struct mirroring *m, const struct nd_numbered_value *at, size_t n)
{
    if (n < 2 || n > m->params->common)
        return true;
    if (!ND_RESERVE(m->meetings.item, &m->meetings.capacity, m->meetings.n + n * (n - 1) / 2))
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            m->meetings.item[m->meetings.n++] = (uint64_t)at[i].number << 32 | at[j].number;
    return true;
}

static enum nd_status find_meetings(struct mirroring *m, struct nd_error *err)
{
    const struct nd_sample *s = &m->sample;
    /* The paths, and the numbers of their hosts. */
    struct nd_numbered_value *at = nd_alloc_array(s->n_pages, sizeof *at);
    struct nd_numbered_value *other = nd_alloc_array(s->n_pages, sizeof *other);
    bool ok = at && other;
    size_t n = 0;

    for (size_t h = 0; ok && h < s->names.count; h++)
        for (size_t i = 0; i < s->host[h].n; i++)
            at[n++] = (struct nd_numbered_value){s->page[s->host[h].page[i]].path, (uint32_t)h, 0};
    if (ok && n)
        nd_sort_numbered(&at, &other, n); /* of equal paths the lower host first */
    for (size_t from = 0, end; ok && from < n; from = end) {
        for (end = from; end < n && at[end].value == at[from].value; end++)
            ;
        ok = meet(m, at + from, end - from);
    }
    if (ok && m->meetings.n)
        qsort(m->meetings.item, m->meetings.n, sizeof *m->meetings.item, by_number);
    free(at);
    free(other);
    return ok ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory for pairs of hosts");
}

static void compare_pages(const struct mirroring *m, const struct nd_page *x,
                          const struct nd_page *y, struct host_pair *p)
{
    const struct nd_ratio threshold = m->use.run.recipe->dedup.threshold;
    const struct nd_use_sketch *a = &x->sketch, *b = &y->sketch;
    unsigned minima;

    p->shared++;
    if (a->raw == b->raw ||
        (a->n_tokens && a->n_tokens == b->n_tokens && a->identity == b->identity)) {
        p->equal++;
        p->minima += ND_MINHASH_COUNT;
        return;
    }
    minima = a->n_tokens && b->n_tokens ? nd_minhash_equal(a->minhash, b->minhash) : 0;
    if ((uint64_t)minima * threshold.q >= (uint64_t)ND_MINHASH_COUNT * threshold.p) {
        p->similar++;
        p->minima += minima;
    }
}

/* Walk through the two sorted samples in parallel, up to the hash to which both are complete. */
static struct host_pair compare_hosts(const struct mirroring *m, uint32_t a, uint32_t b)
{
    const struct nd_sample *s = &m->sample;
    const struct nd_host *x = &s->host[a], *y = &s->host[b];
    uint64_t bound = nd_sample_bound(s, x), other = nd_sample_bound(s, y);
    struct host_pair p = {.a = a, .b = b};
    size_t i = 0, j = 0;

    bound = bound < other ? bound : other;
    for (;;) {
        const struct nd_page *left = i < x->n ? &s->page[x->page[i]] : NULL;
        const struct nd_page *right = j < y->n ? &s->page[y->page[j]] : NULL;

        left = left && left->path <= bound ? left : NULL;
        right = right && right->path <= bound ? right : NULL;
        if (!left && !right)
            return p;
        p.either++;
        if (left && right && left->path == right->path)
            compare_pages(m, left, right, &p);
        i += left && (!right || left->path <= right->path);
        j += right && (!left || right->path <= left->path);
    }
}

static bool reaches(const struct host_pair *p, struct nd_ratio score)
{
    return p->shared && (wide)p->minima * score.q >= (wide)p->either * ND_MINHASH_COUNT * score.p;
}

static int by_score(const void *left, const void *right)
{
    const struct host_pair *x = left, *y = right;
    wide a = (wide)x->minima * y->either, b = (wide)y->minima * x->either;

    if (a != b)
        return a > b ? -1 : 1;
    if (x->shared != y->shared)
        return x->shared > y->shared ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

static enum nd_status compare_all(struct mirroring *m, struct nd_error *err)
{
    const struct nd_hashes *meetings = &m->meetings;

    for (size_t from = 0, end; from < meetings->n; from = end) {
        uint64_t hosts = meetings->item[from];
        struct host_pair p;

        for (end = from; end < meetings->n && meetings->item[end] == hosts; end++)
            ;
        if (end - from < m->params->least)
            continue;
        p = compare_hosts(m, (uint32_t)(hosts >> 32), (uint32_t)hosts);
        if (!reaches(&p, m->params->score))
            continue;
        if (!ND_RESERVE(m->pair, &m->pairs_capacity, m->n_pairs + 1))
            return nd_fail(err, ND_ENOMEM, "out of memory for pairs of hosts");
        m->pair[m->n_pairs++] = p;
    }
    if (m->n_pairs)
        qsort(m->pair, m->n_pairs, sizeof *m->pair, by_score);
    return ND_OK;
}

static bool add_words(struct nd_hashes *words, struct nd_view path)
{
    struct nd_token *token;
    size_t n;
    bool ok;

    if (nd_text_tokens(path.data, path.len, &token, &n, NULL) != ND_OK)
        return false;
    ok = ND_RESERVE(words->item, &words->capacity, words->n + n + 1);
    for (size_t i = 0; ok && i < n; i++)
        words->item[words->n++] = token[i].hash;
    free(token);
    return ok;
}

/* The words of a host's sampled paths, sorted and each once.  False: out of memory. */
static bool list_words(const struct nd_sample *s, const struct nd_host *h, struct nd_hashes *words)
{
    for (size_t i = 0; i < h->n; i++)
        if (!add_words(words, s->page[h->page[i]].words))
            return false;
    if (!ND_RESERVE(words->item, &words->capacity, 2 * words->n + 1))
        return false;
    words->n = nd_sort_distinct(words->item, words->n, words->item + words->n);
    return true;
}

/* Resemblance of the words of the paths of two hosts.  Negative: out of memory. */
static double word_resemblance(const struct nd_sample *s, const struct host_pair *p)
{
    struct nd_hashes a = {NULL, 0, 0}, b = {NULL, 0, 0};
    struct nd_overlap o = {0};
    bool ok = list_words(s, &s->host[p->a], &a) && list_words(s, &s->host[p->b], &b) &&
              nd_shingles_overlap(a.item, a.n, b.item, b.n, &o) == ND_OK;

    free(a.item);
    free(b.item);
    return ok ? nd_overlap_resemblance(&o) : -1;
}

static enum nd_status write_pair(struct mirroring *m, const struct host_pair *p,
                                 struct nd_error *err)
{
    const struct nd_sample *s = &m->sample;
    double words = word_resemblance(s, p);

    if (words < 0)
        return nd_fail(err, ND_ENOMEM, "out of memory for the words of addresses");
    nd_cell_text(&m->use, "a", s->names.value[p->a]);
    nd_cell_text(&m->use, "b", s->names.value[p->b]);
    nd_cell_uint(&m->use, "pages_a", s->host[p->a].pages);
    nd_cell_uint(&m->use, "pages_b", s->host[p->b].pages);
    nd_cell_uint(&m->use, "either", p->either);
    nd_cell_uint(&m->use, "shared", p->shared);
    nd_cell_uint(&m->use, "equal", p->equal);
    nd_cell_uint(&m->use, "similar", p->similar);
    nd_cell_double(&m->use, "words", words);
    nd_cell_double(&m->use, "score", (double)p->minima / ((double)p->either * ND_MINHASH_COUNT));
    return nd_row_end(&m->use, err);
}

enum nd_status nd_run_mirrors(const struct nd_run_options *options,
                              const struct nd_mirrors_params *params,
                              const struct nd_run_events *events, struct nd_use_summary *summary,
                              struct nd_error *err)
{
    const struct nd_run_request request = {
        .fields = {params->url}, .writes_output = true, .ignores_signatures = true};
    struct mirroring m = {.params = params, .sample.max = params->sample};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = nd_use_begin(&m.use, options, &request, events, err);
    if (status == ND_OK)
        status = nd_use_walk(&m.use, ND_SKETCH_MINHASH, take, &m, err);
    if (status == ND_OK) {
        nd_sample_sort(&m.sample);
        status = find_meetings(&m, err);
    }
    if (status == ND_OK)
        status = compare_all(&m, err);
    if (status == ND_OK)
        status = nd_use_open(&m.use, params->json, err);
    for (size_t i = 0; status == ND_OK && i < m.n_pairs; i++)
        status = write_pair(&m, &m.pair[i], err);
    status = nd_use_end(&m.use, status, m.n_pairs, summary, err);
    nd_sample_release(&m.sample);
    free(m.meetings.item);
    free(m.pair);
    return status;
}
