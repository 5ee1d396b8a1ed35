/* test_store_model.c - a store against a model that keeps plain lists and decides by definition
 *
 * Random operations by several callers; every answer is compared with the model's.  The model has no
 * index, no database and no memory of leaders: it looks at all entries each time.
 */
#define _DEFAULT_SOURCE
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../unit/sized.h"
#include "index/live.h"
#include "match/measure.h"
#include "recipe/recipe_struct.h"
#include "store_fixture.h"
#include "store_texts.h"

enum { LABELS = 3, SETS = 1 << LABELS, IDS = 12, ENTRIES = 8192, TABLES = ND_MINHASH_COUNT };

static const char *const label_name[LABELS] = {"a", "b", "c"};

/* ---- The model ---- */

struct entry {
    bool is_there, is_listed;
    unsigned set, text; /* the set: its labels as bits */
    bool left_out[TABLES];
    bool has_led;
    unsigned gap[SETS]; /* by set: 1 more than the least entry whose pair was not stored; 0: none */
};
struct document {
    bool is_there;
    unsigned set, id, entry, text, version;
    uint64_t order, created, updated, visited, due;
    unsigned bound; /* the next new entry when it got its text */
    struct nd_visits visits;
    unsigned distance; /* of its present version */
};
struct pair {
    unsigned a, b;
    bool is_stored;
};

static struct {
    struct nd_dedup_params params;
    struct entry entry[ENTRIES];
    unsigned n_entries;
    struct document document[SETS][IDS];
    struct pair *pair;
    size_t n_pairs, capacity;
    bool has_set[SETS];
    unsigned set_in_order[SETS], n_sets; /* in which they first occurred */
    uint64_t order;
    unsigned pairs_stored;
    bool ignores_limit;      /* all pairs count, as if all were stored */
    bool was_cut;            /* a pair that is not stored may have mattered */
    unsigned n_cut, n_whole; /* neighbours and clusters that were compared */
} model;

/* A document as it was when it was told. */
struct told {
    unsigned set, id, text;
    uint64_t order, visited;
};

/* The verdict by the model. */
enum { NEAREST = 6 };
struct expected {
    struct told nearest[NEAREST];
    unsigned n_nearest;
    bool has_cluster;
    struct told cluster;
    uint64_t label_sets, candidates, comparisons;
    bool was_cut;
};

static bool by_distance(void)
{
    return model.params.candidates == ND_CANDIDATES_SIMHASH;
}

static bool is_short(unsigned t)
{
    return text[t].sketch.n_tokens < model.params.sketch.w;
}

/* By what a text equals others: 0: nothing, 1: bytes, 2: tokens. */
static int equal_by(unsigned t)
{
    if (!is_short(t))
        return 2;
    if (model.params.short_policy == ND_SHORT_KEEP)
        return 0;
    return model.params.short_policy == ND_SHORT_TOKENS && text[t].sketch.n_tokens ? 2 : 1;
}

/* Whether two texts are within the threshold. */
static bool is_near(unsigned x, unsigned y)
{
    struct nd_overlap overlap = {text[x].sketch.n_shingles, text[y].sketch.n_shingles,
                                 shared_shingles(x, y)};

    if (is_short(x) || is_short(y))
        return false;
    if (by_distance() && distance(x, y) > model.params.simhash_bits)
        return false;
    return model.params.verify == ND_VERIFY_NONE ||
           nd_overlap_reaches(&overlap, model.params.verify, model.params.threshold);
}

/* Whether a look-up of x may propose y at all. */
static bool is_candidate(unsigned x, unsigned y)
{
    uint32_t least = 0, most = UINT32_MAX;

    if (is_short(x) || is_short(y))
        return false;
    if (model.params.verify != ND_VERIFY_NONE)
        nd_measure_range(model.params.verify, text[x].sketch.n_shingles,
                         nd_measure_threshold(model.params.verify, model.params.threshold), &least,
                         &most);
    if (text[y].sketch.n_shingles < least || text[y].sketch.n_shingles > most)
        return false;
    return by_distance() ? distance(x, y) <= model.params.simhash_bits
                         : equal_minima(x, y) >= nd_low_bytes_agreeing(model.params.threshold.p,
                                                                       model.params.threshold.q);
}

static unsigned n_tables(void)
{
    return by_distance() ? model.params.simhash_bits + 1 : ND_MINHASH_COUNT;
}

/* Whether two texts stand under one key: bands of one row, or blocks of the simhash. */
static bool share_key(unsigned x, unsigned y, unsigned t)
{
    return by_distance() ? ((text[x].sketch.simhash ^ text[y].sketch.simhash) &
                            nd_block_mask(t, n_tables())) == 0
                         : text[x].low[t] == text[y].low[t];
}

static bool is_met(unsigned x, const struct entry *e)
{
    if (!is_candidate(x, e->text))
        return false;
    for (unsigned t = 0; t < n_tables(); t++)
        if (!e->left_out[t] && share_key(x, e->text, t))
            return true;
    return false;
}

static bool has_same_tokens(unsigned x, const struct entry *e)
{
    return equal_by(x) == 2 && equal_by(e->text) == 2 && same_tokens(x, e->text);
}

/* The candidates of a text in a set, in the order in which they are compared. */
static size_t candidates(unsigned x, unsigned set, unsigned *out)
{
    size_t n = 0;

    for (unsigned i = 0; i < model.n_entries; i++) {
        const struct entry *e = &model.entry[i];

        if (e->is_there && e->set == set && e->is_listed && (has_same_tokens(x, e) || is_met(x, e)))
            out[n++] = i;
    }
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0; k--) {
            unsigned a = out[k - 1], b = out[k];
            unsigned s = model.entry[a].text, t = model.entry[b].text;
            bool same_a = has_same_tokens(x, &model.entry[a]);
            bool same_b = has_same_tokens(x, &model.entry[b]);
            bool swap = same_a != same_b ? same_b
                        : same_a         ? false
                        : by_distance()  ? distance(x, t) < distance(x, s)
                                         : equal_minima(x, t) > equal_minima(x, s);

            if (!swap)
                break;
            out[k - 1] = b;
            out[k] = a;
        }
    return n;
}

