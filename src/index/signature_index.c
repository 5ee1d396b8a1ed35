/* signature_index.c - signatures by document, and a table that finds those which may match
 *
 * First the keys of a document; then, for sets of values, under which of its keys it is listed and
 * looked up; then the index itself.
 */
#include "index/signature_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/number/bits.h"
#include "index/multimap.h"
#include "index/rarity.h"
#include "simd/hamming/hamming_kernels.h"

void nd_key_list_release(struct nd_key_list *list)
{
    free(list->items);
    *list = (struct nd_key_list){0};
}

/* The keys of one way to look up are told apart by `salt`: lookup, block or coordinate, group. */
static uint64_t key_of(uint64_t salt, uint64_t word)
{
    return nd_mix64(nd_mix64(salt * UINT64_C(0x9E3779B97F4A7C15) + 1) ^ word);
}

static bool add_key(struct nd_key_list *list, uint64_t key)
{
    if (!ND_RESERVE(list->items, &list->capacity, list->count + 1))
        return false;
    list->items[list->count++] = key;
    return true;
}

/* The bits that count, dealt out to n blocks in order; each block's key is of its bits in place. */
static bool add_blocks(const struct nd_signature_shape *shape, unsigned n, uint64_t salt,
                       const struct nd_signature *x, struct nd_key_list *out)
{
    unsigned n_bits = 0, from = 0, seen = 0, word = 0;

    for (size_t i = 0; i < shape->words; i++)
        n_bits += (unsigned)__builtin_popcountll(shape->mask[i]);
    for (unsigned block = 0; block < n; block++) {
        unsigned end = (unsigned)((uint64_t)(block + 1) * n_bits / n);
        uint64_t key = 0;

        while (seen < end) {
            uint64_t take = 0;

            for (; from < 64 && seen < end; from++)
                if (shape->mask[word] >> from & 1) {
                    take |= UINT64_C(1) << from;
                    seen++;
                }
            key = nd_mix64(key ^ (x->word[word] & take)) + word;
            if (from == 64) {
                from = 0;
                word++;
            }
        }
        if (!add_key(out, key_of(salt + block, key)))
            return false;
    }
    return true;
}

static bool add_keys(const struct nd_signature_shape *shape,
                     const struct nd_signature_lookup *lookup, uint64_t salt,
                     const struct nd_signature *x, struct nd_key_list *out)
{
    if (x->is_rejected || x->count == 0)
        return true;
    switch (lookup->way) {
    case ND_LOOKUP_BLOCKS: return add_blocks(shape, lookup->blocks, salt, x, out);
    case ND_LOOKUP_COORDINATES:
        for (size_t i = 0; i + lookup->equal <= x->count; i++)
            if (x->word[i] != ND_COORDINATE_NONE && !add_key(out, key_of(salt + i, x->word[i])))
                return false;
        return true;
    case ND_LOOKUP_VALUES:
        for (size_t i = 0; i < x->count; i++)
            if (!add_key(out, key_of(salt, x->word[i])))
                return false;
        return true;
    }
    return true;
}

bool nd_signature_index_row_keys(const struct nd_signature_shape *shape,
                                 const struct nd_signature_lookup *lookup, unsigned n_lookups,
                                 const struct nd_signature_row *row, struct nd_key_list *out)
{
    out->count = 0;
    for (unsigned i = 0; i < n_lookups; i++) {
        uint64_t salt = (uint64_t)row->group << 20 | (uint64_t)i << 16;
        unsigned which = lookup[i].signature;

        if (!add_keys(&shape[which], &lookup[i], salt, &row->signature[which], out))
            return false;
        out->end[i] = out->count;
    }
    return true;
}

/* ---- Which of its keys a set of values is listed under, and looked up by ---- */

/*
 * Prefix filtering (Chaudhuri 2006).  Let a set of n values match only sets that share at least s
 * of them, and let all values have one order, the rarest first.  Of the values that two matching
 * sets share, let v be the first.  At least s - 1 more of them come after v in either set, so v is
 * among the first n - s + 1 values of each.  A set is therefore listed under its n - s + 1 rarest
 * values only, and looked up by as many of its own, and no match is lost.
 *
 * With `more` values more on both sides, a match shares more + 1 of the listed ones, by the same
 * argument for the first more + 1 shared values; or all that it shares, if these are fewer.
 *
 * If sets that match are of like size, each is listed under its values together with a class of
 * sizes, and looked up in the classes that can match.  Where only the smaller of two sets must
 * share much (containment), smaller ones are listed under their rarest values, and larger ones, in
 * other places ("whole"), under nearly all.
 */

