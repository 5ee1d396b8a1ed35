/* signatures.c - signatures by document, and a table that finds those which may match */
#include "index/signatures.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "index/multimap.h"
#include "index/rarity.h"
#include "index/signature_places.h"
#include "index/table_keys.h"

enum { SHAPES_MAX = 4 };

/*
 * Where values are few, even the rarest of a set are in many others, but few others share several
 * of them: sets are listed under three values more than they must be, and those that share four are
 * looked at (Wang, Li and Feng, "Can we beat the prefix filtering?", SIGMOD 2012).  An entry of the
 * table that is counted costs a fraction of a document that is looked at.
 */
enum { MORE_VALUES = 3, COUNTED_MOST = 8 };
_Static_assert(MORE_VALUES + 1 < COUNTED_MOST, "what is shared is counted in three bits");

/* Where the words of a signature of varying length stand. */
struct place {
    uint64_t from;
    uint32_t count;
    uint32_t is_rejected;
    struct nd_value_sieve sieve; /* of values */
};

struct column {
    struct nd_column word;  /* uint64_t */
    struct nd_column place; /* struct place; of every form, so that rejection has its home */
    uint64_t n_words;
};

struct fact {
    uint64_t length;
    uint32_t group;
    uint32_t is_listed;
};

struct nd_signatures {
    struct nd_signature_shape shape[SHAPES_MAX];
    struct nd_signature_lookup lookup[ND_SIGNATURE_LOOKUPS];
    unsigned n_shapes, n_lookups;
    struct column column[SHAPES_MAX];
    struct nd_column fact;
    uint32_t n;
    struct nd_multimap table;
    struct nd_rarity rarity; /* of values' keys */
    struct nd_key_list keys; /* of the row at hand, while the table is changed, */
    struct nd_key_list kept; /* and under which of them it is listed */
};

struct nd_signatures *nd_signatures_new(const struct nd_signature_shape *shape, unsigned n_shapes,
                                        const struct nd_signature_lookup *lookup,
                                        unsigned n_lookups)
{
    struct nd_signatures *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    memcpy(s->shape, shape, n_shapes * sizeof *shape);
    memcpy(s->lookup, lookup, n_lookups * sizeof *lookup);
    s->n_shapes = n_shapes;
    s->n_lookups = n_lookups;
    return s;
}

void nd_signatures_free(struct nd_signatures *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < s->n_shapes; i++) {
        nd_column_release(&s->column[i].word);
        nd_column_release(&s->column[i].place);
    }
    nd_column_release(&s->fact);
    nd_multimap_release(&s->table);
    nd_key_list_release(&s->keys);
    nd_key_list_release(&s->kept);
    nd_rarity_release(&s->rarity);
    free(s);
}

size_t nd_signatures_bytes(const struct nd_signatures *s)
{
    size_t bytes =
        sizeof *s + s->fact.bytes + nd_multimap_bytes(&s->table) + nd_rarity_bytes(&s->rarity);

    for (unsigned i = 0; i < s->n_shapes; i++)
        bytes += s->column[i].word.bytes + s->column[i].place.bytes;
    return bytes;
}

void nd_numbers_release(struct nd_numbers *list)
{
    free(list->at);
    free(list->met);
    *list = (struct nd_numbers){0};
}

static struct fact *fact_of(const struct nd_signatures *s, uint32_t number)
{
    return (struct fact *)s->fact.data + number;
}

uint64_t nd_signatures_length(const struct nd_signatures *s, uint32_t number)
{
    return fact_of(s, number)->length;
}

uint32_t nd_signatures_group(const struct nd_signatures *s, uint32_t number)
{
    return fact_of(s, number)->group;
}

struct nd_signature nd_signatures_get(const struct nd_signatures *s, unsigned signature,
                                      uint32_t number)
{
    const struct column *c = &s->column[signature];
    const struct place *place = (const struct place *)c->place.data + number;

    return (struct nd_signature){.word = (const uint64_t *)c->word.data + place->from,
                                 .count = place->count,
                                 .is_rejected = place->is_rejected != 0};
}

struct nd_value_sieve nd_value_sieve_of(const struct nd_signature *values)
{
    struct nd_value_sieve sieve = {{0}};

    for (size_t i = 0; i < values->count; i++) {
        uint64_t at = values->word[i] * UINT64_C(0x9E3779B97F4A7C15) >> 56;

        sieve.word[at / 64] |= UINT64_C(1) << at % 64;
    }
    return sieve;
}

