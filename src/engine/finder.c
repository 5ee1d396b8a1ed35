/* finder.c - documents found by what the recipe says: bands, blocks, identity, samples, signatures */
#include "engine/finder.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

bool nd_finder_init(struct nd_finder *finder, const struct nd_engine_plan *plan,
                    struct nd_error *err)
{
    bool ok = true;

    finder->index = nd_index_new(&plan->index, err);
    if (!finder->index)
        return false;
    if (plan->containers.sample)
        ok = (finder->containers = nd_containers_new(&plan->containers)) != NULL;
    if (plan->matching)
        ok = (finder->signatures = nd_matching_index(plan->matching)) != NULL;
    if (!ok)
        nd_fail(err, ND_ENOMEM, "out of memory");
    return ok;
}

void nd_finder_release(struct nd_finder *finder)
{
    nd_index_free(finder->index);
    nd_signature_index_free(finder->signatures);
    nd_containers_free(finder->containers);
    nd_column_release(&finder->labels);
}

size_t nd_finder_bytes(const struct nd_finder *finder)
{
    return nd_index_bytes(finder->index) +
           (finder->signatures ? nd_signature_index_bytes(finder->signatures) : 0) +
           (finder->containers ? nd_containers_bytes(finder->containers) : 0) +
           finder->labels.bytes;
}

static bool has(const struct nd_candidates *list, uint32_t number)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].number == number)
            return true;
    return false;
}

bool nd_finder_add_same_tokens(const struct nd_finder *finder, struct nd_worker *w,
                               const struct nd_item *item)
{
    struct nd_identity_scan scan =
        nd_index_find_identity(finder->index, item->read.row.identity, item->read.row.group);
    uint32_t number;

    if (nd_engine_plan_ignores_text(w->plan))
        return true;
    while (nd_index_next_identity(finder->index, &scan, &number))
        if (nd_finder_allows(finder, number, item) && !has(&w->found, number) &&
            !nd_candidates_add(&w->found, (struct nd_candidate){number, ND_SCORE_NONE, 0})) {
            nd_worker_fail(w, ND_ENOMEM, "looking for candidates");
            return false;
        }
    return true;
}

static bool has_same_identity(const struct nd_index *index, const struct nd_item *item,
                              uint32_t below)
{
    struct nd_identity_scan scan =
        nd_index_find_identity(index, item->read.row.identity, item->read.row.group);
    uint32_t number;

    while (nd_index_next_identity(index, &scan, &number))
        if (number < below)
            return true;
    return false;
}

/* The distances are shown beside what was measured, and decide nothing. */
static enum nd_status find_containing(const struct nd_finder *finder, struct nd_worker *w,
                                      const struct nd_item *item, struct nd_reach reach)
{
    enum nd_status status = nd_containers_query(finder->containers, &w->containers,
                                                &item->read.content, reach, &w->found);

    w->crowd = w->containers.n_common;
    for (size_t i = 0; status == ND_OK && i < w->found.count; i++)
        w->found.items[i].distance = (uint16_t)__builtin_popcountll(
            item->read.row.simhash ^ nd_index_simhash(finder->index, w->found.items[i].number));
    return status;
}

/* Drop the candidates that may not stand for the item. */
static void drop_others(const struct nd_finder *finder, struct nd_candidates *found,
                        const struct nd_item *item)
{
    size_t n = 0;

    if (!finder->n_labelled)
        return;
    for (size_t i = 0; i < found->count; i++)
        if (nd_finder_allows(finder, found->items[i].number, item))
            found->items[n++] = found->items[i];
    found->count = n;
}

