/* staged.c - decide about documents that have all been read: linked, loaded, pushed in keep order */
#include "loads/staged.h"

#include <stdlib.h>

#include "base/memory.h"

/* The most records that are linked or offered at a time, or asked for by their numbers. */
enum { BATCH = 4096 };

static enum nd_status tell(const struct nd_staged *s, enum nd_staged_pass pass, uint64_t done,
                           uint64_t total, struct nd_error *err)
{
    return s->owner->tell ? s->owner->tell(s->context, pass, done, total, err) : ND_OK;
}

/* ---- Engines ---- */

static enum nd_status fetch(void *context, uint64_t document, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    const struct nd_staged *s = context;

    return s->owner->fetch(s->context, nd_staged_record(s, document), worker, text, err);
}

static enum nd_status fetch_shingles(void *context, uint64_t document, unsigned worker,
                                     const uint64_t **shingle, size_t *n, struct nd_error *err)
{
    const struct nd_staged *s = context;

    return s->owner->fetch_shingles(s->context, nd_staged_record(s, document), worker, shingle, n,
                                    err);
}

static enum nd_status keep_nothing(void *context, uint64_t document, size_t item,
                                   struct nd_error *err)
{
    (void)context;
    (void)document;
    (void)item;
    (void)err;
    return ND_OK;
}

/* Report what became of a document of the load. */
static enum nd_status decided(void *context, uint64_t document, const struct nd_decision *decision,
                              const struct nd_component_via *via, struct nd_error *err)
{
    const struct nd_staged *s = context;
    struct nd_staged_removed removed;

    if (document < s->n_old)
        return s->owner->old_decided ? s->owner->old_decided(s->context, document, decision, err)
                                     : ND_OK;
    if (decision->kept == document)
        return ND_OK;
    removed =
        (struct nd_staged_removed){.record = nd_staged_record(s, document),
                                   .kept = nd_staged_record(s, decision->kept),
                                   .via = nd_staged_record(s, via ? via->document : decision->kept),
                                   .decision = decision,
                                   .component = via};
    return s->owner->removed(s->context, &removed, err);
}

static enum nd_status found(void *context, const struct nd_found_pair *pair)
{
    const struct nd_staged *s = context;

    return s->owner->found(s->context, pair);
}

/* Remember what documents of the batch match. */
static enum nd_status note_match(void *context, const struct nd_found_pair *pair)
{
    struct nd_staged *s = context;

    if (!ND_RESERVE(s->match, &s->matches, s->n_matches + 1) ||
        !ND_RESERVE(s->match_of, &s->matches_of, s->n_matches + 1))
        return ND_ENOMEM;
    s->match[s->n_matches] = pair->b;
    s->match_of[s->n_matches++] = pair->a;
    return ND_OK;
}

static enum nd_status make_engine(struct nd_staged *s, size_t n, struct nd_error *err)
{
    const struct nd_text_source source = {.context = s,
                                          .fetch = fetch,
                                          .keep = keep_nothing,
                                          .fetch_shingles =
                                              s->owner->fetch_shingles ? fetch_shingles : NULL};

    s->streamed.cluster = s->cluster;
    s->streamed.only_old = s->only_old;
    s->streamed.judges = s->owner->matched != NULL;
    s->streamed.decided = decided;
    s->streamed.found = s->only_old && s->owner->matched ? note_match : found;
    s->streamed.context = s;
    s->streamed.n = s->streamed.n_old = 0;
    return s->owner->make(s->context, n, &source, &s->streamed.dedup, err);
}

static void retire_engine(struct nd_staged *s)
{
    if (s->streamed.dedup)
        s->owner->retire(s->context, s->streamed.dedup);
    s->streamed.dedup = NULL;
}

enum nd_status nd_staged_open(struct nd_staged *s, struct nd_error *err)
{
    return make_engine(s, 0, err);
}

void nd_staged_release(struct nd_staged *s)
{
    retire_engine(s);
    nd_spool_free(s->flags);
    nd_loads_release(&s->loads);
    nd_streamed_release(&s->streamed);
    free(s->match);
    free(s->match_of);
}

uint64_t nd_staged_spilled(const struct nd_staged *s)
{
    return s->linking_spilled + (s->flags ? nd_spool_bytes(s->flags) : 0) +
           nd_loads_spilled(&s->loads);
}

/* ---- Links ---- */