/* Whether an entry equals a text or is near it. */
static bool is_hit(unsigned x, unsigned e)
{
    unsigned y = model.entry[e].text;

    return (equal_by(x) && same_bytes(x, y)) || has_same_tokens(x, &model.entry[e]) ||
           is_near(x, y);
}

static enum nd_identical identical(unsigned x, unsigned y)
{
    if (equal_by(x) && same_bytes(x, y))
        return ND_IDENTICAL_BYTES;
    return equal_by(x) == 2 && equal_by(y) == 2 && same_tokens(x, y) ? ND_IDENTICAL_TOKENS
                                                                     : ND_IDENTICAL_NO;
}

static const struct document *first_holder(unsigned e)
{
    const struct document *first = NULL;

    for (unsigned s = 0; s < SETS; s++)
        for (unsigned i = 0; i < IDS; i++) {
            const struct document *d = &model.document[s][i];

            if (d->is_there && d->entry == e && (!first || d->order < first->order))
                first = d;
        }
    return first;
}

static bool sees(unsigned caller, unsigned set)
{
    return (set & ~caller) == 0;
}

/* The other side of a pair that counts, if entry e has it, and it is there. */
static bool has_pair(unsigned e, const struct pair *pair, unsigned *other)
{
    *other = pair->a == e ? pair->b : pair->a;
    return (pair->a == e || pair->b == e) && (pair->is_stored || model.ignores_limit) &&
           model.entry[*other].is_there;
}

static unsigned place_of_set(unsigned set)
{
    unsigned place = 0;

    while (place < model.n_sets && model.set_in_order[place] != set)
        place++;
    return place;
}

static void note_set(unsigned set)
{
    if (!model.has_set[set])
        model.set_in_order[model.n_sets++] = set;
    model.has_set[set] = true;
}

/* The visible entries that have a pair with e and a number below a bound, in the order in which their
 * pairs stand. */
static unsigned partners(unsigned caller, unsigned e, unsigned bound, unsigned *out)
{
    unsigned n = 0, f;

    for (size_t i = 0; i < model.n_pairs; i++)
        if (has_pair(e, &model.pair[i], &f) && f < bound && sees(caller, model.entry[f].set))
            out[n++] = f;
    for (unsigned i = 1; i < n; i++)
        for (unsigned k = i; k > 0; k--) {
            unsigned x = out[k - 1], y = out[k];
            unsigned of_x = place_of_set(model.entry[x].set);
            unsigned of_y = place_of_set(model.entry[y].set);

            if (of_x < of_y || (of_x == of_y && x < y))
                break;
            out[k - 1] = y;
            out[k] = x;
        }
    return n;
}

/* Whether e lacks pairs with visible entries from a number below the bound on. */
static bool has_gap(unsigned caller, unsigned e, unsigned bound)
{
    for (unsigned set = 0; set < SETS; set++)
        if (sees(caller, set) && model.entry[e].gap[set] && model.entry[e].gap[set] - 1 < bound)
            return true;
    return false;
}

static bool leads(unsigned caller, unsigned e);

static bool find_whether_it_leads(unsigned caller, unsigned e)
{
    unsigned other[SETS * IDS], bound = first_holder(e)->bound;
    unsigned n = partners(caller, e, bound, other);

    for (unsigned i = 0; i < n; i++)
        if (first_holder(other[i])->order < first_holder(e)->order && leads(caller, other[i]))
            return false;
    model.was_cut |= has_gap(caller, e, bound);
    return true;
}

/* Answers since the last change, by caller and by whether the limit is ignored. */
static struct {
    bool is_known, leads, was_cut;
} memo[2][SETS][ENTRIES];

static void forget(void)
{
    memset(memo, 0, sizeof memo);
}

static bool leads(unsigned caller, unsigned e)
{
    bool was_cut = model.was_cut;

    if (!memo[model.ignores_limit][caller][e].is_known) {
        model.was_cut = false;
        memo[model.ignores_limit][caller][e].leads = find_whether_it_leads(caller, e);
        memo[model.ignores_limit][caller][e].was_cut = model.was_cut;
        memo[model.ignores_limit][caller][e].is_known = true;
    }
    model.was_cut = was_cut | memo[model.ignores_limit][caller][e].was_cut;
    return memo[model.ignores_limit][caller][e].leads;
}

/* Whether text s resembles x more than t does, or is at a smaller distance. */
static bool has_greater_likeness(unsigned x, unsigned s, unsigned t)
{
    uint64_t with_s = shared_shingles(x, s), with_t = shared_shingles(x, t);

    if (model.params.verify == ND_VERIFY_NONE)
        return distance(x, s) < distance(x, t);
    return with_s * (text[x].sketch.n_shingles + text[t].sketch.n_shingles - with_t) >
           with_t * (text[x].sketch.n_shingles + text[s].sketch.n_shingles - with_s);
}

/* Whether a document with text s comes before one with text t: the nearer to x, then the earlier. */
static bool comes_first(unsigned x, unsigned s, uint64_t order_of_s, unsigned t,
                        uint64_t order_of_t)
{
    static const int class[] = {
        [ND_IDENTICAL_BYTES] = 0, [ND_IDENTICAL_TOKENS] = 1, [ND_IDENTICAL_NO] = 2};
    int class_s = class[identical(x, s)], class_t = class[identical(x, t)];
    bool is_earlier = order_of_s < order_of_t;

    if (class_s != class_t)
        return class_s < class_t;
    if (class_s < 2)
        return is_earlier;
    return has_greater_likeness(x, s, t) || (!has_greater_likeness(x, t, s) && is_earlier);
}

