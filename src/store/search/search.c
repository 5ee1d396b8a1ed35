/* search.c - the entries of label sets that are within the threshold of a text */
#include "store/search/search.h"

#include <stdlib.h>
#include <string.h>

#include <neardup/compare.h>

#include "index/candidate_list.h"
#include "match/measure.h"

static const struct nd_engine_plan *plan_of(const struct nd_search *search)
{
    return &search->maker->sketching->rows.plan;
}

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory while searching");
}

bool nd_search_init(struct nd_search *search, struct nd_sketch_maker *maker)
{
    *search = (struct nd_search){.maker = maker};
    search->key = nd_alloc_array(nd_table_count(&maker->sketching->index), sizeof *search->key);
    return search->key != NULL;
}

void nd_search_release(struct nd_search *search)
{
    free(search->key);
    nd_key_list_release(&search->keys);
    nd_candidates_release(&search->found);
    nd_candidates_release(&search->same);
    nd_shingle_set_release(&search->shingles);
    nd_quotes_release(&search->quotes);
    free(search->met);
    free(search->searched);
    free(search->hit);
}

/* Whether some signature has bits, whose distance is told. */
static bool has_bits(const struct nd_matching *m)
{
    for (unsigned i = 0; i < m->method.n_signatures; i++)
        if (m->shape[i].form == ND_FORM_BITS)
            return true;
    return false;
}

struct nd_near_entry nd_near_itself(const struct nd_sketching *sketching, uint32_t number,
                                    uint32_t set, uint64_t n_shingles)
{
    bool signs = nd_sketching_signs(sketching);

    return (struct nd_near_entry){
        .number = number,
        .set = set,
        .identical = ND_IDENTICAL_BYTES,
        .n_shingles = n_shingles,
        .shared = signs                                    ? UINT16_MAX
                  : nd_sketching_reads_shingles(sketching) ? n_shingles
                                                           : 0,
        .distance = signs && !has_bits(sketching->rows.plan.matching) ? UINT16_MAX : 0};
}

/* ---- Candidates ---- */

static bool add_met(struct nd_search *search, const struct nd_index *index,
                    const struct nd_index_row *row, uint32_t number, bool has_tokens)
{
    if (!ND_RESERVE(search->met, &search->met_capacity, search->n_met + 1))
        return false;
    search->met[search->n_met++] = (struct nd_met){
        .number = number,
        .n_shingles = nd_index_shingles(index, number),
        .distance = (uint16_t)nd_count_ones(row->simhash ^ nd_index_simhash(index, number)),
        .has_tokens = has_tokens};
    return true;
}

/* Collect the documents that may have the same tokens first, in order of their numbers. */
static bool collect_same_tokens(struct nd_search *search, const struct nd_index *index,
                                const struct nd_index_row *row, uint32_t below)
{
    struct nd_identity_scan scan = nd_index_find_identity(index, row->identity, row->group);
    uint32_t number;

    search->same.count = 0;
    while (nd_index_next_identity(index, &scan, &number))
        if (number < below &&
            !nd_candidates_add(&search->same, (struct nd_candidate){number, 0, 0}))
            return false;
    nd_candidates_sort(&search->same, false);
    for (size_t i = 0; i < search->same.count; i++)
        if (!add_met(search, index, row, search->same.items[i].number, true))
            return false;
    return true;
}

static bool collect_near(struct nd_search *search, const struct nd_index *index,
                         const struct nd_index_row *row, bool without_same, uint32_t below)
{
    struct nd_reach reach = nd_engine_plan_reach(plan_of(search), row->n_shingles);

    if (nd_index_query_row(index, row, reach, &search->found, NULL) != ND_OK)
        return false;
    for (size_t i = 0; i < search->found.count; i++) {
        uint32_t number = search->found.items[i].number;

        if (number >= below || (without_same && nd_index_identity(index, number) == row->identity))
            continue;
        if (!add_met(search, index, row, number, false))
            return false;
    }
    return true;
}

static struct nd_fraction asked_for(const struct nd_search *search)
{
    return (struct nd_fraction){search->at.p, search->at.q};
}