bool nd_finder_candidates(const struct nd_finder *finder, struct nd_worker *w,
                          const struct nd_item *item)
{
    const struct nd_index_row *row = &item->read.row;
    struct nd_reach reach = nd_engine_plan_reach(w->plan, item->read.n_shingles);
    enum nd_status status = ND_OK;

    w->found.count = w->crowd = 0;
    if (row->identity_only)
        return true;
    if (finder->signatures)
        status =
            nd_matching_query(w->matching, finder->signatures, item->read.signatures, &w->found);
    else if (finder->containers)
        status = find_containing(finder, w, item, reach);
    else if (w->plan->params.candidates == ND_CANDIDATES_ALL)
        status = nd_index_query_all(finder->index, row, reach, &w->found);
    else
        status = nd_index_query_row(finder->index, row, reach, &w->found, &w->crowd);
    drop_others(finder, &w->found, item);
    if (status != ND_OK)
        nd_worker_fail(w, status, "looking for candidates");
    return status == ND_OK;
}

bool nd_finder_meets_any(const struct nd_finder *finder, struct nd_worker *w,
                         const struct nd_item *item, uint32_t below)
{
    if (!nd_engine_plan_ignores_text(w->plan) && has_same_identity(finder->index, item, below))
        return true;
    if (item->read.row.identity_only)
        return false;
    if (finder->signatures)
        return nd_matching_meets_any(w->matching, finder->signatures, item->read.signatures, below);
    if (finder->containers)
        return nd_containers_meets_any(finder->containers, &w->containers, &item->read.content,
                                       ND_REACH_ALL, below);
    return nd_index_meets_any(finder->index, &item->read.row, below);
}

/* A document without signatures, as it has no tokens or is a copy, has only rejected ones. */
static bool append_signatures(struct nd_signature_index *signatures, const struct nd_item *item)
{
    static const struct nd_signature none[ND_RECIPE_SIGNATURES] = {
        {.is_rejected = 1}, {.is_rejected = 1}, {.is_rejected = 1}, {.is_rejected = 1}};
    const struct nd_document_signatures *x = item->read.signatures;
    struct nd_signature_row row = {none, item->group, item->read.n_tokens};

    if (x)
        row = (struct nd_signature_row){x->signature, x->group, x->length};
    return nd_signature_index_append(signatures, &row);
}

static bool put_labels(struct nd_finder *finder, uint32_t number, const uint32_t *labels)
{
    const uint32_t **column;

    if (!labels && number >= finder->n_labelled)
        return true;
    if (!nd_column_reserve(&finder->labels, (size_t)number + 1, sizeof *column))
        return false;
    column = finder->labels.data;
    for (; finder->n_labelled <= number; finder->n_labelled++)
        column[finder->n_labelled] = NULL;
    column[number] = labels;
    return true;
}

/* Beside the index: store what a number, the next one, is looked up by … */
static enum nd_status append_beside(struct nd_finder *finder, uint32_t number,
                                    const struct nd_item *item, struct nd_error *err)
{
    if (!put_labels(finder, number, item->labels))
        return nd_fail(err, ND_ENOMEM, "out of memory for the labels of documents");
    if (finder->signatures && !append_signatures(finder->signatures, item))
        return nd_fail(err, ND_ENOMEM, "out of memory for an index of signatures");
    if (finder->containers && !nd_containers_append(finder->containers, &item->read.content))
        return nd_fail(err, ND_ENOMEM, "out of memory for an index of shingles");
    return ND_OK;
}

/* … and let look-ups find a number that was stored. */
static enum nd_status list_beside(struct nd_finder *finder, uint32_t number,
                                  const struct nd_item *item, struct nd_error *err)
{
    if (item->read.row.identity_only)
        return ND_OK;
    if (finder->signatures && !nd_signature_index_list(finder->signatures, number))
        return nd_fail(err, ND_ENOMEM, "out of memory for an index of signatures");
    if (finder->containers && !nd_containers_list(finder->containers, number, &item->read.content))
        return nd_fail(err, ND_ENOMEM, "out of memory for an index of shingles");
    return ND_OK;
}

enum nd_status nd_finder_add(struct nd_finder *finder, const struct nd_item *item, uint32_t *number,
                             struct nd_error *err)
{
    enum nd_status status = nd_index_add(finder->index, &item->read.row, number, err);