/* Whether entry e is nearer to a text than entry f. */
static bool is_nearer(unsigned x, unsigned e, unsigned f)
{
    return comes_first(x, model.entry[e].text, first_holder(e)->order, model.entry[f].text,
                       first_holder(f)->order);
}

static struct told tell(const struct document *d)
{
    return (struct told){d->set, d->id, d->text, d->order, d->visited};
}

/* A question: a text that a caller may store in place of a document (NULL: of none). */
struct question {
    unsigned caller, text;
    struct nd_asked asked;
    uint64_t since;
    const struct document *own;
    bool is_unchanged;
};

static struct question ask(const struct fixture *f, unsigned caller, unsigned x)
{
    struct question q = {.caller = caller, .text = x};

    q.asked.limit = 1 + (size_t)below(NEAREST);
    q.asked.max_age_s = below(2) ? 0 : 1 + below(60000);
    q.since = q.asked.max_age_s ? f->now - q.asked.max_age_s : 0;
    return q;
}

static bool has_place(const struct expected *v, const struct question *q, unsigned t,
                      uint64_t order)
{
    const struct told *last = v->n_nearest ? &v->nearest[v->n_nearest - 1] : NULL;

    return v->n_nearest < q->asked.limit || comes_first(q->text, t, order, last->text, last->order);
}

/* The next document with the text of an entry, from an order on. */
static const struct document *next_holder(unsigned e, uint64_t from)
{
    const struct document *next = NULL;

    for (unsigned s = 0; s < SETS; s++)
        for (unsigned i = 0; i < IDS; i++) {
            const struct document *d = &model.document[s][i];

            if (d->is_there && d->entry == e && d->order >= from &&
                (!next || d->order < next->order))
                next = d;
        }
    return next;
}

/* Tell the documents of a hit; *dated: how many were looked at in its set. */
static void tell_holders(struct expected *v, const struct question *q, unsigned e, unsigned *dated)
{
    const struct document *d = next_holder(e, 0);

    for (; d && has_place(v, q, d->text, d->order); d = next_holder(e, d->order + 1)) {
        unsigned at;

        if (d == q->own)
            continue;
        if (q->since && *dated == model.params.max_checks) {
            v->was_cut = true;
            return;
        }
        *dated += q->since != 0;
        if (d->visited < q->since)
            continue;
        at = v->n_nearest < q->asked.limit ? v->n_nearest++ : v->n_nearest - 1;
        for (; at > 0 && comes_first(q->text, d->text, d->order, v->nearest[at - 1].text,
                                     v->nearest[at - 1].order);
             at--)
            v->nearest[at] = v->nearest[at - 1];
        v->nearest[at] = tell(d);
    }
}

/* Take the own document out of a set's entries, where no other one has its text. */
static bool is_answer(const struct question *q, unsigned e)
{
    return model.entry[e].is_there && !(q->own && q->own->entry == e && first_holder(e) == q->own &&
                                        !next_holder(e, q->own->order + 1));
}

/* The entries of a set that equal the text or are near it, as far as they are compared: *n of them,
 * and what is told of the work. */
static size_t hits_in(const struct question *q, unsigned set, unsigned *hit, struct expected *v)
{
    static unsigned found[ENTRIES];
    unsigned x = q->text;
    size_t n = equal_by(x) == 1 ? 0 : candidates(x, set, found), n_hits = 0, n_met = 0, checked = 0;

    for (unsigned e = 0; e < model.n_entries && equal_by(x); e++)
        if (model.entry[e].set == set && same_bytes(x, model.entry[e].text) && is_answer(q, e))
            hit[n_hits++] = e;
    v->candidates += n_hits;
    v->comparisons += n_hits;
    for (size_t i = 0; i < n; i++) {
        if ((n_hits && found[i] == hit[0]) || !is_answer(q, found[i]))
            continue;
        if (n_met++ >= model.params.max_checks)
            continue;
        checked++;
        if (is_hit(x, found[i]))
            hit[n_hits++] = found[i];
    }
    v->label_sets++;
    v->candidates += n_met;
    v->comparisons += checked;
    v->was_cut |= checked < n_met;
    return n_hits;
}

/* Store some pairs of entry `own` with its hits in a set: with the first ones, those that led before
 * the others, and with the nearest of the rest. */
static void add_pairs(unsigned x, unsigned own, unsigned set, const unsigned *hit, size_t n)
{
    static bool is_kept[ENTRIES];
    struct entry *e = &model.entry[own];

    model.pair = realloc(model.pair, (model.n_pairs + n + 1) * sizeof *model.pair);
    for (size_t i = 0; i < n; i++) {
        e->has_led &= set != e->set || !model.entry[hit[i]].has_led;
        is_kept[hit[i]] = n <= 2 * model.pairs_stored;
    }
    for (unsigned k = 0; k < 2 * model.pairs_stored && n > 2 * model.pairs_stored; k++) {
        int best = -1;

        for (size_t i = 0; i < n; i++) {
            unsigned h = hit[i];
            bool led = model.entry[h].has_led;

            if (is_kept[h])
                continue;
            if (best < 0)
                best = (int)h;
            else if (k >= model.pairs_stored) /* their numbers in place of orders */
                best =
                    comes_first(x, model.entry[h].text, h, model.entry[best].text, (uint64_t)best)
                        ? (int)h
                        : best;
            else if (led != model.entry[best].has_led ? led : h < (unsigned)best)
                best = (int)h;
        }
        is_kept[best] = true;
    }
    for (size_t i = 0; i < n; i++) {
        struct entry *other = &model.entry[hit[i]];

        model.pair[model.n_pairs++] = (struct pair){own, hit[i], is_kept[hit[i]]};
        if (is_kept[hit[i]])
            continue;
        if (!e->gap[set] || hit[i] < e->gap[set] - 1)
            e->gap[set] = hit[i] + 1;
        if (!other->gap[e->set])
            other->gap[e->set] = own + 1;
    }
}

