/* verdict.c - what a caller is told about a text: the nearest documents, and whose cluster it joins */
#include "store/search/verdict.h"

#include <neardup/evidence.h>

#include <stdlib.h>
#include <string.h>

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory for a verdict");
}

struct nd_verdict nd_verdict_of_text(const struct nd_sketched *text)
{
    return (struct nd_verdict){.kind = ND_VERDICT_NEW,
                               .tokens = text->n_tokens,
                               .shingles = text->n_shingles,
                               .simhash = text->row.simhash,
                               .is_short = text->is_short,
                               .is_empty = text->is_empty};
}

struct nd_likeness nd_likeness_of(const struct nd_sketching *sketching, uint64_t n_shingles,
                                  const struct nd_near_entry *hit)
{
    struct nd_likeness likeness = {.identical = hit->identical, .distance = hit->distance};

    if (nd_sketching_signs(sketching) && hit->distance == UINT16_MAX)
        likeness.distance = UINT32_MAX;
    if (nd_sketching_reads_shingles(sketching))
        likeness.overlap = (struct nd_overlap){n_shingles, hit->n_shingles, hit->shared};
    return likeness;
}

void nd_judge_ask(struct nd_judge *judge, const struct nd_asked *asked, uint64_t now)
{
    judge->asked.limit = asked && asked->limit ? asked->limit : ND_STORE_NEAREST;
    judge->asked.max_age_s = asked ? asked->max_age_s : 0;
    judge->asked.differs = asked && asked->differs;
    judge->asked.at = asked ? asked->at : (struct nd_ratio){0, 0};
    if (judge->asked.max_age_s && judge->asked.max_age_s < now)
        judge->visited_since = now - judge->asked.max_age_s;
}

/* ---- What the caller sees ---- */

/* Count the work in the sets that the caller sees, and move their hits to the front of search->hit:
 * *n_visible of them.  Sets ascend in both lists. */
static void take_visible(struct nd_verdict *verdict, struct nd_search *search, const uint32_t *sets,
                         size_t n_sets, size_t *n_visible)
{
    size_t at = 0, n = 0;

    for (size_t i = 0; i < search->n_searched; i++) {
        const struct nd_searched *done = &search->searched[i];

        while (at < n_sets && sets[at] < done->set)
            at++;
        if (at == n_sets)
            break;
        if (sets[at] != done->set)
            continue;
        verdict->work.label_sets++;
        verdict->work.candidates += done->n_met + done->n_below + done->has_equal;
        verdict->work.comparisons += done->n_compared + done->has_equal;
        verdict->was_cut |= done->was_cut;
    }
    at = 0;
    for (size_t i = 0; i < search->n_hits; i++) {
        struct nd_near_entry hit = search->hit[i];

        while (at < n_sets && sets[at] < hit.set)
            at++;
        if (at == n_sets || sets[at] != hit.set)
            continue;
        search->hit[i] = search->hit[n];
        search->hit[n++] = hit;
    }
    *n_visible = n;
}

/* ---- The nearest documents ---- */

/* A document that may be given. */
struct row {
    struct nd_near_entry near;
    uint64_t order;
    struct nd_view id; /* within the transaction */
};

/* How documents of a list are ordered: as the nearest ones, or by the share of the text that they have
 * in them, or by the share of them that the text has. */
enum order_of_list { BY_NEARNESS, BY_SHARE_OF_TEXT, BY_SHARE_OF_OTHER };

/* The first ones so far. */
struct list {
    const struct nd_judge *judge;
    enum order_of_list by;
    uint64_t n_shingles; /* of the text */
    struct row *row;     /* asked.limit of them */
    size_t n;
    size_t n_dated; /* documents of a label set whose visit was looked at */
    uint32_t set;
    bool was_cut;
};

