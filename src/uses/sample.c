/* sample.c - the pages of each host whose paths have the lowest hashes */
#include "uses/sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/system/c_functions.h"

void nd_sample_release(struct nd_sample *s)
{
    for (size_t i = 0; i < s->names.count; i++)
        free(s->host[i].page);
    for (size_t i = 0; i < s->n_pages; i++)
        free((void *)(uintptr_t)s->page[i].words.data);
    free(s->host);
    free(s->page);
    nd_groups_release(&s->names);
}

static uint64_t path_at(const struct nd_sample *s, const struct nd_host *h, size_t i)
{
    return s->page[h->page[i]].path;
}

static void swap(struct nd_host *h, size_t i, size_t j)
{
    size_t page = h->page[i];

    h->page[i] = h->page[j];
    h->page[j] = page;
}

static void sift_up(const struct nd_sample *s, struct nd_host *h, size_t i)
{
    for (; i && path_at(s, h, i) > path_at(s, h, (i - 1) / 2); i = (i - 1) / 2)
        swap(h, i, (i - 1) / 2);
}

static void sift_down(const struct nd_sample *s, struct nd_host *h)
{
    for (size_t i = 0, child; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && path_at(s, h, child + 1) > path_at(s, h, child))
            child++;
        if (path_at(s, h, i) >= path_at(s, h, child))
            return;
        swap(h, i, child);
    }
}

static struct nd_host *host_of(struct nd_sample *s, struct nd_view name)
{
    size_t before = s->hosts_capacity;
    uint32_t number;

    if (!ND_RESERVE(s->host, &s->hosts_capacity, s->names.count + 1))
        return NULL;
    if (s->hosts_capacity > before)
        memset(&s->host[before], 0, (s->hosts_capacity - before) * sizeof *s->host);
    return nd_groups_number(&s->names, name, &number) ? &s->host[number - 1] : NULL;
}

static bool fill(struct nd_page *page, uint64_t hash, struct nd_view path,
                 const struct nd_use_sketch *sketch)
{
    struct nd_page filled = {hash, {malloc(path.len + 1), path.len}, *sketch};

    if (!filled.words.data)
        return false;
    memcpy((void *)(uintptr_t)filled.words.data, path.data, path.len);
    free((void *)(uintptr_t)page->words.data);
    *page = filled;
    return true;
}

static bool append(struct nd_sample *s, struct nd_host *h, uint64_t hash, struct nd_view path,
                   const struct nd_use_sketch *sketch)
{
    if (!ND_RESERVE(s->page, &s->pages_capacity, s->n_pages + 1) ||
        !ND_RESERVE(h->page, &h->capacity, h->n + 1))
        return false;
    s->page[s->n_pages].words = (struct nd_view){NULL, 0};
    if (!fill(&s->page[s->n_pages], hash, path, sketch))
        return false;
    h->page[h->n++] = s->n_pages++;
    if (s->max)
        sift_up(s, h, h->n - 1);
    return true;
}

bool nd_sample_add(struct nd_sample *s, struct nd_view host, struct nd_view path,
                   const struct nd_use_sketch *sketch)
{
    struct nd_host *h = host_of(s, host);
    uint64_t hash = nd_mix64(nd_hash_bytes(path.data, path.len));

    if (!h)
        return false;
    h->pages++;
    if (!s->max)
        return append(s, h, hash, path, sketch);
    if (h->n == s->max && hash > path_at(s, h, 0)) {
        h->is_full = true;
        return true;
    }
    for (size_t i = 0; i < h->n; i++)
        if (path_at(s, h, i) == hash)
            return true;
    if (h->n < s->max)
        return append(s, h, hash, path, sketch);
    h->is_full = true;
    if (!fill(&s->page[h->page[0]], hash, path, sketch))
        return false;
    sift_down(s, h);
    return true;
}

static int by_hash(const void *left, const void *right, void *context)
{
    const struct nd_sample *s = context;
    size_t x = *(const size_t *)left, y = *(const size_t *)right;

    if (s->page[x].path != s->page[y].path)
        return s->page[x].path < s->page[y].path ? -1 : 1;
    return x < y ? -1 : x > y;
}

void nd_sample_sort(struct nd_sample *s)
{
    for (size_t i = 0; i < s->names.count; i++) {
        struct nd_host *h = &s->host[i];
        size_t kept = 0;

        if (h->n)
            nd_sort_with(h->page, h->n, sizeof *h->page, by_hash, s);
        for (size_t k = 0; k < h->n; k++)
            if (!kept || path_at(s, h, k) != path_at(s, h, kept - 1))
                h->page[kept++] = h->page[k];
        h->n = kept;
    }
}

uint64_t nd_sample_bound(const struct nd_sample *s, const struct nd_host *h)
{
    return h->is_full && h->n ? path_at(s, h, h->n - 1) : UINT64_MAX;
}