/* Choose the nearest hit that leads, of those that are visible; -1: none. */
static int choose(const struct question *q, const unsigned *hit, size_t n)
{
    uint64_t before = q->is_unchanged ? q->own->order : UINT64_MAX;
    int best = -1;

    for (size_t i = 0; i < n; i++)
        if (first_holder(hit[i])->order < before &&
            (best < 0 || is_nearer(q->text, hit[i], (unsigned)best)) && leads(q->caller, hit[i]))
            best = (int)hit[i];
    return best;
}

/* Look a text up in every set; the hits in all sets become pairs of entry `own`, unless it is
 * negative. */
static struct expected look_up(const struct question *q, int own)
{
    static unsigned hit[ENTRIES], visible[ENTRIES];
    struct expected v = {0}, unseen = {0};
    size_t n_visible = 0, n_of[SETS], n_all = 0;
    int best;

    forget();
    for (unsigned k = 0; k < model.n_sets; k++) {
        unsigned set = model.set_in_order[k], dated = 0;
        bool is_visible = sees(q->caller, set);

        n_of[k] = hits_in(q, set, hit + n_all, is_visible ? &v : &unseen);
        for (size_t i = n_all; i < n_all + n_of[k] && is_visible; i++) {
            tell_holders(&v, q, hit[i], &dated);
            visible[n_visible++] = hit[i];
        }
        n_all += n_of[k];
    }
    model.was_cut = false;
    best = choose(q, visible, n_visible);
    v.was_cut |= model.was_cut;
    if (!model.was_cut) { /* then no pair is missed */
        model.ignores_limit = true;
        assert_int_equal(choose(q, visible, n_visible), best);
        model.ignores_limit = false;
    }
    v.has_cluster = best >= 0;
    if (best >= 0)
        v.cluster = tell(first_holder((unsigned)best));
    n_all = 0;
    for (unsigned k = 0; k < model.n_sets && own >= 0; n_all += n_of[k++])
        add_pairs(q->text, (unsigned)own, model.set_in_order[k], hit + n_all, n_of[k]);
    return v;
}

/* From which tables a new entry is left out. */
static void note_crowded(struct entry *new)
{
    static unsigned found[ENTRIES];
    unsigned x = new->text, n_same = 0;
    size_t n = candidates(x, new->set, found);

    for (size_t i = 0; i < n; i++)
        n_same += equal_by(x) == 2 && has_same_tokens(x, &model.entry[found[i]]);
    new->is_listed = equal_by(x) == 2 && n_same < model.params.max_checks;
    if (!new->is_listed || n < model.params.max_checks || is_short(x))
        return;
    for (unsigned t = 0; t < n_tables(); t++) {
        unsigned standing = 0;

        for (unsigned i = 0; i < model.n_entries; i++) {
            const struct entry *e = &model.entry[i];

            standing += e->is_there && e->is_listed && e->set == new->set && !e->left_out[t] &&
                        is_candidate(x, e->text) && share_key(x, e->text, t);
        }
        new->left_out[t] = standing >= model.params.max_checks;
    }
}

static void release(struct document *d)
{
    unsigned e = d->entry;

    d->is_there = false;
    if (!first_holder(e))
        model.entry[e].is_there = false;
}

static void visit(struct document *d, const struct nd_visit_params *params, unsigned far,
                  uint64_t now)
{
    nd_visits_add_after(params, &d->visits, far, now - d->visited);
    d->visits.simhash = text[d->text].sketch.simhash;
    d->visited = now;
    d->due = now + d->visits.interval;
}

/* Forget the pairs of entries that are gone. */
static void drop_pairs(void)
{
    size_t n = 0;

    for (size_t i = 0; i < model.n_pairs; i++)
        if (model.entry[model.pair[i].a].is_there && model.entry[model.pair[i].b].is_there)
            model.pair[n++] = model.pair[i];
    model.n_pairs = n;
}

static struct expected model_post(const struct fixture *f, struct question q, unsigned set,
                                  unsigned id)
{
    struct document *d = &model.document[set][id];
    struct expected v;
    unsigned own = model.n_entries, x = q.text;

    note_set(set);
    drop_pairs();
    if (d->is_there && same_bytes(d->text, x)) {
        q.own = d;
        q.is_unchanged = true;
        v = look_up(&q, -1);
        visit(d, &f->options.visits, 0, f->now);
        return v;
    }
    if (d->is_there) {
        d->distance = distance(d->text, x);
        release(d);
    } else {
        *d = (struct document){
            .set = set, .id = id, .created = f->now, .visited = f->now, .distance = 64};
    }
    for (unsigned e = 0; e < model.n_entries; e++)
        if (model.entry[e].is_there && model.entry[e].set == set &&
            same_bytes(model.entry[e].text, x))
            own = e;
    d->bound = model.n_entries;
    if (own == model.n_entries) {
        struct entry *new = &model.entry[own];

        assert_true(own < ENTRIES);
        *new = (struct entry){.set = set, .text = x, .has_led = true};
        v = look_up(&q, (int)own);
        note_crowded(new);
        new->is_there = true;
        model.n_entries++;
    } else {
        v = look_up(&q, -1);
    }
    d->is_there = true;
    d->entry = own;
    d->text = x;
    d->order = model.order++;
    d->version++;
    d->updated = f->now;
    visit(d, &f->options.visits, d->distance, f->now);
    return v;
}

/* ---- The store ---- */

