/* quotes.c - the entries that have most of a text in them, or of which a text has most */
#include "store/search/quotes.h"

#include <stdlib.h>
#include <string.h>

#include "index/live.h"

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory for the shingles of texts");
}

/* ---- The shingles of entries ---- */

enum nd_status nd_contained_init(struct nd_contained *contained,
                                 const struct nd_sketching *sketching, struct nd_ratio share,
                                 struct nd_error *err)
{
    const struct nd_dedup_params *p = &sketching->rows.plan.params;

    *contained =
        (struct nd_contained){.params = {.way = ND_CONTAINERS_BY_SMALLER, .threshold = share}};
    if (share.q == 0)
        return ND_OK;
    if (!nd_sketching_reads_shingles(sketching))
        return nd_fail(err, ND_EUNSUPPORTED,
                       "containment: it needs a recipe that compares shingles (verify = jaccard)");
    return nd_sample_choose(share, p->recall, &contained->params.sample,
                            &contained->params.min_shared, err);
}

void nd_contained_release(struct nd_contained *contained)
{
    for (size_t i = 0; i < contained->n_sets; i++) {
        nd_containers_free(contained->set[i].index);
        free(contained->set[i].entry);
    }
    free(contained->set);
    free(contained->scratch);
    *contained = (struct nd_contained){.n_sets = 0};
}

size_t nd_contained_bytes(const struct nd_contained *contained)
{
    size_t bytes = 0;

    for (size_t i = 0; i < contained->n_sets; i++)
        if (contained->set[i].index)
            bytes += nd_containers_bytes(contained->set[i].index) +
                     contained->set[i].capacity * sizeof *contained->set[i].entry;
    return bytes;
}

/* Make the row of a text, whose values lie in *word.  False: out of memory. */
static bool make_row(const struct nd_sketched *text, uint64_t **word, size_t *capacity,
                     struct nd_container_row *row)
{
    size_t n = (size_t)text->n_shingles;
    uint32_t *value;

    if (!ND_RESERVE(*word, capacity, 3 * n + 1))
        return false;
    value = (uint32_t *)(*word + 2 * n);
    *row = (struct nd_container_row){
        .value = value,
        .n_values = (uint32_t)nd_container_values(text->shingle, n, 0, NULL, value, *word),
        .n_shingles = (uint32_t)n};
    return true;
}

/* Whether a text has shingles by which it is found. */
static bool has_content(const struct nd_sketched *text)
{
    return text->n_shingles > 0 && !text->is_short && !text->is_empty;
}

/* The set of this number, with an index.  NULL: out of memory. */
static struct nd_contained_set *set_of(struct nd_contained *contained, uint32_t number)
{
    struct nd_contained_set *set;

    if (!ND_RESERVE(contained->set, &contained->capacity, (size_t)number + 1))
        return NULL;
    for (; contained->n_sets <= number; contained->n_sets++)
        contained->set[contained->n_sets] = (struct nd_contained_set){.n = 0};
    set = &contained->set[number];
    if (!set->index)
        set->index = nd_containers_new(&contained->params);
    return set->index ? set : NULL;
}

enum nd_status nd_contained_add(struct nd_contained *contained, uint32_t set, uint32_t number,
                                const struct nd_sketched *text, struct nd_error *err)
{
    struct nd_contained_set *to;
    struct nd_container_row row;

    if (contained->params.sample == 0 || !has_content(text))
        return ND_OK;
    to = set_of(contained, set);
    if (!to || !ND_RESERVE(to->entry, &to->capacity, to->n + 1) ||
        !make_row(text, &contained->scratch, &contained->scratch_capacity, &row) ||
        !nd_containers_append(to->index, &row))
        return no_memory(err);
    to->entry[to->n++] = number;
    return nd_containers_list(to->index, (uint32_t)(to->n - 1), &row) ? ND_OK : no_memory(err);
}

static int compare_numbers(const void *x, const void *y)
{
    const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

    return a < b ? -1 : a > b;
}

void nd_contained_remove(struct nd_contained *contained, uint32_t number)
{
    for (size_t i = 0; i < contained->n_sets; i++) {
        struct nd_contained_set *set = &contained->set[i];
        const uint32_t *found =
            set->n ? bsearch(&number, set->entry, set->n, sizeof number, compare_numbers) : NULL;

        if (found)
            nd_containers_remove(set->index, (uint32_t)(found - set->entry));
    }
}

/* ---- Candidates ---- */

void nd_quotes_release(struct nd_quotes *quotes)
{
    nd_container_scratch_release(&quotes->scratch);
    nd_candidates_release(&quotes->found);
    free(quotes->word);
    free(quotes->hit);
}

static enum nd_status collect_in_set(struct nd_quotes *quotes, const struct nd_contained *contained,
                                     uint32_t number, const struct nd_container_row *row,
                                     uint32_t below, struct nd_error *err)
{
    const struct nd_contained_set *set = &contained->set[number];

    if (nd_containers_query(set->index, &quotes->scratch, row, ND_REACH_ALL, &quotes->found) !=
            ND_OK ||
        !ND_RESERVE(quotes->hit, &quotes->hit_capacity, quotes->n_hits + quotes->found.count + 1))
        return no_memory(err);
    for (size_t i = 0; i < quotes->found.count; i++) {
        uint32_t entry = set->entry[quotes->found.items[i].number];

        if (entry < below)
            quotes->hit[quotes->n_hits++] = (struct nd_quote){.number = entry, .set = number};
    }
    return ND_OK;
}

enum nd_status nd_quotes_collect(struct nd_quotes *quotes, const struct nd_contained *contained,
                                 const struct nd_sketched *text, const uint32_t *sets,
                                 size_t n_sets, uint32_t below, struct nd_error *err)
{
    struct nd_container_row row;
    enum nd_status status = ND_OK;

    quotes->n_hits = 0;
    quotes->n_candidates = quotes->n_compared = 0;
    quotes->was_cut = false;
    if (contained->params.sample == 0 || !has_content(text))
        return ND_OK;
    if (!make_row(text, &quotes->word, &quotes->word_capacity, &row))
        return no_memory(err);
    for (size_t i = 0; status == ND_OK && i < n_sets; i++)
        if (sets[i] < contained->n_sets && contained->set[sets[i]].index)
            status = collect_in_set(quotes, contained, sets[i], &row, below, err);
    return status;
}