/* How many of n values are the rarest that matter, where a match shares `need` at least. */
static size_t prefix(size_t n, size_t need)
{
    need = need > 1 ? need : 1;
    return need > n ? 0 : n - need + 1;
}

/* Return the prefix, and so many more that a match shares `more` + 1 of them. */
static size_t longer_prefix(size_t n, size_t need, size_t more)
{
    size_t least = prefix(n, need);

    return least && least + more < n ? least + more : least ? n : 0;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* How many of n values a match shares at least. */
static size_t need_of(const struct nd_signature_lookup *lookup, size_t n)
{
    const uint64_t p = lookup->share.p, q = lookup->share.q;
    uint64_t need = p ? (n * p + q - 1) / q : 0;

    return need > lookup->least ? (size_t)need : lookup->least;
}

/*
 * If the lesser set alone must share much, the greater one may share any: both give the keys that a
 * match must share in any case, among which are those of the lesser one.
 */
bool nd_signature_index_shared_keys(const struct nd_signature_shape *shape,
                                    const struct nd_signature_lookup *lookup, unsigned n_lookups,
                                    const struct nd_signature_row *row, struct nd_key_list *out)
{
    size_t from = 0, kept = 0;

    if (!nd_signature_index_row_keys(shape, lookup, n_lookups, row, out))
        return false;
    for (unsigned i = 0; i < n_lookups; from = out->end[i++]) {
        size_t n = out->end[i] - from, take = n;

        if (n == 0) /* a list without items has no memory */
            continue;
        if (lookup[i].way == ND_LOOKUP_VALUES) {
            take = prefix(n, lookup[i].of_lesser ? lookup[i].least : need_of(&lookup[i], n));
            qsort(out->items + from, n, sizeof *out->items, ascending);
        }
        memmove(out->items + kept, out->items + from, take * sizeof *out->items);
        kept += take;
    }
    out->count = kept;
    return true;
}

static uint64_t whole_key(uint64_t key)
{
    return nd_mix64(key + 1);
}

static uint64_t sized_key(uint64_t key, unsigned sizes)
{
    return nd_mix64(key + 2 + sizes);
}

/* Whether classes of sizes are worth while: where the lesser of two that match has half the values
 * of the greater one at least. */
static bool is_sized(const struct nd_signature_lookup *lookup)
{
    return lookup->way == ND_LOOKUP_VALUES && !lookup->of_lesser &&
           (uint64_t)lookup->share.p * 2 >= lookup->share.q;
}

/* The class of n values: as wide as the matches of its least size reach up, and an eighth at least.
 */
static unsigned sizes_of(const struct nd_signature_lookup *lookup, uint64_t n)
{
    const uint64_t p = lookup->share.p, more = lookup->share.q - p;
    uint64_t least = 1;

    for (unsigned sizes = 0;; sizes++) {
        uint64_t width = least * more / p;

        least += (width > least / 8 ? width : least / 8) + 1;
        if (n < least)
            return sizes;
    }
}

/* Append the `take` rarest of n keys. */
static bool choose(const struct nd_rarity *r, const uint64_t *key, size_t n, size_t take,
                   struct nd_key_list *out)
{
    int64_t chosen;

    if (!ND_RESERVE(out->items, &out->capacity, out->count + n + 1))
        return false;
    chosen = nd_rarity_choose(r, key, n, take, out->items + out->count);
    if (chosen > 0)
        out->count += (size_t)chosen;
    return chosen >= 0;
}

static bool choose_whole(const struct nd_rarity *r, const uint64_t *key, size_t n, size_t take,
                         struct nd_key_list *out)
{
    size_t from = out->count;

    if (!choose(r, key, n, take, out))
        return false;
    for (size_t k = from; k < out->count; k++)
        out->items[k] = whole_key(out->items[k]);
    return true;
}

/* The rarest, in the places of the sizes first … last. */
static bool choose_sized(const struct nd_rarity *r, const uint64_t *key, size_t n, size_t take,
                         unsigned first, unsigned last, struct nd_key_list *out)
{
    size_t from = out->count, chosen;

    if (!choose(r, key, n, take, out))
        return false;
    chosen = out->count - from;
    for (unsigned sizes = first + 1; sizes <= last; sizes++)
        for (size_t k = 0; k < chosen; k++)
            if (!add_key(out, sized_key(out->items[from + k], sizes)))
                return false;
    for (size_t k = 0; k < chosen; k++)
        out->items[from + k] = sized_key(out->items[from + k], first);
    return true;
}

/* Append the places where a row is listed by one look-up, of which it has these n keys. */
static bool add_listed_places(const struct nd_rarity *r, const struct nd_signature_lookup *lookup,
                              const uint64_t *key, size_t n, size_t more, struct nd_key_list *out)
{
    unsigned sizes = is_sized(lookup) ? sizes_of(lookup, n) : 0;
    size_t take = lookup->way == ND_LOOKUP_VALUES ? prefix(n, need_of(lookup, n)) : n;

    if (is_sized(lookup))
        return choose_sized(r, key, n, longer_prefix(n, need_of(lookup, n), more), sizes, sizes,
                            out);
    return choose(r, key, n, take, out) &&
           (!lookup->of_lesser || choose_whole(r, key, n, prefix(n, lookup->least), out));
}

/* Append the places where those are listed that match it, and say how many a match shares.  False:
 * out of memory. */
static bool add_queried_places(const struct nd_rarity *r, const struct nd_signature_lookup *lookup,
                               const uint64_t *key, size_t n, size_t more, struct nd_key_list *out,
                               size_t *shared)
{
    const uint64_t p = lookup->share.p, q = lookup->share.q;
    size_t need = need_of(lookup, n);
    size_t take = lookup->way == ND_LOOKUP_VALUES ? prefix(n, need) : n;

    *shared = 1;
    if (is_sized(lookup)) {
        *shared = need > more ? more + 1 : need > 1 ? need : 1;
        return choose_sized(r, key, n, longer_prefix(n, need, more),
                            sizes_of(lookup, (n * p + q - 1) / q), sizes_of(lookup, n * q / p),
                            out);
    }
    if (!lookup->of_lesser)
        return choose(r, key, n, take, out);
    /* A lesser set that matches may share little of this one; a greater one lists nearly all. */
    return choose(r, key, n, prefix(n, lookup->least), out) && choose_whole(r, key, n, take, out);
}

/* ---- The index ---- */

enum { SHAPES_MAX = 4 };

/*
 * If values are few, even the rarest of a set are in many others, but few others share several
 * of them: sets are listed under three values more than they must be, and those that share four are
 * looked at (Wang 2012).  An entry of the
 * table that is counted costs a fraction of a document that is looked at.
 */
enum { MORE_VALUES = 3 };
_Static_assert(MORE_VALUES + 1 < ND_NUMBERS_COUNTS, "what is shared is counted in three bits");

/* The place of the words of a signature of varying length. */
struct signature_place {
    uint64_t from;
    uint32_t count;
    uint32_t is_rejected;
    struct nd_value_bloom bloom; /* of values */
};

struct column {
    struct nd_column word; /* uint64_t */
    struct nd_column
        place; /* struct signature_place; of every form, so that rejection has its home */
    uint64_t n_words;
};

struct signature_fact {
    uint64_t length;
    uint32_t group;
    uint32_t is_listed;
};

struct nd_signature_index {
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

struct nd_signature_index *nd_signature_index_new(const struct nd_signature_shape *shape,
                                                  unsigned n_shapes,
                                                  const struct nd_signature_lookup *lookup,
                                                  unsigned n_lookups)
{
    struct nd_signature_index *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    memcpy(s->shape, shape, n_shapes * sizeof *shape);
    memcpy(s->lookup, lookup, n_lookups * sizeof *lookup);
    s->n_shapes = n_shapes;
    s->n_lookups = n_lookups;
    return s;
}

void nd_signature_index_free(struct nd_signature_index *s)
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

size_t nd_signature_index_bytes(const struct nd_signature_index *s)
{
    size_t bytes =
        sizeof *s + s->fact.bytes + nd_multimap_bytes(&s->table) + nd_rarity_bytes(&s->rarity);

    for (unsigned i = 0; i < s->n_shapes; i++)
        bytes += s->column[i].word.bytes + s->column[i].place.bytes;
    return bytes;
}

static struct signature_fact *fact_of(const struct nd_signature_index *s, uint32_t number)
{
    return (struct signature_fact *)s->fact.data + number;
}

uint64_t nd_signature_index_length(const struct nd_signature_index *s, uint32_t number)
{
    return fact_of(s, number)->length;
}

uint32_t nd_signature_index_group(const struct nd_signature_index *s, uint32_t number)
{
    return fact_of(s, number)->group;
}

struct nd_signature nd_signature_index_get(const struct nd_signature_index *s, unsigned signature,
                                           uint32_t number)
{
    const struct column *c = &s->column[signature];
    const struct signature_place *place = (const struct signature_place *)c->place.data + number;

    return (struct nd_signature){.word = (const uint64_t *)c->word.data + place->from,
                                 .count = place->count,
                                 .is_rejected = place->is_rejected != 0};
}

struct nd_value_bloom nd_value_bloom_of(const struct nd_signature *values)
{
    struct nd_value_bloom bloom = {{0}};

    for (size_t i = 0; i < values->count; i++) {
        uint64_t at = values->word[i] * UINT64_C(0x9E3779B97F4A7C15) >> 56;

        bloom.word[at / 64] |= UINT64_C(1) << at % 64;
    }
    return bloom;
}

size_t nd_value_bloom_max_shared(const struct nd_value_bloom *x, size_t a,
                                 const struct nd_value_bloom *y, size_t b)
{
    size_t differ = 0, least = a < b ? a : b, most;

    for (unsigned i = 0; i < 4; i++)
        differ += nd_count_ones(x->word[i] ^ y->word[i]);
    most = (a + b - differ) / 2; /* a bit differs for one value at least of a or of b */
    return most < least ? most : least;
}

struct nd_value_bloom nd_signature_index_bloom(const struct nd_signature_index *s,
                                               unsigned signature, uint32_t number)
{
    return ((const struct signature_place *)s->column[signature].place.data + number)->bloom;
}

/* How many words a column keeps of a signature: of bits as many whether it is rejected or not, so
 * that its number leads to them. */
static size_t stored_words(const struct nd_signature_shape *shape, const struct nd_signature *x)
{
    return shape->form == ND_FORM_BITS ? shape->words : x->is_rejected ? 0 : x->count;
}

bool nd_signature_index_append(struct nd_signature_index *s, const struct nd_signature_row *row)
{
    size_t n = (size_t)s->n + 1;

    if (!nd_column_reserve(&s->fact, n, sizeof(struct signature_fact)))
        return false;
    for (unsigned i = 0; i < s->n_shapes; i++) {
        struct column *c = &s->column[i];
        size_t words = stored_words(&s->shape[i], &row->signature[i]);

        if (words > UINT32_MAX ||
            !nd_column_reserve(&c->word, c->n_words + words + 1, sizeof(uint64_t)) ||
            !nd_column_reserve(&c->place, n, sizeof(struct signature_place)))
            return false;
    }
    for (unsigned i = 0; i < s->n_shapes; i++) {
        struct column *c = &s->column[i];
        const struct nd_signature *signature = &row->signature[i];
        size_t count = signature->is_rejected ? 0 : signature->count;
        size_t words = stored_words(&s->shape[i], signature);
        uint64_t *word = (uint64_t *)c->word.data + c->n_words;

        ((struct signature_place *)c->place.data)[s->n] =
            (struct signature_place){c->n_words, (uint32_t)count, signature->is_rejected, {{0}}};
        if (s->shape[i].form == ND_FORM_VALUES && count)
            ((struct signature_place *)c->place.data)[s->n].bloom = nd_value_bloom_of(signature);
        if (count)
            memcpy(word, signature->word, count * sizeof *word);
        else
            memset(word, 0, words * sizeof *word);
        c->n_words += words;
    }
    *fact_of(s, s->n) = (struct signature_fact){row->length, row->group, 0};
    s->n++;
    return true;
}

/* The keys of a stored document. */
static bool stored_keys(struct nd_signature_index *s, uint32_t number)
{
    struct nd_signature signature[SHAPES_MAX];

    for (unsigned i = 0; i < s->n_shapes; i++)
        signature[i] = nd_signature_index_get(s, i, number);
    return nd_signature_index_row_keys(
        s->shape, s->lookup, s->n_lookups,
        &(struct nd_signature_row){signature, fact_of(s, number)->group, 0}, &s->keys);
}

/* One of several look-ups is enough to be met, so shared values are counted for a single one only.
 */
static size_t more_values(const struct nd_signature_index *s)
{
    return s->n_lookups == 1 ? MORE_VALUES : 0;
}

/* Under which of its keys a document is listed. */
static bool choose_keys(struct nd_signature_index *s)
{
    const struct nd_key_list *keys = &s->keys;

    s->kept.count = 0;
    for (unsigned i = 0; i < s->n_lookups; i++) {
        size_t from = i ? keys->end[i - 1] : 0;

        if (!add_listed_places(&s->rarity, &s->lookup[i], keys->items + from, keys->end[i] - from,
                               more_values(s), &s->kept))
            return false;
    }
    return true;
}

static void add_kept(struct nd_signature_index *s, uint32_t number)
{
    for (size_t k = 0; k < s->kept.count; k++)
        nd_multimap_prefetch(&s->table, s->kept.items[k]);
    for (size_t k = 0; k < s->kept.count; k++)
        nd_multimap_add(&s->table, s->kept.items[k], number);
}

/* Fill a table that has grown with all that was listed. */
static bool fill_again(struct nd_signature_index *s)
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
static bool grow_table(struct nd_signature_index *s)
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

/* Count the keys of the row at hand, where some are left out by how rare they are. */
static bool count_keys(struct nd_signature_index *s)
{
    bool counts = false;

    for (unsigned i = 0; i < s->n_lookups; i++)
        counts |= s->lookup[i].way == ND_LOOKUP_VALUES;
    return !counts || nd_rarity_count(&s->rarity, s->keys.items, s->keys.count,
                                      s->table.count + s->kept.count);
}

bool nd_signature_index_list(struct nd_signature_index *s, uint32_t number)
{
    if (!stored_keys(s, number) || !choose_keys(s) || !count_keys(s))
        return false;
    if (!nd_multimap_fits(&s->table, s->keys.count * 2) &&
        (!grow_table(s) || !stored_keys(s, number) || !choose_keys(s)))
        return false;
    add_kept(s, number);
    fact_of(s, number)->is_listed = 1;
    return true;
}

/* From the places that a row's keys may have been listed under, whatever the order was then: one a
 * key, or two of containment. */
static void remove_keys(struct nd_signature_index *s, const struct nd_signature_lookup *lookup,
                        size_t from, size_t end, uint32_t number)
{
    unsigned sizes = is_sized(lookup) ? sizes_of(lookup, end - from) : 0;

    for (size_t k = from; k < end; k++) {
        uint64_t key = s->keys.items[k];

        (void)nd_multimap_remove(&s->table, is_sized(lookup) ? sized_key(key, sizes) : key, number);
        if (lookup->of_lesser)
            (void)nd_multimap_remove(&s->table, whole_key(key), number);
    }
}

/* Under which keys it was listed depends on what was seen then: all are tried. */
void nd_signature_index_remove(struct nd_signature_index *s, uint32_t number)
{
    /* Its keys were made when it was listed, so that there is room for them. */
    if (fact_of(s, number)->is_listed && stored_keys(s, number))
        for (unsigned i = 0; i < s->n_lookups; i++)
            remove_keys(s, &s->lookup[i], i ? s->keys.end[i - 1] : 0, s->keys.end[i], number);
    fact_of(s, number)->is_listed = 0;
}

void nd_signature_index_clear(struct nd_signature_index *s)
{
    if (s->table.count)
        memset(s->table.line, 0, nd_multimap_bytes(&s->table));
    s->table.count = 0;
    nd_rarity_clear(&s->rarity);
    for (unsigned i = 0; i < s->n_shapes; i++)
        s->column[i].n_words = 0;
    s->n = 0;
}

/* A number counts itself in what is left of the look-up's: from `begun`, and is met at `enough`. */
struct signature_counting {
    uint32_t begun, enough;
};

static bool count_number(const struct signature_counting *c, uint32_t number,
                         struct nd_numbers *out)
{
    uint32_t *met = &out->met[number];

    if (*met < c->begun)
        *met = c->begun;
    return *met >= c->enough || ++*met < c->enough || nd_numbers_append(out, number);
}

/* Take the numbers that stand under enough of the keys. */
static bool take_numbers(const struct nd_signature_index *s, const uint64_t *key, size_t n,
                         const struct signature_counting *c, struct nd_numbers *out)
{
    uint32_t number;

    for (size_t k = 0; k < n; k++) {
        struct nd_multimap_scan scan = nd_multimap_find(&s->table, key[k]);

        while (nd_multimap_next(&s->table, &scan, &number))
            if (!count_number(c, number, out))
                return false;
    }
    return true;
}

/*
 * Simhashes are far from random if documents use few words, or have some in common: many share a
 * block that are far apart.  So their words are gathered, and compared many at once.
 */
enum { NEAR_WORDS = 512 };
struct near {
    const uint64_t *column;
    uint64_t mask[8], query[8];
    size_t words, most, n;
    uint32_t number[NEAR_WORDS], found[NEAR_WORDS];
    uint64_t row[NEAR_WORDS];
};

static void begin_near(const struct nd_signature_index *s, const struct nd_signature_lookup *lookup,
                       const struct nd_signature *x, struct near *near)
{
    const struct nd_signature_shape *shape = &s->shape[lookup->signature];

    near->column = s->column[lookup->signature].word.data;
    near->words = shape->words;
    near->most = lookup->blocks - 1;
    near->n = 0;
    for (size_t i = 0; i < near->words; i++) {
        near->mask[i] = shape->mask[i];
        near->query[i] = x->word[i] & shape->mask[i];
    }
}

static void gather(struct near *near, uint32_t number)
{
    const uint64_t *from = near->column + (size_t)number * near->words;
    uint64_t *to = near->row + near->n * near->words;

    for (size_t i = 0; i < near->words; i++)
        to[i] = from[i] & near->mask[i];
    near->number[near->n++] = number;
}

/* Count those gathered that are near, and forget all. */
static bool count_near(struct near *near, const struct signature_counting *c,
                       struct nd_numbers *out)
{
    size_t n = nd_hamming_kernels()->rows(near->row, near->n, near->words, near->query,
                                          (unsigned)near->most, near->found);

    near->n = 0;
    for (size_t i = 0; i < n; i++)
        if (!count_number(c, near->number[near->found[i]], out))
            return false;
    return true;
}

/* Take the documents that share a key of a block and are as near as the look-up asks. */
static bool take_near(const struct nd_signature_index *s, const struct nd_signature_lookup *lookup,
                      const struct nd_signature *x, const uint64_t *key, size_t n,
                      const struct signature_counting *c, struct nd_numbers *out)
{
    struct near near;
    uint32_t number;

    begin_near(s, lookup, x, &near);
    for (size_t k = 0; k < n; k++) {
        struct nd_multimap_scan scan = nd_multimap_find(&s->table, key[k]);

        while (nd_multimap_next(&s->table, &scan, &number)) {
            gather(&near, number);
            if ((near.n + 1) * near.words > NEAR_WORDS && !count_near(&near, c, out))
                return false;
        }
    }
    return count_near(&near, c, out);
}

/* By look-up i, of which these are the places. */
static bool take_found(const struct nd_signature_index *s, unsigned i,
                       const struct nd_signature *signature, const struct nd_key_list *places,
                       const struct signature_counting *c, struct nd_numbers *out)
{
    const size_t from = i ? places->end[i - 1] : 0, n = places->end[i] - from;
    const struct nd_signature_lookup *lookup = &s->lookup[i];
    const uint64_t *key = places->items + from;

    if (n == 0)
        return true;
    return lookup->way == ND_LOOKUP_BLOCKS
               ? take_near(s, lookup, &signature[lookup->signature], key, n, c, out)
               : take_numbers(s, key, n, c, out);
}

bool nd_signature_index_query(const struct nd_signature_index *s,
                              const struct nd_signature *signature, const struct nd_key_list *keys,
                              struct nd_key_list *scratch, struct nd_numbers *out)
{
    struct signature_counting c;
    size_t shared = 1;

    scratch->count = 0;
    for (unsigned i = 0; i < s->n_lookups; i++) {
        size_t from = i ? keys->end[i - 1] : 0;

        if (!add_queried_places(&s->rarity, &s->lookup[i], keys->items + from, keys->end[i] - from,
                                more_values(s), scratch, &shared))
            return false;
        scratch->end[i] = scratch->count;
    }
    if (!nd_numbers_begin(out, s->n))
        return false;
    for (size_t k = 0; k < scratch->count; k++)
        nd_multimap_prefetch(&s->table, scratch->items[k]);
    c.begun = out->lookups * ND_NUMBERS_COUNTS;
    c.enough = c.begun + (uint32_t)shared;
    for (unsigned i = 0; i < s->n_lookups; i++)
        if (!take_found(s, i, signature, scratch, &c, out))
            return false;
    return true;
}
