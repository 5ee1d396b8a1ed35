/* signature_places.c - under which keys of the table a set of values is listed, and asked for */
#include "index/signature_places.h"

#include "base/hash.h"

/* How many of n values are the rarest that matter, where a match shares `need` at least. */
static size_t prefix(size_t n, size_t need)
{
    need = need > 1 ? need : 1;
    return need > n ? 0 : n - need + 1;
}

/* The same, and so many more that a match shares `more` + 1 of them. */
static size_t longer_prefix(size_t n, size_t need, size_t more)
{
    size_t least = prefix(n, need);

    return least && least + more < n ? least + more : least ? n : 0;
}

/* How many of n values a match shares at least. */
static size_t need_of(const struct nd_signature_lookup *lookup, size_t n)
{
    uint64_t need = ((uint64_t)n * lookup->share.p + lookup->share.q - 1) / lookup->share.q;

    return need > lookup->least ? (size_t)need : lookup->least;
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

static bool choose_whole(const struct nd_rarity *r, const uint64_t *key, size_t n, size_t take,
                         struct nd_key_list *out)
{
    size_t from = out->count;

    if (!nd_rarity_choose(r, key, n, take, out))
        return false;
    for (size_t k = from; k < out->count; k++)
        out->at[k] = whole_key(out->at[k]);
    return true;
}

/* The rarest, in the places of the sizes first … last. */
static bool choose_sized(const struct nd_rarity *r, const uint64_t *key, size_t n, size_t take,
                         unsigned first, unsigned last, struct nd_key_list *out)
{
    size_t from = out->count, chosen;

    if (!nd_rarity_choose(r, key, n, take, out))
        return false;
    chosen = out->count - from;
    for (unsigned sizes = first + 1; sizes <= last; sizes++)
        for (size_t k = 0; k < chosen; k++)
            if (!nd_key_list_add(out, sized_key(out->at[from + k], sizes)))
                return false;
    for (size_t k = 0; k < chosen; k++)
        out->at[from + k] = sized_key(out->at[from + k], first);
    return true;
}

bool nd_places_listed(const struct nd_rarity *r, const struct nd_signature_lookup *lookup,
                      const uint64_t *key, size_t n, size_t more, struct nd_key_list *out)
{
    unsigned sizes = is_sized(lookup) ? sizes_of(lookup, n) : 0;
    size_t take = lookup->way == ND_LOOKUP_VALUES ? prefix(n, need_of(lookup, n)) : n;

    if (is_sized(lookup))
        return choose_sized(r, key, n, longer_prefix(n, need_of(lookup, n), more), sizes, sizes,
                            out);
    return nd_rarity_choose(r, key, n, take, out) &&
           (!lookup->of_lesser || choose_whole(r, key, n, prefix(n, lookup->least), out));
}

bool nd_places_asked(const struct nd_rarity *r, const struct nd_signature_lookup *lookup,
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
        return nd_rarity_choose(r, key, n, take, out);
    /* A lesser set that matches may share little of this one; a greater one lists nearly all. */
    return nd_rarity_choose(r, key, n, prefix(n, lookup->least), out) &&
           choose_whole(r, key, n, take, out);
}

struct nd_places nd_places_of(const struct nd_signature_lookup *lookup, uint64_t key, size_t n)
{
    if (is_sized(lookup))
        return (struct nd_places){{sized_key(key, sizes_of(lookup, n))}, 1};
    return (struct nd_places){{key, whole_key(key)}, lookup->of_lesser ? 2 : 1};
}