/* Add those that can only be below the threshold, where such neighbours are asked for. */
static bool collect_below(struct nd_search *search, const struct nd_index *index,
                          const struct nd_index_row *row, bool without_same, uint32_t below)
{
    struct nd_reach near = nd_engine_plan_reach(plan_of(search), row->n_shingles);
    struct nd_reach far = {.distance = ND_MINHASH_COUNT -
                                       nd_low_bytes_agreeing(search->at.p, search->at.q)};

    nd_measure_range(plan_of(search)->params.verify, row->n_shingles, asked_for(search), &far.least,
                     &far.most);
    if (nd_index_query_row(index, row, far, &search->found, NULL) != ND_OK)
        return false;
    for (size_t i = 0; i < search->found.count; i++) {
        const struct nd_candidate *found = &search->found.items[i];

        if (found->number >= below ||
            nd_reaches(near, nd_index_shingles(index, found->number),
                       ND_MINHASH_COUNT - found->equal) ||
            (without_same && nd_index_identity(index, found->number) == row->identity))
            continue;
        if (!add_met(search, index, row, found->number, false))
            return false;
    }
    return true;
}

static const struct nd_matching *matching_of(const struct nd_search *search)
{
    return plan_of(search)->matching;
}

/* Ask the rule about those that may have the same tokens, whose evidence it is, too. */
static void score_same_tokens(struct nd_search *search, const struct nd_signed_entries *entries,
                              const struct nd_sketched *text, size_t first)
{
    for (size_t i = first; i < search->n_met; i++) {
        struct nd_match match = {.distance = UINT16_MAX};
        struct nd_met *met = &search->met[i];
        bool holds = met->number < entries->next &&
                     nd_matching_compare_stored(matching_of(search), text->signatures,
                                                entries->index, met->number, &match);

        met->score = holds ? (uint16_t)match.score : ND_SCORE_NONE;
        met->distance = (uint16_t)match.distance;
    }
}

/* Collect those for which the rule holds, the best first. */
static bool collect_matching(struct nd_search *search, const struct nd_index *index,
                             const struct nd_signed_entries *entries,
                             const struct nd_sketched *text, const struct nd_index_row *row,
                             bool without_same, uint32_t below)
{
    const struct nd_matching *m = matching_of(search);
    struct nd_document_signatures x = *text->signatures;
    const struct nd_signature_row own = {x.signature, row->group, x.length};

    if (!nd_signature_index_row_keys(m->shape, m->lookup, m->n_lookups, &own, &search->keys))
        return false;
    x.group = row->group;
    x.keys = search->keys;
    if (nd_matching_query(search->maker->maker.crew.worker->matching, entries->index, &x,
                          &search->found) != ND_OK)
        return false;
    for (size_t i = 0; i < search->found.count; i++) {
        const struct nd_candidate *found = &search->found.items[i];

        if (found->number >= below ||
            (without_same && nd_index_identity(index, found->number) == row->identity))
            continue;
        if (!add_met(search, index, row, found->number, false))
            return false;
        search->met[search->n_met - 1].score = found->equal;
        search->met[search->n_met - 1].distance = found->distance;
    }
    return true;
}

/* Whether equal texts are found by their identity: by their tokens, or where one text may be several
 * contents. */
static bool is_by_identity(const struct nd_search *search, const struct nd_sketched *text)
{
    return text->equal_by == ND_EQUAL_BY_TOKENS ||
           (text->equal_by == ND_EQUAL_BY_BYTES &&
            nd_sketching_reads_beside(search->maker->sketching));
}

static bool collect_in_set(struct nd_search *search, const struct nd_index *index,
                           const struct nd_signed_entries *entries, const struct nd_sketched *text,
                           struct nd_index_row *row, uint32_t below)
{
    bool signs = nd_sketching_signs(search->maker->sketching) && text->signatures;
    struct nd_searched *set;
    bool by_tokens = is_by_identity(search, text);

