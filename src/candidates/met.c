/*
 * met.c - a set of documents, and which others could meet one of them
 *
 *   row ──▶ keys ──▶ filter of 64-bit words ──▶ table: key → documents ──▶ counts, low bytes or bits
 *        of bands or  (index/key_filter.c)
 *        blocks, and
 *        of identity
 *
 * Nearly all rows end at the filter, which is small enough for the processor's caches.
 * A document has a key for each band or block, as in the index, and one by which equal documents
 * meet: documents of the same bytes have the same tokens, and so the same identity.  Where a rule on
 * signatures decides, keys are those of its look-ups: all that share one meet, but for a single
 * distance of bits, which is compared.
 *
 * Documents that share a key and could not match do not meet, unless the key may be full: then it
 * depends on all of them who is listed there.  So those that pass by are counted for each key of the
 * set, and once a key has as many documents as it can list, all that have it meet the set.
 */
#include "candidates/met.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "candidates/row_maker.h"
#include "index/key_filter.h"

enum {
    KEYS_MAX = ND_MINHASH_COUNT + 64 + 3,
    COMPARED_MAX = 64, /* documents of a key that are compared before the answer is yes */
    LEAST_SLOTS = 1024,
    SUM_BITS_MIN = 12, /* sums by hash, and entries for each, on average */
    SUM_ENTRIES = 4,
    AHEAD = 16 /* entries whose slots are fetched before they are linked */
};

/* A document stands under a key. */
struct met_entry {
    uint64_t key;
    uint32_t document;
    uint32_t next; /* entry of the same slot + 1; 0: none */
};

/* By a hash of the key: documents that have it, 65535 at most. */
enum { TALLY_BITS = 20 };
struct nd_met_tally {
    uint16_t count[1 << TALLY_BITS];
};

#define CROWDED UINT32_MAX

struct nd_met_set {
    struct nd_row_plan plan;
    bool compares;   /* rows, beyond their keys */
    bool has_rounds; /* the first one has begun */
    struct nd_key_filter all, fresh;
    struct met_entry *entry;
    uint32_t
        *passed; /* by entry: rows that passed by its key, counted by several threads; CROWDED */
    size_t passed_capacity;
    size_t n_entries, entry_capacity, first_fresh;
    const struct nd_met_tally *others; /* of documents that the set does not have; NULL: none */
    size_t n_linked;                   /* entries that are in filters and table */
    uint32_t *slot;                    /* entry + 1 */
    size_t n_slots;
    /* The words of each document that are compared, and how many shingles it has. */
    uint64_t *body;
    size_t body_capacity;
    uint32_t *n_shingles;
    size_t n, shingles_capacity;
};

void nd_met_set_free(struct nd_met_set *met)
{
    if (!met)
        return;
    nd_row_plan_release(&met->plan);
    nd_key_filter_release(&met->all);
    nd_key_filter_release(&met->fresh);
    free(met->entry);
    free(met->passed);
    free(met->slot);
    free(met->body);
    free(met->n_shingles);
    free(met);
}

/* ---- Keys ---- */

/*
 * Add the keys of its signatures to those that a row has: false: out of memory.  Rows that share one
 * are compared where the rule is one distance of bits; else they meet, as documents that are equal do.
 */
static bool signature_keys(const struct nd_met_set *met, const struct nd_sketch_row *from,
                           struct nd_key_list *keys)
{
    const struct nd_matching *m = met->plan.plan.matching;
    const struct nd_signature_row row = {from->signature, 0, from->length};
    const uint64_t is_enough = met->plan.kind != ND_ROW_FINGERPRINT;

    if (!nd_signature_index_shared_keys(m->shape, m->lookup, m->n_lookups, &row, keys) ||
        !ND_RESERVE(keys->items, &keys->capacity, keys->count + 1))
        return false;
    for (size_t i = 0; i < keys->count; i++)
        keys->items[i] = (keys->items[i] & ~UINT64_C(1)) | is_enough;
    if (!m->ignores_text)
        keys->items[keys->count++] = nd_filter_key_of_identity(from->identity);
    return true;
}