    if (status == ND_OK)
        status = append_beside(finder, *number, item, err);
    return status == ND_OK ? list_beside(finder, *number, item, err) : status;
}

void nd_finder_remove(struct nd_finder *finder, const struct nd_item *item, uint32_t number)
{
    nd_index_remove(finder->index, &item->read.row, number);
    if (finder->signatures)
        nd_signature_index_remove(finder->signatures, number);
    if (finder->containers)
        nd_containers_remove(finder->containers, number);
}

void nd_finder_clear(struct nd_finder *finder)
{
    nd_index_clear(finder->index);
    finder->n_labelled = 0;
    if (finder->signatures)
        nd_signature_index_clear(finder->signatures);
    if (finder->containers)
        nd_containers_clear(finder->containers);
}

void nd_finder_bound(struct nd_finder *finder, const struct nd_engine_plan *plan,
                     const struct nd_finder *base)
{
    if (finder->containers)
        nd_containers_bound(finder->containers, plan->params.max_checks,
                            base ? base->containers : NULL);
}

enum nd_status nd_finder_append(struct nd_finder *finder, const struct nd_item *item,
                                uint32_t *number, struct nd_error *err)
{
    enum nd_status status = nd_index_append(finder->index, &item->read.row, number, err);

    return status == ND_OK ? append_beside(finder, *number, item, err) : status;
}

enum nd_status nd_finder_list(struct nd_finder *finder, const uint32_t *number,
                              const struct nd_item *const *item, size_t n, struct nd_pool *pool,
                              struct nd_error *err)
{
    const struct nd_index_row **row = nd_alloc_array(n, sizeof *row);
    enum nd_status status = ND_OK;

    if (!row)
        return nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
    for (size_t i = 0; status == ND_OK && i < n; i++) {
        row[i] = &item[i]->read.row;
        status = list_beside(finder, number[i], item[i], err);
    }
    if (status == ND_OK)
        status = nd_index_list(finder->index, number, row, n, pool, err);
    free(row);
    return status;
}

/* Add a batch to what is beside the index, on this thread alone. */
static enum nd_status add_beside(struct nd_finder *finder, const struct nd_finder_batch *batch,
                                 uint32_t first, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < batch->n; i++) {
        status = append_beside(finder, first + (uint32_t)i, batch->item[i], err);
        if (status == ND_OK && batch->item[i]->read.is_listed)
            status = list_beside(finder, first + (uint32_t)i, batch->item[i], err);
    }
    return status;
}

enum nd_status nd_finder_add_batch(struct nd_finder *finder, const struct nd_finder_batch *batch,
                                   struct nd_pool *pool, struct nd_error *err)
{
    const struct nd_index_row **row = nd_alloc_array(batch->n, sizeof *row);
    bool *is_listed = nd_alloc_array(batch->n, sizeof *is_listed);
    struct nd_index_batch to_index = {.row = row,
                                      .is_listed = is_listed,
                                      .n = batch->n,
                                      .beside = batch->beside,
                                      .n_beside = batch->n_beside,
                                      .context = batch->context};
    enum nd_status status = ND_ENOMEM;
    uint32_t first;

    for (size_t i = 0; row && is_listed && i < batch->n; i++) {
        row[i] = &batch->item[i]->read.row;
        is_listed[i] = batch->item[i]->read.is_listed;
    }
    if (row && is_listed)
        status = nd_index_add_batch(finder->index, &to_index, pool, &first, err);
    else
        nd_fail(err, status, "out of memory for a batch of %zu documents", batch->n);
    if (status == ND_OK)
        status = add_beside(finder, batch, first, err);
    free(row);
    free(is_listed);
    return status;
}

enum nd_status nd_finder_list_alone(struct nd_finder *finder, uint32_t number,
                                    const struct nd_item *item, struct nd_error *err)
{
    const struct nd_index_row *row = &item->read.row;
    enum nd_status status = list_beside(finder, number, item, err);

    return status == ND_OK ? nd_index_list(finder->index, &number, &row, 1, NULL, err) : status;
}

