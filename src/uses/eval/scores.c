/* scores.c - a result held against the truth: what is right, component by component */

/*
 * Pairs are looked up one by one; the pairs within sets are counted by the sizes of the sets and of
 * their intersections (cells), never one by one. Documents are joined by every pair that counts, of
 * the truth and of the result. So a pair belongs to one component, and resampling components
 * (resample.h) keeps together what depends on one another.
 */
#include "uses/eval/scores.h"

#include <stdlib.h>
#include <string.h>

#include "uses/eval/sets.h"

/* A document in its two sets, for counting intersections. */
struct score_place {
    uint32_t true_set, set, id;
};

struct counting {
    struct nd_scores *t;
    const struct nd_relation *truth, *result;
    size_t n;
    bool all;
    struct nd_sets joined;
    struct nd_component *at;         /* by the root of a component */
    uint32_t *size, *true_size;      /* of the sets, by their number - 1 */
    uint32_t *same;                  /* by document, those that the truth calls the same … */
    uint32_t *found;                 /* … and of them those that the result has */
    uint32_t *listed;                /* those that the result has, as far as they count */
    const struct nd_same_part *part; /* NULL: all pairs count */
    struct score_place *place;
    size_t n_places;
};

static uint64_t pairs_of(uint64_t n)
{
    return n ? n * (n - 1) / 2 : 0;
}

static bool is_there(const struct nd_relation *truth, size_t n, bool all, uint32_t id)
{
    return id <= n && (all || !truth->has_sets || nd_relation_set(truth, id));
}

/* Whether a document is one of those that there are. */
static bool is_known(const struct counting *c, uint32_t id)
{
    return is_there(c->truth, c->n, c->all, id);
}

bool nd_scores_judge(const struct nd_relation *truth, size_t n, bool all, uint64_t ids,
                     enum nd_label *label)
{
    const uint32_t a = (uint32_t)(ids >> 32), b = (uint32_t)ids;
    const uint32_t set = nd_relation_set(truth, a);

    if (!is_there(truth, n, all, a) || !is_there(truth, n, all, b))
        return false;
    if (truth->has_sets) {
        *label = set && set == nd_relation_set(truth, b) ? ND_LABEL_SAME : ND_LABEL_DIFFERENT;
        return true;
    }
    if (nd_relation_find(truth, ids, label))
        return true;
    *label = ND_LABEL_DIFFERENT;
    return all;
}

static bool judge(const struct counting *c, uint64_t ids, enum nd_label *label)
{
    return nd_scores_judge(c->truth, c->n, c->all, ids, label);
}

static bool is_one_set(const struct nd_relation *r, uint64_t ids)
{
    const uint32_t set = nd_relation_set(r, (uint32_t)(ids >> 32));

    return set && set == nd_relation_set(r, (uint32_t)ids);
}

/* ---- Components ------------------------------------------------------------------------------ */

static void join(struct counting *c, uint64_t ids)
{
    nd_sets_join(&c->joined, (uint32_t)(ids >> 32) - 1, (uint32_t)ids - 1);
}

/* Join the members of each set.  False: out of memory. */
static bool join_sets(struct counting *c, const struct nd_relation *r)
{
    uint32_t *first = calloc((size_t)r->n_sets + 1, sizeof *first);

    for (uint32_t id = 1; first && id <= c->n; id++) {
        const uint32_t set = is_known(c, id) ? nd_relation_set(r, id) : 0;

        if (set && first[set])
            nd_sets_join(&c->joined, first[set] - 1, id - 1);
        else if (set)
            first[set] = id;
    }
    free(first);
    return first != NULL;
}

/* Join what counts of the truth, and of the result. */
static bool join_all(struct counting *c)
{
    const struct nd_relation *truth = c->truth, *result = c->result;
    enum nd_label label;

    if (truth->has_sets && !join_sets(c, truth))
        return false;
    for (size_t i = 0; !truth->has_sets && i < truth->n_pairs; i++) {
        const struct nd_related *p = &truth->pair[i];

        if (p->label == ND_LABEL_SAME ||
            (!c->all && result->has_sets && is_one_set(result, p->ids)))
            join(c, p->ids);
    }
    /* With labelled pairs only these count in sets, and the loop above joined them. */
    if (result->has_sets && (c->all || truth->has_sets) && !join_sets(c, result))
        return false;
    for (size_t i = 0; i < result->n_pairs; i++)
        if (judge(c, result->pair[i].ids, &label))
            join(c, result->pair[i].ids);
    return true;
}

