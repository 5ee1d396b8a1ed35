/* batch.c - what the kinds of batches have in common: items made, grouped by their bytes, numbered,
 * compared, counted */
#include "engine/batch.h"

#include <stdlib.h>
#include <string.h>

#include <neardup/text.h>

#include "base/hash.h"
#include "base/replaced_hash.h"
#include "engine/document/sketched.h"

enum nd_status nd_engine_batch_check(const struct nd_dedup *d, const struct nd_dedup_item *items,
                                     size_t n, struct nd_error *err)
{
    const enum nd_cluster cluster = d->plan.params.cluster;
    const bool heeds_labels = cluster == ND_CLUSTER_STAR || cluster == ND_CLUSTER_PAIRS;

    if (n && !items)
        return nd_fail(err, ND_EINVAL, "items is NULL, but there are %zu of them", n);
    if (n > UINT32_MAX - 1 || d->stats.documents + n > UINT32_MAX - 1)
        return nd_fail(err, ND_EUNSUPPORTED, "more than %u documents", UINT32_MAX - 1);
    for (size_t i = 0; i < n; i++) {
        if (items[i].labels && !heeds_labels)
            return nd_fail(err, ND_EINVAL,
                           "item %zu has security labels, which only stars and pairs heed", i);
        if (items[i].sketched && nd_sketched_check(&d->plan, items[i].sketched, i, err) != ND_OK)
            return ND_EINVAL;
        if (items[i].sketched && d->plan.params.verify != ND_VERIFY_NONE &&
            !d->kept.source.fetch_shingles)
            return nd_fail(err, ND_EINVAL,
                           "item %zu is a sketch, and the text source has no fetch_shingles", i);
    }
    /* The run over files, which brings its pool, has repaired what it read. */
    for (size_t i = 0; d->crew.owns_pool && i < n; i++)
        if (items[i].text.len && !items[i].text.data)
            return nd_fail(err, ND_EINVAL, "item %zu: its text is NULL, but has %zu bytes", i,
                           items[i].text.len);
        else if (!nd_utf8_valid(items[i].text.data, items[i].text.len) ||
                 (items[i].document &&
                  !nd_utf8_valid(items[i].document->text.data, items[i].document->text.len)))
            return nd_fail(err, ND_EINVAL,
                           "item %zu: its text is not valid UTF-8; nd_utf8_repair makes it valid",
                           i);
    return ND_OK;
}

enum nd_status nd_items_make(struct nd_engine_batch *batch, const struct nd_dedup_item *items,
                             size_t n, struct nd_error *err)
{
    size_t min = n ? n : 1; /* a batch may be of bad records alone: its list is not NULL */
    const struct nd_engine_plan *plan = &batch->d->plan;
    const bool takes_known = nd_sketched_takes_known(plan);
    unsigned n_keys = plan->n_keys;

    nd_items_clear(batch);
    batch->n = 0;
    if (!ND_RESERVE(batch->item, &batch->item_capacity, min) ||
        !nd_array_reserve(&batch->key, &batch->key_capacity, min, n_keys * sizeof *batch->key))
        return nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
    for (size_t i = 0; i < n; i++)
        batch->item[i] = (struct nd_item){.text = items[i].text,
                                          .document = items[i].document,
                                          .sketched = items[i].sketched,
                                          .known = takes_known ? items[i].known : NULL,
                                          .group = items[i].group,
                                          .labels = items[i].labels,
                                          .key = batch->key + i * n_keys,
                                          .first_same = i};
    batch->items = items;
    batch->n = n;
    batch->is_linked = batch->is_matched = batch->is_resolved = false;
    return ND_OK;
}

void nd_items_clear(struct nd_engine_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        free(batch->item[i].search.hits);
        batch->item[i].search.hits = NULL;
        nd_candidates_release(&batch->item[i].search.near);
        nd_candidates_release(&batch->item[i].search.near_in_batch);
    }
}

/* A batch may have been matched ahead of a push that never came. */
void nd_items_release(struct nd_engine_batch *batch)
{
    nd_items_clear(batch);
    nd_finder_release(&batch->leaders);
    free(batch->item);
    free(batch->key);
    free(batch->link);
    free(batch->number);
    nd_arena_release(&batch->held);
}

/* The hashes by which equal documents are found include what repair replaced in the text: documents
 * are equal only if they have that in common too. */