    if (!ND_RESERVE(search->searched, &search->searched_capacity, search->n_searched + 1))
        return false;
    set = &search->searched[search->n_searched++];
    *set = (struct nd_searched){.set = row->group, .first = search->n_met};
    if (by_tokens && !collect_same_tokens(search, index, row, below))
        return false;
    if (signs)
        score_same_tokens(search, entries, text, set->first);
    if (signs && !row->identity_only &&
        !collect_matching(search, index, entries, text, row, by_tokens, below))
        return false;
    if (!nd_sketching_signs(search->maker->sketching) && !row->identity_only) {
        nd_table_keys(&search->maker->sketching->index, row, search->key);
        if (!collect_near(search, index, row, by_tokens, below))
            return false;
    }
    set->n_met = search->n_met - set->first;
    set->first_below = search->n_met;
    if (search->at.q && !row->identity_only && !collect_below(search, index, row, by_tokens, below))
        return false;
    set->n_below = search->n_met - set->first_below;
    return true;
}

enum nd_status nd_search_collect(struct nd_search *search, const struct nd_index *index,
                                 const struct nd_signed_entries *entries,
                                 const struct nd_sketched *text, const uint32_t *sets,
                                 size_t n_sets, uint32_t below, struct nd_error *err)
{
    struct nd_index_row row = text->row;

    row.key = search->key;
    search->n_met = search->n_searched = search->n_hits = 0;
    search->has_shingles = false;
    search->equal = UINT32_MAX;
    for (size_t i = 0; i < n_sets; i++) {
        row.group = sets[i];
        if (!collect_in_set(search, index, entries, text, &row, below))
            return no_memory(err);
    }
    return ND_OK;
}

/* ---- Exact comparison ---- */

/* Whether two texts of the same identity are equal. */
static int compare_tokens(struct nd_search *search, const struct nd_sketched *text,
                          struct nd_view other, struct nd_near_entry *hit, struct nd_error *err)
{
    int same = nd_texts_equal(search->maker->sketching, text->text, other);

    hit->identical = same ? ND_IDENTICAL_BYTES : ND_IDENTICAL_TOKENS;
    if (!same && text->equal_by == ND_EQUAL_BY_TOKENS)
        same = nd_tokens_equal(search->maker, text->text, other, err);
    if (same <= 0)
        hit->identical = ND_IDENTICAL_NO;
    else if (nd_sketching_reads_shingles(search->maker->sketching))
        hit->shared = text->n_shingles;
    return same;
}

static enum nd_status build_shingles(struct nd_search *search, const struct nd_sketched *text,
                                     struct nd_error *err)
{
    if (!search->has_shingles &&
        !nd_shingle_set_build_distinct(&search->shingles, text->shingle, (size_t)text->n_shingles))
        return no_memory(err);
    search->has_shingles = true;
    return ND_OK;
}

/* The shingles of an entry: kept since an earlier comparison of this thread, or made of its text.  The
 * texts of entries do not change, and numbers are not used again. */
static enum nd_status find_shingles(struct nd_search *search, const struct nd_search_source *source,
                                    uint32_t number, const uint64_t **shingle, size_t *n,
                                    struct nd_error *err)
{
    struct nd_shingle_cache *kept = search->maker->maker.crew.worker->fetched;
    struct nd_view text;
    enum nd_status status;

    *shingle = nd_shingle_cache_get(kept, number, n);
    if (*shingle)
        return ND_OK;
    status = source->fetch(source->context, number, &text, err);
    if (status == ND_OK)
        status = nd_shingles_of(search->maker, text, shingle, n, err);
    if (status == ND_OK)
        (void)nd_shingle_cache_put(kept, number, *shingle, *n); /* it is made again otherwise */
    return status;
}

enum nd_status nd_search_shared(struct nd_search *search, const struct nd_sketched *text,
                                const struct nd_search_source *source, uint32_t number,
                                uint64_t *n_shingles, uint64_t *shared, struct nd_error *err)
{
    const uint64_t *shingle;
    size_t n;
    enum nd_status status = build_shingles(search, text, err);

    if (status == ND_OK)
        status = find_shingles(search, source, number, &shingle, &n, err);
    if (status != ND_OK)
        return status;
    *n_shingles = n;
    *shared = nd_shingle_set_shared(&search->shingles, shingle, n, 0);
    return ND_OK;
}

