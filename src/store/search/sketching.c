/* sketching.c - which recipes are served, and what a text is looked up and compared by
 *
 * A served recipe says by one number how near two documents are: their resemblance, the distance of
 * one simhash of 64 bits, or the score of a rule on signatures.  In the first two cases a document is
 * a row of the index of sketches, whichever signature the simhash comes from; in the last one its
 * signatures are in an index of their own (signed_entries.h).  A pair needs a few bytes.  What
 * a document is follows from its content, which is its text, and what the recipe reads of it beside
 * (record/content.h).  A df table is the store's own copy, which never changes
 * (store/upkeep/store_tables.h).
 */
#include "store/search/sketching.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "match/measure.h"
#include "recipe/recipe_struct.h"
#include "record/content.h"
#include "store/store.h"

/* ---- Which recipes are served ---- */

static enum nd_status refuse(struct nd_error *err, const char *section, const char *key,
                             const char *why)
{
    return nd_fail(err, ND_EUNSUPPORTED, "%s%s%s: %s", section, *section ? "." : "", key, why);
}

/* Whether a row of the index has what a rule compares: the distance of one simhash of 64 bits. */
static bool is_fingerprint(const struct nd_row_plan *rows)
{
    const struct nd_recipe_signature *x = &rows->plan.matching->method.signature[rows->signature];

    return x->signature.kind == ND_SIGNATURE_SIMHASH && rows->words == 1 &&
           x->signature.bits == 64 && rows->plan.distance <= ND_SIMHASH_BITS_MAX;
}

static enum nd_status check_signatures(const struct nd_row_plan *rows, struct nd_error *err)
{
    if (rows->plan.params.verify != ND_VERIFY_NONE)
        return refuse(err, "", "verify", "with candidates = match a store serves verify = none");
    return ND_OK;
}

/* Clusters are stars, whatever the recipe's `cluster` says (docs/format/store.md). */
static enum nd_status check_decision(const struct nd_recipe *recipe, struct nd_error *err)
{
    const struct nd_dedup_params *p = &recipe->dedup;

    if (strcmp(recipe->keep, "first") != 0)
        return refuse(err, "", "keep", "the leader in a store is the document that came first");
    if (p->candidates == ND_CANDIDATES_IDENTITY)
        return refuse(err, "", "candidates", "a store serves minhash, simhash and match");
    if (p->candidates == ND_CANDIDATES_MINHASH && p->verify != ND_VERIFY_JACCARD)
        return refuse(err, "", "verify", "with candidates = minhash a store serves jaccard");
    return ND_OK;
}

static enum nd_status plan_recipe(struct nd_row_plan *rows, const struct nd_recipe *recipe,
                                  struct nd_error *err)
{
    const char *key = NULL;
    enum nd_status status = nd_row_plan_init(rows, recipe, &key, err);

    if (status == ND_EUNSUPPORTED && key && strcmp(key, "match") == 0) {
        rows->kind = ND_ROW_KEYS;
        status = ND_OK;
    }
    if (status == ND_EUNSUPPORTED && key)
        return refuse(err, "", key,
                      "a store serves recipes that decide by resemblance (candidates = minhash, "
                      "verify = jaccard), by a simhash (candidates = simhash) or by signatures "
                      "(candidates = match)");
    if (status == ND_OK)
        status = check_decision(recipe, err);
    if (status == ND_OK && rows->kind == ND_ROW_FINGERPRINT && !is_fingerprint(rows))
        rows->kind = ND_ROW_KEYS;
    return status == ND_OK && rows->plan.matching ? check_signatures(rows, err) : status;
}

enum nd_status nd_store_recipe_check(const struct nd_recipe *recipe, struct nd_error *err)
{
    struct nd_row_plan rows;
    enum nd_status status = plan_recipe(&rows, recipe, err);

    nd_row_plan_release(&rows);
    return status;
}

/* ---- A recipe at work ---- */

static int compare_ratios(struct nd_ratio x, struct nd_ratio y)
{
    return nd_fraction_compare((struct nd_fraction){x.p, x.q}, (struct nd_fraction){y.p, y.q});
}