/* The share of a document: shingles that both have, of those of the text or of the document. */
static struct nd_fraction share_of(const struct list *l, const struct nd_near_entry *near)
{
    return (struct nd_fraction){near->shared,
                                l->by == BY_SHARE_OF_TEXT ? l->n_shingles : near->n_shingles};
}

static bool is_nearer(const struct list *l, const struct row *x, const struct row *y)
{
    if (l->by != BY_NEARNESS) {
        int less = nd_fraction_compare(share_of(l, &x->near), share_of(l, &y->near));

        return less ? less > 0 : x->order < y->order;
    }
    return nd_near_compare(l->judge->sketching, l->n_shingles, &x->near, x->order, &y->near,
                           y->order) < 0;
}

/* Whether a document would be among the nearest ones. */
static bool has_place(const struct list *l, const struct row *row)
{
    return l->n < l->judge->asked.limit || is_nearer(l, row, &l->row[l->n - 1]);
}

static void insert(struct list *l, const struct row *row)
{
    size_t at = l->n < l->judge->asked.limit ? l->n++ : l->n - 1;

    for (; at > 0 && is_nearer(l, row, &l->row[at - 1]); at--)
        l->row[at] = l->row[at - 1];
    l->row[at] = *row;
}

/* The row of a document that an entry names. */
static enum nd_status get_row(const struct nd_judge *judge, uint32_t set, struct nd_view id,
                              struct nd_document_row *row, struct nd_error *err)
{
    int found = nd_catalog_get_document(judge->leaders->txn, set, id, row, err);

    if (found == 0)
        return nd_fail(err, ND_EINPUT, "an entry names a document that is missing");
    return found < 0 ? (enum nd_status)found : ND_OK;
}

/* Whether the visit of one more document of a label set may be looked at: max_checks of them are, so
 * that many old copies do not take long. */
static bool may_date(struct list *l, uint32_t set)
{
    if (l->judge->visited_since == 0)
        return true;
    if (l->set != set)
        l->n_dated = 0;
    l->set = set;
    if (l->n_dated < l->judge->sketching->rows.plan.params.max_checks)
        return true;
    l->was_cut = true;
    return false;
}

/* Check that a document was visited lately enough.  1, 0. */
static int is_recent(struct list *l, const struct row *row, struct nd_error *err)
{
    struct nd_document_row document;
    enum nd_status status;

    if (l->judge->visited_since == 0)
        return 1;
    l->n_dated++;
    status = get_row(l->judge, row->near.set, row->id, &document, err);
    return status == ND_OK ? document.visited >= l->judge->visited_since : (int)status;
}

/* Add the documents that have the text of a hit, in their order, as long as they have a place. */
static enum nd_status add_holders(struct list *l, const struct nd_near_entry *hit,
                                  struct nd_error *err)
{
    const struct nd_own_document *own = &l->judge->own;
    struct row row = {.near = *hit, .order = 0};
    int found = 0;

    for (; has_place(l, &row); row.order++) {
        found =
            nd_catalog_next_holder(l->judge->leaders->txn, hit->number, &row.order, &row.id, err);
        if (found <= 0 || !has_place(l, &row))
            break;
        if (hit->number == own->entry && row.order == own->order)
            continue;
        if (!may_date(l, hit->set))
            break;
        found = is_recent(l, &row, err);
        if (found < 0)
            break;
        if (found)
            insert(l, &row);
    }
    return found < 0 ? (enum nd_status)found : ND_OK;
}

/* ---- The answer ---- */

/* A document as it is given. */
static enum nd_status describe(const struct nd_judge *judge, const struct nd_near_entry *near,
                               uint64_t n_shingles, struct nd_view id, struct nd_nearest *out,
                               struct nd_error *err)
{
    struct nd_document_row row;
    enum nd_status status = get_row(judge, near->set, id, &row, err);
    char *copy, *title;