/* Whether the text shares enough shingles with an entry; `need`: so many. */
static int compare_shingles(struct nd_search *search, const struct nd_sketched *text,
                            const struct nd_search_source *source, uint64_t need,
                            struct nd_near_entry *hit, struct nd_error *err)
{
    const uint64_t *shingle;
    size_t n;
    enum nd_status status;

    status = build_shingles(search, text, err);
    if (status == ND_OK)
        status = find_shingles(search, source, hit->number, &shingle, &n, err);
    if (status != ND_OK)
        return (int)status;
    hit->shared = nd_shingle_set_shared(&search->shingles, shingle, n, need);
    return hit->shared != ND_SHARED_TOO_FEW;
}

/* Whether an entry that does not have the text's tokens is near. */
static int compare_near(struct nd_search *search, const struct nd_sketched *text,
                        const struct nd_search_source *source, struct nd_near_entry *hit,
                        struct nd_error *err)
{
    const struct nd_row_plan *rows = &search->maker->sketching->rows;
    uint64_t less = hit->n_shingles < text->n_shingles ? hit->n_shingles : text->n_shingles;
    uint64_t need;
    int is_near;

    if (text->row.identity_only)
        return 0;
    if (nd_sketching_signs(search->maker->sketching))
        return hit->shared != ND_SCORE_NONE;
    if ((rows->kind != ND_ROW_LOW_BYTES && hit->distance > rows->plan.distance))
        return 0;
    if (!nd_sketching_reads_shingles(search->maker->sketching))
        return 1;
    need = nd_measure_need(rows->plan.params.verify, text->n_shingles, hit->n_shingles,
                           search->at.q ? asked_for(search) : rows->plan.threshold, false);
    if (need > less)
        return 0; /* its text need not be read */
    is_near = compare_shingles(search, text, source, need, hit, err);
    if (is_near == 1 && search->at.q)
        hit->is_below = hit->shared < nd_measure_need(rows->plan.params.verify, text->n_shingles,
                                                      hit->n_shingles, rows->plan.threshold, false);
    return is_near;
}

/* Whether a near entry is the text's form filled in differently; below 0: the reason of a failure. */
static int is_other_form(struct nd_search *search, const struct nd_sketched *text,
                         const struct nd_search_source *source, uint32_t number,
                         struct nd_error *err)
{
    const enum nd_forms forms = plan_of(search)->params.forms;
    struct nd_difference differs;
    struct nd_view other;
    enum nd_status status;

    if (forms == ND_FORMS_NONE)
        return 0;
    status = source->fetch(source->context, number, &other, err);
    if (status == ND_OK)
        status = nd_difference_of(nd_text_of(search->maker->sketching, text->text),
                                  nd_text_of(search->maker->sketching, other), &differs, err);
    return status == ND_OK ? nd_forms_apart(forms, differs.by) : (int)status;
}

int nd_search_compare_one(struct nd_search *search, const struct nd_sketched *text,
                          const struct nd_search_source *source, uint32_t set,
                          const struct nd_met *met, struct nd_near_entry *hit, struct nd_error *err)
{
    struct nd_view other;
    int is_hit = 0, is_form;

    *hit = (struct nd_near_entry){.number = met->number,
                                  .set = set,
                                  .n_shingles = met->n_shingles,
                                  .shared = met->score,
                                  .distance = met->distance};
    if (met->has_tokens) {
        is_hit = source->fetch(source->context, met->number, &other, err);
        if (is_hit == ND_OK)
            is_hit = compare_tokens(search, text, other, hit, err);
    }
    if (is_hit)
        return is_hit;
    is_hit = compare_near(search, text, source, hit, err);
    is_form = is_hit == 1 ? is_other_form(search, text, source, met->number, err) : 0;
    return is_form < 0 ? is_form : is_hit == 1 ? !is_form : is_hit;
}