void nd_item_hash(const struct nd_engine_plan *plan, struct nd_item *item)
{
    uint64_t replaced = item->document ? item->document->text_replaced : 0;

    if (nd_item_row(item)) {
        item->raw = nd_item_row(item)->text_hash[0];
        item->raw_second = nd_item_row(item)->text_hash[1];
        return;
    }
    if (plan->params.takes_sketches)
        nd_hash_bytes_128(item->text.data, item->text.len, &item->raw, &item->raw_second);
    else
        item->raw = nd_hash_bytes(item->text.data, item->text.len);
    item->raw = nd_replaced_mark(item->raw, replaced);
    item->raw_second = nd_replaced_mark(item->raw_second, replaced);
}

bool nd_items_same_bytes(const struct nd_item *a, const struct nd_item *b)
{
    if (a->raw != b->raw || a->group != b->group)
        return false;
    return a->sketched || b->sketched ? a->raw_second == b->raw_second
                                      : nd_equal_bytes(a->text, b->text);
}

static bool has_same_labels(const struct nd_item *a, const struct nd_item *b)
{
    return nd_is_subset(a->labels, b->labels) && nd_is_subset(b->labels, a->labels);
}

/* Find which of the items before one that have its bytes has its labels as well. */
static bool find_first_same(const struct nd_item *item, struct nd_item *one)
{
    size_t at = one->same_before;

    while (at && !has_same_labels(&item[at - 1], one))
        at = item[at - 1].same_before;
    if (at)
        one->first_same = at - 1;
    return at != 0;
}

/* The places of items with the same bytes are a list, of which the table has the last. */
static bool group_items(struct nd_item *item, size_t n, bool unlisted_only)
{
    size_t n_places = 16, *place; /* of the first items: their index + 1 */

    while (n_places < 2 * n)
        n_places *= 2;
    place = calloc(n_places, sizeof *place);
    if (!place)
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t at;

        if (unlisted_only && (item[i].read.is_listed || item[i].state != ND_ITEM_OPEN))
            continue;
        at = (size_t)nd_mix64(item[i].raw + item[i].group) & (n_places - 1);

        while (place[at] && !nd_items_same_bytes(&item[place[at] - 1], &item[i]))
            at = (at + 1) & (n_places - 1);
        item[i].same_before = place[at];
        if (!find_first_same(item, &item[i]))
            place[at] = i + 1;
    }
    free(place);
    return true;
}

bool nd_items_group(struct nd_engine_batch *batch)
{
    return group_items(batch->item, batch->n, false);
}

bool nd_items_group_unlisted(struct nd_engine_batch *batch)
{
    return group_items(batch->item, batch->n, true);
}

enum { HASH_TASK = 64 };

static void hash_items(void *context, size_t task, unsigned worker)
{
    const struct nd_engine_batch *batch = context;

    (void)worker;
    for (size_t i = task * HASH_TASK; i < batch->n && i < (task + 1) * HASH_TASK; i++)
        nd_item_hash(&batch->d->plan, &batch->item[i]);
}

enum nd_status nd_engine_batch_begin(struct nd_dedup *d, const struct nd_dedup_item *items,
                                     size_t n, struct nd_decision *decisions, struct nd_error *err)
{
    struct nd_engine_batch *batch = d->batch;

    nd_crew_begin(&d->crew);
    batch->is_made = false; /* it was not prepared */
    if (nd_items_make(batch, items, n, err) != ND_OK)
        return ND_ENOMEM;
    batch->decision = decisions;
    nd_crew_forget(&d->crew);
    nd_pool_run(d->crew.pool, (n + HASH_TASK - 1) / HASH_TASK, hash_items, batch);
    if (nd_engine_plan_has_copies(&d->plan) && !nd_items_group(batch))
        return nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
    if (d->kept.texts)
        nd_texts_begin(d->kept.texts, items);
    return ND_OK;
}

void nd_engine_batch_end(struct nd_engine_batch *batch, enum nd_status status)
{
    struct nd_dedup *d = batch->d;

    if (status == ND_OK) {
        d->stats.documents += batch->n;
        nd_crew_end(&d->crew, d->kept.cache);
    }
    if (!batch->is_made) /* otherwise the next one that is prepared does it, in no turn */
        nd_items_clear(batch);
    d->crew.pusher = d->crew.worker;
}

/* False of a document that was never signed, as it has no tokens or is a copy. */
static bool has_signature(const struct nd_dedup *d, const struct nd_document_signatures *x)
{
    for (unsigned i = 0; i < d->plan.matching->method.n_signatures; i++)
        if (!x->signature[i].is_rejected)
            return true;
    return false;
}

enum nd_status nd_document_keep(struct nd_dedup *d, struct nd_item *item, size_t place,
                                uint32_t *number, struct nd_error *err)
{
    enum nd_status status = nd_finder_append(&d->kept.finder, item, number, err);

    return status == ND_OK ? nd_document_keep_text(d, item, place, err) : status;
}