enum nd_status nd_sketching_check_at(const struct nd_sketching *sketching, struct nd_ratio at,
                                     struct nd_error *err)
{
    const struct nd_ratio least = sketching->least;
    const struct nd_ratio threshold = sketching->rows.plan.params.threshold;

    if (least.q == 0)
        return nd_fail(err, ND_EINVAL,
                       "this store finds no neighbours below its threshold: make one that does "
                       "(neardup serve --least 0.5)");
    if (compare_ratios(at, least) >= 0 && compare_ratios(at, threshold) <= 0)
        return ND_OK;
    return nd_fail(err, ND_EINVAL,
                   "this store finds neighbours from %u/%u, its least, to %u/%u, its threshold",
                   least.p, least.q, threshold.p, threshold.q);
}

/* Plan the bands for neighbours below the threshold, which the recipe has none for. */
static enum nd_status plan_least(struct nd_sketching *sketching, struct nd_ratio least,
                                 struct nd_error *err)
{
    const struct nd_dedup_params *p = &sketching->rows.plan.params;

    sketching->least = least;
    if (least.q == 0)
        return ND_OK;
    if (sketching->rows.kind != ND_ROW_LOW_BYTES || p->verify != ND_VERIFY_JACCARD)
        return refuse(err, "", "least",
                      "neighbours below the threshold are found with candidates = minhash and "
                      "verify = jaccard alone");
    if (least.p == 0 || compare_ratios(least, p->threshold) >= 0)
        return refuse(err, "", "least", "it is above 0 and below the threshold of the recipe");
    sketching->fingerprint = nd_mix64(sketching->fingerprint ^ ((uint64_t)least.p << 32 | least.q));
    return nd_bands_choose(least, p->recall, &sketching->index.bands, &sketching->index.rows, err);
}

enum nd_status nd_sketching_init(struct nd_sketching *sketching, const struct nd_recipe *recipe,
                                 struct nd_ratio least, struct nd_error *err)
{
    enum nd_status status = plan_recipe(&sketching->rows, recipe, err);
    char *text = NULL;
    size_t len;

    if (status == ND_OK)
        status = nd_recipe_canonical(recipe, &text, &len, &sketching->fingerprint, err);
    free(text);
    sketching->index = sketching->rows.plan.index;
    if (sketching->rows.kind == ND_ROW_FINGERPRINT)
        sketching->index.simhash_bits = sketching->rows.plan.distance;
    if (status == ND_OK)
        status = plan_least(sketching, least, err);
    if (status != ND_OK)
        nd_sketching_release(sketching);
    return status;
}

void nd_sketching_release(struct nd_sketching *sketching)
{
    nd_row_plan_release(&sketching->rows);
}

bool nd_sketch_maker_init(struct nd_sketch_maker *maker, const struct nd_sketching *sketching,
                          struct nd_error *err)
{
    *maker = (struct nd_sketch_maker){.sketching = sketching};
    return nd_row_maker_init(&maker->maker, &sketching->rows, err);
}

void nd_sketch_maker_release(struct nd_sketch_maker *maker)
{
    nd_row_maker_release(&maker->maker);
    nd_arena_release(&maker->document);
}

/* ---- Texts ---- */

const struct nd_beside *nd_sketching_beside(const struct nd_sketching *sketching)
{
    static const struct nd_beside none = {.names = NULL};
    const struct nd_matching *matching = sketching->rows.plan.matching;

    return matching ? &matching->beside : &none;
}

bool nd_sketching_reads_beside(const struct nd_sketching *sketching)
{
    return nd_beside_is_read(nd_sketching_beside(sketching));
}

struct nd_view nd_text_of(const struct nd_sketching *sketching, struct nd_view content)
{
    struct nd_view text;

    return nd_content_text(nd_sketching_beside(sketching), content, &text) ? text : content;
}

/* The fingerprint takes the place of the simhash; a document without one is found by its identity. */
static void take_fingerprint(const struct nd_row_plan *rows, const struct nd_item *item,
                             struct nd_sketched *out)
{
    const struct nd_document_signatures *x = item->read.signatures;
    bool is_made = x && !x->signature[rows->signature].is_rejected;

    out->row.simhash = is_made ? x->signature[rows->signature].word[0] & rows->mask[0] : 0;
    out->row.identity_only |= !is_made;
}

