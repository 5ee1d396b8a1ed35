/*
 * met.c - a set of documents, and which others could meet one of them
 *
 *   row ──▶ keys ──▶ filter of 64-bit words ──▶ table: key → documents ──▶ counts, low bytes or bits
 *        of bands or  (Bloom 1970; Putze 2007:
 *        blocks, and   one word a key)
 *        of equality
 *
 * Nearly all rows end at the filter, which stays in the processor's caches where the table does not.
 * A document has a key for each band or block, as in the index, and two by which equal documents
 * meet: of its text and of its tokens.
 */
#include "engine/met.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "engine/row_maker.h"

enum {
    KEYS_MAX = ND_MINHASH_COUNT + 64 + 3,
    KEY_BITS = 16,     /* of the filter for each key */
    COMPARED_MAX = 64, /* documents of a key that are compared before the answer is yes */
    LEAST_WORDS = 1024,
    LEAST_SLOTS = 1024
};

/* A document stands under a key. */
struct entry {
    uint64_t key;
    uint32_t document;
    uint32_t next; /* entry of the same slot + 1; 0: none */
};

struct filter {
    uint64_t *word;
    size_t n_words; /* a power of two */
};

struct nd_met_set {
    struct nd_row_plan plan;
    bool compares;   /* rows, beyond their keys */
    bool has_rounds; /* the first one has begun */
    struct filter all, fresh;
    struct entry *entry;
    size_t n_entries, entry_capacity, first_fresh;
    uint32_t *slot; /* entry + 1 */
    size_t n_slots;
    /* Of each document: what is compared, and how many shingles it has. */
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
    free(met->all.word);
    free(met->fresh.word);
    free(met->entry);
    free(met->slot);
    free(met->body);
    free(met->n_shingles);
    free(met);
}

/* ---- Keys ---- */

/* Keys of different tables, and those of equal documents, are told apart; the lowest bit is set of
 * these.  All are hashes already. */
static uint64_t key_in(uint64_t key, uint64_t table, bool is_of_equal)
{
    key ^= table * UINT64_C(0x9E3779B97F4A7C15);
    return (key & ~UINT64_C(1)) | is_of_equal;
}

static size_t keys_of(const struct nd_met_set *met, const struct nd_sketch_row *from,
                      uint64_t key[KEYS_MAX])
{
    const struct nd_index_params *index = &met->plan.plan.index;
    unsigned tables = nd_table_identity(index);
    struct nd_index_row row;
    size_t n = 0;

    if (met->compares && from->tokens >= met->plan.plan.params.sketch.w) {
        row.identity = from->identity;
        row.simhash = from->simhash;
        row.group = 0;
        memcpy(row.low, from->low, ND_MINHASH_COUNT);
        nd_table_keys(index, &row, key);
        for (; n < tables; n++)
            key[n] = key_in(key[n], n, false);
    }
    key[n++] = key_in(from->text_hash[0], KEYS_MAX, true);
    key[n++] = key_in(from->identity, KEYS_MAX + 1, true);
    return n;
}

/* ---- The filter ---- */

/* Four bits of one word. */
static uint64_t bits_of(uint64_t key)
{
    return UINT64_C(1) << (key >> 1 & 63) | UINT64_C(1) << (key >> 7 & 63) |
           UINT64_C(1) << (key >> 13 & 63) | UINT64_C(1) << (key >> 19 & 63);
}

static uint64_t *word_of(const struct filter *f, uint64_t key)
{
    return &f->word[key >> 25 & (f->n_words - 1)];
}

static void filter_add(struct filter *f, uint64_t key)
{
    *word_of(f, key) |= bits_of(key);
}

static bool filter_has(const struct filter *f, uint64_t key)
{
    uint64_t bits = bits_of(key);

    return (*word_of(f, key) & bits) == bits;
}

/* Have a filter for so many keys, made anew of the entries from `first` on where it has to grow. */
static bool filter_reserve(struct filter *f, const struct nd_met_set *met, size_t first,
                           size_t n_keys)
{
    size_t n = f->n_words ? f->n_words : LEAST_WORDS;
    uint64_t *word;

    while (n * 64 < n_keys * KEY_BITS)
        n *= 2;
    if (n == f->n_words)
        return true;
    word = calloc(n, sizeof *word);
    if (!word)
        return false;
    free(f->word);
    *f = (struct filter){word, n};
    for (size_t i = first; i < met->n_entries; i++)
        filter_add(f, met->entry[i].key);
    return true;
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
    for (size_t i = 0; i < met->n_entries; i++) {
        uint32_t *at = slot_of(met, met->entry[i].key);

        met->entry[i].next = *at;
        *at = (uint32_t)i + 1;
    }
    return true;
}

static bool reserve(struct nd_met_set *met, size_t n_keys)
{
    size_t n = met->n_entries + n_keys;

    return n < UINT32_MAX && ND_RESERVE(met->entry, &met->entry_capacity, n) &&
           ND_RESERVE(met->body, &met->body_capacity, (met->n + 1) * met->plan.words + 1) &&
           ND_RESERVE(met->n_shingles, &met->shingles_capacity, met->n + 1) &&
           reserve_slots(met, n) && filter_reserve(&met->all, met, 0, n) &&
           (!met->has_rounds ||
            filter_reserve(&met->fresh, met, met->first_fresh, n - met->first_fresh));
}

