/* catalog_rows.c - the bytes of keys and rows (docs/format/store.md); knows no database */
#include "store/catalog/catalog_rows.h"

#include <string.h>

#include <neardup/dedup.h>

#include "base/hash.h"
#include "store/store.h"

/* ---- Numbers, the lowest byte first ---- */

static uint8_t *put_16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    return p + 2;
}

static uint8_t *put_32(uint8_t *p, uint32_t v)
{
    return put_16(put_16(p, v), v >> 16);
}

static uint8_t *put_64(uint8_t *p, uint64_t v)
{
    return put_32(put_32(p, (uint32_t)v), (uint32_t)(v >> 32));
}

static uint8_t *put_hash(uint8_t *p, struct nd_text_hash hash)
{
    return put_64(put_64(p, hash.low), hash.high);
}

/* The unread rest of a row; its length was compared before. */
struct row_rest {
    const uint8_t *p;
};

static uint8_t take_8(struct row_rest *r)
{
    return *r->p++;
}

static uint16_t take_16(struct row_rest *r)
{
    uint16_t low = take_8(r);

    return (uint16_t)(low | (unsigned)take_8(r) << 8);
}

static uint32_t take_32(struct row_rest *r)
{
    uint32_t low = take_16(r);

    return low | (uint32_t)take_16(r) << 16;
}

static uint64_t take_64(struct row_rest *r)
{
    uint64_t low = take_32(r);

    return low | (uint64_t)take_32(r) << 32;
}

static struct nd_text_hash take_hash(struct row_rest *r)
{
    uint64_t low = take_64(r);

    return (struct nd_text_hash){low, take_64(r)};
}

static struct row_rest rest_of(struct nd_view row)
{
    return (struct row_rest){(const uint8_t *)row.data};
}

void nd_row_put_32(uint8_t *row, uint32_t number)
{
    (void)put_32(row, number);
}

bool nd_row_get_32(struct nd_view row, uint32_t *number)
{
    struct row_rest r = rest_of(row);

    if (row.len != 4)
        return false;
    *number = take_32(&r);
    return true;
}

/* ---- Hashes ---- */

struct nd_text_hash nd_text_hash(struct nd_view text)
{
    struct nd_text_hash hash;

    nd_hash_bytes_128(text.data ? text.data : "", text.len, &hash.low, &hash.high);
    return hash;
}

/* A key of a long id is longer than that of any id that is there as it is, so no two of them are
 * taken for one another. */
void nd_key_add_id(struct nd_key *key, struct nd_view id)
{
    struct nd_text_hash hash;

    if (id.len <= ND_KEY_ID_WHOLE) {
        if (id.len)
            memcpy(key->bytes + key->len, id.data, id.len);
        key->len += id.len;
        return;
    }
    hash = nd_text_hash(id);
    memcpy(key->bytes + key->len, id.data, ND_KEY_ID_BEGINS);
    key->len += ND_KEY_ID_BEGINS;
    nd_key_add_64(key, hash.high);
    nd_key_add_64(key, hash.low);
    key->bytes[key->len++] = 0;
}

struct nd_key nd_key_recent(uint32_t label_set, uint64_t created, struct nd_view id)
{
    struct nd_key key = {0};

    nd_key_add_32(&key, label_set);
    nd_key_add_64(&key, created);
    nd_key_add_id(&key, id);
    return key;
}

uint32_t nd_row_checksum(unsigned table, const struct nd_key *key, struct nd_view row)
{
    uint64_t seed = nd_hash_bytes_seeded(key->bytes, key->len, table);

    return (uint32_t)nd_hash_bytes_seeded(row.data ? row.data : "", row.len, seed);
}

/* ---- The state ---- */

void nd_row_put_state(uint8_t *row, const struct nd_catalog_state *s)
{
    uint8_t *p = put_64(row, s->commit);

    p = put_64(p, s->next_document);
    p = put_32(p, s->next_entry);
    p = put_32(p, s->n_label_sets);
    p = put_64(p, s->next_order);
    p = put_64(p, s->segments.segment);
    p = put_64(p, s->segments.offset);
    p = put_64(p, s->n_documents);
    p = put_64(p, s->n_entries);
    p = put_64(p, s->n_versions);
    p = put_64(p, s->n_pairs);
    (void)put_64(p, s->text_bytes);
}