static unsigned labels_of(unsigned set, struct nd_view *labels)
{
    unsigned n = 0;

    for (unsigned l = 0; l < LABELS; l++)
        if (set >> l & 1)
            labels[n++] = view(label_name[l]);
    return n;
}

static void id_of(unsigned id, char name[8])
{
    snprintf(name, 8, "id%u", id);
}

static void check_key(const struct nd_document_key *key, unsigned set, unsigned id)
{
    struct nd_view labels[LABELS];
    char name[8];

    id_of(id, name);
    assert_int_equal(key->id.len, strlen(name));
    assert_memory_equal(key->id.data, name, key->id.len);
    assert_int_equal(key->n_labels, labels_of(set, labels));
    for (size_t i = 0; i < key->n_labels; i++) {
        assert_int_equal(key->labels[i].len, labels[i].len);
        assert_memory_equal(key->labels[i].data, labels[i].data, labels[i].len);
    }
}

static void check_likeness(const struct nd_likeness *x, unsigned a, unsigned b, bool is_equal)
{
    if (is_equal)
        assert_int_not_equal(x->identical, ND_IDENTICAL_NO);
    assert_int_equal(x->distance, distance(a, b));
    if (model.params.verify == ND_VERIFY_NONE) {
        assert_int_equal(x->overlap.shared, 0);
        return;
    }
    assert_int_equal(x->overlap.a, text[a].sketch.n_shingles);
    assert_int_equal(x->overlap.b, text[b].sketch.n_shingles);
    assert_int_equal(x->overlap.shared, shared_shingles(a, b));
}

static void check_nearest(const struct nd_nearest *got, const struct told *wanted, unsigned x)
{
    check_key(&got->key, wanted->set, wanted->id);
    assert_int_equal(got->visited, wanted->visited);
    assert_int_equal(got->likeness.identical, identical(x, wanted->text));
    check_likeness(&got->likeness, x, wanted->text, false);
}

static void check_verdict(const struct nd_verdict *v, const struct expected *e, unsigned x)
{
    enum nd_verdict_kind kind = e->n_nearest == 0                       ? ND_VERDICT_NEW
                                : identical(x, e->nearest[0].text) != 0 ? ND_VERDICT_DUPLICATE
                                                                        : ND_VERDICT_NEAR_DUPLICATE;

    assert_int_equal(v->kind, kind);
    assert_int_equal(v->tokens, text[x].sketch.n_tokens);
    assert_int_equal(v->shingles, text[x].sketch.n_shingles);
    assert_int_equal(v->is_short, is_short(x));
    assert_int_equal(v->work.label_sets, e->label_sets);
    assert_int_equal(v->work.candidates, e->candidates);
    assert_int_equal(v->work.comparisons, e->comparisons);
    assert_int_equal(v->was_cut, e->was_cut);
    assert_int_equal(v->n_nearest, e->n_nearest);
    for (unsigned i = 0; i < e->n_nearest; i++)
        check_nearest(&v->nearest[i], &e->nearest[i], x);
    assert_int_equal(v->has_cluster, e->has_cluster);
    if (e->has_cluster)
        check_nearest(&v->cluster, &e->cluster, x);
}

static struct nd_caller *caller_of[SETS];

static void open_all(struct fixture *f)
{
    fixture_open(f);
    for (unsigned c = 0; c < SETS; c++) {
        struct nd_view labels[LABELS];
        unsigned n = labels_of(c, labels);

        caller_of[c] = nd_caller_new(f->store, labels, n, false, NULL);
        assert_non_null(caller_of[c]);
    }
}

static void close_all(struct fixture *f)
{
    for (unsigned c = 0; c < SETS; c++)
        nd_caller_free(caller_of[c]);
    fixture_close(f);
}

static void fail_finding(void *context, const char *finding)
{
    (void)context;
    fail_msg("%s", finding);
}

/*
 * Close the store and open it: from the snapshot that is written then, from the one before, as after
 * a crash, or without one.
 */
static void open_again(struct fixture *f)
{
    char snapshot[512], before[512];
    struct nd_store_stats stats;
    struct nd_error err = {0};
    bool has_before;
    unsigned how = (unsigned)below(3);

    fixture_path(f, "index.snapshot", snapshot, sizeof snapshot);
    fixture_path(f, "before.snapshot", before, sizeof before);
    has_before = link(snapshot, before) == 0;
    close_all(f);
    if (how == 0)
        assert_int_equal(unlink(snapshot), 0);
    if (how == 1 && has_before)
        assert_int_equal(rename(before, snapshot), 0);
    (void)unlink(before);
    open_all(f);
    nd_store_stats(f->store, &stats);
    assert_int_equal(stats.opened_from_snapshot, how != 0);
    if (nd_store_check(f->store, fail_finding, NULL, &err) != ND_OK)
        fail_msg("%s", err.message);
}

/* ---- Operations ---- */

static unsigned any_subset(unsigned caller)
{
    return (unsigned)below(SETS) & caller;
}

/* Some documents at once. */
static void do_post(struct fixture *f)
{
    enum { MOST = 5 };
    struct expected expected[MOST];
    struct nd_write *write[MOST];
    unsigned caller = (unsigned)below(SETS), n = 1 + (unsigned)(below(3) ? 0 : below(MOST));
    unsigned of[MOST];
    struct nd_error err = {0};

    for (unsigned i = 0; i < n; i++) {
        unsigned set = any_subset(caller), id = (unsigned)below(IDS);
        struct nd_view labels[LABELS];
        char name[8];
        struct nd_write_request request = {.labels = labels};
        struct question q;

        of[i] = (unsigned)below(TEXTS);
        q = ask(f, caller, of[i]);
        request.asked = q.asked;
        id_of(id, name);
        request.id = view(name);
        request.n_labels = labels_of(set, labels);
        request.text = (struct nd_view){text[of[i]].bytes, text[of[i]].len};
        if (nd_write_new(f->session, caller_of[caller], &request, &write[i], &err))
            fail_msg("%s", err.message);
        note_set(set);
        expected[i] = model_post(f, q, set, id);
    }
    assert_int_equal(submit_and_wait(f->store, write, n, &err), ND_STORE_OK);
    for (unsigned i = 0; i < n; i++) {
        const struct nd_written *done = nd_write_result(write[i]);

        if (done->result != ND_STORE_OK)
            fail_msg("%s", done->message);
        check_verdict(&done->verdict, &expected[i], of[i]);
        nd_write_free(write[i]);
    }
}

