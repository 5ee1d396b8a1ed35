/*
 * candidate_rows.c - which documents could match, from rows of bytes that travel between machines
 *
 * The engine's own rules (README.md, rules 1, 2 and 4): equal documents; and those that share a key
 * of a band or a block, whose counts of shingles allow the threshold, and of whose low bytes enough
 * agree.  A row has the bytes that these need.
 *
 * How near two rows are is a distance: low bytes that differ, or bits that do.  As distances obey
 * the triangle inequality, most of the documents of a bucket need not be compared with each other
 * (link_all).
 */
#include <neardup/candidates.h>

#include <stdlib.h>
#include <string.h>

#include <neardup/text.h>

#include "base/hash.h"
#include "candidates/row_maker.h"
#include "engine/batch.h"
#include "engine/engine.h"

struct nd_candidate_rows {
    struct nd_row_plan rows;
    struct nd_row_maker maker;
};

/* In front of what is compared. */
struct row_head {
    uint64_t group;
    uint32_t n_shingles;
    uint32_t flags; /* nd_candidate_row_flags, and IS_COMPARED */
};

/* IS_COMPARED: the document has a key in each table of the recipe. */
enum { IS_COMPARED = 1 << 16 };

static const struct row_head *head_of(const void *row)
{
    return row;
}

static const unsigned char *body_of(const void *row)
{
    return (const unsigned char *)row + sizeof(struct row_head);
}

/* ---- What a recipe asks for ---- */

/*
 * Whether a rule finds documents by a known number of keys: of blocks of bits, or of coordinates.
 * Documents that share one are then taken for candidates.  Sets of values have any number of keys.
 */
static bool has_few_keys(const struct nd_matching *m)
{
    size_t n = 2; /* of equal documents, and one more */

    for (unsigned i = 0; m && i < m->n_lookups; i++) {
        const struct nd_signature_lookup *x = &m->lookup[i];

        if (x->way == ND_LOOKUP_VALUES)
            return false;
        n += x->way == ND_LOOKUP_BLOCKS ? x->blocks : m->shape[x->signature].words;
    }
    return m && n <= ND_CANDIDATE_KEYS_MAX;
}

static enum nd_status make_parts(struct nd_candidate_rows *rows, const struct nd_recipe *recipe,
                                 struct nd_error *err)
{
    const char *key = NULL;
    enum nd_status status = nd_row_plan_init(&rows->rows, recipe, &key, err);

    if (status == ND_EUNSUPPORTED && has_few_keys(rows->rows.plan.matching)) {
        rows->rows.kind = ND_ROW_KEYS;
        status = ND_OK;
    }
    if (status != ND_OK && key)
        return nd_fail(
            err, status,
            "%s: documents can be looked for on several machines only where candidates "
            "are found by bands of minima (candidates = minhash, verify = jaccard or "
            "none), by the distance of a simhash (candidates = simhash), by identity, or "
            "by a rule on bits and coordinates (match): a set of values has too many keys",
            key);
    if (status != ND_OK)
        return status;
    if (rows->rows.kind == ND_ROW_LOW_BYTES)
        rows->rows.plan.sketch_parts = ND_SKETCH_MINHASH;
    return nd_row_maker_init(&rows->maker, &rows->rows, err) ? ND_OK : ND_ENOMEM;
}

struct nd_candidate_rows *nd_candidate_rows_new(const struct nd_recipe *recipe,
                                                struct nd_error *err)
{
    struct nd_candidate_rows *rows = calloc(1, sizeof *rows);

    if (!rows)
        nd_fail(err, ND_ENOMEM, "out of memory");
    else if (make_parts(rows, recipe, err) == ND_OK)
        return rows;
    nd_candidate_rows_free(rows);
    return NULL;
}

void nd_candidate_rows_free(struct nd_candidate_rows *rows)
{
    if (!rows)
        return;
    nd_row_maker_release(&rows->maker);
    nd_row_plan_release(&rows->rows);
    free(rows);
}

size_t nd_candidate_rows_bytes(const struct nd_candidate_rows *rows)
{
    return sizeof(struct row_head) + rows->rows.words * sizeof(uint64_t);
}