bool nd_row_get_state(struct nd_view row, struct nd_catalog_state *s)
{
    struct row_rest r = rest_of(row);
    uint64_t segment;

    if (row.len != ND_ROW_STATE)
        return false;
    s->commit = take_64(&r);
    s->next_document = take_64(&r);
    s->next_entry = take_32(&r);
    s->n_label_sets = take_32(&r);
    s->next_order = take_64(&r);
    segment = take_64(&r);
    s->segments.segment = (uint32_t)segment;
    s->segments.offset = take_64(&r);
    s->n_documents = take_64(&r);
    s->n_entries = take_64(&r);
    s->n_versions = take_64(&r);
    s->n_pairs = take_64(&r);
    s->text_bytes = take_64(&r);
    return segment <= UINT32_MAX;
}

/* ---- Entries ---- */

enum {
    ENTRY_EMPTY = 1,
    ENTRY_SHORT = 2,
    ENTRY_IDENTITY_ONLY = 4,
    ENTRY_LEFT_OUT = 8,
    ENTRY_HAS_LED = 16
};

static unsigned flags_of(const struct nd_entry *entry)
{
    const struct nd_index_row *row = &entry->row;
    bool is_left_out = false;

    for (int i = 0; i < ND_TABLE_SET_WORDS; i++)
        is_left_out |= row->left_out.word[i] != 0;
    return (entry->is_empty ? ENTRY_EMPTY : 0u) | (row->is_short ? ENTRY_SHORT : 0u) |
           (row->identity_only ? ENTRY_IDENTITY_ONLY : 0u) | (is_left_out ? ENTRY_LEFT_OUT : 0u) |
           (entry->has_led ? ENTRY_HAS_LED : 0u);
}

size_t nd_row_put_entry(uint8_t *row, const struct nd_entry *e)
{
    unsigned flags = flags_of(e);
    uint8_t *p = put_32(row, e->label_set);

    p = put_32(p, e->n_documents);
    p = put_hash(p, e->hash);
    p = put_32(p, e->text.segment);
    p = put_32(p, e->text.stored);
    p = put_64(p, e->text.offset);
    p = put_32(p, e->text.bytes);
    p = put_64(p, e->n_tokens);
    p = put_32(p, e->row.n_shingles);
    p = put_64(p, e->row.simhash);
    p = put_64(p, e->row.identity);
    *p++ = (uint8_t)flags;
    memcpy(p, e->row.low, ND_MINHASH_COUNT);
    p += ND_MINHASH_COUNT;
    for (int i = 0; i < ND_TABLE_SET_WORDS && flags & ENTRY_LEFT_OUT; i++)
        p = put_64(p, e->row.left_out.word[i]);
    return (size_t)(p - row);
}

bool nd_row_get_entry(struct nd_view row, struct nd_entry *e)
{
    struct row_rest r = rest_of(row);
    unsigned flags;

    if (row.len != ND_ROW_ENTRY && row.len != ND_ROW_ENTRY + ND_ROW_LEFT_OUT)
        return false;
    memset(e, 0, sizeof *e);
    e->label_set = e->row.group = take_32(&r);
    e->n_documents = take_32(&r);
    e->hash = take_hash(&r);
    e->text.segment = take_32(&r);
    e->text.stored = take_32(&r);
    e->text.offset = take_64(&r);
    e->text.bytes = take_32(&r);
    e->n_tokens = take_64(&r);
    e->row.n_shingles = take_32(&r);
    e->row.simhash = take_64(&r);
    e->row.identity = take_64(&r);
    flags = take_8(&r);
    e->is_empty = flags & ENTRY_EMPTY;
    e->has_led = flags & ENTRY_HAS_LED;
    e->row.is_short = flags & ENTRY_SHORT;
    e->row.identity_only = flags & ENTRY_IDENTITY_ONLY;
    memcpy(e->row.low, r.p, ND_MINHASH_COUNT);
    r.p += ND_MINHASH_COUNT;
    for (int i = 0; i < ND_TABLE_SET_WORDS && row.len > ND_ROW_ENTRY; i++)
        e->row.left_out.word[i] = take_64(&r);
    return flags == flags_of(e) && (row.len > ND_ROW_ENTRY) == !!(flags & ENTRY_LEFT_OUT);
}

/* ---- Documents and versions ---- */

static uint8_t *put_visits(uint8_t *p, const struct nd_visits *v)
{
    p = put_64(p, v->simhash);
    p = put_64(p, v->visits);
    p = put_64(p, v->changes);
    p = put_64(p, v->interval);
    p = put_32(p, v->equal);
    p = put_32(p, v->changed);
    p = put_32(p, v->priority);
    p = put_64(p, v->changed_by);
    return put_64(p, v->in_time);
}

static void take_visits(struct row_rest *r, struct nd_visits *v)
{
    v->simhash = take_64(r);
    v->visits = take_64(r);
    v->changes = take_64(r);
    v->interval = take_64(r);
    v->equal = take_32(r);
    v->changed = take_32(r);
    v->priority = take_32(r);
    v->changed_by = take_64(r);
    v->in_time = take_64(r);
}