static void do_delete(struct fixture *f)
{
    unsigned caller = (unsigned)below(SETS), set = any_subset(caller), id = (unsigned)below(IDS);
    struct document *d = &model.document[set][id];
    struct nd_view labels[LABELS];
    char name[8];
    struct nd_write_request request = {.labels = labels, .is_deletion = true};
    struct nd_write *write;

    id_of(id, name);
    request.id = view(name);
    request.n_labels = labels_of(set, labels);
    write = write_one(f, caller_of[caller], &request);
    assert_int_equal(nd_write_result(write)->result,
                     d->is_there ? ND_STORE_OK : ND_STORE_NOT_FOUND);
    if (d->is_there)
        release(d);
    nd_write_free(write);
}

static void do_query(struct fixture *f)
{
    unsigned caller = (unsigned)below(SETS), x = (unsigned)below(TEXTS);
    struct question q = ask(f, caller, x);
    struct expected expected = look_up(&q, -1);
    struct nd_verdict verdict;
    struct nd_error err;

    if (nd_session_query(f->session, caller_of[caller],
                         (struct nd_view){text[x].bytes, text[x].len}, NULL, &q.asked, &verdict,
                         &err))
        fail_msg("%s", err.message);
    check_verdict(&verdict, &expected, x);
}

/* Ask for what storing the text would be answered: an unchanged document stays, and any other one
 * is as if it were not there. */
static void do_query_own(struct fixture *f)
{
    unsigned caller = (unsigned)below(SETS), x = (unsigned)below(TEXTS);
    unsigned set = any_subset(caller), id = (unsigned)below(IDS);
    struct question q = ask(f, caller, x);
    struct document *d = &model.document[set][id], before = *d;
    struct nd_document_key key;
    struct nd_view labels[LABELS];
    struct expected expected;
    struct nd_verdict verdict;
    char name[8];

    id_of(id, name);
    key = (struct nd_document_key){view(name), labels, labels_of(set, labels)};
    q.own = before.is_there ? d : NULL;
    q.is_unchanged = before.is_there && same_bytes(d->text, x);
    if (before.is_there && !q.is_unchanged)
        release(d);
    expected = look_up(&q, -1);
    *d = before;
    if (before.is_there)
        model.entry[d->entry].is_there = true;
    assert_int_equal(nd_session_query(f->session, caller_of[caller],
                                      (struct nd_view){text[x].bytes, text[x].len}, &key, &q.asked,
                                      &verdict, NULL),
                     ND_STORE_OK);
    check_verdict(&verdict, &expected, x);
}

/* A document that a caller sees; NULL: there is none. */
static struct document *any_document(unsigned caller, struct nd_document_query *query, char name[8],
                                     struct nd_view *labels)
{
    unsigned set = any_subset(caller), id = (unsigned)below(IDS);

    id_of(id, name);
    *query = (struct nd_document_query){
        .id = view(name), .labels = labels, .n_labels = labels_of(set, labels)};
    return model.document[set][id].is_there ? &model.document[set][id] : NULL;
}

static void check_stored(const struct nd_stored *stored, const struct document *d)
{
    check_key(&stored->key, d->set, d->id);
    assert_int_equal(stored->created, d->created);
    assert_int_equal(stored->updated, d->updated);
    assert_int_equal(stored->visited, d->visited);
    assert_int_equal(stored->version, d->version);
    assert_int_equal(stored->due, d->due);
    assert_int_equal(stored->text_bytes, text[d->text].len);
    assert_int_equal(stored->tokens, text[d->text].sketch.n_tokens);
    assert_memory_equal(&stored->visits, &d->visits, sizeof d->visits);
}

static void do_get(struct fixture *f)
{
    unsigned caller = (unsigned)below(SETS);
    struct nd_document_query query;
    struct nd_view labels[LABELS];
    const struct nd_version *versions;
    struct nd_stored stored;
    char name[8];
    const struct document *d = any_document(caller, &query, name, labels);
    size_t n;
    enum nd_store_result result =
        nd_session_get(f->session, caller_of[caller], &query, &stored, NULL);

    assert_int_equal(result, d ? ND_STORE_OK : ND_STORE_NOT_FOUND);
    if (!d)
        return;
    check_stored(&stored, d);
    assert_int_equal(stored.text.len, text[d->text].len);
    assert_memory_equal(stored.text.data, text[d->text].bytes, stored.text.len);
    assert_int_equal(nd_session_versions(f->session, caller_of[caller], &query, 100, &stored,
                                         &versions, &n, NULL),
                     ND_STORE_OK);
    assert_int_equal(n, d->version < 100 ? d->version : 100);
    assert_int_equal(versions[n - 1].number, d->version);
    assert_int_equal(versions[n - 1].distance, d->distance);
    assert_int_equal(versions[n - 1].visited, d->visited);
}

/* Whether a document is near another one, or has its text. */
static bool are_neighbours(unsigned e, unsigned f)
{
    if (e == f)
        return equal_by(model.entry[e].text) != 0;
    for (size_t i = 0; i < model.n_pairs; i++) {
        unsigned other;

        if (has_pair(e, &model.pair[i], &other) && other == f)
            return true;
    }
    return false;
}