static size_t keys_of(const struct nd_met_set *met, const struct nd_sketch_row *from,
                      uint64_t key[KEYS_MAX])
{
    const struct nd_index_params *index = &met->plan.plan.index;
    struct nd_index_row row;
    size_t n = 0;

    if (met->compares && from->tokens >= met->plan.plan.params.sketch.w) {
        row.identity = from->identity;
        row.simhash = from->simhash;
        row.group = 0;
        memcpy(row.low, from->low, ND_MINHASH_COUNT);
        n = nd_filter_keys(index, &row, key);
    }
    key[n++] = nd_filter_key_of_identity(from->identity);
    return n;
}

/* ---- The table ---- */

static uint32_t *slot_of(const struct nd_met_set *met, uint64_t key)
{
    return &met->slot[nd_mix64(key) & (met->n_slots - 1)];
}

static bool reserve_slots(struct nd_met_set *met, size_t n_entries)
{
    size_t n = met->n_slots ? met->n_slots : LEAST_SLOTS;
    uint32_t *slot;

    while (n < n_entries)
        n *= 2;
    if (n == met->n_slots)
        return true;
    slot = calloc(n, sizeof *slot);
    if (!slot)
        return false;
    free(met->slot);
    met->slot = slot;
    met->n_slots = n;
    for (size_t i = 0; i < met->n_linked; i++) {
        uint32_t *at = slot_of(met, met->entry[i].key);

        met->entry[i].next = *at;
        *at = (uint32_t)i + 1;
    }
    return true;
}

/* Have a filter for so many keys, made anew of the entries from `first` on where it has to grow. */
static bool reserve_filter(struct nd_key_filter *f, const struct nd_met_set *met, size_t first,
                           size_t n_keys)
{
    if (nd_key_filter_suits(f, n_keys))
        return true;
    if (!nd_key_filter_make(f, n_keys + n_keys / 2))
        return false;
    for (size_t i = first; i < met->n_linked; i++)
        nd_key_filter_add(f, met->entry[i].key);
    return true;
}

static bool reserve(struct nd_met_set *met, size_t n_keys)
{
    size_t n = met->n_entries + n_keys;

    return n < UINT32_MAX && ND_RESERVE(met->entry, &met->entry_capacity, n) &&
           ND_RESERVE(met->passed, &met->passed_capacity, n) &&
           ND_RESERVE(met->body, &met->body_capacity, (met->n + 1) * met->plan.words + 1) &&
           ND_RESERVE(met->n_shingles, &met->shingles_capacity, met->n + 1);
}

/* Tables that grow are made anew. */
static bool make_room(struct nd_met_set *met, uint64_t documents)
{
    unsigned keys = (met->compares ? nd_table_identity(&met->plan.plan.index) : 0) + 1;

    return documents < UINT32_MAX / keys && reserve_slots(met, (size_t)documents * keys) &&
           reserve_filter(&met->all, met, 0, (size_t)documents * keys);
}

struct nd_met_set *nd_met_set_new(const struct nd_recipe *recipe, uint64_t documents,
                                  struct nd_error *err)
{
    struct nd_met_set *met = calloc(1, sizeof *met);
    const char *key = NULL;
    enum nd_status status;

    if (!met) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    status = nd_row_plan_init(&met->plan, recipe, &key, err);
    if (met->plan.plan.matching)
        status = ND_OK; /* any rule gives keys */
    if (status == ND_OK) {
        met->compares = met->plan.kind != ND_ROW_NOTHING || met->plan.plan.matching;
        if (make_room(met, documents))
            return met;
        nd_fail(err, ND_ENOMEM, "out of memory");
    }
    if (key)
        nd_fail(err, ND_EUNSUPPORTED, "%s: candidates are not found by rows", key);
    nd_met_set_free(met);
    return NULL;
}

