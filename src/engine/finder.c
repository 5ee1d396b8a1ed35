/* finder.c - documents found by what the recipe says: bands, blocks, identity, or signatures */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "engine/state.h"

bool nd_finder_new(const struct nd_dedup *d, struct nd_finder *finder, struct nd_error *err)
{
    finder->index = nd_index_new(&d->index_params, err);
    if (!finder->index)
        return false;
    if (!d->matching)
        return true;
    finder->signatures = nd_matching_index(d->matching);
    if (!finder->signatures)
        nd_fail(err, ND_ENOMEM, "out of memory");
    return finder->signatures != NULL;
}

void nd_finder_free(struct nd_finder *finder)
{
    nd_index_free(finder->index);
    nd_signatures_free(finder->signatures);
}

struct nd_finder nd_finder_kept(const struct nd_dedup *d)
{
    return (struct nd_finder){d->index, d->signatures};
}

static bool has(const struct nd_candidates *list, uint32_t number)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i].number == number)
            return true;
    return false;
}

/*
 * Documents of a batch with the same tokens need not match by the rule: their signatures may be
 * rejected.  They are listed with no score, for settle.c to compare the texts.
 */
static enum nd_status add_same_identity(const struct nd_index *index, const struct nd_item *item,
                                        struct nd_candidates *out)
{
    struct nd_identity_scan scan =
        nd_index_find_identity(index, item->row.identity, item->row.group);
    uint32_t number;

    while (nd_index_next_identity(index, &scan, &number))
        if (!has(out, number) &&
            !nd_candidates_add(out, (struct nd_candidate){number, ND_SCORE_NONE, 0}))
            return ND_ENOMEM;
    return ND_OK;
}

static bool has_same_identity(const struct nd_index *index, const struct nd_item *item,
                              uint32_t below)
{
    struct nd_identity_scan scan =
        nd_index_find_identity(index, item->row.identity, item->row.group);
    uint32_t number;

    while (nd_index_next_identity(index, &scan, &number))
        if (number < below)
            return true;
    return false;
}

static enum nd_status find_matching(const struct nd_dedup *d, struct nd_worker *w,
                                    struct nd_finder finder, const struct nd_item *item,
                                    struct nd_candidates *out)
{
    enum nd_status status =
        nd_matching_query(w->signing, finder.signatures, item->own_signatures, out);

    if (status || finder.index == d->index || nd_dedup_ignores_text(d))
        return status;
    return add_same_identity(finder.index, item, out);
}

enum nd_status nd_finder_candidates(const struct nd_dedup *d, struct nd_worker *w,
                                    struct nd_finder finder, const struct nd_item *item,
                                    struct nd_candidates *out)
{
    struct nd_index_filter filter = nd_candidates_allowed(d, item->n_shingles);

    if (finder.signatures)
        return find_matching(d, w, finder, item, out);
    if (d->params.candidates == ND_CANDIDATES_ALL)
        return nd_index_query_all(finder.index, &item->row, filter, out);
    return nd_index_query_row(finder.index, &item->row, filter, out);
}

bool nd_finder_meets_any(struct nd_worker *w, struct nd_finder finder, const struct nd_item *item,
                         uint32_t below)
{
    if (finder.signatures)
        return nd_matching_meets_any(w->signing, finder.signatures, item->own_signatures, below) ||
               (!w->signing->matching->ignores_text &&
                has_same_identity(finder.index, item, below));
    return nd_index_meets_any(finder.index, &item->row, below);
}

static struct nd_signature_row row_of(const struct nd_signed *x)
{
    return (struct nd_signature_row){x->signature, x->group, x->length};
}

enum nd_status nd_finder_add(struct nd_finder finder, const struct nd_item *item, uint32_t *number,
                             struct nd_error *err)
{
    enum nd_status status = nd_index_add(finder.index, &item->row, number, err);
    struct nd_signature_row row;