/* The first of n records from this one on. */
static enum nd_status link_some(struct nd_staged *s, struct nd_linking *linking,
                                const uint32_t *record, size_t n, size_t *linked,
                                struct nd_error *err)
{
    unsigned char flags[BATCH];
    const struct nd_dedup_item *items = NULL;
    enum nd_status status =
        s->owner->load(s->context, ND_STAGED_LINK, record[0], record, n, &items, linked, err);

    if (status == ND_OK)
        status = nd_linking_add(linking, items, *linked, flags, err);
    return status == ND_OK ? nd_spool_append(s->flags, flags, *linked, NULL, err) : status;
}

static enum nd_status link_all(struct nd_staged *s, struct nd_linking *linking,
                               struct nd_error *err)
{
    uint32_t record[BATCH];
    enum nd_status status = ND_OK;

    for (uint64_t from = 0; status == ND_OK && from < s->n_records; from += BATCH) {
        size_t n = s->n_records - from < BATCH ? (size_t)(s->n_records - from) : BATCH;

        for (size_t i = 0; i < n; i++)
            record[i] = (uint32_t)(from + i);
        for (size_t at = 0, linked = 0; status == ND_OK && at < n; at += linked) {
            status = tell(s, ND_STAGED_LINK, from + at, s->n_records, err);
            if (status == ND_OK)
                status = link_some(s, linking, record + at, n - at, &linked, err);
        }
    }
    return status == ND_OK ? nd_linking_join(linking, err) : status;
}

/* ---- Offers ---- */

/* Offer n records.  linking NULL: all are of one component; flags: of each record. */
static enum nd_status offer_some(struct nd_staged *s, struct nd_linking *linking, uint32_t from,
                                 size_t n, const char *flags, struct nd_error *err)
{
    struct nd_offer offer[BATCH];
    bool is_document[BATCH];
    enum nd_status status = s->owner->offer(s->context, from, n, offer, is_document, err);

    for (size_t i = 0; status == ND_OK && i < n; i++) {
        uint32_t record = from + (uint32_t)i;

        if (!is_document[i])
            continue;
        if (linking && nd_linking_is_alone(linking, record))
            nd_loads_count_alone(&s->loads, s->alone, (unsigned char)flags[i]);
        else
            status = nd_loads_offer(&s->loads, linking ? nd_linking_component(linking, record) : 0,
                                    &offer[i], err);
    }
    return status;
}

static enum nd_status offer_all(struct nd_staged *s, struct nd_linking *linking,
                                struct nd_error *err)
{
    struct nd_buffer flags = {0};
    enum nd_status status = ND_OK;

    for (uint64_t from = 0; status == ND_OK && from < s->n_records; from += BATCH) {
        size_t n = s->n_records - from < BATCH ? (size_t)(s->n_records - from) : BATCH;

        if (linking)
            status = nd_spool_read(s->flags, from, n, &flags, err);
        if (status == ND_OK)
            status = offer_some(s, linking, (uint32_t)from, n, flags.data, err);
    }
    nd_buffer_release(&flags);
    return status;
}

static enum nd_status offer_linked(struct nd_staged *s, struct nd_pool *pool, struct nd_error *err)
{
    const struct nd_linking_options options = {.recipe = s->recipe,
                                               .pool = pool,
                                               .tmp = s->tmp,
                                               .sort_bytes = s->budget->link_sort_bytes,
                                               .filter_bytes = s->budget->link_filter_bytes,
                                               .rows_bytes = s->budget->link_rows_bytes,
                                               .records = s->n_records};
    struct nd_linking *linking = nd_linking_new(&options, err);
    enum nd_status status;

    if (!linking)
        return err->status;
    s->is_linked = true;
    status = link_all(s, linking, err);
    if (status == ND_OK)
        status = offer_all(s, linking, err);
    s->linking_spilled += nd_linking_spilled(linking);
    nd_linking_free(linking);
    return status;
}

/* Offer every document that is not alone, by its component.  The engine that has only said that the
 * parameters are fine gives its memory to the links. */
static enum nd_status link_and_offer(struct nd_staged *s, struct nd_error *err)
{
    struct nd_pool *own = NULL;
    enum nd_status status;

    retire_engine(s);
    if (!s->pool && !(own = nd_pool_new(s->threads, err)))
        return err->status;
    status = offer_linked(s, own ? own : s->pool, err);
    nd_pool_free(own);
    return status;
}