/* Return the part of a row that is compared. */
static const void *body_of(const struct nd_met_set *met, const struct nd_sketch_row *row)
{
    static const uint64_t rejected[8];

    if (met->plan.kind == ND_ROW_FINGERPRINT) {
        const uint64_t *word = nd_sketch_row_words(row, met->plan.signature);

        return word ? word : rejected;
    }
    return met->plan.kind == ND_ROW_LOW_BYTES ? (const void *)row->low : &row->simhash;
}

static enum nd_status add(struct nd_met_set *met, const struct nd_sketch_row *row,
                          const uint64_t *key, size_t n_keys, struct nd_error *err)
{
    if (!reserve(met, n_keys))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < n_keys; i++) {
        met->passed[met->n_entries] = 0;
        met->entry[met->n_entries++] = (struct met_entry){key[i], (uint32_t)met->n, 0};
    }
    if (met->plan.words)
        memcpy(met->body + met->n * met->plan.words, body_of(met, row), met->plan.words * 8);
    met->n_shingles[met->n++] = row->n_shingles;
    return ND_OK;
}

enum nd_status nd_met_set_add(struct nd_met_set *met, const struct nd_sketch_row *row,
                              struct nd_error *err)
{
    struct nd_key_list list = {0};
    uint64_t key[KEYS_MAX];
    enum nd_status status;

    if (!met->plan.plan.matching)
        return add(met, row, key, keys_of(met, row, key), err);
    status = signature_keys(met, row, &list) ? add(met, row, list.items, list.count, err)
                                             : nd_fail(err, ND_ENOMEM, "out of memory");
    nd_key_list_release(&list);
    return status;
}

/* Link what was added; slots that are far from the caches are fetched while others are linked. */
enum nd_status nd_met_set_link(struct nd_met_set *met, struct nd_error *err)
{
    size_t n = met->n_entries;

    if (!reserve_slots(met, n) || !reserve_filter(&met->all, met, 0, n) ||
        (met->has_rounds &&
         !reserve_filter(&met->fresh, met, met->first_fresh, n - met->first_fresh)))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (; met->n_linked < n; met->n_linked++) {
        struct met_entry *e = &met->entry[met->n_linked];
        uint32_t *slot = slot_of(met, e->key);

        if (met->n_linked + AHEAD < n) {
            nd_key_filter_prefetch(&met->all, e[AHEAD].key);
            __builtin_prefetch(slot_of(met, e[AHEAD].key), 1);
        }
        e->next = *slot;
        *slot = (uint32_t)met->n_linked + 1;
        nd_key_filter_add(&met->all, e->key);
        if (met->has_rounds)
            nd_key_filter_add(&met->fresh, e->key);
    }
    return ND_OK;
}

void nd_met_set_begin_round(struct nd_met_set *met)
{
    met->has_rounds = true;
    met->first_fresh = met->n_entries;
    nd_key_filter_clear(&met->fresh);
}

/* ---- Who meets whom ---- */

static bool reaches(const struct nd_met_set *met, struct nd_reach reach,
                    const struct nd_sketch_row *row, size_t document)
{
    const uint64_t *body = met->body + document * met->plan.words;

    return nd_reaches(reach, met->n_shingles[document],
                      nd_row_distance(&met->plan, body, body_of(met, row)));
}

static bool meets_by(const struct nd_met_set *met, const struct nd_sketch_row *row, uint64_t key,
                     size_t first)
{
    const struct nd_reach reach = nd_engine_plan_reach(&met->plan.plan, row->n_shingles);
    size_t compared = 0;

    for (uint32_t at = *slot_of(met, key); at > first; at = met->entry[at - 1].next) {
        const struct met_entry *e = &met->entry[at - 1];

        if (e->key != key)
            continue;
        if (key & 1 || met->passed[at - 1] == CROWDED || ++compared > COMPARED_MAX ||
            reaches(met, reach, row, e->document))
            return true;
    }
    return false;
}