enum nd_status nd_document_keep_text(struct nd_dedup *d, const struct nd_item *item, size_t place,
                                     struct nd_error *err)
{
    const struct nd_document_signatures *x = item->read.signatures;

    if (x && item->read.is_listed)
        ++*(has_signature(d, x) ? &d->stats.signed_documents : &d->stats.unsigned_documents);
    return d->kept.source.keep(d->kept.source.context, d->stats.documents + place, place, err);
}

void nd_stats_count(struct nd_dedup_stats *stats, const struct nd_item *item, size_t checks,
                    bool was_cut)
{
    stats->short_documents += item->read.is_short;
    stats->empty_documents += nd_item_is_empty(item);
    stats->cut_documents += was_cut;
    stats->candidates += nd_item_candidates(item);
    stats->checks += checks;
    stats->bytes += item->sketched ? item->sketched->text_bytes : item->text.len;
}

void nd_stats_count_decision(struct nd_dedup_stats *stats, const struct nd_decision *decision,
                             bool is_removed)
{
    stats->kept += !is_removed;
    stats->identical_bytes += is_removed && decision->identical == ND_IDENTICAL_BYTES;
    stats->identical_tokens += is_removed && decision->identical == ND_IDENTICAL_TOKENS;
    stats->near += is_removed && decision->identical == ND_IDENTICAL_NO;
}

/* Look for the bytes of an item among documents of earlier batches, and among earlier items. */
static void find_copy(void *context, size_t place, unsigned worker)
{
    struct nd_engine_batch *batch = context;
    struct nd_worker *w = &batch->d->crew.worker[worker];
    struct nd_item *item = &batch->item[place];
    uint32_t number;

    if (item->first_same != place) {
        item->state = ND_ITEM_FOLLOWS;
    } else if (!w->status && nd_kept_find_bytes(&batch->d->kept, w, item, &number) > 0) {
        item->state = ND_ITEM_REMOVED;
        item->kept = (struct nd_kept_ref){number, false};
    }
}

static void sketch_item(void *context, size_t place, unsigned worker)
{
    struct nd_engine_batch *batch = context;
    struct nd_worker *w = &batch->d->crew.worker[worker];
    struct nd_item *item = &batch->item[place];

    if (w->status || item->state != ND_ITEM_OPEN || !nd_item_read(w, item))
        return;
    nd_item_sketch(w, item);
    if (nd_item_sign(w, item))
        (void)nd_item_hold_shingles(w, item);
}

/* The shingles go to the cache, as later ones of the batch will need them; what has no place there
 * is made again. */
static enum nd_status number_items(struct nd_engine_batch *batch, struct nd_error *err)
{
    struct nd_dedup *d = batch->d;