    if (status != ND_OK)
        return status;
    copy = nd_arena_copy(judge->answer, id.data, id.len);
    title = nd_arena_copy(judge->answer, row.title.text, row.title.len);
    if (!copy || !title)
        return no_memory(err);
    *out = (struct nd_nearest){.title = {title, row.title.len},
                               .visited = row.visited,
                               .likeness = nd_likeness_of(judge->sketching, n_shingles, near)};
    out->key.id = (struct nd_view){copy, id.len};
    out->key.labels = nd_label_sets_labels(judge->sets, near->set, &out->key.n_labels);
    return ND_OK;
}

/* Return how many words of one text a difference lists. */
static size_t listed(const struct nd_difference *d, unsigned which)
{
    return d->only[which] < ND_DIFFERENCE_WORDS_MAX ? (size_t)d->only[which]
                                                    : ND_DIFFERENCE_WORDS_MAX;
}

/* Copy the words of a difference to where they stay. */
static bool keep_words(struct nd_arena *answer, struct nd_difference *d)
{
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < listed(d, k); i++) {
            d->word[k][i].data = nd_arena_copy(answer, d->word[k][i].data, d->word[k][i].len);
            if (!d->word[k][i].data)
                return false;
        }
    return true;
}

/* Find what differs between the text and that of an entry. */
static enum nd_status find_difference(const struct nd_judge *judge,
                                      const struct nd_near_entry *near,
                                      const struct nd_difference **out, struct nd_error *err)
{
    struct nd_difference *differs = nd_arena_alloc(judge->answer, sizeof *differs);
    struct nd_view other;
    enum nd_status status;

    if (!differs)
        return no_memory(err);
    *differs = (struct nd_difference){.by = ND_DIFFERS_NOTHING};
    *out = differs;
    if (near->identical == ND_IDENTICAL_BYTES)
        return ND_OK;
    status = judge->source->fetch(judge->source->context, near->number, &other, err);
    if (status == ND_OK)
        status = nd_difference_of(nd_text_of(judge->sketching, judge->text),
                                  nd_text_of(judge->sketching, other), differs, err);
    if (status == ND_OK && !keep_words(judge->answer, differs))
        status = no_memory(err);
    return status;
}

/* Find what differs in each of the nearest documents; those of one entry come one after the other. */
static enum nd_status find_differences(const struct list *l, struct nd_nearest *out,
                                       struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < l->n; i++)
        if (i > 0 && l->row[i].near.number == l->row[i - 1].near.number)
            out[i].differs = out[i - 1].differs;
        else
            status = find_difference(l->judge, &l->row[i].near, &out[i].differs, err);
    return status;
}

static enum nd_status give_nearest(const struct list *l, struct nd_verdict *verdict,
                                   struct nd_error *err)
{
    struct nd_nearest *out = nd_arena_alloc(l->judge->answer, (l->n + 1) * sizeof *out);
    enum nd_status status = out ? ND_OK : no_memory(err);

    for (size_t i = 0; status == ND_OK && i < l->n; i++)
        status = describe(l->judge, &l->row[i].near, l->n_shingles, l->row[i].id, &out[i], err);
    if (status == ND_OK && l->judge->asked.differs)
        status = find_differences(l, out, err);
    if (status != ND_OK)
        return status;
    verdict->nearest = out;
    verdict->n_nearest = l->n;
    verdict->was_cut |= l->was_cut;
    if (l->n && !l->row[0].near.is_below)
        verdict->kind = l->row[0].near.identical != ND_IDENTICAL_NO ? ND_VERDICT_DUPLICATE
                                                                    : ND_VERDICT_NEAR_DUPLICATE;
    return ND_OK;
}

static enum nd_status find_nearest(const struct nd_judge *judge, size_t n_hits,
                                   struct nd_verdict *verdict, struct nd_error *err)
{
    struct list l = {.judge = judge, .n_shingles = verdict->shingles, .set = ND_NO_LABEL_SET};
    enum nd_status status = ND_OK;