/* The latest entry of a key + 1; 0: it has none. */
static uint32_t latest_of(const struct nd_met_set *met, uint64_t key)
{
    uint32_t at = *slot_of(met, key);

    while (at && met->entry[at - 1].key != key)
        at = met->entry[at - 1].next;
    return at;
}

/* A row that meets nobody has this key. */
static void pass_by(const struct nd_met_set *met, uint64_t key)
{
    uint32_t at = latest_of(met, key);

    if (at)
        __atomic_fetch_add(&met->passed[at - 1], 1, __ATOMIC_RELAXED);
}

static const struct nd_key_filter *filter_of(const struct nd_met_set *met, bool is_fresh)
{
    return is_fresh ? &met->fresh : &met->all;
}

/* As nd_met_set_has, of a recipe by a rule on signatures. */
static bool has_signed(const struct nd_met_set *met, const struct nd_sketch_row *row, bool is_fresh)
{
    const struct nd_key_filter *filter = filter_of(met, is_fresh);
    struct nd_key_list list = {0};
    bool has =
        !signature_keys(met, row, &list); /* without memory it is taken, which does no harm */

    for (size_t i = 0; !has && i < list.count; i++)
        has = nd_key_filter_has(filter, list.items[i]) &&
              meets_by(met, row, list.items[i], is_fresh ? met->first_fresh : 0);
    nd_key_list_release(&list);
    return has;
}

bool nd_met_set_has(const struct nd_met_set *met, const struct nd_sketch_row *row, bool is_fresh)
{
    const struct nd_key_filter *filter = filter_of(met, is_fresh);
    uint64_t key[KEYS_MAX], hit[KEYS_MAX + 1];
    size_t n_keys, n_hits = 0;

    if (!met->n_linked || !filter->word)
        return false;
    if (met->plan.plan.matching)
        return has_signed(met, row, is_fresh);
    n_keys = keys_of(met, row, key);
    for (size_t i = 0; i < n_keys; i++)
        hit[n_hits] = key[i], n_hits += nd_key_filter_has(filter, key[i]);
    for (size_t i = 0; i < n_hits; i++)
        if (meets_by(met, row, hit[i], is_fresh ? met->first_fresh : 0))
            return true;
    for (size_t i = 0; i < n_hits; i++)
        pass_by(met, hit[i]);
    return false;
}

/* ---- Crowded keys ---- */

struct nd_met_tally *nd_met_tally_new(void)
{
    return calloc(1, sizeof(struct nd_met_tally));
}

void nd_met_tally_free(struct nd_met_tally *tally)
{
    free(tally);
}

static size_t place_in_tally(uint64_t key)
{
    return (size_t)(nd_mix64(key) >> (64 - TALLY_BITS));
}

static void tally_key(struct nd_met_tally *tally, uint64_t key)
{
    uint16_t *count = &tally->count[place_in_tally(key)];

    if (*count < UINT16_MAX)
        ++*count;
}

void nd_met_set_tally(const struct nd_met_set *met, const struct nd_sketch_row *row,
                      struct nd_met_tally *tally)
{
    uint64_t key[KEYS_MAX];
    size_t n = met->plan.plan.matching ? 0 : keys_of(met, row, key);

    for (size_t i = 0; i < n; i++)
        tally_key(tally, key[i]);
}

void nd_met_set_tally_all(const struct nd_met_set *met, struct nd_met_tally *tally)
{
    for (size_t i = 0; i < met->n_entries; i++)
        tally_key(tally, met->entry[i].key);
}

void nd_met_set_use_tally(struct nd_met_set *met, const struct nd_met_tally *others)
{
    met->others = others;
}

/* Documents that have a key, from its latest entry on: UINT32_MAX if it is crowded already. */
static uint64_t count_of_key(const struct nd_met_set *met, uint32_t latest)
{
    uint64_t key = met->entry[latest - 1].key,
             n = met->others ? met->others->count[place_in_tally(key)] : 0;

    if (n == UINT16_MAX)
        n = CROWDED - 1; /* or more */
    for (uint32_t at = latest; at; at = met->entry[at - 1].next) {
        if (met->entry[at - 1].key != key)
            continue;
        if (met->passed[at - 1] == CROWDED)
            return CROWDED;
        n += 1 + met->passed[at - 1];
    }
    return n;
}