static enum nd_status offer_documents(struct nd_staged *s, struct nd_error *err)
{
    enum nd_status status;

    if (nd_loads_have_room(&s->loads, s->n_documents))
        return offer_all(s, NULL, err);
    status = link_and_offer(s, err);
    if (status != ND_EUNSUPPORTED)
        return status;
    /* Their candidates are found in other ways: one engine has them all, if they are few enough. */
    *err = (struct nd_error){0};
    return offer_all(s, NULL, err);
}

static enum nd_status divide(struct nd_staged *s, struct nd_error *err)
{
    enum nd_status status;

    s->loads = (struct nd_loads){.recipe = s->recipe,
                                 .keep = s->keep,
                                 .rough = s->rough,
                                 .budget = s->budget,
                                 .tmp = s->tmp,
                                 .cluster = s->cluster,
                                 .threads = s->pool ? nd_pool_threads(s->pool) : s->threads,
                                 .index_bytes = s->index_bytes};
    status = nd_loads_open(&s->loads, s->n_documents, err);
    if (status != ND_OK)
        return status;
    s->flags = nd_spool_new(s->tmp, err);
    return s->flags ? offer_documents(s, err) : ND_EIO;
}

/* ---- Decisions ---- */

/* Whether the engine has outgrown its share, once it has been given so many. */
static enum nd_status check(const struct nd_staged *s, uint64_t pushed, struct nd_error *err)
{
    struct nd_dedup_stats stats;

    if (s->is_ordered)
        return ND_OK;
    nd_dedup_get_stats(s->streamed.dedup, &stats);
    return nd_loads_check(&s->loads, &stats, pushed, err);
}

/* ---- Old documents ---- */

static enum nd_status remove_for_old(struct nd_staged *s, uint32_t record,
                                     const struct nd_decision *decision, struct nd_error *err)
{
    const uint32_t old = nd_staged_record(s, decision->kept);
    const struct nd_staged_removed removed = {
        .record = record, .kept = old, .via = old, .decision = decision};

    return s->owner->removed(s->context, &removed, err);
}

static enum nd_status find_short(struct nd_staged *s, uint32_t record, struct nd_decision *decision,
                                 bool *found, struct nd_error *err)
{
    *found = false;
    return s->owner->find_short ? s->owner->find_short(s->context, record, decision, found, err)
                                : ND_OK;
}

/*
 * Documents that contain a short old one as a whole are removed before all others, so that nothing
 * is removed for them.
 */
static enum nd_status remove_by_short(struct nd_staged *s, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t n = 0;

    for (size_t i = 0; status == ND_OK && i < s->n_order; i++) {
        struct nd_decision decision;
        bool found;

        status = find_short(s, s->order[i], &decision, &found, err);
        if (status == ND_OK && found)
            status = remove_for_old(s, s->order[i], &decision, err);
        else
            s->order[n++] = s->order[i];
    }
    s->n_order = n;
    return status;
}

/* An equal old document comes first, then a short one that is contained as a whole, then others. */
static enum nd_status note_judged(struct nd_staged *s, uint32_t record,
                                  struct nd_decision *decision, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    bool found;

    if (decision->identical == ND_IDENTICAL_NO)
        status = find_short(s, record, decision, &found, err);
    return status == ND_OK && decision->kept != UINT64_MAX
               ? remove_for_old(s, record, decision, err)
               : status;
}

/* Report what became of a batch whose documents were compared with old ones alone. */
static enum nd_status note_all_judged(struct nd_staged *s, const uint32_t *record, size_t n,
                                      struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0, from = 0, to = 0; status == ND_OK && i < n; i++, from = to) {
        while (to < s->n_matches && s->match_of[to] == i)
            to++;
        s->owner->matched(s->context, record[i], s->match + from, to - from);
        status = note_judged(s, record[i], &s->streamed.decision[i], err);
    }
    s->n_matches = 0;
    return status;
}

/* ---- Loads ---- */

static enum nd_status push(struct nd_staged *s, uint64_t from, const uint32_t *record,
                           const struct nd_dedup_item *items, size_t n, struct nd_error *err)
{
    enum nd_status status;

    if (from < s->n_old)
        return nd_streamed_push_old(&s->streamed, items, n, err);
    status = nd_streamed_push(&s->streamed, items, n, err);
    return status == ND_OK && s->only_old && s->owner->matched ? note_all_judged(s, record, n, err)
                                                               : status;
}