/* Tables that grow are made anew. */
static bool make_room(struct nd_met_set *met, uint64_t documents)
{
    unsigned keys = (met->compares ? nd_table_identity(&met->plan.plan.index) : 0) + 2;

    return documents < UINT32_MAX / keys && reserve_slots(met, (size_t)documents * keys) &&
           filter_reserve(&met->all, met, 0, (size_t)documents * keys);
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
    /* Blocks of a fingerprint need the signature of the row. */
    if (status == ND_OK && met->plan.kind == ND_ROW_FINGERPRINT) {
        key = "match";
        status = ND_EUNSUPPORTED;
    }
    if (status == ND_OK) {
        met->compares = met->plan.kind != ND_ROW_NOTHING;
        if (make_room(met, documents))
            return met;
        nd_fail(err, ND_ENOMEM, "out of memory");
    }
    if (key)
        nd_fail(err, ND_EUNSUPPORTED, "%s: candidates are not found by rows", key);
    nd_met_set_free(met);
    return NULL;
}

/* What of a row is compared. */
static const void *body_of(const struct nd_met_set *met, const struct nd_sketch_row *row)
{
    return met->plan.kind == ND_ROW_LOW_BYTES ? (const void *)row->low : &row->simhash;
}

enum nd_status nd_met_set_add(struct nd_met_set *met, const struct nd_sketch_row *row,
                              struct nd_error *err)
{
    uint64_t key[KEYS_MAX];
    size_t n_keys = keys_of(met, row, key);

    if (!reserve(met, n_keys))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < n_keys; i++) {
        uint32_t *slot = slot_of(met, key[i]);

        met->entry[met->n_entries++] = (struct entry){key[i], (uint32_t)met->n, *slot};
        *slot = (uint32_t)met->n_entries;
        filter_add(&met->all, key[i]);
        if (met->has_rounds)
            filter_add(&met->fresh, key[i]);
    }
    if (met->plan.words)
        memcpy(met->body + met->n * met->plan.words, body_of(met, row), met->plan.words * 8);
    met->n_shingles[met->n++] = row->n_shingles;
    return ND_OK;
}

void nd_met_set_begin_round(struct nd_met_set *met)
{
    met->has_rounds = true;
    met->first_fresh = met->n_entries;
    if (met->fresh.n_words > LEAST_WORDS) { /* a large one would not stay in the caches */
        free(met->fresh.word);
        met->fresh = (struct filter){0};
    }
    if (met->fresh.word)
        memset(met->fresh.word, 0, met->fresh.n_words * sizeof *met->fresh.word);
}

/* ---- Who meets whom ---- */

static unsigned distance_to(const struct nd_met_set *met, size_t document,
                            const struct nd_sketch_row *row)
{
    const uint64_t *body = met->body + document * met->plan.words;

    return met->plan.kind == ND_ROW_LOW_BYTES
               ? ND_MINHASH_COUNT -
                     nd_low_bytes_equal((const uint8_t *)(const void *)body, row->low)
               : nd_count_ones(*body ^ row->simhash);
}

/* As candidate_rows.c: whichever of the two came first. */
static bool could_match(const struct nd_met_set *met, size_t document,
                        const struct nd_sketch_row *row)
{
    const struct nd_plan *plan = &met->plan.plan;
    uint32_t a = met->n_shingles[document], b = row->n_shingles;

    return (nd_index_filter_allows(nd_plan_filter(plan, a), b) ||
            nd_index_filter_allows(nd_plan_filter(plan, b), a)) &&
           distance_to(met, document, row) <= met->plan.distance;
}

static bool meets_by(const struct nd_met_set *met, const struct nd_sketch_row *row, uint64_t key,
                     size_t first)
{
    size_t compared = 0;

    for (uint32_t at = *slot_of(met, key); at > first; at = met->entry[at - 1].next) {
        const struct entry *e = &met->entry[at - 1];

        if (e->key != key)
            continue;
        if (key & 1 || ++compared > COMPARED_MAX || could_match(met, e->document, row))
            return true;
    }
    return false;
}

bool nd_met_set_has(const struct nd_met_set *met, const struct nd_sketch_row *row, bool is_fresh)
{
    const struct filter *filter = is_fresh ? &met->fresh : &met->all;
    uint64_t key[KEYS_MAX], hit[KEYS_MAX + 1];
    size_t n_keys, n_hits = 0;

    if (!met->n_entries || !filter->word)
        return false;
    n_keys = keys_of(met, row, key);
    for (size_t i = 0; i < n_keys; i++)
        hit[n_hits] = key[i], n_hits += filter_has(filter, key[i]);
    for (size_t i = 0; i < n_hits; i++)
        if (meets_by(met, row, hit[i], is_fresh ? met->first_fresh : 0))
            return true;
    return false;
}