/*
 * Sums of what the entries of keys count, by a hash of the key: whether a key has few documents is
 * known without its chain, which is far from the caches, for nearly all keys.
 */
struct key_sums {
    uint32_t *sum; /* NULL: there is no memory, and nothing is known */
    unsigned shift;
};

static struct key_sums sum_by_hash(const struct nd_met_set *met)
{
    struct key_sums s = {.shift = 64 - SUM_BITS_MIN};

    while (s.shift > 32 && met->n_linked >> (64 - s.shift) > SUM_ENTRIES)
        s.shift--;
    s.sum = calloc((size_t)1 << (64 - s.shift), sizeof *s.sum);
    for (size_t i = 0; s.sum && i < met->n_linked; i++) {
        uint32_t *sum = &s.sum[nd_mix64(met->entry[i].key) >> s.shift];
        uint32_t passed = met->passed[i] < UINT32_MAX / 2 ? met->passed[i] : UINT32_MAX / 2;

        *sum = *sum + passed < UINT32_MAX / 2 ? *sum + passed + 1 : UINT32_MAX / 2;
    }
    return s;
}

static bool may_be_crowded(const struct nd_met_set *met, const struct key_sums *s, uint64_t key)
{
    uint64_t others = met->others ? met->others->count[place_in_tally(key)] : 0;

    return !s->sum || others == UINT16_MAX ||
           others + s->sum[nd_mix64(key) >> s->shift] >= met->plan.plan.key_room;
}

bool nd_met_set_find_crowded(struct nd_met_set *met)
{
    struct key_sums sums;
    bool has_found = false;

    if (met->plan.plan.matching) /* keys of signatures list every document */
        return false;
    sums = sum_by_hash(met);
    for (uint32_t i = 0; i < met->n_linked; i++) {
        uint64_t key = met->entry[i].key, n = 0;

        if (key & 1 || !may_be_crowded(met, &sums, key) || latest_of(met, key) != i + 1)
            continue;
        n = count_of_key(met, i + 1);
        if (n == CROWDED || n < met->plan.plan.key_room)
            continue;
        met->passed[i] = CROWDED;
        has_found = true;
    }
    free(sums.sum);
    for (size_t i = 0; i < met->n_entries; i++)
        met->passed[i] = met->passed[i] == CROWDED ? CROWDED : 0;
    return has_found;
}

/* Return which rows have an identity that is in the filter, as bits. */
static uint64_t equal_in(const struct nd_key_filter *filter, const struct nd_met_keys *row,
                         unsigned n)
{
    uint64_t found = 0;

    for (unsigned i = 0; i < n; i++) {
        bool is_in = nd_key_filter_has(filter, nd_filter_key_of_identity(row[i].identity));

        found |= (uint64_t)is_in << i;
    }
    return found;
}

uint64_t nd_met_set_sift(const struct nd_met_set *met, const struct nd_met_keys *row, unsigned n,
                         bool is_fresh)
{
    const struct nd_key_filter *filter = filter_of(met, is_fresh);
    const struct nd_index_params *index = &met->plan.plan.index;
    const uint8_t *low[ND_MET_SIFTED];
    uint32_t number[ND_MET_SIFTED];
    uint64_t found;
    size_t n_found;

    if (!met->n_linked || !filter->word)
        return 0;
    found = equal_in(filter, row, n);
    if (!met->compares)
        return found;
    if (!nd_key_filter_takes(index))
        return UINT64_MAX >> (ND_MET_SIFTED - n);
    for (unsigned i = 0; i < n; i++)
        low[i] = row[i].low;
    n_found = nd_key_filter_bands(filter, index, low, n, number);
    for (size_t i = 0; i < n_found; i++)
        found |= UINT64_C(1) << number[i];
    return found;
}