int nd_candidate_rows_tell_keys(const struct nd_candidate_rows *rows)
{
    return rows->rows.kind == ND_ROW_LOW_BYTES || rows->rows.kind == ND_ROW_SIMHASH;
}

int nd_candidate_rows_match_by_key(const struct nd_candidate_rows *rows)
{
    return rows->rows.kind == ND_ROW_NOTHING || rows->rows.kind == ND_ROW_KEYS ||
           (rows->rows.kind == ND_ROW_LOW_BYTES && rows->rows.plan.distance == ND_MINHASH_COUNT &&
            rows->rows.plan.params.verify == ND_VERIFY_NONE);
}

size_t nd_candidate_rows_key_room(const struct nd_candidate_rows *rows)
{
    return rows->rows.plan.key_room;
}

/* ---- Rows ---- */

/* Keys of one kind and of one table of it are told apart from all others. */
static uint64_t key_in(uint64_t key, uint64_t table, uint64_t group, bool is_of_equal)
{
    key = nd_mix64(nd_mix64(key + table * UINT64_C(0x9E3779B97F4A7C15)) ^ nd_mix64(group));
    return (key & ~UINT64_C(1)) | is_of_equal;
}

/* Documents of equal tokens have all bands and blocks in common, so that they meet by these. */
static bool needs_equal_key(const struct nd_candidate_rows *rows, const struct nd_item *item)
{
    return item->read.is_short || rows->rows.kind == ND_ROW_NOTHING ||
           rows->rows.kind == ND_ROW_FINGERPRINT || rows->rows.kind == ND_ROW_KEYS;
}

static size_t add_equal_key(const struct nd_candidate_rows *rows, struct nd_item *item,
                            uint64_t group, uint64_t *keys)
{
    enum nd_equal_by by = nd_item_equal_by(&rows->rows.plan, item);

    if (by == ND_EQUAL_NEVER || !needs_equal_key(rows, item))
        return 0;
    nd_item_hash(&rows->rows.plan, item);
    keys[0] =
        key_in(by == ND_EQUAL_BY_BYTES ? item->raw : item->read.row.identity, by, group, true);
    return 1;
}

/* The keys of bands or blocks; `in` has room for the key by identity too, which is not one of them. */
static size_t list_table_keys(const struct nd_candidate_rows *rows, const uint64_t *in,
                              uint64_t group, uint64_t *keys)
{
    size_t n = nd_table_identity(&rows->rows.plan.index);

    for (size_t t = 0; t < n; t++)
        keys[t] = key_in(in[t], t, group, false);
    return n;
}

/* The body of a row, from what the engine made of the item; and its keys. */
static size_t fill_row(const struct nd_candidate_rows *rows, const struct nd_item *item,
                       uint64_t group, unsigned char *body, uint64_t *keys)
{
    const struct nd_document_signatures *x = item->read.signatures;
    size_t n = 0;

    if (rows->rows.kind == ND_ROW_LOW_BYTES)
        memcpy(body, item->read.row.low, ND_MINHASH_COUNT);
    if (rows->rows.kind == ND_ROW_SIMHASH)
        memcpy(body, &item->read.row.simhash, sizeof item->read.row.simhash);
    if (nd_candidate_rows_tell_keys(rows))
        n = list_table_keys(rows, item->read.row.key, group, keys);
    if (rows->rows.kind == ND_ROW_FINGERPRINT && x->keys.count) {
        const uint64_t *word = x->signature[rows->rows.signature].word;

        for (size_t i = 0; i < rows->rows.words; i++) {
            uint64_t bits = word[i] & rows->rows.mask[i];

            memcpy(body + i * sizeof bits, &bits, sizeof bits);
        }
    }
    for (size_t i = 0; x && i < x->keys.count; i++)
        keys[n++] = key_in(x->keys.items[i], 0, group, rows->rows.kind == ND_ROW_KEYS);
    return n;
}