static const struct document *document_of(const struct nd_document_key *key)
{
    unsigned set = 0, id = 0;

    for (size_t i = 0; i < key->n_labels; i++)
        set |= 1u << (key->labels[i].data[0] - 'a');
    id = (unsigned)atoi(key->id.data + 2);
    assert_true(model.document[set][id].is_there);
    return &model.document[set][id];
}

static bool document_leads(unsigned caller, const struct document *d)
{
    return leads(caller, d->entry) && (first_holder(d->entry) == d || !equal_by(d->text));
}

/* Whether a document is listed before another one: the nearer, then the earlier. */
static bool is_listed_before(unsigned x, const struct document *a, const struct document *b)
{
    return comes_first(x, a->text, a->order, b->text, b->order);
}

static unsigned count_near(unsigned caller, const struct document *d)
{
    unsigned n = 0;

    for (unsigned s = 0; s < SETS; s++)
        for (unsigned i = 0; i < IDS; i++) {
            const struct document *o = &model.document[s][i];

            n += o->is_there && o != d && sees(caller, s) && are_neighbours(d->entry, o->entry);
        }
    return n;
}

static void do_near(struct fixture *f)
{
    unsigned caller = (unsigned)below(SETS);
    struct nd_document_query query;
    struct nd_view labels[LABELS];
    struct nd_neighbours near;
    char name[8];
    const struct document *d = any_document(caller, &query, name, labels), *before = NULL;
    enum nd_store_result result =
        nd_session_near(f->session, caller_of[caller], &query, 100, &near, NULL);

    assert_int_equal(result, d ? ND_STORE_OK : ND_STORE_NOT_FOUND);
    if (!d)
        return;
    assert_int_equal(near.total, count_near(caller, d));
    assert_int_equal(near.n, near.total < 100 ? near.total : 100);
    model.was_cut = has_gap(caller, d->entry, UINT_MAX);
    for (size_t i = 0; i < near.n; i++) {
        const struct document *o = document_of(&near.document[i].document.key);

        check_stored(&near.document[i].document, o);
        assert_true(o != d && sees(caller, o->set) && are_neighbours(d->entry, o->entry));
        check_likeness(&near.document[i].likeness, d->text, o->text, false);
        assert_int_equal(near.document[i].leads, document_leads(caller, o));
        if (before)
            assert_true(is_listed_before(d->text, before, o));
        before = o;
    }
    assert_int_equal(near.was_cut, model.was_cut);
    if (near.was_cut)
        return;
    model.ignores_limit = true; /* then no pair is missed */
    assert_int_equal(near.total, count_near(caller, d));
    model.ignores_limit = false;
}

/* The leader of the cluster of a document: of all that leads and is earlier, the nearest. */
static const struct document *leader_of(unsigned caller, const struct document *d)
{
    unsigned e = d->entry;
    int best = -1;

    if (!equal_by(d->text))
        return d;
    if (leads(caller, e) && first_holder(e) != d)
        return first_holder(e);
    for (size_t i = 0; i < model.n_pairs; i++) {
        unsigned f;

        if (has_pair(e, &model.pair[i], &f) && sees(caller, model.entry[f].set) &&
            first_holder(f)->order < d->order && leads(caller, f) &&
            (best < 0 || is_nearer(d->text, f, (unsigned)best)))
            best = (int)f;
    }
    return best < 0 ? d : first_holder((unsigned)best);
}

static unsigned count_cluster(unsigned caller, const struct document *leader)
{
    unsigned n = 0;

    for (unsigned s = 0; s < SETS; s++)
        for (unsigned i = 0; i < IDS; i++) {
            const struct document *o = &model.document[s][i];

            n += o->is_there && sees(caller, s) && leader_of(caller, o) == leader;
        }
    return n;
}

/* If an answer is not said to be cut, it is as if all pairs were stored. */
static void check_whole(unsigned caller, const struct document *d, const struct document *leader,
                        const struct nd_neighbours *cluster)
{
    *(cluster->was_cut ? &model.n_cut : &model.n_whole) += 1;
    if (cluster->was_cut) {
        for (unsigned s = 0; s < SETS; s++)
            for (unsigned e = 0; e < model.n_entries; e++)
                if (sees(caller, s) && model.entry[e].is_there && model.entry[e].gap[s])
                    return;
        fail_msg("no pair is missing");
    }
    model.ignores_limit = true;
    assert_ptr_equal(leader_of(caller, d), leader);
    assert_int_equal(count_cluster(caller, leader), cluster->total);
    model.ignores_limit = false;
}

static void do_cluster(struct fixture *f)
{
    unsigned caller = (unsigned)below(SETS);
    struct nd_document_query query;
    struct nd_view labels[LABELS];
    struct nd_neighbours cluster;
    char name[8];
    const struct document *d = any_document(caller, &query, name, labels), *leader;
    enum nd_store_result result =
        nd_session_cluster(f->session, caller_of[caller], &query, 100, &cluster, NULL);

    assert_int_equal(result, d ? ND_STORE_OK : ND_STORE_NOT_FOUND);
    if (!d)
        return;
    leader = leader_of(caller, d);
    assert_int_equal(cluster.total, count_cluster(caller, leader));
    assert_int_equal(cluster.n, cluster.total < 100 ? cluster.total : 100);
    assert_ptr_equal(document_of(&cluster.document[0].document.key), leader);
    for (size_t i = 0; i < cluster.n; i++) {
        const struct nd_neighbour *member = &cluster.document[i];
        const struct document *o = document_of(&member->document.key);

        assert_ptr_equal(leader_of(caller, o), leader);
        assert_int_equal(member->leads, i == 0);
        check_likeness(&member->likeness, leader->text, o->text, false);
        if (i)
            assert_true(document_of(&member[-1].document.key)->order < o->order);
    }
    check_whole(caller, d, leader, &cluster);
}

