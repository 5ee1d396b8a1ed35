/* loads.c - documents gathered into loads, each of which an engine has room for */
#include "loads/loads.h"

#include "base/system/c_functions.h"
#include "engine/engine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Bytes of a document in a load, beside its row in the index and the tables: those that an engine
 * has in columns and a table that grow by a quarter; an entry of 24 bytes, as much while these are
 * sorted, and a number.
 */
enum {
    INDEX_BYTES = 370,
    KEPT_BYTES = 40,
    ENTRY_BYTES = 2 * (int)sizeof(struct nd_load_offer) + 4,
    COMPONENT_BYTES = 24 + 28,
    COMPLETE_BYTES = 16 + 28,
    PAIR_BYTES = 4 + 4,
    HIT_BYTES = 60,        /* of the pairs of one document, as their array grows */
    SIGNATURE_BYTES = 220, /* and of each of its words: in columns and a table, while it grows */
    SIGNATURE_WORD_BYTES = 12
};

/* The bytes of a document that an engine was given, whether it is in the index or not. */
static uint64_t pushed_bytes(const struct nd_loads *l)
{
    uint64_t bytes = 0;

    if (l->cluster == ND_CLUSTER_COMPONENTS)
        bytes += COMPONENT_BYTES;
    if (l->cluster == ND_CLUSTER_COMPLETE)
        bytes += COMPLETE_BYTES;
    if (l->cluster == ND_CLUSTER_PAIRS)
        bytes += PAIR_BYTES + (uint64_t)HIT_BYTES * l->threads;
    return bytes;
}

static uint64_t signature_bytes(const struct nd_method *method)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < method->n_signatures; i++)
        bytes += SIGNATURE_BYTES + SIGNATURE_WORD_BYTES * (uint64_t)nd_signature_words(
                                                              &method->signature[i].signature);
    return bytes;
}

static uint64_t document_bytes(const struct nd_loads *l)
{
    return (l->index_bytes ? l->index_bytes : INDEX_BYTES) + signature_bytes(&l->recipe->method) +
           KEPT_BYTES + ENTRY_BYTES + pushed_bytes(l);
}

uint64_t nd_loads_memory(const struct nd_recipe *recipe, uint64_t n_documents)
{
    const struct nd_loads l = {.recipe = recipe, .cluster = recipe->dedup.cluster};

    return nd_budget_for_engine(n_documents * document_bytes(&l) * 9 / 8);
}

/* How many documents an engine has room for. */
static uint64_t fitting(const struct nd_loads *l)
{
    return l->budget->engine_bytes / document_bytes(l);
}

uint64_t nd_loads_index_bytes(const struct nd_dedup *dedup)
{
    struct nd_dedup_stats stats;

    nd_dedup_get_stats(dedup, &stats);
    return stats.index_bytes / ND_FIRST_DOCUMENTS + 1;
}

size_t nd_loads_room(const struct nd_loads *l)
{
    uint64_t most = fitting(l), n = l->n_load < most ? l->n_load : most;

    return n > ND_FIRST_DOCUMENTS ? (size_t)n : 0;
}

static int by_keep_order(const void *a, const void *b, void *context)
{
    const struct nd_load_offer *x = a, *y = b;
    const struct nd_loads *l = context;

    return nd_offer_compare(l->keep, l->rough, &x->offer, &y->offer);
}

enum nd_status nd_loads_open(struct nd_loads *l, uint64_t n_documents, struct nd_error *err)
{
    const struct nd_external_sort_options options = {.tmp = l->tmp,
                                                     .record_bytes = sizeof(struct nd_load_offer),
                                                     .memory_bytes = l->budget->sort_bytes / 2,
                                                     .compare = by_keep_order,
                                                     .context = l};
    uint64_t most = fitting(l);

    l->entries_max = (size_t)(n_documents < most ? n_documents : most) + 1;
    l->offers = nd_external_sort_new(&options, err);
    return l->offers ? ND_OK : ND_ENOMEM;
}

void nd_loads_release(struct nd_loads *l)
{
    nd_external_sort_free(l->offers);
    nd_column_release(&l->number);
    free(l->entry);
}

bool nd_loads_have_room(const struct nd_loads *l, uint64_t n_documents)
{
    return n_documents <= fitting(l);
}

/* ---- Offers ---- */

enum nd_status nd_loads_offer(struct nd_loads *l, uint64_t component, const struct nd_offer *offer,
                              struct nd_error *err)
{
    const struct nd_load_offer offered = {component, *offer};

    return nd_external_sort_add(l->offers, &offered, err);
}