    if (status || !finder.signatures)
        return status;
    row = row_of(item->own_signatures);
    if (nd_signatures_append(finder.signatures, &row) &&
        nd_signatures_list(finder.signatures, *number))
        return ND_OK;
    return nd_fail(err, ND_ENOMEM, "out of memory for a batch");
}

void nd_finder_remove(struct nd_finder finder, const struct nd_item *item, uint32_t number)
{
    nd_index_remove(finder.index, &item->row, number);
    if (finder.signatures)
        nd_signatures_remove(finder.signatures, number);
}

void nd_finder_clear(struct nd_finder finder)
{
    nd_index_clear(finder.index);
    if (finder.signatures)
        nd_signatures_clear(finder.signatures);
}

enum nd_status nd_finder_list(struct nd_dedup *d, const uint32_t *number,
                              const struct nd_index_row *const *row, size_t n, struct nd_error *err)
{
    for (size_t i = 0; d->signatures && i < n; i++)
        if (!nd_signatures_list(d->signatures, number[i]))
            return nd_fail(err, ND_ENOMEM, "out of memory for an index of signatures");
    return nd_index_list(d->index, number, row, n, d->pool, err);
}

enum nd_status nd_finder_list_alone(struct nd_dedup *d, uint32_t number,
                                    const struct nd_index_row *row, struct nd_error *err)
{
    if (d->signatures && !nd_signatures_list(d->signatures, number))
        return nd_fail(err, ND_ENOMEM, "out of memory for an index of signatures");
    return nd_index_list(d->index, &number, &row, 1, NULL, err);
}

/* By key: the last row that had it. */
struct memo {
    uint64_t key;
    size_t row_plus_1;
};

static void link_key(uint64_t key, size_t row, struct memo *memo, size_t n_places,
                     unsigned char *linked)
{
    size_t place = (size_t)key & (n_places - 1);

    while (memo[place].row_plus_1 && memo[place].key != key)
        place = (place + 1) & (n_places - 1);
    if (memo[place].row_plus_1 && memo[place].row_plus_1 != row + 1) {
        linked[memo[place].row_plus_1 - 1] |= ND_LINKED_LATER;
        linked[row] |= ND_LINKED_EARLIER;
    }
    memo[place] = (struct memo){key, row + 1};
}

/* By the keys of its signatures, and by its tokens. */
static void link_item(const struct nd_dedup *d, const struct nd_item *item, size_t row,
                      struct memo *memo, size_t n_places, unsigned char *linked)
{
    const struct nd_key_list *keys = &item->own_signatures->keys;

    for (size_t k = 0; k < keys->count; k++)
        link_key(keys->at[k], row, memo, n_places, linked);
    if (!nd_dedup_ignores_text(d))
        link_key(nd_mix64(item->row.identity + item->row.group), row, memo, n_places, linked);
}

static enum nd_status link_signed(const struct nd_dedup *d, const struct nd_item *item,
                                  const struct nd_index_row *const *row, size_t n,
                                  unsigned char *linked)
{
    size_t n_keys = 0, n_places = 16;
    struct memo *memo;

    for (size_t i = 0; i < n; i++)
        n_keys += row[i] ? item[i].own_signatures->keys.count + 1 : 0;
    while (n_places < 2 * n_keys)
        n_places *= 2;
    memo = calloc(n_places, sizeof *memo);
    if (!memo)
        return ND_ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (row[i])
            link_item(d, &item[i], i, memo, n_places, linked);
    free(memo);
    return ND_OK;
}

enum nd_status nd_finder_link(const struct nd_dedup *d, const struct nd_item *item,
                              const struct nd_index_row *const *row, size_t n,
                              unsigned char *linked, struct nd_pool *pool, struct nd_error *err)
{
    if (d->matching)
        return link_signed(d, item, row, n, linked);
    if (d->params.candidates == ND_CANDIDATES_ALL) {
        memset(linked, ND_LINKED_EARLIER | ND_LINKED_LATER, n);
        return ND_OK;
    }
    return nd_index_link_rows(&d->index_params, row, n, linked, pool, err);
}