    l.row = nd_arena_alloc(judge->answer, (judge->asked.limit + 1) * sizeof *l.row);
    if (!l.row)
        return no_memory(err);
    for (size_t i = 0; status == ND_OK && i < n_hits; i++)
        status = add_holders(&l, &judge->search->hit[i], err);
    return status == ND_OK ? give_nearest(&l, verdict, err) : status;
}

static enum nd_status find_cluster(const struct nd_judge *judge, size_t n_hits,
                                   struct nd_verdict *verdict, struct nd_error *err)
{
    uint64_t before = judge->own.is_unchanged ? judge->own.order : UINT64_MAX, order;
    struct nd_near_entry leader;
    struct nd_view id;
    enum nd_status status;
    int found = nd_leaders_choose(judge->leaders, judge->sketching, verdict->shingles,
                                  judge->search->hit, n_hits, before, &leader, err);

    verdict->work.pairs = judge->leaders->n_pairs;
    verdict->was_cut |= judge->leaders->was_cut;
    if (found <= 0)
        return (enum nd_status)found;
    verdict->has_cluster = true;
    status = nd_leaders_first(judge->leaders, leader.number, &order, &id, err);
    return status == ND_OK ? describe(judge, &leader, verdict->shingles, id, &verdict->cluster, err)
                           : status;
}

/* ---- Containment ---- */

/* Whether a quote has the share that a list is of. */
static bool is_quoted(const struct list *l, const struct nd_near_entry *near, struct nd_ratio share)
{
    return nd_fraction_compare(share_of(l, near), (struct nd_fraction){share.p, share.q}) >= 0;
}

static enum nd_status give_quotes(const struct list *l, const struct nd_nearest **given, size_t *n,
                                  struct nd_error *err)
{
    struct nd_nearest *out = nd_arena_alloc(l->judge->answer, (l->n + 1) * sizeof *out);
    enum nd_status status = out ? ND_OK : no_memory(err);

    for (size_t i = 0; status == ND_OK && i < l->n; i++)
        status = describe(l->judge, &l->row[i].near, l->n_shingles, l->row[i].id, &out[i], err);
    *given = out;
    *n = l->n;
    return status;
}

/* List the documents that have the text in them, or that it has in it. */
static enum nd_status list_quotes(const struct nd_judge *judge, enum order_of_list by,
                                  struct nd_verdict *verdict, const struct nd_nearest **out,
                                  size_t *n, struct nd_error *err)
{
    const struct nd_quotes *quotes = &judge->search->quotes;
    struct list l = {
        .judge = judge, .by = by, .n_shingles = verdict->shingles, .set = ND_NO_LABEL_SET};
    enum nd_status status = ND_OK;

    l.row = nd_arena_alloc(judge->answer, (judge->asked.limit + 1) * sizeof *l.row);
    if (!l.row)
        return no_memory(err);
    for (size_t i = 0; status == ND_OK && i < quotes->n_hits; i++) {
        const struct nd_quote *hit = &quotes->hit[i];
        const struct nd_near_entry near = {.number = hit->number,
                                           .set = hit->set,
                                           .identical = hit->identical,
                                           .n_shingles = hit->n_shingles,
                                           .shared = hit->shared,
                                           .distance = UINT16_MAX};

        if (is_quoted(&l, &near, judge->contained->params.threshold))
            status = add_holders(&l, &near, err);
    }
    verdict->was_cut |= l.was_cut;
    return status == ND_OK ? give_quotes(&l, out, n, err) : status;
}

static enum nd_status find_quotes(const struct nd_judge *judge, struct nd_verdict *verdict,
                                  struct nd_error *err)
{
    const struct nd_quotes *quotes = &judge->search->quotes;
    enum nd_status status;