static struct nd_component *of(struct counting *c, uint32_t id)
{
    return &c->at[nd_sets_root(&c->joined, id - 1)];
}

static struct nd_component *of_pair(struct counting *c, uint64_t ids)
{
    return of(c, (uint32_t)ids);
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static void count_listed(struct counting *c)
{
    const struct nd_relation *r = c->result;
    enum nd_label label;

    for (size_t i = 0; i < r->n_pairs; i++) {
        if (!judge(c, r->pair[i].ids, &label)) {
            c->t->unlabelled++;
        } else if (label == ND_LABEL_UNSURE) {
            c->t->unsure++;
        } else {
            struct nd_pair_counts *counts = &of_pair(c, r->pair[i].ids)->pairs;

            counts->listed++;
            counts->right += label == ND_LABEL_SAME;
        }
    }
}

/* Count the pairs that the truth labels, those within sets of the result too. */
static void count_labelled(struct counting *c, uint64_t *unsure)
{
    const struct nd_relation *truth = c->truth;

    for (size_t i = 0; i < truth->n_pairs; i++) {
        const struct nd_related *p = &truth->pair[i];
        const bool is_same = p->label == ND_LABEL_SAME;
        const bool is_listed = c->t->has_sets && is_one_set(c->result, p->ids);
        struct nd_component *x;

        if (!is_same && !is_listed)
            continue;
        x = of_pair(c, p->ids);
        x->pairs.same += is_same;
        x->in_sets.same += is_same;
        if (!is_listed)
            continue;
        x->in_sets.right += is_same;
        *unsure += p->label == ND_LABEL_UNSURE;
        /* With all pairs, count_sizes has counted this one too. */
        if (!c->all)
            x->in_sets.listed += p->label != ND_LABEL_UNSURE;
        else
            x->in_sets.listed -= p->label == ND_LABEL_UNSURE;
    }
}

/* ---- Sets ------------------------------------------------------------------------------------ */

/* Count the sizes of sets, of the documents that there are. */
static void measure(const struct counting *c, const struct nd_relation *r, uint32_t *size)
{
    for (uint32_t id = 1; id <= c->n; id++)
        if (is_known(c, id) && nd_relation_set(r, id))
            size[nd_relation_set(r, id) - 1]++;
}

static uint64_t count_large(const uint32_t *size, uint32_t n)
{
    uint64_t large = 0;

    for (uint32_t i = 0; i < n; i++)
        large += size[i] > 1;
    return large;
}

/* Find the largest set of the result, with the documents in it that nothing is known of. */
static bool find_largest(struct counting *c)
{
    const struct nd_relation *r = c->result;
    uint32_t *size = calloc((size_t)r->n_sets + 1, sizeof *size);

    c->t->largest_set = c->t->n_documents > 0;
    for (size_t i = 0; size && i < r->n_ids; i++)
        if (r->set[i] && ++size[r->set[i]] > c->t->largest_set)
            c->t->largest_set = size[r->set[i]];
    free(size);
    return size != NULL;
}

/* Count the pairs of the sets of one relation, at the first member of each. */
static bool count_sizes(struct counting *c, const struct nd_relation *r, const uint32_t *size,
                        bool is_truth)
{
    unsigned char *seen = calloc((size_t)r->n_sets + 1, 1);

    for (uint32_t id = 1; seen && id <= c->n; id++) {
        const uint32_t set = is_known(c, id) ? nd_relation_set(r, id) : 0;
        struct nd_component *x;

        if (!set || seen[set])
            continue;
        seen[set] = 1;
        x = of(c, id);
        if (!is_truth) {
            x->in_sets.listed += pairs_of(size[set - 1]);
        } else {
            x->pairs.same += pairs_of(size[set - 1]);
            x->in_sets.same += pairs_of(size[set - 1]);
        }
    }
    free(seen);
    return seen != NULL;
}

static int by_sets(const void *left, const void *right)
{
    const struct score_place *a = left, *b = right;

    if (a->true_set != b->true_set)
        return a->true_set < b->true_set ? -1 : 1;
    if (a->set != b->set)
        return a->set < b->set ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Count `count` documents that are in one set of the truth and one of the result.  0: a set of its
 * own, as the document is then. */
static void count_cell(struct counting *c, const struct score_place *p, uint64_t count)
{
    struct nd_component *x = of(c, p->id);
    const uint64_t size = p->set ? c->size[p->set - 1] : 1,
                   true_size = p->true_set ? c->true_size[p->true_set - 1] : 1;

    x->in_sets.right += pairs_of(count);
    x->shares_of_set += (double)(count * count) / (double)size;
    x->shares_of_true += (double)(count * count) / (double)true_size;
    c->t->exact_sets += count > 1 && count == size && count == true_size;
}

/* Count the cells: the documents that are in the same two sets. */
static bool count_cells(struct counting *c)
{
    c->place = nd_alloc_array(c->n + 1, sizeof *c->place);
    for (uint32_t id = 1; c->place && id <= c->n; id++)
        if (is_known(c, id))
            c->place[c->n_places++] = (struct score_place){nd_relation_set(c->truth, id),
                                                           nd_relation_set(c->result, id), id};
    if (!c->place)
        return false;
    if (c->n_places)
        qsort(c->place, c->n_places, sizeof *c->place, by_sets);
    for (size_t from = 0, to; from < c->n_places; from = to) {
        const struct score_place *p = &c->place[from];

        for (to = from + 1; to < c->n_places && p->set && p->true_set &&
                            c->place[to].set == p->set && c->place[to].true_set == p->true_set;)
            to++;
        count_cell(c, p, to - from);
        for (size_t i = from; i < to; i++)
            c->found[c->place[i].id] = (uint32_t)(to - from - 1);
    }
    return true;
}

/* ---- Documents as queries -------------------------------------------------------------------- */

static void count_both(uint32_t *count, uint64_t ids)
{
    count[ids >> 32]++;
    count[(uint32_t)ids]++;
}

/* Count the others that the result has beside each document: those of its set, but for unsure ones, or
 * where only labelled pairs count, these. */
static void count_answers_of_sets(struct counting *c)
{
    const struct nd_relation *truth = c->truth, *result = c->result;
    const bool all = c->all || truth->has_sets;

    for (uint32_t id = 1; all && id <= c->n; id++) {
        const uint32_t set = is_known(c, id) ? nd_relation_set(result, id) : 0;

        c->listed[id] = set ? c->size[set - 1] - 1 : 0;
    }
    for (size_t i = 0; !truth->has_sets && i < truth->n_pairs; i++) {
        const uint64_t ids = truth->pair[i].ids;
        const bool is_unsure = truth->pair[i].label == ND_LABEL_UNSURE;
        const uint32_t more = !all && !is_unsure, less = all && is_unsure;

        if (!is_one_set(result, ids))
            continue;
        c->listed[ids >> 32] += more - less;
        c->listed[(uint32_t)ids] += more - less;
    }
}

static void count_answers(struct counting *c)
{
    const struct nd_relation *result = c->result;
    enum nd_label label;

    for (size_t i = 0; i < result->n_pairs; i++) {
        if (!judge(c, result->pair[i].ids, &label) || label == ND_LABEL_UNSURE)
            continue;
        count_both(c->listed, result->pair[i].ids);
        if (label == ND_LABEL_SAME)
            count_both(c->found, result->pair[i].ids);
    }
}

/* Take each document for a query that its true neighbours answer (Kolcz 2004, equation 2).  Of sets
 * against sets, count_cells has found them. */
static void count_queries(struct counting *c, bool is_of_sets)
{
    const struct nd_relation *truth = c->truth, *result = c->result;

    for (size_t i = 0; !truth->has_sets && i < truth->n_pairs; i++) {
        if (truth->pair[i].label != ND_LABEL_SAME)
            continue;
        count_both(c->same, truth->pair[i].ids);
        if (is_of_sets && is_one_set(result, truth->pair[i].ids))
            count_both(c->found, truth->pair[i].ids);
    }
    if (!is_of_sets)
        memset(c->found, 0, (c->n + 1) * sizeof *c->found);
    if (is_of_sets)
        count_answers_of_sets(c);
    else
        count_answers(c);
    for (uint32_t id = 1; id <= c->n; id++) {
        const uint32_t set = truth->has_sets && is_known(c, id) ? nd_relation_set(truth, id) : 0;
        const uint32_t same = set ? c->true_size[set - 1] - 1 : c->same[id];

        if (c->listed[id]) {
            of(c, id)->answered++;
            of(c, id)->shares_right += (double)c->found[id] / c->listed[id];
        }
        if (!same)
            continue;
        of(c, id)->queries++;
        of(c, id)->shares_found += (double)c->found[id] / same;
    }
}

/* ---- Removed documents ----------------------------------------------------------------------- */

/* Note for each document whether a kept one is like it, by pairs that are not called different. */
static void match_pairs(const struct counting *c, unsigned char *is_matched)
{
    for (size_t i = 0; i < c->truth->n_pairs; i++) {
        const struct nd_related *p = &c->truth->pair[i];
        const uint32_t a = (uint32_t)(p->ids >> 32), b = (uint32_t)p->ids;

        if (p->label == ND_LABEL_DIFFERENT)
            continue;
        is_matched[a] |= nd_relation_fate(c->result, b) != ND_FATE_REMOVED;
        is_matched[b] |= nd_relation_fate(c->result, a) != ND_FATE_REMOVED;
    }
}

/* Note for each set of the truth whether a kept document is in it. */
static void match_sets(const struct counting *c, unsigned char *has_kept)
{
    for (uint32_t id = 1; id <= c->n; id++)
        if (nd_relation_fate(c->result, id) != ND_FATE_REMOVED)
            has_kept[nd_relation_set(c->truth, id)] = 1;
    has_kept[0] = 0;
}

/* Note each kept document that an earlier kept one is the same as, by pairs. */
static void find_kept_twice(const struct counting *c, unsigned char *is_twice)
{
    for (size_t i = 0; i < c->truth->n_pairs; i++) {
        const uint32_t a = (uint32_t)(c->truth->pair[i].ids >> 32),
                       b = (uint32_t)c->truth->pair[i].ids;

        if (c->truth->pair[i].label == ND_LABEL_SAME &&
            nd_relation_fate(c->result, a) != ND_FATE_REMOVED &&
            nd_relation_fate(c->result, b) != ND_FATE_REMOVED)
            is_twice[b] = 1;
    }
}

static bool count_kept_twice(struct counting *c)
{
    const bool has_sets = c->truth->has_sets;
    unsigned char *seen = calloc((has_sets ? c->truth->n_sets : c->n) + (size_t)1, 1);

    if (!seen)
        return false;
    if (!has_sets)
        find_kept_twice(c, seen);
    for (uint32_t id = 1; id <= c->n; id++) {
        const uint32_t set = nd_relation_set(c->truth, id);

        if (!is_known(c, id) || nd_relation_fate(c->result, id) == ND_FATE_REMOVED)
            continue;
        if (!has_sets)
            c->t->kept_twice += seen[id];
        else if (set)
            c->t->kept_twice += seen[set];
        seen[set] |= has_sets && set;
    }
    free(seen);
    return true;
}

static bool count_removed(struct counting *c)
{
    const bool has_sets = c->truth->has_sets;
    unsigned char *matched = calloc((has_sets ? c->truth->n_sets : c->n) + (size_t)1, 1);

    if (!matched)
        return false;
    if (has_sets)
        match_sets(c, matched);
    else
        match_pairs(c, matched);
    for (uint32_t id = 1; id <= c->n; id++) {
        if (nd_relation_fate(c->result, id) != ND_FATE_REMOVED || !is_known(c, id))
            continue;
        c->t->removed++;
        c->t->unmatched += !matched[has_sets ? nd_relation_set(c->truth, id) : id];
    }
    free(matched);
    return true;
}

/* ---- Classes --------------------------------------------------------------------------------- */

/* Count the sets whose documents are of several classes.  The places are sorted by set. */
static int by_set(const void *left, const void *right)
{
    const struct score_place *a = left, *b = right;

    return a->set != b->set ? (a->set < b->set ? -1 : 1) : by_sets(left, right);
}

static void count_mixed(struct counting *c)
{
    qsort(c->place, c->n_places, sizeof *c->place, by_set);
    for (size_t from = 0, to; from < c->n_places; from = to) {
        bool is_mixed = false;

        for (to = from + 1; to < c->n_places && c->place[to].set == c->place[from].set; to++)
            is_mixed |= c->place[to].true_set != c->place[from].true_set;
        if (!c->place[from].set || to - from < 2)
            continue;
        c->t->members += to - from;
        c->t->mixed_sets += is_mixed;
        c->t->mixed_members += is_mixed ? to - from : 0;
    }
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Let only the pairs of the part be the same. */
static void keep_part(struct counting *c)
{
    for (size_t i = 0; i < c->n; i++) {
        c->at[i].pairs.same = c->part->same ? 0 : c->at[i].pairs.right;
        c->at[i].in_sets = (struct nd_pair_counts){.listed = 0};
    }
    for (size_t i = 0; i < c->part->n; i++)
        of(c, c->part->same[i].id)->pairs.same += c->part->same[i].count;
}

/* Move the components to the front, first those with pairs. */
static bool gather(struct counting *c)
{
    struct nd_scores *t = c->t;

    t->component = nd_alloc_array(c->n + 1, sizeof *t->component);
    for (int has_pairs = 1; t->component && has_pairs >= 0; has_pairs--) {
        for (size_t i = 0; i < c->n; i++) {
            const struct nd_component *x = &c->at[i];
            const bool has = x->pairs.listed || x->pairs.same || x->in_sets.listed;

            if (x->documents && has == (has_pairs == 1)) {
                t->component[t->n_components++] = *x;
                nd_component_add(&t->sum, x);
            }
        }
        t->n_paired = has_pairs ? t->n_components : t->n_paired;
    }
    return t->component != NULL;
}

static bool count_sets(struct counting *c)
{
    struct nd_scores *t = c->t;

    if (t->has_sets) {
        measure(c, c->result, c->size);
        if (!find_largest(c))
            return false;
        t->n_sets = count_large(c->size, c->result->n_sets);
        if ((c->all || c->truth->has_sets) && !count_sizes(c, c->result, c->size, false))
            return false;
    }
    if (!c->truth->has_sets)
        return true;
    measure(c, c->truth, c->true_size);
    if (!count_sizes(c, c->truth, c->true_size, true))
        return false;
    t->n_true_sets = count_large(c->true_size, c->truth->n_sets);
    return !t->has_sets || count_cells(c);
}

static bool count(struct counting *c)
{
    struct nd_scores *t = c->t;
    const bool is_of_sets = c->result->form != ND_EVAL_MANIFEST && t->has_sets;

    for (uint32_t id = 1; id <= c->n; id++)
        if (is_known(c, id)) {
            of(c, id)->documents++;
            t->n_documents++;
        }
    if (!is_of_sets)
        count_listed(c);
    if (!count_sets(c))
        return false;
    if (!c->truth->has_sets) {
        uint64_t unsure = 0;

        count_labelled(c, &unsure);
        t->unsure = is_of_sets ? unsure : t->unsure;
    }
    count_queries(c, is_of_sets);
    for (size_t i = 0; is_of_sets && i < c->n; i++)
        c->at[i].pairs = c->at[i].in_sets;
    if (c->truth->form == ND_EVAL_CLASSES && t->has_sets)
        count_mixed(c);
    if (t->knows_removed && (!count_removed(c) || !count_kept_twice(c)))
        return false;
    if (c->part)
        keep_part(c);
    return gather(c);
}

enum nd_status nd_scores_count(struct nd_scores *t, const struct nd_relation *truth,
                               const struct nd_relation *result, size_t n, bool all,
                               const struct nd_same_part *part, struct nd_error *err)
{
    struct counting c = {
        .t = t, .truth = truth, .result = result, .n = n, .all = all, .part = part};
    bool ok;

    t->has_sets = result->has_sets;
    t->has_true_sets = t->has_sets && truth->has_sets;
    t->has_negatives = all || truth->has_sets || truth->n_labelled[ND_LABEL_DIFFERENT] > 0;
    t->knows_removed = result->has_fates && (all || truth->has_sets);
    c.at = calloc(n + 1, sizeof *c.at);
    c.same = calloc(n + 1, sizeof *c.same);
    c.found = calloc(n + 1, sizeof *c.found);
    c.listed = calloc(n + 1, sizeof *c.listed);
    c.size = calloc((size_t)result->n_sets + 1, sizeof *c.size);
    c.true_size = calloc((size_t)truth->n_sets + 1, sizeof *c.true_size);
    ok = c.at && c.same && c.found && c.listed && c.size && c.true_size &&
         nd_sets_begin(&c.joined, n) && join_all(&c) && count(&c);
    nd_sets_release(&c.joined);
    free(c.at);
    free(c.same);
    free(c.found);
    free(c.listed);
    free(c.size);
    free(c.true_size);
    free(c.place);
    if (part)
        t->n_components = t->n_paired;
    return ok ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory for %zu documents", n);
}

void nd_scores_release(struct nd_scores *t)
{
    free(t->component);
    *t = (struct nd_scores){.n_sets = 0};
}

typedef __int128 wide;

double nd_scores_rand(const struct nd_scores *t)
{
    const struct nd_pair_counts *x = &t->sum.in_sets;
    const wide right = x->right, wrong = x->listed - x->right, missed = x->same - x->right,
               rest = (wide)pairs_of(t->n_documents) - right - wrong - missed;

    if (!wrong && !missed)
        return 1;
    return 2 * (double)(right * rest - missed * wrong) /
           (double)((right + missed) * (missed + rest) + (right + wrong) * (wrong + rest));
}