/* By key: the last row that had it. */
struct finder_memo {
    uint64_t key;
    size_t row_plus_1;
};

static void link_key(uint64_t key, size_t row, struct finder_memo *memo, size_t n_places,
                     unsigned char *linked)
{
    size_t place = (size_t)key & (n_places - 1);

    while (memo[place].row_plus_1 && memo[place].key != key)
        place = (place + 1) & (n_places - 1);
    if (memo[place].row_plus_1 && memo[place].row_plus_1 != row + 1) {
        linked[memo[place].row_plus_1 - 1] |= ND_LINKED_LATER;
        linked[row] |= ND_LINKED_EARLIER;
    }
    memo[place] = (struct finder_memo){key, row + 1};
}

/* By the keys of its signatures, and by its tokens. */
static void link_item(const struct nd_engine_plan *plan, const struct nd_item *item, size_t row,
                      struct finder_memo *memo, size_t n_places, unsigned char *linked)
{
    const struct nd_key_list *keys = &item->read.signatures->keys;

    for (size_t k = 0; k < keys->count; k++)
        link_key(keys->items[k], row, memo, n_places, linked);
    if (!nd_engine_plan_ignores_text(plan))
        link_key(nd_mix64(item->read.row.identity + item->read.row.group), row, memo, n_places,
                 linked);
}

/* Room for so many keys; NULL: out of memory. */
static struct finder_memo *new_memo(size_t n_keys, size_t *n_places)
{
    *n_places = 16;
    while (*n_places < 2 * n_keys)
        *n_places *= 2;
    return calloc(*n_places, sizeof(struct finder_memo));
}

static enum nd_status link_signed(const struct nd_engine_plan *plan, const struct nd_item *item,
                                  const struct nd_index_row *const *row, size_t n,
                                  unsigned char *linked)
{
    size_t n_keys = 0, n_places;
    struct finder_memo *memo;

    for (size_t i = 0; i < n; i++)
        n_keys += row[i] ? item[i].read.signatures->keys.count + 1 : 0;
    memo = new_memo(n_keys, &n_places);
    if (!memo)
        return ND_ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (row[i])
            link_item(plan, &item[i], i, memo, n_places, linked);
    free(memo);
    return ND_OK;
}

/* By what they contain, and by their tokens. */
static enum nd_status link_containing(const struct nd_engine_plan *plan, const struct nd_item *item,
                                      const struct nd_index_row *const *row, size_t n,
                                      unsigned char *linked)
{
    const struct nd_container_row **content = calloc(n ? n : 1, sizeof *content);
    size_t n_places;
    struct finder_memo *memo = new_memo(n, &n_places);
    bool ok = content && memo;

    for (size_t i = 0; ok && i < n; i++) {
        if (!row[i])
            continue;
        content[i] = &item[item[i].first_same].read.content;
        link_key(nd_mix64(row[i]->identity + row[i]->group), i, memo, n_places, linked);
    }
    ok = ok && nd_containers_link(&plan->containers, content, n, linked);
    free(content);
    free(memo);
    return ok ? ND_OK : ND_ENOMEM;
}

enum nd_status nd_finder_link(const struct nd_engine_plan *plan, const struct nd_item *item,
                              const struct nd_index_row *const *row, size_t n,
                              unsigned char *linked, struct nd_pool *pool)
{
    if (plan->matching)
        return link_signed(plan, item, row, n, linked);
    if (plan->containers.sample)
        return link_containing(plan, item, row, n, linked);
    if (plan->params.candidates == ND_CANDIDATES_ALL) {
        memset(linked, ND_LINKED_EARLIER | ND_LINKED_LATER, n);
        return ND_OK;
    }
    return nd_index_link_rows(&plan->index, row, n, linked, pool, NULL);
}