static bool add_hit(struct nd_search *search, struct nd_near_entry hit)
{
    if (!ND_RESERVE(search->hit, &search->hit_capacity, search->n_hits + 1))
        return false;
    search->hit[search->n_hits++] = hit;
    return true;
}

/* Find the entry of a set that has the very bytes of the text; not through the index, where it may
 * be left out.  *number: it is the first hit, or UINT32_MAX. */
static enum nd_status find_equal(struct nd_search *search, const struct nd_sketched *text,
                                 const struct nd_search_source *source, struct nd_searched *set,
                                 uint32_t *number, struct nd_error *err)
{
    struct nd_near_entry hit =
        nd_near_itself(search->maker->sketching, UINT32_MAX, set->set, text->n_shingles);
    int found = text->equal_by == ND_EQUAL_NEVER
                    ? 0
                    : source->find(source->context, set->set, text, &hit.number, err);

    *number = UINT32_MAX;
    if (found <= 0)
        return (enum nd_status)found;
    *number = search->equal = hit.number;
    set->has_equal = true;
    return add_hit(search, hit) ? ND_OK : no_memory(err);
}

/* Forget candidates that are not there, and the one that was found already: of *n_met from the first. */
static int drop_missing(struct nd_search *search, const struct nd_search_source *source,
                        size_t first, size_t *n_met, uint32_t equal, struct nd_error *err)
{
    size_t n = 0;

    if (!source->is_there && equal == UINT32_MAX)
        return 1;
    for (size_t i = 0; i < *n_met; i++) {
        struct nd_met met = search->met[first + i];
        int is_there = met.number == equal ? 0
                       : source->is_there  ? source->is_there(source->context, met.number, err)
                                           : 1;

        if (is_there < 0)
            return is_there;
        if (is_there)
            search->met[first + n++] = met;
    }
    *n_met = n;
    return 1;
}

/* Compare a text with one entry: by the pair of an entry with its bytes, which needs no text, or by
 * the texts.  1: it is a hit; 0: it is not. */
static int compare_by_pair(struct nd_search *search, const struct nd_sketched *text,
                           const struct nd_search_source *source, uint32_t set,
                           const struct nd_met *met, struct nd_near_entry *hit,
                           struct nd_error *err)
{
    struct nd_pair_row row;
    int found = search->equal == UINT32_MAX || !source->pair
                    ? 0
                    : source->pair(source->context, search->equal, set, met->number, &row, err);

    if (found < 0)
        return found;
    if (!found)
        return nd_search_compare_one(search, text, source, set, met, hit, err);
    *hit = (struct nd_near_entry){.number = met->number,
                                  .set = set,
                                  .identical = (enum nd_identical)row.identical,
                                  .n_shingles = met->n_shingles,
                                  .shared = row.shared,
                                  .distance = row.distance};
    return 1;
}

/* Compare the text with at most max_checks candidates that can only be below the threshold: no pair
 * with them is stored. */
static enum nd_status compare_below(struct nd_search *search, const struct nd_sketched *text,
                                    const struct nd_search_source *source, struct nd_searched *set,
                                    uint32_t equal, struct nd_error *err)
{
    size_t most = plan_of(search)->params.max_checks;
    int status = drop_missing(search, source, set->first_below, &set->n_below, equal, err);

    set->was_cut |= set->n_below > most;
    for (size_t i = 0; status >= 0 && i < set->n_below && i < most; i++) {
        struct nd_near_entry hit;

        set->n_compared++;
        status = nd_search_compare_one(search, text, source, set->set,
                                       &search->met[set->first_below + i], &hit, err);
        hit.is_below = true;
        if (status == 1 && !add_hit(search, hit))
            return no_memory(err);
    }
    return status < 0 ? (enum nd_status)status : ND_OK;
}

static enum nd_status compare_in_set(struct nd_search *search, const struct nd_sketched *text,
                                     const struct nd_search_source *source, struct nd_searched *set,
                                     struct nd_error *err)
{
    size_t most = plan_of(search)->params.max_checks;
    uint32_t equal;
    int status = (int)find_equal(search, text, source, set, &equal, err);