    verdict->has_containment = judge->contained->params.sample != 0;
    if (!verdict->has_containment)
        return ND_OK;
    verdict->work.candidates += quotes->n_candidates;
    verdict->work.comparisons += quotes->n_compared;
    verdict->was_cut |= quotes->was_cut;
    status = list_quotes(judge, BY_SHARE_OF_TEXT, verdict, &verdict->contained_in,
                         &verdict->n_contained_in, err);
    return status == ND_OK ? list_quotes(judge, BY_SHARE_OF_OTHER, verdict, &verdict->contains,
                                         &verdict->n_contains, err)
                           : status;
}

enum nd_status nd_verdict_decide(const struct nd_judge *judge, const uint32_t *sets, size_t n_sets,
                                 struct nd_verdict *verdict, struct nd_error *err)
{
    size_t n_hits;
    enum nd_status status;

    take_visible(verdict, judge->search, sets, n_sets, &n_hits);
    status = find_nearest(judge, n_hits, verdict, err);
    if (status == ND_OK)
        status = find_cluster(judge, n_hits, verdict, err);
    return status == ND_OK ? find_quotes(judge, verdict, err) : status;
}

/* ---- A verdict that stays ---- */

static void keep_bytes(struct nd_view *view, char **at)
{
    if (view->len)
        memcpy(*at, view->data, view->len);
    view->data = *at;
    *at += view->len;
}

static void keep_names(struct nd_nearest *document, char **at)
{
    keep_bytes(&document->key.id, at);
    keep_bytes(&document->title, at);
}

static void keep_differs(struct nd_nearest *document, struct nd_difference *copy, char **at)
{
    *copy = *document->differs;
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < listed(copy, k); i++)
            keep_bytes(&copy->word[k][i], at);
    document->differs = copy;
}

/* Count the bytes of the words that a document's difference lists. */
static size_t word_bytes(const struct nd_nearest *document)
{
    const struct nd_difference *d = document->differs;
    size_t bytes = 0;

    for (unsigned k = 0; d && k < 2; k++)
        for (size_t i = 0; i < listed(d, k); i++)
            bytes += d->word[k][i].len;
    return bytes;
}

/* Count the bytes that documents take with all that they point to. */
static size_t bytes_of(const struct nd_nearest *documents, size_t n)
{
    size_t bytes = n * sizeof *documents;

    for (size_t i = 0; i < n; i++)
        bytes += documents[i].key.id.len + documents[i].title.len + word_bytes(&documents[i]) +
                 (documents[i].differs ? sizeof *documents->differs : 0);
    return bytes;
}

enum nd_status nd_verdict_keep(struct nd_verdict *verdict, void **memory, struct nd_error *err)
{
    const struct nd_nearest **const list[] = {&verdict->nearest, &verdict->contained_in,
                                              &verdict->contains};
    const size_t n[] = {verdict->n_nearest, verdict->n_contained_in, verdict->n_contains};
    size_t bytes = verdict->cluster.key.id.len + verdict->cluster.title.len, all = 0, n_differs = 0;
    struct nd_difference *differs;
    struct nd_nearest *copy;
    char *at;

    for (size_t k = 0; k < 3; k++) {
        bytes += bytes_of(*list[k], n[k]);
        all += n[k];
    }
    copy = malloc(bytes + 1);
    if (!copy)
        return no_memory(err);
    *memory = copy;
    differs = (struct nd_difference *)(copy + all);
    for (size_t i = 0; i < n[0]; i++)
        n_differs += verdict->nearest[i].differs != NULL;
    at = (char *)(differs + n_differs);
    for (size_t k = 0; k < 3; copy += n[k++]) {
        if (n[k])
            memcpy(copy, *list[k], n[k] * sizeof *copy);
        *list[k] = copy;
        for (size_t i = 0; i < n[k]; i++) {
            keep_names(&copy[i], &at);
            if (copy[i].differs)
                keep_differs(&copy[i], differs++, &at);
        }
    }
    if (verdict->has_cluster)
        keep_names(&verdict->cluster, &at);
    return ND_OK;
}