size_t nd_row_put_document(uint8_t *row, const struct nd_document_row *d)
{
    uint8_t *p = put_64(row, d->number);

    p = put_64(p, d->order);
    p = put_32(p, d->entry);
    p = put_32(p, d->version);
    p = put_64(p, d->created);
    p = put_64(p, d->updated);
    p = put_64(p, d->visited);
    p = put_64(p, d->due);
    p = put_visits(p, &d->visits);
    p = put_16(p, d->title.len);
    memcpy(p, d->title.text, d->title.len);
    return (size_t)(p + d->title.len - row);
}

bool nd_row_get_document(struct nd_view row, struct nd_document_row *d, struct nd_view *id)
{
    struct row_rest r = rest_of(row);
    size_t len;

    if (row.len < ND_ROW_DOCUMENT)
        return false;
    memset(d, 0, sizeof *d);
    d->number = take_64(&r);
    d->order = take_64(&r);
    d->entry = take_32(&r);
    d->version = take_32(&r);
    d->created = take_64(&r);
    d->updated = take_64(&r);
    d->visited = take_64(&r);
    d->due = take_64(&r);
    take_visits(&r, &d->visits);
    d->title.len = take_16(&r);
    len = row.len - ND_ROW_DOCUMENT;
    if (d->title.len > ND_STORE_TITLE_MAX || d->title.len > len)
        return false;
    memcpy(d->title.text, r.p, d->title.len);
    len -= d->title.len;
    *id = (struct nd_view){(const char *)r.p + d->title.len, len};
    return d->version > 0 && (len == 0 || (len > ND_KEY_ID_WHOLE && len <= ND_STORE_ID_MAX));
}

void nd_row_put_version(uint8_t *row, const struct nd_version_row *v)
{
    uint8_t *p = put_64(row, v->time);

    p = put_64(p, v->visited);
    p = put_hash(p, v->hash);
    p = put_64(p, v->simhash);
    p = put_64(p, v->identity);
    p = put_64(p, v->n_tokens);
    p = put_64(p, v->n_shingles);
    p = put_64(p, v->text_bytes);
    (void)put_32(p, v->distance);
}

bool nd_row_get_version(struct nd_view row, struct nd_version_row *v)
{
    struct row_rest r = rest_of(row);

    if (row.len != ND_ROW_VERSION)
        return false;
    v->time = take_64(&r);
    v->visited = take_64(&r);
    v->hash = take_hash(&r);
    v->simhash = take_64(&r);
    v->identity = take_64(&r);
    v->n_tokens = take_64(&r);
    v->n_shingles = take_64(&r);
    v->text_bytes = take_64(&r);
    v->distance = take_32(&r);
    return true;
}

/* ---- Pairs, counts, segments ---- */

void nd_row_put_pair(uint8_t *row, const struct nd_pair_row *pair)
{
    *put_16(put_32(row, pair->shared), pair->distance) = pair->identical;
}

bool nd_row_get_pair(struct nd_view row, struct nd_pair_row *pair)
{
    struct row_rest r = rest_of(row);

    if (row.len != ND_ROW_PAIR)
        return false;
    pair->shared = take_32(&r);
    pair->distance = take_16(&r);
    pair->identical = take_8(&r);
    return pair->identical <= ND_IDENTICAL_TOKENS || pair->identical == ND_PAIR_GAP;
}

void nd_row_put_counts(uint8_t *row, const struct nd_set_counts *c)
{
    uint8_t *p = put_64(row, c->documents);

    p = put_64(p, c->versions);
    p = put_64(p, c->entries);
    (void)put_64(p, c->text_bytes);
}

bool nd_row_get_counts(struct nd_view row, struct nd_set_counts *c)
{
    struct row_rest r = rest_of(row);

    if (row.len != ND_ROW_COUNTS)
        return false;
    c->documents = take_64(&r);
    c->versions = take_64(&r);
    c->entries = take_64(&r);
    c->text_bytes = take_64(&r);
    return true;
}

void nd_row_put_segment(uint8_t *row, const struct nd_segment_row *s)
{
    (void)put_64(put_64(put_64(row, s->live_bytes), s->dead_bytes), s->dead_since);
}

bool nd_row_get_segment(struct nd_view row, struct nd_segment_row *s)
{
    struct row_rest r = rest_of(row);

    if (row.len != ND_ROW_SEGMENT)
        return false;
    s->live_bytes = take_64(&r);
    s->dead_bytes = take_64(&r);
    s->dead_since = take_64(&r);
    return true;
}