void nd_loads_count_alone(const struct nd_loads *l, struct nd_dedup_stats *stats, unsigned flags)
{
    stats->documents++;
    stats->kept += l->cluster != ND_CLUSTER_PAIRS;
    stats->short_documents += (flags & ND_CANDIDATE_SHORT) != 0;
    stats->empty_documents += (flags & ND_CANDIDATE_EMPTY) != 0;
    stats->signed_documents += (flags & ND_CANDIDATE_SIGNED) != 0;
    stats->unsigned_documents += (flags & ND_CANDIDATE_UNSIGNED) != 0;
}

/* The next document that is offered, or none. */
static enum nd_status advance(struct nd_loads *l, struct nd_error *err)
{
    const void *offered;
    int got = nd_external_sort_next(l->offers, &offered, err);

    l->has_coming = got > 0;
    if (got > 0)
        memcpy(&l->coming, offered, sizeof l->coming);
    return got < 0 ? (enum nd_status)got : ND_OK;
}

/* ---- Loads ---- */

static enum nd_status add_number(struct nd_loads *l, uint32_t number, struct nd_error *err)
{
    if (!nd_column_reserve(&l->number, l->n_load + 1, sizeof number))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    ((uint32_t *)l->number.data)[l->n_load++] = number;
    return ND_OK;
}

/* The load is this one component, of which the entries are the first part. */
static enum nd_status load_large(struct nd_loads *l, struct nd_error *err)
{
    uint64_t component = l->coming.component;
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < l->n_entries; i++)
        status = add_number(l, l->entry[i].offer.record, err);
    while (status == ND_OK && l->has_coming && l->coming.component == component) {
        status = add_number(l, l->coming.offer.record, err);
        if (status == ND_OK)
            status = advance(l, err);
    }
    l->n_entries = 0;
    return status;
}

/*
 * Entries 0 … whole are the load, and the rest begins the next one.  In keep order the documents are
 * read as they lie in the input, more or less; components have no order among themselves.
 */
static enum nd_status load_entries(struct nd_loads *l, size_t whole, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    nd_sort_with(l->entry, whole, sizeof *l->entry, by_keep_order, l);
    for (size_t i = 0; status == ND_OK && i < whole; i++)
        status = add_number(l, l->entry[i].offer.record, err);
    l->n_entries -= whole;
    memmove(l->entry, l->entry + whole, l->n_entries * sizeof *l->entry);
    return status;
}

/* Gather the next load; it is empty where there are no more documents. */
static enum nd_status gather(struct nd_loads *l, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t last = 0; /* where the last component begins */

    while (status == ND_OK && l->has_coming && l->n_entries < l->entries_max) {
        if (l->n_entries && l->entry[l->n_entries - 1].component != l->coming.component)
            last = l->n_entries;
        l->entry[l->n_entries++] = l->coming;
        status = advance(l, err);
    }
    if (status != ND_OK || !l->n_entries)
        return status;
    if (!l->has_coming || l->entry[l->n_entries - 1].component != l->coming.component)
        return load_entries(l, l->n_entries, err);
    return last ? load_entries(l, last, err) : load_large(l, err);
}

enum nd_status nd_loads_next(struct nd_loads *l, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (!l->has_begun) {
        l->has_begun = true;
        l->entry = nd_alloc_array(l->entries_max, sizeof *l->entry);
        status = l->entry ? advance(l, err) : nd_fail(err, ND_ENOMEM, "out of memory");
    }
    l->n_before += l->n_load;
    l->n_load = 0;
    if (status == ND_OK)
        status = gather(l, err);
    if (status == ND_OK && !l->n_load) {
        free(l->entry);
        l->entry = NULL;
        nd_column_release(&l->number);
    }
    return status;
}

enum nd_status nd_loads_check(const struct nd_loads *l, const struct nd_dedup_stats *stats,
                              uint64_t pushed, struct nd_error *err)
{
    uint64_t indexed = l->cluster == ND_CLUSTER_PAIRS ? pushed : stats->kept, bytes, needed;
    char text[ND_BUDGET_TEXT];

    bytes = stats->index_bytes + indexed * KEPT_BYTES + pushed * pushed_bytes(l) +
            l->n_load * sizeof(uint32_t) + l->entries_max * sizeof *l->entry;
    if (pushed <= ND_FIRST_DOCUMENTS || bytes <= l->budget->engine_bytes)
        return ND_OK;
    /* Tables have just grown by a quarter, or are about to. */
    needed = (uint64_t)((double)bytes / (double)pushed * (double)l->n_load * 5 / 4);
    return nd_fail(err, ND_ENOMEM,
                   "memory: %" PRIu64 " documents could match one another, directly or through "
                   "others; to decide about them together takes up to %s",
                   l->n_load, nd_budget_text(nd_budget_for_engine(needed), text));
}