static bool comes_before(const struct document *x, const struct document *y)
{
    char name_x[8], name_y[8];
    struct nd_view of_x[LABELS], of_y[LABELS];
    unsigned n_x = labels_of(x->set, of_x), n_y = labels_of(y->set, of_y);
    int order;

    if (x->due != y->due)
        return x->due < y->due;
    if (x->visits.priority != y->visits.priority)
        return x->visits.priority > y->visits.priority;
    id_of(x->id, name_x);
    id_of(y->id, name_y);
    order = strcmp(name_x, name_y);
    for (unsigned i = 0; order == 0 && i < n_x && i < n_y; i++)
        order = strcmp(of_x[i].data, of_y[i].data);
    return order ? order < 0 : n_x < n_y;
}

static void do_crawl(struct fixture *f)
{
    unsigned caller = (unsigned)below(SETS), limit = 1 + (unsigned)below(40), expected = 0;
    const uint32_t change = (uint32_t)below(20); /* 0: that of the store, which has none */
    const struct nd_crawl_row *row;
    struct nd_visible_stats stats;
    uint64_t n_due = 0;
    size_t n;

    assert_int_equal(nd_session_crawl(f->session, caller_of[caller], change, limit, &row, &n, NULL),
                     ND_STORE_OK);
    for (unsigned s = 0; s < SETS; s++)
        for (unsigned i = 0; i < IDS; i++) {
            const struct document *o = &model.document[s][i];

            if (!o->is_there || !sees(caller, s))
                continue;
            expected++;
            n_due += o->due <= f->now;
            /* A document that is not given comes after the last one. */
            if (n && comes_before(o, document_of(&row[n - 1].document.key))) {
                bool is_given = false;

                for (size_t k = 0; k < n; k++)
                    is_given |= document_of(&row[k].document.key) == o;
                assert_true(is_given);
            }
        }
    assert_int_equal(n, expected < limit ? expected : limit);
    for (size_t i = 0; i < n; i++) {
        const struct document *o = document_of(&row[i].document.key);

        check_stored(&row[i].document, o);
        assert_int_equal(row[i].is_due, o->due <= f->now);
        assert_int_equal(row[i].gap, nd_visits_gap(&o->visits, change));
        if (i)
            assert_true(comes_before(document_of(&row[i - 1].document.key), o));
    }
    assert_int_equal(nd_session_visible_stats(f->session, caller_of[caller], &stats, NULL),
                     ND_STORE_OK);
    assert_int_equal(stats.documents, expected);
    assert_int_equal(stats.due, n_due);
}

/* ---- Runs ---- */

static void run(const char *const *keys, unsigned pairs_stored, uint64_t seed)
{
    struct nd_recipe *recipe = nd_recipe_new(NULL);
    struct fixture f;
    unsigned n = (unsigned)sized(10000, 1000);

    random_state = seed;
    for (; *keys; keys++)
        assert_int_equal(nd_recipe_set(recipe, *keys, NULL), ND_OK);
    memset(&model, 0, sizeof model);
    model.params = nd_recipe_dedup_params(recipe);
    model.pairs_stored = pairs_stored;
    make_texts();
    sketch_texts(recipe);
    fixture_begin(&f);
    f.options.recipe = recipe;
    f.options.pairs_stored = pairs_stored;
    open_all(&f);
    for (unsigned i = 0; i < n; i++) {
        f.now += below(4000);
        forget();
        switch (below(12)) {
        case 0: do_delete(&f); break;
        case 1: do_query(&f); break;
        case 2: do_query_own(&f); break;
        case 3: do_get(&f); break;
        case 4: do_near(&f); break;
        case 5: do_cluster(&f); break;
        case 6: do_crawl(&f); break;
        default: do_post(&f);
        }
        if (i % 75 == 74)
            open_again(&f);
    }
    close_all(&f);
    fixture_end(&f);
    nd_recipe_free(recipe);
    free(model.pair);
    model.pair = NULL;
}

static void recipes_that_decide_by_resemblance(void **state)
{
    (void)state;
    run((const char *const[]){"bands=128", "rows=1", NULL}, 8, 1);
    run((const char *const[]){"bands=128", "rows=1", "short=tokens", NULL}, 8, 2);
    run((const char *const[]){"bands=128", "rows=1", "short=keep", NULL}, 8, 3);
}

static void crowded_keys_and_few_comparisons(void **state)
{
    (void)state;
    run((const char *const[]){"bands=128", "rows=1", "max_checks=3", NULL}, 8, 4);
    run((const char *const[]){"bands=128", "rows=1", "max_checks=1", NULL}, 8, 5);
}

static void recipes_that_decide_by_distance(void **state)
{
    (void)state;
    run((const char *const[]){"candidates=simhash", "verify=none", "simhash_bits=7", NULL}, 8, 6);
    run((const char *const[]){"candidates=simhash", "verify=jaccard", "simhash_bits=9",
                              "max_checks=3", NULL},
        8, 7);
}

/* A crowd: most texts of a family are near each other, and few of their pairs are stored. */
static void few_stored_pairs(void **state)
{
    (void)state;
    text_families = 1;
    for (unsigned pairs_stored = 1; pairs_stored <= 2; pairs_stored++) {
        run((const char *const[]){"bands=128", "rows=1", "threshold=0.4", NULL}, pairs_stored,
            7 + pairs_stored);
        assert_true(model.n_cut > 10 && model.n_whole > 10);
    }
    run((const char *const[]){"candidates=simhash", "verify=none", "simhash_bits=9", "max_checks=3",
                              NULL},
        1, 10);
    text_families = 8;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recipes_that_decide_by_resemblance),
        cmocka_unit_test(crowded_keys_and_few_comparisons),
        cmocka_unit_test(recipes_that_decide_by_distance),
        cmocka_unit_test(few_stored_pairs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