    if (!ND_RESERVE(batch->number, &batch->number_capacity, batch->n + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", batch->n);
    batch->first_number = d->kept.n;
    for (size_t i = 0; i < batch->n; i++) {
        struct nd_item *item = &batch->item[i];
        enum nd_status status;

        if (item->state != ND_ITEM_OPEN)
            continue;
        status = nd_document_keep(d, item, i, &batch->number[i], err);
        if (status != ND_OK)
            return status;
        if (item->read.is_listed && item->shingle)
            (void)nd_shingle_cache_put(d->kept.cache, batch->number[i], item->shingle,
                                       (size_t)item->read.n_shingles);
    }
    return nd_kept_add(&d->kept, batch->item, batch->n, ND_ITEM_OPEN, d->stats.documents, err);
}

enum nd_status nd_engine_batch_index(struct nd_engine_batch *batch, struct nd_error *err)
{
    struct nd_crew *crew = &batch->d->crew;
    enum nd_status status;

    nd_pool_run(crew->pool, batch->n, sketch_item, batch);
    status = nd_crew_status(crew, err);
    return status == ND_OK ? number_items(batch, err) : status;
}

enum nd_status nd_engine_batch_index_originals(struct nd_engine_batch *batch, struct nd_error *err)
{
    struct nd_crew *crew = &batch->d->crew;
    enum nd_status status = ND_OK;

    if (nd_engine_plan_has_copies(&batch->d->plan)) {
        nd_pool_run(crew->pool, batch->n, find_copy, batch);
        status = nd_crew_status(crew, err);
    }
    return status == ND_OK ? nd_engine_batch_index(batch, err) : status;
}

bool nd_item_find_equal(const struct nd_dedup *d, struct nd_worker *w, struct nd_item *item,
                        uint32_t own)
{
    uint32_t number;
    int found;

    if (item->identical != ND_IDENTICAL_NO)
        return true;
    found = nd_kept_find_equal(&d->kept, w, item, &number);
    if (found <= 0 || number >= own)
        return found < 0;
    item->identical = ND_IDENTICAL_TOKENS;
    item->kept = (struct nd_kept_ref){number, false};
    return true;
}

/* Find what the signatures of two documents have in common, as with stars. */
static void describe_agreement(const struct nd_dedup *d, uint32_t a, uint32_t b,
                               struct nd_decision *out)
{
    struct nd_match match;

    nd_matching_agree_stored(d->plan.matching, d->kept.finder.signatures, a, b, &match);
    memcpy(out->agreement, match.evidence.agreement, sizeof match.evidence.agreement);
    out->distance = match.distance;
}

/* Find out whether two documents have equal bytes or equal tokens: equal hashes propose it, and the
 * texts decide if both are here. */
static enum nd_status find_identical(const struct nd_dedup *d, struct nd_worker *w, uint32_t a,
                                     uint32_t b, struct nd_decision *out)
{
    const struct nd_index *index = d->kept.finder.index;
    enum nd_equal_by by =
        nd_equal_by(&d->plan, nd_index_is_short(index, a), nd_index_shingles(index, a) == 0);
    struct nd_view x, y;
    char *copy;

    if (by == ND_EQUAL_NEVER || nd_index_identity(index, a) != nd_index_identity(index, b))
        return ND_OK;
    if (nd_kept_has_no_text(&d->kept, a) || nd_kept_has_no_text(&d->kept, b)) {
        out->identical = nd_kept_identical_sketches(&d->kept, by, a, b);
        return ND_OK;
    }
    if (nd_fetch_text(&d->kept, w, a, &x))
        return w->status;
    copy = malloc(x.len + 1); /* the next text takes its place */
    if (!copy)
        return nd_worker_fail(w, ND_ENOMEM, "comparing documents");
    if (x.len)
        memcpy(copy, x.data, x.len);
    x.data = copy;
    if (nd_fetch_text(&d->kept, w, b, &y) == ND_OK) {
        if (nd_equal_bytes(x, y))
            out->identical = ND_IDENTICAL_BYTES;
        else if (by == ND_EQUAL_BY_TOKENS && nd_worker_equal(w, by, x, y) > 0)
            out->identical = ND_IDENTICAL_TOKENS;
    }
    free(copy);
    return w->status;
}

/* The shingles of the two, counted. */
static enum nd_status measure_overlap(const struct nd_dedup *d, struct nd_worker *w, uint32_t a,
                                      uint32_t b, struct nd_overlap *out)
{
    const uint64_t *shingle;
    size_t n;

    if (nd_fetch_shingles(&d->kept, w, a, &shingle, &n))
        return w->status;
    out->a = n;
    if (!nd_shingle_set_build_distinct(&w->set, shingle, n))
        return nd_worker_fail(w, ND_ENOMEM, "comparing documents");
    if (nd_fetch_shingles(&d->kept, w, b, &shingle, &n))
        return w->status;
    out->b = n;
    out->shared = nd_shingle_set_shared(&w->set, shingle, n, 0);
    return ND_OK;
}

enum nd_status nd_numbers_compare(const struct nd_dedup *d, struct nd_worker *w, uint32_t a,
                                  uint32_t b, struct nd_decision *out)
{
    const struct nd_index *index = d->kept.finder.index;
    uint32_t n_a = nd_index_shingles(index, a);
    bool is_equal;

    out->is_short = nd_index_is_short(index, a);
    out->is_empty = out->is_short && n_a == 0;
    out->verified = 1; /* of equal ones, whatever `verify` says */
    out->distance =
        (unsigned)__builtin_popcountll(nd_index_simhash(index, a) ^ nd_index_simhash(index, b));
    if (a == b) {
        out->identical = ND_IDENTICAL_BYTES;
        out->overlap = (struct nd_overlap){n_a, n_a, n_a};
        return ND_OK;
    }
    if (d->plan.matching)
        describe_agreement(d, a, b, out);
    if (find_identical(d, w, a, b, out) != ND_OK)
        return w->status;
    is_equal = out->identical != ND_IDENTICAL_NO;
    if (!is_equal && d->plan.params.verify != ND_VERIFY_NONE)
        return measure_overlap(d, w, a, b, &out->overlap);
    out->verified = is_equal;
    out->overlap = (struct nd_overlap){n_a, nd_index_shingles(index, b), is_equal ? n_a : 0};
    return ND_OK;
}