    if (status == ND_OK)
        status = drop_missing(search, source, set->first, &set->n_met, equal, err);
    if (status < 0)
        return (enum nd_status)status;
    set->was_cut = set->n_met > most;
    set->n_compared = set->was_cut ? most : set->n_met;
    for (size_t i = 0; i < (set->was_cut ? most : set->n_met); i++) {
        struct nd_near_entry hit;
        int is_hit = compare_by_pair(search, text, source, set->set, &search->met[set->first + i],
                                     &hit, err);

        if (is_hit < 0)
            return (enum nd_status)is_hit;
        if (is_hit && !add_hit(search, hit))
            return no_memory(err);
    }
    return set->n_below ? compare_below(search, text, source, set, equal, err) : ND_OK;
}

enum nd_status nd_search_compare(struct nd_search *search, const struct nd_sketched *text,
                                 const struct nd_search_source *source, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < search->n_searched; i++)
        status = compare_in_set(search, text, source, &search->searched[i], err);
    return status;
}

/* ---- Full keys ---- */

enum { KEYS_MAX = ND_MINHASH_COUNT + ND_SIMHASH_BITS_MAX + 2 };

static void leave_out(struct nd_index_row *row, unsigned table)
{
    row->left_out.word[table / 64] |= UINT64_C(1) << table % 64;
}

/* The table of signatures comes behind those of the index. */
static unsigned table_of_signatures(const struct nd_sketching *sketching)
{
    return nd_table_count(&sketching->index);
}

static bool is_left_out(const struct nd_index_row *row, unsigned table)
{
    return row->left_out.word[table / 64] >> table % 64 & 1;
}

bool nd_row_is_signed(const struct nd_sketching *sketching, const struct nd_index_row *row)
{
    return nd_sketching_signs(sketching) && !row->identity_only &&
           !is_left_out(row, table_of_signatures(sketching));
}

bool nd_row_is_listed(const struct nd_sketching *sketching, const struct nd_index_row *row)
{
    return !is_left_out(row, nd_table_identity(&sketching->index));
}

/* Count the entries under the row's keys, but for those that are gone. */
static void count_keys(const struct nd_search *search, const struct nd_index *index,
                       const struct nd_index_row *row, const uint32_t *gone, size_t n_gone,
                       uint32_t *full)
{
    struct nd_reach reach = nd_engine_plan_reach(plan_of(search), row->n_shingles);

    nd_index_count_keys(index, row, reach, (uint32_t)(plan_of(search)->params.max_checks + n_gone),
                        full);
    for (size_t i = 0; i < n_gone; i++) {
        struct nd_table_set shared;

        if (!nd_index_is_candidate(index, row, reach, gone[i]))
            continue;
        shared = nd_index_keys_shared(index, row, gone[i]);
        for (unsigned w = 0; w < ND_TABLE_SET_WORDS; w++)
            for (; shared.word[w]; shared.word[w] &= shared.word[w] - 1)
                full[64 * w + (unsigned)__builtin_ctzll(shared.word[w])]--;
    }
}

bool nd_search_note_crowded(const struct nd_search *search, const struct nd_index *index,
                            const struct nd_sketched *text, const struct nd_searched *same_set,
                            const uint32_t *gone, size_t n_gone, struct nd_index_row *row)
{
    const struct nd_sketching *sketching = search->maker->sketching;
    uint32_t full[KEYS_MAX] = {0};
    unsigned identity = nd_table_identity(&sketching->index);
    size_t most = plan_of(search)->params.max_checks, n_same = 0;

    if (nd_sketching_signs(sketching) && same_set->n_met >= most)
        leave_out(row, table_of_signatures(sketching));
    for (size_t i = 0; i < same_set->n_met; i++)
        n_same += search->met[same_set->first + i].has_tokens;
    if (!is_by_identity(search, text) || n_same >= most) {
        leave_out(row, identity);
        return false;
    }
    if (same_set->n_met < most || row->identity_only || nd_sketching_signs(sketching))
        return true;
    count_keys(search, index, row, gone, n_gone, full);
    for (unsigned t = 0; t < identity; t++)
        if (full[t] >= most)
            leave_out(row, t);
    return true;
}