/* Load documents from this one on, and push as many as make a batch; at first *n is how many there
 * are. */
static enum nd_status push_batch(struct nd_staged *s, uint64_t from, const uint32_t *record,
                                 size_t *n, struct nd_error *err)
{
    const uint64_t total = s->is_ordered ? s->n_old + s->n_order : s->n_documents,
                   before = s->loads.n_before + from;
    const struct nd_dedup_item *items = NULL;
    enum nd_status status = tell(s, ND_STAGED_DECIDE, before, total, err);

    if (status == ND_OK)
        status = s->owner->load(s->context, ND_STAGED_DECIDE, from, record, *n, &items, n, err);
    if (status == ND_OK)
        status = push(s, from, record, items, *n, err);
    if (status == ND_OK && s->owner->pushed)
        status = s->owner->pushed(s->context, before, *n, err);
    return status == ND_OK ? check(s, from + *n, err) : status;
}

static enum nd_status push_old(struct nd_staged *s, struct nd_error *err)
{
    uint32_t record[BATCH];
    enum nd_status status = ND_OK;
    size_t n;

    for (uint64_t from = 0; status == ND_OK && from < s->n_old; from += n) {
        n = s->n_old - from < BATCH ? (size_t)(s->n_old - from) : BATCH;
        for (size_t i = 0; i < n; i++)
            record[i] = nd_staged_record(s, from + i);
        status = push_batch(s, from, record, &n, err);
    }
    if (status == ND_OK && s->n_old && !s->only_old && s->cluster != ND_CLUSTER_COMPONENTS)
        status = remove_by_short(s, err);
    if (status == ND_OK && s->owner->old_pushed)
        s->owner->old_pushed(s->context);
    return status;
}

static enum nd_status push_load(struct nd_staged *s, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t n;

    for (uint64_t at = 0; status == ND_OK && at < s->n_load; at += n) {
        n = (size_t)(s->n_load - at);
        status = push_batch(s, s->n_old + at, s->load + at, &n, err);
    }
    return status;
}

/* Ask what components have come to. */
static enum nd_status ask_components(struct nd_staged *s, struct nd_error *err)
{
    const uint64_t all = s->n_old + s->n_load;
    enum nd_status status = ND_OK;
    size_t n;

    for (uint64_t from = s->n_old; status == ND_OK && from < all; from += n) {
        n = all - from < BATCH ? (size_t)(all - from) : BATCH;
        status = tell(s, ND_STAGED_ASK, from, all, err);
        if (status == ND_OK)
            status = nd_streamed_ask(&s->streamed, from, n, err);
    }
    return status;
}

static enum nd_status decide_load(struct nd_staged *s, struct nd_error *err)
{
    enum nd_status status = s->owner->begin_load ? s->owner->begin_load(s->context, err) : ND_OK;

    s->n_loads++;
    if (status == ND_OK)
        status = push_load(s, err);
    return status == ND_OK && s->cluster == ND_CLUSTER_COMPONENTS ? ask_components(s, err) : status;
}

/* Gather the next load, and have an engine for it. */
static enum nd_status next_load(struct nd_staged *s, struct nd_error *err)
{
    enum nd_status status;

    if (s->n_load)
        retire_engine(s);
    status = nd_loads_next(&s->loads, err);
    s->n_load = s->loads.n_load;
    s->load = s->loads.number.data;
    if (status != ND_OK)
        return status;
    if (!s->n_load || nd_loads_room(&s->loads))
        retire_engine(s);
    return s->n_load && !s->streamed.dedup ? make_engine(s, nd_loads_room(&s->loads), err) : ND_OK;
}

static enum nd_status decide_divided(struct nd_staged *s, struct nd_error *err)
{
    enum nd_status status = divide(s, err);

    if (status == ND_OK)
        status = next_load(s, err);
    while (status == ND_OK && s->n_load) {
        status = decide_load(s, err);
        if (status == ND_OK)
            status = next_load(s, err);
    }
    return status;
}

static enum nd_status decide_in_order(struct nd_staged *s, struct nd_error *err)
{
    enum nd_status status = push_old(s, err);

    s->load = s->order;
    s->n_load = s->n_order;
    return status == ND_OK ? decide_load(s, err) : status;
}

enum nd_status nd_staged_run(struct nd_staged *s, struct nd_error *err)
{
    return s->is_ordered ? decide_in_order(s, err) : decide_divided(s, err);
}