size_t nd_value_sieve_most(const struct nd_value_sieve *x, size_t a, const struct nd_value_sieve *y,
                           size_t b)
{
    size_t differ = 0, least = a < b ? a : b, most;

    for (unsigned i = 0; i < 4; i++)
        differ += nd_count_ones(x->word[i] ^ y->word[i]);
    most = (a + b - differ) / 2; /* a bit differs for one value at least of a or of b */
    return most < least ? most : least;
}

struct nd_value_sieve nd_signatures_sieve(const struct nd_signatures *s, unsigned signature,
                                          uint32_t number)
{
    return ((const struct place *)s->column[signature].place.data + number)->sieve;
}

bool nd_signatures_append(struct nd_signatures *s, const struct nd_signature_row *row)
{
    size_t n = (size_t)s->n + 1;

    if (!nd_column_reserve(&s->fact, n, sizeof(struct fact)))
        return false;
    for (unsigned i = 0; i < s->n_shapes; i++) {
        struct column *c = &s->column[i];
        const struct nd_signature *signature = &row->signature[i];
        size_t count = signature->is_rejected ? 0 : signature->count;

        if (count > UINT32_MAX ||
            !nd_column_reserve(&c->word, c->n_words + count + 1, sizeof(uint64_t)) ||
            !nd_column_reserve(&c->place, n, sizeof(struct place)))
            return false;
    }
    for (unsigned i = 0; i < s->n_shapes; i++) {
        struct column *c = &s->column[i];
        const struct nd_signature *signature = &row->signature[i];
        size_t count = signature->is_rejected ? 0 : signature->count;

        ((struct place *)c->place.data)[s->n] =
            (struct place){c->n_words, (uint32_t)count, signature->is_rejected, {{0}}};
        if (s->shape[i].form == ND_FORM_VALUES && count)
            ((struct place *)c->place.data)[s->n].sieve = nd_value_sieve_of(signature);
        if (count)
            memcpy((uint64_t *)c->word.data + c->n_words, signature->word,
                   count * sizeof *signature->word);
        c->n_words += count;
    }
    *fact_of(s, s->n) = (struct fact){row->length, row->group, 0};
    s->n++;
    return true;
}

/* The keys of a stored document. */
static bool stored_keys(struct nd_signatures *s, uint32_t number)
{
    struct nd_signature signature[SHAPES_MAX];

    for (unsigned i = 0; i < s->n_shapes; i++)
        signature[i] = nd_signatures_get(s, i, number);
    return nd_signatures_row_keys(
        s->shape, s->lookup, s->n_lookups,
        &(struct nd_signature_row){signature, fact_of(s, number)->group, 0}, &s->keys);
}

/* Of several look-ups one is enough to be met, so that what is shared is counted of a single one.
 */
static size_t more_values(const struct nd_signatures *s)
{
    return s->n_lookups == 1 ? MORE_VALUES : 0;
}

/* Under which of its keys a document is listed. */
static bool choose_keys(struct nd_signatures *s)
{
    const struct nd_key_list *keys = &s->keys;

    s->kept.count = 0;
    for (unsigned i = 0; i < s->n_lookups; i++) {
        size_t from = i ? keys->end[i - 1] : 0;

        if (!nd_places_listed(&s->rarity, &s->lookup[i], keys->at + from, keys->end[i] - from,
                              more_values(s), &s->kept))
            return false;
    }
    return true;
}

static void add_kept(struct nd_signatures *s, uint32_t number)
{
    for (size_t k = 0; k < s->kept.count; k++)
        nd_multimap_add(&s->table, s->kept.at[k], number);
}

/* Fill a table that has grown with all that was listed. */
static bool fill_again(struct nd_signatures *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (!fact_of(s, i)->is_listed)
            continue;
        if (!stored_keys(s, i) || !choose_keys(s))
            return false;
        add_kept(s, i);
    }
    return true;
}

/* Larger by what all keys of the row at hand, twice, may take, and by another order. */
static bool grow_table(struct nd_signatures *s)
{
    uint16_t *order = nd_rarity_copy(&s->rarity);

    if (!order)
        return false;
    if (!nd_multimap_grow(&s->table, 2 * s->keys.count)) {
        free(order);
        return false;
    }
    nd_rarity_fix(&s->rarity, order);
    return fill_again(s);
}