static uint32_t flags_of(const struct nd_candidate_rows *rows, const struct nd_item *item)
{
    const struct nd_document_signatures *x = item->read.signatures;
    uint32_t flags = (item->read.is_short ? ND_CANDIDATE_SHORT : 0) |
                     (item->read.n_tokens == 0 ? ND_CANDIDATE_EMPTY : 0);
    bool is_signed = false;

    if (!x || !item->read.is_listed)
        return flags;
    for (unsigned i = 0; i < rows->rows.plan.matching->method.n_signatures; i++)
        is_signed = is_signed || !x->signature[i].is_rejected;
    return flags | (is_signed ? ND_CANDIDATE_SIGNED : ND_CANDIDATE_UNSIGNED);
}

unsigned nd_candidate_row_flags(const void *row)
{
    return head_of(row)->flags & (IS_COMPARED - 1);
}

enum nd_status nd_candidate_rows_make(struct nd_candidate_rows *rows,
                                      const struct nd_dedup_item *document, uint64_t group,
                                      void *row, uint64_t keys[ND_CANDIDATE_KEYS_MAX],
                                      size_t *n_keys, struct nd_error *err)
{
    struct nd_item item;
    struct row_head *head = row;
    enum nd_status status;

    *n_keys = 0;
    status = nd_row_maker_run(&rows->maker, document, false, &item, err);
    if (status == ND_EINVAL)
        return status;
    memset(row, 0, nd_candidate_rows_bytes(rows));
    if (status != ND_OK)
        return status;
    *head = (struct row_head){.group = group,
                              .n_shingles = (uint32_t)item.read.n_shingles,
                              .flags = flags_of(rows, &item)};
    *n_keys = add_equal_key(rows, &item, group, keys);
    if (nd_row_is_compared(&rows->rows, &item)) {
        head->flags |= IS_COMPARED;
        *n_keys += fill_row(rows, &item, group, (unsigned char *)(head + 1), keys + *n_keys);
    } else if (*n_keys && nd_candidate_rows_tell_keys(rows)) {
        memcpy(head + 1, keys, sizeof *keys);
    }
    return ND_OK;
}

/* A row that is not compared has the key by which it equals others in the place of its body. */
size_t nd_candidate_rows_keys(const struct nd_candidate_rows *rows, const void *row,
                              uint64_t keys[ND_CANDIDATE_KEYS_MAX])
{
    uint64_t key[ND_CANDIDATE_KEYS_MAX];
    struct nd_index_row from;

    if (!(head_of(row)->flags & IS_COMPARED)) {
        memcpy(keys, body_of(row), sizeof *keys);
        return keys[0] != 0;
    }
    from.identity = from.simhash = 0;
    from.group = 0;
    if (rows->rows.kind == ND_ROW_LOW_BYTES)
        memcpy(from.low, body_of(row), ND_MINHASH_COUNT);
    else
        memcpy(&from.simhash, body_of(row), sizeof from.simhash);
    nd_table_keys(&rows->rows.plan.index, &from, key);
    return list_table_keys(rows, key, head_of(row)->group, keys);
}

/* ---- Links ---- */

static unsigned distance_between(const struct nd_candidate_rows *rows, const void *a, const void *b)
{
    return nd_row_distance(&rows->rows, body_of(a), body_of(b));
}

static struct nd_reach reach_of(const struct nd_candidate_rows *rows, const void *row)
{
    return nd_engine_plan_reach(&rows->rows.plan, head_of(row)->n_shingles);
}

static bool reaches(struct nd_reach reach, const void *a, const void *b, unsigned distance)
{
    return head_of(a)->group == head_of(b)->group &&
           nd_reaches(reach, head_of(b)->n_shingles, distance);
}

int nd_candidate_rows_could_match(const struct nd_candidate_rows *rows, const void *a,
                                  const void *b)
{
    return reaches(reach_of(rows, a), a, b, distance_between(rows, a, b));
}

/*
 * A bucket at work.  The first document of each cluster stands for it, and its radius is how far its
 * members lie from it; members are chained.
 */
enum { CLUSTERS_MAX = 2048, NONE = -1 };
struct cluster {
    uint32_t first, last;
    unsigned radius;
};
struct bucket {
    const struct nd_candidate_rows *rows;
    const void *const *row;
    size_t n;
    uint32_t *parent, *next;
    struct cluster *cluster;
    size_t n_clusters;
    uint64_t budget; /* comparisons of members that are left */
};