/* A document for which the rule does not hold beside itself matches no other one. */
static void take_signatures(const struct nd_row_plan *rows, const struct nd_item *item,
                            struct nd_sketched *out)
{
    const struct nd_document_signatures *x = item->read.signatures;
    struct nd_match match;

    out->signatures = x;
    out->row.identity_only |= !x || !nd_matching_compare(rows->plan.matching, x, x, &match);
}

bool nd_entry_equals_itself(const struct nd_sketching *sketching, const struct nd_entry *entry)
{
    const struct nd_engine_plan *plan = &sketching->rows.plan;

    if (nd_equal_by(plan, entry->row.is_short, entry->is_empty) != ND_EQUAL_NEVER)
        return true;
    return nd_engine_plan_ignores_text(plan) && !entry->row.identity_only;
}

enum nd_status nd_sketch_text(struct nd_sketch_maker *maker, struct nd_view text,
                              struct nd_sketched *out, struct nd_error *err)
{
    const struct nd_row_plan *rows = &maker->sketching->rows;
    struct nd_document read;
    struct nd_item item;
    enum nd_status status;

    nd_arena_reset(&maker->document);
    status = nd_content_unpack(nd_sketching_beside(maker->sketching), text, &maker->document, &read,
                               err);
    if (status == ND_OK)
        status = nd_row_maker_run(&maker->maker,
                                  &(struct nd_dedup_item){.text = read.text, .document = &read},
                                  true, &item, err);
    if (status != ND_OK)
        return status;
    *out = (struct nd_sketched){.text = text,
                                .hash = nd_text_hash(text),
                                .row = item.read.row,
                                .n_tokens = item.read.n_tokens,
                                .n_shingles = item.read.n_shingles,
                                .is_short = item.read.is_short,
                                .is_empty = item.read.n_tokens == 0,
                                .equal_by = nd_item_equal_by(&rows->plan, &item)};
    out->row.key = NULL;
    out->row.identity_only |= !nd_row_is_compared(rows, &item);
    if (rows->kind == ND_ROW_FINGERPRINT)
        take_fingerprint(rows, &item, out);
    if (rows->kind == ND_ROW_KEYS)
        take_signatures(rows, &item, out);
    if (nd_sketching_reads_shingles(maker->sketching))
        out->shingle = nd_sketcher_shingles(maker->maker.crew.worker->sketcher)->distinct;
    return ND_OK;
}

void nd_sketch_minima(const struct nd_sketch_maker *maker, uint32_t minhash[ND_MINHASH_COUNT])
{
    const struct nd_shingle_set *set = nd_sketcher_shingles(maker->maker.crew.worker->sketcher);
    struct nd_sketch sketch = {.shingle = set->distinct, .n_shingles = set->count};

    nd_sketch_finish(&sketch, ND_SKETCH_MINHASH);
    memcpy(minhash, sketch.minhash, sizeof sketch.minhash);
}

enum nd_status nd_shingles_of(struct nd_sketch_maker *maker, struct nd_view text,
                              const uint64_t **shingle, size_t *n, struct nd_error *err)
{
    struct nd_worker *w = maker->maker.crew.worker;
    struct nd_sketch sketch;

    text = nd_text_of(maker->sketching, text);
    if (nd_sketcher_read_valid(w->kept_sketcher, text.data, text.len, &sketch))
        return nd_fail(err, ND_ENOMEM, "out of memory while comparing texts");
    *shingle = sketch.shingle;
    *n = (size_t)sketch.n_shingles;
    return ND_OK;
}

bool nd_texts_equal(const struct nd_sketching *sketching, struct nd_view a, struct nd_view b)
{
    return nd_equal_bytes(nd_text_of(sketching, a), nd_text_of(sketching, b));
}

int nd_tokens_equal(struct nd_sketch_maker *maker, struct nd_view a, struct nd_view b,
                    struct nd_error *err)
{
    int same = nd_worker_equal(maker->maker.crew.worker, ND_EQUAL_BY_TOKENS,
                               nd_text_of(maker->sketching, a), nd_text_of(maker->sketching, b));

    return same < 0 ? (int)nd_fail(err, ND_ENOMEM, "out of memory while comparing texts") : same;
}
