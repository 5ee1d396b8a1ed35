/* run_mirrors.c - pairs of hosts whose pages are equal or similar at the same paths */
#include "pipeline/address.h"
#include "pipeline/sample.h"

#include <neardup/text.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned __int128 wide;

/* Two hosts beside each other: counts of paths up to the bound of both samples. */
struct host_pair {
    uint32_t a, b;
    uint64_t shared, either, equal, similar;
    uint64_t minima; /* equal ones, of all shared paths: ND_MINHASH_COUNT for equal pages */
};

struct mirroring {
    struct nd_use use;
    const struct nd_mirrors_params *params;
    struct nd_sample sample;
    uint64_t *meeting; /* a << 32 | b, once for each path that they share */
    size_t n_meetings, meetings_capacity;
    struct host_pair *pair;
    size_t n_pairs, pairs_capacity;
};

struct nd_mirrors_params nd_mirrors_params_default(void)
{
    return (struct nd_mirrors_params){
        .url = "url", .sample = 100, .least = 3, .common = 100, .score = {1, 2}};
}

static enum nd_status take(void *context, const struct nd_use_item *item, struct nd_error *err)
{
    struct mirroring *m = context;
    struct nd_view url = nd_use_first(&m->use, &item->parsed->document), path, name;
    char host[ND_HOST_MAX + 1], reason[160];

    if (!url.data || !nd_address_split(url, host, &name.len, &path)) {
        snprintf(reason, sizeof reason, "%.100s is %s", m->params->url,
                 url.data ? "no address with a host" : "missing, the address of the page");
        return nd_use_bad(&m->use, item, reason, err);
    }
    name.data = host;
    if (!nd_sample_add(&m->sample, name, path, item->sketch))
        return nd_fail(err, ND_ENOMEM, "out of memory for the pages of %zu hosts",
                       m->sample.names.count);
    return ND_OK;
}

struct path_of_host {
    uint64_t path;
    uint32_t host;
};

static int by_path(const void *left, const void *right)
{
    const struct path_of_host *x = left, *y = right;

    if (x->path != y->path)
        return x->path < y->path ? -1 : 1;
    return x->host < y->host ? -1 : x->host > y->host;
}

static int by_number(const void *left, const void *right)
{
    uint64_t x = *(const uint64_t *)left, y = *(const uint64_t *)right;

    return x < y ? -1 : x > y;
}

/* Every two of the n hosts that have one path meet there. */
static bool meet(struct mirroring *m, const struct path_of_host *at, size_t n)
{
    void *list = m->meeting;

    if (n < 2 || n > m->params->common)
        return true;
    if (!nd_array_reserve(&list, &m->meetings_capacity, m->n_meetings + n * (n - 1) / 2,
                          sizeof *m->meeting))
        return false;
    m->meeting = list;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            m->meeting[m->n_meetings++] = (uint64_t)at[i].host << 32 | at[j].host;
    return true;
}

static enum nd_status find_meetings(struct mirroring *m, struct nd_error *err)
{
    const struct nd_sample *s = &m->sample;
    struct path_of_host *at = nd_alloc_array(s->n_pages, sizeof *at);
    size_t n = 0;
    bool ok = at != NULL;

    for (size_t h = 0; ok && h < s->names.count; h++)
        for (size_t i = 0; i < s->host[h].n; i++)
            at[n++] = (struct path_of_host){s->page[s->host[h].page[i]].path, (uint32_t)h};
    if (ok && n)
        qsort(at, n, sizeof *at, by_path);
    for (size_t from = 0, end; ok && from < n; from = end) {
        for (end = from; end < n && at[end].path == at[from].path; end++)
            ;
        ok = meet(m, at + from, end - from);
    }
    if (ok && m->n_meetings)
        qsort(m->meeting, m->n_meetings, sizeof *m->meeting, by_number);
    free(at);
    return ok ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory for pairs of hosts");
}

static void compare_pages(const struct mirroring *m, const struct nd_page *x,
                          const struct nd_page *y, struct host_pair *p)
{
    const struct nd_ratio threshold = m->use.options.recipe.dedup.threshold;
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

/* The two sorted samples side by side, up to where both are complete. */
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
    for (size_t from = 0, end; from < m->n_meetings; from = end) {
        uint64_t hosts = m->meeting[from];
        void *list = m->pair;
        struct host_pair p;

        for (end = from; end < m->n_meetings && m->meeting[end] == hosts; end++)
            ;
        if (end - from < m->params->least)
            continue;
        p = compare_hosts(m, (uint32_t)(hosts >> 32), (uint32_t)hosts);
        if (!reaches(&p, m->params->score))
            continue;
        if (!nd_array_reserve(&list, &m->pairs_capacity, m->n_pairs + 1, sizeof p))
            return nd_fail(err, ND_ENOMEM, "out of memory for pairs of hosts");
        m->pair = list;
        m->pair[m->n_pairs++] = p;
    }
    if (m->n_pairs)
        qsort(m->pair, m->n_pairs, sizeof *m->pair, by_score);
    return ND_OK;
}

/* The distinct words of a host's sampled paths, sorted.  False: out of memory. */
static bool list_words(const struct nd_sample *s, const struct nd_host *h, uint64_t **out,
                       size_t *n_out)
{
    size_t capacity = 0, n = 0, kept = 0;
    void *list = NULL;
    uint64_t *word;

    for (size_t i = 0; i < h->n; i++) {
        const struct nd_view path = s->page[h->page[i]].words;
        struct nd_token *token;
        size_t n_tokens;

        if (nd_text_tokens(path.data, path.len, &token, &n_tokens, NULL) != ND_OK)
            break;
        if (!nd_array_reserve(&list, &capacity, n + n_tokens + 1, sizeof *word)) {
            free(token);
            break;
        }
        for (size_t k = 0; k < n_tokens; k++)
            ((uint64_t *)list)[n++] = token[k].hash;
        free(token);
        if (i + 1 == h->n)
            kept = 1; /* all of them */
    }
    word = list;
    if (!kept) {
        free(word);
        return false;
    }
    if (n)
        qsort(word, n, sizeof *word, by_number);
    kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!kept || word[i] != word[kept - 1])
            word[kept++] = word[i];
    *out = word;
    *n_out = kept;
    return true;
}

/* Resemblance of the words of the paths of two hosts.  Negative: out of memory. */
static double word_resemblance(const struct nd_sample *s, const struct host_pair *p)
{
    uint64_t *a = NULL, *b = NULL;
    size_t n_a = 0, n_b = 0;
    struct nd_overlap o = {0};
    bool ok = list_words(s, &s->host[p->a], &a, &n_a) && list_words(s, &s->host[p->b], &b, &n_b) &&
              nd_shingles_overlap(a, n_a, b, n_b, &o) == ND_OK;

    free(a);
    free(b);
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
    static const struct nd_run_files files = {.writes_output = true};
    struct mirroring m = {.params = params, .sample.most = params->sample};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = nd_use_begin(&m.use, options, &files, params->url, NULL, events, err);
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
    free(m.meeting);
    free(m.pair);
    return status;
}