static uint32_t find(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = find(parent, a);
    b = find(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/* Compare a document with the first one of each cluster that it is not connected with.  False: it
 * begins a cluster, and there are too many. */
static bool meet_clusters(struct bucket *b, uint32_t i)
{
    const struct nd_reach reach = reach_of(b->rows, b->row[i]);
    int home = NONE;

    for (size_t k = 0; k < b->n_clusters; k++) {
        struct cluster *c = &b->cluster[k];
        unsigned distance;

        if (home != NONE && find(b->parent, c->first) == find(b->parent, i))
            continue;
        distance = distance_between(b->rows, b->row[c->first], b->row[i]);
        if (!reaches(reach, b->row[i], b->row[c->first], distance))
            continue;
        join(b->parent, c->first, i);
        if (home != NONE)
            continue;
        home = (int)k;
        b->next[c->last] = i;
        c->last = i;
        c->radius = distance > c->radius ? distance : c->radius;
    }
    if (home != NONE)
        return true;
    if (b->n_clusters == CLUSTERS_MAX)
        return false;
    b->cluster[b->n_clusters++] = (struct cluster){i, i, 0};
    return true;
}

/* Whether some member of one cluster could match one of the other; also where that takes too long. */
static bool members_could_match(struct bucket *b, const struct cluster *x, const struct cluster *y)
{
    for (uint32_t i = x->first;; i = b->next[i]) {
        const struct nd_reach reach = reach_of(b->rows, b->row[i]);

        for (uint32_t k = y->first;; k = b->next[k]) {
            if (b->budget == 0 || reaches(reach, b->row[i], b->row[k],
                                          distance_between(b->rows, b->row[i], b->row[k])))
                return true;
            b->budget--;
            if (k == y->last)
                break;
        }
        if (i == x->last)
            return false;
    }
}

/*
 * Members of two clusters lie no nearer than their first documents less both radii: where that is
 * too far, none need be compared.
 */
static void meet_across(struct bucket *b)
{
    for (size_t i = 0; i < b->n_clusters; i++)
        for (size_t k = i + 1; k < b->n_clusters; k++) {
            const struct cluster *x = &b->cluster[i], *y = &b->cluster[k];
            unsigned reach = b->rows->rows.plan.distance + x->radius + y->radius;

            if (find(b->parent, x->first) == find(b->parent, y->first) ||
                distance_between(b->rows, b->row[x->first], b->row[y->first]) > reach)
                continue;
            if (members_could_match(b, x, y))
                join(b->parent, x->first, y->first);
        }
}

/* Make one tree of the bucket if it fills its key's room, or has more clusters than a document can
 * be compared with. */
static void link_all(struct bucket *b)
{
    bool is_done =
        !nd_candidate_rows_match_by_key(b->rows) && b->n < nd_candidate_rows_key_room(b->rows);

    for (uint32_t i = 0; i < b->n; i++)
        b->parent[i] = i;
    for (uint32_t i = 0; is_done && i < b->n; i++)
        is_done = meet_clusters(b, i);
    if (is_done)
        meet_across(b);
    for (uint32_t i = 0; i < b->n; i++)
        b->parent[i] = is_done ? find(b->parent, i) : 0;
}

enum nd_status nd_candidate_rows_link(const struct nd_candidate_rows *rows, const void *const *row,
                                      size_t n, uint32_t *parent, struct nd_error *err)
{
    enum { COMPARISONS_EACH = CLUSTERS_MAX };
    size_t n_clusters = n < CLUSTERS_MAX ? n : CLUSTERS_MAX;
    struct bucket b = {.rows = rows,
                       .row = row,
                       .n = n,
                       .parent = parent,
                       .budget = (uint64_t)n * COMPARISONS_EACH};
    bool is_made;

    if (n > UINT32_MAX)
        return nd_fail(err, ND_EUNSUPPORTED, "more than 2^32 documents share a key");
    b.next = nd_alloc_array(n + 1, sizeof *b.next);
    b.cluster = nd_alloc_array(n_clusters + 1, sizeof *b.cluster);
    is_made = b.next && b.cluster;
    if (is_made)
        link_all(&b);
    free(b.cluster);
    free(b.next);
    return is_made ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}