bool nd_signatures_list(struct nd_signatures *s, uint32_t number)
{
    if (!stored_keys(s, number) || !choose_keys(s) ||
        !nd_rarity_count(&s->rarity, s->keys.at, s->keys.count, s->table.count + s->kept.count))
        return false;
    if (!nd_multimap_fits(&s->table, s->keys.count * 2) &&
        (!grow_table(s) || !stored_keys(s, number) || !choose_keys(s)))
        return false;
    add_kept(s, number);
    fact_of(s, number)->is_listed = 1;
    return true;
}

static void remove_keys(struct nd_signatures *s, const struct nd_signature_lookup *lookup,
                        size_t from, size_t end, uint32_t number)
{
    for (size_t k = from; k < end; k++) {
        struct nd_places places = nd_places_of(lookup, s->keys.at[k], end - from);

        for (unsigned i = 0; i < places.n; i++)
            (void)nd_multimap_remove(&s->table, places.at[i], number);
    }
}

/* Under which keys it was listed depends on what was seen then: all are tried. */
void nd_signatures_remove(struct nd_signatures *s, uint32_t number)
{
    /* Its keys were made when it was listed, so that there is room for them. */
    if (fact_of(s, number)->is_listed && stored_keys(s, number))
        for (unsigned i = 0; i < s->n_lookups; i++)
            remove_keys(s, &s->lookup[i], i ? s->keys.end[i - 1] : 0, s->keys.end[i], number);
    fact_of(s, number)->is_listed = 0;
}

void nd_signatures_clear(struct nd_signatures *s)
{
    if (s->table.count)
        memset(s->table.line, 0, nd_multimap_bytes(&s->table));
    s->table.count = 0;
    nd_rarity_clear(&s->rarity);
    for (unsigned i = 0; i < s->n_shapes; i++)
        s->column[i].n_words = 0;
    s->n = 0;
}

/* Begin a look-up: nothing is met.  False: out of memory. */
static bool begin_numbers(struct nd_numbers *list, size_t n)
{
    list->count = 0;
    if (n > list->met_capacity) {
        size_t capacity = n + n / 2;
        uint32_t *met = calloc(capacity, sizeof *met);

        if (!met)
            return false;
        free(list->met);
        list->met = met;
        list->met_capacity = capacity;
        list->look_ups = 0;
    }
    if (++list->look_ups == UINT32_MAX / COUNTED_MOST) {
        memset(list->met, 0, list->met_capacity * sizeof *list->met);
        list->look_ups = 1;
    }
    return true;
}

static bool append_number(struct nd_numbers *out, uint32_t number)
{
    void *at = out->at;
    bool ok = nd_array_reserve(&at, &out->capacity, out->count + 1, sizeof number);

    out->at = at;
    if (ok)
        out->at[out->count++] = number;
    return ok;
}

/* Those that stand under `shared` of the keys; a number counts itself in what is left of the
 * look-up's. */
static bool take_numbers(const struct nd_signatures *s, const uint64_t *key, size_t n,
                         size_t shared, struct nd_numbers *out)
{
    const uint32_t begun = out->look_ups * COUNTED_MOST, enough = begun + (uint32_t)shared;
    uint32_t number;

    for (size_t k = 0; k < n; k++)
        nd_multimap_prefetch(&s->table, key[k]);
    for (size_t k = 0; k < n; k++) {
        struct nd_multimap_scan scan = nd_multimap_find(&s->table, key[k]);

        while (nd_multimap_next(&s->table, &scan, &number)) {
            uint32_t *met = &out->met[number];

            if (*met < begun)
                *met = begun;
            if (*met < enough && ++*met == enough && !append_number(out, number))
                return false;
        }
    }
    return true;
}

bool nd_signatures_query(const struct nd_signatures *s, const struct nd_key_list *keys,
                         struct nd_key_list *scratch, struct nd_numbers *out)
{
    size_t shared = 1;

    scratch->count = 0;
    for (unsigned i = 0; i < s->n_lookups; i++) {
        size_t from = i ? keys->end[i - 1] : 0;

        if (!nd_places_asked(&s->rarity, &s->lookup[i], keys->at + from, keys->end[i] - from,
                             more_values(s), scratch, &shared))
            return false;
    }
    return begin_numbers(out, s->n) && take_numbers(s, scratch->at, scratch->count, shared, out);
}
